/** SQL fragments for the row of a bucket, from which the ledger's statements are built. */
import type { Layer } from '../../core/contracts/ledger.ts';
import type { Value } from '../../core/plugin.ts';

/** The condition that finds one bucket, given `bucketParams`. */
export const THIS_BUCKET = 'kind = ? AND owner = ? AND window_start = ?';

/** The parameters of `THIS_BUCKET`. */
export function bucketParams({ kind, owner, windowStart = 0 }: Layer): readonly Value[] {
  return [kind, owner, windowStart];
}

/** The step that locks one bucket until its list is written: later steps of the list that read the bucket all read the same. */
export function lockStep(layer: Layer): { readonly sql: string; readonly params: readonly Value[] } {
  return { sql: `UPDATE bucket SET held = held WHERE ${THIS_BUCKET}`, params: bucketParams(layer) };
}

/** The name of a bucket in refusals: `account 7`. */
export function nameOf({ kind, owner }: Layer): string {
  return `${kind} ${owner}`;
}

/** The most that a bucket without a limit can have used and held, in micro-quota: integers of a store have 64 bits. */
export const MOST_USED = 9_000_000_000_000_000_000n;

/** The condition that a bucket has this much left; its parameter is the amount. */
export const HAS_ROOM = `CASE unlimited WHEN 1 THEN ${MOST_USED} - used - held ELSE granted - used - held END >= ?`;

/** Begins a statement that adds entries: values or rows of these columns follow. */
export const INSERT_ENTRY = 'INSERT INTO entry (ref, op, kind, owner, window_start, amount, at_ms, actor)';

/** The amount that may be removed from a bucket. Without a limit, that is the credited amount, because the rest was never money. */
export function removable(bucket: string): string {
  return `CASE ${bucket}.unlimited WHEN 1 THEN ${bucket}.granted ELSE ${bucket}.granted - ${bucket}.used - ${bucket}.held END`;
}

/** The smaller of two amounts. */
export function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
