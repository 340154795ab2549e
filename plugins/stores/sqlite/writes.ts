/** The main thread's side of the writing thread, of this process or of the one that owns the store. */
import type { Log, Store, StoreRoom } from '../../../core/plugin.ts';
import { StoreInUse, StoreMissing, StoreUnavailable } from '../../../core/plugin.ts';
import { startThread, type Thread, type ThreadEvents } from '../../../core/sdk.ts';
import { REWRITE_MARK } from './connection.ts';
import { createLists } from './lists.ts';
import type { FromWriter, Joining, Opening, Refusal, ToWriter } from './wire.ts';

export interface Writes extends Pick<Store, 'run' | 'atomic'> {
  /** Whether something that is durable may not be in its row yet. */
  isBehind(): boolean;
  /** Whether a query is known to read nothing of that, if only this process writes. */
  isHarmless(query: string): boolean;
  /** Resolves when a query sees all lists that were answered. */
  before(query: string): Promise<unknown>;
  /**
   * Must be called first. Locks, checks and opens the file; throws `StoreInUse`, `StoreMissing`, or an error that describes the problem. Or
   * joins a writing thread that has opened it.
   */
  open(how: Opening | Joining): Promise<void>;
  pressure(): { readonly waiting: number; readonly oldestMs: number };
  /** Permanently rejects waiting and new lists. */
  end(error: StoreUnavailable): void;
  /** Rejects new lists, and resolves when waiting ones are answered. */
  drain(): Promise<void>;
  /** Ends the thread, or disconnects from it. */
  close(): Promise<void>;
}

/** The script of the thread. */
export const WRITER = new URL('./writer.ts', import.meta.url);
/** The interval of write probes after a failure. */
const PROBE_MS = 500;
/** Free bytes that a probe requires: one page may still fit, but the next batch of lists would fail again. */
const PROBE_ROOM = 512 * 1_024;

const REFUSALS: Readonly<Record<Refusal, new (message: string) => Error>> = {
  'in use': StoreInUse,
  missing: StoreMissing,
  other: Error,
};

/** A writing thread in this process. */
export const ownThread: Connect = (events) => startThread(WRITER, events);

/** Connects to a writing thread: a new one, or that of another process. */
export type Connect = (events: ThreadEvents<FromWriter>) => Thread<ToWriter>;

/** How to use the connection. */
export interface WritesOptions {
  readonly connect: Connect;
  readonly log: Log;
  /** Called with the reason if writing has become impossible permanently. */
  lost(error: StoreUnavailable): void;
  /** Free bytes on the disk of the file. */
  room(): Promise<StoreRoom | undefined>;
  /** Called for each joined process that disconnected, after everything it sent has run. */
  left?(name: string): void;
}

/** Connects. After a failure, lists are refused at once until a probe succeeds. */
export function startWrites({ connect, log, lost, room, left }: WritesOptions): Writes {
  const lists = createLists((batch) => thread.post(batch));
  let opening: { resolve(): void; reject(error: Error): void } | undefined;
  let closed = false;
  let isBehind = false;
  /** Why lists are currently refused. */
  let refusal: StoreUnavailable | undefined;
  /** New lists are rejected. */
  let isOver = false;

  function failed(reason: string, lasting: boolean): void {
    const error = new StoreUnavailable(`the store cannot be written: ${reason}`);
    if (lasting) lost(error);
    else if (refusal === undefined) {
      log.error('the store cannot be written', { reason });
      probeLater();
    }
    refusal = error;
    lists.failed(error);
  }

  function probeLater(): void {
    setTimeout(probe, PROBE_MS).unref();
  }

  async function probe(): Promise<void> {
    if (isOver) return;
    const { free } = (await room()) ?? { free: Infinity };
    const isWritten = free >= PROBE_ROOM && (await lists.run({ sql: REWRITE_MARK }).then(() => true, isFalse));
    if (!isWritten) return probeLater();
    log.info('the store can be written again');
    refusal = undefined;
  }

  const thread = connect({
    message(from) {
      switch (from.kind) {
        case 'ran':
          lists.answer(from.answers);
          break;
        case 'done':
          lists.answer(from.answers);
          isBehind = from.behind;
          lists.done();
          break;
        case 'again':
          lists.again();
          break;
        case 'failed':
          failed(from.reason, from.lasting);
          break;
        case 'open':
          opening?.resolve();
          break;
        case 'refused':
          closed = true;
          opening?.reject(new REFUSALS[from.why](from.message));
          break;
        case 'unadded':
          log.error('amounts could not be added to their row: run `turnpike reconcile`', {
            statement: from.text,
            reason: from.reason,
          });
          break;
        case 'left':
          left?.(from.name);
      }
    },
    ended(error) {
      if (closed) return;
      const reason = new StoreUnavailable(`the writing thread ended: ${error?.message ?? 'unexpectedly'}`);
      opening?.reject(reason);
      lost(reason);
    },
  });

  return {
    open: (how) =>
      new Promise((resolve, reject) => {
        opening = { resolve, reject };
        thread.post(how);
      }),
    isBehind: () => isBehind,
    isHarmless: lists.isHarmless,
    before: (query) => (refusal === undefined ? lists.before(query) : Promise.reject(refusal)),
    run: (sql, ...params) => (refusal === undefined ? lists.run({ sql, params }) : Promise.reject(refusal)),
    atomic: (steps, when = 'durable') =>
      refusal === undefined ? lists.atomic(steps, when === 'durable') : Promise.reject(refusal),
    pressure: () => (refusal === undefined ? lists.pressure() : { ...lists.pressure(), oldestMs: Infinity }),
    end(error) {
      isOver = true;
      lists.end(error);
    },
    drain() {
      isOver = true;
      return lists.drain();
    },
    close() {
      closed = true;
      thread.post('close');
      return thread.ended;
    },
  };
}

const isFalse = (): boolean => false;
