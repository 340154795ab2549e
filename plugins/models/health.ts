/**
 * The health of channels.
 *
 * There is a circuit breaker per channel and upstream model: 5 consecutive failures, or half of at least 20 attempts within 30 s, open it
 * for 10 s, then 20 s, 40 s … 300 s, each ±20% at random so that probes are spread. After that it is half-open: one call is let through as
 * a probe, in the channel's usual place; its success closes the circuit, its failure opens it for longer. A key is also paused: after a 429 for
 * the time in `retry-after` (1 s to 60 s), and for 60 s if the vendor does not accept it; other keys of the channel go on, and the circuit is not
 * concerned. After a 529 the whole channel is paused.
 *
 * Only what the vendor did counts: requests that it calls invalid, and clients that disconnect, count neither way.
 *
 * Processes report failures and recoveries to each other, so that all of them skip the same channels. Without failures, nothing is sent. Times are
 * sent as durations, because each process has its own clock.
 */

import type { ChannelState, KeyStatus } from '../../core/contracts/catalog.ts';
import { keyNameOf } from '../../core/contracts/formats/channel.ts';
import type { Attempt, Channel, FailureKind, Host, Offer } from '../../core/plugin.ts';
import {
  addAttempts,
  type Breaker,
  failsTooOften,
  reset,
  type TrackedAttempt,
  type TriedExchange,
  takeUntold,
} from './breaker.ts';
import { hear, type News, wrongNow } from './health-news.ts';
import {
  breakerId,
  breakerNamed,
  channelId,
  type HealthState,
  keyId,
  type LastFailure,
  namesOf,
  type Rest,
  rest,
} from './health-state.ts';

const OPEN_MS = 10_000;
const MAX_OPEN_MS = 300_000;
const JITTER = 0.2;
const MIN_REST_MS = 1_000;
const MAX_REST_MS = 60_000;
/** How often a process reports that it is still probing. */
const CLAIM_MS = 1_000;
/** A longer pause is reported if it is longer by this. */
const LONGER_MS = 250;
/** How often the same failure is reported. */
const FAILURE_TOLD_MS = 1_000;

/** Topics: an event; all current problems, for a process that has just started. */
const NEWS = 'models.health';
const NOW = 'models.health.now';

/** The state of a model at a channel. */
export interface Condition {
  readonly state: ChannelState;
  /** Consecutive failures. */
  readonly failures: number;
  /** When the circuit becomes half-open, by the clock's `mono`; undefined unless it is `open`. */
  readonly untilMs: number | undefined;
}

