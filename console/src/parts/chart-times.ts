/** Moments of charts in words: below the axis, and where one is told of. */
import type { Format } from '../shell/format.ts';

const DAY_S = 86_400;

/** The smallest distance of two moments; of one alone, a day. */
export function stepOf(times: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (let at = 1; at < times.length; at++) least = Math.min(least, (times[at] ?? 0) - (times[at - 1] ?? 0));
  return Number.isFinite(least) && least > 0 ? least : DAY_S;
}

/** Writes a moment as exactly as the chart knows it. */
export function momentWriter({ locale }: Format, utc: boolean, step: number): (unix: number) => string {
  const day = { weekday: 'short', month: 'short', day: 'numeric' } as const;
  const made = new Intl.DateTimeFormat(locale, {
    ...day,
    ...(step < DAY_S && { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' as const }),
    ...(step < 60 && { second: '2-digit' as const }),
    ...(utc && { timeZone: 'UTC' }),
  });
  return (unix) => made.format(unix * 1_000) + (utc && step < DAY_S ? ' UTC' : '');
}

/** Writes the words of the axis: the day at midnight, and the clock in between; months where those are all that fits. */
export function tickWriter({ locale }: Format, utc: boolean): (unix: number, apart: number) => string {
  const zone = utc ? { timeZone: 'UTC' } : {};
  const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...zone });
  const exact = new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    ...zone,
  });
  const day = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', ...zone });
  const month = new Intl.DateTimeFormat(locale, { month: 'short', year: 'numeric', ...zone });
  return (unix, apart) => {
    const ms = unix * 1_000;
    if (apart >= 30 * DAY_S) return month.format(ms);
    if (apart >= DAY_S) return day.format(ms);
    // Without its hour a minute would be read as one.
    if (apart < 60) return exact.format(ms);
    const said = clock.format(ms);
    return said === '00:00' ? day.format(ms) : said;
  };
}
