/** Connections to the server: how they are made, what is set on them, and how its values become ours. */
import pg from 'pg';
import type { Value } from '../../../core/plugin.ts';

/** What the section `store` says of the server. */
export interface ServerSettings {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full`. */
  readonly url: string;
  /** Connections that read; one more writes. */
  readonly pool: number;
  /** How long one statement may take. */
  readonly statementTimeoutMs: number;
}

/** A server that does not answer is given up after so long. */
const CONNECT_MS = 5_000;
/**
 * A process that stops in the middle of a batch, or is cut off there, keeps all others from writing for so long: far less than what makes
 * them refuse calls because the store is behind. What it then gets is an error, and nothing of its batch is written.
 */
const IDLE_IN_TRANSACTION_MS = 500;

/** Settings of a connection that is not open yet. */
export function clientConfig({ url, statementTimeoutMs }: ServerSettings, name: string): pg.ClientConfig {
  return {
    connectionString: url,
    fallback_application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    // Statements do not wait for the answers of those before them.
    pipeline: true,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    types: { getTypeParser: parserOf } as pg.CustomTypesConfig,
  };
}

/** Opens one; `lost` hears when it is gone, once, unless it was ended from here. `pipeline`: statements do not wait for those before them. */
export async function connect(
  settings: ServerSettings,
  name: string,
  lost: (error: Error) => void = () => {},
  pipeline = true,
): Promise<pg.Client> {
  const client = new pg.Client({ ...clientConfig(settings, name), pipeline });
  /** From when it is open to when it is gone. */
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

/** Ends a connection, whatever state it is in. */
export async function disconnect(client: pg.Client): Promise<void> {
  client.removeAllListeners('end').removeAllListeners('error');
  client.on('error', () => {});
  await client.end().catch(() => {});
}

/** Texts that are kept prepared on each connection; later ones are prepared each time. */
const MOST_NAMED = 1_000;
const names = new Map<string, string>();

/** A statement as the client takes it; prepared once per connection. */
export function query(text: string, params: readonly (Value | undefined)[]): pg.QueryConfig {
  const name = nameOf(text);
  return { text, values: params.map(bound), ...(name !== undefined && { name }) };
}

/** What a statement is called where it is prepared; undefined where there are too many. */
export function nameOf(text: string): string | undefined {
  let name = names.get(text);
  if (name === undefined && names.size < MOST_NAMED) {
    name = `turnpike_${names.size}`;
    names.set(text, name);
  }
  return name;
}

/** A value as it is sent. U+0000 may not stand in a text of PostgreSQL: it becomes what everything becomes that is no character. */
export function bound(value: Value | undefined): unknown {
  if (typeof value === 'string') return value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  if (typeof value === 'bigint' || typeof value === 'number') return value.toString();
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value;
}

/** Types by their number: `SELECT oid, typname FROM pg_type`. */
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
