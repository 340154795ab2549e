/** Plays `route` and `attempted`: knows models and channels, and chooses the channel of each upstream attempt. Provides `Catalog`. */
import { Catalog } from '../../core/contracts/catalog.ts';
import { type Holder, Keys } from '../../core/contracts/keys.ts';
import { Prices } from '../../core/contracts/prices.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createRetryBudget } from './budget.ts';
import { type ModelCatalog, readModels } from './catalog.ts';
import { type Channels, readChannels } from './channels.ts';
import { errors } from './errors.ts';
import { explainOffers } from './explain.ts';
import { factsOf } from './facts.ts';
import { createHealth } from './health.ts';
import { createHealthState } from './health-state.ts';
import { listRoutes } from './lists.ts';
import { createOffers, type Offers } from './offers.ts';
import { createProbe } from './probe.ts';
import { countAttempt, countCall, createRecent } from './recent.ts';
import { type SharedRecent, shareRecent } from './recent-peers.ts';
import { reportLines } from './report.ts';
import { channels, models } from './sections.ts';
import { channelStatus } from './status.ts';

export default definePlugin({
  name: 'models',
  api: 2,
  errors,
  sections: { channels, models },
  wants: [Keys, Prices],
  provides: [Catalog],
  create(host, config) {
    const health = createHealth(host.lasting({ name: 'models.health', version: 1, make: createHealthState }), host);
    const budget = host.lasting({ name: 'models.budget', version: 1, make: createRetryBudget });
    const recentNamed = (topic: string): SharedRecent =>
      shareRecent(host.lasting({ name: topic, version: 1, make: () => createRecent(host.clock) }), topic, host);
    const byModel = recentNamed('models.recent');
    const byChannel = recentNamed('models.recent-channels');
    const created = host.lasting({ name: 'models.created', version: 1, make: () => new Map<string, number>() });

    // All vendors are registered only after all plugins were created, so this runs on first use, in `link` at the latest.
    let read: Read | undefined;
    const ready = (): Read => {
      if (read === undefined) {
        const channelSet = readChannels(host, config.channels);
        const catalog = readModels(host, config.models, channelSet, created);
        const offers = createOffers({
          catalog,
          health,
          budget,
          styles: host.styles(),
          allows: (who, name) => allows(who.identity, name),
        });
        read = { channels: channelSet, catalog, offers, probe: createProbe(host, channelSet, catalog) };
      }
      return read;
    };
    host.provide(Catalog, {
      require: (name, holder) => ready().catalog.require(name, holder),
      chain: (name, style) => ready().catalog.chain(name, style),
      names: () => ready().catalog.names(),
      patterns: () => ready().catalog.patterns(),
      serves: (name) => ready().catalog.serves(name),
      channel: (name) => ready().catalog.channel(name),
      facts: (name) => factsOf(name, { catalog: ready().catalog, health, recent: byModel, styles: host.styles() }),
      channels: () => channelStatus(ready().channels, ready().catalog, health, host.clock, byChannel),
      probe: (channel, model) => ready().probe(channel, model),
    });

    // Without the plugin `keys`, keys are not restricted.
    const allows = (holder: Holder | undefined, name: string): boolean =>
      holder === undefined || (host.find(Keys)?.allows(holder.key, name) ?? true);

    return {
      route(x) {
        return x.style === undefined ? undefined : ready().offers.pull(x, x.style.name);
      },
      *explain(x) {
        const { catalog, offers } = ready();
        const { name, entry } = catalog.require(x.call.model, x.identity);
        if (name !== x.call.model) yield `${x.call.model} is another name for ${name}`;
        if (entry !== name) yield `${name} is served by the entry ${entry}`;
        yield* explainOffers(offers.all(x, x.call.style), health, host.clock);
      },
      attempted(_x, attempt) {
        // A vendor's failure counts even if the client has disconnected; an answer that was cut short does not count as a success.
        health.end(attempt, attempt.failure === undefined && attempt.cut);
        countAttempt(byChannel, attempt);
      },
      settle(x) {
        countCall(byModel, x, ready().catalog);
        return undefined;
      },
      routes: listRoutes(
        () => ready().catalog,
        allows,
        (name) => host.find(Prices)?.sells(name) ?? true,
      ),
      link() {
        ready();
      },
      start() {
        health.join();
        byModel.listen();
        byChannel.listen();
      },
      stop() {
        byModel.flush();
        byChannel.flush();
      },
      report() {
        const { channels: channelSet, catalog } = ready();
        return reportLines(channelSet, catalog, host.styles());
      },
    };
  },
});

/** The sections with everything derived from them. */
interface Read {
  readonly channels: Channels;
  readonly catalog: ModelCatalog;
  readonly offers: Offers;
  readonly probe: Catalog['probe'];
}
