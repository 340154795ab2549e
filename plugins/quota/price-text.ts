/** Prices for people. */
import { type Decimal, decimalText } from './decimal.ts';
import { type PriceRow, RATES, type Rate, type Rates } from './price.ts';
import type { UnitRates } from './unit-price.ts';
import { usesText } from './use-prices.ts';

const LABELS: Readonly<Record<Rate, string>> = {
  input: 'input',
  cacheRead: 'cache read',
  cacheWrite: 'cache write',
  cacheWriteLong: 'long cache write',
  inputAudio: 'audio input',
  inputImage: 'image input',
  output: 'output',
  reasoning: 'reasoning',
  outputAudio: 'audio output',
  outputImage: 'image output',
};

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
  return RATES.flatMap((rate) => {
    const value = rates[rate];
    return value ? [`${LABELS[rate]} ${decimalText(value)}`] : [];
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

/** A second's price, where a decimal number can say it. */
function soundText({ digits, scale }: Decimal): string {
  if (digits % 9n !== 0n) return `${decimalText({ digits, scale })} per hour of sound`;
  // An hour has 9 times 400 seconds, and 1/400 is 0.0025.
  return `${decimalText({ digits: (digits / 9n) * 25n, scale: scale + 4 })} per second of sound`;
}
