/** Time ranges in the address: `?range=7d`, or `?start=2026-11-01&end=2026-11-07`. Days are the UTC days of the ledger. */

/** Named ranges; `custom`: given by `start` and `end`. */
export const RANGE_NAMES = ['today', '7d', '30d', 'month', 'last-month', 'custom'] as const;
/** A value of `RANGE_NAMES`. */
export type RangeName = (typeof RANGE_NAMES)[number];

/** A range in unix seconds; the last second is included. */
export interface TimeRange {
  readonly name: RangeName;
  readonly start: number;
  readonly end: number;
  /** The step of its chart. */
  readonly granularity: 'hour' | 'day';
}

const HOUR_S = 3_600;
const DAY_S = 86_400;
/** The longest range with hourly steps. */
const HOURS_UP_TO_S = 2 * DAY_S;
/** The longest range that `/api` accepts. */
const MOST_DAYS = 366;

/** The range in the address; `defaultRange` if missing or invalid. `now`: unix seconds. */
export function rangeFrom(
  params: { range: string; start: string; end: string },
  defaultRange: RangeName,
  now: number,
): TimeRange {
  const start = momentFrom(params.start, 'start');
  const end = momentFrom(params.end, 'end');
  if (start !== undefined || end !== undefined) {
    const from = start ?? Math.max(0, dayOf(end ?? now) - 6 * DAY_S);
    const until = Math.min(end ?? endOfDay(Math.max(from, now)), from + MOST_DAYS * DAY_S - 1);
    if (from <= until) return rangeOf('custom', from, until);
  }
  const name = RANGE_NAMES.find((each) => each === params.range && each !== 'custom') ?? defaultRange;
  return named(name, now);
}

function named(name: RangeName, now: number): TimeRange {
  const today = dayOf(now);
  const month = monthOf(now, 0);
  if (name === 'today') return rangeOf(name, today, endOfDay(now));
  if (name === '30d') return rangeOf(name, today - 29 * DAY_S, endOfDay(now));
  if (name === 'month') return rangeOf(name, month, endOfDay(now));
  if (name === 'last-month') return rangeOf(name, monthOf(now, -1), month - 1);
  return rangeOf('7d', today - 6 * DAY_S, endOfDay(now));
}

const rangeOf = (name: RangeName, start: number, end: number): TimeRange => ({
  name,
  start,
  end,
  granularity: end - start < HOURS_UP_TO_S ? 'hour' : 'day',
});

/** The previous range of the same length, for comparison. For a month, the same days of the previous month. */
export function rangeBefore(
  { name, start, end }: TimeRange,
  now: number,
): { readonly start: number; readonly end: number } {
  const until = Math.min(end, now);
  if (name === 'month' || name === 'last-month') {
    const from = monthOf(start, -1);
    return { start: from, end: name === 'month' ? Math.min(from + (until - start), start - 1) : start - 1 };
  }
  const length = name === 'custom' ? end - start + 1 : Math.ceil((end - start) / DAY_S) * DAY_S;
  return { start: start - length, end: until - length };
}

/** Every hour or day of a range up to now in unix seconds, so that charts include those without calls. */
export function momentsOf({ start, end, granularity }: TimeRange, now: number): readonly number[] {
  const step = granularity === 'hour' ? HOUR_S : DAY_S;
  const moments: number[] = [];
  for (let at = Math.floor(start / step) * step; at <= Math.min(end, now); at += step) moments.push(at);
  return moments;
}

/** Seconds of a step. */
export function stepOf({ granularity }: Pick<TimeRange, 'granularity'>): number {
  return granularity === 'hour' ? HOUR_S : DAY_S;
}

/** `2026-11-07`: the UTC day of a moment. */
export function dateOf(unix: number): string {
  return new Date(unix * 1_000).toISOString().slice(0, 10);
}

/** A day, or unix seconds; a day becomes its first or last second. */
export function momentFrom(value: string, edge: 'start' | 'end'): number | undefined {
  if (/^\d{1,10}$/.test(value)) return Number(value);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined;
  const ms = Date.parse(`${value}T00:00:00Z`);
  if (!Number.isFinite(ms) || ms < 0) return undefined;
  return ms / 1_000 + (edge === 'end' ? DAY_S - 1 : 0);
}

function dayOf(unix: number): number {
  return Math.floor(unix / DAY_S) * DAY_S;
}
function endOfDay(unix: number): number {
  return dayOf(unix) + DAY_S - 1;
}
/** The beginning of the month, offset by a number of months. */
function monthOf(unix: number, months: number): number {
  const date = new Date(unix * 1_000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months) / 1_000;
}
