/** Creates the channels of the section `channels`, and reports its errors. */

import { keyNameOf } from '../../core/contracts/formats/channel.ts';
import type { Channel, Host, StyleName, Vendor } from '../../core/plugin.ts';
import { checkValue, durationMs, proxySecrets } from '../../core/sdk.ts';
import { checkCredentials, type Problem, readHeaders, readQuery } from './channel-fields.ts';
import { didYouMean } from './entries.ts';
import { CHANNEL_FIELDS, type ChannelEntry } from './sections.ts';

/** Shorter credentials are words (`none`) and are not masked in the log. */
const MIN_SECRET = 8;

/** A configured channel. */
export interface Configured {
  /** With its first key. */
  readonly channel: Channel;
  readonly keys: KeyRing;
  readonly vendor: Vendor;
  /** Its styles, in the order of its entry, otherwise of its vendor. */
  readonly styles: readonly StyleName[];
  /** The vendor's list of models is kept. */
  readonly lists: boolean;
  /** It needs a key and has none: it serves nothing. */
  readonly off: boolean;
}

/** The keys of a channel. */
export interface KeyRing {
  /** The channel with each of its keys, in the order of gateway.yaml; a single one if it has no list. */
  readonly channels: readonly Channel[];
  /** The positions of keys that are empty, from 1. */
  readonly empty: readonly number[];
  /** Grows with each call that is no conversation; the remainder is the key that the call uses first. */
  turn: number;
}

export interface Channels {
  /** The channel of that name, even if its entry has an error. */
  get(name: string): Configured | undefined;
  /** The channel with the key of that name (`keyNameOf`), otherwise with its first one. */
  withKey(name: string): Channel | undefined;
  /** All names in the section, those of channels with errors included. */
  readonly names: ReadonlySet<string>;
  readonly all: readonly Configured[];
}

/** Reads the section; all vendors must be registered. Errors go to `host.problem`, and their channels are left out. */
export function readChannels(host: Host, section: readonly ChannelEntry[]): Channels {
  const byName = new Map<string, Configured>();
  const names = new Set<string>();
  const vendors = host.vendors();

  for (const [i, entry] of section.entries()) {
    const problem: Problem = (path, message) => host.problem(['channels', i, ...path], message);
    if (names.has(entry.name)) {
      problem(['name'], `another channel already has the name '${entry.name}'`);
      continue;
    }
    names.add(entry.name);
    const vendor = vendors.get(entry.vendor);
    if (vendor === undefined) {
      problem(
        ['vendor'],
        `no plugin provides a vendor '${entry.vendor}'${didYouMean(entry.vendor, [...vendors.keys()])}`,
      );
      continue;
    }
    const spoken = Object.keys(vendor.speaks);
    for (const [at, style] of (entry.speaks ?? []).entries()) {
      if (!spoken.includes(style)) {
        problem(['speaks', at], `the vendor '${vendor.name}' does not support '${style}'${didYouMean(style, spoken)}`);
      }
    }
    if (entry.url === undefined && vendor.url === undefined) {
      problem([], `a channel of the vendor '${vendor.name}' needs a \`url\``);
    }
    const speaks = (entry.speaks ?? vendor.defaultStyles ?? spoken).filter((style) => spoken.includes(style));
    const quirksStyle = entry.quirks.style;
    if (quirksStyle !== undefined && !speaks.includes(quirksStyle)) {
      problem(
        ['quirks', 'style'],
        `the channel '${entry.name}' does not support '${quirksStyle}'${didYouMean(quirksStyle, speaks)}`,
      );
    }
    const options = readOptions(vendor, entry, problem);
    for (const secret of proxySecrets(entry.proxy ?? '')) host.log.hide(secret);
    const make = channelMaker(entry, vendor, options, readHeaders(entry, problem));
    const keys = readKeys(host, entry, make, problem);
    const channel = keys.channels[0]!;
    checkCredentials(channel, vendor, entry, problem);
    byName.set(entry.name, {
      channel,
      keys,
      vendor,
      styles: speaks,
      lists: entry.models === 'list',
      off: channel.key === '' && vendor.keyless !== true,
    });
  }
  return {
    get: (name) => byName.get(name),
    withKey(name) {
      const configured = byName.get(channelIn(name));
      return configured?.keys.channels.find((channel) => keyNameOf(channel) === name) ?? configured?.channel;
    },
    names,
    all: [...byName.values()],
  };
}

/** The name of the channel in a name of `keyNameOf`; the names of channels contain no `#`. */
export function channelIn(keyName: string): string {
  return keyName.split('#', 1)[0]!;
}

/** The channel with one of its keys. */
type MakeChannel = (key: string, keyNumber: number | undefined) => Channel;

function readKeys(host: Host, entry: ChannelEntry, make: MakeChannel, problem: Problem): KeyRing {
  const { key, keys = [key] } = entry;
  if (entry.keys !== undefined && key !== '') problem(['key'], 'write either `key` or `keys`');
  for (const [i, each] of keys.entries()) {
    if (each.length >= MIN_SECRET) host.log.hide(each);
    const first = keys.indexOf(each);
    if (each !== '' && first < i) problem(['keys', i], `is the same key as number ${first + 1}`);
  }
  if (keys.length === 1) return { channels: [make(keys[0]!, undefined)], empty: [], turn: 0 };
  const numbers = keys.map((_, i) => i + 1);
  const [kept, empty] = [true, false].map((full) => numbers.filter((number) => (keys[number - 1] !== '') === full));
  const used = kept!.length === 0 ? [1] : kept!;
  return { channels: used.map((number) => make(keys[number - 1]!, number)), empty: empty!, turn: 0 };
}

function channelMaker(
  entry: ChannelEntry,
  vendor: Vendor,
  options: Readonly<Record<string, unknown>>,
  headers: Channel['headers'],
): MakeChannel {
  const { timeout } = entry;
  const url = entry.url?.replace(/\/+$/, '');
  const query = readQuery(entry);
  const timeouts = {
    connectMs: durationMs(timeout.connect),
    headMs: timeout.head === undefined ? undefined : durationMs(timeout.head),
    idleMs: durationMs(timeout.idle),
    totalMs: durationMs(timeout.total),
  };
  return (key, keyNumber) => ({
    name: entry.name,
    vendor: vendor.name,
    // Evaluated for each call: a vendor may learn its address only in `start`.
    get url() {
      return url ?? vendor.url?.() ?? '';
    },
    proxy: entry.proxy,
    key,
    keyNumber,
    headers,
    query,
    weight: entry.weight,
    priority: entry.priority,
    timeout: timeouts,
    speaks: entry.speaks,
    streamUsage: entry.stream.usage,
    quirks: entry.quirks,
    options,
  });
}

/** The vendor's own fields, validated by its schema and with its defaults. */
function readOptions(vendor: Vendor, entry: ChannelEntry, problem: Problem): Readonly<Record<string, unknown>> {
  const ownFields = Object.keys((vendor.options?.properties as object | undefined) ?? {});
  const options: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(entry)) {
    if (CHANNEL_FIELDS.includes(field)) continue;
    if (ownFields.includes(field)) options[field] = structuredClone(value);
    else problem([field], `unknown key${didYouMean(field, [...CHANNEL_FIELDS, ...ownFields])}`);
  }
  if (vendor.options !== undefined) {
    for (const { path, message } of checkValue(vendor.options, options)) problem(path, message);
  }
  return options;
}
