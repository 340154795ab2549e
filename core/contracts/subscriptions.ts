/** Plans, and which account subscribes to which. Provided by the plugin `plans`. */

import { type Awaitable, service } from './definitions.ts';
import type { GatewayError } from './gateway-error.ts';
import type { CallLimit } from './ledger.ts';
import type { Step } from './store.ts';

/** A plan in gateway.yaml. Amounts are micro-quota; undefined: no limit in that window. */
export interface Plan {
  readonly name: string;
  readonly title: string;
  readonly days: number;
  readonly daily: bigint | undefined;
  readonly weekly: bigint | undefined;
  readonly monthly: bigint | undefined;
  /** Its price in hundredths of the currency unit; undefined: it is granted, not sold. */
  readonly priceCents: number | undefined;
  /** Balance that is credited each time the plan is granted; 0n: none. */
  readonly balance: bigint;
  /** True: calls within the windows are included, and the account's balance is not charged. */
  readonly includesBalance: boolean;
  /** Calls for which a window has too little left, if calls are included: refused, or paid from the balance. */
  readonly afterLimits: 'refuse' | 'balance';
  /** Calls after the subscription has expired: refused until it is renewed or cancelled, or paid from the balance. */
  readonly afterExpiry: 'refuse' | 'balance';
}

/** An account's subscription to a plan. */
export interface Subscription {
  readonly id: number;
  readonly accountId: number;
  readonly plan: string;
  readonly startsMs: number;
  readonly expiresMs: number;
  readonly state: 'active' | 'expired';
}

/** The usage of one window, in micro-quota. */
export interface WindowUse {
  readonly limit: bigint;
  readonly used: bigint;
  readonly remaining: bigint;
  /** Unix milliseconds. */
  readonly resetsMs: number;
}

/** The effect of a subscription on a call. */
export interface SubscriptionTerms {
  /** True: the call is included, and the account's balance is not charged. */
  readonly includesBalance: boolean;
  /** The windows that limit the call, in the order in which they may refuse it. */
  readonly limits: readonly CallLimit[];
  /** True: if the windows have too little left for an included call, the account's balance pays all of it. */
  readonly fallsBack?: boolean;
  /** Why a call that costs something is refused; undefined: it is not. */
  readonly refusal: GatewayError | undefined;
}

/** A running subscription of another gateway. */
export interface AdoptedSubscription {
  readonly accountId: number;
  /** The name of its plan, which may be added to gateway.yaml later. */
  readonly plan: string;
  readonly startsMs: number;
  readonly expiresMs: number;
  /** Of the window around now: its limit, and what was charged to it there, micro-quota. */
  readonly window: 'daily' | 'weekly' | 'monthly';
  readonly limit: bigint;
  readonly used: bigint;
}

/** Plans and subscriptions. An account has one subscription at a time; granting the same plan again extends it. */
export interface Subscriptions {
  readonly plans: readonly Plan[];
  plan(name: string): Plan | undefined;
  /** The active subscription, or the last one if it has expired; undefined: the account never had one, or it was cancelled. */
  of(accountId: number): Promise<Subscription | undefined>;
  /** The windows that the plan limits, by name. */
  use(
    subscription: Subscription,
  ): Promise<{ readonly daily?: WindowUse; readonly weekly?: WindowUse; readonly monthly?: WindowUse }>;
  /**
   * The effect of the account's subscription on a call at a time (unix milliseconds), from memory; undefined: none. A promise only
   * while a change is being read. Another gateway's change applies within five seconds.
   */
  termsOf(accountId: number, atMs: number): Awaitable<SubscriptionTerms | undefined>;
  /**
   * The steps that grant a plan, once per `ref`, for the list that takes the money; call `changed` after it is written. Refuses (404) an
   * unknown plan, and (409 `other_plan_runs`) while another plan is active. `must`: `granted_before`; `other_plan_runs` if another plan was
   * granted since.
   */
  grantSteps(accountId: number, plan: string, ref: string, actor: string): Promise<readonly Step[]>;
  /**
   * The steps that adopt a subscription, once per `ref`; call `changed` after they are written. Undefined: the account has another one, or it is
   * over. `must`: `granted_before`; `other_plan_runs` if a plan was granted to any account since.
   */
  adopting(
    subscription: AdoptedSubscription,
    ref: string,
    actor: string,
  ): Promise<{ readonly id: number; readonly steps: readonly Step[] } | undefined>;
  /** The steps that add what was charged to the window of an adopted subscription there since, once per `ref`. `must`: `used_before`. */
  usedSteps(id: number, subscription: AdoptedSubscription, ref: string, actor: string): readonly Step[];
  /** Ends the subscription now, and writes `along` with it; false, and nothing is written, if there is none. */
  cancel(accountId: number, along?: readonly Step[]): Promise<boolean>;
  /** Call it after the steps of `grantSteps` were written: the account's subscription is read again before its next call. */
  changed(accountId: number): void;
}
/** The service `Subscriptions`. */
export const Subscriptions = service<Subscriptions>('subscriptions');
