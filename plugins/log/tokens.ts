/**
 * Counts of tokens as statistics read them. Usage is corrected before it is recorded; older versions recorded whatever a vendor reported, and a
 * sum of such counts could be beyond what a number, or the store, can hold.
 */
import { MOST_TOKENS } from '../../core/sdk.ts';

/** A count of a record, at most what a call can have; 0 if it has none. */
export function tokensOfRecord(column: string): string {
  return atMost(`COALESCE(${column}, 0)`, `${MOST_TOKENS}`);
}

/** The same count of a row of sums, at most what its calls can have. */
export function tokensOfSum(column: string): string {
  return atMost(column, `${MOST_TOKENS} * (lines + repeats)`);
}

/** A count of a line, or null, at most what a number can hold. */
export function countOfLine(column: string): string {
  return `${atMost(column, `${Number.MAX_SAFE_INTEGER}`)} AS ${column}`;
}

/** Adds to a count of a row of sums, unless that is far beyond what calls can have. */
export function addTokens(table: string, column: string): string {
  return `CASE WHEN ${table}.${column} > ${LARGEST_SUM} THEN ${table}.${column} ELSE ${table}.${column} + excluded.${column} END`;
}

/** Half of the largest integer of a store. */
const LARGEST_SUM = 2n ** 62n;

function atMost(value: string, most: string): string {
  return `CASE WHEN ${value} > ${most} THEN ${most} ELSE ${value} END`;
}
