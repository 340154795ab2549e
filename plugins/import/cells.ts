/**
 * Reads the columns of another gateway's rows strictly: a value that is there but cannot be read ends the import. A wrong guess could be a balance
 * of nothing, a key without its limits, or a factor of one.
 */
import { type Decimal, decimal, decimalText } from '../../core/sdk.ts';
import { amountOf, asObject, type Row, textOf } from './values.ts';

/** The most characters of a value in an error. */
const SHOWN = 60;

/** A row of a table. */
export interface Cells {
  readonly row: Row;
  /** The trimmed text; undefined if the column is missing, null or empty, as everywhere here. */
  text(column: string): string | undefined;
  /** A whole number. */
  whole(column: string): bigint | undefined;
  /** A whole number that is a date, a state or another small one. */
  number(column: string): number | undefined;
  /** A truth value: false if there is none. */
  truth(column: string): boolean;
  /** A JSON object; empty if there is none. */
  object(column: string): Row;
}

/** The columns of a row of this table. Their methods throw an `Error` that names table, row, column and value. */
export function cellsOf(table: string, row: Row): Cells {
  const misread = (column: string, what: string): never =>
    unreadable(
      `${table}, ${row.id === undefined ? `key ${String(row.key)}` : `id ${String(row.id)}`}, ${column}`,
      row[column],
      what,
    );
  const cells: Cells = {
    row,
    text: (column) => textOf(row, column),
    whole(column) {
      const text = textOf(row, column);
      if (text === undefined)
        return row[column] == null || row[column] === '' ? undefined : misread(column, 'a whole number');
      return wholeIn(text) ?? misread(column, 'a whole number');
    },
    number(column) {
      const whole = cells.whole(column);
      if (whole === undefined) return undefined;
      return Number.isSafeInteger(Number(whole)) ? Number(whole) : misread(column, 'a number of this size');
    },
    truth(column) {
      const text = textOf(row, column)?.toLowerCase();
      if (text === undefined || ['0', 'false', 'f'].includes(text)) return false;
      return ['1', 'true', 't'].includes(text) || misread(column, 'true or false');
    },
    object: (column) => objectIn(row[column], (what) => misread(column, what)),
  };
  return cells;
}

/** The whole number in a text, `5.0` included; undefined if there is none. */
export function wholeIn(text: string): bigint | undefined {
  const match = /^([+-]?\d{1,30})(?:\.0+)?$/.exec(text.trim());
  return match === null ? undefined : BigInt(match[1]!.replace('+', ''));
}

/** A JSON object in a text, or one already; empty if there is none. `misread` is called with what it should be. */
export function objectIn(value: unknown, misread: (what: string) => never): Row {
  const parsed = jsonIn(value, () => misread('a JSON object'));
  if (parsed === undefined || parsed === null) return {};
  if (typeof parsed !== 'object' || Array.isArray(parsed)) return misread('a JSON object');
  return asObject(parsed);
}

/** A JSON value in a text, or one already; undefined if there is none. */
export function jsonIn(value: unknown, misread: () => never): unknown {
  if (typeof value !== 'string') return value ?? undefined;
  if (value.trim() === '') return undefined;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return misread();
  }
}

/** A decimal number that is not below zero. */
export function decimalIn(where: string, value: unknown): Decimal {
  return amountOf(value) ?? unreadable(where, value, 'a decimal number that is not below zero');
}

/** A price factor. The programs compute with the nearest binary number, which gateway.yaml keeps, too. */
export function factorIn(where: string, value: unknown): Decimal {
  const text = decimalText(decimalIn(where, value));
  return Number(text) <= Number.MAX_SAFE_INTEGER
    ? decimal(Number(text))
    : unreadable(where, text, 'a factor of this size');
}

/** Ends the import. `where`: `users, id 5, quota`. */
export function unreadable(where: string, value: unknown, what: string): never {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value));
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  throw new Error(`${where}: "${shown}" is not ${what}: correct it there, and import again`);
}
