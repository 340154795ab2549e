/** The store on a PostgreSQL server, which several gateways can share. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type pg from 'pg';
import {
  type Accepted,
  type Membership,
  type OpenStore,
  type Reader,
  type StoreDriver,
  StoreMissing,
  type StoreTable,
  StoreUnavailable,
  typed,
} from '../../../core/plugin.ts';
import { duration, durationMs } from '../../../core/sdk.ts';
import { connect, disconnect, type ServerSettings } from './connection.ts';
import { createDumps } from './dumps.ts';
import { codeOf, reasonOf } from './errors.ts';
import { join } from './membership.ts';
import { createReads } from './reads.ts';
import { LOCKS } from './tables.ts';
import { createWrites } from './writes.ts';

const section = typed({
  type: 'object',
  description: 'The durable store: a database on a PostgreSQL server, which several gateways may share.',
  additionalProperties: false,
  required: ['url'],
  properties: {
    driver: {
      type: 'string',
      description: 'The store plugin, by name or package.',
      minLength: 1,
      examples: ['postgres'],
    },
    url: {
      title: 'address such as postgres://user:password@host:5432/database?sslmode=verify-full',
      type: 'string',
      description: 'The database. Use an environment variable, because it contains a password.',
      pattern: '^(postgres|postgresql)://',
      examples: ['postgres://turnpike@127.0.0.1:5432/turnpike'],
    },
    pool: {
      type: 'integer',
      description: 'The number of read connections. Two more write and listen.',
      minimum: 1,
      maximum: 100,
      default: 4,
    },
    statementTimeout: { ...duration, description: 'The timeout of a statement.', default: '10s' },
    data: {
      type: 'string',
      description:
        'The folder of the master key and the control socket, relative to this file; gateways on the same machine need different folders.',
      minLength: 1,
      examples: ['./data'],
      default: './data',
    },
  },
});

const COLUMNS = `SELECT c.table_name AS "table", c.column_name AS name, c.data_type AS type, k.ordinal_position AS pk
  FROM information_schema.columns c
  JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
  LEFT JOIN information_schema.table_constraints p
    ON p.table_schema = c.table_schema AND p.table_name = c.table_name AND p.constraint_type = 'PRIMARY KEY'
  LEFT JOIN information_schema.key_column_usage k
    ON k.constraint_schema = p.constraint_schema AND k.constraint_name = p.constraint_name AND k.table_name = c.table_name
      AND k.column_name = c.column_name
  WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.table_name NOT LIKE 'store!_%' ESCAPE '!'
  ORDER BY c.table_name COLLATE "C", c.ordinal_position`;
/** Foreign keys of one column; there are no others. */
const REFERENCES = `SELECT own.relname AS owner, a.attname AS "column", other.relname AS "table", b.attname AS "to"
  FROM pg_constraint f
  JOIN pg_class own ON own.oid = f.conrelid JOIN pg_class other ON other.oid = f.confrelid
  JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1]
  JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = f.confkey[1]
  WHERE f.contype = 'f' AND f.connamespace = current_schema()::regnamespace`;

/** All tables, by name. */
async function describeTables(read: Reader): Promise<readonly StoreTable[]> {
  const columns = await read.all<{ table: string; name: string; type: string; pk: number | null }>(COLUMNS);
  const references = await read.all<{ owner: string; column: string; table: string; to: string }>(REFERENCES);
  return [...new Set(columns.map(({ table }) => table))].map((table) => {
    const own = columns.filter((column) => column.table === table);
    const inKey = own.filter(({ pk }) => pk !== null).sort((a, b) => a.pk! - b.pk!);
    return {
      name: table,
      columns: own.map(({ name, type }) => ({ name, isInteger: type === 'bigint' })),
      key: inKey.map(({ name }) => name),
      references: references.filter(({ owner }) => owner === table),
    };
  });
}

/** Sets the sequence of every identity column to its largest value. */
async function advanceNumbers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
      WHERE table_schema = current_schema() AND is_identity = 'YES' AND table_name NOT LIKE 'store!_%' ESCAPE '!'`,
  );
  for (const { table, column } of rows) {
    const sequence = `pg_get_serial_sequence('${table}', '${column}')`;
    await client.query(`SELECT setval(${sequence}, MAX(${column})) FROM ${table} HAVING MAX(${column}) > 0`);
  }
}

/** The commands to use instead of `turnpike backup` and `restore`. */
const BACKUP =
  'back it up with `pg_dump --format=custom`, or continuously with archived WAL, and restore it with `pg_restore` while no gateway runs; see plugins/stores/README.md';

const driver: StoreDriver = {
  section,
  server: { backup: BACKUP },
  dumps: createDumps((url, use) => connectedTo({ url, pool: 1, statementTimeoutMs: 0 }, use)),
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
  const { url, pool, statementTimeout } = settings as Accepted<typeof section>;
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
