/** Walks through a sound of frames, pages or boxes while it passes: looks at their heads, and steps over what they hold. */

/** How one kind of sound is walked through. */
export interface Walk {
  /** So many bytes are needed for a look. */
  readonly least: number;
  /** What every head begins with, where one can be found again after something else; without it nothing is searched for. */
  readonly mark?: Buffer;
  /**
   * Looks at the bytes from `at` on; they stand at `place` of the sound. Returns how far the next head is: 0 where there is none
   * here, below zero where so many bytes are needed for a look.
   */
  look(bytes: Buffer, at: number, place: number): number;
  /** How long the sound is, of which so many bytes have passed; undefined where that cannot be told. */
  seconds(passed: number): number | undefined;
}

/** Takes a sound piece by piece. Keeps no more of it than one look needs. */
export interface Walker {
  see(chunk: Buffer): void;
  /** There is no sense in it. */
  isLost(): boolean;
}

const NOTHING = Buffer.alloc(0);
/** No sound has more frames than this, or so many places that look like one and are none: whoever sends such only wants to keep us busy. */
const MAX_LOOKS = 1_000_000;
const MAX_MISSES = 50_000;

/** Begins at the first byte. */
export function createWalker(walk: Walk): Walker {
  /** A head of which not everything has come. */
  let held = NOTHING;
  let needed = walk.least;
  /** How far the next head is from the end of what was seen. */
  let ahead = 0;
  let passed = 0;
  let looks = 0;
  let misses = 0;

  /** Where the next head is, at the earliest. */
  function next(bytes: Buffer, at: number, step: number): number {
    if (step !== 0) return at + step;
    if (walk.mark === undefined || ++misses > MAX_MISSES) return Number.POSITIVE_INFINITY;
    const found = bytes.indexOf(walk.mark, at + 1);
    return found === -1 ? Math.max(at + 1, bytes.length - walk.mark.length + 1) : found;
  }

  return {
    see(chunk) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const place = passed - held.length;
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
      // A copy: what is kept must not keep the whole chunk alive.
      held = at >= bytes.length ? NOTHING : Buffer.from(bytes.subarray(at));
    },
    isLost() {
      return looks > MAX_LOOKS || misses > MAX_MISSES;
    },
  };
}
