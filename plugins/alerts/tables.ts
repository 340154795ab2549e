/** The tables of alerts. */
import type { Migration } from '../../core/plugin.ts';

/**
 * `alert` has what was told last about each subject, so that every process of a cluster tells each level once per period. `level` is 0 if the
 * condition has ended. `period_ms` is when the period of a budget began; 0: it has none. `resets_ms` is when it ends. `since_ms` is when `level` was
 * reached, `told_ms` when that was told last; NULL: never.
 *
 * `alert_event` has what was told, and `alert_delivery` the outbox: one row for each event and target. `ended_ms` is when the delivery succeeded, or
 * was given up. `account_id` is the account that the event is about; NULL: none. `facts` is JSON (`AlertFacts`).
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'alerts, events and their deliveries',
    sql: [
      `CREATE TABLE alert (
        subject TEXT NOT NULL PRIMARY KEY,
        kind TEXT NOT NULL,
        level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 100),
        period_ms INTEGER NOT NULL,
        resets_ms INTEGER,
        since_ms INTEGER NOT NULL,
        told_ms INTEGER,
        title TEXT NOT NULL,
        text TEXT NOT NULL
      ) STRICT`,
      `CREATE TABLE alert_event (
        id TEXT NOT NULL PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        kind TEXT NOT NULL,
        subject TEXT NOT NULL,
        level INTEGER NOT NULL,
        is_over INTEGER NOT NULL CHECK (is_over IN (0, 1)),
        title TEXT NOT NULL,
        text TEXT NOT NULL,
        account_id INTEGER
      ) STRICT`,
      'CREATE INDEX alert_event_time ON alert_event (at_ms)',
      `CREATE TABLE alert_delivery (
        event_id TEXT NOT NULL REFERENCES alert_event (id),
        target TEXT NOT NULL,
        state TEXT NOT NULL CHECK (state IN ('waiting', 'sent', 'failed')),
        attempts INTEGER NOT NULL DEFAULT 0,
        at_ms INTEGER NOT NULL,
        ended_ms INTEGER,
        PRIMARY KEY (event_id, target)
      ) STRICT`,
      'CREATE INDEX alert_delivery_state ON alert_delivery (state, target, at_ms)',
    ],
  },
  {
    id: 2,
    title: 'what alerts say, as data',
    sql: [
      `ALTER TABLE alert ADD COLUMN facts TEXT NOT NULL DEFAULT '{}'`,
      `ALTER TABLE alert_event ADD COLUMN facts TEXT NOT NULL DEFAULT '{}'`,
    ],
  },
];
