/** Opens a database file with the settings that a ledger needs; verifies each setting, and refuses files of other programs. */
import { closeSync, fsyncSync, openSync } from 'node:fs';
import type BetterSqlite3 from 'better-sqlite3';
import { Database } from './binding.ts';

/** Marks a file as Turnpike's (`PRAGMA application_id`): the ASCII codes of `Turn`. */
const APPLICATION_ID = 0x5475726e;

/** Rewrites the current value: this writes one page, which shows whether the file is writable. */
export const REWRITE_MARK = `PRAGMA application_id = ${APPLICATION_ID}`;

/** Pragma, value, expected result. `mmap_size` is not set: with it, a disk error would crash the process. */
const SETTINGS: readonly (readonly [string, string, string | bigint])[] = [
  ['busy_timeout', '2000', 2000n],
  ['trusted_schema', 'OFF', 0n],
  ['temp_store', 'MEMORY', 2n],
  ['mmap_size', '0', 0n],
];
/** Kibibytes of pages that a connection keeps in memory: what a gateway uses all the time, or what one statement of a command needs. */
const CACHE_KIB = { gateway: 64_000, command: 4_000 };

function cacheOf(isBrief: boolean): (typeof SETTINGS)[number] {
  const size = -(isBrief ? CACHE_KIB.command : CACHE_KIB.gateway);
  return ['cache_size', `${size}`, BigInt(size)];
}

/** With WAL, `synchronous` falls back to NORMAL in this build, so it is set afterwards. */
const WRITER_SETTINGS: typeof SETTINGS = [
  ['journal_mode', 'WAL', 'wal'],
  ['synchronous', 'FULL', 2n],
  ['foreign_keys', 'ON', 1n],
  // A checkpoint during a commit would delay the answers of its lists: it runs after them, see batch.ts.
  ['wal_autocheckpoint', '0', 0n],
  ['journal_size_limit', '67108864', 67_108_864n],
];
const READER_SETTINGS: typeof SETTINGS = [['query_only', 'ON', 1n]];

/** Opens the connection that writes; creates the file if there is none. `isBrief`: for one command. Throws an error that says what the operator must do. */
export function openWriter(file: string, isBrief = false): BetterSqlite3.Database {
  createPrivate(file);
  return opened(file, () => {
    const db = new Database(file, { timeout: 2000 });
    return closedOnThrow(db, () => {
      assertVersion(db);
      assertOurs(db, file);
      set(db, [...SETTINGS, cacheOf(isBrief), ...WRITER_SETTINGS]);
      if (db.pragma('application_id', { simple: true }) !== BigInt(APPLICATION_ID)) {
        db.exec(REWRITE_MARK);
      }
      // Fails now, and not at the first call, if the file or its folder is read-only.
      db.exec('BEGIN IMMEDIATE; ROLLBACK');
      assertSound(db, 'quick_check');
    });
  });
}

/** Opens a read-only connection. */
export function openReader(file: string, isBrief = false): BetterSqlite3.Database {
  const db = new Database(file, { readonly: true, fileMustExist: true, timeout: 2000 });
  return closedOnThrow(db, () => set(db, [...SETTINGS, cacheOf(isBrief), ...READER_SETTINGS]));
}

/** Throws unless the file is a complete and undamaged Turnpike database. */
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
      if (first) throw new Damage(`${dangling.length} rows refer to missing rows, the first in ${first.table}`);
    });
  }).close();
}

/** Creates an empty file that only its owner may read; leaves an existing file unchanged. */
export function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    // Opening and closing an existing file here would drop the locks that this process holds on it.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

/** Syncs the bytes of a file, or the names in a folder, to disk. */
export function sync(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

class Damage extends Error {}

/** The error for a damaged file, with what to do about it. */
function opened(file: string, open: () => BetterSqlite3.Database): BetterSqlite3.Database {
  try {
    return open();
  } catch (error) {
    if (error instanceof Damage || (error instanceof Database.SqliteError && /CORRUPT|NOTADB/.test(error.code))) {
      throw new Error(`${file} is damaged, or is not a database (${error.message}): restore it from a backup`);
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

/** Defines `sha256_hex(text)` and `utf8_bytes(text)`, which statements may use with every store. */
function sha256Hex(text: unknown): string | null {
  if (text === null) return null;
  if (typeof text !== 'string') throw new TypeError('sha256_hex takes text');
  // Few statements need it, and loading it takes a third of a thread's start time.
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

/** SQLite before 3.51.3 can damage a WAL database if two connections checkpoint. */
function assertVersion(db: BetterSqlite3.Database): void {
  const version = db.prepare('SELECT sqlite_version()').pluck().get() as string;
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  if (major * 1e6 + minor * 1e3 + patch < 3_051_003) throw new Error(`SQLite ${version} is too old: 3.51.3 is needed`);
}

/** A file is accepted if it has our mark, or if it is empty. */
function assertOurs(db: BetterSqlite3.Database, file: string): void {
  if (db.pragma('application_id', { simple: true }) === BigInt(APPLICATION_ID)) return;
  if (db.prepare('SELECT 1 FROM sqlite_schema').get() === undefined) return;
  throw new Error(`${file} is a database of another program: name another file, or restore this one from a backup`);
}

function assertSound(db: BetterSqlite3.Database, check: 'quick_check' | 'integrity_check'): void {
  const result = db.pragma(check, { simple: true });
  if (result !== 'ok') throw new Damage(String(result));
}
