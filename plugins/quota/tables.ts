/** The tables of the ledger: what each layer has, what running calls hold, every amount that ever moved; and subscriptions. */
import type { Migration } from '../../core/plugin.ts';

/** The most a layer can be granted, in micro-quota; leaves room for sums below 2^63. */
export const LARGEST_GRANT = 4_000_000_000_000_000_000n;

/** The most one call is ever held for or charged, in micro-quota: a milliard quota. */
export const LARGEST_CALL = 1_000_000_000_000_000n;

/**
 * Amounts are micro-quota. A `bucket` is one limit that calls are taken from, and its CHECKs are the last word: no
 * statement, ours or a person's, can bring it below zero. `hold` has the open reservations only: whoever deletes the
 * row closes it, and nobody can do that twice. `entry` is never changed; its key lets a call be taken from a bucket
 * once, and the index lets a payment be credited once. `ref` is the exchange's id for a debit or refund, and whatever
 * names the payment for a credit or adjustment. Rows written per call have keys ordered by time and no further index: that of the money
 * of accounts leaves calls out.
 *
 * Every call is taken from its key, and from its account unless a subscription includes it; what it is taken from beside these is
 * in `hold_layer` while it runs. A subscription's `changed_ms` grows with every change: others find by it what is new. What made it
 * longer, once each, is in `subscription_grant`.
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
      `CREATE TABLE entry (
        ref TEXT NOT NULL CHECK (ref <> ''),
        op TEXT NOT NULL CHECK (op IN ('debit', 'credit', 'refund', 'adjust')),
        kind TEXT NOT NULL,
        owner INTEGER NOT NULL,
        window_start INTEGER NOT NULL,
        amount INTEGER NOT NULL CHECK (amount > 0 OR (op = 'adjust' AND amount < 0)),
        at_ms INTEGER NOT NULL,
        actor TEXT NOT NULL,
        PRIMARY KEY (ref, op, kind, owner, window_start)
      ) STRICT, WITHOUT ROWID`,
      `CREATE UNIQUE INDEX entry_credit_once ON entry (ref) WHERE op = 'credit'`,
      `CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry
        BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END`,
      `CREATE TRIGGER entry_is_not_deleted BEFORE DELETE ON entry
        BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END`,
    ],
  },
  {
    id: 2,
    title: 'further layers of a call, subscriptions',
    sql: [
      'ALTER TABLE hold ADD COLUMN from_account INTEGER NOT NULL DEFAULT 1 CHECK (from_account IN (0, 1))',
      `CREATE TABLE hold_layer (
        hold_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        owner INTEGER NOT NULL,
        window_start INTEGER NOT NULL,
        PRIMARY KEY (hold_id, kind, owner, window_start)
      ) STRICT, WITHOUT ROWID`,
      `CREATE TABLE subscription (
        id INTEGER NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL,
        plan TEXT NOT NULL,
        starts_ms INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL CHECK (expires_ms > starts_ms),
        cancelled_ms INTEGER,
        changed_ms INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX subscription_by_account ON subscription (account_id, id)',
      'CREATE INDEX subscription_by_change ON subscription (changed_ms)',
      `CREATE TABLE subscription_grant (
        ref TEXT NOT NULL PRIMARY KEY CHECK (ref <> ''),
        account_id INTEGER NOT NULL,
        subscription_id INTEGER,
        plan TEXT NOT NULL,
        length_ms INTEGER NOT NULL CHECK (length_ms > 0),
        at_ms INTEGER NOT NULL,
        actor TEXT NOT NULL
      ) STRICT, WITHOUT ROWID`,
    ],
  },
  {
    id: 3,
    title: 'what moved the money of an account, calls apart',
    sql: ["CREATE INDEX entry_of_money ON entry (owner, at_ms, ref, op) WHERE kind = 'account' AND op <> 'debit'"],
  },
];
