/** Checks whether a database exists, whether the files beside it show that a part of it was lost, and whether all stay in their place. */
import { closeSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { StoreMissing } from '../../../core/plugin.ts';

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
export function assertPresent(file: string, mustExist: boolean): void {
  const log = `${file}-wal`;
  const size = sizeOf(file);
  const logSize = sizeOf(log);
  if (size !== undefined && size > 0) {
    if ((logSize ?? 0) >= WAL_HEADER || !hasUnfolded(`${file}-shm`)) return;
    throw new StoreMissing(
      `${log} ${absence(logSize)}, and ${file} is not complete without it: put it back. If it is lost, restore a backup, or remove ` +
        `${file}-shm to start without what was written last`,
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

/**
 * The files of a database that was just opened. SQLite keeps writing to a file whose name was removed, and what it writes can never be read
 * again: neither the database, nor its write-ahead log, which has the latest writes.
 */
export function filesOf(file: string, db: Database.Database) {
  const files = [file, `${file}-wal`, `${file}-shm`].map((name) => ({ name, mine: look(name) }));
  let change: string | undefined;

  function look(name: string): Stats | undefined {
    return statSync(name, { throwIfNoEntry: false });
  }

  /** The log is still open here: its content is written to the database unless another log has taken its place. */
  function fold(): string {
    try {
      db.pragma('wal_checkpoint(PASSIVE)');
      return '; what it held is in the database now';
    } catch {
      return '';
    }
  }

  return {
    /** The outcome for one of them: `/data/turnpike.db-wal was removed while in use`. Undefined if all are in their place. */
    loss(): string | undefined {
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

/** The files of an open database. */
export type Files = ReturnType<typeof filesOf>;
