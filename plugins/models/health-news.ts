/** Messages between processes about the health of channels. */
import type { FailureKind } from '../../core/plugin.ts';
import { addAttempts, type Breaker, failsTooOften, reset } from './breaker.ts';
import { breakerNamed, type HealthState, rest } from './health-state.ts';

/** How long a process assumes that another one probes, without further messages. */
const BELIEVED_MS = 3_000;

/** A message to the other processes. */
export type News =
  /** Attempts not yet sent, the last of which failed or ended a series of failures. */
  | { readonly of: 'failed' | 'succeeded'; readonly breaker: string; readonly attempts: number }
  | {
      readonly of: 'open';
      readonly breaker: string;
      readonly failures: number;
      readonly forMs: number;
      readonly times: number;
    }
  | { readonly of: 'closed' | 'probing' | 'released'; readonly breaker: string }
  | { readonly of: 'rest'; readonly channel: string; readonly forMs: number; readonly credential: boolean }
  | { readonly of: 'rested'; readonly channel: string }
  | {
      readonly of: 'failure';
      readonly channel: string;
      readonly kind: FailureKind;
      readonly status?: number;
      readonly atMs: number;
    };

/** Applies the message of another process. `open` opens a breaker that has failed too often. */
export function hear(news: News, state: HealthState, now: number, open: (breaker: Breaker) => void): void {
  switch (news.of) {
    case 'failed': {
      const breaker = breakerNamed(state, news.breaker);
      if (breaker.open !== undefined) return;
      breaker.failuresInARow++;
      addAttempts(breaker, now, news.attempts, 1, 0);
      // If several attempts failed at once, no process has opened it.
      if (failsTooOften(breaker)) open(breaker);
      return;
    }
    case 'succeeded': {
      const breaker = breakerNamed(state, news.breaker);
      if (breaker.open !== undefined) return;
      breaker.failuresInARow = 0;
      addAttempts(breaker, now, news.attempts, 0, 0);
      return;
    }
    case 'open': {
      const breaker = breakerNamed(state, news.breaker);
      const mine = breaker.open;
      if (mine !== undefined && mine.times > news.times) return;
      const untilMs = now + news.forMs;
      // If two processes opened it at once, the longer duration counts.
      if (mine?.times === news.times) breaker.open = { ...mine, untilMs: Math.max(mine.untilMs, untilMs) };
      else breaker.open = { sinceMs: now, untilMs, times: news.times };
      breaker.failuresInARow = Math.max(breaker.failuresInARow, news.failures);
      breaker.probedElsewhereUntilMs = 0;
      return;
    }
    case 'closed': {
      const breaker = breakerNamed(state, news.breaker);
      if (breaker.open !== undefined) reset(breaker);
      return;
    }
    case 'probing':
      breakerNamed(state, news.breaker).probedElsewhereUntilMs = now + BELIEVED_MS;
      return;
    case 'released':
      breakerNamed(state, news.breaker).probedElsewhereUntilMs = 0;
      return;
    case 'rest':
      rest(state, news.channel, now, news.forMs, news.credential);
      return;
    case 'rested':
      state.rests.delete(news.channel);
      return;
    case 'failure': {
      const { channel, kind, status, atMs } = news;
      if (atMs >= (state.failures.get(channel)?.atMs ?? 0)) state.failures.set(channel, { kind, status, atMs });
      return;
    }
  }
}

/** All current problems, for a process that has just started. */
export function wrongNow({ breakers, rests, failures }: HealthState, now: number): readonly News[] {
  const news: News[] = [];
  for (const { name, open: opened, failuresInARow } of breakers.values()) {
    if (opened === undefined) continue;
    const { untilMs, times } = opened;
    news.push({ of: 'open', breaker: name, failures: failuresInARow, forMs: untilMs - now, times });
  }
  for (const [channel, { untilMs, credential }] of rests) {
    if (untilMs > now) news.push({ of: 'rest', channel, forMs: untilMs - now, credential });
  }
  for (const [channel, { kind, status, atMs }] of failures) {
    news.push({ of: 'failure', channel, kind, ...(status !== undefined && { status }), atMs });
  }
  return news;
}
