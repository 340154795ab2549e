/** Time by hand: a clock that stands still until a test moves it. */
import type { Clock } from '../../../core/runtime/clock.ts';

/** A `Clock` that only `advance` moves. */
export interface FakeClock extends Clock {
  /**
   * Moves the time forward, running every timer that falls due on the way, in the order of their times, each at its own
   * moment. What a timer starts with `after` or `every` runs too, if it falls due in time. Promises settle afterwards: await
   * whatever the test waits for.
   */
  advance(ms: number): void;
}

interface Timer {
  dueMs: number;
  /** Milliseconds until it is due again; undefined: once. */
  readonly everyMs: number | undefined;
  readonly run: () => void;
}

/** A clock that starts at a wall time (unix milliseconds) and stands still. */
export function fakeClock(startMs: number = Date.UTC(2026, 0, 1)): FakeClock {
  // The monotonic clock does not start at zero, so that nobody takes its value for a truth or a falsehood.
  const beganMs = 1_000;
  let monoMs = beganMs;
  const timers = new Set<Timer>();

  const add = (ms: number, everyMs: number | undefined, run: () => void): (() => void) => {
    const timer = { dueMs: monoMs + ms, everyMs, run };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const nextDue = (untilMs: number): Timer | undefined => {
    let next: Timer | undefined;
    for (const timer of timers) {
      if (timer.dueMs <= untilMs && (next === undefined || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  };

  return {
    now: () => startMs + Math.floor(monoMs - beganMs),
    mono: () => monoMs,
    // A timer of no time at all would never let `advance` end.
    every: (ms, run) => add(Math.max(ms, 1), Math.max(ms, 1), run),
    after: (ms, run) => add(ms, undefined, run),
    advance(ms) {
      const untilMs = monoMs + ms;
      for (let timer = nextDue(untilMs); timer !== undefined; timer = nextDue(untilMs)) {
        monoMs = Math.max(monoMs, timer.dueMs);
        if (timer.everyMs === undefined) timers.delete(timer);
        else timer.dueMs += timer.everyMs;
        timer.run();
      }
      monoMs = untilMs;
    },
  };
}

/** Whether a time, in milliseconds, is one since this process began: however long a test takes. What counts in seconds may be one off. */
export function isOfThisRun(ms: number): boolean {
  return ms > performance.timeOrigin - 1_000 && ms < Date.now() + 1_000;
}
