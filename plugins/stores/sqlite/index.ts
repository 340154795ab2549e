/** The embedded store: one SQLite file, one thread that writes, others that read, in this process or in processes that joined it. */
import { resolve } from 'node:path';
import type { Log, OpenStore, Reader, StoreDriver, StoreOpening } from '../../../core/plugin.ts';
import { StoreUnavailable } from '../../../core/plugin.ts';
import { startAhead } from '../../../core/sdk.ts';
import { describeTables } from './describe.ts';
import { threadBehind } from './joined.ts';
import type { Reads } from './reads.ts';
import { READER, startReads } from './reads.ts';
import { restore } from './restore.ts';
import { roomOf } from './room.ts';
import type { Joining, Opening } from './wire.ts';
import { type Connect, ownThread, startWrites, WRITER } from './writes.ts';

/** A store in a file: it can be backed up, restored, and used by several processes of one machine. */
interface FileDriver extends StoreDriver {
  open(options: StoreOpening): Promise<FileStore>;
  attach: NonNullable<StoreDriver['attach']>;
  restore: NonNullable<StoreDriver['restore']>;
}
interface FileStore extends OpenStore {
  backup: NonNullable<OpenStore['backup']>;
}

const driver: FileDriver = {
  prepare() {
    startAhead(WRITER);
    startAhead(READER);
  },
  open({ file: name, log, mustExist = false, shared }) {
    const file = resolve(name);
    const how = { open: file, mustExist, socket: shared?.socket };
    return openWith({ file, log, connect: ownThread, how, left: shared?.left });
  },
  attach: ({ file, socket, name, log }) =>
    openWith({ file: resolve(file), log, connect: threadBehind(socket), how: { join: name } }),
  restore,
};

interface Options {
  readonly file: string;
  readonly log: Log;
  /** Connects to the writing thread. */
  readonly connect: Connect;
  readonly how: Opening | Joining;
  readonly left?: ((name: string) => void) | undefined;
}

async function openWith({ file, log, connect, how, left = () => {} }: Options): Promise<FileStore> {
  // Both threads start while the file is still being checked.
  const writes = startWrites({ connect, log, lost, room: () => roomOf(file), left });
  const reads = startReads(lost);
  /** Running snapshots and backups. */
  const running = new Set<Promise<unknown>>();
  let ended: StoreUnavailable | undefined;
  let closing: Promise<void> | undefined;

  /** Neither reads nor writes any more: results could be wrong. */
  function lost(error: StoreUnavailable): void {
    if (!ended) log.error('the store is unavailable until it is opened again', { file, reason: error.message });
    ended ??= error;
    writes.end(error);
    reads.end(error);
  }

  /** Runs in its own thread, so that a long read delays no other. */
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
    // The writer closes last: the last connection checkpoints the log into the file.
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
    await writes.open(how);
    await reads.open(file, false);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

export default driver;
