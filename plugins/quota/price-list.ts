/** Prices as others may show them. */
import type { ModelPrice } from '../../core/contracts/prices.ts';
import { type Decimal, decimalText } from './decimal.ts';
import type { ImagePrices } from './image-prices.ts';
import { type PriceRow, RATES } from './price.ts';
import { rowText } from './price-text.ts';

/** A price as others may show it. */
export function toldPrice(row: PriceRow): ModelPrice {
  return { free: false, ...amountsIn(row), text: rowText(row, undefined) };
}

/** The amounts of a price by their names, as decimal numbers are written. */
export function amountsIn({ rates, units = {}, perRequest }: PriceRow): Readonly<Record<string, string>> {
  const amounts: readonly (readonly [string, Decimal | undefined])[] = [
    ...RATES.map((rate) => [rate, rates[rate]] as const),
    ['perImage', units.perImage && usual(units.perImage)],
    ['characters', units.characters],
    ['perHour', units.perHour],
    ['perRequest', perRequest],
  ];
  return Object.fromEntries(
    amounts.flatMap(([name, amount]) => (amount === undefined ? [] : [[name, decimalText(amount)]])),
  );
}

/** What an image costs of whose kind nothing is known: the default, else any. */
function usual(prices: ImagePrices): Decimal | undefined {
  return prices.get('default') ?? [...prices.values()][0];
}
