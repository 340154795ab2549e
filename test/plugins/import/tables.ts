/** Databases of other gateways with the columns that a test names, and what is read from them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../../plugins/import/databases.ts';
import type { Inventory } from '../../../plugins/import/inventory.ts';
import { oneApiSource } from '../../../plugins/import/one-api/index.ts';
import { oneHubSource } from '../../../plugins/import/one-hub/index.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';

/** A row by column. */
export type TableRow = Readonly<Record<string, string | number | null>>;
/** Rows by table; an empty table has the column `id`. */
export type Tables = Readonly<Record<string, readonly TableRow[]>>;

/** Makes a SQLite file with these tables, and the columns that any of their rows has. */
function makeTables(file: string, tables: Tables): void {
  const db = new Database(file);
  db.exec('BEGIN');
  for (const [table, rows] of Object.entries(tables)) {
    const columns = [...new Set(['id', ...rows.flatMap((row) => Object.keys(row))])];
    db.exec(`CREATE TABLE "${table}" (${columns.map((column) => `"${column}"`).join(', ')})`);
    for (const row of rows) {
      const used = Object.keys(row);
      db.prepare(
        `INSERT INTO "${table}" (${used.map((column) => `"${column}"`).join(', ')}) VALUES (${used.map(() => '?').join(', ')})`,
      ).run(...Object.values(row));
    }
  }
  db.exec('COMMIT');
  db.close();
}

/** Reads a database of a program; the tables without which it is none are added. */
export async function inventoryOf(program: 'one-api' | 'new-api' | 'one-hub', tables: Tables): Promise<Inventory> {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-import-'));
  try {
    const file = join(dir, 'old.db');
    makeTables(file, { users: [], tokens: [], channels: [], options: [], ...tables });
    const database = await openDatabase(file);
    const source = program === 'one-hub' ? oneHubSource(database, 500_000) : oneApiSource(program, database, 500_000);
    try {
      return await source.inventory();
    } finally {
      await source.close();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** An option of a program. */
export const option = (key: string, value: unknown): TableRow => ({
  key,
  value: typeof value === 'string' ? value : JSON.stringify(value),
});
