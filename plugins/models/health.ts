/**
 * Which channels are well.
 *
 * Per channel and upstream model a breaker: 5 failures in a row, or half of at least 20 attempts within 30 s, open it for
 * 10 s, then 20 s, 40 s … 300 s, each a fifth longer or shorter by chance so that many do not come back at once. When the time
 * is over it is half open: one call is let through as a probe, in the channel's usual place; its success closes the breaker, its
 * failure opens it for longer. Per channel a rest: after a 429 for as long as the vendor asked (1 s to 60 s), and for 60 s when
 * the vendor does not accept our key.
 *
 * Only what the vendor did counts: a request it calls wrong, and a client that leaves, say nothing about it.
 */
import type { ChannelState } from '../../core/contracts/catalog.ts';
import {
  type Attempt,
  boundedMap,
  type Channel,
  type Clock,
  type FailureKind,
  type Log,
  type Offer,
} from '../../core/plugin.ts';

const IN_A_ROW = 5;
const WINDOW_S = 30;
const MIN_ATTEMPTS = 20;
const OPEN_MS = 10_000;
const MAX_OPEN_MS = 300_000;
const JITTER = 0.2;
const MIN_REST_MS = 1_000;
const MAX_REST_MS = 60_000;
const MOST_BREAKERS = 10_000;

/** What is remembered; outlives a reload. Times are the clock's `mono`. */
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
interface Breaker {
  failuresInARow: number;
  /** What happened in the last seconds in which anything did, oldest first. */
  seconds: { readonly second: number; attempts: number; failures: number }[];
  /** Undefined while it is closed. */
  open: { readonly sinceMs: number; readonly untilMs: number; readonly times: number } | undefined;
  probe: Trial | undefined;
}
interface Rest {
  readonly sinceMs: number;
  readonly untilMs: number;
  /** True where the vendor did not accept our key. */
  readonly credential: boolean;
}
/** An offer that somebody tries. */
interface Trial {
  readonly startedMs: number;
  readonly probe: boolean;
  readonly exchange: Tried;
  readonly breaker: Breaker;
}
/** What is asked of an exchange: whether its vendor has answered. */
interface Tried {
  readonly delivered: boolean;
}

export interface Health {
  /** May it be tried now? Not while it is open, resting, or being probed by another call. */
  ready(offer: Offer): boolean;
  /** When it may be tried; in the past where it may be now. */
  readyAtMs(offer: Offer): number;
  /** It is tried now; each offer once. */
  begin(offer: Offer, exchange: Tried): void;
  /** How that went. `aborted`: the client left before it was over. */
  end(attempt: Attempt, aborted: boolean): void;
  /** The exchange is over: it probes no longer, whether or not an attempt was made. */
  release(offer: Offer): void;
  /** How a model does at a channel, for people; changes nothing. */
  look(channel: Channel, model: string): Condition;
  /** What went wrong at a channel last. */
  lastFailure(channel: Channel): LastFailure | undefined;
}

/** How a model does at a channel. */
export interface Condition {
  readonly state: ChannelState;
  /** In a row, up to now. */
  readonly failures: number;
  /** Until when no call goes there, by the clock's `mono`; undefined unless it is `open`. */
  readonly untilMs: number | undefined;
}

export function createHealthState(): HealthState {
  // Callers choose names where a pattern serves them.
  return { breakers: boundedMap(MOST_BREAKERS), rests: new Map(), failures: new Map() };
}

