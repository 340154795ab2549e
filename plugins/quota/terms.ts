/** The terms of a call: the limits that apply in addition to account and key, and the part of the price that is charged. */
import type { Department, Departments } from '../../core/contracts/departments.ts';
import { keyBudgets } from '../../core/contracts/key-budgets.ts';
import type { KeyLimit, Keys } from '../../core/contracts/keys.ts';
import type { CallLimit } from '../../core/contracts/ledger.ts';
import type { Subscriptions, SubscriptionTerms } from '../../core/contracts/subscriptions.ts';
import type { Awaitable, GatewayError, Known } from '../../core/plugin.ts';
import { periodAround } from '../../core/sdk.ts';
import { errors } from './errors.ts';

/** The rules for a call from start to end, even if settings change during it. */
export interface Terms {
  /** Millionths of the price; undefined: the price. */
  readonly factorPpm: bigint | undefined;
  /** False: a subscription includes the call, and the account's balance is not charged. */
  readonly fromAccount: boolean;
  /** In the order in which they may refuse, behind account and key. */
  readonly limits: readonly CallLimit[];
  /** Why a call that costs something is refused; undefined: it is not. */
  readonly refusal: GatewayError | undefined;
}

/** The terms of most calls: account and key pay the price. */
const USUAL: Terms = { factorPpm: undefined, fromAccount: true, limits: [], refusal: undefined };

/** The factor of the full price. */
const FULL_PPM = 1_000_000;

const NO_DEPARTMENTS: readonly Department[] = [];

/** The terms of a call. Refuses (403) if one of the departments of its account is disabled. */
export type TermsOf = (x: Known) => Awaitable<Terms>;

/** Where terms come from; undefined: the plugin is not in the pipeline. */
export interface TermSources {
  departments: Departments | undefined;
  subscriptions: Subscriptions | undefined;
  keys: Keys | undefined;
}

/** Reads `sources` with each call: their plugins may be created after this one. */
export function createTerms(sources: TermSources): TermsOf {
  return (x) => {
    const atMs = x.startedMs;
    const accountId = x.identity.account.id;
    const path = sources.departments?.pathOf(accountId) ?? NO_DEPARTMENTS;
    const subscription = sources.subscriptions?.termsOf(accountId, atMs);
    const { keys } = sources;
    if (subscription instanceof Promise) {
      return subscription.then((found) => withBudgetsOfKey(combine(path, found, atMs), x, keys));
    }
    const terms = path.length === 0 && subscription === undefined ? USUAL : combine(path, subscription, atMs);
    return withBudgetsOfKey(terms, x, keys);
  };
}

function combine(path: readonly Department[], subscription: SubscriptionTerms | undefined, atMs: number): Terms {
  const disabled = path.find(({ enabled }) => !enabled);
  if (disabled !== undefined) {
    throw errors.department_disabled(disabled.name);
  }
  const factorPpm = path[0]?.factorPpm ?? FULL_PPM;
  return {
    factorPpm: factorPpm === FULL_PPM ? undefined : BigInt(factorPpm),
    fromAccount: subscription?.includesBalance !== true,
    limits: [...(subscription?.limits ?? []), ...path.flatMap((department) => budgetsOf(department, atMs))],
    refusal: subscription?.refusal,
  };
}

function budgetsOf({ id, name, budget, monthlyBudget }: Department, atMs: number): readonly CallLimit[] {
  const error = errors.QUOTA_DEPARTMENT_EXCEEDED;
  const limits: CallLimit[] = [];
  if (budget !== undefined) {
    const title = `the budget of the department "${name}"`;
    limits.push({ kind: 'department', owner: id, windowStart: 0, limit: budget, error, title, resetsMs: undefined });
  }
  if (monthlyBudget !== undefined) {
    const title = `the monthly budget of the department "${name}"`;
    const { startMs, endMs } = periodAround('month', atMs);
    const window = { windowStart: startMs, resetsMs: endMs };
    limits.push({ kind: 'department-month', owner: id, ...window, limit: monthlyBudget, error, title });
  }
  return limits;
}

/** The terms of a call with the budgets of its key; a key without limits has the same terms. */
function withBudgetsOfKey(terms: Terms, x: Known, keys: Keys | undefined): Terms {
  const { key } = x.identity;
  if (key.limits === undefined) return terms;
  const whole = key.limits.filter(({ model }) => model === undefined);
  const ofModels = x.passthrough === undefined ? (keys?.limitsFor(key, x.call.model) ?? []) : [];
  const budgets = [...whole, ...ofModels].flatMap((limit) => budgetsOfKey(key.id, limit, x.startedMs));
  return budgets.length === 0 ? terms : { ...terms, limits: [...budgets, ...terms.limits] };
}

const PERIODIC = { day: 'daily', week: 'weekly', month: 'monthly' } as const;
const error = errors.QUOTA_TOKEN_PERIOD_EXCEEDED;

function budgetsOfKey(keyId: number, ofKey: KeyLimit, atMs: number): readonly CallLimit[] {
  return keyBudgets(keyId, ofKey, atMs).map(({ layer, period, model, limit, resetsMs }) => {
    const title = `the ${PERIODIC[period]} budget of the key${model === undefined ? '' : ` for "${model}"`}`;
    return { ...layer, resetsMs, limit, error, title };
  });
}
