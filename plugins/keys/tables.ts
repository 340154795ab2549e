/** The table of keys. What a key may spend is the ledger's; the secret itself is nowhere. */
import type { Migration } from '../../core/plugin.ts';

/**
 * `hash` is the SHA-256 of the secret: 256 random bits need no slow hash. `models` and `addresses` are JSON lists; NULL
 * is no restriction. A revoked key keeps its row, because usage records name it.
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
];
