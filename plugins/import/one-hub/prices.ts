/**
 * Prices of one-hub: the table `prices`, whose ratios are quota per token, and quota per 0.001 calls for those of type `times`. Facts:
 * MartialBE/one-hub, `model/price.go` (8762a428 and its later version with the column `extra_ratios`), `model/pricing.go`,
 * `relay/relay_util/quota.go`, `common/config/usage.go`, read in November 2026.
 */
import { type Decimal, decimal } from '../../../core/sdk.ts';
import type { ForeignPrice } from '../inventory.ts';
import { compared, divided, ONE, ratioOf, times } from '../one-api/amounts.ts';
import { imagePrice, type Options, type PriceList, priceOrNote, quotaPerUnitOf, written } from '../one-api/prices.ts';
import { objectOf, type Row, textOf } from '../values.ts';

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

/** The prices of a database: `rows` of the table `prices`. Throws if one cannot be read. */
export function oneHubPrices(rows: readonly Row[], options: Options): PriceList {
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
    const extra = row === undefined ? {} : objectOf(row, 'extra_ratios');
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
