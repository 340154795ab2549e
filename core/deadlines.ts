/** Deadlines of everything that is under way, swept together: no timer object per request. */
import type { Clock } from './clock.ts';

/** How often deadlines are looked at; they are late by no more than this. */
const SWEEP_MS = 50;

/** Something that must not go on for ever. Move `atMs` to postpone it. */
export interface Deadline {
  /** On the monotonic clock; `Infinity` while nothing is due. */
  atMs: number;
  readonly expired: () => void;
}

export interface Deadlines {
  /** Watches a deadline `ms` from now. */
  set(ms: number, expired: () => void): Deadline;
  clear(deadline: Deadline): void;
  stop(): void;
}

export function createDeadlines(clock: Clock): Deadlines {
  const watched = new Set<Deadline>();
  const stop = clock.every(SWEEP_MS, () => {
    if (watched.size === 0) return;
    const now = clock.mono();
    for (const deadline of watched) {
      if (deadline.atMs > now) continue;
      watched.delete(deadline);
      deadline.expired();
    }
  });
  return {
    set(ms, expired) {
      const deadline = { atMs: clock.mono() + ms, expired };
      watched.add(deadline);
      return deadline;
    },
    clear(deadline) {
      watched.delete(deadline);
    },
    stop,
  };
}
