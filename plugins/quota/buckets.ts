/** Buckets and entries in SQL: the fragments that statements of the ledger are made of. */
import type { Layer } from '../../core/contracts/ledger.ts';
import type { Value } from '../../core/plugin.ts';

/** A row of `bucket`. */
export interface Place {
  readonly kind: Layer['kind'];
  readonly owner: number;
  /** When its window began, unix milliseconds; absent or 0 where it has none. */
  readonly windowStart?: number;
}

/** The condition that finds one bucket, given the parameters of `placeOf`. */
export const THIS_BUCKET = 'kind = ? AND owner = ? AND window_start = ?';

/** The parameters of `THIS_BUCKET`. */
export function placeOf({ kind, owner, windowStart = 0 }: Place): readonly Value[] {
  return [kind, owner, windowStart];
}

/**
 * Locks one bucket until its list is written, where others write beside it: steps behind it that read the bucket, each for itself, read the
 * same. Given the parameters of `placeOf`.
 */
export const LOCK = `UPDATE bucket SET held = held WHERE ${THIS_BUCKET}`;

/** The name of one, as refusals have it: `account 7`. */
export function nameOf({ kind, owner }: Place): string {
  return `${kind} ${owner}`;
}

/** True of a bucket that has so much left; takes the amount. */
export const ROOM = '(unlimited = 1 OR granted - used - held >= ?)';

/** What comes behind it are rows of these columns. */
export const INSERT_ENTRY = 'INSERT INTO entry (ref, op, kind, owner, window_start, amount, at_ms, actor)';

/** What may be taken out of a bucket. Without a limit that is what was put in: the rest was never money. */
export function removable(bucket: string): string {
  return `CASE ${bucket}.unlimited WHEN 1 THEN ${bucket}.granted ELSE ${bucket}.granted - ${bucket}.used - ${bucket}.held END`;
}
