/**
 * The plugin `prices`: what models cost, the sources of prices, and how they are shown. It reserves and charges nothing;
 * the ledger does.
 */
import { Audit } from '../../core/contracts/audit.ts';
import { Catalog } from '../../core/contracts/catalog.ts';
import { Prices, type TariffOptions } from '../../core/contracts/prices.ts';
import { definePlugin } from '../../core/plugin.ts';
import { saneUsage } from '../../core/sdk.ts';
import { createPriceBook } from './book.ts';
import { priceCommands } from './commands.ts';
import { errors } from './errors.ts';
import { DATA_NAME, dataVersion } from './list-prices.ts';
import { exactPrice } from './price.ts';
import { receiptOf } from './receipt.ts';
import { type PricesSection, pricesSchema, readPrice } from './section.ts';
import { firstChannel, isPriced, priceLines, priceTable, soldFrom } from './table.ts';
import { createTariff, upstreamOf } from './tariff.ts';
import { shownPrice } from './text.ts';
import { unusedPrices } from './unused.ts';
import { createPriceUpdates, migrations } from './updates.ts';

export default definePlugin({
  name: 'prices',
  api: 2,
  errors,
  sections: { prices: pricesSchema },
  needs: [Catalog],
  provides: [Prices],
  migrations,
  wants: [Audit],
  create(host, { prices: { updates: section, ...prices } }) {
    const { clock } = host;
    const catalog = host.use(Catalog);
    /** The service that the ledger charges by. Without a ledger, nothing is charged and no call is refused. */
    let ledger: Pick<TariffOptions, 'perUnit' | 'unpriced'> = { perUnit: 1, unpriced: 'free' };
    const updates = createPriceUpdates({ host, section, sold: () => soldFrom(catalog, book, clock.now()) });
    const book = createPriceBook({
      prices: prices as PricesSection,
      epochs: updates,
      perUnit: () => BigInt(ledger.perUnit),
      problem: (...at) => host.problem(...at),
    });
    let lines: readonly string[] = [];

    host.provide(Prices, {
      of(name) {
        const model = catalog.require(name);
        if (model.free) return { free: true, text: 'free' };
        const first = firstChannel(model);
        const row = first && book.row(model, upstreamOf(first), clock.now());
        return row && shownPrice(row);
      },
      sells: (name) =>
        ledger.unpriced !== 'refuse' || catalog.chain(name).every((model) => isPriced(model, book, clock.now())),
      table: () => priceTable(catalog, book, ledger.unpriced, clock.now()),
      published(upstream) {
        const list = book.lists.at(upstream, clock.now());
        return list && shownPrice(list.row);
      },
      publishedContext(name) {
        const first = firstChannel(catalog.require(name));
        return first && book.lists.context(upstreamOf(first), clock.now());
      },
      tariff(options) {
        ledger = options;
        return createTariff(catalog, book, options);
      },
      costsAt(price, perUnit) {
        const mistakes: string[] = [];
        const rows = readPrice(price, [], (path, message) => mistakes.push([...path, message].join(' ')));
        const dated = rows?.find(({ fromMs }) => fromMs <= clock.now());
        if (dated === undefined) throw new Error(`not a price: ${mistakes.join('; ') || 'it is not valid yet'}`);
        const exact = exactPrice(dated.row, BigInt(perUnit));
        return (usage, factor) => exact.cost(saneUsage(usage).usage, factor);
      },
      updates,
      receipt: receiptOf,
    });
    return {
      // Reads every price, so that mistakes are reported before the start.
      link() {
        for (const [name, why] of unusedPrices(catalog, Object.keys(prices))) host.problem(['prices', name], why);
        lines = priceLines(catalog, book, ledger.unpriced, clock.now(), undefined, (model, message) =>
          host.warn(['models', model], message),
        );
      },
      diagnose: () => [
        {
          topic: 'prices',
          level: 'ok',
          text: `list prices of ${DATA_NAME} ${dataVersion()}; \`turnpike prices update --dry-run\` compares them with the current list`,
        },
      ],
      start: updates.start,
      stop: updates.stop,
      commands: priceCommands(updates, clock),
      report: () => lines,
      explain: (x) => priceLines(catalog, book, ledger.unpriced, x.startedMs, x.call.model),
    };
  },
});
