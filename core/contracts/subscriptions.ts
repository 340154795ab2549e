/** Subscriptions: what an account may use within a day, a week and a month. Provided by the plugin `quota`. */

import { service } from '../definitions.ts';
import type { Step } from './store.ts';

/** A plan of gateway.yaml. Amounts are micro-quota; undefined: no limit in that window. */
export interface Plan {
  readonly name: string;
  readonly title: string;
  readonly days: number;
  readonly daily: bigint | undefined;
  readonly weekly: bigint | undefined;
  readonly monthly: bigint | undefined;
  /** What it costs, in hundredths of the currency unit; undefined: it is granted, not sold. */
  readonly priceCents: number | undefined;
  /** Balance that comes with it, each time it is given; 0n: none. The windows limit, the balance pays. */
  readonly balance: bigint;
  /** Calls within the windows are paid for by the subscription: the account's balance is left alone. */
  readonly includesBalance: boolean;
  /** Calls of an account whose subscription has expired: refused until it is renewed or cancelled, or paid by the balance. */
  readonly afterExpiry: 'refuse' | 'balance';
}

/** A plan that an account has. */
export interface Subscription {
  readonly id: number;
  readonly accountId: number;
  readonly plan: string;
  readonly startsMs: number;
  readonly expiresMs: number;
  readonly state: 'active' | 'expired';
}

/** How one window stands. */
export interface WindowUse {
  readonly limit: bigint;
  readonly used: bigint;
  readonly remaining: bigint;
  readonly resetsMs: number;
}

/** Plans, and who has them. An account has one at a time; another of the same plan makes it longer. */
export interface Subscriptions {
  readonly plans: readonly Plan[];
  plan(name: string): Plan | undefined;
  /** The one that counts: active, or the last to have expired; undefined: it never had one, or it was cancelled. */
  of(accountId: number): Promise<Subscription | undefined>;
  /** The windows that its plan limits, by name. */
  use(
    subscription: Subscription,
  ): Promise<{ readonly daily?: WindowUse; readonly weekly?: WindowUse; readonly monthly?: WindowUse }>;
  /**
   * The steps that give a plan, once per `ref`, for the list that takes the money; tells `changed` afterwards. Refuses (404) a plan
   * that there is not, and (409 `other_plan_runs`) while another plan runs. `must`: `granted_before`; `other_plan_runs` where one has
   * begun since.
   */
  grantSteps(accountId: number, plan: string, ref: string, actor: string): Promise<readonly Step[]>;
  /** Ends it now, with `along`; false, and nothing written, where there was none. */
  cancel(accountId: number, along?: readonly Step[]): Promise<boolean>;
  /** To be told after `grantSteps` were written: what was remembered of the account is asked for anew. */
  changed(accountId: number): void;
}
/** The service of that name. */
export const Subscriptions = service<Subscriptions>('subscriptions');
