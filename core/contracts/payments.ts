/** Payments: purchases of quota and plans, and redemption codes. Provided by the plugin `payments`. */

import type { Actor } from './audit.ts';
import { service } from './definitions.ts';
import type { Account } from './identity.ts';
import type { Step } from './store.ts';

/**
 * `pending`: not paid yet. `success`: paid and delivered. `failed`, `expired`: not paid; a late payment still makes it
 * a success. `parked`: paid, but it could not be delivered; an administrator decides. `refunded`, `disputed`: the money
 * went back, and the credit was taken back.
 */
export type OrderState = 'pending' | 'success' | 'failed' | 'expired' | 'parked' | 'refunded' | 'disputed';

/** An order. */
export interface Order {
  readonly id: number;
  readonly accountId: number;
  /** The payment provider; `balance` if the account's balance paid; `imported` if it was paid at another gateway. */
  readonly provider: string;
  /** The payment method, by the provider's name. */
  readonly method: string;
  /** Its reference at the provider; random. */
  readonly tradeNo: string;
  readonly kind: 'quota' | 'plan';
  /** The plan; undefined for quota. */
  readonly plan: string | undefined;
  /** The ordered amount: currency units; quota units for a product, 0 for a plan. */
  readonly amount: number;
  /** Micro-quota to credit. */
  readonly quota: bigint;
  /** The price as displayed: `73.00`. */
  readonly money: string;
  /** Empty if the balance paid: then `money` counts currency units. */
  readonly currency: string;
  /** The refunded part of the money. */
  readonly returned: string;
  readonly state: OrderState;
  /** Why it is parked or failed; may be empty. */
  readonly note: string;
  readonly createdMs: number;
  /** Time of payment; undefined: not yet. */
  readonly completedMs: number | undefined;
  readonly expiresMs: number;
}

/** The seller on documents, from gateway.yaml. Empty: not shown. */
export interface Seller {
  /** Empty: documents are receipts in the name of the gateway. */
  readonly name: string;
  /** Lines separated by line feeds. */
  readonly address: string;
  readonly taxId: string;
  readonly email: string;
  /** A line at the end of documents. */
  readonly note: string;
}

/** The details of a buyer, as entered. Empty: not shown. */
export interface Buyer {
  readonly name: string;
  readonly address: string;
  readonly taxId: string;
}

/** An invoice of an order, or a credit note about the returned part of it; as it was issued. */
export interface OrderDocument {
  /** Unique, and without gaps in the order of issue: `INV-000042`. */
  readonly number: string;
  readonly kind: 'invoice' | 'credit';
  readonly issuedMs: number;
  /** The order as it is now. */
  readonly order: Order;
  readonly seller: Seller;
  readonly buyer: Buyer;
  /** With the included tax: `73.00`. */
  readonly amount: string;
  readonly currency: string;
  /** Undefined: none is configured. `rate` in percent: `19`. */
  readonly tax:
    | { readonly name: string; readonly rate: string; readonly amount: string; readonly net: string }
    | undefined;
  /** The number of the first invoice of the order, for later documents. */
  readonly about: string | undefined;
}

/** What orders can be sorted by; `money` regardless of the currency. */
export type OrderOrder = 'id' | 'money' | 'state' | 'completed';

/** Filter for the list of orders. */
export interface OrderSearch {
  /** Undefined: of all accounts. */
  readonly accountId?: number;
  /** Part of the trade number; `%` and `_` are literal. */
  readonly text?: string;
  readonly state?: OrderState;
  readonly provider?: string;
  /** Default: newest first. */
  readonly sort?: { readonly by: OrderOrder; readonly descending: boolean };
  /** Only ids below this one: the rest of a list that is newest first. */
  readonly before?: number;
  /** From 0. */
  readonly offset: number;
  readonly limit: number;
}

