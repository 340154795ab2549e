/** A circuit breaker of one upstream model at one channel: what it did lately, and whether it is open. Times are the clock's `mono`. */

const WINDOW_S = 30;
const MIN_ATTEMPTS = 20;
const IN_A_ROW = 5;

/** Over all processes, as far as this one has heard. */
export interface Breaker {
  /** Its channel, the channel's url and the model, one a line. */
  readonly name: string;
  failuresInARow: number;
  /** What happened in the last seconds in which anything did, oldest first. `untold`: attempts that other processes do not know of. */
  seconds: { readonly second: number; attempts: number; failures: number; untold: number }[];
  /** Undefined while it is closed. */
  open: { readonly sinceMs: number; readonly untilMs: number; readonly times: number } | undefined;
  /** The probe of this process. */
  probe: Trial | undefined;
  /** Until when another process is taken to be probing it. */
  probedElsewhereUntilMs: number;
}

/** An offer that somebody tries. */
export interface Trial {
  readonly startedMs: number;
  readonly probe: boolean;
  readonly exchange: Tried;
  readonly breaker: Breaker;
}
/** What is asked of an exchange: whether its vendor has answered. */
export interface Tried {
  readonly delivered: boolean;
}

/** One that is closed, and knows of nothing. */
export function createBreaker(name: string): Breaker {
  return { name, failuresInARow: 0, seconds: [], open: undefined, probe: undefined, probedElsewhereUntilMs: 0 };
}

/** Adds attempts, of which so many have failed. `untold`: those that this process made itself. */
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

/** True if it must open: too many failures in a row, or half of enough recent attempts. Asked after a failure was added. */
export function failsTooOften({ failuresInARow, seconds }: Breaker): boolean {
  if (failuresInARow >= IN_A_ROW) return true;
  const attempts = seconds.reduce((sum, past) => sum + past.attempts, 0);
  const failures = seconds.reduce((sum, past) => sum + past.failures, 0);
  return attempts >= MIN_ATTEMPTS && failures * 2 >= attempts;
}

/** How many recent attempts other processes do not know of; from now on they do. */
export function takeUntold({ seconds }: Breaker): number {
  let untold = 0;
  for (const past of seconds) {
    untold += past.untold;
    past.untold = 0;
  }
  return untold;
}

/** Closes it, and forgets what went before. */
export function reset(breaker: Breaker): void {
  breaker.open = undefined;
  breaker.probe = undefined;
  breaker.probedElsewhereUntilMs = 0;
  breaker.failuresInARow = 0;
  breaker.seconds = [];
}
