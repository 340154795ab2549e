/** The three tables of the ledger: what each layer has, what running calls hold, and every amount that ever moved. */
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
 * names the payment for a credit or adjustment. Rows written per call have keys ordered by time and no further index.
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
];
