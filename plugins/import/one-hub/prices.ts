/**
 * Prices of one-hub: the table `prices`, whose ratios are quota per token, and quota per 0.001 calls for those of type `times`. Facts:
 * MartialBE/one-hub, `model/price.go` (8762a428 and its later version with the column `extra_ratios`), `model/pricing.go`,
 * `relay/relay_util/quota.go`, `common/config/usage.go`, read in November 2026.
 */
import { type Decimal, decimal } from '../../../core/sdk.ts';
import type { ForeignPrice } from '../inventory.ts';
import { compared, divided, ONE, ratioOf, times } from '../one-api/amounts.ts';
import { imagePrice, type Options, type PriceList, priceOrNote, quotaPerUnitOf, written } from '../one-api/prices.ts';
import { asObject, objectOf, type Row, textOf } from '../values.ts';

/** A model that no row matches. */
const UNKNOWN = { input: decimal(30), output: decimal(30) };
const MILLION = decimal(1_000_000);
const THOUSAND = decimal(1_000);

/** Parts of usage by their names there, with the ratio to input or output if a row does not say one. */
const PARTS = [
  { rate: 'cacheRead', name: 'cached_tokens', of: 'input', usual: '1', models: /^(?!.*claude)/ },
  { rate: 'cacheRead', name: 'cached_read_tokens', of: 'input', usual: '0.1', models: /claude/ },
  { rate: 'cacheWrite', name: 'cached_write_tokens', of: 'input', usual: '1.25', models: /claude/ },
  { rate: 'inputAudio', name: 'input_audio_tokens', of: 'input', usual: '1', models: /^/ },
  { rate: 'inputImage', name: 'input_image_tokens', of: 'input', usual: '1', models: /^/ },
  { rate: 'outputAudio', name: 'output_audio_tokens', of: 'output', usual: '1', models: /^/ },
  { rate: 'outputImage', name: 'output_image_tokens', of: 'output', usual: '1', models: /^/ },
  { rate: 'reasoning', name: 'reasoning_tokens', of: 'output', usual: '1', models: /^/ },
] as const;

/**
 * Before the column `extra_ratios`, cached tokens cost half, and audio 40 times, unless the option AudioTokenJson says a ratio for the model (0d1f26d6
 * has ratios in its code instead).
 */
const USUAL_BEFORE: Readonly<Record<string, string>> = {
  cached_tokens: '0.5',
  input_audio_tokens: '40',
  output_audio_tokens: '40',
};
const AUDIO_BEFORE: readonly (readonly [names: RegExp, input: number, output: number])[] = [
  [/^gpt-4o-realtime/, 20, 10],
  [/^gpt-4o-audio/, 40, 20],
];

/** The same ratios as `extra_ratios` has them, of a database without that column. */
function extraBefore(name: string, options: Options): Row {
  const stored = objectOf(options, 'AudioTokenJson')[name];
  const inCode = AUDIO_BEFORE.find(([names]) => names.test(name));
  const own = asObject(
    stored ?? (inCode && { input_audio_tokens_ratio: inCode[1], output_audio_tokens_ratio: inCode[2] }),
  );
  const ofOption = Object.entries(own).map(([part, ratio]) => [
    part.replace(/^cached_(read|write)_ratio$/, 'cached_$1_tokens').replace(/_ratio$/, ''),
    ratio,
  ]);
  return { ...USUAL_BEFORE, ...Object.fromEntries(ofOption), cached_tokens: '0.5' };
}

/** The prices of a database: `rows` of the table `prices`, and its columns. Throws if one cannot be read. */
export function oneHubPrices(
  rows: readonly Row[],
  options: Options,
  columns: readonly string[] = ['extra_ratios'],
): PriceList {
  const quotaPerUnit = quotaPerUnitOf(options);
  const byModel = new Map(rows.map((row) => [textOf(row, 'model') ?? '', row]));
  const patterns = [...byModel.keys()].filter((name) => name.endsWith('*')).sort((a, b) => b.length - a.length);
  const rowOf = (name: string): Row | undefined =>
    byModel.get(name) ?? byModel.get(patterns.find((pattern) => name.startsWith(pattern.slice(0, -1))) ?? '');
  const inUnits = (quota: Decimal): Decimal => divided(quota, quotaPerUnit);

  function priceOf(name: string): ForeignPrice | undefined {
    const row = rowOf(name);
    const { input, output } =
      row === undefined ? UNKNOWN : { input: amountIn(row, 'input'), output: amountIn(row, 'output') };
    if (row !== undefined && textOf(row, 'type') === 'times')
      return written({ perRequest: inUnits(times(input, THOUSAND)) });
    const each = imagePrice(name, inUnits(times(input, THOUSAND)));
    if (each !== undefined) return each;
    const rates = { input: inUnits(times(input, MILLION)), output: inUnits(times(output, MILLION)) };
    if (/^tts-/.test(name)) return written({ characters: rates.input });
    const ofRow = row === undefined ? {} : objectOf(row, 'extra_ratios');
    const extra = columns.includes('extra_ratios') ? ofRow : extraBefore(name, options);
    const parts = PARTS.filter(({ models }) => models.test(name)).flatMap(({ rate, name: part, of, usual }) => {
      const ratio = ratioOf(extra[part]) ?? decimal(usual);
      return compared(ratio, ONE) === 0 || rates[of].digits === 0n ? [] : [[rate, times(rates[of], ratio)] as const];
    });
    return written({ ...rates, ...Object.fromEntries(parts) });
  }

  return { priceOf: (name) => priceOrNote(name, priceOf(name), 'prices'), quotaPerUnit, notes: [] };
}

/** A ratio; below 0 it counts as 0 there. */
function amountIn(row: Row, column: string): Decimal {
  const text = textOf(row, column) ?? '0';
  if (!Number.isFinite(Number(text))) {
    throw new Error(`table prices, model "${textOf(row, 'model')}", column ${column}: not a number: ${text}`);
  }
  return ratioOf(Number(text)) ?? decimal(0);
}
