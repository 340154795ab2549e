/**
 * The order in which the channels of a model are tried: lowest priority number first, and within one priority by weighted rendezvous
 * hashing over the key. The same key prefers the same channel for the same model, so that a vendor's prompt cache is hit again; over many
 * keys each channel comes first in proportion to its weight. There is no other randomness. When a channel drops out, only the keys that
 * preferred it move.
 *
 * A conversation may depend on the account behind one channel: it continues an answer that only its vendor has, or has reasoning that only
 * its vendor can decrypt. As long as the same key continues it, the order by key leads to that channel. If our own store knows the channel
 * of the earlier answer, it is tried first whatever its priority, because the first choice may have failed then. If only the client names
 * the channel, in the sealed data it sends back, that only chooses among the channels of the highest priority.
 *
 * Of a channel with several keys, a conversation uses one, by rendezvous hashing over the conversation (conversation.ts): prompt caches and
 * encrypted reasoning belong to one account. Calls that are no conversations use the keys in turn. A conversation that depends on one of the
 * keys continues with it; files, threads and containers at the vendor are created with the first key, so a call that names one uses that key
 * alone.
 */

import { keyNameOf } from '../../core/contracts/formats/channel.ts';
import type { Call, Channel } from '../../core/plugin.ts';
import { CARRIER, SEALED, unpackOpaque } from '../../core/translation/index.ts';
import { channelIn } from './channels.ts';

/** An element to be ordered: a channel, and its upstream model. */
interface Candidate {
  readonly channel: Channel;
  readonly model: string;
}

/** The sources of a model in the order for this key, one channel before all others. The order is deterministic. */
export function inOrder<C extends Candidate>(
  sources: readonly C[],
  keyId: number,
  model: string,
  first?: Bond,
): readonly C[] {
  if (sources.length < 2) return sources;
  const lowest = Math.min(...sources.map(({ channel }) => channel.priority));
  const rank = ({ channel }: C): number =>
    channel.name === first?.channel && (first.isKnown || channel.priority === lowest)
      ? Number.NEGATIVE_INFINITY
      : channel.priority;
  return sources
    .map((source) => ({ source, rank: rank(source), score: score(source, keyId, model) }))
    .sort((a, b) => (a.rank === b.rank ? b.score - a.score : a.rank - b.rank))
    .map(({ source }) => source);
}

/** The part of a sealed carrier that names its channel is shorter than this. */
const CARRIER_HEAD = 1_024;

/** The channel that a conversation depends on. */
export interface Bond {
  readonly channel: string;
  /** Names its key (`keyNameOf`). */
  readonly key: string;
  /** Known from our own store; otherwise only named by the client. */
  readonly isKnown: boolean;
}

/** The channel whose vendor gave the answer that a conversation continues, or sealed the last reasoning in it. */
export function boundTo({ earlier, body }: Call): Bond | undefined {
  if (earlier?.channel !== undefined) return bondTo(earlier.channel, true);
  if (!body.holds(SEALED)) return undefined;
  const { bytes } = body;
  const at = bytes.lastIndexOf(CARRIER);
  if (at === -1) return undefined;
  const [carrier = ''] = bytes.toString('latin1', at, at + CARRIER_HEAD).split('"', 1);
  const channel = unpackOpaque(carrier)?.channel;
  return channel === undefined ? undefined : bondTo(channel, false);
}

function bondTo(key: string, isKnown: boolean): Bond {
  return { channel: channelIn(key), key, isKnown };
}

/** How requests name what is kept at the vendor: files, vector stores, containers, conversations, threads and prompts. */
const KEPT_AT_VENDOR = [
  '"thread":',
  '"file_id"',
  '"file_ids"',
  '"vector_store_ids"',
  '"cntr_',
  '"container_',
  '"conv_',
  '"pmpt_',
];

/** Members of a request whose value is at the vendor. */
const VENDOR_STATE = ['thread'];

/** Whether a call names what only the account of the first key has. */
function needsFirstKey({ body }: Pick<Call, 'body'>): boolean {
  return VENDOR_STATE.some((name) => body.has(name)) || KEPT_AT_VENDOR.some((mark) => body.holds(mark));
}

/** What decides which key of a channel is first. */
export interface KeyChoice {
  /** Identifies the conversation; undefined: the call is none. */
  readonly conversation: number | undefined;
  /** Without a conversation: the key at this position, counted over all calls. */
  readonly turn: number;
  /** The account that the conversation depends on. */
  readonly bond: Bond | undefined;
}

/** A channel with the keys that may serve a call, in the order in which they are tried. */
export function keysInOrder(
  channels: readonly Channel[],
  call: Pick<Call, 'body'>,
  { conversation, turn, bond }: KeyChoice,
): readonly Channel[] {
  if (channels.length === 1) return channels;
  if (needsFirstKey(call)) return channels.slice(0, 1);
  const at = turn % channels.length;
  const ordered =
    conversation === undefined
      ? [...channels.slice(at), ...channels.slice(0, at)]
      : byHash(channels, (channel) => hash(`${conversation}\n${channel.name}\n${channel.keyNumber}`));
  const bound = bond && ordered.find((channel) => keyNameOf(channel) === bond.key);
  return bound === undefined ? ordered : [bound, ...ordered.filter((channel) => channel !== bound)];
}

/** The highest hash first. */
function byHash(channels: readonly Channel[], hashOf: (channel: Channel) => number): readonly Channel[] {
  return channels
    .map((channel) => ({ channel, rank: hashOf(channel) }))
    .sort((a, b) => b.rank - a.rank)
    .map(({ channel }) => channel);
}

/**
 * A hash-based sample of an exponential distribution with the weight as its rate; the highest of several wins in proportion to its weight.
 */
function score({ channel, model: upstream }: Candidate, keyId: number, model: string): number {
  const uniform = (hash(`${keyId}\n${model}\n${channel.name}\n${upstream}`) + 0.5) / 2 ** 32;
  return -channel.weight / Math.log(uniform);
}

/** 32 bits; not for secrets: FNV-1a over UTF-16 units, then the finalizer of MurmurHash3, so that similar names get unrelated values. */
export function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
