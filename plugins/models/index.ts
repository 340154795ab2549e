/** Plays `route` and `attempted`: knows the models and channels, and chooses which channel is asked. Provides `Catalog`. */
import { Catalog } from '../../core/contracts/catalog.ts';
import { type Holder, Keys } from '../../core/contracts/keys.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createRetryBudget } from './budget.ts';
import { type ModelCatalog, readModels } from './catalog.ts';
import { type Channels, readChannels } from './channels.ts';
import { createHealth, createHealthState } from './health.ts';
import { listRoutes } from './lists.ts';
import { createOffers } from './offers.ts';
import { channels, models } from './sections.ts';

export default definePlugin({
  name: 'models',
  api: 1,
  sections: { channels, models },
  wants: [Keys],
  provides: [Catalog],
  create(host, config) {
    const health = createHealth(host.lasting('models.health', createHealthState), host.clock, host.log);
    const budget = host.lasting('models.budget', createRetryBudget);
    const created = host.lasting('models.created', () => new Map<string, number>());

    // The vendors are complete only when everybody is created, so this is read when it is first asked for, in `link` at the
    // latest.
    let read: Read | undefined;
    const ready = (): Read => {
      if (read === undefined) {
        const known = readChannels(host, config.channels);
        const catalog = readModels(host, config.models, known, created);
        const offers = createOffers({
          catalog,
          health,
          budget,
          stylesOf: (channel) => known.get(channel.name)?.styles ?? [],
          styles: host.styles(),
          allows: (who, name) => allows(who.identity, name),
        });
        read = { channels: known, catalog, offers };
      }
      return read;
    };
    host.provide(Catalog, {
      require: (name, holder) => ready().catalog.require(name, holder),
      chain: (name) => ready().catalog.chain(name),
      names: () => ready().catalog.names(),
      channel: (name) => ready().catalog.channel(name),
    });

    // Without a plugin for keys nobody has a scope.
    const allows = (holder: Holder | undefined, name: string): boolean =>
      holder === undefined || (host.find(Keys)?.allows(holder.key, name) ?? true);

    return {
      route(x) {
        return x.style === undefined ? undefined : ready().offers(x, x.style.name);
      },
      attempted(_x, attempt) {
        // A vendor's failure counts even if the client has gone by then; a success that was cut short is none.
        health.end(attempt, attempt.failure === undefined && attempt.cut);
      },
      routes: listRoutes(() => ready().catalog, allows),
      link() {
        ready();
      },
      report() {
        const { channels: known, catalog } = ready();
        const { counts, off } = catalog;
        return [
          `${count(counts.models, 'model')}, ${count(counts.aliases, 'alias', 'aliases')}, ${count(known.all.length, 'channel')}`,
          ...known.all
            .filter((configured) => configured.off)
            .map(({ channel }) => `channel ${channel.name} is off: its key is empty`),
          ...off.map((name) => `model ${name} is off: so are all its channels`),
        ];
      },
    };
  },
});

/** What the sections say, and what follows from it. */
interface Read {
  readonly channels: Channels;
  readonly catalog: ModelCatalog;
  readonly offers: ReturnType<typeof createOffers>;
}

function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
