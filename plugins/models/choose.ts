/**
 * The order in which a model's channels are asked.
 *
 * Lowest priority number first. Within one priority the order is weighted rendezvous hashing over the key: the same key prefers
 * the same channel for the same model, so that a vendor's prompt cache is hit again, and over many keys each channel comes first in
 * proportion to its weight. There is no other dice: this is the weighted choice. When a channel drops out, only the
 * keys that preferred it move.
 *
 * A conversation may be bound to the account behind one channel: by an earlier answer that only its vendor has, or by thoughts
 * that only it can open. As long as one key carries it on, the order by key leads there by itself. The channel of an earlier
 * answer, which our own store knows, is asked first whatever its priority: the first choice may have failed once. What a client
 * itself says of a channel, in the seals it sends back, only chooses among those that could come first anyway.
 */

import type { Call, Channel } from '../../core/plugin.ts';
import { CARRIER, unpackOpaque } from '../../core/translation/index.ts';

/** What is put in order: a channel, and its own name for the model. */
interface Candidate {
  readonly channel: Channel;
  readonly model: string;
}

/** The sources of a model in the order in which this key asks them, one channel before all others. The same arguments always give the same order. */
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

/** The start of a carrier that tells its channel is shorter than this. */
const CARRIER_HEAD = 1_024;

/** The channel that a conversation names. */
export interface Bond {
  readonly channel: string;
  /** We know it ourselves; else it is only what the client says. */
  readonly isKnown: boolean;
}

/** Whose vendor gave the answer that a conversation goes on from, or sealed the last thoughts in it. */
export function boundTo({ earlier, body: { bytes } }: Call): Bond | undefined {
  if (earlier?.channel !== undefined) return { channel: earlier.channel, isKnown: true };
  const at = bytes.lastIndexOf(CARRIER);
  if (at === -1) return undefined;
  const [carrier = ''] = bytes.toString('latin1', at, at + CARRIER_HEAD).split('"', 1);
  const channel = unpackOpaque(carrier)?.channel;
  return channel === undefined ? undefined : { channel, isKnown: false };
}

/** A draw that is exponentially distributed with the weight as its rate; the highest of several wins in proportion to its weight. */
function score({ channel, model: upstream }: Candidate, keyId: number, model: string): number {
  const uniform = (hash(`${keyId}\n${model}\n${channel.name}\n${upstream}`) + 0.5) / 2 ** 32;
  return -channel.weight / Math.log(uniform);
}

/** FNV-1a over UTF-16 units, then the finalizer of MurmurHash3: names that differ in one letter must not have near values. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
