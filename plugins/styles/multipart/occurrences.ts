/** Counts the occurrences of some bytes in a chunked body. */

/** Searches the body while it passes. */
export interface Occurrences {
  /** The offset in the chunk after the first occurrence that ends there; -1: none does. */
  see(chunk: Buffer): number;
  readonly count: number;
}

/** Starts the search for `mark`; `before` precedes the first chunk. */
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
      // A copy, so that the chunk can be freed.
      before = Buffer.from((chunk.length < overlap ? seam : chunk).subarray(-overlap));
      return first < 0 ? -1 : first + mark.length - already;
    },
    get count() {
      return count;
    },
  };
}

function countFrom(bytes: Buffer, first: number, mark: Buffer): number {
  let total = 0;
  for (let at = first; at >= 0; at = bytes.indexOf(mark, at + 1)) total += 1;
  return total;
}
