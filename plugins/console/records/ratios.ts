/** Prices as ratios, which API clients expect: 1 is 2 currency units per million input tokens. */
import type { ModelPrice } from '../../../core/contracts/prices.ts';

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
