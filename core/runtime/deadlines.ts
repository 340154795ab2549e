/** Deadlines of everything in progress, checked together: no timer object per request. */
import type { Clock } from './clock.ts';
import { createRoll, type Member } from './registry.ts';

/** The check interval: the maximum delay of a deadline. */
const SWEEP_MS = 50;

/** A deadline. Set `atMs` to postpone it. */
export interface Deadline extends Member {
  /** On the monotonic clock; `Infinity` while it is off. */
  atMs: number;
  readonly expired: () => void;
}

/** All active deadlines. */
export interface Deadlines {
  /** Adds a deadline `ms` from now. */
  set(ms: number, expired: () => void): Deadline;
  clear(deadline: Deadline): void;
  stop(): void;
}

/** Creates the list and checks it until `stop`; while it is empty, no timer runs. */
export function createDeadlines(clock: Clock): Deadlines {
  const watched = createRoll<Deadline>();
  let stopSweeping: (() => void) | undefined;

  function sweep(): void {
    if (watched.size === 0) {
      stop();
      return;
    }
    const now = clock.mono();
    for (const deadline of watched) {
      // An expired deadline may have cleared or postponed others.
      if (deadline.place < 0 || deadline.atMs > now) continue;
      watched.delete(deadline);
      deadline.expired();
    }
  }

  function stop(): void {
    stopSweeping?.();
    stopSweeping = undefined;
  }

  return {
    set(ms, expired) {
      const deadline = { atMs: clock.mono() + ms, expired, place: -1 };
      watched.add(deadline);
      stopSweeping ??= clock.every(SWEEP_MS, sweep);
      return deadline;
    },
    clear: watched.delete,
    stop,
  };
}
