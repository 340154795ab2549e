/** Work that a plugin does again and again beside the calls, such as deleting what is old. */
import type { Clock } from './clock.ts';
import type { Peers } from './contracts/peers.ts';
import type { Log } from './log.ts';

/** A chore between `start` and `stop`. */
export interface Chore {
  start(): void;
  /** Does the work once more as soon as it is not running, without waiting for the next turn; nothing before `start` and after `stop`. */
  again(): void;
  /** Resolves when the work under way has come to its next pause. */
  stop(): Promise<void>;
}

/** What is done. */
export interface ChoreOptions {
  readonly everyMs: number;
  /** Done in every process, for what each of them has in its memory; else only where this process leads. */
  readonly everywhere?: boolean;
  /** Asks before each further piece whether it may go on. Never runs twice at once. */
  work(goesOn: () => boolean): Promise<void>;
  /** What the log says where it failed; it is tried again at the next turn. */
  readonly failure: string;
}

/** Makes it; nothing is done before `everyMs` has passed once, and nothing while another process leads, unless it is for `everywhere`. */
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
