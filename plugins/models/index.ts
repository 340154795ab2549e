/** Plays `route` and `attempted`: knows models and channels, and chooses the channel of each upstream attempt. Provides `Catalog`. */

import { Audit } from '../../core/contracts/audit.ts';
import { Catalog, type ChannelState, type ChannelStatus } from '../../core/contracts/catalog.ts';
import { Configuring } from '../../core/contracts/configuring.ts';
import { Groups } from '../../core/contracts/groups.ts';
import type { Holder } from '../../core/contracts/identity.ts';
import { Keys } from '../../core/contracts/keys.ts';
import { Prices } from '../../core/contracts/prices.ts';
import {
  type Clock,
  definePlugin,
  type Offer,
  type Offering,
  refuse,
  type Style,
  type StyleName,
} from '../../core/plugin.ts';
import { addModels } from './add-models.ts';
import { createRetryBudget } from './budget.ts';
import { type ModelCatalog, readModels, type ServedModel, within } from './catalog.ts';
import { type Channels, type Configured, readChannels } from './channels.ts';
import { diagnose } from './diagnosis.ts';
import { didYouMean } from './entries.ts';
import { errors } from './errors.ts';
import { factsOf } from './facts.ts';
import { createHealth, type Health } from './health.ts';
import { createHealthState } from './health-state.ts';
import { listRoutes } from './lists.ts';
import { createOffers, type Offers } from './offers.ts';
import { createProbe } from './probe.ts';
import { countAttempt, countCall, createRecent, type Recent } from './recent.ts';
import { type SharedRecent, shareRecent } from './recent-peers.ts';
import { createSavedHealth, migrations } from './saved-health.ts';
import { channels, models } from './sections.ts';
import { createListChore, listModels, namesOfPatterns, publicNames, type VendorLists } from './vendor-models.ts';

/** From healthy to unavailable. */
const WORSE: readonly ChannelState[] = ['closed', 'half-open', 'open'];

/** All channels, in the order of the section. */
function channelStatus(
  channels: Channels,
  catalog: ModelCatalog,
  health: Health,
  clock: Clock,
  recent: Recent,
): readonly ChannelStatus[] {
  const models = [...new Set(catalog.names().map((name) => catalog.require(name)))];

  return channels.all.map(({ channel, keys, off }: Configured) => {
    const served = models.flatMap(({ name, from }) =>
      from
        .filter((source) => source.channel === channel)
        .map(({ model }) => ({ name, model, ...health.look(keys.channels, model) })),
    );
    const state = WORSE.findLast((each) => served.some((target) => target.state === each)) ?? 'closed';
    const untilMs = Math.max(...served.map((target) => target.untilMs ?? 0), 0);
    return {
      name: channel.name,
      vendor: channel.vendor,
      on: !off,
      weight: channel.weight,
      priority: channel.priority,
      state,
      untilMs: state === 'open' ? Math.round(clock.now() + untilMs - clock.mono()) : undefined,
      lastFailure: health.lastFailure(channel),
      recent: recent.look(channel.name),
      keys: keys.channels
        .filter(({ key }) => key !== '')
        .map((each) => ({ number: each.keyNumber ?? 1, ...health.lookAtKey(each) })),
      models: served.map(({ name, model, state: its, failures }) => ({ name, model, state: its, failures })),
    };
  });
}

