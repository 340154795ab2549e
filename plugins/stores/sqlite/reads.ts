/** The main thread's side of a reading thread: sends queries and receives their results. */
import { type Reader, StoreUnavailable, type Value } from '../../../core/plugin.ts';
import { checkedValue, startThread } from '../../../core/sdk.ts';
import { type FromReader, isStorageError, type Question, type ToReader } from './wire.ts';

export interface Reads extends Reader {
  /** Opens the file; must be called first. With `snapshot`, all reads see the same moment. `isBrief`: for one command. */
  open(file: string, snapshot: boolean, isBrief: boolean): Promise<void>;
  /** Copies the database to a file that does not exist yet. */
  backup(file: string): Promise<void>;
  /** Permanently rejects waiting and new queries. */
  end(error: StoreUnavailable): void;
  /** Waits for running queries, then ends the thread. */
  close(): Promise<void>;
}

/** The script of the thread. */
export const READER = new URL('./reader.ts', import.meta.url);

/** Starts a thread; `died` is called if it ends unexpectedly. */
export function startReads(died: (error: StoreUnavailable) => void = () => {}): Reads {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let next = 0;
  let ended: StoreUnavailable | undefined;

  function end(error: StoreUnavailable): void {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  const thread = startThread<ToReader, FromReader>(READER, {
    message({ number, value, error }) {
      const question = waiting.get(number);
      waiting.delete(number);
      if (error === undefined) question?.resolve(value);
      else if (isStorageError(error.code)) question?.reject(new StoreUnavailable(`${error.message} (${error.code})`));
      else question?.reject(Object.assign(new Error(error.message), { code: error.code }));
    },
    ended(error) {
      if (ended === undefined) died(new StoreUnavailable(`the reading thread ended: ${error?.message ?? 'by itself'}`));
      end(new StoreUnavailable('the reading thread has ended'));
    },
  });

  function ask(question: Question): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (ended) throw ended;
      thread.post({ number: next, question });
      waiting.set(next++, { resolve, reject });
    });
  }

  return {
    async open(file, snapshot, isBrief) {
      await ask({ kind: 'open', file, snapshot, isBrief });
    },
    one: async <T>(sql: string, ...params: Value[]) =>
      (await ask({ kind: 'one', sql, params: params.map(checkedValue) })) as T | undefined,
    all: async <T>(sql: string, ...params: Value[]) =>
      (await ask({ kind: 'all', sql, params: params.map(checkedValue) })) as T[],
    async backup(file) {
      await ask({ kind: 'backup', file });
    },
    end,
    close() {
      ended ??= new StoreUnavailable('the store is closed');
      thread.post('close');
      return thread.ended;
    },
  };
}
