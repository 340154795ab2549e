/**
 * Rate-limit counters: sliding windows and gates (calls at once). Provided by `counters`, in memory or on a Valkey server.
 *
 * Each operation is one atomic step. It depends only on its arguments and on the clock of the counters, and its result is plain JSON, except for an
 * infinite `retryAfterMs`. So it can be one message to another process, or one Lua script of Valkey.
 */
import type { Awaitable } from './definitions.ts';
import { service } from './definitions.ts';

/** A sliding window and the cost to take from it: at most `limit` within any `windowMs`. A name must always have the same `windowMs`. */
export interface WindowTake {
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly cost: number;
}

/** A gate: at most `limit` inside at a time. */
export interface Gate {
  readonly name: string;
  readonly limit: number;
}

/** The gates to enter, and by which caller. */
export interface GateEntry {
  /** Unique among all that are inside. Entering a gate twice counts once. */
  readonly id: string;
  readonly gates: readonly Gate[];
}

/** The state of a window. */
export interface WindowState {
  /** It has room for the cost. */
  readonly ok: boolean;
  /** The remaining amount in the window afterwards. */
  readonly remaining: number;
  /** Milliseconds until it has room for the same cost; 0 when `ok`, `Infinity` if the cost exceeds the limit. Waiting exactly that long is enough. */
  readonly retryAfterMs: number;
  /** Milliseconds until the window is practically empty. */
  readonly resetMs: number;
}

/** The result of `take`; keep it if `correct` may have to change it. */
export interface Admission {
  /** Everything was taken and entered; otherwise nothing was. */
  readonly ok: boolean;
  /** The first that refused, counted over the windows and then the gates; -1 when `ok`. */
  readonly refusedBy: number;
  /** The state of each window, in order: after the costs were taken, or unchanged if nothing was taken. */
  readonly windows: readonly WindowState[];
  /** The requested windows. */
  readonly takes: readonly WindowTake[];
  /** When it was taken, by the clock of the counters; 0 if a worker has taken it from its leases, which are reported later. */
  readonly atMs: number;
  /** Its cost in each window after correction; undefined before that. Only the counters change it. */
  corrected: number | undefined;
}

/** Windows and gates, by name. */
export interface Counters {
  /**
   * Takes from all windows and enters all gates, or does nothing and returns the first that refused, windows before
   * gates. The names must be different. Rejects with a `GatewayError` (503) if the counters cannot be reached in time;
   * then nothing stays taken.
   */
  take(windows: readonly WindowTake[], entry?: GateEntry): Awaitable<Admission>;
  /**
   * Replaces what was taken from each window by the true cost, which may exceed the limit. Does nothing if it was
   * refused, or has left the window. Asynchronous without a result, never fails; later operations of the same process
   * come after it.
   */
  correct(admission: Admission, cost: number): void;
  /** Leaves the gates. As `correct`, asynchronous. For a process that has died, the counters leave its gates themselves. */
  leave(entry: GateEntry): void;
  /** The state that `take` would return for one window; takes nothing. */
  look(window: WindowTake): Awaitable<WindowState>;
  /** How many are inside a gate. */
  inside(gate: string): Awaitable<number>;
  /**
   * If several gateways share their counters: false while the counter server cannot be reached and each gateway
   * enforces its share of every limit. Undefined if nothing is shared.
   */
  readonly shared?: boolean;
}
/** The service `Counters`. */
export const Counters = service<Counters>('counters');
