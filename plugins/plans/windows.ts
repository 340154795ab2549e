/** The windows in which a plan limits what calls cost. All are UTC; moments are unix milliseconds. */
import type { CallLimit, Layer } from '../../core/contracts/ledger.ts';
import type { Plan, Subscription } from '../../core/contracts/subscriptions.ts';
import { errors } from './errors.ts';

/** A day in milliseconds. */
export const DAY_MS = 86_400_000;
/** Unix time begins on a Thursday, weeks begin on Mondays. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

interface PlanWindow {
  readonly name: 'daily' | 'weekly' | 'monthly';
  readonly kind: Layer['kind'];
  readonly error: CallLimit['error'];
  readonly lengthMs: number;
  /** When one of its windows begins, for a subscription that began at `startsMs`. */
  anchorMs(startsMs: number): number;
}

/** The day, the week from Monday, and thirty days from the subscription's start; in the order in which they refuse calls. */
const PLAN_WINDOWS: readonly PlanWindow[] = [
  { name: 'daily', kind: 'day', error: errors.QUOTA_MONTHLY_DAILY_EXCEEDED, lengthMs: DAY_MS, anchorMs: () => 0 },
  {
    ...{ name: 'weekly', kind: 'week', error: errors.QUOTA_MONTHLY_WEEKLY_EXCEEDED, lengthMs: 7 * DAY_MS },
    anchorMs: () => FIRST_MONDAY_MS,
  },
  {
    ...{ name: 'monthly', kind: 'month', error: errors.QUOTA_MONTHLY_EXCEEDED, lengthMs: 30 * DAY_MS },
    anchorMs: (startsMs) => startsMs,
  },
];

/** The kinds of buckets that windows have in the ledger. */
export const WINDOW_KINDS: readonly Layer['kind'][] = PLAN_WINDOWS.map(({ kind }) => kind);

/** A window of a subscription; `resetsMs` is when it ends. */
export interface WindowLimit extends CallLimit {
  readonly name: PlanWindow['name'];
  readonly resetsMs: number;
}

/** The windows of a subscription around a moment, those that its plan limits. */
export function windowsOf(
  plan: Pick<Plan, 'name' | PlanWindow['name']>,
  { id, startsMs }: Pick<Subscription, 'id' | 'startsMs'>,
  atMs: number,
): readonly WindowLimit[] {
  const windows: WindowLimit[] = [];
  for (const { name, kind, error, lengthMs, anchorMs } of PLAN_WINDOWS) {
    const limit = plan[name];
    if (limit === undefined) continue;
    const anchor = anchorMs(startsMs);
    const windowStart = anchor + Math.floor((atMs - anchor) / lengthMs) * lengthMs;
    const title = `the ${name} window of the plan "${plan.name}"`;
    windows.push({ name, kind, owner: id, windowStart, limit, error, title, resetsMs: windowStart + lengthMs });
  }
  return windows;
}
