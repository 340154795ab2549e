/** The tables of accounts and their credentials. Balances are in the ledger. */
import type { Migration } from '../../core/plugin.ts';

/**
 * `folded` and `email_folded` are lower case: names that differ only in case are equal. A deleted account keeps its row, and its name stays
 * reserved. `scope_name` is the name before the user changed it, NULL if that is `name`; `scope_folded` is its lower case. Sessions, access tokens, service tokens and tickets are stored as SHA-256 of secrets with 256 random bits, which need no slow hash; the `data`
 * of a ticket is encrypted. `invitation.ticket` is the hash of its ticket, which is deleted when used; `preset` is JSON, its `balance` micro-quota
 * as text.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'accounts and their passwords',
    sql: [
      `CREATE TABLE account (
        id INTEGER NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        folded TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL CHECK (role IN ('member', 'admin', 'root')),
        enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
        created_ms INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE password (
        account_id INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
        hash TEXT NOT NULL
      ) STRICT`,
    ],
  },
  {
    id: 2,
    title: 'people: e-mail addresses, groups, settings, deleted accounts',
    sql: [
      `ALTER TABLE account ADD COLUMN display_name TEXT NOT NULL DEFAULT ''`,
      'ALTER TABLE account ADD COLUMN email TEXT',
      'ALTER TABLE account ADD COLUMN email_folded TEXT',
      `ALTER TABLE account ADD COLUMN group_name TEXT NOT NULL DEFAULT 'default'`,
      `ALTER TABLE account ADD COLUMN remark TEXT NOT NULL DEFAULT ''`,
      'ALTER TABLE account ADD COLUMN last_login_ms INTEGER',
      'ALTER TABLE account ADD COLUMN deleted_ms INTEGER',
      `ALTER TABLE account ADD COLUMN settings TEXT NOT NULL DEFAULT '{}'`,
      'UPDATE account SET display_name = name',
      'CREATE UNIQUE INDEX account_email ON account (email_folded)',
    ],
  },
  {
    id: 3,
    title: 'sessions, access tokens and tickets',
    sql: [
      `CREATE TABLE session (
        id INTEGER NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL REFERENCES account (id),
        hash BLOB NOT NULL UNIQUE,
        method TEXT NOT NULL,
        ip TEXT NOT NULL,
        user_agent TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        last_seen_ms INTEGER NOT NULL,
        verified_until_ms INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX session_account ON session (account_id, created_ms)',
      `CREATE TABLE access_token (
        account_id INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
        hash BLOB NOT NULL UNIQUE,
        created_ms INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE ticket (
        hash BLOB NOT NULL PRIMARY KEY,
        account_id INTEGER REFERENCES account (id),
        data TEXT NOT NULL,
        attempts INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX ticket_account ON ticket (account_id)',
      'CREATE INDEX ticket_expiry ON ticket (expires_ms)',
    ],
  },
  {
    id: 4,
    title: 'invitations and what became of them',
    sql: [
      `CREATE TABLE invitation (
        id INTEGER NOT NULL PRIMARY KEY,
        ticket BLOB NOT NULL UNIQUE,
        made_by INTEGER NOT NULL REFERENCES account (id),
        created_ms INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL,
        used_by INTEGER REFERENCES account (id),
        used_ms INTEGER,
        revoked_ms INTEGER
      ) STRICT`,
      'CREATE INDEX invitation_expiry ON invitation (expires_ms)',
    ],
  },
  {
    id: 5,
    title: 'checks that were made with an access token',
    sql: ['ALTER TABLE access_token ADD COLUMN verified_until_ms INTEGER NOT NULL DEFAULT 0'],
  },
  {
    id: 6,
    title: 'service tokens',
    sql: [
      `CREATE TABLE service_token (
        id INTEGER NOT NULL PRIMARY KEY,
        hash BLOB NOT NULL UNIQUE,
        name TEXT NOT NULL,
        account_id INTEGER NOT NULL REFERENCES account (id),
        scopes TEXT NOT NULL,
        addresses TEXT,
        suffix TEXT NOT NULL,
        created_ms INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL,
        used_ms INTEGER,
        used_ip TEXT NOT NULL,
        revoked_ms INTEGER
      ) STRICT`,
      'CREATE INDEX service_token_account ON service_token (account_id)',
    ],
  },
  {
    id: 7,
    title: 'invitations for an email address',
    sql: [
      'ALTER TABLE invitation ADD COLUMN email TEXT',
      'ALTER TABLE invitation ADD COLUMN email_folded TEXT',
      `ALTER TABLE invitation ADD COLUMN preset TEXT NOT NULL DEFAULT '{}'`,
      'ALTER TABLE invitation ADD COLUMN sent_ms INTEGER',
      'CREATE INDEX invitation_email ON invitation (email_folded)',
    ],
  },
  {
    id: 8,
    title: 'the names that scopes of gateway.yaml compare',
    compatibleFrom: 7,
    sql: [
      'ALTER TABLE account ADD COLUMN scope_name TEXT',
      'ALTER TABLE account ADD COLUMN scope_folded TEXT',
      'CREATE INDEX account_scope ON account (scope_folded)',
    ],
  },
  {
    id: 9,
    title: 'password hashes of other programs are found at once',
    compatibleFrom: 7,
    sql: [`CREATE INDEX password_old ON password (account_id) WHERE substr(hash, 1, 8) <> '$scrypt$'`],
  },
];
