/** Watches the files of an open database: are all of them still in their place? */
import { type Stats, statSync } from 'node:fs';
import type Database from 'better-sqlite3';

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
    /** What happened to one of them: `/data/turnpike.db-wal was removed while in use`. Undefined if all are in their place. */
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
