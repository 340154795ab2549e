/** The tables of the ledger: buckets, leases of processes, and every amount that ever moved. */
import { LARGEST_GRANT } from '../../core/contracts/ledger.ts';
import type { Migration } from '../../core/plugin.ts';

/** A day in milliseconds: debits are summed by it. */
export const DAY_MS = 86_400_000;

/** The maximum reservation or charge of a call, in micro-quota: a billion quota. */
export const LARGEST_CALL = 1_000_000_000_000_000n;

/** Sums of entries by bucket: credits and adjustments, or debits less refunds. */
const ENTERED = (amount: string, ops: string): string =>
  `SELECT kind, owner, window_start, SUM(${amount}) AS amount FROM entry WHERE op IN (${ops}) GROUP BY kind, owner, window_start`;

/** Inserts buckets whose column is not the sum of its rows into a table that accepts none, so that the migration fails. */
const prove = (column: string, rows: string, which = 'TRUE'): string =>
  `INSERT INTO proof SELECT b.kind || ' ' || b.owner FROM bucket b LEFT JOIN (${rows}) s
    ON s.kind = b.kind AND s.owner = b.owner AND s.window_start = b.window_start
    WHERE ${which} AND b.${column} <> COALESCE(s.amount, 0)`;

/** The same for rows without a bucket. */
const proveBuckets = (rows: string): string =>
  `INSERT INTO proof SELECT r.kind || ' ' || r.owner FROM (${rows}) r WHERE NOT EXISTS (
    SELECT 1 FROM bucket b WHERE b.kind = r.kind AND b.owner = r.owner AND b.window_start = r.window_start)`;

/** Reservations from before leases existed, by bucket. */
const HELD = `SELECT kind, owner, window_start, SUM(amount) AS amount FROM (
    SELECT 'account' AS kind, account_id AS owner, 0 AS window_start, amount FROM hold WHERE from_account = 1
    UNION ALL SELECT 'key', key_id, 0, amount FROM hold
    UNION ALL SELECT l.kind, l.owner, l.window_start, h.amount FROM hold_layer l JOIN hold h ON h.id = l.hold_id
  ) AS layers GROUP BY kind, owner, window_start`;

/** The table of entries with these kinds of operations. */
const entryTable = (ops: string): string =>
  `CREATE TABLE entry (
    ref TEXT NOT NULL CHECK (ref <> ''),
    op TEXT NOT NULL CHECK (op IN (${ops})),
    kind TEXT NOT NULL,
    owner INTEGER NOT NULL,
    window_start INTEGER NOT NULL,
    amount INTEGER NOT NULL CHECK (amount > 0 OR (op = 'adjust' AND amount < 0)),
    at_ms INTEGER NOT NULL,
    actor TEXT NOT NULL,
    PRIMARY KEY (ref, op, kind, owner, window_start)
  ) STRICT, WITHOUT ROWID`;

const ENTRIES_ARE_APPEND_ONLY: readonly string[] = [
  `CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END`,
  `CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END`,
];

