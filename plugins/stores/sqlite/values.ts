/** Values on their way into a statement and out of a row: integers stay exact or are refused. */
import type { Value } from '../../../core/plugin.ts';

/**
 * The value as it may cross a thread and be bound. Throws a `TypeError` for what is no `Value`, and a `RangeError` for numbers
 * that are not finite or have already lost digits.
 */
export function checkedValue(value: Value): Value {
  switch (typeof value) {
    case 'string':
    case 'bigint':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`${value} cannot be stored`);
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
        throw new RangeError(`${value} is beyond 2^53 and may have lost digits: bind it as a bigint`);
      }
      return value;
    default:
      if (value === null) return value;
      // A view of a larger buffer would take all of that buffer along.
      if (value instanceof Uint8Array)
        return value.byteLength === value.buffer.byteLength ? value : new Uint8Array(value);
      throw new TypeError(`a statement takes null, numbers, bigints, strings and bytes, not ${typeof value}`);
  }
}

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
