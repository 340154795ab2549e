/** Reads a PostgreSQL database, in one transaction. */
import type { Database } from '../databases.ts';
import { withoutPassword } from './dsn.ts';
import { databaseOf, describedTables, integerOf } from './tables.ts';

/** Types whose values are read in another way than the driver's, by their `oid` in `pg_type`. */
const PARSERS: Readonly<Record<number, (text: string) => unknown>> = {
  20: integerOf, // int8
  1700: (text) => text, // numeric
  17: (text) => text, // bytea
  1082: (text) => text, // date
  1114: isoOf, // timestamp
  1184: isoOf, // timestamptz
};

/** `2025-01-31 10:00:00+00` as `2025-01-31T10:00:00+00:00`. */
function isoOf(text: string): string {
  return text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00');
}

/** The tables of the schema that the user of a URL sees first. */
export async function openPostgres(url: string): Promise<Database> {
  const { default: pg } = await import('pg');
  const parserOf = (oid: number, format?: 'text' | 'binary') =>
    PARSERS[oid] ?? pg.types.getTypeParser(oid, format as 'text');
  const types = { getTypeParser: parserOf } as unknown as typeof pg.types;
  let client: InstanceType<typeof pg.Client>;
  try {
    client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, types });
    // A lost connection also fails the query that waits for it.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      await client.query("SET LOCAL datestyle = 'ISO'; SET LOCAL bytea_output = 'hex'");
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
  } catch (error) {
    throw new Error(withoutPassword(`the database cannot be reached: ${(error as Error).message}`, url));
  }
  const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;
  const ask = async <T>(sql: string, values: readonly unknown[] = []): Promise<readonly T[]> =>
    (await client.query(sql, [...values])).rows as T[];
  const described = describedTables(ask, { schema: 'current_schema()', place: '$1' });
  return databaseOf({
    quote,
    tables: described.tables,
    count: async (table) => Number((await ask<{ n: number }>(`SELECT COUNT(*) AS n FROM ${quote(table)}`))[0]!.n),
    async columns(table) {
      // From the catalog: information_schema shows the keys of tables to their owner only.
      const key = await ask<{ name: string }>(
        `SELECT a.attname AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
          WHERE i.indisprimary AND c.relname = $1 AND n.nspname = current_schema() ORDER BY array_position(i.indkey::int2[], a.attnum)`,
        [table],
      );
      return { all: await described.columnsOf(table), key: key.map(({ name }) => name) };
    },
    async select(table, columns, tail, values) {
      let n = 0;
      return ask(`SELECT ${columns} FROM ${quote(table)} ${tail.replace(/\?/g, () => `$${++n}`)}`, values);
    },
    close: () => client.end(),
  });
}