/**
 * Amounts are micro-quota. A `bucket` is one balance or limit that calls are charged to, and its CHECKs are the last resort: no statement can
 * bring it below zero. `held` is the sum of its leases, `used` that of its debits. `debt` is what an account owes because money was taken back
 * that it had spent; nothing is leased from an account with a debt.
 *
 * A `lease` is what one process (`epoch`: one run of the gateway) took out of a bucket for future calls; deleting the row returns the rest.
 * `ledger_process` has the processes that may lease. `running` has the calls that have delivered something and not ended, as of the last
 * checkpoint: if their process was killed, they are charged. `running_layer` has the buckets of such a call other than its key, and its account
 * unless a subscription includes the call.
 *
 * A `debit` is what all calls of one day were charged to a bucket. The primary key of a call's usage record, written in the same list, ensures
 * that it is charged once. An `entry` is any other amount that moved; one of a subscription's window is what another gateway had charged to it. It is never changed; its key ensures that a payment is credited once, and
 * `ref` names the payment.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'buckets, holds and entries',
    sql: [
      `CREATE TABLE bucket (
        kind TEXT NOT NULL,
        owner INTEGER NOT NULL,
        window_start INTEGER NOT NULL DEFAULT 0,
        granted INTEGER NOT NULL DEFAULT 0 CHECK (granted BETWEEN 0 AND ${LARGEST_GRANT}),
        used INTEGER NOT NULL DEFAULT 0 CHECK (used >= 0),
        held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0),
        unlimited INTEGER NOT NULL DEFAULT 0 CHECK (unlimited IN (0, 1)),
        PRIMARY KEY (kind, owner, window_start),
        CHECK (unlimited = 1 OR granted - used - held >= 0)
      ) STRICT, WITHOUT ROWID`,
      `CREATE TABLE hold (
        id TEXT NOT NULL PRIMARY KEY,
        boot TEXT NOT NULL,
        account_id INTEGER NOT NULL,
        key_id INTEGER NOT NULL,
        amount INTEGER NOT NULL CHECK (amount BETWEEN 1 AND ${LARGEST_CALL}),
        delivered INTEGER NOT NULL DEFAULT 0 CHECK (delivered BETWEEN 0 AND amount),
        style TEXT NOT NULL,
        model TEXT NOT NULL,
        stream INTEGER NOT NULL CHECK (stream IN (0, 1)),
        ip TEXT NOT NULL,
        created_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID`,
      entryTable("'debit', 'credit', 'refund', 'adjust'"),
      `CREATE UNIQUE INDEX entry_credit_once ON entry (ref) WHERE op = 'credit'`,
      ...ENTRIES_ARE_APPEND_ONLY,
    ],
  },
  {
    id: 2,
    title: 'further layers of a call',
    // Until plans became a plugin, it also made the tables of subscriptions, which are those of `plans` now.
    sql: [
      'ALTER TABLE hold ADD COLUMN from_account INTEGER NOT NULL DEFAULT 1 CHECK (from_account IN (0, 1))',
      `CREATE TABLE hold_layer (
        hold_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        owner INTEGER NOT NULL,
        window_start INTEGER NOT NULL,
        PRIMARY KEY (hold_id, kind, owner, window_start)
      ) STRICT, WITHOUT ROWID`,
    ],
  },
  {
    id: 3,
    title: 'balance changes of accounts other than calls',
    sql: ["CREATE INDEX entry_of_money ON entry (owner, at_ms, ref, op) WHERE kind = 'account' AND op <> 'debit'"],
  },
  {
    id: 4,
    title: 'leases in the place of holds, debits by the day, debts with their accounts',
    sql: [
      // A ledger that does not reconcile is not migrated: the version before can report what is wrong with it.
      `CREATE TABLE proof (bucket TEXT CONSTRAINT "the ledger does not reconcile" CHECK (bucket IS NULL))`,
      prove('used', ENTERED("CASE op WHEN 'debit' THEN amount ELSE -amount END", "'debit', 'refund'")),
      prove('held', HELD),
      prove('granted', ENTERED('amount', "'credit', 'adjust'"), "b.kind IN ('account', 'key', 'debt')"),
      proveBuckets('SELECT kind, owner, window_start FROM entry'),
      proveBuckets(HELD),
      proveBuckets("SELECT 'account' AS kind, owner, window_start FROM bucket WHERE kind = 'debt'"),

      'ALTER TABLE bucket ADD COLUMN debt INTEGER NOT NULL DEFAULT 0 CHECK (debt >= 0)',
      `UPDATE bucket SET debt = (SELECT granted FROM bucket AS owed
          WHERE owed.kind = 'debt' AND owed.owner = bucket.owner AND owed.window_start = 0)
        WHERE kind = 'account' AND window_start = 0
          AND EXISTS (SELECT 1 FROM bucket AS owed WHERE owed.kind = 'debt' AND owed.owner = bucket.owner AND owed.window_start = 0)`,
      "DELETE FROM bucket WHERE kind = 'debt'",

      `CREATE TABLE lease (
        epoch TEXT NOT NULL,
        kind TEXT NOT NULL,
        owner INTEGER NOT NULL,
        window_start INTEGER NOT NULL,
        amount INTEGER NOT NULL CHECK (amount >= 0),
        PRIMARY KEY (epoch, kind, owner, window_start)
      ) STRICT, WITHOUT ROWID`,
      `INSERT INTO lease (epoch, kind, owner, window_start, amount)
        SELECT boot, kind, owner, window_start, SUM(amount) FROM (
          SELECT boot, 'account' AS kind, account_id AS owner, 0 AS window_start, amount FROM hold WHERE from_account = 1
          UNION ALL SELECT boot, 'key', key_id, 0, amount FROM hold
          UNION ALL SELECT h.boot, l.kind, l.owner, l.window_start, h.amount FROM hold_layer l JOIN hold h ON h.id = l.hold_id
        ) AS layers GROUP BY boot, kind, owner, window_start`,
      'ALTER TABLE hold RENAME TO running',
      'ALTER TABLE running RENAME COLUMN boot TO epoch',
      'ALTER TABLE hold_layer RENAME TO running_layer',
      'ALTER TABLE running_layer RENAME COLUMN hold_id TO id',

      `CREATE TABLE debit (
        kind TEXT NOT NULL,
        owner INTEGER NOT NULL,
        window_start INTEGER NOT NULL,
        day_ms INTEGER NOT NULL,
        amount INTEGER NOT NULL CHECK (amount > 0),
        PRIMARY KEY (kind, owner, window_start, day_ms)
      ) STRICT, WITHOUT ROWID`,
      `INSERT INTO debit (kind, owner, window_start, day_ms, amount)
        SELECT kind, owner, window_start, at_ms / ${DAY_MS} * ${DAY_MS}, SUM(amount) FROM entry WHERE op = 'debit' GROUP BY 1, 2, 3, 4`,
      'DROP TRIGGER entry_is_not_changed',
      'DROP TRIGGER entry_is_not_deleted',
      'DROP INDEX entry_credit_once',
      'DROP INDEX entry_of_money',
      'ALTER TABLE entry RENAME TO entry_of_calls',
      entryTable("'credit', 'refund', 'adjust'"),
      "INSERT INTO entry SELECT ref, op, kind, owner, window_start, amount, at_ms, actor FROM entry_of_calls WHERE op <> 'debit'",
      'DROP TABLE entry_of_calls',
      `CREATE UNIQUE INDEX entry_credit_once ON entry (ref) WHERE op = 'credit'`,
      "CREATE INDEX entry_of_money ON entry (owner, at_ms, ref, op) WHERE kind = 'account'",
      ...ENTRIES_ARE_APPEND_ONLY,

      prove(
        'used',
        `SELECT kind, owner, window_start, SUM(amount) AS amount FROM (
          SELECT kind, owner, window_start, amount FROM debit
          UNION ALL SELECT kind, owner, window_start, -amount FROM entry WHERE op = 'refund'
        ) AS moved GROUP BY kind, owner, window_start`,
      ),
      prove(
        'held',
        'SELECT kind, owner, window_start, SUM(amount) AS amount FROM lease GROUP BY kind, owner, window_start',
      ),
      prove('granted', ENTERED('amount', "'credit', 'adjust'"), "b.kind IN ('account', 'key')"),
      prove(
        'debt',
        `SELECT 'account' AS kind, owner, window_start, SUM(amount) AS amount FROM entry
          WHERE kind = 'debt' AND op IN ('credit', 'adjust') GROUP BY owner, window_start`,
      ),
      'DROP TABLE proof',
    ],
  },
  {
    id: 5,
    title: 'the processes that lease',
    sql: [
      'CREATE TABLE ledger_process (epoch TEXT NOT NULL PRIMARY KEY, since_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID',
      'INSERT INTO ledger_process (epoch, since_ms) SELECT epoch, 0 FROM lease UNION SELECT epoch, 0 FROM running',
    ],
  },
];
