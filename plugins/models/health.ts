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
 *
 * Processes tell each other what goes wrong, and when it is over, so that all count and avoid the same; while all is well, nothing. Times
 * are told as durations: each process has a clock of its own.
 */
import type { ChannelState } from '../../core/contracts/catalog.ts';
import type { Attempt, Channel, FailureKind, Host, Offer } from '../../core/plugin.ts';
import { addAttempts, type Breaker, failsTooOften, reset, type Trial, type Tried, takeUntold } from './breaker.ts';
import { hear, type News, wrongNow } from './health-news.ts';
import {
  breakerId,
  breakerNamed,
  channelId,
  type HealthState,
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
/** How often a process says that it is still probing. */
const CLAIM_MS = 1_000;
/** What is told anew of a rest: that it is longer by this. */
const LONGER_MS = 250;
/** How often it is told that the same went wrong again. */
const FAILURE_TOLD_MS = 1_000;

/** Topics: one thing that happened; what is wrong now, for a process that has just come. */
const NEWS = 'models.health';
const NOW = 'models.health.now';

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
  /** Listens to the other processes, and asks them what is wrong. */
  join(): void;
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

/** Watches over the channels. `random` gives numbers from 0 to 1. */
export function createHealth(
  state: HealthState,
  { clock, log, peers }: Pick<Host, 'clock' | 'log' | 'peers'>,
  random: () => number = Math.random,
): Health {
  const { breakers, rests, failures } = state;
  const trials = new WeakMap<Offer, Trial>();
  /** What others were told last, by channel: until when it rests, and what went wrong. */
  const toldRests = new Map<string, number>();
  const toldFailures = new Map<string, LastFailure>();

  const tell = (news: News): void => peers.tell(NEWS, news);

  const breakerOf = (offer: Offer): Breaker => breakerNamed(state, breakerId(offer.channel, offer.model));

  const restOf = (channel: Channel): Rest | undefined =>
    // Mostly nobody rests; then no name has to be made up to find that out.
    rests.size === 0 ? undefined : rests.get(channelId(channel));

  const open = (breaker: Breaker, attempt?: Attempt): void => {
    const times = breaker.open?.times ?? 0;
    const forMs = Math.min(OPEN_MS * 2 ** times, MAX_OPEN_MS) * (1 - JITTER + 2 * JITTER * random());
    const sinceMs = clock.mono();
    breaker.open = { sinceMs, untilMs: sinceMs + forMs, times: times + 1 };
    tell({ of: 'open', breaker: breaker.name, failures: breaker.failuresInARow, forMs, times: times + 1 });
    log.warn('a channel fails and is left alone', {
      ...namesOf(breaker),
      forMs: Math.round(forMs),
      failure: attempt?.failure,
      reason: attempt?.reason,
    });
  };
  const close = (breaker: Breaker): void => {
    reset(breaker);
    tell({ of: 'closed', breaker: breaker.name });
    log.info('a channel is well again', namesOf(breaker));
  };

  const succeeded = (offer: Offer, trial: Trial): void => {
    const { breaker } = trial;
    if (breaker.open === undefined) {
      const wasFailing = breaker.failuresInARow > 0;
      breaker.failuresInARow = 0;
      addAttempts(breaker, clock.mono(), 1, 0, 1);
      if (wasFailing) tell({ of: 'succeeded', breaker: breaker.name, attempts: takeUntold(breaker) });
    } else if (trial.startedMs > breaker.open.sinceMs) {
      // One that began before the trouble did says nothing about its end.
      close(breaker);
    }
    const rest = restOf(offer.channel);
    if (rest !== undefined && trial.startedMs > rest.sinceMs) {
      const channel = channelId(offer.channel);
      rests.delete(channel);
      toldRests.delete(channel);
      tell({ of: 'rested', channel });
    }
  };

  const failed = (trial: Trial, attempt: Attempt): void => {
    const { breaker } = trial;
    if (breaker.open !== undefined) {
      // Others that were under way fail, too; only the probe asks the question anew.
      if (trial.probe && trial.startedMs > breaker.open.sinceMs) open(breaker, attempt);
      return;
    }
    breaker.failuresInARow++;
    addAttempts(breaker, clock.mono(), 1, 1, 1);
    if (failsTooOften(breaker)) open(breaker, attempt);
    else tell({ of: 'failed', breaker: breaker.name, attempts: takeUntold(breaker) });
  };

  const beginRest = (channel: Channel, ms: number, credential: boolean): void => {
    const id = channelId(channel);
    const isNews = credential && rests.get(id)?.credential !== true;
    const { sinceMs, untilMs, credential: forKey } = rest(state, id, clock.mono(), ms, credential);
    if (isNews) log.error('a vendor does not accept the key of a channel', { channel: channel.name });
    if (!isNews && untilMs < (toldRests.get(id) ?? 0) + LONGER_MS) return;
    toldRests.set(id, untilMs);
    tell({ of: 'rest', channel: id, forMs: untilMs - sinceMs, credential: forKey });
  };

  const noteFailure = (channel: string, kind: FailureKind, status: number | undefined): void => {
    const atMs = clock.now();
    failures.set(channel, { kind, status, atMs });
    const told = toldFailures.get(channel);
    if (told?.kind === kind && told.status === status && atMs < told.atMs + FAILURE_TOLD_MS) return;
    toldFailures.set(channel, { kind, status, atMs });
    tell({ of: 'failure', channel, kind, ...(status !== undefined && { status }), atMs });
  };

  /** Says that this process probes, again and again until it does no longer. */
  const claim = (trial: Trial): void => {
    if (peers.count === 1) return;
    const { breaker } = trial;
    const say = (): void => tell({ of: 'probing', breaker: breaker.name });
    const stop = clock.every(CLAIM_MS, () => {
      if (breaker.probe !== trial) stop();
      // The others cannot see that its answer flows.
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
    ready(offer) {
      const now = clock.mono();
      if ((restOf(offer.channel)?.untilMs ?? 0) > now) return false;
      const breaker = breakerOf(offer);
      if (breaker.open === undefined) return true;
      if (breaker.open.untilMs > now) return false;
      if (breaker.probe === undefined) return breaker.probedElsewhereUntilMs <= now;
      if (!breaker.probe.exchange.delivered) return false;
      // A probe whose answer flows has proved enough; nobody waits for the end of a long stream.
      close(breaker);
      return true;
    },
    readyAtMs(offer) {
      return Math.max(restOf(offer.channel)?.untilMs ?? 0, breakerOf(offer).open?.untilMs ?? 0);
    },
    begin(offer, exchange) {
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
    end(attempt, aborted) {
      const { offer, failure } = attempt;
      if (failure !== undefined && failure !== 'refused')
        noteFailure(channelId(offer.channel), failure, attempt.status);
      const trial = trials.get(offer);
      if (trial === undefined) return;
      release(offer);
      trials.delete(offer);
      if (failure === undefined) {
        if (!aborted) succeeded(offer, trial);
      } else if (failure === 'busy') {
        const asked = attempt.retryAfterMs ?? MIN_REST_MS;
        beginRest(offer.channel, Math.min(Math.max(asked, MIN_REST_MS), MAX_REST_MS), false);
      } else if (failure === 'credential') {
        beginRest(offer.channel, MAX_REST_MS, true);
      } else if (countsAgainst(failure)) {
        failed(trial, attempt);
      }
    },
    release,
    look(channel, model) {
      const now = clock.mono();
      const breaker = breakers.get(breakerId(channel, model));
      const inARow = breaker?.failuresInARow ?? 0;
      const untilMs = Math.max(restOf(channel)?.untilMs ?? 0, breaker?.open?.untilMs ?? 0);
      if (untilMs > now) return { state: 'open', failures: inARow, untilMs };
      return { state: breaker?.open === undefined ? 'closed' : 'half-open', failures: inARow, untilMs: undefined };
    },
    join() {
      peers.on(NEWS, (message) => {
        hear(message as unknown as News, state, clock.mono(), open);
        return undefined;
      });
      peers.on(NOW, () => wrongNow(state, clock.mono()));
      void peers.ask(NOW, null).then((answers) => {
        for (const news of answers.flat() as unknown as readonly News[]) hear(news, state, clock.mono(), open);
      });
    },
    lastFailure: (channel) => failures.get(channelId(channel)),
  };
}

function countsAgainst(failure: FailureKind): boolean {
  return failure === 'connect' || failure === 'timeout' || failure === 'status' || failure === 'broken';
}
