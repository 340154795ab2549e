/** Opens a database file the way a ledger needs it: every setting made and then asked for, a file that is not ours refused. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import type BetterSqlite3 from 'better-sqlite3';
import { Database } from './binding.ts';

/** Marks a file as Turnpike's (`PRAGMA application_id`): the letters `Turn`. */
const APPLICATION_ID = 0x5475726e;

/** Writes what the file says already: one page, which tells whether it can be written. */
export const REWRITE_MARK = `PRAGMA application_id = ${APPLICATION_ID}`;

/** Setting, what it is set to, what it must then read. There is no `mmap_size`: a failing disk would be a crash. */
const SETTINGS: readonly (readonly [string, string, string | bigint])[] = [
  ['busy_timeout', '2000', 2000n],
  ['trusted_schema', 'OFF', 0n],
  ['cache_size', '-64000', -64000n],
  ['temp_store', 'MEMORY', 2n],
  ['mmap_size', '0', 0n],
];
/** `synchronous` falls back to NORMAL with WAL in this build, so it comes behind it. */
const WRITER_SETTINGS: typeof SETTINGS = [
  ['journal_mode', 'WAL', 'wal'],
  ['synchronous', 'FULL', 2n],
  ['foreign_keys', 'ON', 1n],
  // A commit that folds the log into the database would keep the answers of its lists waiting: that is done behind them, see batch.ts.
  ['wal_autocheckpoint', '0', 0n],
  ['journal_size_limit', '67108864', 67_108_864n],
];
const READER_SETTINGS: typeof SETTINGS = [['query_only', 'ON', 1n]];

/** The one connection that writes. The file is made where there is none. Throws with a sentence that says what to do. */
export function openWriter(file: string): BetterSqlite3.Database {
  createPrivate(file);
  return opened(file, () => {
    const db = new Database(file, { timeout: 2000 });
    return closedOnThrow(db, () => {
      assertVersion(db);
      assertOurs(db, file);
      set(db, [...SETTINGS, ...WRITER_SETTINGS]);
      if (db.pragma('application_id', { simple: true }) !== BigInt(APPLICATION_ID)) {
        db.exec(REWRITE_MARK);
      }
      // Fails now, not at the first call, where the file or its directory may only be read.
      db.exec('BEGIN IMMEDIATE; ROLLBACK');
      assertSound(db, 'quick_check');
    });
  });
}

/** A connection that can only read. */
export function openReader(file: string): BetterSqlite3.Database {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 2000 });
  return closedOnThrow(db, () => set(db, [...SETTINGS, ...READER_SETTINGS]));
}

/** Throws, saying what is wrong, unless the file is a whole and sound database of Turnpike. */
export function verify(file: string): void {
  opened(file, () => {
    const db = new Database(file, { fileMustExist: true });
    return closedOnThrow(db, () => {
      assertOurs(db, file);
      const owned = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration'").get();
      if (owned === undefined) throw new Error(`${file} is not a database of Turnpike: it has no table "migration"`);
      assertSound(db, 'integrity_check');
      const dangling = db.pragma('foreign_key_check') as { readonly table: string }[];
      const first = dangling[0];
      if (first)
        throw new Damage(`${dangling.length} rows refer to rows that are not there, the first in ${first.table}`);
    });
  }).close();
}

/** Makes an empty file only its owner may read; leaves an existing one alone. */
export function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // Opening an existing file here, and closing it, would drop the locks this process holds on it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Makes the bytes of a file, or the names in a directory, survive a loss of power. */
export function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

class Damage extends Error {}

/** Says of a damaged file what to do about it. */
function opened(file: string, open: () => BetterSqlite3.Database): BetterSqlite3.Database {
  try {
    return open();
  } catch (error) {
    if (error instanceof Damage || (error instanceof Database.SqliteError && /CORRUPT|NOTADB/.test(error.code))) {
      throw new Error(`${file} is damaged or no database (${error.message}): restore it from a backup`);
    }
    if (error instanceof Database.SqliteError && /READONLY|PERM|CANTOPEN/.test(error.code)) {
      throw new Error(`${file} cannot be written (${error.message}): check who owns it and its directory`);
    }
    throw error;
  }
}

function closedOnThrow(db: BetterSqlite3.Database, use: () => void): BetterSqlite3.Database {
  try {
    db.defaultSafeIntegers(true);
    db.function('sha256_hex', { deterministic: true, directOnly: true }, sha256Hex);
    db.function('utf8_bytes', { deterministic: true, directOnly: true }, utf8Bytes);
    use();
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

let crypto: typeof import('node:crypto') | undefined;

/** `sha256_hex(text)`, which statements may use beyond what every database has; and `utf8_bytes(text)`. */
function sha256Hex(text: unknown): string | null {
  if (text === null) return null;
  if (typeof text !== 'string') throw new TypeError('sha256_hex takes text');
  // Asked for by few statements; loading it takes a thread a third of its start.
  crypto ??= process.getBuiltinModule('node:crypto');
  return crypto.createHash('sha256').update(text, 'utf8').digest('hex');
}

function utf8Bytes(text: unknown): Buffer | null {
  if (text === null) return null;
  if (typeof text !== 'string') throw new TypeError('utf8_bytes takes text');
  return Buffer.from(text);
}

function set(db: BetterSqlite3.Database, settings: typeof SETTINGS): void {
  for (const [name, value, expected] of settings) {
    db.pragma(`${name} = ${value}`);
    const actual = db.pragma(name, { simple: true });
    if (actual !== expected) throw new Error(`the database refused ${name} = ${value}: it is ${actual}`);
  }
}

/** SQLite before 3.51.3 could damage a WAL database that two connections checkpoint. */
function assertVersion(db: BetterSqlite3.Database): void {
  const version = db.prepare('SELECT sqlite_version()').pluck().get() as string;
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major * 1e6 + minor * 1e3 + patch < 3_051_003) throw new Error(`SQLite ${version} is too old: 3.51.3 is needed`);
}

/** A file is ours when it says so, or when there is nothing in it yet. */
function assertOurs(db: BetterSqlite3.Database, file: string): void {
  if (db.pragma('application_id', { simple: true }) === BigInt(APPLICATION_ID)) return;
  if (db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return;
  throw new Error(`${file} is a database of another program: name another file, or restore this one from a backup`);
}

function assertSound(db: BetterSqlite3.Database, check: 'quick_check' | 'integrity_check'): void {
  const found = db.pragma(check, { simple: true });
  if (found !== 'ok') throw new Damage(String(found));
}
