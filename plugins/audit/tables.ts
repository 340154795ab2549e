/** The tables of the audit log: the entries, each chained to the one before it, and the head of the chain. */
import type { Migration } from '../../core/plugin.ts';

/** The predecessor hash of the first entry. */
export const NO_ENTRY = '0'.repeat(64);

/**
 * `hash` covers the entry and the previous hash. The only row of `audit_head` has the number of entries and the last hash, so that entries
 * removed at the end are noticed. Only lists that write entries change both tables.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'the audit log',
    sql: [
      `CREATE TABLE audit (
        seq INTEGER NOT NULL PRIMARY KEY,
        at_ms INTEGER NOT NULL,
        actor_id INTEGER,
        actor TEXT NOT NULL,
        ip TEXT NOT NULL,
        action TEXT NOT NULL CHECK (action <> ''),
        object TEXT NOT NULL,
        facts TEXT NOT NULL,
        hash TEXT NOT NULL
      ) STRICT`,
      'CREATE INDEX audit_by_actor ON audit (actor, seq)',
      'CREATE INDEX audit_by_action ON audit (action, seq)',
      'CREATE INDEX audit_by_time ON audit (at_ms, seq)',
      `CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
      `CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
        BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
      `CREATE TABLE audit_head (
        one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
        seq INTEGER NOT NULL,
        hash TEXT NOT NULL
      ) STRICT`,
      `INSERT INTO audit_head (one, seq, hash) VALUES (1, 0, '${NO_ENTRY}')`,
      `CREATE TRIGGER audit_head_only_grows BEFORE UPDATE ON audit_head WHEN NEW.seq <> OLD.seq + 1
        BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
      `CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head
        BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END`,
    ],
  },
];
