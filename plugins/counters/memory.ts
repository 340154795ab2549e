/** Counters in memory: by name the amounts taken and their times, by gate the set of members. */
import { LRUCache } from 'lru-cache';
import type { Admission, Counters, Gate, GateEntry, WindowState, WindowTake } from '../../core/contracts/counters.ts';
import type { Clock } from '../../core/plugin.ts';

/** The maximum number of windows; beyond it, the least recently used one is dropped. */
const MAX_WINDOWS = 200_000;
/** The number of expired entries at which the rest is copied. */
const COMPACT_FROM = 64;

/** Counters that can delete windows without content. */
export interface MemoryCounters extends Counters {
  // In memory, results are available at once.
  take(windows: readonly WindowTake[], entry?: GateEntry): Admission;
  look(window: WindowTake): WindowState;
  inside(gate: string): number;
  /** `correct` for admissions given as plain numbers: the difference of each window's cost. */
  adjust(window: string, atMs: number, by: number): void;
  /** Counts an amount as taken at `atMs`, which is not before what was counted last, even if it exceeds the limit. */
  put(window: string, windowMs: number, atMs: number, cost: number): void;
  /** Adds to what is leased of a window (`leases.ts`): `take` counts it as taken, `look` does not. */
  lease(window: string, by: number): void;
  /** The amount that is leased of a window. */
  leased(window: string): number;
  /** Adds to the leased places of a gate: `take` counts them as entered, `inside` does not. */
  leasePlaces(gate: string, by: number): void;
  /** The number of leased places of a gate. */
  leasedPlaces(gate: string): number;
  /** The amount that is neither taken nor leased; below zero after a correction beyond the limit. */
  room(window: Omit<WindowTake, 'cost'>): number;
  /** The number of places that are neither entered nor leased. */
  places(gate: Gate): number;
  /** The names without whose leases a refused take would be admitted; none if it is refused anyway. */
  blocking(takes: readonly WindowTake[], entry?: GateEntry): readonly string[];
  /** The members of each gate. */
  gates(): Iterable<readonly [gate: string, ids: ReadonlySet<string>]>;
  /** Deletes windows from which nothing was taken for their length. To be called periodically. */
  sweep(): void;
  /** The number of windows and gates. */
  readonly size: number;
}

/** Bounded by size, so that memory is used only as the cache fills; with `max` it is allocated at once. */
const countOne = (): number => 1;

/**
 * The amounts taken from a window, one entry per millisecond, oldest first. Plain numbers: an object per call that lives as long as the
 * window would cost more than all other work for limits.
 */
interface Window {
  windowMs: number;
  readonly times: number[];
  readonly costs: number[];
  /** The index of the oldest entry that may still count. */
  first: number;
  /** The total cost from there on. */
  sum: number;
}

