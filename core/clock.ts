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

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  mono: () => performance.now(),
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
