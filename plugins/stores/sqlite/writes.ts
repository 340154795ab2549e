/** The writing thread as the rest of the gateway sees it: of this process, or of the one that owns the store. */
import type { Log, Store, StoreRoom } from '../../../core/plugin.ts';
import { StoreInUse, StoreMissing, StoreUnavailable } from '../../../core/plugin.ts';
import { startThread, type Thread, type ThreadEvents } from '../../../core/sdk.ts';
import { REWRITE_MARK } from './connection.ts';
import { createLists } from './lists.ts';
import type { FromWriter, Joining, Opening, Refusal, ToWriter } from './wire.ts';

export interface Writes extends Pick<Store, 'run' | 'atomic'> {
  /**
   * Asked first. Locks, checks and opens the file; throws `StoreInUse`, `StoreMissing`, or says what is wrong with the file. Or joins a
   * thread that has opened it.
   */
  open(how: Opening | Joining): Promise<void>;
  pressure(): { readonly waiting: number; readonly oldestMs: number };
  /** Rejects all that wait and all that come, for good. */
  end(error: StoreUnavailable): void;
  /** Takes no more lists and resolves when those that wait are answered. */
  drain(): Promise<void>;
  /** Ends the thread, or leaves it. */
  close(): Promise<void>;
}

/** What the thread runs. */
export const WRITER = new URL('./writer.ts', import.meta.url);
/** After a failure, how often it is tried whether the store can be written again. */
const PROBE_MS = 500;
/** Free bytes that a probe wants on the disk: one page may still fit where the next batch of lists would fail again. */
const PROBE_ROOM = 512 * 1_024;

const REFUSALS: Readonly<Record<Refusal, new (message: string) => Error>> = {
  'in use': StoreInUse,
  missing: StoreMissing,
  other: Error,
};

/** A writing thread of this process. */
export const ownThread: Connect = (events) => startThread(WRITER, events);

/** Gets a line to a writing thread: a new one, or one that is there. */
export type Connect = (events: ThreadEvents<FromWriter>) => Thread<ToWriter>;

/** How a line to a writing thread is used. */
export interface WritesOptions {
  readonly connect: Connect;
  readonly log: Log;
  /** Hears why nothing can be written any more, for good. */
  lost(error: StoreUnavailable): void;
  /** That on the disk of the file. */
  room(): Promise<StoreRoom | undefined>;
  /** Hears of each process that has gone, after everything that it had handed in was run. */
  left?(name: string): void;
}

/** Connects. From a failure on, lists are refused at once, until a probe has been written. */
export function startWrites({ connect, log, lost, room, left }: WritesOptions): Writes {
  const lists = createLists((batch) => thread.post(batch));
  let opening: { resolve(): void; reject(error: Error): void } | undefined;
  let closed = false;
  /** Why lists are refused for now. */
  let refusal: StoreUnavailable | undefined;
  /** No more lists are taken. */
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
        case 'left':
          left?.(from.name);
      }
    },
    ended(error) {
      if (closed) return;
      const reason = new StoreUnavailable(`the writing thread ended: ${error?.message ?? 'nobody asked it to'}`);
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
