/** Prepares values for a store: integers stay exact or are refused. */
import type { Value } from './plugin.ts';

/** The value as a store may keep it. Throws a `TypeError` for other types, a `RangeError` for inexact numbers. */
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
      // A view of a larger buffer would keep all of that buffer in memory.
      if (value instanceof Uint8Array)
        return value.byteLength === value.buffer.byteLength ? value : new Uint8Array(value);
      throw new TypeError(`a statement takes null, numbers, bigints, strings and bytes, not ${typeof value}`);
  }
}

/** Adds amounts by position; a sum beyond 2^53 becomes a bigint. */
export function addAmounts(sums: (bigint | number)[], adds: readonly (bigint | number)[]): void {
  for (let i = 0; i < adds.length; i++) {
    const [before, more] = [sums[i]!, adds[i]!];
    const total = typeof before === 'number' && typeof more === 'number' ? before + more : undefined;
    sums[i] = Number.isSafeInteger(total) ? total! : BigInt(before) + BigInt(more);
  }
}
