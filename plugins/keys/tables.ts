/** The tables of keys. Their balances are in the ledger; secrets are not stored. */
import type { Migration } from '../../core/plugin.ts';

/**
 * `hash` is the SHA-256 of the secret, whose 256 random bits need no slow hash. `models` and `addresses` are JSON lists; NULL means no
 * restriction. A deleted key keeps its row, because usage records refer to it. `former_secret` has the hashes of rotated secrets that stay valid for
 * their grace period.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'keys',
    sql: [
      `CREATE TABLE api_key (
        id INTEGER NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL,
        name TEXT NOT NULL,
        hash BLOB NOT NULL UNIQUE,
        prefix TEXT NOT NULL,
        suffix TEXT NOT NULL,
        enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
        created_ms INTEGER NOT NULL,
        expires_ms INTEGER,
        models TEXT,
        addresses TEXT,
        revoked_ms INTEGER
      ) STRICT`,
      'CREATE INDEX api_key_account ON api_key (account_id)',
    ],
  },
  {
    id: 2,
    title: 'keys that want faithful translations',
    sql: ['ALTER TABLE api_key ADD COLUMN strict INTEGER NOT NULL DEFAULT 0 CHECK (strict IN (0, 1))'],
  },
  {
    id: 3,
    title: 'when a key was used, the one tools ask for, and secrets that were exchanged',
    sql: [
      'ALTER TABLE api_key ADD COLUMN used_ms INTEGER',
      'ALTER TABLE api_key ADD COLUMN is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1))',
      'CREATE UNIQUE INDEX api_key_default ON api_key (account_id) WHERE is_default = 1 AND revoked_ms IS NULL',
      `CREATE TABLE former_secret (
        hash BLOB NOT NULL PRIMARY KEY,
        key_id INTEGER NOT NULL REFERENCES api_key (id),
        until_ms INTEGER NOT NULL
      ) STRICT`,
      'CREATE INDEX former_secret_key ON former_secret (key_id)',
      'CREATE INDEX former_secret_until ON former_secret (until_ms)',
    ],
  },
];
