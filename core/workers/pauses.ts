/** How long the place of a worker that has ended stays empty: not at all, unless it ends again and again. */

/** One that has served for so long before it ended is replaced at once. */
const STEADY_MS = 10_000;
/** The pause before one that has not: the first, and the longest. */
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Makes what says so, in milliseconds, of the worker of a number that served for `servedMs`. */
export function createPauses(): (number: number, servedMs: number) => number {
  /** The next pause of each. */
  const next = new Map<number, number>();
  return (number, servedMs) => {
    if (servedMs >= STEADY_MS) {
      next.delete(number);
      return 0;
    }
    const pauseMs = next.get(number) ?? FIRST_MS;
    next.set(number, Math.min(2 * pauseMs, LONGEST_MS));
    return pauseMs;
  };
}
