/** The invariants of the ledger, which hold at every commit. Each is one query that returns the rows that break it. */
import type { Invariant, Reader } from '../../core/plugin.ts';

/** One row that breaks an invariant: its place in the ledger, what the table says, and what it should say. */
interface Broken {
  readonly place: string;
  readonly says: string;
  readonly should: string;
}

/** A bucket's name in a report: `account 7`. */
const BUCKET = `b.kind || ' ' || b.owner || CASE b.window_start WHEN 0 THEN '' ELSE ' from ' || b.window_start END`;

/** The delivered cost of running calls at their last checkpoint, once for each bucket that they are charged to. */
const RUNNING_BY_BUCKET = `SELECT epoch, 'account' AS kind, account_id AS owner, 0 AS window_start, delivered FROM running
    WHERE from_account = 1
  UNION ALL SELECT epoch, 'key', key_id, 0, delivered FROM running
  UNION ALL SELECT r.epoch, l.kind, l.owner, l.window_start, r.delivered FROM running_layer l JOIN running r ON r.id = l.id`;

/** Kinds whose `granted` changes only with an entry: balances and allowances. */
const ENTERED = `('account', 'key')`;
/** The kind of the bucket that an entry belongs to. */
const OWING = `CASE kind WHEN 'debt' THEN 'account' WHEN 'key-debt' THEN 'key' ELSE kind END`;
/** Windows of subscriptions. */
const WINDOWS = `('day', 'week', 'month')`;

/** A sum whose parts may be beyond 64 bits, if the sum is not: amounts that were credited and taken again and again. */
function exactSum(column: string): string {
  return `SUM(${column} / 1000000000) * 1000000000 + SUM(${column} % 1000000000)`;
}

const above = (amount: string): string => `CAST(SUM((${amount}) / 1000000000) AS BIGINT)`;
const below = (amount: string): string => `CAST(SUM((${amount}) % 1000000000) AS BIGINT)`;

/** A sum of any size as a row of two numbers, which can be compared. */
function comparableSum(amount: string): string {
  return `(${above(amount)} + ${below(amount)} / 1000000000, ${below(amount)} % 1000000000)`;
}

/** A sum of any size, for a report. */
function sumText(amount: string): string {
  return `CASE ${above(amount)} WHEN 0 THEN '' ELSE ${above(amount)} || ' * 10^9 + ' END || ${below(amount)}`;
}

const OF_ACCOUNTS = `CASE kind WHEN 'account' THEN amount ELSE 0 END`;
const OF_KEYS = `CASE kind WHEN 'key' THEN amount ELSE 0 END`;
const OF_ACCOUNTS_AND_WINDOWS = `CASE WHEN kind = 'account' OR kind IN ${WINDOWS} THEN amount ELSE 0 END`;

/** Buckets whose `column` is not the sum of `amount` over `rows` (a query with kind, owner, window_start, amount). */
function unlikeSum(column: 'granted' | 'used' | 'held' | 'debt', rows: string, which = 'TRUE'): string {
  return `SELECT ${BUCKET} AS place, '${column} ' || b.${column} AS says, CAST(COALESCE(s.amount, 0) AS TEXT) AS should
    FROM bucket b LEFT JOIN (
      SELECT kind, owner, window_start, ${exactSum('amount')} AS amount FROM (${rows}) AS part GROUP BY kind, owner, window_start
    ) s ON s.kind = b.kind AND s.owner = b.owner AND s.window_start = b.window_start
    WHERE ${which} AND b.${column} <> COALESCE(s.amount, 0)`;
}

