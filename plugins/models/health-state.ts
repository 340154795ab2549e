/** The health state of channels. Times are the clock's `mono`. */

import { createHash } from 'node:crypto';
import type { Channel, FailureKind } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import { type Breaker, createBreaker } from './breaker.ts';

const MOST_BREAKERS = 10_000;

/** The state; survives a reload. */
export interface HealthState {
  /** By channel and upstream model. */
  readonly breakers: Map<string, Breaker>;
  /** By channel, and by key. */
  readonly rests: Map<string, Rest>;
  /** The last failure of each channel. */
  readonly failures: Map<string, LastFailure>;
}
/** A failure to be shown to administrators. */
export interface LastFailure {
  readonly kind: FailureKind;
  /** The vendor's status, if it responded. */
  readonly status: number | undefined;
  /** Unix milliseconds. */
  readonly atMs: number;
}
/** A channel, or one of its keys, that is skipped until a time. */
export interface Rest {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** The vendor did not accept our key. */
  readonly credential: boolean;
}
/** Creates an empty state. */
export function createHealthState(): HealthState {
  // Bounded: clients choose the names that match patterns.
  return { breakers: boundedMap(MOST_BREAKERS), rests: new Map(), failures: new Map() };
}

/** The breaker of a name; a new closed one if there is none. */
export function breakerNamed({ breakers }: HealthState, name: string): Breaker {
  let breaker = breakers.get(name);
  if (breaker === undefined) {
    breaker = createBreaker(name);
    breakers.set(name, breaker);
  }
  return breaker;
}

/** Pauses a channel or a key, or extends its pause. */
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

/** A breaker's channel and model, for the log. */
export function namesOf({ name }: Breaker): {
  readonly channel: string | undefined;
  readonly model: string | undefined;
} {
  const [channel, , model] = name.split('\n');
  return { channel, model };
}

/** A channel whose url changed starts with a new breaker. */
export function channelId(channel: Channel): string {
  return `${channel.name}\n${channel.url}`;
}

/** The digests of keys: hashing for each call would be too expensive. */
const digests = new WeakMap<Channel, string>();

/** A channel with its key; one that was replaced starts without a pause. Does not disclose the key. */
export function keyId(channel: Channel): string {
  let digest = digests.get(channel);
  if (digest === undefined) {
    digest = createHash('sha256').update(channel.key).digest('hex').slice(0, 16);
    digests.set(channel, digest);
  }
  return `${channelId(channel)}\n${digest}`;
}
