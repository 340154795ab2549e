/** Which price a model has, and what a use of it costs: gateway.yaml first, then the vendors' list prices. */
import type { Bounds, Usage } from '../../core/contracts/call.ts';
import type { Model } from '../../core/contracts/catalog.ts';
import { TOKENS_ONLY, unusualIn } from '../../core/contracts/uses.ts';
import type { ServedAs } from '../../core/plugin.ts';
import type { TokenBounds } from './estimate.ts';
import { exactPrice, type Price, type PriceRow } from './price.ts';
import { type ListPrice, type ListPrices, listPrices, type Upstream } from './price-data.ts';
import type { Problem } from './price-fields.ts';
import { type DatedRow, type PricesSection, readPrice } from './price-section.ts';
import { rowText } from './price-text.ts';
import { missesUnits } from './unit-price.ts';
import { servedRow } from './use-prices.ts';

export type { Upstream } from './price-data.ts';
export { type PriceEntry, type PriceFields, type PricesSection, priceSchema, pricesSchema } from './price-section.ts';

/**
 * Prices by model. A model's price is `price:` of its entry, else `prices:` by its public name, else the list price of the
 * upstream; the first of them that exists decides, even where none of its dates has come. Some list prices depend on the hour, so
 * a call has to be reserved and charged for the same moment.
 */
export interface PriceBook {
  /**
   * Micro-quota for a use at a model at a time; 0n for free models; undefined where the model has no price. Never throws.
   * `factorPpm`: only so many millionths of it.
   */
  cost(
    model: Model,
    upstream: Upstream | undefined,
    usage: Usage,
    atMs: number,
    factorPpm?: bigint,
  ): bigint | undefined;
  /**
   * The most a call within these bounds can cost there, in micro-quota: these tokens at the dearest rates that could apply, and its
   * images, sound and characters. Undefined where the model has no price, or none for such a call: per image, and it makes none.
   */
  most(
    model: Model,
    upstream: Upstream | undefined,
    bounds: Bounds,
    tokens: TokenBounds,
    atMs: number,
    factorPpm?: bigint,
  ): bigint | undefined;
  /** The price and whence it is; undefined where the model has none, and where it is free. */
  found(model: Model, upstream: Upstream | undefined, atMs: number): FoundPrice | undefined;
  /** Those that follow it, in their order. */
  later(model: Model, upstream: Upstream | undefined, atMs: number): readonly FoundPrice[];
  /** What the vendors publish, whether or not gateway.yaml says something else. */
  readonly lists: ListPrices;
  /**
   * What a call would need that has no price: a tool that the vendor may run there, a way of being served. Undefined where nothing
   * is missing, and where the model has no price at all.
   */
  missing(model: Model, upstream: Upstream, call: NeededPrices, atMs: number): MissingPrice | undefined;
  /** The price as it is written down, of a call that was served in a way; undefined where the model has none. */
  row(model: Model, upstream: Upstream | undefined, atMs: number, service?: ServedAs | undefined): PriceRow | undefined;
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
  /** Rows of calls that are served otherwise than usual, by the words for that. */
  const served = new WeakMap<PriceRow, Map<string, PriceRow>>();

  /** What gateway.yaml says about a model; `written` is false where it says nothing. */
  function own(model: Model): { readonly written: boolean; readonly rows: readonly DatedRow[] | undefined } {
    if (model.price === undefined) {
      const name = section.has(model.name) ? model.name : model.entry;
      return { written: section.has(name), rows: section.get(name) };
    }
    let entry = entries.get(model.entry);
    if (entry?.price !== model.price) {
      entry = { price: model.price, rows: readPrice(model.price, ['models', model.entry, 'price'], problem) };
      entries.set(model.entry, entry);
    }
    return { written: true, rows: entry?.rows };
  }

  function find(model: Model, upstream: Upstream | undefined, atMs: number): FoundPrice | undefined {
    const { written, rows } = own(model);
    if (written)
      return fromFile(
        rows?.find(({ fromMs }) => fromMs <= atMs),
        model,
      );
    return upstream && published(lists.at(upstream, atMs));
  }

