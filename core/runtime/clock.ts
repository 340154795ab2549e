/** The clock. It is injected, so that tests control time; no other code reads the machine's. */
/** A clock and its timers. */
export interface Clock {
  /** Wall time, unix milliseconds. */
  now(): number;
  /** Monotonic milliseconds, for durations and deadlines. */
  mono(): number;
  /** Calls `run` every so often until the returned function is called. Does not keep the process alive. */
  every(ms: number, run: () => void): () => void;
  /** Calls `run` once, unless the returned function is called before. Does not keep the process alive. */
  after(ms: number, run: () => void): () => void;
}

/**
 * The same clock, whose timers never end the process: what a timer throws (the system has no file descriptors left, say) is given to `failed`, and
 * the timer goes on.
 */
export function guardedClock(clock: Clock, failed: (error: unknown) => void): Clock {
  const guarded = (run: () => unknown) => (): void => {
    try {
      const running = run();
      if (running instanceof Promise) running.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
  return {
    now: () => clock.now(),
    mono: () => clock.mono(),
    every: (ms, run) => clock.every(ms, guarded(run)),
    after: (ms, run) => clock.after(ms, guarded(run)),
  };
}

/** The times at which the machine's clock is held; 0: it runs. */
let heldNow = 0;
let heldMono = 0;

/** Holds the machine's clock at the present time: a phase asks for it a dozen times per call, and each answer costs as much as a function. */
export function holdClock(): void {
  heldNow = Date.now();
  heldMono = performance.now();
}

/** Lets it run again. */
export function releaseClock(): void {
  heldNow = 0;
}

/** The machine's clock. While a phase of the stage runs, it stands still: a time is at most as old as the phase is long. */
export const systemClock: Clock = {
  now: () => (heldNow === 0 ? Date.now() : heldNow),
  mono: () => (heldNow === 0 ? performance.now() : heldMono),
  every(ms, run) {
    const timer = setInterval(run, ms);
    timer.unref();
    return () => clearInterval(timer);
  },
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
