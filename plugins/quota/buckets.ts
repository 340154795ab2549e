/** Buckets and entries in SQL: the fragments that statements of the ledger are made of. */
import type { Layer } from '../../core/contracts/ledger.ts';
import type { Value } from '../../core/plugin.ts';

/** A row of `bucket`: one of the layers, or what an account owes. */
export interface Place {
  readonly kind: Layer['kind'] | 'debt';
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

/** What comes behind it are rows of these columns. */
export const INSERT_ENTRY = 'INSERT INTO entry (ref, op, kind, owner, window_start, amount, at_ms, actor)';

/** What may be taken out of a bucket. Without a limit that is what was put in: the rest was never money. */
export function removable(bucket: string): string {
  return `CASE ${bucket}.unlimited WHEN 1 THEN ${bucket}.granted ELSE ${bucket}.granted - ${bucket}.used - ${bucket}.held END`;
}

/** True of an account's bucket unless the account owes something. */
export const OWES_NOTHING = `NOT EXISTS (SELECT 1 FROM bucket AS debt
    WHERE debt.kind = 'debt' AND debt.owner = bucket.owner AND debt.window_start = 0 AND debt.granted > 0)`;
