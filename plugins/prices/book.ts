/** The price of each model and the cost of its usage: from gateway.yaml, otherwise from the vendors' list prices. */

import type { Model } from '../../core/contracts/catalog.ts';
import type { Bounds } from '../../core/contracts/formats/call.ts';
import type { Usage } from '../../core/contracts/formats/usage.ts';
import { TOKENS_ONLY, unusualIn } from '../../core/contracts/formats/uses.ts';
import type { TokenBounds } from '../../core/contracts/prices.ts';
import type { ServedAs, Uses } from '../../core/plugin.ts';
import type { Decimal } from '../../core/sdk.ts';
import type { Problem } from './fields.ts';
import { type Epochs, type ListPrice, type ListPrices, listPrices, type Upstream } from './list-prices.ts';
import { exactPrice, type Price } from './price.ts';
import type { PriceRow } from './price-row.ts';
import { type DatedRow, type PricesSection, readPrice } from './section.ts';
import { rowText } from './text.ts';
import { missesUnits } from './units.ts';
import { servedRow } from './uses.ts';

/**
 * Prices by model. A model's price is `price:` of its entry, otherwise `prices:` by its public name, otherwise the list price of the upstream; the
 * first of them that exists decides, even if it is not valid yet. Some list prices depend on the hour, so a call is reserved and charged for the
 * same moment.
 */
export interface PriceBook {
  /**
   * The cost of usage of a model at a time, in micro-quota; 0n for free models; undefined if the model has no price. Never throws. `factor`: only
   * this part of it.
   */
  cost(model: Model, upstream: Upstream | undefined, usage: Usage, atMs: number, factor?: Decimal): bigint | undefined;
  /**
   * The maximum cost of a call within these bounds, in micro-quota: these tokens at the highest rates that could apply, and its images, audio and
   * characters. Undefined if the model has no price, or none for such a call (one per image, and the call makes none).
   */
  most(
    model: Model,
    upstream: Upstream | undefined,
    bounds: Bounds,
    tokens: TokenBounds,
    atMs: number,
    factor?: Decimal,
  ): bigint | undefined;
  /** The price and its source; undefined if the model has none or is free. */
  found(model: Model, upstream: Upstream | undefined, atMs: number): FoundPrice | undefined;
  /** Later prices, in order of their dates. */
  later(model: Model, upstream: Upstream | undefined, atMs: number): readonly FoundPrice[];
  /** List prices, whether or not gateway.yaml has others. */
  readonly lists: ListPrices;
  /**
   * The vendor-side tool or the service tier of the call that has no price. Undefined if nothing is missing, or the model has no
   * price at all.
   */
  missing(model: Model, upstream: Upstream, call: NeededPrices, atMs: number): MissingPrice | undefined;
  /** The price of a call that was served in these tiers, and used these tools; undefined if the model has none. */
  row(
    model: Model,
    upstream: Upstream | undefined,
    atMs: number,
    service?: ServedAs | undefined,
    uses?: Uses | undefined,
  ): PriceRow | undefined;
  /** The price and its source on one line; undefined if the model has no price. */
  describe(model: Model, upstream: Upstream | undefined, atMs: number): string | undefined;
}

/** `price:` of a model that has its list price. */
const LIST = 'list';

/** Whether a model's `price:` says that it has its list price. */
export const isListPrice = (price: unknown): boolean => price === LIST;

/**
 * Creates the book. Mistakes in `prices:` are reported at once, those in a model's `price:` when its price is first looked up, with the path
 * `models`, its name, `price`; an invalid price counts as none.
 */
