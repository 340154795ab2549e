/** Prepares values for a store: integers stay exact or are refused. */
import type { Value } from '../plugin.ts';

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

/** Sums are read in two parts, above and below this: a store's own sum of large amounts may be beyond 64 bits. */
const HALF = 1_000_000_000n;

/** The SQL of a sum that cannot overflow; `readSum` reads it. */
export function sumSql(expression: string): string {
  return joined(`(${expression}) / ${HALF}`, `(${expression}) % ${HALF}`);
}

/** Such a sum as two columns of integers, for a statement that adds up such sums: with `sumOfPartsSql`. */
export function sumPartsSql(expression: string, name: string): string {
  return `SUM((${expression}) / ${HALF}) AS ${name}_above, SUM((${expression}) % ${HALF}) AS ${name}_below`;
}

/** The names of these columns. */
export function partsOfSum(name: string): string {
  return `${name}_above, ${name}_below`;
}

/** The SQL of the sum of such columns; `readSum` reads it. */
export function sumOfPartsSql(name: string): string {
  return joined(`${name}_above`, `${name}_below`);
}

/** The SQL that orders by the sum of such columns, largest first. The amounts must not be negative. */
export function largestPartsSql(name: string): string {
  // Sums are not integers in every store, and only integers are divided without a remainder.
  const below = `CAST(SUM(${name}_below) AS BIGINT)`;
  return `SUM(${name}_above) + ${below} / ${HALF} DESC, ${below} % ${HALF} DESC`;
}

function joined(above: string, below: string): string {
  return `CAST(SUM(${above}) AS TEXT) || ' ' || CAST(SUM(${below}) AS TEXT)`;
}

/** The sum of `sumSql`; null, the sum of no rows, is 0n. */
export function readSum(text: string | null | undefined): bigint {
  const [above = '0', below = '0'] = (text ?? '').split(' ');
  return BigInt(above) * HALF + BigInt(below);
}

/** Adds amounts by position; a sum beyond 2^53 becomes a bigint. */
export function addAmounts(sums: (bigint | number)[], adds: readonly (bigint | number)[]): void {
  for (let i = 0; i < adds.length; i++) {
    const [before, more] = [sums[i]!, adds[i]!];
    const total = typeof before === 'number' && typeof more === 'number' ? before + more : undefined;
    sums[i] = Number.isSafeInteger(total) ? total! : BigInt(before) + BigInt(more);
  }
}
