/** All prices with their sources, later prices, and differences from list prices; as a table, and as lines for `turnpike check`. */

import type { Catalog, Model } from '../../core/contracts/catalog.ts';
import { RATE_NAMES, RATES, type Rate } from '../../core/contracts/formats/rates.ts';
import type { PriceDrift, PricedModel, PriceTable, SourcedPrice } from '../../core/contracts/prices.ts';
import { type Decimal, decimalText, inUnitsOf } from '../../core/sdk.ts';
import type { FoundPrice, PriceBook } from './book.ts';
import { DATA_NAME, dataVersion } from './list-prices.ts';
import type { PriceRow, Rates } from './price-row.ts';
import { upstreamOf } from './tariff.ts';
import { shownPrice } from './text.ts';

/** Smaller differences, in percent, are not reported. */
const NOTEWORTHY = 10;

const NOTHING: Decimal = { digits: 0n, scale: 0 };

/** The amounts of a configured price that are far from those of a published one. Tiers, and images by kind, are not compared. */
function driftOf(configured: PriceRow, published: PriceRow): readonly PriceDrift[] {
  const rates = RATE_NAMES.filter(
    (rate) => configured.rates[rate] !== undefined || published.rates[rate] !== undefined,
  ).map((rate) => [rate, charged(configured.rates, rate), charged(published.rates, rate)] as const);
  const others = [
    ['characters', configured.units?.characters, published.units?.characters],
    ['perHour', configured.units?.perHour, published.units?.perHour],
    ['perRequest', configured.perRequest, published.perRequest],
  ] as const;
  return [...rates, ...others].flatMap(([field, ours = NOTHING, theirs = NOTHING]) => {
    const percent = percentAbove(ours, theirs);
    if (percent !== undefined && Math.abs(percent) <= NOTEWORTHY) return [];
    return [{ field, configured: decimalText(ours), published: decimalText(theirs), percent }];
  });
}

function charged(rates: Rates, rate: Rate): Decimal | undefined {
  for (let at: Rate | undefined = rate; at !== undefined; at = RATES[at].parent) {
    if (rates[at] !== undefined) return rates[at];
  }
  return undefined;
}

/** To a tenth; undefined if the other amount is 0. */
function percentAbove(ours: Decimal, theirs: Decimal): number | undefined {
  const scale = Math.max(ours.scale, theirs.scale);
  const [a, b] = [inUnitsOf(ours, scale), inUnitsOf(theirs, scale)];
  if (b === 0n) return a === 0n ? 0 : undefined;
  return Number(((a - b) * 1_000n) / b) / 10;
}

/** The treatment of calls of a model without a price. */
export type Unpriced = 'refuse' | 'free';

/** The table of all prices at a time. */
export function priceTable(catalog: Catalog, book: PriceBook, unpricedCalls: Unpriced, atMs: number): PriceTable {
  // A disabled fallback is not in the catalog.
  const byName = new Map(catalog.names().map((name) => [name, catalog.require(name)]));
  const models = [...new Set(byName.values())];

  const hasPrice = (model: Model): boolean => isPriced(model, book, atMs);

  function priced(model: Model): PricedModel {
    const { name } = model;
    const first = firstChannel(model);
    const upstream = first && upstreamOf(first);
    const now = book.found(model, upstream, atMs);
    const list = now === undefined || now.kind === 'published' || !upstream ? undefined : book.lists.at(upstream, atMs);
    const unpriced = catalog.chain(name).filter((each) => !hasPrice(each));
    return {
      name,
      aliases: [...byName].flatMap(([other, behind]) => (other !== name && behind === model ? [other] : [])),
      fallbackOf: models
        .filter(({ fallback }) => fallback.some((other) => byName.get(other) === model))
        .map((each) => each.name),
      calls: callsOf(model, unpriced.length > 0),
      unpriced: unpriced.map((each) => each.name),
      now: now && sourced(now),
      upcoming: book.later(model, upstream, atMs).map(sourced),
      places: model.from.map((place) => {
        const here = book.found(model, upstreamOf(place), atMs);
        return { channel: place.channel.name, model: place.model, now: here && sourced(here) };
      }),
      published: list && sourced({ ...list, kind: 'published' }),
      drift: now === undefined || list === undefined ? [] : driftOf(now.row, list.row),
    };
  }

  function callsOf(model: Model, isUnpriced: boolean): PricedModel['calls'] {
    if (isUnpriced && unpricedCalls === 'refuse') return 'refused';
    return model.free || !hasPrice(model) ? 'free' : 'charged';
  }

  return { models: models.map(priced), snapshot: { name: DATA_NAME, version: dataVersion() } };
}

/**
 * The prices, one line each, and warnings for models without one: of all models or, for a name, of all that may serve it. Refuses (404) an unknown
 * name. With `warn`, it gets the warnings.
 */
export function priceLines(
  catalog: Catalog,
  book: PriceBook,
  unpricedCalls: Unpriced,
  atMs: number,
  name?: string,
  warn?: (model: string, message: string) => void,
): readonly string[] {
  const models = name === undefined ? catalog.names().map((each) => catalog.require(each)) : catalog.chain(name);
  // An alias has a model that is in the list already.
  const ofNames = [...new Set(models)].flatMap((model) => {
    const prices = model.from.map((from) => book.describe(model, upstreamOf(from), atMs));
    if (!prices.includes(undefined)) return [...new Set(prices)].map((price) => `price of ${price}`);
    const message =
      unpricedCalls === 'refuse'
        ? 'has no price and is not free: calls are refused (model_not_priced)'
        : 'has no price: calls are free';
    if (warn === undefined) return [`warning: model ${model.name} ${message}`];
    warn(model.name, message);
    return [];
  });
  if (name !== undefined) return ofNames;
  const without = unpricedCalls === 'refuse' ? 'one without is refused (model_not_priced)' : 'one without is free';
  const ofPatterns = catalog.patterns().map((model) => {
    const own = book.describe(model, undefined, atMs);
    return own === undefined ? `price of ${model.name}: that of each name; ${without}` : `price of ${own}`;
  });
  return [...ofNames, ...ofPatterns];
}

/** True if a model is free, or has a price wherever it is served. */
export function isPriced(model: Model, book: PriceBook, atMs: number): boolean {
  return model.free || model.from.every((place) => book.found(model, upstreamOf(place), atMs) !== undefined);
}

/** The channel of a model with the highest priority. */
export function firstChannel({ from }: Model): Model['from'][number] | undefined {
  return from.toSorted((a, b) => a.channel.priority - b.channel.priority)[0];
}

/**
 * The public names that the models of the data serve, by the models' names there (`acme model-1`): those that cost the
 * list price, and those whose price is in gateway.yaml.
 */
export function soldFrom(
  catalog: Catalog,
  book: PriceBook,
  atMs: number,
): Readonly<Record<'sold' | 'fixed', ReadonlyMap<string, readonly string[]>>> {
  const [sold, fixed] = [new Map<string, string[]>(), new Map<string, string[]>()];
  for (const name of catalog.names()) {
    const model = catalog.require(name);
    for (const upstream of model.from.map(upstreamOf)) {
      const kind = book.found(model, upstream, atMs)?.kind;
      const listed = book.lists.nameOf(upstream, atMs);
      if (kind === undefined || listed === undefined) continue;
      const by = kind === 'published' ? sold : fixed;
      const names = by.get(listed) ?? [];
      if (!names.includes(name)) by.set(listed, [...names, name]);
    }
  }
  return { sold, fixed };
}

function sourced({ row, kind, source, from }: FoundPrice): SourcedPrice {
  return { price: shownPrice(row), kind, source, from };
}
