/** Windows of time in which a limit counts, all of them UTC. Moments are unix milliseconds. */
import type { Layer } from '../../core/contracts/ledger.ts';
import type { LayerCode } from './errors.ts';

/** From when to when. */
export interface Window {
  readonly startMs: number;
  /** When the next one begins. */
  readonly endMs: number;
}

/** A day, as every window counts it. */
export const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
/** Unix time begins on a Thursday, weeks on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS;
/** A month as cards count it. */
const CARD_MONTH_MS = 30 * DAY_MS;

/** The window of `lengthMs` that holds a moment, where one of them began at `anchorMs`. */
function around(atMs: number, anchorMs: number, lengthMs: number): Window {
  const startMs = anchorMs + Math.floor((atMs - anchorMs) / lengthMs) * lengthMs;
  return { startMs, endMs: startMs + lengthMs };
}

/** The calendar month. */
export function monthAround(atMs: number): Window {
  const at = new Date(atMs);
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  return { startMs: Date.UTC(year, month, 1), endMs: Date.UTC(year, month + 1, 1) };
}

/** A window in which a plan may limit its subscriptions. */
export interface PlanWindow {
  readonly name: 'daily' | 'weekly' | 'monthly';
  readonly kind: Layer['kind'];
  /** What a call is refused with where too little is left. */
  readonly code: LayerCode;
  /** The one that holds a moment, for a subscription that began at `startsMs`. */
  around(atMs: number, startsMs: number): Window;
}

/** The day, the week from Monday, and thirty days from the subscription's start; in the order in which they refuse. */
export const PLAN_WINDOWS: readonly PlanWindow[] = [
  {
    name: 'daily',
    kind: 'day',
    code: 'QUOTA_MONTHLY_DAILY_EXCEEDED',
    around: (atMs) => around(atMs, 0, DAY_MS),
  },
  {
    name: 'weekly',
    kind: 'week',
    code: 'QUOTA_MONTHLY_WEEKLY_EXCEEDED',
    around: (atMs) => around(atMs, FIRST_MONDAY_MS, WEEK_MS),
  },
  {
    name: 'monthly',
    kind: 'month',
    code: 'QUOTA_MONTHLY_EXCEEDED',
    around: (atMs, startsMs) => around(atMs, startsMs, CARD_MONTH_MS),
  },
];

/** Days in milliseconds. */
export function daysMs(days: number): number {
  return days * DAY_MS;
}
