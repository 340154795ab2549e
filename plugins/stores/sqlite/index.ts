/** The embedded store: one SQLite file, one thread that writes it, others that read it. */
import { resolve } from 'node:path';
import type { OpenStore, Reader, StoreDriver, StoreOpening } from '../../../core/plugin.ts';
import { StoreUnavailable } from '../../../core/plugin.ts';
import { describeTables } from './describe.ts';
import type { Reads } from './reads.ts';
import { startReads } from './reads.ts';
import { restore } from './restore.ts';
import { roomOf } from './room.ts';
import { startWrites } from './writes.ts';

/** A store that is a file: it can be copied, and put back. */
interface FileDriver extends StoreDriver {
  open(options: StoreOpening): Promise<FileStore>;
  restore: NonNullable<StoreDriver['restore']>;
}
interface FileStore extends OpenStore {
  backup: NonNullable<OpenStore['backup']>;
}

const driver: FileDriver = {
  async open({ file: name, log, mustExist = false }) {
    const file = resolve(name);
    // Both threads start while the file is still being checked.
    const writes = startWrites(log, lost, () => roomOf(file));
    const reads = startReads(lost);
    /** Snapshots and backups under way. */
    const running = new Set<Promise<unknown>>();
    let ended: StoreUnavailable | undefined;
    let closing: Promise<void> | undefined;

    /** Neither writes nor reads any more: nobody knows what they would be worth. */
    function lost(error: StoreUnavailable): void {
      if (!ended) log.error('the store is unavailable until it is opened again', { file, reason: error.message });
      ended ??= error;
      writes.end(error);
      reads.end(error);
    }

    /** In a thread of its own, so that a long read keeps nobody waiting. */
    function apart<T>(snapshot: boolean, use: (own: Reads) => Promise<T>): Promise<T> {
      if (ended) return Promise.reject(ended);
      const own = startReads();
      const done = own
        .open(file, snapshot)
        .then(() => use(own))
        .finally(() => own.close())
        .finally(() => running.delete(done));
      running.add(done);
      return done;
    }

    async function close(): Promise<void> {
      ended ??= new StoreUnavailable('the store is closed');
      await writes.drain();
      await Promise.allSettled(running);
      // The writer goes last: whoever leaves last folds the log into the file.
      await reads.close();
      await writes.close();
    }

    const store: FileStore = {
      run: writes.run,
      atomic: writes.atomic,
      one: reads.one,
      all: reads.all,
      snapshot: <T>(read: (reader: Reader) => Promise<T>) => apart(true, read),
      tables: () => describeTables(reads),
      backup: (to) => apart(false, (own) => own.backup(resolve(to))),
      room: () => roomOf(file),
      pressure: () => (ended ? { waiting: 0, oldestMs: Infinity } : writes.pressure()),
      close() {
        closing ??= close();
        return closing;
      },
    };
    try {
      await writes.open(file, mustExist);
      await reads.open(file, false);
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  },
  restore,
};

export default driver;