  function later(model: Model, upstream: Upstream | undefined, atMs: number): readonly FoundPrice[] {
    const { written, rows = [] } = own(model);
    if (!written) return upstream === undefined ? [] : lists.after(upstream, atMs).map((list) => published(list)!);
    // The newest come first.
    return rows
      .filter(({ fromMs }) => fromMs > atMs)
      .map((dated) => fromFile(dated, model)!)
      .reverse();
  }

  function rowFor(model: Model, upstream: Upstream | undefined, atMs: number, service: ServedAs | undefined) {
    const row = find(model, upstream, atMs)?.row;
    const words = row?.service === undefined ? [] : unusualIn(service).filter((word) => row.service!.has(word));
    if (row === undefined || words.length === 0) return row;
    const known = served.get(row) ?? new Map<string, PriceRow>();
    const name = words.join(' ');
    const other = known.get(name) ?? servedRow(row, words);
    served.set(row, known.set(name, other));
    return other;
  }

  function price(
    model: Model,
    upstream: Upstream | undefined,
    atMs: number,
    service: ServedAs | undefined,
  ): Price | undefined {
    const row = rowFor(model, upstream, atMs, service);
    if (!row) return undefined;
    let exact = ready.get(row);
    if (!exact) {
      exact = exactPrice(row, perUnit);
      ready.set(row, exact);
    }
    return exact;
  }

  return {
    cost: (model, upstream, usage, atMs, factorPpm) =>
      model.free ? 0n : price(model, upstream, atMs, usage.service)?.cost(usage, factorPpm),
    most(model, upstream, bounds, tokens, atMs, factorPpm) {
      if (model.free) return 0n;
      const usual = price(model, upstream, atMs, undefined)?.most(tokens, bounds, factorPpm);
      const asked = bounds.service && price(model, upstream, atMs, bounds.service)?.most(tokens, bounds, factorPpm);
      // Whoever asks for something special may still get the usual.
      const amount = usual !== undefined && asked !== undefined && asked > usual ? asked : usual;
      // Sold by the piece, and this call has none of them: it was priced for another endpoint.
      const isForOthers = amount === 0n && missesUnits(find(model, upstream, atMs)?.row.units, bounds);
      return isForOthers ? undefined : amount;
    },
    found: (model, upstream, atMs) => (model.free ? undefined : find(model, upstream, atMs)),
    later: (model, upstream, atMs) => (model.free ? [] : later(model, upstream, atMs)),
    lists,
    missing(model, upstream, { uses, service }, atMs) {
      const row = model.free ? undefined : find(model, upstream, atMs)?.row;
      if (row === undefined) return undefined;
      const tool = uses.find((name) => !TOKENS_ONLY.has(name) && row.units?.perUse?.has(name) !== true);
      if (tool !== undefined) return { kind: 'tool', name: tool };
      const word = unusualIn(service).find((each) => row.service?.has(each) !== true);
      return word === undefined ? undefined : { kind: 'service', name: word };
    },
    row: rowFor,
    describe(model, upstream, atMs) {
      if (model.free) return `${model.name}: free`;
      const found = find(model, upstream, atMs);
      return found && `${model.name}: ${rowText(found.row, found.from)} (${found.source})`;
    },
  };
}

/** What a call may need a price for beside its tokens. */
export interface NeededPrices {
  readonly uses: readonly string[];
  readonly service: ServedAs | undefined;
}

/** What has no price, by its name, and the key of a price that would give it one. */
export interface MissingPrice {
  readonly kind: 'tool' | 'service';
  readonly name: string;
}

/** A price that applies to a model somewhere. */
export interface FoundPrice {
  readonly row: PriceRow;
  /** The day from which it is valid, where that is written. */
  readonly from: string | undefined;
  /** `model`: `price:` of its entry; `prices`: that section; `published`: a list price. */
  readonly kind: 'model' | 'prices' | 'published';
  /** For people: `gateway.yaml`; `genai-prices data, openai gpt-4o`. */
  readonly source: string;
}

function fromFile(dated: DatedRow | undefined, { price }: Model): FoundPrice | undefined {
  if (dated === undefined) return undefined;
  const { row, from } = dated;
  return { row, from, kind: price === undefined ? 'prices' : 'model', source: 'gateway.yaml' };
}

function published(list: ListPrice | undefined): FoundPrice | undefined {
  return list && { row: list.row, from: list.from, kind: 'published', source: list.source };
}
