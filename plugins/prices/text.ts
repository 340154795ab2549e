/** How prices are shown: on one line, and as amounts for other plugins. */

import { RATE_NAMES, RATES } from '../../core/contracts/formats/rates.ts';
import type { ModelPrice } from '../../core/contracts/prices.ts';
import { type Decimal, decimalText } from '../../core/sdk.ts';
import type { ImagePrices } from './images.ts';
import type { PriceRow, Rates, UnitRates } from './price-row.ts';
import { usesText } from './uses.ts';

/** `input 2.5, output 10 per million tokens; above 200000 tokens: input 5; 0.01 per call; since 2026-01-01` */
export function rowText(row: PriceRow, from: string | undefined): string {
  const base = ratesText(row.rates);
  return [
    ...(base ? [`${base} per million tokens`] : []),
    ...row.tiers.map((tier) => `above ${tier.above} tokens: ${ratesText(tier.rates)}`),
    ...unitTexts(row.units ?? {}),
    ...usesText(row.units?.perUse, row.service),
    ...(row.perRequest ? [`${decimalText(row.perRequest)} per call`] : []),
    ...(from ? [`since ${from}`] : []),
  ].join('; ');
}

function ratesText(rates: Rates): string {
  return RATE_NAMES.flatMap((rate) => {
    const value = rates[rate];
    return value ? [`${RATES[rate].label} ${decimalText(value)}`] : [];
  }).join(', ');
}

function unitTexts({ perImage, perHour, characters }: UnitRates): readonly string[] {
  const kinds = [...(perImage ?? [])].map(([kind, amount]) =>
    kind === 'default' ? decimalText(amount) : `${kind} ${decimalText(amount)}`,
  );
  return [
    ...(kinds.length > 0 ? [`${kinds.join(', ')} per image`] : []),
    ...(perHour ? [soundText(perHour)] : []),
    ...(characters ? [`${decimalText(characters)} per million characters`] : []),
  ];
}

/** The price of a second, if that is a finite decimal number. */
function soundText({ digits, scale }: Decimal): string {
  if (digits % 9n !== 0n) return `${decimalText({ digits, scale })} per hour of audio`;
  // An hour has 9 times 400 seconds, and 1/400 is 0.0025.
  return `${decimalText({ digits: (digits / 9n) * 25n, scale: scale + 4 })} per second of audio`;
}

/** A price for other plugins. */
export function shownPrice(row: PriceRow): ModelPrice {
  return { free: false, ...amountsIn(row), text: rowText(row, undefined) };
}

/** The amounts of a price by their names, as decimal numbers. */
export function amountsIn({ rates, units = {}, perRequest }: PriceRow): Readonly<Record<string, string>> {
  const amounts: readonly (readonly [string, Decimal | undefined])[] = [
    ...RATE_NAMES.map((rate) => [rate, rates[rate]] as const),
    ['perImage', units.perImage && usual(units.perImage)],
    ['characters', units.characters],
    ['perHour', units.perHour],
    ['perRequest', perRequest],
  ];
  return Object.fromEntries(
    amounts.flatMap(([name, amount]) => (amount === undefined ? [] : [[name, decimalText(amount)]])),
  );
}

/** The price of an image of an unknown kind: the default, otherwise the first. */
function usual(prices: ImagePrices): Decimal | undefined {
  return prices.get('default') ?? [...prices.values()][0];
}
