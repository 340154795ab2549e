/** Reads another gateway's database, in one snapshot: a SQLite file, PostgreSQL, MySQL or MariaDB. */
import { isMysql } from './databases/dsn.ts';
import type { Row } from './values.ts';

/** Which rows `each` reads, and in which order. */
export interface EachOptions {
  /** At most so many, the highest first. */
  readonly newest?: number;
  /** The column to order by instead of the ids. */
  readonly by?: string;
  /** The columns to read, of those that the table has; the ids are read, too. Default: all. */
  readonly only?: readonly string[];
  /** Nothing of the table is taken over by this: `unread` still has it. */
  readonly isLook?: boolean;
}

/**
 * An open database. All three kinds give the same values: integers as numbers, those beyond 2^53 and decimals as texts, dates as ISO texts,
 * JSON as a value or as its text, bytes as the text `\x` with hexadecimal digits.
 */
export interface Database {
  /** Its tables, in order, with the number of rows of each. */
  tables(): Promise<ReadonlyMap<string, number>>;
  /** The columns of a table, in order; none if there is no such table. */
  columns(table: string): Promise<readonly string[]>;
  /** All rows of a table with all columns that it has, in the order of its ids, or of its primary key; undefined if there is no such table. */
  rows(table: string): Promise<readonly Row[] | undefined>;
  /** The same one by one, for tables that do not fit in memory. Other queries may be made between two of them. */
  each(table: string, options?: EachOptions): AsyncIterable<Row>;
  /** The tables that were neither read by `rows` or `each` nor named here, with their rows, if they have some. */
  unread(known?: Iterable<string>): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

/** The database at a URL, or in a file; a file may be in use. Throws if there is none, in a sentence without passwords. */
export async function openDatabase(address: string): Promise<Database> {
  if (/^postgres(?:ql)?:\/\//i.test(address)) return (await import('./databases/postgres.ts')).openPostgres(address);
  if (isMysql(address)) return (await import('./databases/mysql.ts')).openMysql(address);
  if (isUrl(address)) throw new Error('the source must be a file or a URL that begins with postgres:// or mysql://');
  return (await import('./databases/sqlite.ts')).openSqlite(address);
}

/** Whether the source is a server, not a file. */
export function isUrl(address: string): boolean {
  return /^[a-z0-9+]+:\/\//i.test(address) || isMysql(address);
}
