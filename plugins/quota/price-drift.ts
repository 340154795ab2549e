/** Where a price is not what is published: a hint to look at it again, no mistake. */
import type { PriceDrift } from '../../core/contracts/prices.ts';
import { type Decimal, decimalText, inUnitsOf } from './decimal.ts';
import { type PriceRow, RATES, type Rate, type Rates } from './price.ts';

/** Which rate a kind of token is charged at that a price does not name. */
const FOLLOWS: Readonly<Record<Rate, Rate | undefined>> = {
  input: undefined,
  cacheRead: 'input',
  cacheWrite: 'input',
  cacheWriteLong: 'cacheWrite',
  inputAudio: 'input',
  inputImage: 'input',
  output: undefined,
  reasoning: 'output',
  outputAudio: 'output',
  outputImage: 'output',
};

/** More than so many percent is worth a look. */
const WORTH_A_LOOK = 10;

const NOTHING: Decimal = { digits: 0n, scale: 0 };

/** The amounts of a configured price that are far from those of a published one. Of tiers, and of images by kind, nothing is said. */
export function driftOf(configured: PriceRow, published: PriceRow): readonly PriceDrift[] {
  const rates = RATES.filter((rate) => configured.rates[rate] !== undefined || published.rates[rate] !== undefined).map(
    (rate) => [rate, charged(configured.rates, rate), charged(published.rates, rate)] as const,
  );
  const others = [
    ['characters', configured.units?.characters, published.units?.characters],
    ['perHour', configured.units?.perHour, published.units?.perHour],
    ['perRequest', configured.perRequest, published.perRequest],
  ] as const;
  return [...rates, ...others].flatMap(([field, ours = NOTHING, theirs = NOTHING]) => {
    const percent = percentAbove(ours, theirs);
    if (percent !== undefined && Math.abs(percent) <= WORTH_A_LOOK) return [];
    return [{ field, configured: decimalText(ours), published: decimalText(theirs), percent }];
  });
}

function charged(rates: Rates, rate: Rate): Decimal | undefined {
  for (let at: Rate | undefined = rate; at !== undefined; at = FOLLOWS[at]) {
    if (rates[at] !== undefined) return rates[at];
  }
  return undefined;
}

/** To a tenth; undefined where there is nothing to compare with. */
function percentAbove(ours: Decimal, theirs: Decimal): number | undefined {
  const scale = Math.max(ours.scale, theirs.scale);
  const [a, b] = [inUnitsOf(ours, scale), inUnitsOf(theirs, scale)];
  if (b === 0n) return a === 0n ? 0 : undefined;
  return Number(((a - b) * 1_000n) / b) / 10;
}
