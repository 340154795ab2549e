/** Rows of a price: what one unit costs, as gateway.yaml and the lists have it. */

import type { Rate } from '../../core/contracts/formats/rates.ts';

import type { Decimal } from '../../core/sdk.ts';
import type { ImagePrices } from './images.ts';

/** Currency units per million tokens. */
export type Rates = Readonly<Partial<Record<Rate, Decimal>>>;

/** A price, as it is written in gateway.yaml or published. */
export interface PriceRow {
  readonly rates: Rates;
  /** Amounts in addition to tokens. */
  readonly units?: UnitRates;
  /** Currency units per call, in addition. */
  readonly perRequest: Decimal | undefined;
  /** Rates of calls with more than `above` input tokens in all; a rate that a tier does not name is that of the tier below. */
  readonly tiers: readonly Tier[];
  /** The price of tokens with another service tier. */
  readonly service?: ServicePrices | undefined;
}

/** Rates of calls with long input. */
export interface Tier {
  readonly above: number;
  readonly rates: Rates;
}

/** Currency units for a use, by its name: `{ web_search: 0.01 }`. */
export type UsePrices = ReadonlyMap<string, Decimal>;

/** The price of tokens in a service tier: a factor of the usual price, or separate rates. */
export type ServicePrice = { readonly factor: Decimal } | { readonly rates: Rates };

/** By the name that requests have for it: `priority`, `flex`, `fast`, `us`. */
export type ServicePrices = ReadonlyMap<string, ServicePrice>;

/** Currency units for each of them. */
export interface UnitRates {
  readonly perImage?: ImagePrices | undefined;
  /** For an hour of audio input, in which prices per second, minute and hour are all exact. */
  readonly perHour?: Decimal | undefined;
  /** For a million characters. */
  readonly characters?: Decimal | undefined;
  /** For a use of a vendor-side tool. */
  readonly perUse?: UsePrices | undefined;
}
