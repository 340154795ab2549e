/** Processes stored responses: small ones at once, large ones in a worker thread, one at a time per account. */
import { coreErrors } from '../../../core/contracts/errors.ts';
import { GatewayError } from '../../../core/plugin.ts';
import { createTurns, startThread, type Thread } from '../../../core/sdk.ts';
import { work } from './joining.ts';
import type { Done, ItemsFound, Joined, Work } from './work.ts';

export type ToThread = { readonly number: number; readonly work: Work } | 'close';
export interface FromThread {
  readonly number: number;
  readonly done?: Joined | readonly string[] | ItemsFound;
  readonly refusal?: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly param: string;
  };
  readonly failure?: string;
}

/** Runs a job. Its buffers may be detached afterwards. */
export type Run = <W extends Work>(job: W) => Promise<Done<W>>;

/** Jobs below this size are run at once. */
const SMALL = 64 * 1_024;
/** The maximum waiting jobs per account, and accounts with texts in memory at the same time. */
const MAX_WAITING = 16;
const MAX_AT_ONCE = 4;
/** The idle time after which the thread ends: until then, the texts of its last job stay in memory. */
const IDLE_MS = 1_000;

/** Processes texts. The thread starts with the first large job. */
export function createJoiner() {
  const turns = createTurns({ atOnce: MAX_AT_ONCE, waiting: MAX_WAITING, refuse: tooMany });
  const jobs = new Map<number, { resolve(done: unknown): void; reject(error: Error): void }>();
  let thread: Thread<ToThread> | undefined;
  let next = 0;
  let idle: NodeJS.Timeout | undefined;

  /** Ends the thread if it is idle. Another one may start before it has ended. */
  function endThread(): Promise<void> | undefined {
    clearTimeout(idle);
    const ending = thread;
    thread = undefined;
    ending?.post('close');
    return ending?.ended;
  }

  function started(): Thread<ToThread> {
    clearTimeout(idle);
    if (thread !== undefined) return thread;
    const own = startThread<ToThread, FromThread>(new URL('./joiner-thread.ts', import.meta.url), {
      message({ number, done, refusal, failure }) {
        const { resolve, reject } = jobs.get(number)!;
        jobs.delete(number);
        if (jobs.size === 0) idle = setTimeout(endThread, IDLE_MS).unref();
        if (refusal !== undefined) reject(new GatewayError(refusal.status, refusal.code, refusal.message, refusal));
        else if (failure !== undefined) reject(new Error(failure));
        else resolve(done);
      },
      ended(error) {
        // Another thread has taken over; this one was idle.
        if (thread !== undefined && thread !== own) return;
        thread = undefined;
        const reason = new Error(`the thread for stored responses ended: ${error?.message ?? 'it was closed'}`);
        for (const { reject } of jobs.values()) reject(reason);
        jobs.clear();
      },
    });
    thread = own;
    return own;
  }

  const inThread: Run = (given) =>
    new Promise((resolve, reject) => {
      const number = next++;
      jobs.set(number, { resolve: resolve as (done: unknown) => void, reject });
      started().post({ number, work: given }, buffersIn(given));
    });
  const inline: Run = async (given) => work(given) as never;

  return {
    /** Runs `use` when it is the account's turn; at once if it needs few bytes. Refuses with 429 if too many are waiting. */
    turn: <T>(accountId: number, bytes: number, use: (run: Run) => Promise<T>): Promise<T> =>
      bytes < SMALL ? use(inline) : turns.take(accountId, () => use(inThread)),
    /** Ends the thread, if there is one. */
    async close() {
      await endThread();
    },
  };
}

export type Joiner = ReturnType<typeof createJoiner>;

/** The buffers that can be transferred: texts that were read for this job only, never the body of a request. */
function buffersIn(job: Work): ArrayBuffer[] {
  const texts = textsIn(job).filter((text) => text.byteLength === text.buffer.byteLength);
  return [...new Set(texts.map(({ buffer }) => buffer as ArrayBuffer))];
}

function textsIn(job: Work): readonly Uint8Array[] {
  if (job.kind === 'find') return [];
  if (job.kind === 'items') return [job.input, ...(job.response ? [job.response] : [])];
  return [...job.named, ...(job.turns ?? []).flatMap(({ input, response }) => [input, response])];
}

function tooMany(): never {
  throw coreErrors.concurrency_limit_exceeded(
    `Of one account, ${MAX_WAITING} requests may wait for large stored responses. Try again when one has ended.`,
  );
}
