/** Reads the tables of a database from its catalog. */
import type pg from 'pg';
import type { Reader, StoreTable } from '../../../core/plugin.ts';

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
export async function describeTables(read: Reader): Promise<readonly StoreTable[]> {
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
export async function advanceNumbers(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `SELECT table_name AS "table", column_name AS "column" FROM information_schema.columns
      WHERE table_schema = current_schema() AND is_identity = 'YES' AND table_name NOT LIKE 'store!_%' ESCAPE '!'`,
  );
  for (const { table, column } of rows) {
    const sequence = `pg_get_serial_sequence('${table}', '${column}')`;
    await client.query(`SELECT setval(${sequence}, MAX(${column})) FROM ${table} HAVING MAX(${column}) > 0`);
  }
}
