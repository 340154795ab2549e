/** Differences between configured and published prices: a hint to check them, not an error. */
import type { PriceDrift } from '../../core/contracts/prices.ts';
import { RATE_NAMES, RATES, type Rate } from '../../core/contracts/rates.ts';
import { type Decimal, decimalText, inUnitsOf } from '../../core/sdk.ts';
import type { PriceRow, Rates } from './price.ts';

/** Smaller differences, in percent, are not reported. */
const NOTEWORTHY = 10;

const NOTHING: Decimal = { digits: 0n, scale: 0 };

/** The amounts of a configured price that are far from those of a published one. Tiers, and images by kind, are not compared. */
export function driftOf(configured: PriceRow, published: PriceRow): readonly PriceDrift[] {
  const rates = RATE_NAMES.filter(
    (rate) => configured.rates[rate] !== undefined || published.rates[rate] !== undefined,
  ).map((rate) => [rate, charged(configured.rates, rate), charged(published.rates, rate)] as const);
  const others = [
    ['characters', configured.units?.characters, published.units?.characters],
    ['perHour', configured.units?.perHour, published.units?.perHour],
    ['perRequest', configured.perRequest, published.perRequest],
  ] as const;
  return [...rates, ...others].flatMap(([field, ours = NOTHING, theirs = NOTHING]) => {
    const percent = percentAbove(ours, theirs);
    if (percent !== undefined && Math.abs(percent) <= NOTEWORTHY) return [];
    return [{ field, configured: decimalText(ours), published: decimalText(theirs), percent }];
  });
}

function charged(rates: Rates, rate: Rate): Decimal | undefined {
  for (let at: Rate | undefined = rate; at !== undefined; at = RATES[at].parent) {
    if (rates[at] !== undefined) return rates[at];
  }
  return undefined;
}

/** To a tenth; undefined if the other amount is 0. */
function percentAbove(ours: Decimal, theirs: Decimal): number | undefined {
  const scale = Math.max(ours.scale, theirs.scale);
  const [a, b] = [inUnitsOf(ours, scale), inUnitsOf(theirs, scale)];
  if (b === 0n) return a === 0n ? 0 : undefined;
  return Number(((a - b) * 1_000n) / b) / 10;
}
