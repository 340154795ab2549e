/** Prices: what models cost, to show it and to charge it. Provided by the plugin `prices`. */

import { type Decimal, roundedUp } from '../helpers/decimal.ts';
import type { Actor } from './audit.ts';
import { service } from './definitions.ts';
import type { Exchange } from './exchange.ts';
import type { Bounds, Call } from './formats/call.ts';
import type { JsonObject } from './formats/json.ts';
import type { Rate } from './formats/rates.ts';
import type { Usage } from './formats/usage.ts';
import type { Uses } from './formats/uses.ts';
import type { Receipt } from './ledger.ts';
import type { UsageRecord } from './records.ts';

/** The part of an amount that is `factor`, rounded up; undefined: the amount. */
export function partOf(amount: bigint, factor: Decimal | undefined): bigint {
  if (factor === undefined) return amount;
  const unit = 10n ** BigInt(factor.scale);
  return (amount * factor.digits + unit - 1n) / unit;
}

/** Significant digits of a price factor: as many as a number of a usage record always keeps. */
const FACTOR_DIGITS = 15;

/** The product of the price factors of a call, exact up to 15 significant digits and rounded up after them; undefined: 1. */
export function productOfFactors(factors: readonly (Decimal | undefined)[]): Decimal | undefined {
  let [digits, scale] = [1n, 0];
  for (const factor of factors) {
    if (factor === undefined) continue;
    digits *= factor.digits;
    scale += factor.scale;
  }
  return digits === 10n ** BigInt(scale) ? undefined : roundedUp({ digits, scale }, FACTOR_DIGITS);
}

/**
 * The current price of a model, at the channel with the highest priority. Amounts are decimal numbers in currency units (`2.5`), not rounded.
 * The rates are those of the table `RATES`, per million tokens; a missing one follows its parent, or charges nothing if it has none.
 */
export interface ModelPrice extends Readonly<Partial<Record<Rate, string>>> {
  /** Calls cost nothing; the price has no amounts then. */
  readonly free: boolean;
  /** Per image of an unknown kind. */
  readonly perImage?: string;
  /** Per million characters of speech. */
  readonly characters?: string;
  /** Per hour of audio input. */
  readonly perHour?: string;
  /** Per call, in addition to everything else. */
  readonly perRequest?: string;
  /** The whole price on one line. */
  readonly text: string;
}

/** A price and its source. */
export interface SourcedPrice {
  readonly price: ModelPrice;
  /** `model`: `price:` of its entry in gateway.yaml; `prices`: that section of it; `published`: a list price that ships with this gateway. */
  readonly kind: 'model' | 'prices' | 'published';
  /** In words: `genai-prices data, acme model-1`. */
  readonly source: string;
  /** The first day it is valid (`2026-01-31`, UTC), if the price has a date. */
  readonly from: string | undefined;
}

/** An amount that differs from the published one. Both are as charged: a missing rate is that of its parent. */
export interface PriceDrift {
  /** Its name in `ModelPrice`. */
  readonly field: string;
  readonly configured: string;
  readonly published: string;
  /** How far the configured one is above (or, negative, below) the other, in percent; undefined if that is 0. */
  readonly percent: number | undefined;
}

/** The prices of one model. */
export interface PricedModel {
  readonly name: string;
  /** Its other names. */
  readonly aliases: readonly string[];
  /** The models that have it as a fallback. */
  readonly fallbackOf: readonly string[];
  /** How its calls are treated: charged, free, or refused because a price is missing. */
  readonly calls: 'charged' | 'free' | 'refused';
  /** Models without a price that may serve its calls: itself, or its fallbacks. */
  readonly unpriced: readonly string[];
  /** The price at the channel with the highest priority; undefined: it is free, or has none. */
  readonly now: SourcedPrice | undefined;
  /** Later prices, in order of their dates. */
  readonly upcoming: readonly SourcedPrice[];
  /** All channels that serve it, in the order of the entry. */
  readonly places: readonly {
    readonly channel: string;
    /** The channel's own name for the model. */
    readonly model: string;
    readonly now: SourcedPrice | undefined;
  }[];
  /** The list price at the channel with the highest priority, if gateway.yaml has another one. */
  readonly published: SourcedPrice | undefined;
  /** Amounts that differ from the list price by more than a tenth, and may be out of date. */
  readonly drift: readonly PriceDrift[];
}

