/** Reads columns whose values decide what is charged or allowed: one that cannot be read ends the import, by table, row and column. */
import type { Decimal } from '../../../core/sdk.ts';
import { amountOf, asObject, asTexts, expiryAt, jsonOf, type Row, textOf } from '../values.ts';

/** A table and its column that identifies a row. */
export interface Place {
  readonly table: string;
  readonly id: string;
}

/** Reads the rows of one table. */
export interface Columns {
  /** An amount of dollars; below zero: nothing. Undefined: null. */
  amount(row: Row, column: string): Decimal | undefined;
  /** A time in unix milliseconds; undefined: null, or never. */
  time(row: Row, column: string): number | undefined;
  /** A JSON object; empty: null. */
  object(row: Row, column: string): Row;
}

const NOTHING: Decimal = { digits: 0n, scale: 0 };

/** Readers for a table. */
export function columnsOf({ table, id }: Place): Columns {
  const refuse = (row: Row, column: string): never => {
    const value = JSON.stringify(row[column])?.slice(0, 80);
    throw new Error(`${table}, row ${textOf(row, id) ?? '?'}, column ${column}: the value ${value} cannot be read`);
  };
  return {
    amount(row, column) {
      const text = textOf(row, column);
      if (text === undefined) return undefined;
      if (/^-\d/.test(text)) return NOTHING;
      return amountOf(text) ?? refuse(row, column);
    },
    time(row, column) {
      const text = textOf(row, column);
      if (text === undefined || text === 'infinity') return undefined;
      const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
      // PostgreSQL has years with more digits than a date here.
      if (Number.isNaN(ms)) return /^\d{5,}-/.test(text) ? undefined : refuse(row, column);
      return expiryAt(ms);
    },
    object(row, column) {
      const value = jsonOf(row, column);
      if (value === undefined || value === null) {
        return typeof row[column] === 'string' && row[column].trim() !== '' && row[column] !== 'null'
          ? refuse(row, column)
          : {};
      }
      return typeof value === 'object' ? asObject(value) : refuse(row, column);
    },
  };
}

/** The texts in a column that is a list. */
export function listOf(row: Row | undefined, column: string): readonly string[] {
  return row === undefined ? [] : asTexts(jsonOf(row, column));
}