/** Counters of this process. Time is the clock's `mono`; an amount counts from the time it was taken until exactly `windowMs` later. */
export function createMemoryCounters(clock: Clock, maxWindows: number = MAX_WINDOWS): MemoryCounters {
  const windows = new LRUCache<string, Window>({ maxSize: maxWindows, sizeCalculation: countOne });
  // Not in the cache above: dropping a gate with members would let too many in. Empty gates are deleted, so there are never more gates than
  // exchanges.
  const gates = new Map<string, Set<string>>();
  // Leased amounts and places by name, without zeros: as many as workers have leased.
  const leases = new Map<string, number>();
  const leasedPlaces = new Map<string, number>();

  /** Removes expired entries. */
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

  /** Milliseconds until enough of the oldest cost has expired to reduce the total by `over`. What is `leased` expires after all other. */
  const waitMs = (window: Window, over: number, nowMs: number, leased = 0): number => {
    const { times, costs, windowMs, first } = window;
    let left = over;
    for (let i = first; i < times.length; i++) {
      left -= costs[i]!;
      if (left <= 0) return times[i]! + windowMs - nowMs;
    }
    return left <= leased ? windowMs : Infinity;
  };

  /** The window of a name, without expired entries. */
  const windowOf = ({ name, windowMs }: Pick<WindowTake, 'name' | 'windowMs'>, nowMs: number): Window => {
    let window = windows.get(name);
    if (window === undefined) {
      window = { windowMs, times: [], costs: [], first: 0, sum: 0 };
      windows.set(name, window);
    }
    window.windowMs = windowMs;
    prune(window, nowMs);
    return window;
  };

  // A map without entries answers as fast as a comparison: only workers lease.
  const leasedOf = (name: string): number => (leases.size === 0 ? 0 : (leases.get(name) ?? 0));
  const placesOf = (name: string): number => (leasedPlaces.size === 0 ? 0 : (leasedPlaces.get(name) ?? 0));

  const isFull = ({ name, limit }: Gate, id: string, leased = placesOf(name)): boolean => {
    const inside = gates.get(name);
    return inside === undefined ? limit - leased < 1 : inside.size + leased >= limit && !inside.has(id);
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
    // A window that was dropped may have been recreated, without the amounts to be corrected.
    const change = Math.max(by, -costs[at]!);
    costs[at]! += change;
    window.sum += change;
    // Amounts that are returned at once leave no entry, so that refused calls do not fill the window.
    while (times.length > window.first && costs.at(-1) === 0) {
      times.pop();
      costs.pop();
    }
  };

  /** The windows of the running `take`. */
  const takenFrom: Window[] = [];

  return {
    take(takes, entry) {
      const mono = clock.mono();
      // Whole milliseconds, rounded so that a window is never shorter than its length.
      const nowMs = Math.floor(mono);
      const atMs = Math.ceil(mono);
      let refusedBy = -1;
      for (let i = 0; i < takes.length; i++) {
        const window = windowOf(takes[i]!, nowMs);
        takenFrom[i] = window;
        const { name, limit, cost } = takes[i]!;
        if (refusedBy < 0 && window.sum + leasedOf(name) + cost > limit) refusedBy = i;
      }
      if (refusedBy < 0 && entry !== undefined) {
        const full = entry.gates.findIndex((gate) => isFull(gate, entry.id));
        if (full >= 0) refusedBy = takes.length + full;
      }
      const ok = refusedBy < 0;
      const states: WindowState[] = [];
      for (let i = 0; i < takes.length; i++) {
        const window = takenFrom[i]!;
        const { name, limit, windowMs, cost } = takes[i]!;
        const leased = leasedOf(name);
        const over = window.sum + leased + cost - limit;
        if (ok) put(window, atMs, cost);
        const newestMs = window.times.at(-1);
        states.push({
          ok: over <= 0,
          remaining: Math.max(0, limit - window.sum - leased),
          retryAfterMs: over <= 0 ? 0 : waitMs(window, over, nowMs, leased),
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

    put(name, windowMs, atMs, cost) {
      put(windowOf({ name, windowMs }, Math.floor(atMs)), atMs, cost);
    },

    lease: (name, by) => change(leases, name, by),
    leased: leasedOf,
    leasePlaces: (name, by) => change(leasedPlaces, name, by),
    leasedPlaces: placesOf,
    room: (window) => window.limit - windowOf(window, Math.floor(clock.mono())).sum - leasedOf(window.name),
    places: ({ name, limit }) => limit - (gates.get(name)?.size ?? 0) - placesOf(name),

    blocking(takes, entry) {
      const nowMs = Math.floor(clock.mono());
      const names: string[] = [];
      for (const take of takes) {
        const free = take.limit - windowOf(take, nowMs).sum - take.cost;
        if (free < 0) return [];
        if (free < leasedOf(take.name)) names.push(take.name);
      }
      for (const gate of entry?.gates ?? []) {
        if (isFull(gate, entry!.id, 0)) return [];
        if (isFull(gate, entry!.id)) names.push(gate.name);
      }
      return names;
    },

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
      // The least recently used come first: after the first non-empty window, few empty ones follow.
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

/** Adds to a number; zeros are not kept. */
function change(numbers: Map<string, number>, name: string, by: number): void {
  const number = (numbers.get(name) ?? 0) + by;
  if (number === 0) numbers.delete(name);
  else numbers.set(name, number);
}

/** Adds a cost to the newest entry, or as a new one. */
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

/** The index of a millisecond's entry; undefined if it has expired or is empty. */
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