/** All prices. */
export interface PriceTable {
  readonly models: readonly PricedModel[];
  /** The list prices that ship with this gateway. */
  readonly snapshot: { readonly name: string; readonly version: string };
}

/** An amount of a published price that differs from the current one: decimal numbers in currency units. */
export interface ChangedAmount {
  /** `input`, `output above 200000`, `input from 2026-01-31`. */
  readonly field: string;
  /** Undefined: there was none. */
  readonly old: string | undefined;
  /** Undefined: it is removed. */
  readonly new: string | undefined;
  /** To a tenth; undefined if there is no ratio. */
  readonly percent: number | undefined;
}

/** A changed price of the published list. */
export interface PriceChange {
  /** Its names in the list. */
  readonly provider: string;
  readonly model: string;
  /** The public names that cost its list price; empty: none does. */
  readonly names: readonly string[];
  /** The public names that it serves at a price of gateway.yaml, which the change does not affect. */
  readonly fixed: readonly string[];
  /** `new`: the model had no price. `structure`: amounts are added or removed. `mixed`: some rise, others fall. */
  readonly kind: 'new' | 'increase' | 'decrease' | 'mixed' | 'structure';
  readonly amounts: readonly ChangedAmount[];
}

/** The published list, compared with the current prices. */
export interface PriceComparison {
  /** Its URL or file. */
  readonly source: string;
  /** Identifies its content. */
  readonly digest: string;
  /** Those of models that are sold here first. */
  readonly changes: readonly PriceChange[];
  /** Changes that are never taken over, because they are implausible: `acme model-1: …`. */
  readonly skipped: readonly string[];
  /** How many were taken over, and from when they are valid (unix milliseconds); undefined: it was only compared. */
  readonly taken: { readonly count: number; readonly fromMs: number } | undefined;
}

/** Newer list prices than those that ship with this version. */
export interface PriceUpdates {
  /** Downloads the list and compares it. Refuses (502) if that fails or the list is implausible. */
  compare(): Promise<PriceComparison>;
  /**
   * Takes changes over, for all gateways on the store and for calls that begin in two minutes or later: all, or those
   * of some models (`PROVIDER MODEL`). Refuses (409) if the list is no longer the one with this digest.
   */
  takeOver(actor: Actor, digest: string, only?: readonly string[]): Promise<PriceComparison>;
  /** The prices that were taken over, the last to become valid first; at most 1,000. */
  history(): Promise<readonly TakenPrice[]>;
  /** The rule of `prices.updates`, and when the list was last compared (unix milliseconds; undefined: never). */
  rule(): Promise<{ readonly rule: PriceUpdateRule | undefined; readonly checkedMs: number | undefined }>;
}

/** A published price that was taken over. */
export interface TakenPrice {
  readonly provider: string;
  readonly model: string;
  /** When it became valid, or will. */
  readonly fromMs: number;
  readonly takenMs: number;
  readonly takenBy: string;
  /** The URL or file of the list. */
  readonly source: string;
}

/** The section `prices.updates`. */
export interface PriceUpdateRule {
  /** The interval of the scheduled comparison; undefined: none. */
  readonly everyMs: number | undefined;
  /** What the scheduled comparison takes over. */
  readonly apply: 'none' | 'decreases' | 'all';
  /** The largest plausible change of an amount, in percent. */
  readonly maxChange: number;
}

/**
 * How carefully the input of a call is estimated. `strict`: one token per byte, which no byte-level tokenizer exceeds. `estimate`: two tokens for
 * five bytes (three bytes each, and a fifth more): smaller, right for nearly all text, not a proof. `count`: as the gateway counts if a vendor does
 * not report usage, about four bytes each, all of it at the plain rate: the probable cost.
 */
export type Care = 'strict' | 'estimate' | 'count';

/** How the maximum usage of a call is estimated. */
export interface EstimateOptions {
  /** The more cautious amount, reserved if the balance allows it. */
  readonly reserve: Exclude<Care, 'count'>;
  /** Output tokens of each answer to reserve if neither the client nor the model sets a lower maximum; and those assumed for each image. */
  readonly assumeOutput: number;
  /**
   * Input tokens to reserve for each image, clip or file. The request does not contain their size, so this is an estimate and not a bound: 3,000
   * tokens cover an image at most vendors and about 90 seconds of audio. Raise it if long documents are usual.
   */
  readonly mediaTokens: number;
}

