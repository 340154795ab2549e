/** Reads a MySQL or MariaDB database, in one snapshot. */
import type { RowDataPacket } from 'mysql2';
import type { Database } from '../databases.ts';
import type { Row } from '../values.ts';
import { readMysqlAddress, withoutPassword } from './dsn.ts';
import { bytesText, databaseOf, describedTables } from './tables.ts';

/** The tables of the database of an address. */
export async function openMysql(address: string): Promise<Database> {
  const { tls, ...where } = readMysqlAddress(address);
  const { createConnection } = await import('mysql2');
  const connection = createConnection({
    ...where,
    connectTimeout: 10_000,
    // Integers beyond 2^53 as texts; decimals are texts anyway.
    supportBigNumbers: true,
    dateStrings: true,
    charset: 'utf8mb4',
    ...(tls !== undefined && { ssl: { rejectUnauthorized: tls === 'verified' } }),
  });
  // A lost connection also fails the query that waits for it.
  connection.on('error', () => {});
  const connected = connection.promise();
  await connected.connect().catch((error: Error) => {
    throw new Error(withoutPassword(`the database cannot be reached: ${reasonOf(error)}`, address));
  });
  const ask = async <T>(sql: string, values: readonly unknown[] = []): Promise<readonly T[]> =>
    (await connected.query<RowDataPacket[]>(sql, [...values]))[0] as unknown as T[];
  try {
    await ask('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    // Quoted names are those of columns: `"` may be a text otherwise.
    await ask('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  } catch (error) {
    connection.destroy();
    throw new Error(withoutPassword(`the database cannot be read: ${reasonOf(error as Error)}`, address));
  }
  const quote = (name: string): string => `\`${name.replaceAll('`', '``')}\``;
  const described = describedTables(ask, { schema: 'DATABASE()', place: '?' });
  return databaseOf({
    quote,
    tables: described.tables,
    count: async (table) => Number((await ask<{ n: number }>(`SELECT COUNT(*) AS n FROM ${quote(table)}`))[0]!.n),
    async columns(table) {
      const key = await ask<{ name: string }>(
        `SELECT column_name AS name FROM information_schema.statistics
          WHERE table_schema = DATABASE() AND table_name = ? AND index_name = 'PRIMARY' ORDER BY seq_in_index`,
        [table],
      );
      return { all: await described.columnsOf(table), key: key.map(({ name }) => name) };
    },
    select: async (table, columns, tail, values) =>
      (await ask<Record<string, unknown>>(`SELECT ${columns} FROM ${quote(table)} ${tail}`, values)).map(rowOf),
    close: () => connected.end(),
  });
}

/** The values of a row, changed in place. */
function rowOf(row: Record<string, unknown>): Row {
  for (const column in row) {
    const value = row[column];
    // A BIT(1) is a truth value, as some versions of GORM store them.
    if (value instanceof Uint8Array) row[column] = value.length === 1 && value[0]! < 2 ? value[0] : bytesText(value);
  }
  return row;
}

/** Node's own error for several addresses of a host has no message. */
function reasonOf(error: Error & { readonly code?: string }): string {
  return error.message || (error.code ?? 'unknown error');
}
