/** A reading thread as the rest of the gateway sees it: questions and their answers. */
import type { Reader, Value } from '../../../core/plugin.ts';
import { StoreUnavailable } from '../../../core/plugin.ts';
import { checkedValue, startThread } from '../../../core/sdk.ts';
import type { FromReader, Question, ToReader } from './wire.ts';
import { isStorageError } from './wire.ts';

export interface Reads extends Reader {
  /** Opens the file; asked first. With `snapshot`, everything read later is of this moment. */
  open(file: string, snapshot: boolean): Promise<void>;
  /** Copies the database to a file that does not exist. */
  backup(file: string): Promise<void>;
  /** Rejects all that wait and all that come, for good. */
  end(error: StoreUnavailable): void;
  /** Lets what waits be answered, then ends the thread. */
  close(): Promise<void>;
}

/** What the thread runs. */
export const READER = new URL('./reader.ts', import.meta.url);

/** Starts a thread; `died` hears of an end nobody asked for. */
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
    async open(file, snapshot) {
      await ask({ kind: 'open', file, snapshot });
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
