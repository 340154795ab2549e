/** Reads the tables of a database from its schema. */
import type { Reader, StoreTable } from '../../../core/plugin.ts';

const COLUMNS = `SELECT schema.name AS "table", info.name, info.type, info.pk
  FROM sqlite_schema AS schema JOIN pragma_table_info(schema.name) AS info
  WHERE schema.type = 'table' AND schema.name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY schema.name, info.cid`;
const REFERENCES = `SELECT schema.name AS owner, key."from" AS "column", key."table", key."to"
  FROM sqlite_schema AS schema JOIN pragma_foreign_key_list(schema.name) AS key WHERE schema.type = 'table'`;

/** All tables, by name. */
export async function describeTables(read: Reader): Promise<readonly StoreTable[]> {
  const columns = await read.all<{ table: string; name: string; type: string; pk: number }>(COLUMNS);
  const references = await read.all<{ owner: string; column: string; table: string; to: string }>(REFERENCES);
  return [...new Set(columns.map(({ table }) => table))].map((table) => {
    const own = columns.filter((column) => column.table === table);
    const inKey = own.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    return {
      name: table,
      columns: own.map(({ name, type }) => ({ name, isInteger: type === 'INTEGER' })),
      key: inKey.map(({ name }) => name),
      references: references.filter(({ owner }) => owner === table),
    };
  });
}
