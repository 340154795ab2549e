/** Deadlines of everything that is under way, swept together: no timer object per request. */
import type { Clock } from './clock.ts';
import { createRoll, type Member } from './roll.ts';

/** How often deadlines are looked at; they are late by no more than this. */
const SWEEP_MS = 50;

/** Something that must not go on for ever. Move `atMs` to postpone it. */
export interface Deadline extends Member {
  /** On the monotonic clock; `Infinity` while nothing is due. */
  atMs: number;
  readonly expired: () => void;
}

/** All of them that are watched. */
export interface Deadlines {
  /** Watches a deadline `ms` from now. */
  set(ms: number, expired: () => void): Deadline;
  clear(deadline: Deadline): void;
  stop(): void;
}

/** Makes the list, and sweeps it until `stop`; while there is nothing on it, no timer runs. */
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
      // One that expires may have cleared or postponed others.
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
