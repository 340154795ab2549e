/** What every provider of payments is to this plugin: it opens a page for an order, and understands what it is told afterwards. */
import { timingSafeEqual } from 'node:crypto';
import type { PaymentPage, PaymentProvider } from '../../core/contracts/payments.ts';
import type { ApiRequest } from '../../core/plugin.ts';
import type { Price, Product } from './section.ts';

/** An order on its way to its provider. */
export interface Purchase {
  readonly tradeNo: string;
  readonly accountId: number;
  /** In the smallest unit of the currency. */
  readonly money: bigint;
  readonly currency: string;
  /** What the person reads on the page. */
  readonly title: string;
  readonly method: string;
  readonly product: string | undefined;
  readonly createdMs: number;
  readonly expiresMs: number;
  /** Pages of the console that the client chose. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  /**
   * Its page about payments, for providers whose requests we sign. They sign names and values in one text without saying where a
   * value ends: whoever chose a value could cut our own signature's text otherwise, and have it say something else.
   */
  readonly ownUrl: string;
  /** Where the provider may reach `notices.path`. */
  readonly noticeUrl: string;
}

/** What a provider told, proven to be from it. */
export type Notice = {
  /** What is acted upon once, in the provider's words. */
  readonly event: string;
} & (
  | {
      readonly about: 'paid';
      readonly tradeNo: string;
      /** What the provider calls the payment; refunds are told under it. */
      readonly payment: string;
      /** What the provider says it was asked for; with and without its tax, where it adds one: one of them is what we asked for. */
      readonly money: readonly bigint[];
      readonly currency: string;
      /** The account we named when the page was opened; undefined where the provider does not say it again. */
      readonly account: string | undefined;
      /** The product that was paid, where the provider sells them: the one that was ordered. */
      readonly product?: string;
      /** What else speaks against it. */
      readonly objection?: string;
    }
  /** Not paid: not yet, not any more, not in time. */
  | { readonly about: 'waiting' | 'failed' | 'expired'; readonly tradeNo: string }
  /** So much went back: `all` of it so far, or `more` than before; `of` is what had been paid, in the same unit. */
  | {
      readonly about: 'refunded';
      readonly payment: string;
      readonly tradeNo?: string | undefined;
      readonly sum: 'all' | 'more';
      readonly amount: bigint;
      readonly of: bigint;
    }
  /** The person's bank takes the money back, or (`won`) gave in. */
  | {
      readonly about: 'disputed';
      /** What the provider calls the dispute; a payment may have several. */
      readonly dispute: string;
      readonly payment: string;
      readonly tradeNo?: string | undefined;
      readonly amount: bigint;
      readonly currency: string;
      readonly won: boolean;
      /** What may arrive late and is superseded by this. */
      readonly supersedes?: string;
    }
);

/** A request that brings a notice. */
export type NoticeRequest = Pick<ApiRequest, 'method' | 'headers' | 'query' | 'bytes'>;

/** It is not from the provider, or older than it may be. */
export class Forged extends Error {}

/** One of them. */
export interface Provider {
  readonly name: string;
  /** Undefined where it takes no free amounts. */
  readonly price: Price | undefined;
  readonly methods: PaymentProvider['methods'];
  readonly products: readonly Product[];
  /** Rejects where the provider does not. */
  open(purchase: Purchase): Promise<PaymentPage>;
  readonly notices: {
    readonly methods: readonly ('GET' | 'POST')[];
    readonly path: string;
    /** Throws `Forged`. Undefined: nothing that matters here. */
    read(request: NoticeRequest): Promise<Notice | undefined>;
    /** The words it wants to hear. */
    readonly taken: string;
    readonly refused: string;
  };
}

/** How long a provider has to open its page. */
export const ANSWER_MS = 15_000;

/** Loads something heavy when it is first needed, and tries again where that failed. */
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

/** Throws `Forged` where the signature that was given is not the right one. */
export function checkSignature(given: string, right: string): void {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  if (a.length !== b.length || !timingSafeEqual(a, b)) throw new Forged('the signature does not fit');
}

/** No provider tells more at once. */
const MOST_FIELDS = 100;

/** The parameters of a form or a query; throws `Forged` where one comes twice, for then two readers see two things. */
export function readForm(text: string): Record<string, string> {
  if (text.split('&', MOST_FIELDS + 1).length > MOST_FIELDS) throw new Forged('it has too many fields');
  const fields: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (Object.hasOwn(fields, name) || name === '__proto__') throw new Forged(`"${name}" comes twice`);
    fields[name] = value;
  }
  return fields;
}

/** Those of the values that are amounts in the smallest unit. */
export function amountsIn(...values: readonly unknown[]): readonly bigint[] {
  return values.flatMap((value) =>
    typeof value === 'bigint'
      ? [value]
      : Number.isSafeInteger(value) && Number(value) >= 0
        ? [BigInt(Number(value))]
        : [],
  );
}
