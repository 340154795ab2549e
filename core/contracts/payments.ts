/** Payments: buying quota and plans, and codes that are as good as money. Provided by the plugin `payments`. */
import { service } from '../definitions.ts';
import type { Account } from './accounts.ts';
import type { Actor } from './audit.ts';

/**
 * `pending`: nobody has paid yet. `success`: paid, and given. `failed`, `expired`: not paid; should it be paid late, it becomes a success
 * all the same. `parked`: paid, but there was nobody to give it to; administrators decide. `refunded`, `disputed`: the money went back,
 * and what it bought was taken back.
 */
export type OrderState = 'pending' | 'success' | 'failed' | 'expired' | 'parked' | 'refunded' | 'disputed';

/** Something somebody wants to pay for. */
export interface Order {
  readonly id: number;
  readonly accountId: number;
  /** Who takes the money; `balance` where the account's balance paid. */
  readonly provider: string;
  /** The way to pay, as the provider calls it. */
  readonly method: string;
  /** What it is called towards the provider; nobody can guess it. */
  readonly tradeNo: string;
  readonly kind: 'quota' | 'plan';
  /** The plan it buys; undefined for quota. */
  readonly plan: string | undefined;
  /** What was asked for: currency units; quota units for a product, 0 for a plan. */
  readonly amount: number;
  /** Micro-quota it gives. */
  readonly quota: bigint;
  /** What it costs, as people write it: `73.00`. */
  readonly money: string;
  /** Empty where the balance paid: then `money` counts currency units. */
  readonly currency: string;
  /** How much of the money went back. */
  readonly returned: string;
  readonly state: OrderState;
  /** Why it is parked or failed; empty where that says nothing. */
  readonly note: string;
  readonly createdMs: number;
  /** When it was paid; undefined: not yet. */
  readonly completedMs: number | undefined;
  readonly expiresMs: number;
}

/** Which orders to list, newest first. */
export interface OrderSearch {
  /** Undefined: everybody's. */
  readonly accountId?: number;
  /** Part of the trade number; `%` and `_` mean themselves. */
  readonly text?: string;
  readonly state?: OrderState;
  readonly provider?: string;
  /** From 0. */
  readonly offset: number;
  readonly limit: number;
}

/** Something sold at a fixed price. */
export interface PaymentProduct {
  readonly id: string;
  readonly name: string;
  /** As people write it: `9.99`. */
  readonly price: string;
  readonly currency: string;
  /** Quota units. */
  readonly quota: number;
}

/** Somebody who takes money, as configured. */
export interface PaymentProvider {
  readonly name: string;
  /** What one unit costs, as people write it: `7.3`; undefined: it takes no free amounts, but sells products. */
  readonly price: { readonly price: string; readonly currency: string } | undefined;
  /** Ways to pay that can be chosen between; none where there is only one. */
  readonly methods: readonly { readonly type: string; readonly name: string }[];
  /** What it sells. */
  readonly products: readonly PaymentProduct[];
}

/** What may be bought, and from whom. */
export interface PaymentOffer {
  readonly providers: readonly PaymentProvider[];
  /** The fewest and the most currency units at once. */
  readonly smallest: number;
  readonly largest: number;
  /** Suggestions. */
  readonly amounts: readonly number[];
}

/** What somebody wants to buy. */
export interface NewPayment {
  readonly account: Account;
  readonly provider: string;
  /** Looked at where the provider has several. */
  readonly method?: string | undefined;
  readonly item: { readonly units: number } | { readonly product: string } | { readonly plan: string };
  /** Where the browser comes back to: pages of the console's own origin. Wallets come back to its page about payments instead. */
  readonly successUrl?: string | undefined;
  readonly cancelUrl?: string | undefined;
}

/** Where an order is paid: a page, a form that the browser posts there, or a code to be shown as a picture. */
export type PaymentPage =
  | { readonly kind: 'link'; readonly url: string }
  | { readonly kind: 'form'; readonly url: string; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: 'code'; readonly content: string };

