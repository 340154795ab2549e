/** The plugin `passthrough`: files, batches, websockets and whatever else is carried to one channel as it is. */
import { Catalog } from '../../core/contracts/catalog.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { KeyPlaces } from '../../core/contracts/key-places.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import { type Channel, definePlugin, type Exchange, type Host, type Passage } from '../../core/plugin.ts';
import { type PassthroughEntry, passthroughSection } from './section.ts';

export default definePlugin({
  name: 'passthrough',
  api: 2,
  sections: { passthrough: passthroughSection },
  needs: [Catalog],
  wants: [KeyPlaces],
  create(host, { passthrough: entries }) {
    const catalog = host.use(Catalog);

    return {
      passages: entries
        .map((entry) => passageOf(entry, host, catalog))
        // Where one prefix is inside another, the closer one has it.
        .sort((a, b) => b.prefix.length - a.prefix.length),
      link() {
        for (const [i, entry] of entries.entries()) {
          const earlier = entries.slice(0, i);
          for (const [field, message] of mistakes(entry, earlier, host, catalog)) {
            host.problem(['passthrough', i, field], message);
          }
        }
      },
      report: () =>
        entries.map((entry) => {
          const channel = catalog.channel(entry.channel);
          if (channel !== undefined && isOff(channel, host)) {
            return `passthrough ${entry.prefix} is off: the key of channel ${entry.channel} is empty`;
          }
          const price = entry.price === undefined ? 'free' : `${entry.price} quota per request`;
          return `passthrough ${entry.prefix} to ${entry.channel}, ${price}`;
        }),
    };
  },
});

function passageOf(entry: PassthroughEntry, host: Host, catalog: Catalog): Passage {
  const { prefix } = entry;
  return {
    prefix,
    target(x) {
      // That both are there has been checked before the start.
      const channel = catalog.channel(entry.channel)!;
      const vendor = host.vendors().get(channel.vendor)!;
      if (isOff(channel, host)) throw coreErrors.no_channel(`The channel behind ${prefix} is switched off.`);
      return {
        channel,
        url: urlOf(x, channel, entry, host.find(KeyPlaces)?.query),
        headers: vendor.credentials!(channel),
        price: BigInt(entry.price ?? 0) * MICRO,
      };
    },
  };
}

/** Without what a client may have put its key for us in. */
function urlOf(
  x: Exchange,
  channel: Channel,
  { prefix, path = prefix.slice('/v1'.length) }: PassthroughEntry,
  keyMember: string | undefined,
): URL {
  const url = new URL(channel.url + path + x.path.slice(prefix.length));
  for (const [name, value] of x.query) if (name !== keyMember) url.searchParams.append(name, value);
  return url;
}

/** A channel without the credential its vendor asks for. */
function isOff(channel: Channel, host: Host): boolean {
  return channel.key === '' && host.vendors().get(channel.vendor)?.keyless !== true;
}

/** What is wrong with an entry: the field, and what to say. */
function mistakes(
  entry: PassthroughEntry,
  earlier: readonly PassthroughEntry[],
  host: Host,
  catalog: Catalog,
): (readonly [field: string, message: string])[] {
  const found: (readonly [string, string])[] = [];
  const { prefix } = entry;
  const style = [...host.styles().values()].find(
    ({ ingress }) => ingress?.path === prefix || ingress?.path.startsWith(`${prefix}/`),
  );
  if (style !== undefined)
    found.push(['prefix', `the style '${style.name}' is served at ${style.ingress?.path} already`]);
  if (earlier.some((other) => other.prefix === prefix)) found.push(['prefix', `${prefix} is listed twice`]);
  const channel = catalog.channel(entry.channel);
  if (channel === undefined) {
    found.push(['channel', `there is no channel '${entry.channel}'`]);
  } else if (host.vendors().get(channel.vendor)?.credentials === undefined) {
    found.push(['channel', `the vendor '${channel.vendor}' of this channel offers no passthrough`]);
  } else if (channel.url.includes('{model}')) {
    found.push([
      'channel',
      'its `url` has `{model}` in it, and a passthrough route has no model; add a channel without it',
    ]);
  }
  if (entry.free === (entry.price !== undefined)) {
    found.push([entry.free ? 'price' : 'free', 'say either what a request costs (`price`) or `free: true`']);
  }
  return found;
}
