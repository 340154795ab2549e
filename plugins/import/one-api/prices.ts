/**
 * Prices of one-api and new-api: ratios in the table `options`. A token costs its ratio in quota, so a million of them
 * cost 1,000,000 × ratio / QuotaPerUnit dollars: two dollars for a ratio of 1 at the usual 500,000.
 */
import { type Decimal, decimalText } from '../../../core/sdk.ts';
import type { ForeignPrice } from '../inventory.ts';
import { amountOf, product, quotient, type Row } from '../values.ts';

const MILLION: Decimal = { digits: 1_000_000n, scale: 0 };

/** The options that prices are made of, parsed. */
export interface Ratios {
  readonly quotaPerUnit: bigint;
  /** Quota per input token, by model. */
  readonly model: Row;
  /** Output tokens cost this many times as much as input. */
  readonly completion: Row;
  /** Dollars per request, in place of ratios. */
  readonly price: Row;
  /** Cached input, as a part of input. */
  readonly cache: Row;
  readonly createCache: Row;
  readonly audio: Row;
  readonly audioCompletion: Row;
}

/** The price of a model; undefined if the options do not have all of it. */
export function priceOf(name: string, ratios: Ratios): ForeignPrice | undefined {
  const perRequest = amountOf(ratios.price[name]);
  if (perRequest !== undefined) return { perRequest: decimalText(perRequest) };
  const ratio = amountOf(ratios.model[name]);
  const completion = amountOf(ratios.completion[name]);
  if (ratio === undefined || completion === undefined) return undefined;
  const input = quotient(product(ratio, MILLION), ratios.quotaPerUnit);
  const times = (of: Decimal | undefined, factor: Decimal | undefined): Decimal | undefined =>
    of && factor && product(of, factor);
  const inputAudio = times(input, amountOf(ratios.audio[name]));
  const rates = {
    input,
    cacheRead: times(input, amountOf(ratios.cache[name])),
    cacheWrite: times(input, amountOf(ratios.createCache[name])),
    inputAudio,
    output: times(input, completion),
    outputAudio: times(inputAudio, amountOf(ratios.audioCompletion[name])),
  };
  return Object.fromEntries(
    Object.entries(rates).flatMap(([rate, amount]) => (amount ? [[rate, decimalText(amount)]] : [])),
  );
}