export function createPriceBook(options: {
  readonly prices: PricesSection;
  /** List prices that were taken over; default: none. */
  readonly epochs?: Epochs;
  /** Quota units in one currency unit; read when a cost is first computed. */
  readonly perUnit: () => bigint;
  readonly problem: Problem;
}): PriceBook {
  const { perUnit, problem } = options;
  const section = new Map(
    Object.entries(options.prices).map(([name, entry]) => [name, readPrice(entry, ['prices', name], problem)] as const),
  );
  const entries = new Map<string, { readonly price: unknown; readonly rows: readonly DatedRow[] | undefined }>();
  const lists = listPrices(options.epochs);
  const ready = new WeakMap<PriceRow, Price>();
  /** Rows of gateway.yaml with tools of list prices, by both. */
  const joined = new WeakMap<PriceRow, WeakMap<PriceRow, PriceRow>>();
  /** Rows of calls in other service tiers, by the names of these. */
  const served = new WeakMap<PriceRow, Map<string, PriceRow>>();

  /** The price in gateway.yaml; `written` is false if there is none. */
  function own(model: Model): { readonly written: boolean; readonly rows: readonly DatedRow[] | undefined } {
    if (isListPrice(model.price)) return { written: false, rows: undefined };
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

  /** The row of a call that uses tools. List prices are read only for one that gateway.yaml does not name. */
  function rowWith(model: Model, upstream: Upstream | undefined, atMs: number, uses: object | undefined) {
    const found = find(model, upstream, atMs);
    if (found === undefined || found.kind === 'published' || upstream === undefined) return found?.row;
    const isListed = (name: string): boolean => TOKENS_ONLY.has(name) || found.row.units?.perUse?.has(name) === true;
    if (uses === undefined || Object.keys(uses).every(isListed)) return found.row;
    return withListedTools(found.row, lists.at(upstream, atMs)?.row);
  }

  /** A price in gateway.yaml with the list prices of the vendor's tools that it does not name. The same object each time. */
  function withListedTools(row: PriceRow, list: PriceRow | undefined): PriceRow {
    const listed = list?.units?.perUse;
    if (list === undefined || listed === undefined) return row;
    const known = joined.get(row) ?? new WeakMap<PriceRow, PriceRow>();
    const perUse = new Map([...listed, ...(row.units?.perUse ?? [])]);
    const both = known.get(list) ?? { ...row, units: { ...row.units, perUse } };
    joined.set(row, known.set(list, both));
    return both;
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

  function rowFor(
    model: Model,
    upstream: Upstream | undefined,
    atMs: number,
    service: ServedAs | undefined,
    uses?: object,
  ) {
    const row = rowWith(model, upstream, atMs, uses);
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
    uses: object | undefined,
  ): Price | undefined {
    const row = rowFor(model, upstream, atMs, service, uses);
    if (!row) return undefined;
    let exact = ready.get(row);
    if (!exact) {
      exact = exactPrice(row, perUnit());
      ready.set(row, exact);
    }
    return exact;
  }

  return {
    cost: (model, upstream, usage, atMs, factor) =>
      model.free ? 0n : price(model, upstream, atMs, usage.service, usage.uses)?.cost(usage, factor),
    most(model, upstream, bounds, tokens, atMs, factor) {
      if (model.free) return 0n;
      const { uses } = tokens;
      const usual = price(model, upstream, atMs, undefined, uses)?.most(tokens, bounds, factor);
      const atTier = bounds.service && price(model, upstream, atMs, bounds.service, uses)?.most(tokens, bounds, factor);
      // A call that requests a service tier may be served in the default one.
      const amount = usual !== undefined && atTier !== undefined && atTier > usual ? atTier : usual;
      // The price is per unit, and this call has none of these units: it is for another endpoint.
      const isForOthers = amount === 0n && missesUnits(find(model, upstream, atMs)?.row.units, bounds);
      return isForOthers ? undefined : amount;
    },
    found: (model, upstream, atMs) => (model.free ? undefined : find(model, upstream, atMs)),
    later: (model, upstream, atMs) => (model.free ? [] : later(model, upstream, atMs)),
    lists,
    missing(model, upstream, { uses, service }, atMs) {
      const needed = Object.fromEntries(uses.map((name) => [name, undefined]));
      const row = model.free ? undefined : rowWith(model, upstream, atMs, needed);
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

/** The tools and service tiers that a call may need prices for. */
export interface NeededPrices {
  readonly uses: readonly string[];
  readonly service: ServedAs | undefined;
}

/** The name without a price. */
export interface MissingPrice {
  readonly kind: 'tool' | 'service';
  readonly name: string;
}

/** The price of a model at an upstream. */
export interface FoundPrice {
  readonly row: PriceRow;
  /** The first day on which it is valid, if it has a date. */
  readonly from: string | undefined;
  /** `model`: `price:` of its entry; `prices`: that section; `published`: a list price. */
  readonly kind: 'model' | 'prices' | 'published';
  /** In words: `gateway.yaml`; `genai-prices data, openai gpt-4o`. */
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
