/** Time, so that tests can hold it in their hands: nothing else in the gateway asks the machine for it. */
/** A clock, and timers that go by it. */
export interface Clock {
  /** Wall time, unix milliseconds. */
  now(): number;
  /** Milliseconds that only ever grow; for durations and limits. */
  mono(): number;
  /** Calls `run` every so often until the returned function is called. Does not keep the process alive. */
  every(ms: number, run: () => void): () => void;
  /** Calls `run` once, unless the returned function is called before. Does not keep the process alive. */
  after(ms: number, run: () => void): () => void;
}

/** The machine's own. */
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
