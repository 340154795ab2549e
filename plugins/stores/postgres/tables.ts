/** What the driver itself keeps in the database: who may write, the functions that statements may use, and what the server must be. */
import type pg from 'pg';
import { StoreMissing } from '../../../core/plugin.ts';

/** Names of advisory locks: the letters `Turn`, and what is locked. */
const TURN = 0x5475726e;
export const LOCKS = {
  /** Held by each batch to its commit: one at a time is written, as if there were one process. */
  writing: [TURN, 1],
  /** Held while tables are brought up to date. */
  tables: [TURN, 2],
} as const;

const OLDEST = 150_000;

/**
 * `store_writer` has a row for each opening of the store that may write: `batch` counts what it has committed, so that it can find out after a
 * lost connection whether the last one was. Who has no row any more was given up for dead.
 *
 * `store_process` are the processes that serve together; `until_ms` is of the server's clock. `store_message` has what is too long to be
 * told by NOTIFY.
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

/** A row of an opening that did not end well is of no use after a week. */
const FORGOTTEN = `DELETE FROM store_writer WHERE at_ms < store_now() - 604800000
  AND name NOT IN (SELECT writer FROM store_process)`;

/** Throws unless the server is what the gateway needs. */
export async function assertServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: number; encoding: string; fsync: string }>(
    `SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding,
      current_setting('fsync') AS fsync`,
  );
  const { version, encoding, fsync } = rows[0]!;
  if (version < OLDEST) throw new Error(`PostgreSQL ${Math.floor(version / 10_000)} is too old: 15 is needed`);
  if (encoding !== 'UTF8') throw new Error(`the database is in ${encoding}: create it with ENCODING 'UTF8'`);
  if (fsync !== 'on') throw new Error('the server has fsync = off: what it says is written may be lost');
}

/** Makes what is missing, and a row for `writer`. Throws `StoreMissing` where there is nothing and `mustExist` is set. */
export async function prepare(client: pg.Client, writer: string, mustExist: boolean): Promise<void> {
  try {
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1, $2)', [...LOCKS.writing]);
    const found = await client.query<{ ours: number; own: number }>(
      `SELECT to_regclass('migration') IS NOT NULL AS ours, to_regclass('store_message') IS NOT NULL AS own`,
    );
    const { ours, own } = found.rows[0]!;
    if (mustExist && ours === 0) throw new StoreMissing('the database has no tables of Turnpike');
    if (own === 0) await client.query(TABLES);
    await client.query(FORGOTTEN);
    // It is there where the answer to a commit was lost.
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

/** Takes the row of a writer away. */
export async function retire(client: pg.Client, writer: string): Promise<void> {
  await client.query('DELETE FROM store_writer WHERE name = $1', [writer]);
}
