/** What must hold in the ledger at every commit. Each is one query that returns the rows that break it. */
import type { Invariant, Reader, Value } from '../../core/plugin.ts';
import { LIMITS_PER_CALL } from './ledger.ts';

/** One row that breaks an invariant: where, what the table says, what it should say. */
interface Broken {
  readonly place: string;
  readonly says: string;
  readonly should: string;
}

/** A bucket's name in a report: `account 7`. */
const BUCKET = `b.kind || ' ' || b.owner || CASE b.window_start WHEN 0 THEN '' ELSE ' from ' || b.window_start END`;

/** All open holds, once for each layer they are taken from. */
const HOLDS_BY_BUCKET = `SELECT 'account' AS kind, account_id AS owner, 0 AS window_start, amount FROM hold
  UNION ALL SELECT 'key', key_id, 0, amount FROM hold`;

/** Buckets whose `column` is not the sum of `amount` over `rows` (a query with kind, owner, window_start, amount). */
function unlikeSum(column: 'granted' | 'used' | 'held', rows: string): string {
  return `SELECT ${BUCKET} AS place, '${column} ' || b.${column} AS says, CAST(COALESCE(s.amount, 0) AS TEXT) AS should
    FROM bucket b LEFT JOIN (
      SELECT kind, owner, window_start, SUM(amount) AS amount FROM (${rows}) GROUP BY kind, owner, window_start
    ) s ON s.kind = b.kind AND s.owner = b.owner AND s.window_start = b.window_start
    WHERE b.${column} <> COALESCE(s.amount, 0)`;
}

/**
 * The ledger's invariants. `deadHolds` says whether this process has recovered: before that, holds of a dead run are
 * not damage but work to be done.
 */
export function invariants(boot: string, hasRecovered: () => boolean): readonly Invariant[] {
  return [
    invariant(
      'used-is-debits-less-refunds',
      unlikeSum(
        'used',
        `SELECT kind, owner, window_start, CASE op WHEN 'debit' THEN amount ELSE -amount END AS amount
          FROM entry WHERE op IN ('debit', 'refund')`,
      ),
    ),
    invariant('held-is-open-holds', unlikeSum('held', HOLDS_BY_BUCKET)),
    invariant(
      'granted-is-credits-and-adjustments',
      unlikeSum('granted', `SELECT kind, owner, window_start, amount FROM entry WHERE op IN ('credit', 'adjust')`),
    ),
    invariant(
      'nothing-is-overdrawn',
      `SELECT ${BUCKET} AS place, 'available ' || (b.granted - b.used - b.held) AS says, 'at least 0' AS should
        FROM bucket b
        WHERE b.used < 0 OR b.held < 0 OR b.granted < 0 OR (b.unlimited = 0 AND b.granted - b.used - b.held < 0)`,
    ),
    invariant(
      'debits-agree-in-all-layers',
      `SELECT 'call ' || ref AS place,
          COUNT(*) || ' debits from ' || MIN(amount) || ' to ' || MAX(amount) AS says,
          '${LIMITS_PER_CALL} equal ones' AS should
        FROM entry WHERE op = 'debit' GROUP BY ref
        HAVING COUNT(*) <> ${LIMITS_PER_CALL} OR COUNT(DISTINCT kind) <> ${LIMITS_PER_CALL} OR MIN(amount) <> MAX(amount)`,
    ),
    invariant(
      'no-hold-of-a-dead-run',
      `SELECT 'call ' || id AS place, 'held by the run ' || boot AS says, 'closed' AS should FROM hold WHERE boot <> ?`,
      () => (hasRecovered() ? [boot] : undefined),
    ),
    invariant(
      'everything-has-a-bucket',
      `SELECT ${BUCKET} AS place, b.what AS says, 'a bucket' AS should FROM (
          SELECT kind, owner, window_start, 'an entry' AS what FROM entry
          UNION SELECT kind, owner, window_start, 'a hold' FROM (${HOLDS_BY_BUCKET})
        ) b WHERE NOT EXISTS (
          SELECT 1 FROM bucket k WHERE k.kind = b.kind AND k.owner = b.owner AND k.window_start = b.window_start
        )`,
    ),
  ];
}

/** `params` may answer undefined: the invariant has nothing to say now. */
function invariant(name: string, sql: string, params: () => readonly Value[] | undefined = () => []): Invariant {
  return {
    name,
    async check(read: Reader) {
      const given = params();
      if (given === undefined) return [];
      const broken = await read.all<Broken>(sql, ...given);
      return broken.map(({ place, says, should }) => `${place}: ${says}, should be ${should}`);
    },
  };
}
