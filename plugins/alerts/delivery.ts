/** Delivers the outbox: each target on its own, several events in one message, again after a failure. An outage is logged once. */
import type { Host } from '../../core/plugin.ts';
import type { Book, Message } from './book.ts';

/** Events in one message. */
const AT_ONCE = 20;
/** The most events that wait for one target; the oldest are given up. */
const MOST_WAITING = 200;
/** A delivery is given up after so many attempts: with the pauses below, about two days. */
const MOST_ATTEMPTS = 56;
const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 3_600_000;

/** The state of a target since this process delivers. */
interface Attempts {
  /** Why the last attempt failed; undefined: it did not. */
  problem: string | undefined;
  pauseMs: number;
  /** When the next attempt is due, by the clock's `mono`. */
  nextMs: number;
  busy: Promise<void> | undefined;
}

/** Sends messages to a target; undefined if it no longer exists, or does not want any. */
export type Sender = (messages: readonly Message[], signal: AbortSignal) => Promise<void>;

/** Creates it. */
export function createDelivery(
  { clock, log }: Pick<Host, 'clock' | 'log'>,
  book: Book,
  senderOf: (target: string) => Promise<Sender | undefined>,
) {
  const targets = new Map<string, Attempts>();
  const stopping = new AbortController();

  const attemptsOf = (target: string): Attempts => {
    let attempts = targets.get(target);
    if (attempts === undefined) {
      attempts = { problem: undefined, pauseMs: FIRST_PAUSE_MS, nextMs: Number.NEGATIVE_INFINITY, busy: undefined };
      targets.set(target, attempts);
    }
    return attempts;
  };

  async function deliver(target: string, attempts: Attempts, waiting: number): Promise<void> {
    if (waiting > MOST_WAITING) {
      const surplus = await book.next(target, waiting - MOST_WAITING);
      await book.ended(target, surplus, 'failed');
    }
    const sender = await senderOf(target);
    for (let left = true; left && !stopping.signal.aborted; ) {
      const messages = await book.next(target, AT_ONCE);
      left = messages.length === AT_ONCE;
      if (messages.length === 0) return;
      if (sender === undefined) {
        await book.ended(target, messages, 'failed');
        continue;
      }
      try {
        await within(stopping.signal, sender(messages, stopping.signal));
      } catch (error) {
        await failed(target, attempts, messages, error);
        return;
      }
      await book.ended(target, messages, 'sent');
      if (attempts.problem !== undefined) log.info('alerts are delivered again', { to: target });
      attempts.problem = undefined;
      attempts.pauseMs = FIRST_PAUSE_MS;
    }
  }

  async function failed(
    target: string,
    attempts: Attempts,
    messages: readonly Message[],
    error: unknown,
  ): Promise<void> {
    // A stop ends an attempt; the next run repeats it.
    if (stopping.signal.aborted) return;
    if (attempts.problem === undefined)
      log.warn('alerts could not be delivered; they are tried again', { to: target, error });
    attempts.problem = error instanceof Error ? reasonOf(error) : String(error);
    attempts.nextMs = clock.mono() + attempts.pauseMs;
    attempts.pauseMs = Math.min(attempts.pauseMs * 2, LONGEST_PAUSE_MS);
    const givenUp = messages.filter((message) => message.attempts + 1 >= MOST_ATTEMPTS);
    await book.ended(target, givenUp, 'failed');
    const again = messages.filter((message) => message.attempts + 1 < MOST_ATTEMPTS);
    await book.ended(target, again, undefined);
  }

  return {
    /** Begins to deliver what waits. A target that does not answer keeps no other waiting. */
    async run(): Promise<void> {
      for (const [target, waiting] of await book.waiting()) {
        const attempts = attemptsOf(target);
        if (attempts.busy !== undefined || clock.mono() < attempts.nextMs) continue;
        attempts.busy = deliver(target, attempts, waiting)
          .catch((error: unknown) => log.warn('the outbox of alerts could not be read or written', { error }))
          .finally(() => {
            attempts.busy = undefined;
          });
      }
    },
    /** Why the last attempt of this process failed; undefined: it did not. */
    problemOf: (target: string): string | undefined => targets.get(target)?.problem,
    /** Ends the running attempts. */
    async stop(): Promise<void> {
      stopping.abort();
      await Promise.all([...targets.values()].map(({ busy }) => busy));
    },
  };
}

/** Settles as `work` does, or rejects when the signal aborts: what a mail server does cannot be aborted. */
export async function within(signal: AbortSignal, work: Promise<void>): Promise<void> {
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(new Error('no answer in time'));
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    signal.throwIfAborted();
    await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
    // If it is late, its failure is of no interest.
    work.catch(() => {});
  }
}

/** The reason of an error; that of `fetch` is in its cause. */
export function reasonOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