export default definePlugin({
  name: 'models',
  api: 2,
  errors,
  sections: { channels, models },
  migrations,
  wants: [Keys, Groups, Prices, Configuring, Audit],
  provides: [Catalog],
  create(host, config) {
    const state = host.lasting({ name: 'models.health', version: 1, make: createHealthState });
    const health = createHealth(state, host);
    const savedHealth = createSavedHealth(host, state);
    const budget = host.lasting({ name: 'models.budget', version: 2, make: createRetryBudget });
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
          reachOf: (x) => host.find(Groups)?.reachFor(x),
          allows: (who, name) => allows(who.identity, name),
        });
        read = {
          channels: channelSet,
          catalog,
          offers,
          probe: createProbe(host, channelSet, catalog),
        };
      }
      return read;
    };
    const configuredAt = (name: string): Configured => {
      const { channels: channelSet } = ready();
      return channelSet.get(name) ?? refuse(errors.channel_not_found(name, didYouMean(name, [...channelSet.names])));
    };
    host.provide(Catalog, {
      require: (name, holder) => ready().catalog.require(name, holder),
      path: (name) => ready().catalog.path(name),
      chain: (name, style) => ready().catalog.chain(name, style),
      names: () => ready().catalog.names(),
      patterns: () => ready().catalog.patterns(),
      serves: (name) => ready().catalog.serves(name),
      isOff: (name) => ready().catalog.isOff(name),
      channel: (name) => ready().catalog.channel(name),
      facts: (name) => factsOf(name, { catalog: ready().catalog, health, recent: byModel, styles: host.styles() }),
      channels: () => channelStatus(ready().channels, ready().catalog, health, host.clock, byChannel),
      probe: (channel, model) => ready().probe(channel, model),
      offered: async (channel) => listModels(host, configuredAt(channel)),
    });

    const vendorLists = host.lasting({ name: 'models.vendor-lists', version: 1, make: (): VendorLists => new Map() });
    const listChore = createListChore(host, vendorLists, () => ready().channels);

    // Without the plugin `keys`, keys are not restricted.
    const allows = (holder: Holder | undefined, name: string): boolean =>
      holder === undefined || (host.find(Keys)?.allows(holder.key, name) ?? true);
    /** The model of a name with those channels that the caller reaches; undefined: it may not call it. */
    const visible = (holder: Holder | undefined, name: string): ServedModel | undefined => {
      if (!allows(holder, name)) return undefined;
      const model = ready().catalog.require(name, holder);
      const groups = host.find(Groups);
      if (groups === undefined || holder === undefined) return model;
      const reach = groups.reachOf(holder, name);
      return reach && within(model, reach);
    };

    return {
      route: (x, ordered) => (x.style === undefined ? undefined : ready().offers.pull(x, x.style.name, ordered)),
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
        visible,
        (name) => host.find(Prices)?.sells(name) ?? true,
        () => namesOfPatterns(ready().catalog, vendorLists),
      ),
      commands: [
        {
          name: 'models list',
          summary: "lists the models of a channel's vendor, and how clients call them",
          positionals: ['CHANNEL'],
          options: { add: { type: 'boolean' } },
          async run({ positionals: [name = ''], values: { add } }) {
            const names = await listModels(host, configuredAt(name));
            const { catalog } = ready();
            const known = names.map((model) => [model, ...publicNames(catalog, name, model)]);
            if (add !== true) {
              const json = known.map(([model, ...others]) => ({ model, names: others }));
              return { text: known.map((line) => line.join('\t')).join('\n'), json };
            }
            const missing = known.flatMap(([model, ...others]) => (others.length === 0 ? [model!] : []));
            const service = { configuring: host.use(Configuring), audit: host.find(Audit) };
            if (missing.length > 0) await addModels(service, missing, name);
            return { text: missing.join('\n'), json: missing };
          },
        },
      ],
      link() {
        ready();
      },
      async start() {
        await savedHealth.start();
        health.join();
        byModel.listen();
        byChannel.listen();
        listChore.start();
        listChore.again();
      },
      async stop() {
        byModel.flush();
        byChannel.flush();
        await savedHealth.stop();
        await listChore.stop();
      },
      diagnose: () => diagnose(host, ready().channels, ready().probe),
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

/** The targets with their state. If none is available, the one that recovers first would be tried. */
function explainOffers(offers: readonly Offer[], health: Health, clock: Clock): readonly Offering[] {
  const waitsMs = offers.map((offer) => Math.max(0, health.readyAtMs(offer) - clock.mono()));
  const soonestMs = Math.min(...waitsMs);
  return offers.map((offer, i) => {
    const ms = waitsMs[i]!;
    if (ms === 0) return { offer, state: 'available', asked: true };
    const state = `unavailable until ${new Date(clock.now() + ms).toISOString()}`;
    const isTried = soonestMs > 0 && i === waitsMs.indexOf(soonestMs);
    return { offer, state: isTried ? `${state}; tried anyway, because no target is available` : state, asked: isTried };
  });
}

/** The lines: counts, what is off, and which translations happen. */
function reportLines(
  channels: Channels,
  catalog: ModelCatalog,
  styles: ReadonlyMap<StyleName, Style>,
): readonly string[] {
  const { counts, off } = catalog;
  return [
    `${count(counts.models, 'model')}, ${count(counts.aliases, 'alias', 'aliases')}, ${count(channels.all.length, 'channel')}`,
    ...channels.all
      .filter((configured) => configured.off)
      .map(({ channel }) => `channel ${channel.name} is off: its key is empty`),
    ...channels.all.flatMap(({ channel, keys, off: isOff }) =>
      isOff ? [] : keys.empty.map((number) => `channel ${channel.name}: its key ${number} is empty and is left out`),
    ),
    ...off.map((name) => `model ${name} is off, because all its channels are`),
    ...catalog
      .patterns()
      .map(({ name }) => `models ${name}: every name like this can be called; model lists do not show them`),
    ...translations(catalog, styles),
  ];
}

/** `translated: chat, responses → messages at claude, claude-eu`; channels with the same translations share a line. */
function translations(catalog: ModelCatalog, styles: ReadonlyMap<StyleName, Style>): readonly string[] {
  /** The translated client styles, by channel and upstream style. */
  const groups = new Map<
    string,
    { readonly channel: string; readonly spoken: StyleName; readonly by: Set<StyleName> }
  >();
  for (const name of catalog.names()) {
    const { from, only } = catalog.require(name);
    for (const { name: style, ingress } of styles.values()) {
      if (ingress === undefined || only?.includes(style) === false) continue;
      for (const source of from) {
        const spoken = source.way(style)?.style;
        if (spoken === undefined || spoken === style) continue;
        const channel = source.channel.name;
        const entry = groups.get(`${channel}\n${spoken}`) ?? { channel, spoken, by: new Set() };
        groups.set(`${channel}\n${spoken}`, entry);
        entry.by.add(style);
      }
    }
  }
  const lines = new Map<string, string[]>();
  for (const { channel, spoken, by } of groups.values()) {
    const line = `translated: ${[...by].join(', ')} → ${spoken} at`;
    lines.set(line, [...(lines.get(line) ?? []), channel]);
  }
  return [...lines].map(([line, names]) => `${line} ${names.join(', ')}`);
}

function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