/** Creates it. `random` returns numbers from 0 to 1. */
export function createHealth(
  state: HealthState,
  { clock, log, peers }: Pick<Host, 'clock' | 'log' | 'peers'>,
  random: () => number = Math.random,
) {
  const { breakers, rests, failures } = state;
  const trials = new WeakMap<Offer, TrackedAttempt>();
  /** The last report, by channel: the end of its pause, and its failure. */
  const toldRests = new Map<string, number>();
  const toldFailures = new Map<string, LastFailure>();

  const tell = (news: News): void => peers.tell(NEWS, news);

  const breakerOf = (offer: Offer): Breaker => breakerNamed(state, breakerId(offer.channel, offer.model));

  /** The later one of the pauses of a channel and of its key. */
  const restOf = (channel: Channel): Rest | undefined => {
    // Usually nothing pauses; then the names need not be built.
    if (rests.size === 0) return undefined;
    const [whole, own] = [rests.get(channelId(channel)), rests.get(keyId(channel))];
    return (whole?.untilMs ?? 0) > (own?.untilMs ?? 0) ? whole : own;
  };

  const open = (breaker: Breaker, attempt?: Attempt): void => {
    const times = breaker.open?.times ?? 0;
    const forMs = Math.min(OPEN_MS * 2 ** times, MAX_OPEN_MS) * (1 - JITTER + 2 * JITTER * random());
    const sinceMs = clock.mono();
    breaker.open = { sinceMs, untilMs: sinceMs + forMs, times: times + 1 };
    tell({ of: 'open', breaker: breaker.name, failures: breaker.failuresInARow, forMs, times: times + 1 });
    log.warn('circuit opened', {
      ...namesOf(breaker),
      forMs: Math.round(forMs),
      failure: attempt?.failure,
      reason: attempt?.reason,
    });
  };
  const close = (breaker: Breaker): void => {
    reset(breaker);
    tell({ of: 'closed', breaker: breaker.name });
    log.info('circuit closed', namesOf(breaker));
  };

  const succeeded = (offer: Offer, trial: TrackedAttempt): void => {
    const { breaker } = trial;
    if (breaker.open === undefined) {
      const wasFailing = breaker.failuresInARow > 0;
      breaker.failuresInARow = 0;
      addAttempts(breaker, clock.mono(), 1, 0, 1);
      if (wasFailing) tell({ of: 'succeeded', breaker: breaker.name, attempts: takeUntold(breaker) });
    } else if (trial.startedMs > breaker.open.sinceMs) {
      // An attempt that began before the circuit opened does not show a recovery.
      close(breaker);
    }
    if (rests.size === 0) return;
    for (const id of [channelId(offer.channel), keyId(offer.channel)]) {
      const rest = rests.get(id);
      if (rest === undefined || trial.startedMs <= rest.sinceMs) continue;
      rests.delete(id);
      toldRests.delete(id);
      tell({ of: 'rested', channel: id });
    }
  };

  const failed = (trial: TrackedAttempt, attempt: Attempt): void => {
    const { breaker } = trial;
    if (breaker.open !== undefined) {
      // Other running attempts fail, too; only the probe decides.
      if (trial.probe && trial.startedMs > breaker.open.sinceMs) open(breaker, attempt);
      return;
    }
    breaker.failuresInARow++;
    addAttempts(breaker, clock.mono(), 1, 1, 1);
    if (failsTooOften(breaker)) open(breaker, attempt);
    else tell({ of: 'failed', breaker: breaker.name, attempts: takeUntold(breaker) });
  };

  const beginRest = (id: string, channel: Channel, ms: number, credential: boolean): void => {
    const isNews = credential && rests.get(id)?.credential !== true;
    const { sinceMs, untilMs, credential: forKey } = rest(state, id, clock.mono(), ms, credential);
    if (isNews) log.error('a vendor does not accept the key of a channel', { channel: keyNameOf(channel) });
    if (!isNews && untilMs < (toldRests.get(id) ?? 0) + LONGER_MS) return;
    toldRests.set(id, untilMs);
    tell({ of: 'rest', channel: id, forMs: untilMs - sinceMs, credential: forKey });
  };

  const noteFailure = (channel: string, kind: FailureKind, status: number | undefined): void => {
    const atMs = clock.now();
    failures.set(channel, { kind, status, atMs });
    const reported = toldFailures.get(channel);
    if (reported?.kind === kind && reported.status === status && atMs < reported.atMs + FAILURE_TOLD_MS) return;
    toldFailures.set(channel, { kind, status, atMs });
    tell({ of: 'failure', channel, kind, ...(status !== undefined && { status }), atMs });
  };

  /** Reports the running probe, repeatedly until it ends. */
  const claim = (trial: TrackedAttempt): void => {
    if (peers.count === 1) return;
    const { breaker } = trial;
    const say = (): void => tell({ of: 'probing', breaker: breaker.name });
    const stop = clock.every(CLAIM_MS, () => {
      if (breaker.probe !== trial) stop();
      // Other processes do not see that its answer arrives.
      else if (trial.exchange.delivered) close(breaker);
      else say();
    });
    say();
  };

  const release = (offer: Offer): void => {
    const trial = trials.get(offer);
    if (trial === undefined || trial.breaker.probe !== trial) return;
    trial.breaker.probe = undefined;
    tell({ of: 'released', breaker: trial.breaker.name });
  };

  return {
    /** Whether it can be tried now: not while its circuit is open, its channel pauses, or another call probes it. */
    ready(offer: Offer): boolean {
      const now = clock.mono();
      if ((restOf(offer.channel)?.untilMs ?? 0) > now) return false;
      const breaker = breakerOf(offer);
      if (breaker.open === undefined) return true;
      if (breaker.open.untilMs > now) return false;
      if (breaker.probe === undefined) return breaker.probedElsewhereUntilMs <= now;
      if (!breaker.probe.exchange.delivered) return false;
      // The probe succeeds with the first part of the answer, not with the end of a long stream.
      close(breaker);
      return true;
    },
    /** When it can be tried; in the past if it can be now. */
    readyAtMs: (offer: Offer): number =>
      Math.max(restOf(offer.channel)?.untilMs ?? 0, breakerOf(offer).open?.untilMs ?? 0),
    /** An attempt begins; at most once per offer. */
    begin(offer: Offer, exchange: TriedExchange): void {
      const breaker = breakerOf(offer);
      const startedMs = clock.mono();
      const probe =
        breaker.open !== undefined &&
        Math.max(breaker.open.untilMs, breaker.probedElsewhereUntilMs) <= startedMs &&
        breaker.probe === undefined;
      const trial = { startedMs, probe, exchange, breaker };
      trials.set(offer, trial);
      if (!probe) return;
      breaker.probe = trial;
      claim(trial);
    },
    /** The result of an attempt. `aborted`: the client disconnected before its end. */
    end(attempt: Attempt, aborted: boolean): void {
      const { offer, failure, status } = attempt;
      const { channel } = offer;
      if (failure !== undefined && failure !== 'refused') noteFailure(channelId(channel), failure, status);
      const trial = trials.get(offer);
      if (trial === undefined) return;
      release(offer);
      trials.delete(offer);
      if (failure === undefined) {
        if (!aborted) succeeded(offer, trial);
      } else if (failure === 'busy') {
        const requestedMs = attempt.retryAfterMs ?? MIN_REST_MS;
        const id = isOfKey(failure, status) ? keyId(channel) : channelId(channel);
        beginRest(id, channel, Math.min(Math.max(requestedMs, MIN_REST_MS), MAX_REST_MS), false);
      } else if (failure === 'credential') {
        beginRest(keyId(channel), channel, MAX_REST_MS, true);
      } else if (countsAgainst(failure)) {
        failed(trial, attempt);
      }
    },
    /** The request ended: its probe ends, even if there was no attempt. */
    release,
    /** The state of a model at a channel, which has each of its keys, for display; changes nothing. */
    look(channels: readonly Channel[], model: string): Condition {
      const now = clock.mono();
      const breaker = breakers.get(breakerId(channels[0]!, model));
      const inARow = breaker?.failuresInARow ?? 0;
      const restMs = Math.min(...channels.map((channel) => restOf(channel)?.untilMs ?? 0));
      const untilMs = Math.max(restMs, breaker?.open?.untilMs ?? 0);
      if (untilMs > now) return { state: 'open', failures: inARow, untilMs };
      return { state: breaker?.open === undefined ? 'closed' : 'half-open', failures: inARow, untilMs: undefined };
    },
    /** The state of one key, for display. */
    lookAtKey(channel: Channel): Omit<KeyStatus, 'number'> {
      const own = restOf(channel);
      if (own === undefined || own.untilMs <= clock.mono()) return { state: 'available', untilMs: undefined };
      const untilMs = Math.round(clock.now() + own.untilMs - clock.mono());
      return { state: own.credential ? 'refused' : 'paused', untilMs };
    },
    /** Subscribes to the messages of other processes, and requests the current problems. */
    join(): void {
      peers.on(NEWS, (message) => {
        hear(message as unknown as News, state, clock.mono(), open);
        return undefined;
      });
      peers.on(NOW, () => wrongNow(state, clock.mono()));
      void peers.ask(NOW, null).then((answers) => {
        for (const news of answers.flat() as unknown as readonly News[]) hear(news, state, clock.mono(), open);
      });
    },
    /** The last failure of a channel. */
    lastFailure: (channel: Channel): LastFailure | undefined => failures.get(channelId(channel)),
  };
}

export type Health = ReturnType<typeof createHealth>;

/** Whether an attempt failed because of the key, so that another key of the channel may succeed. */
export function isOfKey(failure: FailureKind | undefined, status: number | undefined): boolean {
  return failure === 'credential' || (failure === 'busy' && status !== OVERLOADED);
}

/** The status of a vendor that is overloaded for all its customers. */
const OVERLOADED = 529;

function countsAgainst(failure: FailureKind): boolean {
  return failure === 'connect' || failure === 'timeout' || failure === 'status' || failure === 'broken';
}
