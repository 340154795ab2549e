/** The terms of a call: the limits that apply in addition to account and key, and the part of the price that is charged. */

import type { Department, Departments } from '../../core/contracts/departments.ts';
import type { Groups, Reach } from '../../core/contracts/groups.ts';
import type { KeyLimit } from '../../core/contracts/identity.ts';
import { keyBudgets } from '../../core/contracts/key-budgets.ts';
import type { Keys } from '../../core/contracts/keys.ts';
import { type CallLimit, COUNTED } from '../../core/contracts/ledger.ts';
import { productOfFactors } from '../../core/contracts/prices.ts';
import type { Subscriptions, SubscriptionTerms } from '../../core/contracts/subscriptions.ts';
import type { Awaitable, GatewayError, Known } from '../../core/plugin.ts';
import { type Decimal, periodAround } from '../../core/sdk.ts';
import { errors } from './errors.ts';

/** The rules for a call from start to end, even if settings change during it. */
export interface Terms {
  /** The part of the price that is charged; undefined: the price. */
  readonly factor: Decimal | undefined;
  /** The group of channels that serves the call; undefined: there are no groups. */
  readonly group: string | undefined;
  /** The names of the channels that may serve the call; undefined: all. */
  readonly channels: ReadonlySet<string> | undefined;
  /** False: a subscription includes the call, and the account's balance is not charged. */
  readonly fromAccount: boolean;
  /** In the order in which they may refuse, behind account and key. */
  readonly limits: readonly CallLimit[];
  /** Why a call that costs something is refused; undefined: it is not. */
  readonly refusal: GatewayError | undefined;
  /** The terms if `limits` have too little left: the account pays, without a subscription. */
  readonly beyond?: Terms;
}

/** The terms of most calls: account and key pay the price. */
const USUAL: Terms = {
  factor: undefined,
  group: undefined,
  channels: undefined,
  fromAccount: true,
  limits: [],
  refusal: undefined,
};

/** A factor in millionths, as departments and answers without a vendor have it. */
export const millionths = (ppm: number): Decimal => ({ digits: BigInt(ppm), scale: 6 });

const NO_DEPARTMENTS: readonly Department[] = [];

/** The terms of a call. Refuses (403) if one of the departments of its account is disabled, and what its group does not reach. */
export type TermsOf = (x: Known) => Awaitable<Terms>;

/** Where terms come from; undefined: the plugin is not in the pipeline. */
export interface TermSources {
  departments: Departments | undefined;
  groups: Groups | undefined;
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
    const reach = sources.groups?.reachFor(x);
    if (subscription instanceof Promise) {
      return subscription.then((found) => withBudgetsOfKey(combine(path, reach, found, atMs), x, keys));
    }
    const isUsual = path.length === 0 && subscription === undefined && reach === undefined;
    const terms = isUsual ? USUAL : combine(path, reach, subscription, atMs);
    return withBudgetsOfKey(terms, x, keys);
  };
}

function combine(
  path: readonly Department[],
  reach: Reach | undefined,
  subscription: SubscriptionTerms | undefined,
  atMs: number,
): Terms {
  const disabled = path.find(({ enabled }) => !enabled);
  if (disabled !== undefined) {
    throw errors.department_disabled(disabled.name);
  }
  return {
    factor: productOfFactors([path[0] && millionths(path[0].factorPpm), reach?.factor]),
    group: reach?.group,
    channels: reach?.channels,
    fromAccount: subscription?.includesBalance !== true,
    limits: [...(subscription?.limits ?? []), ...path.flatMap((department) => budgetsOf(department, atMs))],
    refusal: subscription?.refusal,
    ...(subscription?.fallsBack === true && { beyond: combine(path, reach, undefined, atMs) }),
  };
}

function budgetsOf({ id, name, budget, monthlyBudget }: Department, atMs: number): readonly CallLimit[] {
  const error = errors.QUOTA_DEPARTMENT_EXCEEDED;
  const { startMs, endMs } = periodAround('month', atMs);
  const title = `budget of the department "${name}"`;
  // Without a budget they count, so that one that is set later knows what was used before.
  return [
    {
      ...{ kind: 'department', owner: id, windowStart: 0, resetsMs: undefined },
      ...{ limit: budget ?? COUNTED, error, title: `the ${title}` },
    },
    {
      ...{ kind: 'department-month', owner: id, windowStart: startMs, resetsMs: endMs },
      ...{ limit: monthlyBudget ?? COUNTED, error, title: `the monthly ${title}` },
    },
  ];
}

/** The terms of a call with the budgets of its key; a key without limits has the same terms. */
function withBudgetsOfKey(terms: Terms, x: Known, keys: Keys | undefined): Terms {
  const { key } = x.identity;
  if (key.limits === undefined) return terms;
  const whole = key.limits.filter(({ model }) => model === undefined);
  const ofModels = x.passthrough === undefined ? (keys?.limitsFor(key, x.call.model) ?? []) : [];
  const budgets = [...whole, ...ofModels].flatMap((limit) => budgetsOfKey(key.id, limit, x.startedMs));
  if (budgets.length === 0) return terms;
  const { beyond } = terms;
  return {
    ...terms,
    limits: [...budgets, ...terms.limits],
    ...(beyond !== undefined && { beyond: { ...beyond, limits: [...budgets, ...beyond.limits] } }),
  };
}

const PERIODIC = { day: 'daily', week: 'weekly', month: 'monthly' } as const;
const error = errors.QUOTA_TOKEN_PERIOD_EXCEEDED;

function budgetsOfKey(keyId: number, ofKey: KeyLimit, atMs: number): readonly CallLimit[] {
  return keyBudgets(keyId, ofKey, atMs).map(({ layer, period, model, limit, resetsMs }) => {
    const title = `the ${PERIODIC[period]} budget of the key${model === undefined ? '' : ` for "${model}"`}`;
    return { ...layer, resetsMs, limit, error, title };
  });
}
