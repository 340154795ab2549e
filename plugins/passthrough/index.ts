/** The plugin `passthrough`: forwards files, batches, WebSockets and other requests unchanged to one channel. */
import { Catalog } from '../../core/contracts/catalog.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { KeyPlaces } from '../../core/contracts/key-places.ts';
import { MICRO } from '../../core/contracts/ledger.ts';
import {
  type Accepted,
  type Channel,
  definePlugin,
  type Exchange,
  type Host,
  type PassthroughRoute,
  typed,
} from '../../core/plugin.ts';

const SEGMENTS = '(/[A-Za-z0-9_-][A-Za-z0-9._~-]*)+';

const passthroughSection = typed({
  type: 'array',
  description: 'Paths whose requests are forwarded to a channel unchanged, WebSockets included.',
  default: [],
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['prefix', 'channel'],
    properties: {
      prefix: {
        type: 'string',
        title: 'path below /v1',
        pattern: `^/v1${SEGMENTS}$`,
        examples: ['/v1/files'],
        description: 'This path and everything below it.',
      },
      channel: { type: 'string', minLength: 1, description: 'The channel that serves it.' },
      path: {
        type: 'string',
        title: 'path below the url of the channel',
        pattern: `^${SEGMENTS}$`,
        examples: ['/files'],
        description: 'The path at the channel; default: the prefix without /v1.',
      },
      price: { type: 'integer', minimum: 1, maximum: 1_000_000_000, description: 'Quota units per request.' },
      free: { type: 'boolean', default: false, description: 'True: requests cost nothing.' },
    },
  },
});

type PassthroughEntry = Accepted<typeof passthroughSection>[number];

export default definePlugin({
  name: 'passthrough',
  api: 2,
  sections: { passthrough: passthroughSection },
  needs: [Catalog],
  wants: [KeyPlaces],
  create(host, { passthrough: entries }) {
    const catalog = host.use(Catalog);

    return {
      passthroughRoutes: entries
        .map((entry) => passthroughOf(entry, host, catalog))
        // If prefixes are nested, the longest one wins.
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

function passthroughOf(entry: PassthroughEntry, host: Host, catalog: Catalog): PassthroughRoute {
  const { prefix } = entry;
  return {
    prefix,
    target(x) {
      // The existence of both was checked before the start.
      const channel = catalog.channel(entry.channel)!;
      const vendor = host.vendors().get(channel.vendor)!;
      if (isOff(channel, host)) throw coreErrors.no_channel(`The channel of ${prefix} is off.`);
      return {
        channel,
        url: urlOf(x, channel, entry, host.find(KeyPlaces)?.query),
        headers: vendor.credentials!(channel),
        price: BigInt(entry.price ?? 0) * MICRO,
      };
    },
  };
}

/** Removes the parameters and headers that may contain the client's key for this gateway. */
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

/** Whether a channel lacks the credential that its vendor needs. */
function isOff(channel: Channel, host: Host): boolean {
  return channel.key === '' && host.vendors().get(channel.vendor)?.keyless !== true;
}

/** An error of an entry: the field and the message. */
function mistakes(
  entry: PassthroughEntry,
  earlier: readonly PassthroughEntry[],
  host: Host,
  catalog: Catalog,
): (readonly [field: string, message: string])[] {
  const problems: (readonly [string, string])[] = [];
  const { prefix } = entry;
  const style = [...host.styles().values()].find(
    ({ ingress }) => ingress?.path === prefix || ingress?.path.startsWith(`${prefix}/`),
  );
  if (style !== undefined)
    problems.push(['prefix', `the style '${style.name}' already uses the path ${style.ingress?.path}`]);
  if (earlier.some((other) => other.prefix === prefix)) problems.push(['prefix', `${prefix} is listed twice`]);
  const channel = catalog.channel(entry.channel);
  if (channel === undefined) {
    problems.push(['channel', `there is no channel '${entry.channel}'`]);
  } else if (host.vendors().get(channel.vendor)?.credentials === undefined) {
    problems.push(['channel', `the vendor '${channel.vendor}' of this channel does not support passthrough routes`]);
  } else if (channel.url.includes('{model}')) {
    problems.push([
      'channel',
      'its `url` has `{model}` in it, and a passthrough route has no model; add a channel without it',
    ]);
  }
  if (entry.free === (entry.price !== undefined)) {
    problems.push([entry.free ? 'price' : 'free', 'set either `price`, the cost of a request, or `free: true`']);
  }
  return problems;
}
