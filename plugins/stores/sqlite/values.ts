/** Values on their way into a statement and out of a row: integers stay exact or are refused. */
import type { Value } from '../../../core/plugin.ts';

/** The value as better-sqlite3 binds it: a number would become a REAL, and sums with it would be inexact. */
export function boundValue(value: Value | undefined): Value | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

/** A row with its integers as numbers, in place. Throws a `RangeError` for one that a number cannot hold. */
export function readRow(row: unknown): unknown {
  const columns = row as Record<string, unknown>;
  for (const name in columns) {
    const value = columns[name];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (!Number.isSafeInteger(number)) {
      throw new RangeError(`column ${name} holds ${value}, which a number cannot: select CAST(${name} AS TEXT)`);
    }
    columns[name] = number;
  }
  return row;
}
