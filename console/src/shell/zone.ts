/** In which time zone times are written and typed: the viewer's own or UTC, chosen once and kept by the browser. */
import { createContext } from 'react';

/** The two choices. */
export const ZONES = ['local', 'utc'] as const;
/** One of them. */
export type Zone = (typeof ZONES)[number];

const KEPT = 'turnpike.zone';
/** `Europe/Berlin`. Some browsers call UTC by an older name. */
export const LOCAL_ZONE = new Intl.DateTimeFormat()
  .resolvedOptions()
  .timeZone.replace(/^(Etc\/)?(UTC|GMT|UCT)$/, 'UTC');

/** What was chosen, else the viewer's own. */
export function chosenZone(): Zone {
  return localStorage.getItem(KEPT) === 'utc' ? 'utc' : 'local';
}

/** Keeps the choice. */
export function keepZone(zone: Zone): void {
  localStorage.setItem(KEPT, zone);
}

/** The zone as formatters want it: `Europe/Berlin`, `UTC`. */
export function timeZoneOf(zone: Zone): string {
  return zone === 'utc' ? 'UTC' : LOCAL_ZONE;
}

/** The choice, and how to change it. */
export const ZoneContext = createContext<{ readonly zone: Zone; choose(zone: Zone): void }>({
  zone: 'local',
  choose: () => {},
});

/** Whether clocks show AM and PM, as the viewer's own locale does: not every reader of English lives in the United States. */
export const HOUR_CYCLE = {
  hour12: new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12 === true,
};

/** A moment as a field for date and time holds it in the chosen zone: `2026-01-31T18:00`. Unix seconds. */
export function toField(unix: number): string {
  const at = new Date(unix * 1_000);
  // Such a field knows the zone of the browser and no other.
  const shifted = chosenZone() === 'utc' ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** The moment that such a field holds; undefined: none. */
export function fromField(text: string): number | undefined {
  const ms = Date.parse(chosenZone() === 'utc' ? `${text}Z` : text);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1_000);
}
