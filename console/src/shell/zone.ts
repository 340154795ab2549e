/** The time zone of displayed and entered times: the viewer's own or UTC; the browser stores the choice. */
import { createContext } from 'react';

/** The two choices. */
export const ZONES = ['local', 'utc'] as const;
/** A value of `ZONES`. */
export type Zone = (typeof ZONES)[number];

const KEPT = 'turnpike.zone';
/** `Europe/Berlin`. Some browsers report an older name for UTC. */
export const LOCAL_ZONE = new Intl.DateTimeFormat()
  .resolvedOptions()
  .timeZone.replace(/^(Etc\/)?(UTC|GMT|UCT)$/, 'UTC');

/** The stored choice; by default the viewer's own. */
export function chosenZone(): Zone {
  return localStorage.getItem(KEPT) === 'utc' ? 'utc' : 'local';
}

/** Stores the choice. */
export function storeZone(zone: Zone): void {
  localStorage.setItem(KEPT, zone);
}

/** The zone for formatters: `Europe/Berlin`, `UTC`. */
export function timeZoneOf(zone: Zone): string {
  return zone === 'utc' ? 'UTC' : LOCAL_ZONE;
}

/** The choice, and how to change it. */
export const ZoneContext = createContext<{ readonly zone: Zone; choose(zone: Zone): void }>({
  zone: 'local',
  choose: () => {},
});

/** Whether times use AM and PM, by the viewer's locale and not by the language of the console. */
export const HOUR_CYCLE = {
  hour12: new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12 === true,
};

/** The value of a date and time field in the chosen zone: `2026-01-31T18:00`. Unix seconds. */
export function toField(unix: number): string {
  const at = new Date(unix * 1_000);
  // Such a field only knows the zone of the browser.
  const shifted = chosenZone() === 'utc' ? at : new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** The moment in such a field; undefined: none. */
export function fromField(text: string): number | undefined {
  const ms = Date.parse(chosenZone() === 'utc' ? `${text}Z` : text);
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1_000);
}
