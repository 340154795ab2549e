/** Works on kept responses: small ones at once, large ones in a thread, one at a time for each account. */
import { coreErrors } from '../../../core/contracts/errors.ts';
import { GatewayError } from '../../../core/plugin.ts';
import { startThread, type Thread } from '../../../core/sdk.ts';
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

/** Where work on texts is done. */
export interface Joiner {
  /** Has `use` do its work when it is the account's turn; at once where it is about few bytes. Refuses with 429 where too many wait. */
  turn<T>(accountId: number, bytes: number, use: (run: Run) => Promise<T>): Promise<T>;
  /** Ends the thread, if there is one. */
  close(): Promise<void>;
}
/** Does some work. Bytes that it is given may be gone afterwards. */
export type Run = <W extends Work>(asked: W) => Promise<Done<W>>;

/** Fewer bytes than this are no work. */
const SMALL = 64 * 1_024;
/** How many of an account wait for their turn, and of how many accounts there are texts in memory. */
const MOST_WAITING = 16;
const MOST_AT_ONCE = 4;
/** The thread ends when it has had nothing to do for so long: what it has worked on stays in its memory until then. */
const IDLE_MS = 1_000;

interface Waiting {
  readonly accountId: number;
  start(): void;
}

/** Makes it. The thread starts with the first work that is large. */
export function createJoiner(): Joiner {
  const running = new Set<number>();
  const waiting: Waiting[] = [];
  const asked = new Map<number, { resolve(done: unknown): void; reject(error: Error): void }>();
  let thread: Thread<ToThread> | undefined;
  let next = 0;
  let idle: NodeJS.Timeout | undefined;

  /** Has the thread end, if it has nothing to do. Another one may be started before it is gone. */
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
        const { resolve, reject } = asked.get(number)!;
        asked.delete(number);
        if (asked.size === 0) idle = setTimeout(endThread, IDLE_MS).unref();
        if (refusal !== undefined) reject(new GatewayError(refusal.status, refusal.code, refusal.message, refusal));
        else if (failure !== undefined) reject(new Error(failure));
        else resolve(done);
      },
      ended(error) {
        // Another one works already: this one had nothing to do.
        if (thread !== undefined && thread !== own) return;
        thread = undefined;
        const reason = new Error(`the thread for kept responses ended: ${error?.message ?? 'it was closed'}`);
        for (const { reject } of asked.values()) reject(reason);
        asked.clear();
      },
    });
    thread = own;
    return own;
  }

  const apart: Run = (given) =>
    new Promise((resolve, reject) => {
      const number = next++;
      asked.set(number, { resolve: resolve as (done: unknown) => void, reject });
      started().post({ number, work: given }, buffersIn(given));
    });
  const here: Run = async (given) => work(given) as never;

  function startNext(): void {
    if (running.size >= MOST_AT_ONCE) return;
    const at = waiting.findIndex(({ accountId }) => !running.has(accountId));
    if (at === -1) return;
    const [first] = waiting.splice(at, 1);
    running.add(first!.accountId);
    first!.start();
  }

  return {
    async turn(accountId, bytes, use) {
      if (bytes < SMALL) return use(here);
      if (waiting.filter((other) => other.accountId === accountId).length >= MOST_WAITING) tooMany();
      await new Promise<void>((start) => {
        waiting.push({ accountId, start });
        startNext();
      });
      try {
        return await use(apart);
      } finally {
        running.delete(accountId);
        startNext();
      }
    },
    async close() {
      await endThread();
    },
  };
}

/** What is handed over without being copied: texts that were read for this work alone, never the body of a request. */
function buffersIn(asked: Work): ArrayBuffer[] {
  const texts = textsIn(asked).filter((text) => text.byteLength === text.buffer.byteLength);
  return [...new Set(texts.map(({ buffer }) => buffer as ArrayBuffer))];
}

function textsIn(asked: Work): readonly Uint8Array[] {
  if (asked.kind === 'find') return [];
  if (asked.kind === 'items') return [asked.input, ...(asked.response ? [asked.response] : [])];
  return [...asked.named, ...(asked.turns ?? []).flatMap(({ input, response }) => [input, response])];
}

function tooMany(): never {
  throw coreErrors.concurrency_limit_exceeded(
    `Of one account, ${MOST_WAITING} requests may wait for large kept responses. Try again when one has ended.`,
  );
}
