/**
 * Rate-limit counters: sliding windows and gates (calls at once). Provided by `counters`, in memory or on a Valkey server.
 *
 * Each operation is one atomic step. It needs only the names and numbers it is given and the time of the place where the counters are kept,
 * and what it answers is plain JSON but for an infinite `retryAfterMs`: so one message to another process can stand for it, or one Lua
 * script of Valkey.
 */
import type { Awaitable } from '../definitions.ts';
import { service } from '../definitions.ts';

/** A sliding window, and what is to be taken from it: at most `limit` within any `windowMs`. One name always goes with one `windowMs`. */
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
  /** What is left in the window after this. */
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
  /** One for each window, in order: after the taking, or unchanged if nothing was taken. */
  readonly windows: readonly WindowState[];
  /** The requested windows. */
  readonly takes: readonly WindowTake[];
  /** When it was taken, by the clock of the counters. */
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
  /** Leaves the gates. As `correct`, asynchronous. The counters do it themselves for a process that has died. */
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
/** The service of that name. */
export const Counters = service<Counters>('counters');
