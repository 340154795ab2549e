/** Conditions of queries, put together of what a search asks for, and the pages that are read by them. */
import type { Reader, Value } from './plugin.ts';

/** What stands behind WHERE, and what is bound in it. */
export interface Condition {
  readonly sql: string;
  readonly params: readonly Value[];
}

/** A condition on these values; undefined where one of them is: that was not asked for. */
export function condition(sql: string, ...values: readonly (Value | undefined)[]): Condition | undefined {
  const params = values.filter((value) => value !== undefined);
  return params.length === values.length ? { sql, params } : undefined;
}

/** An expression that contains a text, in which `%` and `_` mean themselves; undefined where there is none, or an empty one. */
export function contains(expression: string, text: string | undefined): Condition | undefined {
  if (text === undefined || text === '') return undefined;
  return condition(`${expression} LIKE ? ESCAPE '\\'`, `%${text.replace(/[\\%_]/g, '\\$&')}%`);
}

/**
 * A column of names that contains a text, in whatever case. Stores fold no more than A to Z: other letters are found as they are
 * written.
 */
export function mentions(column: string, text: string | undefined): Condition | undefined {
  return either(contains(`LOWER(${column})`, text?.toLowerCase()), contains(column, text));
}

/** All that are asked for. */
export function all(...conditions: readonly (Condition | undefined)[]): Condition {
  return joined(conditions, ' AND ') ?? { sql: '1 = 1', params: [] };
}

/** One of those that are asked for; undefined where none is. */
export function either(...conditions: readonly (Condition | undefined)[]): Condition | undefined {
  return joined(conditions, ' OR ');
}

function joined(conditions: readonly (Condition | undefined)[], by: string): Condition | undefined {
  const given = conditions.filter((each) => each !== undefined);
  if (given.length === 0) return undefined;
  return { sql: `(${given.map(({ sql }) => sql).join(by)})`, params: given.flatMap(({ params }) => params) };
}

/** The rows of a table that meet a condition, the latest `id` first: how many there are, and those of one page. */
export async function readPage<Row>(
  read: Reader,
  table: string,
  columns: string,
  { sql, params }: Condition,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly total: number; readonly rows: readonly Row[] }> {
  const counted = await read.one<{ total: number }>(`SELECT COUNT(*) AS total FROM ${table} WHERE ${sql}`, ...params);
  const rows = await read.all<Row>(
    `SELECT ${columns} FROM ${table} WHERE ${sql} ORDER BY id DESC LIMIT ? OFFSET ?`,
    ...params,
    limit,
    offset,
  );
  return { total: counted?.total ?? 0, rows };
}
