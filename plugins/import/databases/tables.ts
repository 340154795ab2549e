/** Makes a `Database` of the few queries in which the kinds of databases differ. */
import type { Database, EachOptions } from '../databases.ts';
import { nextTurn } from '../unhurried.ts';
import type { Row } from '../values.ts';

/** Rows of one query: large enough that the queries do not count, small enough for memory and for others that wait. */
const PAGE = 500;

/** What a kind of database is asked. Names are those of tables and columns that it has. */
export interface Queries {
  /** The tables, in order. */
  tables(): Promise<readonly string[]>;
  count(table: string): Promise<number>;
  /** The columns of a table, in order, and those of its primary key; none if there is no such table. */
  columns(table: string): Promise<{ readonly all: readonly string[]; readonly key: readonly string[] }>;
  /** `columns`: quoted names, or `*`; `tail` begins with WHERE, ORDER BY or LIMIT and has `?` for each value. */
  select(table: string, columns: string, tail: string, values: readonly unknown[]): Promise<readonly Row[]>;
  /** A name as the database quotes it. */
  quote(name: string): string;
  close(): Promise<void>;
}

/**
 * Tables and columns of a schema as MySQL and PostgreSQL describe them. `schema`: the expression that names it; `place`: the placeholder of the first
 * value.
 */
export function describedTables(
  ask: (sql: string, values?: readonly unknown[]) => Promise<readonly { readonly name: string }[]>,
  { schema, place }: { readonly schema: string; readonly place: string },
): { tables(): Promise<readonly string[]>; columnsOf(table: string): Promise<readonly string[]> } {
  const names = async (sql: string, values?: readonly unknown[]): Promise<readonly string[]> =>
    (await ask(sql, values)).map(({ name }) => name);
  return {
    tables: () =>
      names(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = ${schema} AND table_type = 'BASE TABLE' ORDER BY table_name`,
      ),
    columnsOf: (table) =>
      names(
        `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = ${schema} AND table_name = ${place} ORDER BY ordinal_position`,
        [table],
      ),
  };
}

/** The database of these queries. */
export function databaseOf({ quote, ...ask }: Queries): Database {
  const read = new Set<string>();
  const columnsOf = new Map<string, ReturnType<Queries['columns']>>();
  const columns = (table: string): ReturnType<Queries['columns']> => {
    const asked = columnsOf.get(table) ?? ask.columns(table);
    columnsOf.set(table, asked);
    return asked;
  };

  async function* each(table: string, { newest, by, only, isLook = false }: EachOptions = {}): AsyncIterable<Row> {
    const { all, key } = await columns(table);
    if (all.length === 0) return;
    if (!isLook) read.add(table);
    const ids = all.includes('id') ? ['id'] : key;
    const order = by !== undefined && all.includes(by) ? [by, ...ids.filter((name) => name !== by)] : ids;
    const columnsRead =
      only === undefined
        ? '*'
        : all
            .filter((name) => only.includes(name) || order.includes(name))
            .map(quote)
            .join(', ') || '*';
    const direction = newest === undefined ? '' : ' DESC';
    const sorted = order.length === 0 ? '' : ` ORDER BY ${order.map((name) => quote(name) + direction).join(', ')}`;
    // A page begins behind the last row, which needs an order in which no two rows are equal and no value is missing.
    const isExact = ids.length > 0 && (by === undefined || order === ids);
    let last: Row | undefined;
    for (let at = 0; ; ) {
      const most = Math.min(PAGE, (newest ?? Number.POSITIVE_INFINITY) - at);
      if (most <= 0) return;
      const isNext = isExact && last !== undefined;
      const behind = isNext
        ? ` WHERE (${order.map(quote).join(', ')}) ${newest === undefined ? '>' : '<'} (${order.map(() => '?').join(', ')})`
        : '';
      const offset = !isExact && at > 0 ? ` OFFSET ${at}` : '';
      const rows = await ask.select(
        table,
        columnsRead,
        `${behind}${sorted} LIMIT ${most}${offset}`,
        isNext ? order.map((name) => last![name]) : [],
      );
      yield* rows;
      at += rows.length;
      last = rows.at(-1);
      if (rows.length < most) return;
      // A gateway that imports goes on serving calls.
      await nextTurn();
    }
  }

  async function tables(): Promise<ReadonlyMap<string, number>> {
    const counts: [string, number][] = [];
    for (const name of await ask.tables()) counts.push([name, await ask.count(name)]);
    return new Map(counts);
  }

  return {
    tables,
    columns: async (table) => (await columns(table)).all,
    async rows(table) {
      if ((await columns(table)).all.length === 0) return undefined;
      const rows: Row[] = [];
      for await (const row of each(table)) rows.push(row);
      read.add(table);
      return rows;
    },
    each,
    async unread(known = []) {
      const names = new Set([...read, ...known]);
      return new Map([...(await tables())].filter(([name, rows]) => rows > 0 && !names.has(name)));
    },
    close: ask.close,
  };
}

/** Bytes as a text, as PostgreSQL writes them. */
export function bytesText(bytes: Uint8Array): string {
  return `\\x${Buffer.from(bytes).toString('hex')}`;
}

/** An integer as a number, or beyond 2^53 as a text. */
export function integerOf(text: string): number | string {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : text;
}
