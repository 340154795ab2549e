/** The interface of payment providers: they create a payment page for an order, and decode notifications. */
import { timingSafeEqual } from 'node:crypto';
import type { PaymentPage, PaymentProvider } from '../../core/contracts/payments.ts';
import type { ApiRequest } from '../../core/plugin.ts';
import type { Price, Product } from './section.ts';

/** An order to be paid. */
export interface Purchase {
  readonly tradeNo: string;
  readonly accountId: number;
  /** In the currency's smallest unit. */
  readonly money: bigint;
  readonly currency: string;
  /** The title of the payment page. */
  readonly title: string;
  readonly method: string;
  readonly product: string | undefined;
  readonly createdMs: number;
  readonly expiresMs: number;
  /** The return pages that the client chose. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  /**
   * Our page about payments, for providers whose requests we sign. They sign names and values as one text without delimiting values, so a
   * client who chose a value could change the meaning of the signed text.
   */
  readonly ownUrl: string;
  /** The URL at which the provider can reach `notices.path`. */
  readonly noticeUrl: string;
}

/** A notification with a verified signature. */
export type Notice = {
  /** The provider's id of the event, which is processed once. */
  readonly event: string;
} & (
  | {
      readonly about: 'paid';
      readonly tradeNo: string;
      /** The provider's id of the payment, to which refunds refer. */
      readonly payment: string;
      /** The amount according to the provider; with and without tax, if the provider adds it: one of them is the amount of the order. */
      readonly money: readonly bigint[];
      readonly currency: string;
      /** The account that we named for the payment page; undefined if the provider does not return it. */
      readonly account: string | undefined;
      /** The paid product, if the provider sells products: it must be the ordered one. */
      readonly product?: string;
      /** A reason not to accept the payment. */
      readonly objection?: string;
    }
  /** Not paid: not yet, failed, or expired. */
  | { readonly about: 'waiting' | 'failed' | 'expired'; readonly tradeNo: string }
  /** A refund: `all` so far, or `more` than before; `of` is the paid amount in the same unit. */
  | {
      readonly about: 'refunded';
      readonly payment: string;
      readonly tradeNo?: string | undefined;
      readonly sum: 'all' | 'more';
      readonly amount: bigint;
      readonly of: bigint;
    }
  /** A chargeback; `won`: the dispute was decided in our favour. */
  | {
      readonly about: 'disputed';
      /** The provider's id of the dispute; a payment may have several. */
      readonly dispute: string;
      readonly payment: string;
      readonly tradeNo?: string | undefined;
      readonly amount: bigint;
      readonly currency: string;
      readonly won: boolean;
      /** Events that this one supersedes and that may arrive later. */
      readonly supersedes?: string;
    }
);

/** A notification's request. */
export type NoticeRequest = Pick<ApiRequest, 'method' | 'headers' | 'query' | 'bytes'>;

/** The notification is not from the provider, or too old. */
export class Forged extends Error {}

export interface Provider {
  readonly name: string;
  /** Undefined if it does not take arbitrary amounts. */
  readonly price: Price | undefined;
  readonly methods: PaymentProvider['methods'];
  readonly products: readonly Product[];
  /** Creates a payment page. Rejects if the provider fails. */
  open(purchase: Purchase): Promise<PaymentPage>;
  readonly notices: {
    readonly methods: readonly ('GET' | 'POST')[];
    readonly path: string;
    /** The media type of the body if it is a form; default: JSON. */
    readonly fields?: 'application/x-www-form-urlencoded';
    /** Throws `Forged`. Undefined: the event is not relevant. */
    read(request: NoticeRequest): Promise<Notice | undefined>;
    /** The response that the provider expects. */
    readonly taken: string;
    readonly refused: string;
  };
}

/** The timeout for creating a payment page. */
export const ANSWER_MS = 15_000;

/** Loads a large module on first use, and again after a failure. */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined;
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

/** Throws `Forged` if the signature is wrong. */
export function checkSignature(given: string, right: string): void {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  if (a.length !== b.length || !timingSafeEqual(a, b)) throw new Forged('the signature is invalid');
}

/** The maximum number of fields. */
const MOST_FIELDS = 100;

/** The parameters of a form or a query; throws `Forged` for duplicates, which two parsers could read differently. */
export function readForm(text: string): Record<string, string> {
  if (text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS) throw new Forged('it has too many fields');
  const fields: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(fields, name) || name === '__proto__') throw new Forged(`"${name}" comes twice`);
    fields[name] = value;
  }
  return fields;
}

/** The notification of a paid order; `account`: empty if the provider does not return it. */
export const paidNotice = (
  ids: { readonly event: string; readonly tradeNo: string; readonly payment: string },
  money: bigint | undefined,
  currency: string,
  account: string | undefined,
): Notice => ({ about: 'paid', ...ids, money: amountsIn(money), currency, account: account || undefined });

/** The values that are amounts in the smallest unit. */
export function amountsIn(...values: readonly unknown[]): readonly bigint[] {
  return values.flatMap((value) =>
    typeof value === 'bigint'
      ? [value]
      : Number.isSafeInteger(value) && Number(value) >= 0
        ? [BigInt(Number(value))]
        : [],
  );
}
