/**
 * The circuit breaker of one upstream model at one channel: recent failures, and whether the circuit is open. Times are the clock's `mono`.
 */

const WINDOW_S = 30;
const MIN_ATTEMPTS = 20;
const IN_A_ROW = 5;

/** Counts attempts of all processes, as far as this one received their messages. */
export interface Breaker {
  /** The name of the channel, its url and the model, one per line. */
  readonly name: string;
  failuresInARow: number;
  /** Attempts per second, oldest first, for recent seconds that had any. `untold`: attempts not yet sent to other processes. */
  seconds: { readonly second: number; attempts: number; failures: number; untold: number }[];
  /** Undefined while the circuit is closed. */
  open: { readonly sinceMs: number; readonly untilMs: number; readonly times: number } | undefined;
  /** The probe of this process. */
  probe: TrackedAttempt | undefined;
  /** Until then, another process is assumed to probe. */
  probedElsewhereUntilMs: number;
}

/** An upstream attempt on an offer. */
export interface TrackedAttempt {
  readonly startedMs: number;
  readonly probe: boolean;
  readonly exchange: TriedExchange;
  readonly breaker: Breaker;
}
/** The part of a request that the breaker reads: whether the vendor has answered. */
export interface TriedExchange {
  readonly delivered: boolean;
}

/** Creates a closed circuit without history. */
export function createBreaker(name: string): Breaker {
  return { name, failuresInARow: 0, seconds: [], open: undefined, probe: undefined, probedElsewhereUntilMs: 0 };
}

/** Adds attempts and their failures. `untold`: those that this process made itself. */
export function addAttempts(breaker: Breaker, nowMs: number, attempts: number, failures: number, untold: number): void {
  const second = Math.floor(nowMs / 1_000);
  let current = breaker.seconds.at(-1);
  if (current?.second !== second) {
    current = { second, attempts: 0, failures: 0, untold: 0 };
    breaker.seconds = [...breaker.seconds.filter((past) => past.second > second - WINDOW_S), current];
  }
  current.attempts += attempts;
  current.failures += failures;
  current.untold += untold;
}

/** Whether the circuit must open: too many consecutive failures, or half of enough recent attempts. Called after a failure was added. */
export function failsTooOften({ failuresInARow, seconds }: Breaker): boolean {
  if (failuresInARow >= IN_A_ROW) return true;
  const attempts = seconds.reduce((sum, past) => sum + past.attempts, 0);
  const failures = seconds.reduce((sum, past) => sum + past.failures, 0);
  return attempts >= MIN_ATTEMPTS && failures * 2 >= attempts;
}

/** Returns the number of recent attempts not yet sent to other processes, and marks them as sent. */
export function takeUntold({ seconds }: Breaker): number {
  let untold = 0;
  for (const past of seconds) {
    untold += past.untold;
    past.untold = 0;
  }
  return untold;
}

/** Closes the circuit and clears its history. */
export function reset(breaker: Breaker): void {
  breaker.open = undefined;
  breaker.probe = undefined;
  breaker.probedElsewhereUntilMs = 0;
  breaker.failuresInARow = 0;
  breaker.seconds = [];
}
