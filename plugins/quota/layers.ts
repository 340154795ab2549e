/** What a usage record tells of the layers that its call was taken from beside account and key. */
import type { JsonObject } from '../../core/plugin.ts';
import type { Extra } from './holds.ts';

/** As a note of the record: `[kind, owner, window]` of each; nothing where there are none. */
export function noteOfLayers(extras: readonly Extra[]): JsonObject {
  return extras.length === 0
    ? {}
    : { layers: extras.map(({ kind, owner, windowStart }) => [kind, owner, windowStart]) };
}

/** Reads that note. */
export function readLayers(other: JsonObject): readonly Extra[] {
  const layers = (other.layers ?? []) as unknown as readonly (readonly [Extra['kind'], number, number])[];
  return layers.map(([kind, owner, windowStart]) => ({ kind, owner, windowStart }));
}
