/** All prices on one page: whence each is, what follows it, and where it is not what the vendor publishes. */
import type { Catalog, Model } from '../../core/contracts/catalog.ts';
import type { PricedModel, PriceTable, SourcedPrice } from '../../core/contracts/prices.ts';
import type { Clock } from '../../core/plugin.ts';
import type { FoundPrice, PriceBook } from './price-book.ts';
import { DATA_NAME, dataVersion } from './price-data.ts';
import { driftOf } from './price-drift.ts';
import { toldPrice } from './price-list.ts';
import type { QuotaSection } from './sections.ts';
import { upstreamOf } from './tariff.ts';

/** Makes `Prices.table`, on the book that calls are charged by. */
export function createPriceTable(
  catalog: Catalog,
  book: PriceBook,
  clock: Clock,
  rule: QuotaSection['unpriced'],
): () => PriceTable {
  return () => {
    const atMs = clock.now();
    // A fallback that is off is no name that can be asked about.
    const byName = new Map(catalog.names().map((name) => [name, catalog.require(name)]));
    const models = [...new Set(byName.values())];

    const hasPrice = (model: Model): boolean => isPriced(model, book, atMs);

    function priced(model: Model): PricedModel {
      const { name } = model;
      const first = firstPlace(model);
      const upstream = first && upstreamOf(first);
      const now = book.found(model, upstream, atMs);
      const list =
        now === undefined || now.kind === 'published' || !upstream ? undefined : book.lists.at(upstream, atMs);
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
      if (isUnpriced && rule === 'refuse') return 'refused';
      return model.free || !hasPrice(model) ? 'free' : 'charged';
    }

    return { models: models.map(priced), snapshot: { name: DATA_NAME, version: dataVersion() } };
  };
}

/** True if a model is free, or has a price wherever it is served. */
export function isPriced(model: Model, book: PriceBook, atMs: number): boolean {
  return model.free || model.from.every((place) => book.found(model, upstreamOf(place), atMs) !== undefined);
}

/** Where a model is served first. */
export function firstPlace({ from }: Model): Model['from'][number] | undefined {
  return from.toSorted((a, b) => a.channel.priority - b.channel.priority)[0];
}

function sourced({ row, kind, source, from }: FoundPrice): SourcedPrice {
  return { price: toldPrice(row), kind, source, from };
}
