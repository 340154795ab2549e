/** Reads another gateway's database, in one snapshot: a SQLite file, or PostgreSQL. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';
import type { Row } from './values.ts';

/** An open database. */
export interface Database {
  /** All rows of a table with all columns that it has; undefined if there is no such table. */
  rows(table: string): Promise<readonly Row[] | undefined>;
  close(): Promise<void>;
}

/** The database at a URL, or in a file; a file may be in use. Throws if there is none, and for MySQL. */
export async function openDatabase(address: string): Promise<Database> {
  if (/^postgres(?:ql)?:\/\//i.test(address)) return openPostgres(address);
  if (/^mysql:\/\//i.test(address) || /@tcp\(/.test(address)) {
    throw new Error(
      'MySQL cannot be read: convert the database to a SQLite file first, for example with mysql3-to-sqlite3, and import that file',
    );
  }
  if (/^[a-z0-9+]+:\/\//i.test(address))
    throw new Error('the source must be a file or a URL that begins with postgres://');
  return openSqlite(address);
}

/** One release of better-sqlite3 needs Node 22; the last one for Node 20 aborts from Node 24.19 on. */
function sqlite(): typeof BetterSqlite3 {
  const isOld = Number(process.versions.node.split('.')[0]) < 22;
  return createRequire(import.meta.url)(isOld ? 'better-sqlite3' : 'better-sqlite3-13') as typeof BetterSqlite3;
}

function openSqlite(file: string): Database {
  if (!existsSync(file)) throw new Error(`there is no file ${file}`);
  const Sqlite = sqlite();
  const db = new Sqlite(file, { readonly: true, fileMustExist: true });
  try {
    db.exec('BEGIN');
    // The snapshot begins with the first read. A file that is no database fails here.
    db.prepare('SELECT COUNT(*) FROM sqlite_master').get();
  } catch (error) {
    db.close();
    throw new Error(`${file} is not a SQLite database that can be read: ${(error as Error).message}`);
  }
  const isThere = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?");
  return {
    async rows(table) {
      if (isThere.get(table) === undefined) return undefined;
      return db.prepare(`SELECT * FROM "${table}"`).all() as Row[];
    },
    async close() {
      db.close();
    },
  };
}

async function openPostgres(url: string): Promise<Database> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // A lost connection also fails the query that waits for it.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  } catch (error) {
    await client.end().catch(() => undefined);
    throw new Error(`the database cannot be reached: ${(error as Error).message}`);
  }
  return {
    async rows(table) {
      const { rows: found } = await client.query('SELECT to_regclass($1) AS name', [`"${table}"`]);
      if (found[0].name === null) return undefined;
      // As JSON, the columns of all versions and types read alike: lists, JSON, timestamps.
      const { rows } = await client.query(`SELECT row_to_json(t)::text AS row FROM "${table}" AS t`);
      return rows.map(({ row }) => JSON.parse(row as string) as Row);
    },
    close: () => client.end(),
  };
}