/** Watches over the channels. `random` gives numbers from 0 to 1. */
export function createHealth(state: HealthState, clock: Clock, log: Log, random: () => number = Math.random): Health {
  const { breakers, rests } = state;
  const trials = new WeakMap<Offer, Trial>();

  const breakerOf = (offer: Offer): Breaker => {
    const name = `${channelId(offer.channel)}\n${offer.model}`;
    let breaker = breakers.get(name);
    if (breaker === undefined) {
      breaker = { failuresInARow: 0, seconds: [], open: undefined, probe: undefined };
      breakers.set(name, breaker);
    }
    return breaker;
  };

  const restOf = (channel: Channel): Rest | undefined =>
    // Mostly nobody rests; then no name has to be made up to find that out.
    rests.size === 0 ? undefined : rests.get(channelId(channel));

  const open = (breaker: Breaker, offer: Offer, attempt: Attempt): void => {
    const times = breaker.open?.times ?? 0;
    const ms = Math.min(OPEN_MS * 2 ** times, MAX_OPEN_MS) * (1 - JITTER + 2 * JITTER * random());
    const sinceMs = clock.mono();
    breaker.open = { sinceMs, untilMs: sinceMs + ms, times: times + 1 };
    log.warn('a channel fails and is left alone', {
      channel: offer.channel.name,
      model: offer.model,
      forMs: Math.round(ms),
      failure: attempt.failure,
      reason: attempt.reason,
    });
  };
  const close = (breaker: Breaker, offer: Offer): void => {
    breaker.open = undefined;
    breaker.probe = undefined;
    breaker.failuresInARow = 0;
    breaker.seconds = [];
    log.info('a channel is well again', { channel: offer.channel.name, model: offer.model });
  };

  /** Adds one attempt; true where half of enough recent ones have failed. */
  const count = (breaker: Breaker, failed: boolean): boolean => {
    const second = Math.floor(clock.mono() / 1_000);
    let current = breaker.seconds.at(-1);
    if (current?.second !== second) {
      current = { second, attempts: 0, failures: 0 };
      breaker.seconds = [...breaker.seconds.filter((past) => past.second > second - WINDOW_S), current];
    }
    current.attempts++;
    if (!failed) return false;
    current.failures++;
    const attempts = breaker.seconds.reduce((sum, past) => sum + past.attempts, 0);
    const failures = breaker.seconds.reduce((sum, past) => sum + past.failures, 0);
    return attempts >= MIN_ATTEMPTS && failures * 2 >= attempts;
  };

  const succeeded = (offer: Offer, trial: Trial): void => {
    const { breaker } = trial;
    if (breaker.open === undefined) {
      breaker.failuresInARow = 0;
      count(breaker, false);
    } else if (trial.startedMs > breaker.open.sinceMs) {
      // One that began before the trouble did says nothing about its end.
      close(breaker, offer);
    }
    const rest = restOf(offer.channel);
    if (rest !== undefined && trial.startedMs > rest.sinceMs) rests.delete(channelId(offer.channel));
  };

  const failed = (offer: Offer, trial: Trial, attempt: Attempt): void => {
    const { breaker } = trial;
    if (breaker.open !== undefined) {
      // Others that were under way fail, too; only the probe asks the question anew.
      if (trial.probe && trial.startedMs > breaker.open.sinceMs) open(breaker, offer, attempt);
      return;
    }
    breaker.failuresInARow++;
    const half = count(breaker, true);
    if (half || breaker.failuresInARow >= IN_A_ROW) open(breaker, offer, attempt);
  };

  const rest = (channel: Channel, ms: number, credential: boolean): void => {
    const before = restOf(channel);
    const sinceMs = clock.mono();
    rests.set(channelId(channel), {
      sinceMs,
      untilMs: Math.max(sinceMs + ms, before?.untilMs ?? 0),
      credential: credential || before?.credential === true,
    });
    if (credential && before?.credential !== true) {
      log.error('a vendor does not accept the key of a channel', { channel: channel.name });
    }
  };

  const release = (offer: Offer): void => {
    const trial = trials.get(offer);
    if (trial !== undefined && trial.breaker.probe === trial) trial.breaker.probe = undefined;
  };

  return {
    ready(offer) {
      const now = clock.mono();
      if ((restOf(offer.channel)?.untilMs ?? 0) > now) return false;
      const breaker = breakerOf(offer);
      if (breaker.open === undefined) return true;
      if (breaker.open.untilMs > now) return false;
      if (breaker.probe === undefined) return true;
      if (!breaker.probe.exchange.delivered) return false;
      // A probe whose answer flows has proved enough; nobody waits for the end of a long stream.
      close(breaker, offer);
      return true;
    },
    readyAtMs(offer) {
      return Math.max(restOf(offer.channel)?.untilMs ?? 0, breakerOf(offer).open?.untilMs ?? 0);
    },
    begin(offer, exchange) {
      const breaker = breakerOf(offer);
      const startedMs = clock.mono();
      const probe = breaker.open !== undefined && breaker.open.untilMs <= startedMs && breaker.probe === undefined;
      const trial = { startedMs, probe, exchange, breaker };
      if (probe) breaker.probe = trial;
      trials.set(offer, trial);
    },
    end(attempt, aborted) {
      const { offer, failure } = attempt;
      if (failure !== undefined && failure !== 'refused') {
        state.failures.set(channelId(offer.channel), { kind: failure, status: attempt.status, atMs: clock.now() });
      }
      const trial = trials.get(offer);
      if (trial === undefined) return;
      release(offer);
      trials.delete(offer);
      if (failure === undefined) {
        if (!aborted) succeeded(offer, trial);
      } else if (failure === 'busy') {
        const asked = attempt.retryAfterMs ?? MIN_REST_MS;
        rest(offer.channel, Math.min(Math.max(asked, MIN_REST_MS), MAX_REST_MS), false);
      } else if (failure === 'credential') {
        rest(offer.channel, MAX_REST_MS, true);
      } else if (countsAgainst(failure)) {
        failed(offer, trial, attempt);
      }
    },
    release,
    look(channel, model) {
      const now = clock.mono();
      const breaker = breakers.get(`${channelId(channel)}\n${model}`);
      const failures = breaker?.failuresInARow ?? 0;
      const untilMs = Math.max(restOf(channel)?.untilMs ?? 0, breaker?.open?.untilMs ?? 0);
      if (untilMs > now) return { state: 'open', failures, untilMs };
      return { state: breaker?.open === undefined ? 'closed' : 'half-open', failures, untilMs: undefined };
    },
    lastFailure: (channel) => state.failures.get(channelId(channel)),
  };
}

function countsAgainst(failure: FailureKind): boolean {
  return failure === 'connect' || failure === 'timeout' || failure === 'status' || failure === 'broken';
}

/** A channel that moved to another address starts anew. */
function channelId(channel: Channel): string {
  return `${channel.name}\n${channel.url}`;
}
