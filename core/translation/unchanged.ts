/** Helpers for lists that mostly stay unchanged: a request passes a dozen steps, and few of them change anything. */

import type { Json, JsonObject } from '../contracts/formats/json.ts';

/** Maps each item with `change` and removes undefined results; returns the list itself if nothing changes. */
export function mapChanged<T>(list: readonly T[], change: (item: T) => T | undefined): readonly T[] {
  for (let i = 0; i < list.length; i++) {
    const item = list[i]!;
    const own = change(item);
    if (own !== item) return mapRest(list, i, own, change);
  }
  return list;
}

/** From the first changed item on. */
function mapRest<T>(
  list: readonly T[],
  from: number,
  first: T | undefined,
  change: (item: T) => T | undefined,
): readonly T[] {
  const changed = list.slice(0, from);
  for (let i = from; i < list.length; i++) {
    const own = i === from ? first : change(list[i]!);
    if (own !== undefined) changed.push(own);
  }
  return changed;
}

/** The same for the members of an object, whose keys and order stay. */
export function changedMembers(
  object: JsonObject,
  change: (name: string, value: Json) => Json | undefined,
): JsonObject {
  const entries = Object.entries(object);
  const changed = mapChanged<readonly [string, Json]>(entries, (entry) => {
    const value = change(entry[0], entry[1]);
    return value === entry[1] ? entry : value === undefined ? undefined : [entry[0], value];
  });
  return changed === entries ? object : Object.fromEntries(changed);
}

/** The same turn with other blocks; itself if they are equal. */
export function withBlocks<B, T extends { readonly blocks: readonly B[] }>(turn: T, blocks: readonly B[]): T {
  return blocks === turn.blocks ? turn : { ...turn, blocks };
}
