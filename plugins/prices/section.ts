/** Prices in gateway.yaml: the shape of `prices:` and of `price:` in a model's entry, and how both are read. */

import { RATE_NAMES, type Rate } from '../../core/contracts/formats/rates.ts';
import { type Accepted, type Schema, schema, typed } from '../../core/plugin.ts';
import { type Decimal, duration } from '../../core/sdk.ts';
import { amountSchema, type Fields, type Path, type Problem, readAmount, readFields } from './fields.ts';
import { type ImagePriceFields, imagePricesSchema, readImagePrices } from './images.ts';
import { pricesNothing } from './price.ts';
import type { PriceRow, Rates, Tier, UnitRates } from './price-row.ts';
import { SECONDS_PER_HOUR } from './units.ts';
import {
  readServicePrices,
  readUsePrices,
  type ServicePriceFields,
  servicePricesSchema,
  type UsePriceFields,
  usePricesSchema,
} from './uses.ts';

/** Currency units per million tokens. */
type RateFields = { readonly [R in Rate]?: number };

/** One price, as written. */
export interface PriceFields extends RateFields {
  /** Currency units per generated image, by kind or for all. */
  readonly perImage?: ImagePriceFields;
  /** Currency units per second of audio input; fractions of a second are charged as such. */
  readonly perSecond?: number;
  /** Currency units per million characters of speech. */
  readonly characters?: number;
  /** Currency units per call, in addition to the tokens. */
  readonly perRequest?: number;
  /** Currency units per use of a vendor-side tool. */
  readonly perUse?: UsePriceFields;
  /** By service tier: a factor of the price of tokens, or rates of its own. */
  readonly service?: ServicePriceFields;
  /** The first day on which it is valid, `2026-01-31`, from midnight UTC; without it: always. */
  readonly from?: string;
  /** Rates of calls with more than `above` input tokens. */
  readonly tiers?: readonly (RateFields & { readonly above: number })[];
}
/** One price, or several with dates. */
export type PriceEntry = PriceFields | readonly PriceFields[];
/** `prices:`, by public model name, without `updates`. */
export type PricesSection = Readonly<Record<string, PriceEntry>>;

/** `prices.updates`: newer list prices than those that ship. */
export type UpdatesSection = Accepted<typeof updatesSchema>;

/** `prices:` as written; the other members are prices by public model name. */
export interface WrittenPrices {
  readonly updates?: UpdatesSection;
  readonly [model: string]: unknown;
}

const rateSchemas = Object.fromEntries(RATE_NAMES.map((rate) => [rate, amountSchema]));
const rowSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    ...rateSchemas,
    perImage: imagePricesSchema,
    perSecond: { ...amountSchema, description: 'Currency units per second of audio input.' },
    characters: { ...amountSchema, description: 'Currency units per million characters of speech.' },
    perRequest: amountSchema,
    perUse: usePricesSchema,
    service: servicePricesSchema,
    from: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
    tiers: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['above'],
        properties: { ...rateSchemas, above: { type: 'integer', minimum: 1 } },
      },
    },
  },
};

