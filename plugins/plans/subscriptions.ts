/** The service `Subscriptions`: grants, extends and cancels subscriptions, and returns their terms for a call. */
import { coreErrors, notWritten } from '../../core/contracts/errors.ts';
import type { Ledger } from '../../core/contracts/ledger.ts';
import type {
  Plan,
  Subscription,
  Subscriptions,
  SubscriptionTerms,
  WindowUse,
} from '../../core/contracts/subscriptions.ts';
import { type Clock, type GatewayError, refuse, type Step, type Store } from '../../core/plugin.ts';
import { applicable, readLatest, type SubscriptionCache, type SubscriptionRow } from './cache.ts';
import { errors } from './errors.ts';
import { DAY_MS, windowsOf } from './windows.ts';

/** Only the latest subscription counts: clocks may step back into the time of the one before. Takes an account and a moment. */
const IS_ACTIVE =
  'id = (SELECT MAX(id) FROM subscription WHERE account_id = ?) AND cancelled_ms IS NULL AND expires_ms > ?';
/** Grows with every change, even if the clock steps back, so that `refresh` of other gateways finds it. */
const CHANGED = 'changed_ms = CASE WHEN changed_ms < ? THEN ? ELSE changed_ms + 1 END';

const NOTHING = { used: 0n, held: 0n };

