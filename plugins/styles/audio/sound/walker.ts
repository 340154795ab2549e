/** Parses audio of frames, pages or boxes chunk by chunk: reads the headers and skips the payload. */

/** A parser for one format. */
export interface Walk {
  /** Bytes needed to read a header. */
  readonly least: number;
  /** The first bytes of every header, to resynchronize after other data; undefined if the format cannot be resynchronized. */
  readonly mark?: Buffer;
  /**
   * Reads the header at `at`, which is at offset `place` of the file. Returns the distance to the next header; 0 if there
   * is no header here; a negative number if that many bytes are needed.
   */
  look(bytes: Buffer, at: number, place: number): number;
  /** The duration after this many bytes; undefined if it is unknown. */
  seconds(passed: number): number | undefined;
}

const NOTHING = Buffer.alloc(0);
/** Maximum headers, and false matches, of a file. No real file has more; the limit bounds the CPU time of hostile ones. */
const MAX_LOOKS = 1_000_000;
const MAX_MISSES = 50_000;

/** The offset of the first header. */
export function createWalker(walk: Walk) {
  /** An incomplete header. */
  let rest = NOTHING;
  let needed = walk.least;
  /** The distance from the end of the data to the next header. */
  let ahead = 0;
  let passed = 0;
  let looks = 0;
  let misses = 0;

  /** The earliest offset of the next header. */
  function next(bytes: Buffer, at: number, step: number): number {
    if (step !== 0) return at + step;
    if (walk.mark === undefined || ++misses > MAX_MISSES) return Number.POSITIVE_INFINITY;
    const index = bytes.indexOf(walk.mark, at + 1);
    return index === -1 ? Math.max(at + 1, bytes.length - walk.mark.length + 1) : index;
  }

  return {
    see(chunk: Buffer): void {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const place = passed - rest.length;
      let at = ahead;
      passed += chunk.length;
      while (bytes.length - at >= needed) {
        const step = ++looks > MAX_LOOKS ? Number.POSITIVE_INFINITY : walk.look(bytes, at, place + at);
        if (step < 0) {
          needed = -step;
          continue;
        }
        needed = walk.least;
        at = next(bytes, at, step);
      }
      ahead = Math.max(0, at - bytes.length);
      // A copy: a slice would keep the whole chunk in memory.
      rest = at >= bytes.length ? NOTHING : Buffer.from(bytes.subarray(at));
    },
    /** True if the data is invalid. */
    isLost: (): boolean => looks > MAX_LOOKS || misses > MAX_MISSES,
  };
}

/** Feeds a parser chunk by chunk. Buffers no more than one header. */
export type Walker = ReturnType<typeof createWalker>;