/** The basis of the ledger's charges. */
export interface TariffOptions extends EstimateOptions {
  /** Quota units in one currency unit. */
  readonly perUnit: number;
  /** Calls of a model without a price. */
  readonly unpriced: 'refuse' | 'free';
}

/** The maximum usage of a call, in whole tokens. */
export interface TokenBounds {
  readonly input: number;
  readonly output: number;
  /** The input may contain audio or images. */
  readonly media: boolean;
  /** All input is charged at the plain rate; otherwise any of it may be of the kind with the highest rate. */
  readonly plain: boolean;
  /** The maximum uses of vendor-side tools. */
  readonly uses?: Uses | undefined;
}

/** The costs of calls, in micro-quota. */
export interface Tariff {
  /**
   * The maximum cost of a call, whichever channel or fallback of its model serves it: the price, or the part of it that is `factor`. `output`: output
   * tokens, if they differ from the bounds of the call. Refuses a model that is unknown (404) or has no price (402).
   */
  most(call: Call, atMs: number, factor: Decimal | undefined, care: Care, output?: number): bigint;
  /** The vendor-side tools without a price that a call can do without (`Bounds.spare`): `most` counts no use of them. */
  unpaid(call: Call, atMs: number): readonly string[];
  /** The longest answer of all models that may serve a call, in tokens; undefined if that is not known of each. */
  longest(call: Call): number | undefined;
  /** The maximum usage of a call within its bounds; `output`: tokens of all its answers, if they differ from the bounds. */
  tokens(bounds: Bounds, care: Care, output?: number): TokenBounds;
  /** The same where only these channels may serve a call: `most`, `unpaid` and `longest` count no others. */
  within(channels: ReadonlySet<string>): Pick<Tariff, 'most' | 'unpaid' | 'longest'>;
  /**
   * The cost of a request so far, whether or not its reservation covers it; 0n for failures before the first byte was delivered. `usage`: its usage,
   * from `sane`. `fixed`: the price of a passthrough request; undefined for a call.
   */
  due(x: Exchange, usage: Usage | undefined, fixed: bigint | undefined, factor: Decimal | undefined): bigint;
  /** The price that a request was charged by, as `receipt` reads it from the usage record; undefined if nothing has one. */
  note(x: Exchange, fixed: bigint | undefined): JsonObject | undefined;
  /** Whether the request was free only because the model that served it has no price. */
  isUnpriced(x: Exchange): boolean;
  /**
   * The nearest usage that can be true, and what was wrong with the reported one, for the log: counts are whole and not negative, and no part is
   * larger than its total. A part is cut to its total, never the total raised.
   */
  sane(usage: Usage): { readonly usage: Usage; readonly anomalies: string[] };
  /** Whether a call can have used this much. */
  isPossible(usage: Usage): boolean;
}

/** The service. */
export interface Prices {
  /** Undefined if the model has no price; refuses (404) an unknown name. */
  of(model: string): ModelPrice | undefined;
  /** False if calls of a model are refused because it, or one of its fallbacks, has no price; refuses (404) an unknown name. */
  sells(model: string): boolean;
  /** The prices of all models, for administrators. */
  table(): PriceTable;
  /** The current list price of a model at a vendor, by the vendor's name or its URL; undefined if none is known. */
  published(upstream: {
    readonly vendor: string;
    readonly url: string;
    readonly model: string;
  }): ModelPrice | undefined;
  /** The published context window of a model in tokens, at the channel with the highest priority; refuses (404) an unknown name. */
  publishedContext(model: string): number | undefined;
  /** Computes the cost of calls for the ledger, which calls this once when it is created. Until then, and without a ledger, no call is refused. */
  tariff(options: TariffOptions): Tariff;
  /**
   * The cost of usage, in micro-quota, at a price as gateway.yaml has it (`{ input: 2.5, output: 10 }`), with `perUnit` quota units in one
   * currency unit; `factor`: only this part of it. Usage counts as served in the default service tier. Throws if the price is invalid.
   */
  costsAt(price: unknown, perUnit: number): (usage: Usage, factor?: Decimal) => bigint;
  readonly updates: PriceUpdates;
  /** How a recorded call was charged, at the price that its record has. */
  receipt(call: UsageRecord): Receipt;
}
/** The service `Prices`. */
export const Prices = service<Prices>('prices');