/** A code that gives quota to whoever redeems it first. */
export interface RedemptionCode {
  readonly id: number;
  /** The code itself: as good as money until it is used; empty where it cannot be read any more. */
  readonly code: string;
  readonly name: string;
  /** Micro-quota. */
  readonly quota: bigint;
  readonly enabled: boolean;
  /** The account of whoever made it. */
  readonly createdBy: number;
  readonly createdMs: number;
  /** Undefined: never. */
  readonly expiresMs: number | undefined;
  readonly usedBy: number | undefined;
  readonly usedMs: number | undefined;
}

/** All of them. Changes are told to the audit in the same list. */
export interface RedemptionCodes {
  /** Makes `count` codes. */
  create(
    codes: {
      readonly name: string;
      readonly quota: bigint;
      readonly count: number;
      readonly expiresMs: number | undefined;
    },
    actor: Actor,
  ): Promise<readonly string[]>;
  /** Newest first. `text`: part of the name, or an id. `state`: what can be redeemed (`unused`), or why it cannot be. */
  search(search: {
    readonly text?: string;
    readonly state?: 'unused' | 'disabled' | 'used' | 'expired';
    readonly offset: number;
    readonly limit: number;
  }): Promise<{ readonly total: number; readonly items: readonly RedemptionCode[] }>;
  get(id: number): Promise<RedemptionCode | undefined>;
  /** Refuses (404) what there is not and (409) what was used. `expiresMs: null` takes the end away. */
  change(
    id: number,
    changes: {
      readonly name?: string;
      readonly quota?: bigint;
      readonly expiresMs?: number | null;
      readonly enabled?: boolean;
    },
    actor: Actor,
  ): Promise<RedemptionCode>;
  /** False where there was none. */
  remove(id: number, actor: Actor): Promise<boolean>;
  /** Removes what cannot be redeemed: used, disabled, expired. How many. */
  removeDead(actor: Actor): Promise<number>;
  /** Gives the quota of a code to an account, once in the world; the micro-quota. Refuses (400 `invalid_code`) every other. */
  redeem(account: Account, code: string, actor: Actor): Promise<bigint>;
}

/** What the console asks of it. */
export interface Payments {
  /** The names of the providers that are configured, as their paths name them. */
  readonly providers: readonly string[];
  readonly offer: PaymentOffer;
  /** What so many units cost, as people write it: `73.00`. Refuses as `start` does. */
  quote(provider: string, units: number): string;
  /** What a plan costs at each provider that takes free amounts, as people write it; nothing where it is not for sale. */
  planPrices(plan: string): Readonly<Record<string, { readonly price: string; readonly currency: string }>>;
  /**
   * Makes an order and opens the page where it is paid. Refuses (404 `not_available`) a provider that is not configured, (400) an amount,
   * product, plan or method there is not, (502 `payment_provider_failed`) where the provider does not open its page.
   */
  start(payment: NewPayment): Promise<{ readonly order: Order; readonly page: PaymentPage }>;
  /**
   * Buys a plan with the account's balance, at once. Refuses (400 `invalid_plan`) a plan that is not for sale or gives as much balance
   * as it costs, (409) where another plan runs or the balance is too small.
   */
  payFromBalance(account: Account, plan: string, actor: Actor): Promise<Order>;
  /** Undefined where there is none, or it is another account's. */
  order(tradeNo: string, accountId?: number): Promise<Order | undefined>;
  orders(search: OrderSearch): Promise<{ readonly total: number; readonly items: readonly Order[] }>;
  /**
   * Gives what an order bought, on an administrator's word; `reason` is what they say of it, for the audit. Refuses: 404, 409 where it
   * has been given.
   */
  complete(tradeNo: string, actor: Actor, reason?: string): Promise<Order>;
  readonly codes: RedemptionCodes;
}
/** The service of that name. */
export const Payments = service<Payments>('payments');
