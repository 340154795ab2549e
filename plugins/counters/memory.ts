/** Counters in memory: for each name a log of what was taken, for each gate the set of those inside. */
import { LRUCache } from 'lru-cache';
import type { Counters, Taken } from '../../core/contracts/counters.ts';
import type { Clock } from '../../core/plugin.ts';

/** Windows remembered at most; beyond, the one that was used longest ago is forgotten. */
const MAX_WINDOWS = 200_000;
/** Dead takings at the front of a log that are worth copying the rest for. */
const COMPACT_FROM = 64;

/** Counters, and a way to forget windows in which nothing is left. */
export interface MemoryCounters extends Counters {
  // In memory nobody waits: the answers are there at once.
  take(name: string, limit: number, windowMs: number, cost: number, id: string): Taken;
  look(name: string, limit: number, windowMs: number, cost: number): Taken;
  correct(name: string, windowMs: number, id: string, cost: number): void;
  enter(name: string, limit: number, id: string): boolean;
  leave(name: string, id: string): void;
  inside(name: string): number;
  /** Forgets windows in which nothing has been taken for as long as they are. Call it now and then. */
  sweep(): void;
  /** How many windows and gates are remembered. */
  readonly size: number;
}

/** Counted by size, a cache takes memory as it fills; one with a `max` takes all of it at once. */
const one = (): number => 1;

interface Taking {
  readonly id: string;
  readonly atMs: number;
  cost: number;
}

/** What was taken from one window, oldest first. `log[first]` is the oldest that may still count. */
interface Window {
  windowMs: number;
  log: Taking[];
  first: number;
  /** The cost of everything from `first` on. */
  sum: number;
  readonly byId: Map<string, Taking>;
}

/**
 * Counters that live and die with this process. Time is the clock's `mono`; a taking counts from the moment it was made until
 * exactly `windowMs` later. One name always goes with one `windowMs`, and an `id` takes from a name once.
 */
export function createMemoryCounters(clock: Clock, maxWindows: number = MAX_WINDOWS): MemoryCounters {
  const windows = new LRUCache<string, Window>({ maxSize: maxWindows, sizeCalculation: one });
  // Not in the cache above: a gate that is forgotten while somebody is inside would let too many in. An empty one is deleted,
  // so there are never more gates than exchanges.
  const gates = new Map<string, Set<string>>();

  /** Lets go of what has left the window. */
  const prune = (window: Window, nowMs: number): void => {
    const { log } = window;
    while (window.first < log.length) {
      const oldest = log[window.first]!;
      if (oldest.atMs + window.windowMs > nowMs) break;
      window.sum -= oldest.cost;
      if (window.byId.get(oldest.id) === oldest) window.byId.delete(oldest.id);
      window.first++;
    }
    if (window.first === log.length || (window.first >= COMPACT_FROM && window.first * 2 >= log.length)) {
      log.splice(0, window.first);
      window.first = 0;
    }
  };

  /** Milliseconds until so much of the oldest cost has left the window that `over` is no more. */
  const waitMs = (window: Window, over: number, nowMs: number): number => {
    let left = over;
    for (let i = window.first; i < window.log.length; i++) {
      const taking = window.log[i]!;
      left -= taking.cost;
      if (left <= 0) return taking.atMs + window.windowMs - nowMs;
    }
    return Infinity;
  };

  return {
    take(name, limit, windowMs, cost, id) {
      const mono = clock.mono();
      // Whole milliseconds, each rounded to the side on which a window is never shorter than it says.
      const nowMs = Math.floor(mono);
      let window = windows.get(name);
      if (window === undefined) {
        window = { windowMs, log: [], first: 0, sum: 0, byId: new Map() };
        windows.set(name, window);
      }
      window.windowMs = windowMs;
      prune(window, nowMs);
      const over = window.sum + cost - limit;
      const ok = over <= 0;
      if (ok) {
        const taking = { id, atMs: Math.ceil(mono), cost };
        window.log.push(taking);
        window.byId.set(id, taking);
        window.sum += cost;
      }
      const newest = window.log.at(-1);
      return {
        ok,
        remaining: Math.max(0, limit - window.sum),
        retryAfterMs: ok ? 0 : waitMs(window, over, nowMs),
        resetMs: newest === undefined ? 0 : newest.atMs + windowMs - nowMs,
      };
    },

    look(name, limit, windowMs, cost) {
      const window = windows.peek(name);
      const nowMs = Math.floor(clock.mono());
      if (window !== undefined) prune(window, nowMs);
      const sum = window?.sum ?? 0;
      const over = sum + cost - limit;
      if (over <= 0) return { ok: true, remaining: limit - sum - cost, retryAfterMs: 0, resetMs: windowMs };
      const newest = window?.log.at(-1);
      return {
        ok: false,
        remaining: Math.max(0, limit - sum),
        retryAfterMs: window === undefined ? Infinity : waitMs(window, over, nowMs),
        resetMs: newest === undefined ? 0 : newest.atMs + windowMs - nowMs,
      };
    },

    correct(name, _windowMs, id, cost) {
      const window = windows.peek(name);
      const taking = window?.byId.get(id);
      if (window === undefined || taking === undefined) return;
      window.sum += cost - taking.cost;
      taking.cost = cost;
      // What is given back at once leaves no trace, so that refused calls do not fill the log.
      const { log } = window;
      while (log.length > window.first && log.at(-1)!.cost === 0) window.byId.delete(log.pop()!.id);
    },

    enter(name, limit, id) {
      const inside = gates.get(name);
      if (inside === undefined) {
        if (limit < 1) return false;
        gates.set(name, new Set([id]));
        return true;
      }
      if (inside.has(id)) return true;
      if (inside.size >= limit) return false;
      inside.add(id);
      return true;
    },

    leave(name, id) {
      const inside = gates.get(name);
      if (inside?.delete(id) && inside.size === 0) gates.delete(name);
    },

    inside: (name) => gates.get(name)?.size ?? 0,

    sweep() {
      const nowMs = Math.floor(clock.mono());
      // The least recently used come first: behind the first window that still holds something there is little to find.
      for (let name = windows.rkeys().next().value; name !== undefined; name = windows.rkeys().next().value) {
        const window = windows.peek(name)!;
        prune(window, nowMs);
        if (window.log.length > 0) break;
        windows.delete(name);
      }
    },

    get size() {
      return windows.size + gates.size;
    },
  };
}
