/** Periodic background tasks of plugins, such as deleting old records. */

import type { Peers } from '../contracts/peers.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';

/** A task that can be started and stopped. */
export interface Chore {
  start(): void;
  /** Runs the task again as soon as it is idle, without waiting for its interval; no effect before `start` and after `stop`. */
  again(): void;
  /** Resolves when a running task reaches its next pause. */
  stop(): Promise<void>;
}

/** The task. */
export interface ChoreOptions {
  readonly everyMs: number;
  /** Runs in every process, for state in its memory; otherwise only in the leading process. */
  readonly everywhere?: boolean;
  /** Runs the task, which checks `goOn` before each piece. Never runs twice at the same time. */
  work(goesOn: () => boolean): Promise<void>;
  /** The log line for a failure; the task is tried again next time. */
  readonly failure: string;
}

/** Creates it. It first runs after `everyMs`, and only in the leading process unless it is for `everywhere`. */
export function createChore(
  { clock, log, peers }: { readonly clock: Clock; readonly log: Log; readonly peers: Peers },
  { everyMs, everywhere = false, work, failure }: ChoreOptions,
): Chore {
  let cancel: (() => void) | undefined;
  let working: Promise<void> | undefined;
  function run(): void {
    if (cancel === undefined || (!everywhere && !peers.leads())) return;
    working ??= work(() => cancel !== undefined)
      .catch((error: unknown) => log.warn(failure, { error }))
      .finally(() => {
        working = undefined;
      });
  }
  return {
    start() {
      cancel = clock.every(everyMs, run);
    },
    again() {
      void Promise.resolve(working).then(run);
    },
    async stop() {
      cancel?.();
      cancel = undefined;
      await working;
    },
  };
}
