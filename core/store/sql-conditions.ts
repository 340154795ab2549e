/** Builds SQL conditions for searches, and reads the matching rows by page. */
import type { Reader, Value } from '../plugin.ts';

/** A WHERE condition and its bound values. */
export interface Condition {
  readonly sql: string;
  readonly params: readonly Value[];
}

/** A condition on these values; undefined if one of them is undefined. */
export function condition(sql: string, ...values: readonly (Value | undefined)[]): Condition | undefined {
  const params = values.filter((value) => value !== undefined);
  return params.length === values.length ? { sql, params } : undefined;
}

/** Matches an expression that contains a text; `%` and `_` are literal. Undefined if the text is missing or empty. */
export function contains(expression: string, text: string | undefined): Condition | undefined {
  if (text === undefined || text === '') return undefined;
  return condition(`${expression} LIKE ? ESCAPE '\\'`, `%${text.replace(/[\\%_]/g, '\\$&')}%`);
}

/** Matches a column that contains a text, ignoring case. Stores fold only A to Z; other letters must match exactly. */
export function mentions(column: string, text: string | undefined): Condition | undefined {
  return either(contains(`LOWER(${column})`, text?.toLowerCase()), contains(column, text));
}

/** Joins the given conditions with AND. */
export function all(...conditions: readonly (Condition | undefined)[]): Condition {
  return joined(conditions, ' AND ') ?? { sql: '1 = 1', params: [] };
}

/** Joins the given conditions with OR; undefined if there is none. */
export function either(...conditions: readonly (Condition | undefined)[]): Condition | undefined {
  return joined(conditions, ' OR ');
}

function joined(conditions: readonly (Condition | undefined)[], by: string): Condition | undefined {
  const given = conditions.filter((each) => each !== undefined);
  if (given.length === 0) return undefined;
  return { sql: `(${given.map(({ sql }) => sql).join(by)})`, params: given.flatMap(({ params }) => params) };
}

/** The order of a list. */
export interface Sorting<Name extends string = string> {
  readonly by: Name;
  readonly descending: boolean;
}

/** The ORDER BY of a sorting, by SQL expressions; rows that are equal in it: highest `id` first. */
export function orderOf<Name extends string>(
  sort: Sorting<NoInfer<Name>> | undefined,
  expressions: Readonly<Record<Name, string>>,
): string {
  if (sort === undefined) return 'id DESC';
  return `${expressions[sort.by]} ${sort.descending ? 'DESC' : 'ASC'}, id DESC`;
}

/** The number of rows of a table that meet a condition, and one page of them, in an order (`orderOf`); default: highest `id` first. */
export async function readPage<Row>(
  read: Reader,
  table: string,
  columns: string,
  { sql, params }: Condition,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  order = 'id DESC',
): Promise<{ readonly total: number; readonly rows: readonly Row[] }> {
  const counted = await read.one<{ total: number }>(`SELECT COUNT(*) AS total FROM ${table} WHERE ${sql}`, ...params);
  const rows = await read.all<Row>(
    `SELECT ${columns} FROM ${table} WHERE ${sql} ORDER BY ${order} LIMIT ? OFFSET ?`,
    ...params,
    limit,
    offset,
  );
  return { total: counted?.total ?? 0, rows };
}
