/** Where, and how often, a body holds some bytes, in whatever chunks it comes. */

/** Looks as the body goes by. */
export interface Occurrences {
  /** Tells the place in the chunk right behind the first one that ends there; -1: none does. */
  see(chunk: Buffer): number;
  readonly count: number;
}

/** Begins to look for `mark`; `before` stands before the first chunk. */
export function lookFor(mark: Buffer, before: Buffer = Buffer.alloc(0)): Occurrences {
  const overlap = mark.length - 1;
  let count = 0;
  return {
    see(chunk) {
      const seam = Buffer.concat([before, chunk.subarray(0, overlap)]);
      const atSeam = seam.indexOf(mark);
      const inside = chunk.indexOf(mark);
      const [first, already] = atSeam >= 0 ? [atSeam, before.length] : [inside, 0];
      count += countFrom(seam, atSeam, mark) + countFrom(chunk, inside, mark);
      // A copy, so that the chunk need not stay.
      before = Buffer.from((chunk.length < overlap ? seam : chunk).subarray(-overlap));
      return first < 0 ? -1 : first + mark.length - already;
    },
    get count() {
      return count;
    },
  };
}

function countFrom(bytes: Buffer, first: number, mark: Buffer): number {
  let found = 0;
  for (let at = first; at >= 0; at = bytes.indexOf(mark, at + 1)) found += 1;
  return found;
}
