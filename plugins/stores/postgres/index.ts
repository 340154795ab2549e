/** The store on a PostgreSQL server, which several gateways can share. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type pg from 'pg';
import type { Membership, OpenStore, StoreDriver } from '../../../core/plugin.ts';
import { StoreMissing, StoreUnavailable } from '../../../core/plugin.ts';
import { durationMs } from '../../../core/sdk.ts';
import { connect, disconnect, type ServerSettings } from './connection.ts';
import { advanceNumbers, describeTables } from './describe.ts';
import { codeOf, reasonOf } from './errors.ts';
import { join } from './membership.ts';
import { createReads } from './reads.ts';
import { type PostgresSection, section } from './section.ts';
import { LOCKS } from './tables.ts';
import { createWrites } from './writes.ts';

/** What to use instead of `turnpike backup` and `restore`. */
const BACKUP =
  'back it up with `pg_dump --format=custom`, or continuously with archived WAL, and restore it with `pg_restore` while no gateway runs; see plugins/stores/README.md';

const driver: StoreDriver = {
  section,
  server: { backup: BACKUP },
  async open({ file, settings, log, mustExist = false }) {
    const server = readSettings(settings);
    // The folder of the master key and the control socket.
    if (!mustExist) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const writes = createWrites(server, log, lost);
    const reads = createReads(server, log);
    let closing: Promise<void> | undefined;
    let membership: Membership | undefined;

    function lost(error: StoreUnavailable): void {
      log.error('the store is unavailable until it is opened again', { reason: error.message });
      writes.end(error);
    }

    async function close(): Promise<void> {
      await Promise.all([writes.close(), reads.close()]);
      // The others may take over this process's work once everything it wrote is committed.
      await membership?.leave();
    }

    const store: OpenStore = {
      run: writes.run,
      atomic: writes.atomic,
      pressure() {
        const { waiting, oldestMs } = writes.pressure();
        const isOut = membership !== undefined && !membership.isCurrent();
        return { waiting, oldestMs: isOut ? Infinity : oldestMs };
      },
      one: reads.one,
      all: reads.all,
      snapshot: reads.snapshot,
      async join(facts, events) {
        membership = await join(
          server,
          writes.writer,
          facts,
          {
            ...events,
            ended(error) {
              lost(new StoreUnavailable(`the store cannot be written: ${error.message}`));
              events.ended(error);
            },
          },
          log,
        );
        return membership;
      },
      tables: () => describeTables(reads),
      rowsLoaded: () => connectedTo(server, advanceNumbers),
      exclusively: (work) => exclusively(server, work),
      close() {
        closing ??= close();
        return closing;
      },
    };
    try {
      await writes.open(mustExist);
    } catch (error) {
      await store.close();
      throw opened(error, server.url);
    }
    return store;
  },
};

export default driver;

/** Takes a lock that ends with its connection. */
function exclusively<T>(server: ServerSettings, work: () => Promise<T>): Promise<T> {
  return connectedTo(server, async (client) => {
    await client.query('SELECT pg_advisory_lock($1, $2)', [...LOCKS.tables]);
    return work();
  });
}

/** A connection for rare work without the usual statement timeout. */
async function connectedTo<T>(server: ServerSettings, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const own = await connect({ ...server, statementTimeoutMs: 0 }, 'turnpike tables');
  try {
    return await use(own);
  } finally {
    await disconnect(own);
  }
}

function readSettings(settings: unknown): ServerSettings {
  const { url, pool, statementTimeout } = settings as PostgresSection;
  return { url, pool, statementTimeoutMs: durationMs(statementTimeout) };
}

/** Tells the operator what to do about a server that cannot be used. The address is shown without its password. */
function opened(error: unknown, url: string): unknown {
  if (error instanceof StoreMissing) return error;
  const where = url.replace(/\/\/[^@/]*@/, '//').replace(/\?.*$/s, '');
  const code = codeOf(error);
  if (code === '3D000') return new StoreMissing(`${where} does not exist: create it with \`createdb\``);
  if (code === '42501') {
    return new Error(`${where}: ${reasonOf(error)}: the user must own the database, or have CREATE on its schema`);
  }
  const message = `${where} cannot be opened: ${reasonOf(error)}`;
  return /^(28|42)/.test(code) ? new Error(message) : new StoreUnavailable(message);
}
