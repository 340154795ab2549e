/** The writing thread: the only connection that writes, and the watch on its files. */
import { closeSync, mkdirSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type Database from 'better-sqlite3';
import { StoreInUse, StoreMissing } from '../../../core/plugin.ts';
import { createBatches, createSender, type Sender, type Sent } from './batch.ts';
import { openWriter } from './connection.ts';
import { lock } from './lock.ts';
import { type Sharing, share } from './sharing.ts';
import type { Batch, FromWriter, Joining, Opening, Refusal, ToWriter } from './wire.ts';

/** The wait for other processes as a share of the last commit's duration; a shared commit saves several times as much. */
const PATIENCE = 1 / 4;
/** Commits that are not longer than this are not delayed: timers have a resolution of whole milliseconds. */
const QUICK_MS = 2;

export interface Groups {
  take(sent: Sent): void;
  /** A group that never waits. */
  flush(): void;
}

/** Creates a group. `run` runs the collected batches as one transaction; `mono` is a monotonic clock. */
export function createGroups(
  run: (sent: readonly Sent[]) => void,
  mono: () => number = () => performance.now(),
): Groups {
  let waiting: Sent[] = [];
  /** The senders of the last commit, and its duration. */
  let last: ReadonlySet<Sender> = new Set();
  let lastMs = 0;
  let cancel = (): void => {};

  function flush(): void {
    cancel();
    const sent = waiting;
    waiting = [];
    if (sent.length === 0) return;
    const begunMs = mono();
    run(sent);
    last = new Set(sent.map(({ from }) => from));
    lastMs = mono() - begunMs;
  }

  return {
    take(sent) {
      waiting.push(sent);
      const senders = new Set(waiting.map(({ from }) => from));
      const isExpected = [...last].some((sender) => !senders.has(sender));
      const ms = isExpected && lastMs > QUICK_MS ? Math.ceil(lastMs * PATIENCE) : 0;
      if (ms === 0) {
        cancel();
        const immediate = setImmediate(flush);
        cancel = () => clearImmediate(immediate);
      } else if (waiting.length === 1) {
        const timeout = setTimeout(flush, ms);
        cancel = () => clearTimeout(timeout);
      }
    },
    flush,
  };
}

/** A write-ahead log shorter than its header is empty. */
const WAL_HEADER = 32;
/** Offsets in the index of the write-ahead log, 32-bit words in the machine's byte order (SQLite's `walformat`). */
const FRAMES = 16 / 4;
const FOLDED = 96 / 4;
const INDEX_HEADER = 100;

/**
 * Throws `StoreMissing` if opening `file` would silently lose data: its write-ahead log exists without it, or the other way round. With
 * `mustExist`, also if there is nothing at all.
 */
function assertPresent(file: string, mustExist: boolean): void {
  const log = `${file}-wal`;
  const size = sizeOf(file);
  const logSize = sizeOf(log);
  if (size !== undefined && size > 0) {
    if ((logSize ?? 0) >= WAL_HEADER || !hasUnfolded(`${file}-shm`)) return;
    throw new StoreMissing(
      `${log} ${absence(logSize)}, and ${file} is not complete without it: put it back. If it is lost, restore a backup, or remove ` +
        `${file}-shm to start without the last writes`,
    );
  }
  if ((logSize ?? 0) >= WAL_HEADER) {
    throw new StoreMissing(`${file} ${absence(size)}, but its write-ahead log ${log} is there`);
  }
  if (mustExist) throw new StoreMissing(`${file} ${absence(size)}`);
}

const absence = (size: number | undefined): string => (size === undefined ? 'does not exist' : 'is empty');

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

/** Whether the index of the write-ahead log names pages that are not in the database yet, as after a killed process. */
function hasUnfolded(index: string): boolean {
  if ((sizeOf(index) ?? 0) < INDEX_HEADER) return false;
  const header = new Uint32Array(INDEX_HEADER / 4);
  const handle = openSync(index, 'r');
  try {
    readSync(handle, header, 0, INDEX_HEADER, 0);
  } finally {
    closeSync(handle);
  }
  return header[FRAMES]! > header[FOLDED]!;
}

const WATCH_MS = 1_000;

const port = parentPort!;
const post = (message: FromWriter): void => port.postMessage(message);

/** Runs the batches of this process. */
let run: (batch: Batch) => void;
let close: () => void = () => port.close();

async function open({ open: file, mustExist, socket }: Opening): Promise<void> {
  assertPresent(file, mustExist);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unlock = lock(file);
  const own = createSender(post);
  let sharing: Sharing | undefined;
  let groups: Groups;
  try {
    const db = openWriter(file);
    const files = filesOf(file, db);
    const runAll = createBatches(db, files.loss);
    groups = createGroups(runAll);
    run = (batch) => {
      // Without other processes, it does not wait for more batches.
      if (socket === undefined) runAll([{ from: own, batch }]);
      else groups.take({ from: own, batch });
    };
    const unwatch = watch(files, (message) => {
      post(message);
      sharing?.tell(message);
    });
    close = () => {
      groups.flush();
      unwatch();
      sharing?.close();
      db.close();
      unlock();
      port.close();
    };
  } catch (error) {
    unlock();
    throw error;
  }
  if (socket === undefined) return;
  sharing = await share(socket, groups.take, (name) => {
    groups.flush();
    post({ kind: 'left', name });
  });
}

/** Without writes, a removed file would otherwise go unnoticed. */
function watch(files: Files, tell: (message: FromWriter) => void): () => void {
  const timer = setInterval(() => {
    const reason = files.loss();
    if (reason === undefined) return;
    clearInterval(timer);
    tell({ kind: 'failed', reason, lasting: true });
  }, WATCH_MS);
  return () => clearInterval(timer);
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof StoreInUse) return 'in use';
  return error instanceof StoreMissing ? 'missing' : 'other';
}

port.on('message', (message: Exclude<ToWriter, Joining>) => {
  if (message === 'close') return close();
  if (!('open' in message)) return run(message);
  open(message).then(
    () => post({ kind: 'open' }),
    (error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      post({ kind: 'refused', why: refusalOf(error), message: text });
      close();
    },
  );
});

/** The files of an open database. */
interface Files {
  /** The outcome of one of them: `/data/turnpike.db-wal was removed while in use`. Undefined if all are in their place. */
  loss(): string | undefined;
}

/**
 * The files of a database that was just opened. SQLite keeps writing to a file whose name was removed, and what it writes can never be read
 * again: neither the database, nor its write-ahead log, which has the latest writes.
 */
function filesOf(file: string, db: Database.Database): Files {
  const files = [file, `${file}-wal`, `${file}-shm`].map((name) => ({ name, mine: look(name) }));
  let change: string | undefined;

  function look(name: string): Stats | undefined {
    return statSync(name, { throwIfNoEntry: false });
  }

  /** The log is still open here: its content is written to the database unless another log has taken its place. */
  function fold(): string {
    try {
      db.pragma('wal_checkpoint(PASSIVE)');
      return '; its content is in the database now';
    } catch {
      return '';
    }
  }

  return {
    loss() {
      if (change !== undefined) return change;
      for (const [i, { name, mine }] of files.entries()) {
        const now = look(name);
        if (mine === undefined || (now?.ino === mine.ino && now.dev === mine.dev)) continue;
        change = `${name} was ${now ? 'replaced' : 'removed'} while in use`;
        if (i > 0 && now === undefined) change += fold();
        break;
      }
      return change;
    },
  };
}
