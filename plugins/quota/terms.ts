/** The terms of a call: which layers it is charged to beside account and key, and what part of the price it pays. */
import type { Department, Departments } from '../../core/contracts/departments.ts';
import type { Plan } from '../../core/contracts/subscriptions.ts';
import type { GatewayError } from '../../core/plugin.ts';
import { errors, type LayerCode } from './errors.ts';
import type { LimitedExtra } from './holds.ts';
import type { SubscriptionMemory, SubscriptionRow } from './subscription-memory.ts';
import { monthAround, PLAN_WINDOWS } from './windows.ts';

/** A further layer, and how its refusal describes it. */
export interface TermLayer extends LimitedExtra {
  readonly code: LayerCode;
  /** `the daily window of the plan "monthly"`. */
  readonly title: string;
  /** When its window resets, unix milliseconds; undefined if it has none. */
  readonly resetsMs: number | undefined;
}

/** What applies to a call from start to end, even if settings change during it. */
export interface Terms {
  /** Millionths of the price; undefined: the price. */
  readonly factorPpm: bigint | undefined;
  /** False: a subscription includes it, and the account's balance is left alone. */
  readonly fromAccount: boolean;
  /** In the order in which they may refuse. */
  readonly extras: readonly TermLayer[];
  /** Why no quota may be reserved any more; undefined: it may. */
  readonly refusal: GatewayError | undefined;
}

/** The terms of nearly every call: account and key pay the price. */
const USUAL: Terms = { factorPpm: undefined, fromAccount: true, extras: [], refusal: undefined };

/** The factor of the full price. */
const WHOLE_PPM = 1_000_000;
/** The terms of a call that an account makes at a moment. Refuses (403) if one of its departments is disabled. */
export type TermsOf = (accountId: number, atMs: number) => Terms | Promise<Terms>;

/** `departments` is called for each call, because its plugin may be created after this one. */
export function createTerms(of: {
  readonly memory: SubscriptionMemory;
  readonly plans: ReadonlyMap<string, Plan>;
  readonly departments: () => Departments | undefined;
}): TermsOf {
  const { memory, plans } = of;

  function termsOf(path: readonly Department[], subscription: SubscriptionRow | undefined, atMs: number): Terms {
    const disabled = path.find(({ enabled }) => !enabled);
    if (disabled !== undefined) {
      throw errors.department_disabled(disabled.name);
    }
    // A plan that was removed from gateway.yaml limits nothing: the balance pays, as without a plan.
    const plan = subscription && plans.get(subscription.plan);
    const runs = subscription !== undefined && subscription.expiresMs > atMs;
    const factorPpm = path[0]?.factorPpm ?? WHOLE_PPM;
    return {
      factorPpm: factorPpm === WHOLE_PPM ? undefined : BigInt(factorPpm),
      fromAccount: !(runs && plan?.includesBalance === true),
      extras: [
        ...(runs && plan !== undefined ? windowsOf(plan, subscription, atMs) : []),
        ...path.flatMap((department) => budgetsOf(department, atMs)),
      ],
      refusal: !runs && plan?.afterExpiry === 'refuse' ? expired(plan, subscription!) : undefined,
    };
  }

  return (accountId, atMs) => {
    const path = of.departments()?.pathOf(accountId) ?? [];
    const subscription = memory.find(accountId);
    if (subscription instanceof Promise) return subscription.then((found) => termsOf(path, found, atMs));
    return path.length === 0 && subscription === undefined ? USUAL : termsOf(path, subscription, atMs);
  };
}

function windowsOf(plan: Plan, { id, startsMs }: SubscriptionRow, atMs: number): readonly TermLayer[] {
  return PLAN_WINDOWS.flatMap(({ name, kind, code, around }) => {
    const limit = plan[name];
    if (limit === undefined) return [];
    const { startMs, endMs } = around(atMs, startsMs);
    const title = `the ${name} window of the plan "${plan.name}"`;
    return [{ kind, owner: id, windowStart: startMs, limit, code, title, resetsMs: endMs }];
  });
}

function budgetsOf({ id, name, budget, monthlyBudget }: Department, atMs: number): readonly TermLayer[] {
  const code = 'QUOTA_DEPARTMENT_EXCEEDED' as const;
  const layers: TermLayer[] = [];
  if (budget !== undefined) {
    const title = `the budget of the department "${name}"`;
    layers.push({ kind: 'department', owner: id, windowStart: 0, limit: budget, code, title, resetsMs: undefined });
  }
  if (monthlyBudget !== undefined) {
    const { startMs, endMs } = monthAround(atMs);
    const title = `the monthly budget of the department "${name}"`;
    const window = { windowStart: startMs, limit: monthlyBudget, code, title, resetsMs: endMs };
    layers.push({ kind: 'department-month', owner: id, ...window });
  }
  return layers;
}

function expired({ name }: Plan, { expiresMs }: SubscriptionRow): GatewayError {
  const when = new Date(expiresMs).toISOString();
  const message = `The subscription to the plan "${name}" expired at ${when}. Renew it, or have it cancelled to pay from the balance.`;
  return errors.QUOTA_SUBSCRIPTION_EXPIRED(message);
}
