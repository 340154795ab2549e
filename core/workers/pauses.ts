/** The delay before an ended worker is replaced: none, unless it ends again and again. */

/** A worker that has served this long is replaced at once. */
const STEADY_MS = 10_000;
/** The delay otherwise: initial and maximum. */
const FIRST_MS = 1_000;
const LONGEST_MS = 30_000;

/** Returns a function that gives the delay, in milliseconds, for the worker of a number that served for `servedMs`. */
export function createPauses(): (number: number, servedMs: number) => number {
  /** The next delay of each. */
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