/** A product with a fixed price. */
export interface PaymentProduct {
  readonly id: string;
  readonly name: string;
  /** As displayed: `9.99`. */
  readonly price: string;
  readonly currency: string;
  /** Quota units. */
  readonly quota: number;
}

/** A payment provider as configured. */
export interface PaymentProvider {
  readonly name: string;
  /** The price of one unit as displayed: `7.3`; undefined: it sells products but no free amounts. */
  readonly price: { readonly price: string; readonly currency: string } | undefined;
  /** Payment methods to choose from; empty if there is only one. */
  readonly methods: readonly { readonly type: string; readonly name: string }[];
  /** Its products. */
  readonly products: readonly PaymentProduct[];
}

/** The items for sale, and their providers. */
export interface PaymentOffer {
  readonly providers: readonly PaymentProvider[];
  /** The minimum and maximum amount of one order, in currency units. */
  readonly smallest: number;
  readonly largest: number;
  /** Suggested amounts. */
  readonly amounts: readonly number[];
}

/** A requested purchase. */
export interface NewPayment {
  readonly account: Account;
  readonly provider: string;
  /** Used if the provider has several. */
  readonly method?: string | undefined;
  readonly item: { readonly units: number } | { readonly product: string } | { readonly plan: string };
  /** Return URL of the browser: a page on the console's own origin. Wallets return to its payments page instead. */
  readonly successUrl?: string | undefined;
  readonly cancelUrl?: string | undefined;
}

/** How an order is paid: a page, a form that the browser posts, or a QR code. */
export type PaymentPage =
  | { readonly kind: 'link'; readonly url: string }
  | { readonly kind: 'form'; readonly url: string; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: 'code'; readonly content: string };

/** A redemption code that credits quota once. */
export interface RedemptionCode {
  readonly id: number;
  /** The code, which is as valuable as money until it is used; empty if it can no longer be decrypted. */
  readonly code: string;
  readonly name: string;
  /** Micro-quota. */
  readonly quota: bigint;
  readonly enabled: boolean;
  /** The account that created it. */
  readonly createdBy: number;
  readonly createdMs: number;
  /** Undefined: never. */
  readonly expiresMs: number | undefined;
  readonly usedBy: number | undefined;
  readonly usedMs: number | undefined;
}

/** A redemption code that another gateway has sold. */
export interface AdoptedCode {
  /** As its buyer types it: 1 to 100 printable characters, without spaces around them. */
  readonly code: string;
  readonly name: string;
  /** Micro-quota, above zero. */
  readonly quota: bigint;
  readonly expiresMs: number | undefined;
  readonly enabled: boolean;
}

/** An order that was paid at another gateway: history, which credits nothing. */
export interface AdoptedOrder {
  readonly accountId: number;
  /** The other gateway: `new-api`. */
  readonly from: string;
  /** The payment method, by its name there. */
  readonly method: string;
  readonly tradeNo: string;
  /** Undefined: it bought quota. */
  readonly plan: string | undefined;
  /** Currency units bought; 0 for a plan. */
  readonly amount: number;
  /** Micro-quota that it has credited there. */
  readonly quota: bigint;
  /** Paid, above zero: a decimal number, rounded to the smallest unit of the currency; empty: the balance paid. */
  readonly money: string;
  readonly currency: string;
  readonly createdMs: number;
  readonly completedMs: number;
}

