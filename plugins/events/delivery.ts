/** Delivers events to one destination: in batches, in their order, with a bounded queue, again after a failure. */
import type { Host } from '../../core/plugin.ts';

/** A destination. */
export interface Destination {
  /** For the log: `webhook`. */
  readonly name: string;
  /** The most events in one batch. */
  readonly atOnce: number;
  /** How long the first event of a batch may wait for others. */
  readonly waitMs: number;
  /** Delivers a batch, one line of JSON for each event. Rejects if it failed; with `Refused` if trying again is useless. */
  deliver(events: readonly string[]): Promise<void>;
}

/** The destination does not accept the batch, and will not. */
export class Refused extends Error {}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 300_000;
const LOGGED_MS = 60_000;
/** How long a destination has for the last events when the gateway stops. */
const LAST_MS = 3_000;

/** Creates it. `most`: events in the queue. */
export function createDelivery(destination: Destination, most: number, { clock, log }: Pick<Host, 'clock' | 'log'>) {
  let queue: string[] = [];
  let dropped = 0;
  let loggedMs = Number.NEGATIVE_INFINITY;
  let pauseMs = FIRST_PAUSE_MS;
  let cancel: (() => void) | undefined;
  let working: Promise<void> | undefined;
  let isStopping = false;

  function report(error: unknown): void {
    if (clock.mono() - loggedMs < LOGGED_MS) return;
    loggedMs = clock.mono();
    log.warn('events could not be delivered', { to: destination.name, waiting: queue.length, dropped, error });
    dropped = 0;
  }

  function wait(ms: number): void {
    cancel ??= clock.after(ms, () => {
      cancel = undefined;
      void work();
    });
  }

  /** Delivers until the queue is empty, or a batch fails: then again after a pause. */
  async function work(): Promise<void> {
    working ??= deliverAll().finally(() => {
      working = undefined;
    });
    await working;
  }

  async function deliverAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, destination.atOnce);
      try {
        await destination.deliver(batch);
        pauseMs = FIRST_PAUSE_MS;
      } catch (error) {
        if (!(error instanceof Refused)) {
          report(error);
          if (!isStopping) wait(pauseMs);
          pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
          return;
        }
        dropped += batch.length;
        report(error);
      }
      queue = queue.slice(batch.length);
    }
  }

  /** Counts an event that there was no room for. */
  function drop(): void {
    dropped += 1;
    report(new Error('the queue is full'));
  }

  return {
    drop,
    add(event: string): void {
      if (queue.length >= most) {
        drop();
        return;
      }
      queue.push(event);
      if (working !== undefined) return;
      // After a failure, a full batch does not shorten the pause.
      if (queue.length >= destination.atOnce && pauseMs === FIRST_PAUSE_MS) {
        cancel?.();
        cancel = undefined;
        void work();
      } else wait(destination.waitMs);
    },
    /** Delivers what waits, as far as it is accepted now. */
    async stop(): Promise<void> {
      isStopping = true;
      cancel?.();
      cancel = undefined;
      const late = new Promise<void>((done) => void clock.after(LAST_MS, done));
      await Promise.race([Promise.resolve(working).then(work), late]);
      if (queue.length + dropped > 0)
        log.warn('events were not delivered', { to: destination.name, lost: queue.length + dropped });
      queue = [];
    },
  };
}
