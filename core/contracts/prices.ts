/** Prices: what models cost, for those who show them. Provided by the plugin `quota`. */
import { service } from '../definitions.ts';

/**
 * The price of a model now, where it is served first. Amounts are currency units, as decimal numbers are written (`2.5`), so that
 * none is rounded; what is missing is charged as `input` or `output`, or not at all.
 */
export interface ModelPrice {
  /** Calls cost nothing; nothing else is there then. */
  readonly free: boolean;
  /** Per million tokens. */
  readonly input?: string;
  readonly output?: string;
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
  readonly cacheWriteLong?: string;
  readonly inputAudio?: string;
  readonly inputImage?: string;
  readonly reasoning?: string;
  readonly outputAudio?: string;
  readonly outputImage?: string;
  /** Per image, where nothing more is known of it. */
  readonly perImage?: string;
  /** Per million characters that are spoken. */
  readonly characters?: string;
  /** Per hour of sound that is heard. */
  readonly perHour?: string;
  /** Per call, beside everything else. */
  readonly perRequest?: string;
  /** All of it, on one line, for people. */
  readonly text: string;
}

/** A price and whence it is. */
export interface SourcedPrice {
  readonly price: ModelPrice;
  /** `model`: `price:` of its entry in gateway.yaml; `prices`: that section of it; `published`: a list price that came with this gateway. */
  readonly kind: 'model' | 'prices' | 'published';
  /** For people: `genai-prices data, acme model-1`. */
  readonly source: string;
  /** The first day it is valid (`2026-01-31`, UTC), where that is written. */
  readonly from: string | undefined;
}

/** An amount that is not what the vendor publishes: both as they are charged, where one of them follows another amount. */
export interface PriceDrift {
  /** Its name in `ModelPrice`. */
  readonly field: string;
  readonly configured: string;
  readonly published: string;
  /** How far the configured one is above (or, negative, below) the other, in percent; undefined where that is 0. */
  readonly percent: number | undefined;
}

/** What is known of the price of one model. */
export interface PricedModel {
  readonly name: string;
  /** Its other names. */
  readonly aliases: readonly string[];
  /** The models that it stands in for. */
  readonly fallbackOf: readonly string[];
  /** What becomes of its calls: charged, free, or refused for want of a price. */
  readonly calls: 'charged' | 'free' | 'refused';
  /** Those that may serve it and have no price: the model itself, fallbacks of it. */
  readonly unpriced: readonly string[];
  /** Where it is served first; undefined: it is free, or has none. */
  readonly now: SourcedPrice | undefined;
  /** Those that follow, in their order. */
  readonly upcoming: readonly SourcedPrice[];
  /** All channels that serve it, in the order of the entry. */
  readonly places: readonly {
    readonly channel: string;
    /** The channel's own name for the model. */
    readonly model: string;
    readonly now: SourcedPrice | undefined;
  }[];
  /** What is published for where it is served first, if gateway.yaml says something else. */
  readonly published: SourcedPrice | undefined;
  /** Amounts that are more than a tenth away from what is published: perhaps somebody forgot them. */
  readonly drift: readonly PriceDrift[];
}

/** All prices. */
export interface PriceTable {
  readonly models: readonly PricedModel[];
  /** Which list prices came with this gateway. */
  readonly snapshot: { readonly name: string; readonly version: string };
}

/** Tells prices. */
export interface Prices {
  /** Undefined where the model has no price; refuses (404) a name that is unknown. */
  of(model: string): ModelPrice | undefined;
  /** False if calls of a model are refused because it, or one that stands in for it, has no price; refuses (404) a name that is unknown. */
  sells(model: string): boolean;
  /** The prices of all models that can be called, for whoever answers for them. */
  table(): PriceTable;
  /** The context window of a model in tokens as it is published for where it is served first; refuses (404) a name that is unknown. */
  publishedContext(model: string): number | undefined;
}
/** The service of that name. */
export const Prices = service<Prices>('prices');
