/** The tables of stored prompts and answers. */
import type { Migration } from '../../core/plugin.ts';

/**
 * `prompt_log`: one row per call. `sealed` is a `StoredContent` as JSON, sealed for its id. `at_ms`: when the call ended.
 * `prompt_log_ended`: accounts and keys that were deleted, so that calls that were running then are not stored; for a day.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'prompts and answers',
    compatibleFrom: 0,
    sql: [
      `CREATE TABLE prompt_log (
        id TEXT NOT NULL PRIMARY KEY,
        account_id INTEGER NOT NULL,
        key_id INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        sealed TEXT NOT NULL
      ) STRICT`,
      'CREATE INDEX prompt_log_by_age ON prompt_log (at_ms)',
      'CREATE INDEX prompt_log_by_account ON prompt_log (account_id)',
      'CREATE INDEX prompt_log_by_key ON prompt_log (key_id)',
      `CREATE TABLE prompt_log_ended (
        kind TEXT NOT NULL CHECK (kind IN ('account', 'key')),
        owner INTEGER NOT NULL,
        at_ms INTEGER NOT NULL,
        PRIMARY KEY (kind, owner)
      ) STRICT`,
    ],
  },
];
