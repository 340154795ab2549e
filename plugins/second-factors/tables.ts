/** The tables of second factors. Secrets are encrypted, backup codes are hashed. */
import type { Migration } from '../../core/plugin.ts';

/**
 * `totp`: `last_step` is the newest time step whose code was used; `wrong`, `locked_until_ms` and `lock_ms` (duration of the next lock)
 * count wrong codes; locks until `noted_ms` are in the audit log. `totp_pending` is an authenticator that waits for its first code. The
 * hash of a backup code is the SHA-256 of its 24 characters; `pending` ones are not active yet. `passkey_user` has the user handle of an
 * account, which is kept when its passkey is removed; `transports` is a JSON list.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'codes and passkeys',
    sql: [
      `CREATE TABLE totp (
        account_id INTEGER NOT NULL PRIMARY KEY,
        secret TEXT NOT NULL,
        last_step INTEGER NOT NULL,
        wrong INTEGER NOT NULL,
        locked_until_ms INTEGER NOT NULL,
        lock_ms INTEGER NOT NULL,
        noted_ms INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE totp_pending (
        account_id INTEGER NOT NULL PRIMARY KEY,
        secret TEXT NOT NULL
      ) STRICT`,
      `CREATE TABLE backup_code (
        account_id INTEGER NOT NULL,
        hash BLOB NOT NULL,
        pending INTEGER NOT NULL CHECK (pending IN (0, 1)),
        PRIMARY KEY (account_id, hash)
      ) STRICT`,
      `CREATE TABLE passkey_user (
        account_id INTEGER NOT NULL PRIMARY KEY,
        handle TEXT NOT NULL UNIQUE
      ) STRICT`,
      `CREATE TABLE passkey (
        account_id INTEGER NOT NULL PRIMARY KEY,
        credential_id TEXT NOT NULL UNIQUE,
        public_key BLOB NOT NULL,
        counter INTEGER NOT NULL,
        transports TEXT NOT NULL,
        backed_up INTEGER NOT NULL CHECK (backed_up IN (0, 1)),
        created_ms INTEGER NOT NULL,
        last_used_ms INTEGER
      ) STRICT`,
    ],
  },
];
