/** Rows of a store, read from the outside while a gateway runs on it: of an SQLite file, or of a database that an address names. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type BetterSqlite3 from 'better-sqlite3';
import { createAdditions } from '../../../plugins/stores/sqlite/additions.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { binaries } from '../stand-ins/postgres.ts';

/** Columns by name; integers beyond 2^53 only where they are selected as text, bytes as `\\x` and hexadecimal digits. */
export type Row = Readonly<Record<string, string | number | null>>;

/** The rows of each query, all of one moment. The SQL is what both databases read. */
export function readRows(store: string, ...queries: readonly string[]): readonly (readonly Row[])[] {
  return isAddress(store) ? fromServer(store, queries) : fromFile(store, queries);
}

function fromFile(file: string, queries: readonly string[]): readonly (readonly Row[])[] {
  const db = upToDate(new Database(file, { readonly: true, fileMustExist: true }));
  try {
    return db.transaction(() => queries.map((sql) => db.prepare<[], Row>(sql).all().map(withoutBytes)))();
  } finally {
    db.close();
  }
}

/** What was added, and is durable, but not in its rows yet, is added in a copy: nothing but the driver may write to the file. */
function upToDate(db: BetterSqlite3.Database): BetterSqlite3.Database {
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'store_addition'").get() === undefined) return db;
  if (db.prepare('SELECT 1 FROM store_addition LIMIT 1').get() === undefined) return db;
  const bytes = db.serialize();
  db.close();
  // In memory there is no write-ahead log.
  bytes.fill(1, 18, 20);
  const copy = new Database(bytes);
  createAdditions(copy, (text, reason) => assert.fail(`${reason}: ${text}`));
  return copy;
}

function withoutBytes(row: Readonly<Record<string, unknown>>): Row {
  const plain = Object.entries(row).map(([name, value]) => [
    name,
    Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value,
  ]);
  return Object.fromEntries(plain);
}

function fromServer(url: string, queries: readonly string[]): readonly (readonly Row[])[] {
  const lines = [
    'BEGIN ISOLATION LEVEL REPEATABLE READ',
    ...queries.map((sql) => `SELECT COALESCE(json_agg(row_to_json(found)), '[]')::text FROM (${sql}) AS found`),
    'COMMIT',
  ];
  return psql(url, lines, ['--quiet'])
    .split('\n\n')
    .join('\n')
    .trim()
    .split(/\n(?=\[)/)
    .map((line) => JSON.parse(line) as Row[]);
}

/** Beside those that the drivers keep for themselves. */
const COLUMNS_IN_FILE = `SELECT tables.name AS "table", columns.name AS "column"
  FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
  WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite!_%' ESCAPE '!'
    AND tables.name NOT LIKE 'store!_%' ESCAPE '!'
  ORDER BY tables.name, columns.cid`;
const COLUMNS_ON_SERVER = `SELECT table_name AS "table", column_name AS "column"
  FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
  WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'store!_%' ESCAPE '!'
  ORDER BY table_name COLLATE "C", ordinal_position`;

/** The tables of the gateway in this store, with their columns. */
export function tableColumns(store: string): ReadonlyMap<string, readonly string[]> {
  const [rows = []] = readRows(store, isAddress(store) ? COLUMNS_ON_SERVER : COLUMNS_IN_FILE);
  const columns = new Map<string, string[]>();
  for (const { table, column } of rows) {
    const found = columns.get(String(table)) ?? [];
    columns.set(String(table), [...found, String(column)]);
  }
  return columns;
}

/** All that is in those tables, in an order that does not depend on the store. */
export function allRows(store: string): Readonly<Record<string, readonly string[]>> {
  const tables = [...tableColumns(store).keys()];
  const found = readRows(store, ...tables.map((table) => `SELECT * FROM "${table}"`));
  return Object.fromEntries(tables.map((table, i) => [table, found[i]!.map((row) => JSON.stringify(row)).sort()]));
}

/** Every byte of a store that may have been written by now: of its file and the log beside it, or what `pg_dump` writes. */
export function storedBytes(store: string): Buffer {
  if (isAddress(store)) {
    return execFileSync(join(binaries()!, 'pg_dump'), [store], { maxBuffer: 2 ** 28 });
  }
  const files = [store, `${store}-wal`].filter((file) => existsSync(file));
  return Buffer.concat(files.map((file) => readFileSync(file)));
}

/**
 * Runs statements that no constraint or trigger stops, as damage would. Each has to change something. The database has no CHECK any more
 * then, if it is on a server.
 */
export function damageRows(store: string, ...statements: readonly string[]): void {
  const changes = isAddress(store) ? damageServer(store, statements) : damageFile(store, statements);
  assert.ok(
    changes.every((count) => count > 0),
    `rows changed: ${changes}`,
  );
}

function damageFile(file: string, statements: readonly string[]): readonly number[] {
  const db = new Database(file, { fileMustExist: true });
  try {
    db.pragma('ignore_check_constraints = ON');
    return statements.map((sql) => db.prepare(sql).run().changes);
  } finally {
    db.close();
  }
}

/** Neither triggers nor foreign keys are looked at where rows come from another server. */
const UNCHECKED = `SET session_replication_role = replica;
  DO $$ DECLARE found record; BEGIN
    FOR found IN SELECT conrelid::regclass AS place, conname FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0 LOOP
      EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', found.place, found.conname);
    END LOOP;
  END $$`;

function damageServer(url: string, statements: readonly string[]): readonly number[] {
  // It answers each statement that changes rows with how many: `UPDATE 1`, `INSERT 0 1`.
  return psql(url, [UNCHECKED, ...statements], [])
    .split('\n')
    .filter((line) => /\d$/.test(line))
    .map((line) => Number(/\d+$/.exec(line)![0]));
}

/** What the server's own client prints. */
function psql(url: string, statements: readonly string[], options: readonly string[]): string {
  const args = ['--no-psqlrc', '--tuples-only', '--no-align', '--set=ON_ERROR_STOP=1', ...options, url];
  return execFileSync(join(binaries()!, 'psql'), args, {
    input: `${statements.join(';\n')};\n`,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
}

function isAddress(store: string): boolean {
  return store.startsWith('postgres://');
}
