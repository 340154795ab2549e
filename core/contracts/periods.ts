/** Calendar periods of budgets: when the one around a moment began, and when it ends. All are UTC, like the months of departments. */

const DAY_MS = 86_400_000;
/** The end of the year 9999, the latest expiry: dates are written with four digits. */
export const LATEST_MS = 253_402_300_799_000;
/** Unix time begins on a Thursday, weeks begin on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** The periods, shortest first. */
export const PERIODS = ['day', 'week', 'month'] as const;
/** A day, a week from Monday, or a calendar month. */
export type Period = (typeof PERIODS)[number];

/** The period around a moment: its start (inclusive) and its end (exclusive), all unix milliseconds. */
export function periodAround(period: Period, atMs: number): { readonly startMs: number; readonly endMs: number } {
  if (period === 'month') {
    const at = new Date(atMs);
    const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
    return { startMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) };
  }
  const [lengthMs, anchorMs] = period === 'day' ? [DAY_MS, 0] : [7 * DAY_MS, FIRST_MONDAY_MS];
  const startMs = anchorMs + Math.floor((atMs - anchorMs) / lengthMs) * lengthMs;
  return { startMs, endMs: startMs + lengthMs };
}
