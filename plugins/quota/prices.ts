/** The service `Prices`, on the book that calls are charged by. */
import type { Catalog } from '../../core/contracts/catalog.ts';
import type { Prices } from '../../core/contracts/prices.ts';
import type { Clock } from '../../core/plugin.ts';
import type { PriceBook } from './price-book.ts';
import { toldPrice } from './price-list.ts';
import { createPriceTable, firstPlace, isPriced } from './price-table.ts';
import type { QuotaSection } from './sections.ts';
import { upstreamOf } from './tariff.ts';

/** Makes it. `unpriced`: what becomes of calls without a price. */
export function createPrices(
  catalog: Catalog,
  book: PriceBook,
  clock: Clock,
  { unpriced }: Pick<QuotaSection, 'unpriced'>,
): Prices {
  return {
    of(name) {
      const model = catalog.require(name);
      if (model.free) return { free: true, text: 'free' };
      const first = firstPlace(model);
      const row = first && book.row(model, upstreamOf(first), clock.now());
      return row && toldPrice(row);
    },
    sells: (name) => unpriced !== 'refuse' || catalog.chain(name).every((model) => isPriced(model, book, clock.now())),
    table: createPriceTable(catalog, book, clock, unpriced),
    publishedContext(name) {
      const first = firstPlace(catalog.require(name));
      return first && book.lists.context(upstreamOf(first));
    },
  };
}
