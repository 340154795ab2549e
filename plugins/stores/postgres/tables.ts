/** The driver's own tables and functions in the database, and the requirements on the server. */
import type pg from 'pg';
import { StoreMissing } from '../../../core/plugin.ts';

/** Advisory lock keys: the ASCII codes of `Turn`, and what is locked. */
const TURN = 0x5475726e;
export const LOCKS = {
  /** Held by each batch until its commit, so that one batch is written at a time. */
  writing: [TURN, 1],
  /** Held during migrations. */
  tables: [TURN, 2],
} as const;

const OLDEST = 150_000;

/**
 * `store_writer` has a row for each opening of the store that may write: `batch` counts its commits, so that after a lost connection it can
 * find out whether the last commit was made. A process whose row was removed may not write any more. `store_process` lists the processes
 * that run together; `until_ms` is of the server's clock. `store_message` stores messages that are too long for NOTIFY.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS store_writer (
    name TEXT COLLATE "C" NOT NULL PRIMARY KEY, batch BIGINT NOT NULL, at_ms BIGINT NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE IF NOT EXISTS store_process (
    epoch TEXT COLLATE "C" NOT NULL PRIMARY KEY, writer TEXT COLLATE "C" NOT NULL, number BIGINT GENERATED ALWAYS AS IDENTITY,
    name TEXT NOT NULL, version TEXT NOT NULL, config TEXT NOT NULL, since_ms BIGINT NOT NULL, until_ms BIGINT NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE IF NOT EXISTS store_message (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at_ms BIGINT NOT NULL, body TEXT NOT NULL
  );
  CREATE OR REPLACE FUNCTION store_now() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;
  CREATE OR REPLACE FUNCTION sha256_hex(text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS
    $$ SELECT encode(sha256(convert_to($1, 'UTF8')), 'hex') $$;
  CREATE OR REPLACE FUNCTION utf8_bytes(text) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT AS
    $$ SELECT convert_to($1, 'UTF8') $$`;

/** Rows that were not removed at the end of their process are deleted after a week. */
const FORGOTTEN = `DELETE FROM store_writer WHERE at_ms < store_now() - 604800000
  AND name NOT IN (SELECT writer FROM store_process)`;

/** Throws unless the server meets the requirements. */
export async function assertServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string; fsync: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
      current_setting('fsync') AS fsync`,
  );
  const { version, encoding, fsync } = rows[0]!;
  if (version < OLDEST) throw new Error(`PostgreSQL ${Math.floor(version / 10_000)} is too old: 15 is needed`);
  if (encoding !== 'UTF8') throw new Error(`the database is in ${encoding}: create it with ENCODING 'UTF8'`);
  if (fsync !== 'on') throw new Error('the server has fsync = off: confirmed writes may be lost');
}

/** Creates what is missing, and a row for `writer`. Throws `StoreMissing` if there are no tables and `mustExist` is set. */
export async function prepare(client: pg.Client, writer: string, mustExist: boolean): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...LOCKS.writing]);
    const existing = await client.query<{ ours: number; own: number }>(
      `SELECT to_regclass('migration') IS NOT NULL AS ours, to_regclass('store_message') IS NOT NULL AS own`,
    );
    const { ours, own } = existing.rows[0]!;
    if (mustExist && ours === 0) throw new StoreMissing('the database has no tables of Turnpike');
    if (own === 0) await client.query(TABLES);
    await client.query(FORGOTTEN);
    // The row exists already if the answer to an earlier commit was lost.
    await client.query(
      'INSERT INTO store_writer (name, batch, at_ms) VALUES ($1, 0, store_now()) ON CONFLICT DO NOTHING',
      [writer],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/** Removes the row of a writer. */
export async function retire(client: pg.Client, writer: string): Promise<void> {
  await client.query('DELETE FROM store_writer WHERE name = $1', [writer]);
}
