/** The tables of payments: orders, processed notifications, and redemption codes. */
import type { Migration } from '../../core/plugin.ts';

/**
 * `top_up`: `money` and the returned amounts (`refunded`, `disputed`) are in the smallest unit of the currency; `quota` is what the order
 * adds, `credited` what it has added, `taken` what was taken back, all in micro-quota. A provider's payment can settle one order.
 * `payment_event`: processed notifications, so that each is processed once. `payment_dispute`: the amount of each dispute of an order, in
 * the unit of its money. `payment_document`: invoices and credit notes, never changed or deleted; `amount` in the unit of the order's money,
 * `facts` what they show. `redemption_code`: found by its hash; the code itself is encrypted, and erased when it is removed.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'orders, events of providers and redemption codes',
    sql: [
      `CREATE TABLE top_up (
        id INTEGER NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL,
        provider TEXT NOT NULL,
        method TEXT NOT NULL,
        trade_no TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL CHECK (kind IN ('quota', 'plan')),
        plan TEXT,
        product TEXT,
        amount INTEGER NOT NULL,
        quota INTEGER NOT NULL CHECK (quota >= 0),
        money INTEGER NOT NULL CHECK (money > 0),
        currency TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('pending', 'success', 'failed', 'expired', 'parked', 'refunded', 'disputed')),
        note TEXT NOT NULL DEFAULT '',
        payment_ref TEXT,
        credited INTEGER NOT NULL DEFAULT 0 CHECK (credited BETWEEN 0 AND quota),
        refunded INTEGER NOT NULL DEFAULT 0 CHECK (refunded BETWEEN 0 AND money),
        disputed INTEGER NOT NULL DEFAULT 0 CHECK (disputed BETWEEN 0 AND money),
        taken INTEGER NOT NULL DEFAULT 0 CHECK (taken BETWEEN 0 AND credited),
        created_ms INTEGER NOT NULL,
        completed_ms INTEGER,
        expires_ms INTEGER NOT NULL,
        UNIQUE (provider, payment_ref)
      ) STRICT`,
      'CREATE INDEX top_up_of_account ON top_up (account_id, id)',
      `CREATE INDEX top_up_waiting ON top_up (expires_ms) WHERE state = 'pending'`,
      `CREATE TABLE payment_event (
        provider TEXT NOT NULL,
        event TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (provider, event)
      ) STRICT`,
      'CREATE INDEX payment_event_by_time ON payment_event (at_ms)',
      `CREATE TABLE redemption_code (
        id INTEGER NOT NULL PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,
        sealed TEXT NOT NULL,
        name TEXT NOT NULL,
        quota INTEGER NOT NULL CHECK (quota > 0),
        enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
        created_by INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        expires_ms INTEGER,
        used_by INTEGER,
        used_ms INTEGER,
        deleted_ms INTEGER
      ) STRICT`,
    ],
  },
  {
    id: 2,
    title: 'disputes, of which a payment may have several',
    sql: [
      `CREATE TABLE payment_dispute (
        provider TEXT NOT NULL,
        dispute TEXT NOT NULL,
        order_id INTEGER NOT NULL,
        amount INTEGER NOT NULL CHECK (amount >= 0),
        PRIMARY KEY (provider, dispute)
      ) STRICT`,
      'CREATE INDEX payment_dispute_of_order ON payment_dispute (order_id)',
    ],
  },
  {
    id: 3,
    title: 'invoices and credit notes',
    sql: [
      `CREATE TABLE payment_document (
        seq INTEGER NOT NULL PRIMARY KEY,
        number TEXT NOT NULL UNIQUE,
        order_id INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('invoice', 'credit')),
        amount INTEGER NOT NULL CHECK (amount > 0),
        issued_ms INTEGER NOT NULL,
        facts TEXT NOT NULL
      ) STRICT`,
      'CREATE INDEX payment_document_of_order ON payment_document (order_id)',
    ],
  },
];
