/** Counters in memory: for each name how much was taken when, for each gate the set of those inside. */
import { LRUCache } from 'lru-cache';
import type { Admission, Counters, Gate, GateEntry, WindowState, WindowTake } from '../../core/contracts/counters.ts';
import type { Clock } from '../../core/plugin.ts';

/** Windows remembered at most; beyond, the one that was used longest ago is forgotten. */
const MAX_WINDOWS = 200_000;
/** Places at the front that do not count any more and are worth copying the rest for. */
const COMPACT_FROM = 64;

/** Counters, and a way to forget windows in which nothing is left. */
export interface MemoryCounters extends Counters {
  // In memory nobody waits: the answers are there at once.
  take(windows: readonly WindowTake[], entry?: GateEntry): Admission;
  look(window: WindowTake): WindowState;
  inside(gate: string): number;
  /** `correct` for what stands in `admission` as numbers alone: the difference of each window's cost. */
  adjust(window: string, atMs: number, by: number): void;
  /** Everybody who is inside, by gate. */
  gates(): Iterable<readonly [gate: string, ids: ReadonlySet<string>]>;
  /** Forgets windows in which nothing has been taken for as long as they are. Call it now and then. */
  sweep(): void;
  /** How many windows and gates are remembered. */
  readonly size: number;
}

/** Counted by size, a cache takes memory as it fills; one with a `max` takes all of it at once. */
const one = (): number => 1;

/**
 * What was taken from one window, one place for each millisecond in which something was, oldest first. Numbers alone: whatever is made
 * for each call and lives as long as the window would cost the call more than all the rest of its limits.
 */
interface Window {
  windowMs: number;
  readonly times: number[];
  readonly costs: number[];
  /** The oldest place that may still count. */
  first: number;
  /** The cost of everything from there on. */
  sum: number;
}

/**
 * Counters that live and die with this process. Time is the clock's `mono`; a taking counts from the moment it was made until
 * exactly `windowMs` later.
 */
