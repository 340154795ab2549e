/** The tables of the plugin `console`. */
import type { Migration } from '../../core/plugin.ts';

/**
 * An `api_request` is one with an `Idempotency-Key`: who works on it (`claim`: process and request), whether it has changed anything, and its
 * sealed answer. An `api_change` is the last request that changed a record. Rows of both are deleted after a day.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'repeated requests, and revisions of records',
    sql: [
      `CREATE TABLE api_request (
        account_id INTEGER NOT NULL,
        key TEXT NOT NULL,
        digest TEXT NOT NULL,
        claim TEXT NOT NULL,
        changed INTEGER NOT NULL DEFAULT 0 CHECK (changed IN (0, 1)),
        answer TEXT,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (account_id, key)
      ) STRICT, WITHOUT ROWID`,
      'CREATE INDEX api_request_by_time ON api_request (at_ms)',
      `CREATE TABLE api_change (
        object TEXT NOT NULL PRIMARY KEY,
        request TEXT NOT NULL,
        at_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID`,
      'CREATE INDEX api_change_by_time ON api_change (at_ms)',
    ],
    compatibleFrom: 0,
  },
];
