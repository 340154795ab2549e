/** Makes channels of the section `channels`, and says what is wrong with it. */

import type { Channel, Host, StyleName, Vendor } from '../../core/plugin.ts';
import { checkValue, durationMs } from '../../core/sdk.ts';
import { checkCredentials, type Problem, readHeaders, readQuery } from './channel-fields.ts';
import { didYouMean } from './hint.ts';
import { CHANNEL_FIELDS, type ChannelEntry } from './sections.ts';

/** Shorter credentials are words (`none`): hiding them would only spoil the log. */
const MIN_SECRET = 8;

/** A channel that gateway.yaml describes. */
export interface Configured {
  readonly channel: Channel;
  readonly vendor: Vendor;
  /** The styles it speaks, in the order of its entry, else of its vendor. */
  readonly styles: readonly StyleName[];
  /** True where it needs a key and has none: it serves nothing. */
  readonly off: boolean;
}

export interface Channels {
  /** The channel of a name; undefined where it has a mistake as well. */
  get(name: string): Configured | undefined;
  /** Every name in the section, those of channels with mistakes among them. */
  readonly names: ReadonlySet<string>;
  readonly all: readonly Configured[];
}

/** Reads the section; the vendors have to be complete. Mistakes go to `host.problem`, and their channels are left out. */
export function readChannels(host: Host, section: readonly ChannelEntry[]): Channels {
  const byName = new Map<string, Configured>();
  const names = new Set<string>();
  const vendors = host.vendors();

  for (const [i, entry] of section.entries()) {
    const problem: Problem = (path, message) => host.problem(['channels', i, ...path], message);
    if (names.has(entry.name)) {
      problem(['name'], `another channel is called '${entry.name}' already`);
      continue;
    }
    names.add(entry.name);
    const vendor = vendors.get(entry.vendor);
    if (vendor === undefined) {
      problem(
        ['vendor'],
        `no plugin brings a vendor '${entry.vendor}'${didYouMean(entry.vendor, [...vendors.keys()])}`,
      );
      continue;
    }
    const spoken = Object.keys(vendor.speaks);
    for (const [at, style] of (entry.speaks ?? []).entries()) {
      if (!spoken.includes(style)) {
        problem(['speaks', at], `the vendor '${vendor.name}' does not speak '${style}'${didYouMean(style, spoken)}`);
      }
    }
    if (entry.url === undefined && vendor.url === undefined) {
      problem([], `a channel of the vendor '${vendor.name}' needs a \`url\``);
    }
    const speaks = (entry.speaks ?? vendor.defaultStyles ?? spoken).filter((style) => spoken.includes(style));
    const told = entry.quirks.style;
    if (told !== undefined && !speaks.includes(told)) {
      problem(['quirks', 'style'], `the channel '${entry.name}' does not speak '${told}'${didYouMean(told, speaks)}`);
    }
    const options = readOptions(vendor, entry, problem);
    if (entry.key.length >= MIN_SECRET) host.log.hide(entry.key);
    const channel = makeChannel(entry, vendor, options, readHeaders(entry, problem));
    checkCredentials(channel, vendor, entry, problem);
    byName.set(entry.name, {
      channel,
      vendor,
      styles: speaks,
      off: entry.key === '' && vendor.keyless !== true,
    });
  }
  return { get: (name) => byName.get(name), names, all: [...byName.values()] };
}

function makeChannel(
  entry: ChannelEntry,
  vendor: Vendor,
  options: Readonly<Record<string, unknown>>,
  headers: Channel['headers'],
): Channel {
  const { timeout } = entry;
  const url = entry.url?.replace(/\/+$/, '');
  return {
    name: entry.name,
    vendor: vendor.name,
    // Asked when a call is made: a vendor may learn its address only in `start`.
    get url() {
      return url ?? vendor.url?.() ?? '';
    },
    key: entry.key,
    headers,
    query: readQuery(entry),
    weight: entry.weight,
    priority: entry.priority,
    timeout: {
      connectMs: durationMs(timeout.connect),
      headMs: timeout.head === undefined ? undefined : durationMs(timeout.head),
      idleMs: durationMs(timeout.idle),
      totalMs: durationMs(timeout.total),
    },
    speaks: entry.speaks,
    streamUsage: entry.stream.usage,
    quirks: entry.quirks,
    options,
  };
}

/** The fields that belong to the vendor, checked by its schema and with its defaults. */
function readOptions(vendor: Vendor, entry: ChannelEntry, problem: Problem): Readonly<Record<string, unknown>> {
  const known = Object.keys((vendor.options?.properties as object | undefined) ?? {});
  const options: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(entry)) {
    if (CHANNEL_FIELDS.includes(field)) continue;
    if (known.includes(field)) options[field] = structuredClone(value);
    else problem([field], `unknown key${didYouMean(field, [...CHANNEL_FIELDS, ...known])}`);
  }
  if (vendor.options !== undefined) {
    for (const { path, message } of checkValue(vendor.options, options)) problem(path, message);
  }
  return options;
}