/** Makes the service. */
export function createSubscriptions({
  store,
  clock,
  ledger,
  plans,
  cache,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly plans: ReadonlyMap<string, Plan>;
  readonly cache: SubscriptionCache;
}): Subscriptions {
  let lastAdopted = 0;

  function withState({ id, accountId, plan, startsMs, expiresMs }: SubscriptionRow): Subscription {
    return { id, accountId, plan, startsMs, expiresMs, state: expiresMs > clock.now() ? 'active' : 'expired' };
  }

  const usedSteps: Subscriptions['usedSteps'] = (id, { plan: name, startsMs, window, limit, used }, ref, actor) => {
    const plan = { name, daily: undefined, weekly: undefined, monthly: undefined, [window]: limit };
    const windows = windowsOf(plan, { id, startsMs }, clock.now());
    return windows.flatMap((each) => ledger.usedSteps(each, limit, used, ref, actor));
  };

  function termsAt(row: SubscriptionRow, atMs: number): SubscriptionTerms | undefined {
    const plan = plans.get(row.plan);
    // A plan that was removed from gateway.yaml limits nothing: the balance pays, as without a plan.
    if (plan === undefined) return undefined;
    if (row.expiresMs > atMs) {
      const { includesBalance, afterLimits } = plan;
      const fallsBack = includesBalance && afterLimits === 'balance';
      return {
        includesBalance,
        limits: windowsOf(plan, row, atMs),
        ...(fallsBack && { fallsBack }),
        refusal: undefined,
      };
    }
    return plan.afterExpiry === 'balance' ? undefined : { includesBalance: false, limits: [], refusal: expired(row) };
  }

  return {
    plans: [...plans.values()],
    plan: (name) => plans.get(name),

    async of(accountId) {
      const row = applicable(await readLatest(store, accountId));
      return row && withState(row);
    },

    async use(subscription) {
      const use: { daily?: WindowUse; weekly?: WindowUse; monthly?: WindowUse } = {};
      const plan = plans.get(subscription.plan);
      if (plan === undefined) return use;
      for (const window of windowsOf(plan, subscription, clock.now())) {
        const { used, held } = (await ledger.balance(window)) ?? NOTHING;
        const left = window.limit - used - held;
        use[window.name] = {
          ...{ limit: window.limit, used, remaining: left > 0n ? left : 0n },
          resetsMs: window.resetsMs,
        };
      }
      return use;
    },

    termsOf(accountId, atMs) {
      const found = cache.find(accountId);
      if (found === undefined) return undefined;
      return found instanceof Promise ? found.then((row) => row && termsAt(row, atMs)) : termsAt(found, atMs);
    },

    async grantSteps(accountId, planName, ref, actor) {
      const plan = plans.get(planName) ?? refuse(errors.plan_not_found(planName));
      const latest = await readLatest(store, accountId);
      const current = applicable(latest);
      if (current !== undefined && current.plan !== planName && withState(current).state === 'active') {
        throw coreErrors.other_plan_runs(
          `The plan "${current.plan}" runs until ${new Date(current.expiresMs).toISOString()}. Cancel it first, or wait.`,
        );
      }
      // No subscription begins before the one before it, even if the clock steps back.
      const now = Math.max(clock.now(), latest?.startsMs ?? 0);
      const lengthMs = plan.days * DAY_MS;
      const steps: Step[] = [
        ledger.lockStep(accountId),
        {
          sql: `INSERT INTO subscription_grant (ref, account_id, plan, length_ms, at_ms, actor)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
          params: [ref, accountId, planName, lengthMs, now, actor],
          must: 'granted_before',
        },
        {
          sql: `UPDATE subscription SET expires_ms = expires_ms + ?, ${CHANGED} WHERE plan = ? AND ${IS_ACTIVE}`,
          params: [lengthMs, now, now, planName, accountId, now],
        },
        {
          sql: `INSERT INTO subscription (id, account_id, plan, starts_ms, expires_ms, changed_ms)
            SELECT (SELECT COALESCE(MAX(id), 0) + 1 FROM subscription), ?, ?, ?, ?, ?
            WHERE NOT EXISTS (SELECT 1 FROM subscription WHERE ${IS_ACTIVE})`,
          params: [accountId, planName, now, now + lengthMs, now, accountId, now],
        },
        {
          // Finds no subscription if another plan was granted since these steps were made.
          sql: `UPDATE subscription_grant SET subscription_id =
              (SELECT id FROM subscription WHERE plan = ? AND ${IS_ACTIVE})
            WHERE ref = ? AND EXISTS (SELECT 1 FROM subscription WHERE plan = ? AND ${IS_ACTIVE})`,
          params: [planName, accountId, now, ref, planName, accountId, now],
          must: 'other_plan_runs',
        },
      ];
      if (plan.balance > 0n) steps.push(...ledger.creditSteps(accountId, plan.balance, `plan:${ref}`, actor));
      return steps;
    },

    usedSteps,

    async adopting({ accountId, plan, startsMs, expiresMs, ...of }, ref, actor) {
      const now = clock.now();
      const latest = await readLatest(store, accountId);
      const isFree =
        latest === undefined ||
        (latest.startsMs < startsMs && (latest.cancelledMs !== null || latest.expiresMs <= startsMs));
      if (!isFree || expiresMs <= now || startsMs > now) return undefined;
      const last = await store.one<{ id: number | null }>('SELECT MAX(id) AS id FROM subscription');
      // The steps of several may be made before the first are written.
      lastAdopted = Math.max(last?.id ?? 0, lastAdopted) + 1;
      const id = lastAdopted;
      return {
        id,
        steps: [
          ledger.lockStep(accountId),
          {
            sql: `INSERT INTO subscription_grant (ref, account_id, subscription_id, plan, length_ms, at_ms, actor)
              VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
            params: [ref, accountId, id, plan, expiresMs - startsMs, startsMs, actor],
            must: 'granted_before',
          },
          {
            sql: `INSERT INTO subscription (id, account_id, plan, starts_ms, expires_ms, changed_ms)
              SELECT CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT)
              WHERE NOT EXISTS (SELECT 1 FROM subscription WHERE account_id = ?
                AND (starts_ms >= ? OR (cancelled_ms IS NULL AND expires_ms > ?)))
              ON CONFLICT DO NOTHING`,
            params: [id, accountId, plan, startsMs, expiresMs, now, accountId, startsMs, startsMs],
            must: 'other_plan_runs',
          },
          ...usedSteps(id, { accountId, plan, startsMs, expiresMs, ...of }, ref, actor),
        ],
      };
    },

    async cancel(accountId, along = []) {
      const now = clock.now();
      const failed = await store.atomic([
        ledger.lockStep(accountId),
        {
          sql: `UPDATE subscription SET cancelled_ms = ?, ${CHANGED} WHERE cancelled_ms IS NULL
            AND id = (SELECT MAX(id) FROM subscription WHERE account_id = ?)`,
          params: [now, now, now, accountId],
          must: 'no_subscription',
        },
        ...along,
      ]);
      cache.invalidate(accountId);
      if (failed !== undefined && failed !== 'no_subscription') {
        throw notWritten(failed);
      }
      return failed === undefined;
    },

    changed: cache.invalidate,
  };
}

function expired({ plan, expiresMs }: SubscriptionRow): GatewayError {
  const when = new Date(expiresMs).toISOString();
  const message = `The subscription to the plan "${plan}" expired at ${when}. Renew it, or have it cancelled to pay from the balance.`;
  return errors.QUOTA_SUBSCRIPTION_EXPIRED(message);
}
