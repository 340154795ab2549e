/** Labels for moments of charts: on the axis and in the tooltip. */
import type { Format } from '../shell/format.ts';

/** From this distance in seconds on, moments are days. */
export const DAY_S = 86_400;

/** The smallest distance between moments; for a single moment, one day. */
export function stepOf(times: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 1; at < times.length; at++) least = Math.min(least, (times[at] ?? 0) - (times[at - 1] ?? 0));
  return Number.isFinite(least) && least > 0 ? least : DAY_S;
}

/** Formats a moment with the precision of the chart. Days are the UTC days of the ledger, hours are in the chosen zone. */
export function momentWriter({ dates }: Format, step: number): (unix: number) => string {
  const day = { weekday: 'short', month: 'short', day: 'numeric' } as const;
  if (step >= DAY_S) return dates(day, true);
  const second = step < 60 ? ({ second: '2-digit' } as const) : {};
  return dates({ ...day, hour: 'numeric', minute: '2-digit', ...second, timeZoneName: 'short' });
}

/** Formats axis labels: the day at midnight, the time in between; months if there is no room for more. */
export function tickWriter({ dates, zone }: Format, step: number): (unix: number, apart: number) => string {
  const utc = step >= DAY_S;
  const clock = dates({ hour: 'numeric', minute: '2-digit' }, utc);
  const exact = dates({ hour: 'numeric', minute: '2-digit', second: '2-digit' }, utc);
  const day = dates({ month: 'short', day: 'numeric' }, utc);
  const month = dates({ month: 'short', year: 'numeric' }, utc);
  // The chosen zone is UTC or that of the browser.
  const isMidnight = (unix: number): boolean =>
    utc || zone === 'UTC' ? unix % DAY_S === 0 : new Date(unix * 1_000).toTimeString().startsWith('00:00:00');
  return (unix, apart) => {
    if (apart >= 30 * DAY_S) return month(unix);
    if (apart >= DAY_S) return day(unix);
    // Ticks less than a minute apart show the seconds, with the hour, because 5:30 would look like a time of day.
    if (apart < 60) return exact(unix);
    return isMidnight(unix) ? day(unix) : clock(unix);
  };
}