/** The ledger's invariants. They hold at every commit, also while several processes lease, and while one recovers another. */
export function invariants(): readonly Invariant[] {
  return [
    invariant(
      'used-is-debits-less-refunds',
      unlikeSum(
        'used',
        // What another gateway had charged to a window of a subscription was entered when it was adopted.
        `SELECT kind, owner, window_start, amount FROM debit
          UNION ALL SELECT kind, owner, window_start, -amount FROM entry WHERE op = 'refund'
          UNION ALL SELECT kind, owner, window_start, amount FROM entry WHERE op = 'adjust' AND kind IN ${WINDOWS}`,
      ),
    ),
    invariant('held-is-leases', unlikeSum('held', 'SELECT kind, owner, window_start, amount FROM lease')),
    invariant(
      'granted-is-credits-and-adjustments',
      // The others follow a plan or a department's budget: what is granted to them is a limit, not an amount that moved.
      unlikeSum(
        'granted',
        `SELECT kind, owner, window_start, amount FROM entry WHERE op IN ('credit', 'adjust')`,
        `b.kind IN ${ENTERED}`,
      ),
    ),
    invariant(
      'debt-is-what-was-taken-back-and-not-paid',
      unlikeSum(
        'debt',
        `SELECT ${OWING} AS kind, owner, window_start, amount FROM entry
          WHERE kind IN ('debt', 'key-debt') AND op IN ('credit', 'adjust')`,
      ),
    ),
    invariant(
      'nothing-is-overdrawn',
      `SELECT ${BUCKET} AS place, 'available ' || (b.granted - b.used - b.held) AS says, 'at least 0' AS should
        FROM bucket b
        WHERE b.used < 0 OR b.held < 0 OR b.granted < 0 OR (b.unlimited = 0 AND b.granted - b.used - b.held < 0)`,
    ),
    invariant(
      // If an account is not charged for a call, a subscription must include that call.
      'keys-pay-what-accounts-pay-and-no-less',
      `SELECT 'the day ' || day_ms AS place,
          'accounts ' || ${sumText(OF_ACCOUNTS)} || ', keys ' || ${sumText(OF_KEYS)} AS says,
          'no more of accounts than of keys, no more of keys than of accounts and subscriptions' AS should
        FROM debit GROUP BY day_ms
        HAVING ${comparableSum(OF_ACCOUNTS)} > ${comparableSum(OF_KEYS)}
          OR ${comparableSum(OF_KEYS)} > ${comparableSum(OF_ACCOUNTS_AND_WINDOWS)}`,
    ),
    invariant(
      'running-calls-are-inside-leases',
      `SELECT ${BUCKET} AS place, 'delivered ' || b.delivered AS says, 'at most what is leased: ' || COALESCE(l.amount, 0) AS should
        FROM (
          SELECT epoch, kind, owner, window_start, SUM(delivered) AS delivered FROM (${RUNNING_BY_BUCKET}) AS running
          GROUP BY epoch, kind, owner, window_start
        ) b LEFT JOIN lease l
          ON l.epoch = b.epoch AND l.kind = b.kind AND l.owner = b.owner AND l.window_start = b.window_start
        WHERE b.delivered > COALESCE(l.amount, 0)`,
    ),
    invariant(
      // A process that has ended keeps its row until all its open calls and leases are closed.
      'every-lease-is-of-a-process',
      `SELECT place, 'of the process ' || epoch AS says, 'of one that is known' AS should
        FROM (
          SELECT epoch, 'a lease of ' || kind || ' ' || owner AS place FROM lease
          UNION ALL SELECT epoch, 'call ' || id FROM running
        ) AS open WHERE NOT EXISTS (SELECT 1 FROM ledger_process p WHERE p.epoch = open.epoch)`,
    ),
    invariant(
      'no-layer-without-its-call',
      `SELECT 'call ' || l.id AS place, 'a layer of the kind ' || l.kind AS says, 'running, or gone' AS should
        FROM running_layer l WHERE NOT EXISTS (SELECT 1 FROM running r WHERE r.id = l.id)`,
    ),
    invariant(
      'everything-has-a-bucket',
      `SELECT ${BUCKET} AS place, b.what AS says, 'a bucket' AS should FROM (
          SELECT ${OWING} AS kind, owner, window_start, 'an entry' AS what FROM entry
          UNION SELECT kind, owner, window_start, 'a debit' FROM debit
          UNION SELECT kind, owner, window_start, 'a lease' FROM lease
        ) b WHERE NOT EXISTS (
          SELECT 1 FROM bucket k WHERE k.kind = b.kind AND k.owner = b.owner AND k.window_start = b.window_start
        )`,
    ),
  ];
}

function invariant(name: string, sql: string): Invariant {
  return {
    name,
    async check(read: Reader) {
      const broken = await read.all<Broken>(sql);
      // Sorted, because stores return rows in different orders.
      return broken.map(({ place, says, should }) => `${place}: ${says}, should be ${should}`).sort();
    },
  };
}
