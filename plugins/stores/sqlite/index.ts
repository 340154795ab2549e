/** The embedded store: one SQLite file, one thread that writes, others that read, in this process or in processes that joined it. */

import { stat, statfs } from 'node:fs/promises';
import { connect as connectTo } from 'node:net';
import { dirname, resolve } from 'node:path';
import {
  type Log,
  type OpenStore,
  type Reader,
  type StoreDriver,
  type StoreOpening,
  type StoreRoom,
  type StoreTable,
  StoreUnavailable,
  type Value,
} from '../../../core/plugin.ts';
import { startAhead } from '../../../core/sdk.ts';
import { frame, readFrames } from './frames.ts';
import { READER, type Reads, startReads } from './reads.ts';
import { restore } from './restore.ts';
import { type FromWriter, HOLD, type Joining, type Opening, RELEASE } from './wire.ts';
import { type Connect, ownThread, startWrites, WRITER } from './writes.ts';

const COLUMNS = `SELECT schema.name AS "table", info.name, info.type, info.pk
  FROM sqlite_schema AS schema JOIN pragma_table_info(schema.name) AS info
  WHERE schema.type = 'table' AND schema.name NOT LIKE 'sqlite!_%' ESCAPE '!' AND schema.name NOT LIKE 'store!_%' ESCAPE '!'
  ORDER BY schema.name, info.cid`;
const REFERENCES = `SELECT schema.name AS owner, key."from" AS "column", key."table", key."to"
  FROM sqlite_schema AS schema JOIN pragma_foreign_key_list(schema.name) AS key WHERE schema.type = 'table'`;

/** All tables, by name, except this driver's own. */
async function describeTables(read: Reader): Promise<readonly StoreTable[]> {
  const columns = await read.all<{ table: string; name: string; type: string; pk: number }>(COLUMNS);
  const references = await read.all<{ owner: string; column: string; table: string; to: string }>(REFERENCES);
  return [...new Set(columns.map(({ table }) => table))].map((table) => {
    const own = columns.filter((column) => column.table === table);
    const inKey = own.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    return {
      name: table,
      columns: own.map(({ name, type }) => ({ name, isInteger: type === 'INTEGER' })),
      key: inKey.map(({ name }) => name),
      references: references.filter(({ owner }) => owner === table),
    };
  });
}

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
  open({ file: name, log, mustExist = false, isBrief = false, shared }) {
    const file = resolve(name);
    const how = { open: file, mustExist, isBrief, socket: shared?.socket };
    const isShared = shared !== undefined;
    return openWith({ file, log, connect: ownThread, how, isShared, isBrief, left: shared?.left });
  },
  attach: ({ file, socket, name, log }) =>
    openWith({ file: resolve(file), log, connect: threadBehind(socket), how: { join: name }, isShared: true }),
  restore,
};

interface Options {
  readonly file: string;
  readonly log: Log;
  /** Connects to the writing thread. */
  readonly connect: Connect;
  readonly how: Opening | Joining;
  /** Other processes have it open, too. */
  readonly isShared: boolean;
  readonly isBrief?: boolean;
  readonly left?: ((name: string) => void) | undefined;
}

async function openWith({
  file,
  log,
  connect,
  how,
  isShared,
  isBrief = false,
  left = () => {},
}: Options): Promise<FileStore> {
  // Both threads start while the file is still being checked.
  const writes = startWrites({ connect, log, lost, room: () => roomOf(file), left });
  const reads = startReads(lost);
  /** Others write to a shared file, too. */
  const isBehind = isShared
    ? () => ended === undefined
    : (query: string) => writes.isBehind() && !writes.isHarmless(query);
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
  function apart<T>(snapshot: boolean, use: (own: Reads) => Promise<T>, began = (): void => {}): Promise<T> {
    if (ended) return Promise.reject(ended);
    const own = startReads();
    const done = own
      .open(file, snapshot, isBrief)
      .then(() => {
        began();
        return use(own);
      })
      .finally(() => own.close())
      .finally(() => running.delete(done));
    running.add(done);
    return done;
  }

  /** Makes reads see every list that was answered; if nothing can be written now, they see what is there. */
  async function upToDate(query: string): Promise<void> {
    await writes.before(query).catch(() => {});
  }

  /** Begins something that sees whole lists: until `began` is called, everything is added together with its list. */
  async function held<T>(begin: (began: () => void) => Promise<T>): Promise<T> {
    await upToDate(HOLD);
    let isHeld = true;
    const release = (): void => {
      if (isHeld) void upToDate(RELEASE);
      isHeld = false;
    };
    try {
      return await begin(release);
    } finally {
      release();
    }
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
    one: <T>(sql: string, ...params: readonly Value[]) =>
      isBehind(sql) ? upToDate(sql).then(() => reads.one<T>(sql, ...params)) : reads.one<T>(sql, ...params),
    all: <T>(sql: string, ...params: readonly Value[]) =>
      isBehind(sql) ? upToDate(sql).then(() => reads.all<T>(sql, ...params)) : reads.all<T>(sql, ...params),
    snapshot: <T>(read: (reader: Reader) => Promise<T>) => held((began) => apart(true, read, began)),
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
    await reads.open(file, false, isBrief);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

export default driver;

/** Undefined if it cannot be determined. */
async function roomOf(file: string): Promise<StoreRoom | undefined> {
  try {
    const [database, log, disk] = await Promise.all([stat(file), sizeOf(`${file}-wal`), statfs(dirname(file))]);
    return { file: database.size, log, free: disk.bavail * disk.bsize, disk: disk.blocks * disk.bsize };
  } catch {
    return undefined;
  }
}

/** 0 if there is none: the last connection checkpointed and removed it. */
function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Connects to the unix socket at `path`. The connection has the interface of a worker thread, which exits when it is closed. */
function threadBehind(path: string): Connect {
  return (events) => {
    const socket = connectTo(path);
    let failure: Error | undefined;
    let isClosing = false;
    socket.on(
      'data',
      readFrames((message) => events.message(message as FromWriter)),
    );
    socket.on('error', (error) => {
      failure = error;
    });
    return {
      post(message) {
        isClosing ||= message === 'close';
        if (message === 'close') socket.end();
        else socket.write(frame(message));
      },
      ended: new Promise((resolve) => {
        socket.on('close', () => {
          events.ended(failure ?? (isClosing ? undefined : new Error('its process closed the connection')));
          resolve();
        });
      }),
    };
  };
}
