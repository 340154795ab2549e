/** Reads: read-only connections, and snapshots, each on its own connection. */
import pg from 'pg';
import { type Log, type Reader, StoreUnavailable, type Value } from '../../../core/plugin.ts';
import { checkedValue } from '../../../core/sdk.ts';
import { clientConfig, connect, disconnect, query, type ServerSettings } from './connection.ts';
import { numbered, perStatement } from './dialect.ts';
import { kindOf, reasonOf, statementError } from './errors.ts';

/** The readers of an open store. */
export interface Reads extends Reader {
  snapshot<T>(read: (reader: Reader) => Promise<T>): Promise<T>;
  /** Rejects new queries, and resolves when waiting ones and all snapshots have ended. */
  close(): Promise<void>;
}

type Ask = (text: pg.QueryConfig) => Promise<pg.QueryResult<Record<string, unknown>>>;

/** Opens connections on demand. */
export function createReads(settings: ServerSettings, log: Log): Reads {
  const pool = new pg.Pool({ ...clientConfig(settings, 'turnpike'), max: settings.pool, allowExitOnIdle: true });
  pool.on('error', (error) => log.warn('a connection to the database was lost', { reason: reasonOf(error) }));
  pool.on('connect', (client) => {
    // It is sent before the connection's first query.
    client.query('SET default_transaction_read_only = on').catch(() => {});
  });
  const textOf = perStatement(numbered);
  /** Running queries. */
  const running = new Set<Promise<unknown>>();
  let ended: StoreUnavailable | undefined;

  function track<T>(work: () => Promise<T>): Promise<T> {
    if (ended !== undefined) return Promise.reject(ended);
    const done = work().finally(() => running.delete(done));
    running.add(done);
    return done;
  }

  /** Runs a query, and repeats it once if an idle connection turns out to be lost: reads change nothing. */
  async function read<T>(ask: Ask, sql: string, params: readonly Value[], isKept: boolean): Promise<T[]> {
    const text = query(textOf(sql), params.map(checkedValue));
    try {
      return (
        await ask(text).catch((error: unknown) => {
          if (!isKept || !['lost', 'again'].includes(kindOf(error)) || error instanceof RangeError) throw error;
          return ask(kindOf(error) === 'again' ? { text: text.text, values: text.values! } : text);
        })
      ).rows as T[];
    } catch (error) {
      if (error instanceof RangeError) throw error;
      if (kindOf(error) === 'statement') throw statementError(error, sql);
      throw new StoreUnavailable(`the store cannot be read: ${reasonOf(error)}`);
    }
  }

  const readerOf = (ask: Ask, isKept: boolean): Reader => ({
    one: async <T>(sql: string, ...params: readonly Value[]) => (await read<T>(ask, sql, params, isKept))[0],
    all: <T>(sql: string, ...params: readonly Value[]) => read<T>(ask, sql, params, isKept),
  });
  const pooled = readerOf((text) => pool.query(text), true);

  async function inSnapshot<T>(use: (reader: Reader) => Promise<T>): Promise<T> {
    // A snapshot may take long, and pause between two queries.
    const own = await connect({ ...settings, statementTimeoutMs: 0 }, 'turnpike snapshot').catch((error: unknown) => {
      throw new StoreUnavailable(`the store cannot be read: ${reasonOf(error)}`);
    });
    try {
      await own.query('SET idle_in_transaction_session_timeout = 0');
      await own.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      // The first read determines the time of the snapshot.
      await own.query('SELECT 1');
      return await use(readerOf((text) => own.query(text), false));
    } finally {
      await disconnect(own);
    }
  }

  return {
    one: (sql, ...params) => track(() => pooled.one(sql, ...params)),
    all: (sql, ...params) => track(() => pooled.all(sql, ...params)),
    snapshot: (use) => track(() => inSnapshot(use)),
    async close() {
      ended ??= new StoreUnavailable('the store is closed');
      while (running.size > 0) await Promise.allSettled(running);
      await pool.end();
    },
  };
}
