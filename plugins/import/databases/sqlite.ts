/** Reads a SQLite file, which may be in use. */
import { constants, existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type BetterSqlite3 from 'better-sqlite3';
import type { Database } from '../databases.ts';
import type { Row } from '../values.ts';
import { bytesText, databaseOf } from './tables.ts';

/** How long a file that another program has locked is waited for, and the pause between two tries. */
const LOCKED_MS = 10_000;
const AGAIN_MS = 100;

/** The file may have been made by an attacker: a view or a virtual table could compute without end, and with it the gateway that imports. */
const IS_TABLE = "type = 'table' AND rootpage > 0";

/** One release of better-sqlite3 needs Node 22; the last one for Node 20 aborts from Node 24.19 on. */
function sqlite(): typeof BetterSqlite3 {
  const isOld = Number(process.versions.node.split('.')[0]) < 22;
  return createRequire(import.meta.url)(isOld ? 'better-sqlite3' : 'better-sqlite3-13') as typeof BetterSqlite3;
}

/** Kilobytes of a temporary file that are kept in memory. */
const CACHED_KB = 4_000;

/** A file of this process for what does not fit in memory: it has no name, and is removed when it is closed, even if this process is killed. */
export function openTemporary(): BetterSqlite3.Database {
  const Sqlite = sqlite();
  const db = new Sqlite('');
  // Nothing of it is needed after a crash.
  db.exec(`PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${CACHED_KB}`);
  return db;
}

/** The tables of a file, in one snapshot. */
export async function openSqlite(file: string): Promise<Database> {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  const Sqlite = sqlite();
  // Without a timeout of its own, which would block this process: it may serve calls.
  let db = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: 0 });
  try {
    db.pragma('trusted_schema = OFF');
    await patiently(() => {
      if (!db.inTransaction) db.exec('BEGIN');
      // The snapshot begins with the first read. A file that is no database fails here.
      db.prepare('SELECT COUNT(*) FROM sqlite_master').get();
    });
    if (db.pragma('journal_mode', { simple: true }) !== 'wal') db = (await copied(file, db, Sqlite)) ?? db;
  } catch (error) {
    db.close();
    throw new Error(reasonOf(file, error as Error & { readonly code?: string }));
  }
  const isTable = db.prepare(`SELECT 1 FROM sqlite_master WHERE ${IS_TABLE} AND name = ?`);
  const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  return databaseOf({
    quote,
    tables: async () =>
      db
        .prepare(
          `SELECT name FROM sqlite_master WHERE ${IS_TABLE} AND name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY name`,
        )
        .pluck()
        .all() as string[],
    count: async (table) =>
      db
        .prepare(`SELECT COUNT(*) FROM ${quote(table)}`)
        .pluck()
        .get() as number,
    async columns(table) {
      if (isTable.get(table) === undefined) return { all: [], key: [] };
      const rows = db.prepare('SELECT name, pk FROM pragma_table_info(?) ORDER BY cid').all(table) as {
        readonly name: string;
        readonly pk: number;
      }[];
      const key = rows.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
      return { all: rows.map(({ name }) => name), key: key.map(({ name }) => name) };
    },
    select: async (table, columns, tail, values) =>
      (
        db
          .prepare(`SELECT ${columns} FROM ${quote(table)} ${tail}`)
          .safeIntegers()
          .all(values) as Record<string, unknown>[]
      ).map(rowOf),
    close: async () => void db.close(),
  });
}

/**
 * A copy of the file, opened, and `db` closed. Without a write-ahead log, no program can write while another one reads, and the other gateway would lose
 * what it charges while a large import runs: it waits for a lock for 3 to 30 seconds. Undefined if there is no room for a copy,
 * or if an open file cannot be removed.
 */
async function copied(
  file: string,
  db: BetterSqlite3.Database,
  Sqlite: typeof BetterSqlite3,
): Promise<BetterSqlite3.Database | undefined> {
  if (process.platform === 'win32') return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-import-'));
  const copy = join(folder, 'copy.db');
  try {
    // The read transaction of `db` keeps writers out until it is complete.
    await copyFile(file, copy, constants.COPYFILE_FICLONE);
    const own = new Sqlite(copy, { readonly: true, fileMustExist: true });
    own.exec('BEGIN');
    own.prepare('SELECT COUNT(*) FROM sqlite_master').get();
    db.close();
    return own;
  } catch {
    return undefined;
  } finally {
    // It has secrets. An open file stays until it is closed, even if this process is killed.
    await rm(folder, { recursive: true, force: true });
  }
}

/** The values of a row, changed in place: there may be a million of them. */
function rowOf(row: Record<string, unknown>): Row {
  for (const column in row) {
    const value = row[column];
    if (typeof value === 'bigint')
      row[column] = BigInt(Number(value)) === value && isSafe(value) ? Number(value) : `${value}`;
    else if (value instanceof Uint8Array) row[column] = bytesText(value);
  }
  return row;
}

const isSafe = (value: bigint): boolean => Number.isSafeInteger(Number(value));

/** Tries again as long as the file is locked. */
async function patiently(work: () => void): Promise<void> {
  for (let left = LOCKED_MS / AGAIN_MS; ; left--) {
    try {
      return work();
    } catch (error) {
      if (!isLocked(error as { readonly code?: string }) || left === 0) throw error;
      await wait(AGAIN_MS);
    }
  }
}

const isLocked = ({ code }: { readonly code?: string }): boolean => /^SQLITE_(BUSY|LOCKED)/.test(code ?? '');

/** Why a file cannot be read, and what to do. */
function reasonOf(file: string, error: Error & { readonly code?: string }): string {
  if (isLocked(error))
    return `${file} has been locked by another program for ${LOCKED_MS / 1_000} s: try again, or stop that program and import a copy`;
  if (error.code?.startsWith('SQLITE_CANTOPEN'))
    return `${file} cannot be opened: its folder must be writable for this user, because its last changes are in a second file (-wal); copy both into such a folder`;
  return `${file} is not a SQLite database that can be read: ${error.message}`;
}
