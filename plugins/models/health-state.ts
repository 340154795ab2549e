/** What is remembered of the health of channels. Times are the clock's `mono`. */

import type { Channel, FailureKind } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import { type Breaker, createBreaker } from './breaker.ts';

const MOST_BREAKERS = 10_000;

/** What is remembered; outlives a reload. */
export interface HealthState {
  /** By channel and upstream model. */
  readonly breakers: Map<string, Breaker>;
  /** By channel. */
  readonly rests: Map<string, Rest>;
  /** What went wrong last, by channel. */
  readonly failures: Map<string, LastFailure>;
}
/** A failure as it is remembered for people. */
export interface LastFailure {
  readonly kind: FailureKind;
  /** The vendor's status, where it answered. */
  readonly status: number | undefined;
  /** Unix milliseconds. */
  readonly atMs: number;
}
/** A channel that is left alone for a while. */
export interface Rest {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** True where the vendor did not accept our key. */
  readonly credential: boolean;
}
/** One in which nothing has happened. */
export function createHealthState(): HealthState {
  // Callers choose names where a pattern serves them.
  return { breakers: boundedMap(MOST_BREAKERS), rests: new Map(), failures: new Map() };
}

/** The breaker of a name; closed, if there was none. */
export function breakerNamed({ breakers }: HealthState, name: string): Breaker {
  let breaker = breakers.get(name);
  if (breaker === undefined) {
    breaker = createBreaker(name);
    breakers.set(name, breaker);
  }
  return breaker;
}

/** Lets a channel rest; longer than before, if it rests already. */
export function rest({ rests }: HealthState, channel: string, nowMs: number, forMs: number, credential: boolean): Rest {
  const before = rests.get(channel);
  const now: Rest = {
    sinceMs: nowMs,
    untilMs: Math.max(nowMs + forMs, before?.untilMs ?? 0),
    credential: credential || before?.credential === true,
  };
  rests.set(channel, now);
  return now;
}

/** The name of a breaker. */
export function breakerId(channel: Channel, model: string): string {
  return `${channelId(channel)}\n${model}`;
}

/** What a breaker is of, for the log. */
export function namesOf({ name }: Breaker): {
  readonly channel: string | undefined;
  readonly model: string | undefined;
} {
  const [channel, , model] = name.split('\n');
  return { channel, model };
}

/** A channel that moved to another address starts anew. */
export function channelId(channel: Channel): string {
  return `${channel.name}\n${channel.url}`;
}