export function createMemoryCounters(clock: Clock, maxWindows: number = MAX_WINDOWS): MemoryCounters {
  const windows = new LRUCache<string, Window>({ maxSize: maxWindows, sizeCalculation: one });
  // Not in the cache above: a gate that is forgotten while somebody is inside would let too many in. An empty one is deleted,
  // so there are never more gates than exchanges.
  const gates = new Map<string, Set<string>>();

  /** Lets go of what has left the window. */
  const prune = (window: Window, nowMs: number): void => {
    const { times, costs, windowMs } = window;
    while (window.first < times.length && times[window.first]! + windowMs <= nowMs) {
      window.sum -= costs[window.first]!;
      window.first++;
    }
    if (window.first === times.length || (window.first >= COMPACT_FROM && window.first * 2 >= times.length)) {
      times.splice(0, window.first);
      costs.splice(0, window.first);
      window.first = 0;
    }
  };

  /** Milliseconds until so much of the oldest cost has left the window that `over` is no more. */
  const waitMs = ({ times, costs, windowMs, first }: Window, over: number, nowMs: number): number => {
    let left = over;
    for (let i = first; i < times.length; i++) {
      left -= costs[i]!;
      if (left <= 0) return times[i]! + windowMs - nowMs;
    }
    return Infinity;
  };

  /** The window of a name, without what has left it. */
  const windowOf = ({ name, windowMs }: WindowTake, nowMs: number): Window => {
    let window = windows.get(name);
    if (window === undefined) {
      window = { windowMs, times: [], costs: [], first: 0, sum: 0 };
      windows.set(name, window);
    }
    window.windowMs = windowMs;
    prune(window, nowMs);
    return window;
  };

  const isFull = ({ name, limit }: Gate, id: string): boolean => {
    const inside = gates.get(name);
    return inside === undefined ? limit < 1 : inside.size >= limit && !inside.has(id);
  };

  const goIn = (name: string, id: string): void => {
    const inside = gates.get(name);
    if (inside === undefined) gates.set(name, new Set([id]));
    else inside.add(id);
  };

  const adjust = (name: string, atMs: number, by: number): void => {
    const window = windows.peek(name);
    const at = window === undefined ? undefined : placeOf(window, atMs);
    if (window === undefined || at === undefined) return;
    const { times, costs } = window;
    // A window that was forgotten may have a successor of its name, which holds nothing of what is corrected.
    const change = Math.max(by, -costs[at]!);
    costs[at]! += change;
    window.sum += change;
    // What is given back at once leaves no trace, so that refused calls do not fill the window.
    while (times.length > window.first && costs.at(-1) === 0) {
      times.pop();
      costs.pop();
    }
  };

  /** The windows of the taking under way. */
  const found: Window[] = [];

  return {
    take(takes, entry) {
      const mono = clock.mono();
      // Whole milliseconds, each rounded to the side on which a window is never shorter than it says.
      const nowMs = Math.floor(mono);
      const atMs = Math.ceil(mono);
      let refusedBy = -1;
      for (let i = 0; i < takes.length; i++) {
        const window = windowOf(takes[i]!, nowMs);
        found[i] = window;
        if (refusedBy < 0 && window.sum + takes[i]!.cost > takes[i]!.limit) refusedBy = i;
      }
      if (refusedBy < 0 && entry !== undefined) {
        const full = entry.gates.findIndex((gate) => isFull(gate, entry.id));
        if (full >= 0) refusedBy = takes.length + full;
      }
      const ok = refusedBy < 0;
      const states: WindowState[] = [];
      for (let i = 0; i < takes.length; i++) {
        const window = found[i]!;
        const { limit, windowMs, cost } = takes[i]!;
        const over = window.sum + cost - limit;
        if (ok) put(window, atMs, cost);
        const newestMs = window.times.at(-1);
        states.push({
          ok: over <= 0,
          remaining: Math.max(0, limit - window.sum),
          retryAfterMs: over <= 0 ? 0 : waitMs(window, over, nowMs),
          resetMs: newestMs === undefined ? 0 : newestMs + windowMs - nowMs,
        });
      }
      if (ok && entry !== undefined) for (const { name } of entry.gates) goIn(name, entry.id);
      return { ok, refusedBy, windows: states, takes, atMs, corrected: undefined };
    },

    correct(admission, cost) {
      if (!admission.ok) return;
      for (const take of admission.takes) adjust(take.name, admission.atMs, cost - (admission.corrected ?? take.cost));
      admission.corrected = cost;
    },

    adjust,

    leave({ id, gates: left }) {
      for (const { name } of left) {
        const inside = gates.get(name);
        if (inside?.delete(id) && inside.size === 0) gates.delete(name);
      }
    },

    look({ name, limit, windowMs, cost }) {
      const window = windows.peek(name);
      const nowMs = Math.floor(clock.mono());
      if (window !== undefined) prune(window, nowMs);
      const sum = window?.sum ?? 0;
      const over = sum + cost - limit;
      if (over <= 0) return { ok: true, remaining: limit - sum - cost, retryAfterMs: 0, resetMs: windowMs };
      const newestMs = window?.times.at(-1);
      return {
        ok: false,
        remaining: Math.max(0, limit - sum),
        retryAfterMs: window === undefined ? Infinity : waitMs(window, over, nowMs),
        resetMs: newestMs === undefined ? 0 : newestMs + windowMs - nowMs,
      };
    },

    inside: (name) => gates.get(name)?.size ?? 0,

    gates: () => gates,

    sweep() {
      const nowMs = Math.floor(clock.mono());
      // The least recently used come first: behind the first window that still holds something there is little to find.
      for (let name = windows.rkeys().next().value; name !== undefined; name = windows.rkeys().next().value) {
        const window = windows.peek(name)!;
        prune(window, nowMs);
        if (window.times.length > 0) break;
        windows.delete(name);
      }
    },

    get size() {
      return windows.size + gates.size;
    },
  };
}

/** Adds a cost to the newest place, or behind it. */
function put(window: Window, atMs: number, cost: number): void {
  const { times, costs } = window;
  const last = times.length - 1;
  if (last >= window.first && times[last] === atMs) {
    costs[last]! += cost;
  } else {
    times.push(atMs);
    costs.push(cost);
  }
  window.sum += cost;
}

/** The place of a millisecond; undefined where it has left the window, or has nothing any more. */
function placeOf({ times, first }: Window, atMs: number): number | undefined {
  let low = first;
  let high = times.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const timeMs = times[middle]!;
    if (timeMs === atMs) return middle;
    if (timeMs < atMs) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}
