/** Connections to the server: opening, settings, and conversion of values. */
import pg from 'pg';
import type { Value } from '../../../core/plugin.ts';

/** The server settings of the section `store`. */
export interface ServerSettings {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full`. */
  readonly url: string;
  /** Read connections; there is one more that writes. */
  readonly pool: number;
  /** The timeout of a statement. */
  readonly statementTimeoutMs: number;
}

/** How long to wait for an unresponsive server. */
const CONNECT_MS = 5_000;
/**
 * A process that stops or loses its connection during a batch blocks all other writers for this long, which is far less than the delay after which
 * they refuse calls because the store is behind. The process then gets an error, and its batch is rolled back.
 */
const IDLE_IN_TRANSACTION_MS = 500;

/** Options of a connection to be opened. */
export function clientConfig({ url, statementTimeoutMs }: ServerSettings, name: string): pg.ClientConfig {
  return {
    connectionString: url,
    fallback_application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    // Statements are sent without waiting for earlier answers.
    pipeline: true,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types: { getTypeParser: parserOf } as pg.CustomTypesConfig,
  };
}

/**
 * Opens a connection; `lost` is called once when it ends, unless this process ended it. `pipeline`: statements are sent without waiting for
 * earlier answers.
 */
export async function connect(
  settings: ServerSettings,
  name: string,
  lost: (error: Error) => void = () => {},
  pipeline = true,
): Promise<pg.Client> {
  const client = new pg.Client({ ...clientConfig(settings, name), pipeline });
  /** Called from the connection's opening to its end. */
  let isOpen = false;
  const gone = (error: Error): void => {
    if (isOpen) lost(error);
    isOpen = false;
  };
  client.on('error', gone);
  client.on('end', () => gone(new Error('the server closed the connection')));
  try {
    await client.connect();
    isOpen = true;
    return client;
  } catch (error) {
    await disconnect(client);
    throw error;
  }
}

/** Closes a connection in any state. */
export async function disconnect(client: pg.Client): Promise<void> {
  client.removeAllListeners('end').removeAllListeners('error');
  client.on('error', () => {});
  await client.end().catch(() => {});
}

/** The number of statements that stay prepared on each connection; further ones are parsed each time. */
const MOST_NAMED = 1_000;
const names = new Map<string, string>();

/** A statement for the client; prepared once per connection. */
export function query(text: string, params: readonly (Value | undefined)[]): pg.QueryConfig {
  const name = nameOf(text);
  return { text, values: params.map(bound), ...(name !== undefined && { name }) };
}

/** The name of a prepared statement; undefined beyond the maximum. */
export function nameOf(text: string): string | undefined {
  let name = names.get(text);
  if (name === undefined && names.size < MOST_NAMED) {
    name = `turnpike_${names.size}`;
    names.set(text, name);
  }
  return name;
}

/** Encodes a value. PostgreSQL texts cannot contain U+0000: it becomes the replacement character. */
export function bound(value: Value | undefined): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString();
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

/** Parsers by type OID: `SELECT oid, typname FROM pg_type`. */
const TYPES: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => (text === 't' ? 1 : 0), // bool, which SQLite has as 1 and 0
  17: pg.types.getTypeParser(17), // bytea
  20: exact, // int8
  21: Number, // int2
  23: Number, // int4
  700: Number, // float4
  701: Number, // float8
  1700: (text) => (text.includes('.') ? Number(text) : exact(text)), // numeric: sums and averages of integers
};

function parserOf(oid: number, format?: string): (text: string) => unknown {
  return format === 'binary' ? (pg.types.getTypeParser(oid, 'binary') as never) : (TYPES[oid] ?? asText);
}

const asText = (text: string): string => text;

function exact(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new RangeError(`a column holds ${text}, which a number cannot: select CAST(… AS TEXT)`);
}
