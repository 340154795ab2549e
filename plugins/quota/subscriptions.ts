/** Subscriptions: who has which plan until when, and how its windows stand. */
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import type { Ledger } from '../../core/contracts/ledger.ts';
import type { Plan, Subscription, Subscriptions, WindowUse } from '../../core/contracts/subscriptions.ts';
import { type Clock, refuse, type Step, type Store } from '../../core/plugin.ts';
import { LOCK, placeOf } from './buckets.ts';
import { errors } from './errors.ts';
import { counting, readLast, type SubscriptionMemory, type SubscriptionRow } from './subscription-memory.ts';
import { daysMs, PLAN_WINDOWS } from './windows.ts';

/** An account's last one alone counts: clocks may step back to where the one before it ran. Given an account and a moment. */
const RUNS = 'id = (SELECT MAX(id) FROM subscription WHERE account_id = ?) AND cancelled_ms IS NULL AND expires_ms > ?';
/** Later than before, whatever the clock says: whoever looks for changes finds this one. */
const CHANGED = 'changed_ms = CASE WHEN changed_ms < ? THEN ? ELSE changed_ms + 1 END';

/** One change of an account's subscriptions at a time, where others write beside it: the account stands for all of them. */
const lockOf = (accountId: number): Step => ({ sql: LOCK, params: placeOf({ kind: 'account', owner: accountId }) });

/** Makes the service. */
export function createSubscriptions(of: {
  readonly store: Store;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly plans: ReadonlyMap<string, Plan>;
  readonly memory: SubscriptionMemory;
}): Subscriptions {
  const { store, clock, ledger, plans, memory } = of;

  function stated(row: SubscriptionRow): Subscription {
    const { id, accountId, plan, startsMs, expiresMs } = row;
    const state = expiresMs > clock.now() ? 'active' : 'expired';
    return { id, accountId, plan, startsMs, expiresMs, state };
  }

  return {
    plans: [...plans.values()],
    plan: (name) => plans.get(name),

    async of(accountId) {
      const row = counting(await readLast(store, accountId));
      return row && stated(row);
    },

    async use({ id, plan, startsMs }) {
      const use: { daily?: WindowUse; weekly?: WindowUse; monthly?: WindowUse } = {};
      const limits = plans.get(plan);
      for (const { name, kind, around } of PLAN_WINDOWS) {
        const limit = limits?.[name];
        if (limit === undefined) continue;
        const { startMs, endMs } = around(clock.now(), startsMs);
        const { used, held } = (await ledger.balance({ kind, owner: id, windowStart: startMs })) ?? NOTHING;
        const left = limit - used - held;
        use[name] = { limit, used, remaining: left > 0n ? left : 0n, resetsMs: endMs };
      }
      return use;
    },

    async grantSteps(accountId, planName, ref, actor) {
      const plan = plans.get(planName) ?? refuse(errors.plan_not_found(planName));
      const last = await readLast(store, accountId);
      const current = counting(last);
      if (current !== undefined && current.plan !== planName && stated(current).state === 'active') {
        throw coreErrors.other_plan_runs(
          `The plan "${current.plan}" runs until ${new Date(current.expiresMs).toISOString()}. Cancel it first, or wait.`,
        );
      }
      // None begins before the one before it did, whatever the clock says.
      const now = Math.max(clock.now(), last?.startsMs ?? 0);
      const lengthMs = daysMs(plan.days);
      const steps: Step[] = [
        lockOf(accountId),
        {
          sql: `INSERT INTO subscription_grant (ref, account_id, plan, length_ms, at_ms, actor)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          params: [ref, accountId, planName, lengthMs, now, actor],
          must: 'granted_before',
        },
        {
          sql: `UPDATE subscription SET expires_ms = expires_ms + ?, ${CHANGED} WHERE plan = ? AND ${RUNS}`,
          params: [lengthMs, now, now, planName, accountId, now],
        },
        {
          sql: `INSERT INTO subscription (id, account_id, plan, starts_ms, expires_ms, changed_ms)
            SELECT (SELECT COALESCE(MAX(id), 0) + 1 FROM subscription), ?, ?, ?, ?, ?
            WHERE NOT EXISTS (SELECT 1 FROM subscription WHERE ${RUNS})`,
          params: [accountId, planName, now, now + lengthMs, now, accountId, now],
        },
        {
          // Finds none where another plan has begun since this was asked for.
          sql: `UPDATE subscription_grant SET subscription_id =
              (SELECT id FROM subscription WHERE plan = ? AND ${RUNS})
            WHERE ref = ? AND EXISTS (SELECT 1 FROM subscription WHERE plan = ? AND ${RUNS})`,
          params: [planName, accountId, now, ref, planName, accountId, now],
          must: 'other_plan_runs',
        },
      ];
      if (plan.balance > 0n) steps.push(...ledger.creditSteps(accountId, plan.balance, `plan:${ref}`, actor));
      return steps;
    },

    async cancel(accountId, along = []) {
      const now = clock.now();
      const failed = await store.atomic([
        lockOf(accountId),
        {
          sql: `UPDATE subscription SET cancelled_ms = ?, ${CHANGED} WHERE cancelled_ms IS NULL
            AND id = (SELECT MAX(id) FROM subscription WHERE account_id = ?)`,
          params: [now, now, now, accountId],
          must: 'no_subscription',
        },
        ...along,
      ]);
      memory.forget(accountId);
      if (failed !== undefined && failed !== 'no_subscription') {
        throw notWritten(failed);
      }
      return failed === undefined;
    },

    changed: memory.forget,
  };
}

const NOTHING = { used: 0n, held: 0n };
