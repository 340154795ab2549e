/** What must hold in the ledger at every commit. Each is one query that returns the rows that break it. */
import type { Invariant, Reader, Value } from '../../core/plugin.ts';

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
    WHERE from_account = 1
  UNION ALL SELECT 'key', key_id, 0, amount FROM hold
  UNION ALL SELECT l.kind, l.owner, l.window_start, h.amount FROM hold_layer l JOIN hold h ON h.id = l.hold_id`;

/** Kinds whose `granted` is money that came in, or an allowance that somebody set: every change of it is an entry. */
const ENTERED = `('account', 'key', 'debt')`;
/** Windows of subscriptions. */
const WINDOWS = `('day', 'week', 'month')`;

/** Buckets whose `column` is not the sum of `amount` over `rows` (a query with kind, owner, window_start, amount). */
function unlikeSum(column: 'granted' | 'used' | 'held', rows: string, which = 'TRUE'): string {
  return `SELECT ${BUCKET} AS place, '${column} ' || b.${column} AS says, CAST(COALESCE(s.amount, 0) AS TEXT) AS should
    FROM bucket b LEFT JOIN (
      SELECT kind, owner, window_start, SUM(amount) AS amount FROM (${rows}) GROUP BY kind, owner, window_start
    ) s ON s.kind = b.kind AND s.owner = b.owner AND s.window_start = b.window_start
    WHERE ${which} AND b.${column} <> COALESCE(s.amount, 0)`;
}

/**
 * The ledger's invariants. `hasRecovered` says whether this process has closed what others left open: before that, holds of a dead run are
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
      // The others follow a plan or a department's budget: what is granted to them is a limit, and no amount that moved.
      unlikeSum(
        'granted',
        `SELECT kind, owner, window_start, amount FROM entry WHERE op IN ('credit', 'adjust')`,
        `b.kind IN ${ENTERED}`,
      ),
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
          'equal ones of a key and of an account or its subscription' AS should
        FROM entry WHERE op = 'debit' GROUP BY ref
        HAVING MIN(amount) <> MAX(amount) OR COUNT(CASE WHEN kind = 'key' THEN 1 END) <> 1
          OR COUNT(CASE WHEN kind = 'account' THEN 1 END) > 1
          OR COUNT(CASE WHEN kind = 'account' OR kind IN ${WINDOWS} THEN 1 END) = 0`,
    ),
    invariant(
      'no-hold-of-a-dead-run',
      `SELECT 'call ' || id AS place, 'held by the run ' || boot AS says, 'closed' AS should FROM hold WHERE boot <> ?`,
      () => (hasRecovered() ? [boot] : undefined),
    ),
    invariant(
      'no-layer-without-its-hold',
      `SELECT 'call ' || hold_id AS place, 'a layer of the kind ' || kind AS says, 'held, or gone' AS should
        FROM hold_layer l WHERE NOT EXISTS (SELECT 1 FROM hold h WHERE h.id = l.hold_id)`,
    ),
    invariant(
      'subscriptions-are-what-was-granted',
      `SELECT 'subscription ' || s.id AS place,
          'begins at ' || s.starts_ms || ' and lasts ' || (s.expires_ms - s.starts_ms) || ' ms' AS says,
          'begun with a grant, and lasting ' || COALESCE(SUM(g.length_ms), 0) || ' ms' AS should
        FROM subscription s LEFT JOIN subscription_grant g
          ON g.subscription_id = s.id AND g.account_id = s.account_id AND g.plan = s.plan
        GROUP BY s.id, s.starts_ms, s.expires_ms
        HAVING s.expires_ms - s.starts_ms <> COALESCE(SUM(g.length_ms), 0)
          OR COUNT(CASE WHEN g.at_ms = s.starts_ms THEN 1 END) = 0
        UNION ALL
        SELECT 'grant ' || ref, 'of no subscription', 'of one' FROM subscription_grant WHERE subscription_id IS NULL`,
    ),
    invariant(
      'one-subscription-at-a-time',
      `SELECT 'account ' || a.account_id AS place, 'subscriptions ' || a.id || ' and ' || b.id AS says,
          'one behind the other' AS should
        FROM subscription a JOIN subscription b ON b.account_id = a.account_id AND b.id > a.id
        WHERE a.cancelled_ms IS NULL AND b.starts_ms < a.expires_ms`,
    ),
    invariant(
      'everything-has-a-bucket',
      `SELECT ${BUCKET} AS place, b.what AS says, 'a bucket' AS should FROM (
          SELECT kind, owner, window_start, 'an entry' AS what FROM entry
          UNION SELECT kind, owner, window_start, 'a hold' FROM (${HOLDS_BY_BUCKET})
        ) b WHERE NOT EXISTS (
          SELECT 1 FROM bucket k WHERE k.kind = b.kind AND k.owner = b.owner AND k.window_start = b.window_start
        )
        UNION ALL
        SELECT ${BUCKET}, 'a window', 'of a subscription' FROM bucket b
          WHERE b.kind IN ${WINDOWS} AND NOT EXISTS (SELECT 1 FROM subscription s WHERE s.id = b.owner)`,
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
