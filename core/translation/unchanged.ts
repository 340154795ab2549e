/** Lists that mostly stay as they are: a request passes a dozen steps, and few of them have anything to do. */

/** What `change` makes of each item, without those that it makes undefined; the list itself where it changes none. */
export function mapChanged<T>(list: readonly T[], change: (item: T) => T | undefined): readonly T[] {
  for (let i = 0; i < list.length; i++) {
    const item = list[i]!;
    const own = change(item);
    if (own !== item) return mapRest(list, i, own, change);
  }
  return list;
}

/** From the first on that is another. */
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

/** The items that pass; the list itself where all do. */
export function filterChanged<T>(list: readonly T[], passes: (item: T) => boolean): readonly T[] {
  return list.every(passes) ? list : list.filter(passes);
}

/** The same turn with other blocks; itself where they are the same ones. */
export function withBlocks<B, T extends { readonly blocks: readonly B[] }>(turn: T, blocks: readonly B[]): T {
  return blocks === turn.blocks ? turn : { ...turn, blocks };
}
