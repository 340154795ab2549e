/** The files of an open database, and whether all of them are still where they were. */
import { type Stats, statSync } from 'node:fs';
import type Database from 'better-sqlite3';

/** What an open database is kept in. */
export interface Files {
  /** What has become of one of them: `/data/turnpike.db-wal was removed while in use`. Undefined if all are there. */
  loss(): string | undefined;
}

/**
 * The files of a database that was opened just now. SQLite writes on into a file that has lost its name, and nobody could read it
 * again: not the database, and not its write-ahead log, which holds what was written last.
 */
export function filesOf(file: string, db: Database.Database): Files {
  const files = [file, `${file}-wal`, `${file}-shm`].map((name) => ({ name, mine: look(name) }));
  let found: string | undefined;

  function look(name: string): Stats | undefined {
    return statSync(name, { throwIfNoEntry: false });
  }

  /** The log is still open here: what it holds is written to the database, for as long as no other log has come in its place. */
  function fold(): string {
    try {
      db.pragma('wal_checkpoint(PASSIVE)');
      return '; what it held is in the database now';
    } catch {
      return '';
    }
  }

  return {
    loss() {
      if (found !== undefined) return found;
      for (const [i, { name, mine }] of files.entries()) {
        const now = look(name);
        if (mine === undefined || (now?.ino === mine.ino && now.dev === mine.dev)) continue;
        found = `${name} was ${now ? 'replaced' : 'removed'} while in use`;
        if (i > 0 && now === undefined) found += fold();
        break;
      }
      return found;
    },
  };
}
