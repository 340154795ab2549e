/** Fast, forgetful numbers that limits are made of. Provided by `counters` (memory), later by Redis. */
import type { Awaitable } from '../plugin.ts';
import { service } from '../plugin.ts';

/** What a window answers. */
export interface Taken {
  readonly ok: boolean;
  /** What is left in the window after this. */
  readonly remaining: number;
  /** Milliseconds until the same call would be let in; 0 when `ok`. Waiting exactly that long is enough. */
  readonly retryAfterMs: number;
  /** Milliseconds until the window is as good as new. */
  readonly resetMs: number;
}

/** What became of a taking; to be kept where `correct` may have to change it. */
export interface Taking extends Taken {
  /** When it was made, on the clock of the counters. */
  readonly atMs: number;
  /** How much of the window it counts for; 0 where it was refused. The counters alone change it. */
  cost: number;
}

/** Windows and gates, by name. */
export interface Counters {
  /**
   * Takes `cost` from a sliding window: at most `limit` within any `windowMs`. A refused call takes nothing.
   */
  take(name: string, limit: number, windowMs: number, cost: number): Awaitable<Taking>;
  /** What `take` would answer now; takes nothing. */
  look(name: string, limit: number, windowMs: number, cost: number): Awaitable<Taken>;
  /** Replaces what a taking from this window took, when the true cost is known; may exceed the limit. Nothing, where it was refused. */
  correct(name: string, windowMs: number, taking: Taking, cost: number): Awaitable<void>;
  /** Enters a gate that holds at most `limit`; false where it is full. Whoever entered leaves, once. */
  enter(name: string, limit: number, id: string): Awaitable<boolean>;
  leave(name: string, id: string): Awaitable<void>;
  /** How many are inside a gate. */
  inside(name: string): Awaitable<number>;
}
/** The service of that name. */
export const Counters = service<Counters>('counters');
