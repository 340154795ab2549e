/** The writing thread as the rest of the gateway sees it. */
import type { Log, Store } from '../../../core/plugin.ts';
import { StoreInUse, StoreUnavailable } from '../../../core/plugin.ts';
import { createLists } from './lists.ts';
import { startThread } from './thread.ts';
import type { FromWriter, ToWriter } from './wire.ts';

export interface Writes extends Pick<Store, 'run' | 'atomic'> {
  /** Locks, checks and opens the file; asked first. Throws `StoreInUse`, or says what is wrong with the file. */
  open(file: string): Promise<void>;
  pressure(): { readonly waiting: number; readonly oldestMs: number };
  /** Rejects all that wait and all that come, for good. */
  end(error: StoreUnavailable): void;
  /** Takes no more lists and resolves when those that wait are answered. */
  drain(): Promise<void>;
  /** Ends the thread. */
  close(): Promise<void>;
}

/** How long after a failure the store is not called ready. */
const CALM_MS = 5_000;

/** Starts the thread; `lost` hears why nothing can be written any more, for good. */
export function startWrites(log: Log, lost: (error: StoreUnavailable) => void): Writes {
  const lists = createLists((parcel) => thread.post(parcel));
  let opening: { resolve(): void; reject(error: Error): void } | undefined;
  let closed = false;
  let failing = false;
  let failedMs = -Infinity;

  function failed(numbers: readonly number[], reason: string, lasting: boolean): void {
    const error = new StoreUnavailable(`the store cannot be written: ${reason}`);
    lists.reject(numbers, error);
    if (lasting) lost(error);
    else if (!failing) log.error('the store cannot be written', { reason });
    failing = true;
    failedMs = performance.now();
  }

  /** A commit that goes well between two that fail is no recovery. */
  const isCalm = (): boolean => performance.now() - failedMs > CALM_MS;

  const thread = startThread<ToWriter, FromWriter>(new URL('./writer.ts', import.meta.url), {
    message(from) {
      switch (from.kind) {
        case 'ran':
          lists.answer(from.answers);
          break;
        case 'durable':
          if (failing && isCalm()) {
            log.info('the store can be written again');
            failing = false;
          }
          lists.answer(from.answers);
          break;
        case 'failed':
          failed(from.lists, from.reason, from.lasting);
          break;
        case 'open':
          opening?.resolve();
          break;
        case 'refused':
          closed = true;
          opening?.reject(from.inUse ? new StoreInUse(from.message) : new Error(from.message));
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
    open: (file) =>
      new Promise((resolve, reject) => {
        opening = { resolve, reject };
        thread.post({ open: file });
      }),
    run: (sql, ...params) => lists.run({ sql, params }),
    atomic: (steps, when = 'durable') => lists.atomic(steps, when === 'durable'),
    pressure: () => (isCalm() ? lists.pressure() : { ...lists.pressure(), oldestMs: Infinity }),
    end: lists.end,
    drain: lists.drain,
    close() {
      closed = true;
      thread.post('close');
      return thread.ended;
    },
  };
}
