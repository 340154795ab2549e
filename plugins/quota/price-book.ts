/** Which price a model has, and what a use of it costs: gateway.yaml first, then the vendors' list prices. */
import type { Bounds, Usage } from '../../core/contracts/call.ts';
import type { Model } from '../../core/contracts/catalog.ts';
import { decimalText } from './decimal.ts';
import { type EstimateOptions, tokenBounds } from './estimate.ts';
import { exactPrice, type Price, type PriceRow, RATES, type Rate, type Rates } from './price.ts';
import { listPrices, type Upstream } from './price-data.ts';
import { type DatedRow, type PricesSection, type Problem, readPrice } from './price-section.ts';

export type { Upstream } from './price-data.ts';
export { type PriceEntry, type PriceFields, type PricesSection, priceSchema, pricesSchema } from './price-section.ts';

/**
 * Prices by model. A model's price is `price:` of its entry, else `prices:` by its public name, else the list price of the
 * upstream; the first of them that exists decides, even where none of its dates has come. Some list prices depend on the hour, so
 * a call has to be reserved and charged for the same moment.
 */
export interface PriceBook {
  /** Micro-quota for a use at a model at a time; 0n for free models; undefined where the model has no price. Never throws. */
  cost(model: Model, upstream: Upstream | undefined, usage: Usage, atMs: number): bigint | undefined;
  /**
   * The most a call within these bounds can cost there, in micro-quota: its tokens at the dearest rates that could apply. Undefined
   * where the model has no price.
   */
  most(
    model: Model,
    upstream: Upstream | undefined,
    bounds: Bounds,
    atMs: number,
    options: EstimateOptions,
  ): bigint | undefined;
  /** For people: the price and where it comes from, on one line. Undefined where the model has no price. */
  describe(model: Model, upstream: Upstream | undefined, atMs: number): string | undefined;
}

/**
 * Makes the book. `perUnit` is quota per currency unit. Mistakes in `prices:` are reported at once, those in a model's `price:`
 * when that model is first asked for, with `models`, its name and `price` as path; a price with a mistake is none.
 */
export function createPriceBook(options: {
  readonly prices: PricesSection;
  readonly perUnit: bigint;
  readonly problem: Problem;
}): PriceBook {
  const { perUnit, problem } = options;
  const section = new Map(
    Object.entries(options.prices).map(([name, entry]) => [name, readPrice(entry, ['prices', name], problem)] as const),
  );
  const entries = new Map<string, { readonly price: unknown; readonly rows: readonly DatedRow[] | undefined }>();
  const lists = listPrices();
  const ready = new WeakMap<PriceRow, Price>();

  /** What gateway.yaml says about a model; `written` is false where it says nothing. */
  function own(model: Model): { readonly written: boolean; readonly rows: readonly DatedRow[] | undefined } {
    if (model.price === undefined) return { written: section.has(model.name), rows: section.get(model.name) };
    let entry = entries.get(model.name);
    if (entry?.price !== model.price) {
      entry = { price: model.price, rows: readPrice(model.price, ['models', model.name, 'price'], problem) };
      entries.set(model.name, entry);
    }
    return { written: true, rows: entry?.rows };
  }

  function find(model: Model, upstream: Upstream | undefined, atMs: number): Found | undefined {
    const { written, rows } = own(model);
    if (written) {
      for (const { fromMs, row, from } of rows ?? []) {
        if (fromMs <= atMs) return { row, from, source: 'gateway.yaml' };
      }
      return undefined;
    }
    const list = upstream && lists(upstream, atMs);
    return list && { row: list.row, from: list.from, source: `genai-prices data, ${list.known}` };
  }

  function price(model: Model, upstream: Upstream | undefined, atMs: number): Price | undefined {
    const row = find(model, upstream, atMs)?.row;
    if (!row) return undefined;
    let exact = ready.get(row);
    if (!exact) {
      exact = exactPrice(row, perUnit);
      ready.set(row, exact);
    }
    return exact;
  }

  return {
    cost: (model, upstream, usage, atMs) => (model.free ? 0n : price(model, upstream, atMs)?.cost(usage)),
    most: (model, upstream, bounds, atMs, estimate) =>
      model.free ? 0n : price(model, upstream, atMs)?.most(tokenBounds(bounds, estimate)),
    describe(model, upstream, atMs) {
      if (model.free) return `${model.name}: free`;
      const found = find(model, upstream, atMs);
      return found && `${model.name}: ${rowText(found.row, found.from)} (${found.source})`;
    },
  };
}

interface Found {
  readonly row: PriceRow;
  readonly from: string | undefined;
  readonly source: string;
}

const LABELS: Readonly<Record<Rate, string>> = {
  input: 'input',
  cacheRead: 'cache read',
  cacheWrite: 'cache write',
  cacheWriteLong: 'long cache write',
  inputAudio: 'audio input',
  output: 'output',
  reasoning: 'reasoning',
  outputAudio: 'audio output',
};

/** `input 2.5, output 10 per million tokens, above 200000 input 5, 0.01 per call, since 2026-01-01` */
function rowText(row: PriceRow, from: string | undefined): string {
  const base = ratesText(row.rates);
  return [
    ...(base ? [`${base} per million tokens`] : []),
    ...row.tiers.map((tier) => `above ${tier.above} tokens: ${ratesText(tier.rates)}`),
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