/** Redemption codes. Changes are written to the audit log in the same list, and `along` is written with them. */
export interface RedemptionCodes {
  /** Creates `count` codes. */
  create(
    codes: {
      readonly name: string;
      readonly quota: bigint;
      readonly count: number;
      readonly expiresMs: number | undefined;
    },
    actor: Actor,
    along?: readonly Step[],
  ): Promise<readonly string[]>;
  /** Newest first. `text`: part of the name, or an id. `state`: redeemable (`unused`), or why it is not. */
  search(search: {
    readonly text?: string;
    readonly state?: 'unused' | 'disabled' | 'used' | 'expired';
    readonly before?: number;
    readonly offset: number;
    readonly limit: number;
  }): Promise<{ readonly total: number; readonly items: readonly RedemptionCode[] }>;
  get(id: number): Promise<RedemptionCode | undefined>;
  /** Refuses (404) an unknown code and (409) a used one. `expiresMs: null` removes the expiry. */
  change(
    id: number,
    changes: {
      readonly name?: string;
      readonly quota?: bigint;
      readonly expiresMs?: number | null;
      readonly enabled?: boolean;
    },
    actor: Actor,
    along?: readonly Step[],
  ): Promise<RedemptionCode>;
  /** False if there was none. */
  remove(id: number, actor: Actor): Promise<boolean>;
  /** Deletes codes that cannot be redeemed: used, disabled, expired. Returns their number. */
  removeDead(actor: Actor): Promise<number>;
  /** The steps that adopt a code: it is redeemed by the same text. Undefined: it is, or was, here already. `must`: `code_exists`. */
  adoptSteps(code: AdoptedCode): Promise<readonly Step[] | undefined>;
  /**
   * The steps that disable an adopted code, because it was disabled or redeemed at the other gateway. Undefined: there is none that could be
   * redeemed. `must`: `code_used`.
   */
  withdrawSteps(code: string): Promise<readonly Step[] | undefined>;
  /** Redeems a code for an account, once; returns the micro-quota. Refuses (400 `invalid_code`) all others. */
  redeem(account: Account, code: string, actor: Actor, along?: readonly Step[]): Promise<bigint>;
}

/** Operations of the console. */
export interface Payments {
  /** The names of the configured providers, as in their paths. */
  readonly providers: readonly string[];
  readonly offer: PaymentOffer;
  /** The price of an amount as displayed: `73.00`. Refuses as `start` does. */
  quote(provider: string, units: number): string;
  /** The price of a plan at each provider that takes free amounts, as displayed; empty if it is not for sale. */
  planPrices(plan: string): Readonly<Record<string, { readonly price: string; readonly currency: string }>>;
  /**
   * Creates an order and its payment page. Refuses (404 `not_available`) a provider that is not configured, (400) an
   * invalid amount, product, plan or method, and (502 `payment_provider_failed`) if the provider fails.
   */
  start(payment: NewPayment): Promise<{ readonly order: Order; readonly page: PaymentPage }>;
  /**
   * Buys a plan with the account's balance, immediately. Refuses (400 `invalid_plan`) a plan that is not for sale or
   * credits at least its price, and (409) if another plan is active or the balance is too low. `along` is written with it.
   */
  payFromBalance(account: Account, plan: string, actor: Actor, along?: readonly Step[]): Promise<Order>;
  /** Undefined if it does not exist or belongs to another account. */
  order(tradeNo: string, accountId?: number): Promise<Order | undefined>;
  orders(search: OrderSearch): Promise<{ readonly total: number; readonly items: readonly Order[] }>;
  /** Delivers an order by an administrator's decision; the audit log gets `reason`. Refuses: 404; 409 if delivered. */
  complete(tradeNo: string, actor: Actor, reason?: string): Promise<Order>;
  /**
   * The documents of a paid order, oldest first. Issues them: an invoice, and a credit note for what was returned since.
   * Empty if the order does not exist, belongs to another account, is not paid, or was paid from the balance.
   */
  documents(tradeNo: string, accountId?: number): Promise<readonly OrderDocument[]>;
  /** The steps that adopt an order; undefined: there is one with this number. It has no documents here. `must`: `order_exists`. */
  adoptOrderSteps(order: AdoptedOrder): Promise<readonly Step[] | undefined>;
  /** The details of an account for later invoices. */
  buyer(accountId: number): Promise<Buyer>;
  setBuyer(accountId: number, details: Buyer, along?: readonly Step[]): Promise<void>;
  readonly codes: RedemptionCodes;
}
/** The service `Payments`. */
export const Payments = service<Payments>('payments');
