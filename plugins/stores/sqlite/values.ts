/** Converts values for statements and from rows: integers stay exact or are refused. */
import type { Value } from '../../../core/plugin.ts';

/** The value for better-sqlite3, which would bind a number as REAL, so that sums would be inexact. */
export function boundValue(value: Value | undefined): Value | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

/** Converts the integers of a row to numbers, in place. Throws a `RangeError` for an integer that a number cannot represent. */
export function readRow(row: unknown): unknown {
  const columns = row as Record<string, unknown>;
  for (const name in columns) {
    const value = columns[name];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (!Number.isSafeInteger(number)) {
      throw new RangeError(`column ${name} holds ${value}, too large for a number: select CAST(${name} AS TEXT)`);
    }
    columns[name] = number;
  }
  return row;
}
