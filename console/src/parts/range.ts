/** Ranges of time as the address says them: `?range=7d`, or `?start=2026-11-01&end=2026-11-07`. Days are UTC, as those of the ledger. */

/** Those that have a name; `custom`: whatever `start` and `end` say. */
export const RANGE_NAMES = ['today', '7d', '30d', 'month', 'last-month', 'custom'] as const;
/** One of them. */
export type RangeName = (typeof RANGE_NAMES)[number];

/** A range. Moments are unix seconds; the last second is part of it. */
export interface TimeRange {
  readonly name: RangeName;
  readonly start: number;
  readonly end: number;
  /** How fine a chart of it should be. */
  readonly granularity: 'hour' | 'day';
}

const HOUR_S = 3_600;
const DAY_S = 86_400;
/** Up to so long hours are told. */
const HOURS_UP_TO_S = 2 * DAY_S;
/** `/api` tells no more at once. */
const MOST_DAYS = 366;

/** What the address says; `usual` where it says nothing that can be read. `now`: unix seconds. */
export function rangeFrom(
  said: { range: string; start: string; end: string },
  usual: RangeName,
  now: number,
): TimeRange {
  const start = momentFrom(said.start, 'start');
  const end = momentFrom(said.end, 'end');
  if (start !== undefined || end !== undefined) {
    const from = start ?? Math.max(0, dayOf(end ?? now) - 6 * DAY_S);
    const until = Math.min(end ?? endOfDay(Math.max(from, now)), from + MOST_DAYS * DAY_S - 1);
    if (from <= until) return rangeOf('custom', from, until);
  }
  const name = RANGE_NAMES.find((each) => each === said.range && each !== 'custom') ?? usual;
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

/** The range of the same length before: what numbers are compared with. Of a month, the days of the one before. */
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

/** Every hour or day of a range up to now, as unix seconds: charts show those without calls, too. */
export function momentsOf({ start, end, granularity }: TimeRange, now: number): readonly number[] {
  const step = granularity === 'hour' ? HOUR_S : DAY_S;
  const moments: number[] = [];
  for (let at = Math.floor(start / step) * step; at <= Math.min(end, now); at += step) moments.push(at);
  return moments;
}

/** Seconds from one to the next. */
export function stepOf({ granularity }: Pick<TimeRange, 'granularity'>): number {
  return granularity === 'hour' ? HOUR_S : DAY_S;
}

/** `2026-11-07`: the UTC day that a moment is in. */
export function dateOf(unix: number): string {
  return new Date(unix * 1_000).toISOString().slice(0, 10);
}

/** A day, or unix seconds; of a day its first second or its last. */
export function momentFrom(said: string, edge: 'start' | 'end'): number | undefined {
  if (/^\d{1,10}$/.test(said)) return Number(said);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(said)) return undefined;
  const ms = Date.parse(`${said}T00:00:00Z`);
  if (!Number.isFinite(ms) || ms < 0) return undefined;
  return ms / 1_000 + (edge === 'end' ? DAY_S - 1 : 0);
}

function dayOf(unix: number): number {
  return Math.floor(unix / DAY_S) * DAY_S;
}
function endOfDay(unix: number): number {
  return dayOf(unix) + DAY_S - 1;
}
/** When a month begins, so many months from that of a moment. */
function monthOf(unix: number, months: number): number {
  const date = new Date(unix * 1_000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months) / 1_000;
}
