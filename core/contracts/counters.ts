/** Fast, forgetful numbers that limits are made of. Provided by `counters` (memory), later by Redis. */
import type { Awaitable } from '../plugin.ts';
import { service } from '../plugin.ts';

/** What became of a taking. */
export interface Taken {
  readonly ok: boolean;
  /** What is left in the window after this. */
  readonly remaining: number;
  /** Milliseconds until the same call would be let in; 0 when `ok`. Waiting exactly that long is enough. */
  readonly retryAfterMs: number;
  /** Milliseconds until the window is as good as new. */
  readonly resetMs: number;
}

/** Windows and gates, by name. */
export interface Counters {
  /**
   * Takes `cost` from a sliding window: at most `limit` within any `windowMs`. A refused call takes nothing.
   * `id` names the taking, so that `correct` can change it later.
   */
  take(name: string, limit: number, windowMs: number, cost: number, id: string): Awaitable<Taken>;
  /** What `take` would answer now; takes nothing. */
  look(name: string, limit: number, windowMs: number, cost: number): Awaitable<Taken>;
  /** Replaces what `take` took under `id`, when the true cost is known; may exceed the limit. */
  correct(name: string, windowMs: number, id: string, cost: number): Awaitable<void>;
  /** Enters a gate that holds at most `limit`; false where it is full. Whoever entered leaves, once. */
  enter(name: string, limit: number, id: string): Awaitable<boolean>;
  leave(name: string, id: string): Awaitable<void>;
  /** How many are inside a gate. */
  inside(name: string): Awaitable<number>;
}
/** The service of that name. */
export const Counters = service<Counters>('counters');