/** A price: one row, or a list of rows with dates. */
export const priceSchema: Schema<PriceEntry> = schema({
  if: { type: 'array' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { type: 'array', minItems: 1, items: rowSchema },
  else: rowSchema,
});

const updatesSchema = typed({
  type: 'object',
  description:
    'Newer list prices than those of this version. Without it, only `turnpike prices update` looks for them.',
  additionalProperties: false,
  properties: {
    from: {
      type: 'string',
      pattern: '^https?://',
      description: 'The URL of the list; default: that of genai-prices.',
    },
    every: { ...duration, description: 'The interval of a check; without it, nothing is checked.' },
    apply: {
      enum: ['none', 'decreases', 'all'],
      description: 'What a check takes over: nothing, prices that only fall, or all.',
      default: 'none',
    },
    maxChange: {
      type: 'integer',
      description: 'A list that changes a price of a model that is sold by more percent is refused.',
      minimum: 1,
      maximum: 10_000,
      default: 300,
    },
  },
});

/** The section `prices:`. */
export const pricesSchema: Schema<WrittenPrices> = schema({
  description:
    'Prices by public model name, in currency units: per million tokens, per image, second, million characters, or call.',
  type: 'object',
  properties: {
    updates: updatesSchema,
  },
  additionalProperties: priceSchema,
  default: {},
});

/** A row and the time from which it is valid, in milliseconds; `-Infinity`: always. */
export interface DatedRow {
  readonly fromMs: number;
  /** The date as written. */
  readonly from: string | undefined;
  readonly row: PriceRow;
}

/**
 * Reads and validates a price (a model's `price:` was not validated against a schema). The newest row comes first. Undefined if it is invalid; at
 * least one problem is reported then.
 */
export function readPrice(value: unknown, path: Path, problem: Problem): readonly DatedRow[] | undefined {
  let wrong = false;
  const report: Problem = (at, message) => {
    wrong = true;
    problem(at, message);
  };
  const rows = Array.isArray(value)
    ? value.map((each, index) => readRow(each, [...path, index], report))
    : [readRow(value, path, report)];
  if (rows.length === 0) report(path, 'a list of prices must not be empty');
  // The next checks would only repeat a mistake that is reported already.
  if (wrong) return undefined;
  rows.forEach(({ fromMs, row }, index) => {
    const at = Array.isArray(value) ? [...path, index] : path;
    if (pricesNothing(row)) {
      report(at, 'has no amount; a model that costs nothing is `free: true`');
    }
    if (rows.findIndex((other) => other.fromMs === fromMs) !== index) {
      report(at, 'begins on the same day as another: give each its own `from`');
    }
  });
  return wrong ? undefined : rows.toSorted((a, b) => (a.fromMs < b.fromMs ? 1 : -1));
}

function readRow(value: unknown, path: Path, problem: Problem): DatedRow {
  const fields = readFields(value, path, [...RATE_NAMES, ...OTHER_FIELDS], problem);
  const rates = readRates(fields, path, problem);
  const units = readUnits(fields, path, problem);
  const perRequest = readAmount(fields, 'perRequest', path, problem);
  const tiers = fields.tiers === undefined ? [] : readTiers(fields.tiers, [...path, 'tiers'], problem);
  const service = readServicePrices(fields, path, problem, (written, at) =>
    readRates(readFields(written, at, RATE_NAMES, problem), at, problem),
  );
  return { ...readDate(fields.from, [...path, 'from'], problem), row: { rates, units, perRequest, tiers, service } };
}

const OTHER_FIELDS = ['perImage', 'perSecond', 'characters', 'perRequest', 'perUse', 'service', 'from', 'tiers'];

function readUnits(fields: Fields, path: Path, problem: Problem): UnitRates {
  const perSecond = readAmount(fields, 'perSecond', path, problem);
  return {
    perImage: readImagePrices(fields, path, problem),
    perHour: perSecond && { ...perSecond, digits: perSecond.digits * SECONDS_PER_HOUR },
    characters: readAmount(fields, 'characters', path, problem),
    perUse: readUsePrices(fields, path, problem),
  };
}

function readTiers(value: unknown, path: Path, problem: Problem): readonly Tier[] {
  if (!Array.isArray(value)) {
    problem(path, 'must be a list');
    return [];
  }
  const borders = new Set<unknown>();
  return value.map((each, index) => {
    const at = [...path, index];
    const fields = readFields(each, at, ['above', ...RATE_NAMES], problem);
    const above = fields.above;
    if (typeof above !== 'number' || !Number.isSafeInteger(above) || above < 1) {
      problem([...at, 'above'], 'must be a whole number of tokens, 1 or more');
    } else if (borders.has(above)) {
      problem([...at, 'above'], 'two tiers have the same `above`');
    }
    borders.add(above);
    return { above: Number(above), rates: readRates(fields, at, problem) };
  });
}

function readRates(fields: Fields, path: Path, problem: Problem): Rates {
  const rates: Partial<Record<Rate, Decimal>> = {};
  for (const rate of RATE_NAMES) {
    const amount = readAmount(fields, rate, path, problem);
    if (amount) rates[rate] = amount;
  }
  return rates;
}

function readDate(
  value: unknown,
  path: Path,
  problem: Problem,
): { readonly fromMs: number; readonly from: string | undefined } {
  if (value === undefined) return { fromMs: Number.NEGATIVE_INFINITY, from: undefined };
  const fromMs = typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value) ? Date.parse(value) : Number.NaN;
  // Date.parse accepts 2026-02-30 as the second of March.
  if (Number.isNaN(fromMs) || new Date(fromMs).toISOString().slice(0, 10) !== value) {
    problem(path, 'must be a day such as 2026-01-31');
    return { fromMs: Number.NEGATIVE_INFINITY, from: undefined };
  }
  return { fromMs, from: value };
}
