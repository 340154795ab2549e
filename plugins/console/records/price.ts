/** A price in the API: its rates and, as API clients expect, ratios: 1 is 2 currency units per million input tokens. */

import { RATE_NAMES, RATES, type Rate } from '../../../core/contracts/formats/rates.ts';
import type { ModelPrice } from '../../../core/contracts/prices.ts';
import { boolean, text } from '../format/schemas.ts';

const rates = Object.fromEntries(
  RATE_NAMES.map((rate) => [rate, { ...text, description: `Currency units per million tokens: ${RATES[rate].of}.` }]),
) as Readonly<Record<Rate, typeof text & { readonly description: string }>>;

const amounts = {
  ...rates,
  perImage: { ...text, description: 'Currency units per image of any other kind.' },
  characters: { ...text, description: 'Currency units per million characters of speech.' },
  perHour: { ...text, description: 'Currency units per hour of audio input.' },
  perRequest: { ...text, description: 'Currency units per call, in addition to everything else.' },
} as const satisfies Readonly<Record<Exclude<keyof ModelPrice, 'free' | 'text'>, object>>;

/** Its schema: decimal numbers as text. Token rates that are missing default to `input` or `output`; other missing rates are free. */
export const priceSchema = {
  title: 'Price',
  type: ['object', 'null'],
  description: 'Decimal numbers as text; missing token rates default to input or output. null: no price.',
  required: ['free', 'text'],
  properties: { free: boolean, text: { ...text, description: 'The whole price on one line.' }, ...amounts },
} as const;

/** Currency units per million input tokens of a model with ratio 1. */
const RATIO_ONE = 2;

/** A price as ratios. Rates that ratios cannot express are only in the price itself. */
export function ratiosOf(price: Omit<ModelPrice, 'text'>) {
  const { free, input, output, cacheRead, cacheWrite, perRequest, perImage } = price;
  const perCall = input === undefined && output === undefined ? (perRequest ?? perImage) : undefined;
  if (free || perCall !== undefined) {
    return { quota_type: free ? 0 : 1, model_ratio: 0, model_price: Number(perCall ?? 0), completion_ratio: 0 };
  }
  const base = Number(input ?? 0);
  const ratio = (amount: string | undefined): number => (base === 0 ? 0 : Number(amount ?? input) / base);
  return {
    quota_type: 0,
    model_ratio: base / RATIO_ONE,
    model_price: 0,
    completion_ratio: output === undefined ? 0 : ratio(output),
    ...(cacheRead !== undefined && { cache_ratio: ratio(cacheRead) }),
    ...(cacheWrite !== undefined && { create_cache_ratio: ratio(cacheWrite) }),
  };
}
