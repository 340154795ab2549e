/** Rows of a store, read from the outside while a gateway runs on it: of an SQLite file, or of a database that an address names. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Database } from '../../plugins/stores/sqlite/binding.ts';
import { binaries } from './postgres.ts';

/** Columns by name; integers beyond 2^53 only where they are selected as text. */
export type Row = Readonly<Record<string, string | number | null>>;

/** The rows of each query, all of one moment. The SQL is what both databases read. */
export function readRows(store: string, ...queries: readonly string[]): readonly (readonly Row[])[] {
  return store.startsWith('postgres://') ? fromServer(store, queries) : fromFile(store, queries);
}

function fromFile(file: string, queries: readonly string[]): readonly (readonly Row[])[] {
  const db = new Database(file, { readonly: true, fileMustExist: true });
  try {
    return db.transaction(() => queries.map((sql) => db.prepare<[], Row>(sql).all()))();
  } finally {
    db.close();
  }
}

function fromServer(url: string, queries: readonly string[]): readonly (readonly Row[])[] {
  const lines = [
    'BEGIN ISOLATION LEVEL REPEATABLE READ',
    ...queries.map((sql) => `SELECT COALESCE(json_agg(row_to_json(found)), '[]')::text FROM (${sql}) AS found`),
    'COMMIT',
  ];
  const psql = join(binaries()!, 'psql');
  const args = ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '--set=ON_ERROR_STOP=1', url];
  const output = execFileSync(psql, args, { input: lines.join(';\n'), encoding: 'utf8', maxBuffer: 2 ** 28 });
  return output
    .split('\n\n')
    .join('\n')
    .trim()
    .split(/\n(?=\[)/)
    .map((line) => JSON.parse(line) as Row[]);
}
