/**
 * The order in which a model's channels are asked.
 *
 * Lowest priority number first. Within one priority the order is weighted rendezvous hashing over the key: the same key prefers
 * the same channel for the same model, so that a vendor's prompt cache is hit again, and over many keys each channel comes first in
 * proportion to its weight. There is no other dice: this is the weighted choice. When a channel drops out, only the
 * keys that preferred it move.
 */
import type { Model } from '../../core/contracts/catalog.ts';

/** A channel, and its own name for the model. */
export type Source = Model['from'][number];

/** The sources of a model in the order in which this key asks them. The same arguments always give the same order. */
export function inOrder(sources: readonly Source[], keyId: number, model: string): readonly Source[] {
  if (sources.length < 2) return sources;
  return sources
    .map((source) => ({ source, score: score(source, keyId, model) }))
    .sort((a, b) => a.source.channel.priority - b.source.channel.priority || b.score - a.score)
    .map(({ source }) => source);
}

/** A draw that is exponentially distributed with the weight as its rate; the highest of several wins in proportion to its weight. */
function score({ channel, model: upstream }: Source, keyId: number, model: string): number {
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
