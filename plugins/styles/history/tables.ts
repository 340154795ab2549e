/** The tables of stored responses. */
import type { Migration } from '../../../core/plugin.ts';

/**
 * One row per response: the new input of its request, and the response. `previous_id` is the response that it continues;
 * all that have the same first one share `conversation`. `turns` and `bytes` include all earlier turns. `channel` is the
 * channel whose vendor knows `id`, NULL if only the gateway does. `input` is a JSON array of items, `response` a JSON
 * object. `free`: it counts towards the account's budget for free models. `response_bytes`: the bytes of an account's
 * texts, written in the same list of steps as the texts. `response_evicted`: what the running list is about to delete
 * because the budget is exceeded; empty between two lists.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'responses that can be continued',
    sql: [
      `CREATE TABLE response_turn (
        account_id INTEGER NOT NULL,
        id TEXT NOT NULL,
        previous_id TEXT,
        conversation TEXT NOT NULL,
        turns INTEGER NOT NULL CHECK (turns > 0),
        bytes INTEGER NOT NULL,
        channel TEXT,
        expires_ms INTEGER NOT NULL,
        input TEXT NOT NULL,
        response TEXT NOT NULL,
        PRIMARY KEY (account_id, id)
      ) STRICT`,
      'CREATE INDEX response_turn_by_expiry ON response_turn (expires_ms, account_id, id)',
      'CREATE INDEX response_turn_by_conversation ON response_turn (account_id, conversation, expires_ms)',
    ],
  },
  {
    id: 2,
    title: 'how much is kept of each account',
    sql: [
      'ALTER TABLE response_turn ADD COLUMN free INTEGER NOT NULL DEFAULT 0 CHECK (free IN (0, 1))',
      'CREATE INDEX response_turn_by_age ON response_turn (account_id, free, expires_ms, id)',
      `CREATE TABLE response_bytes (
        account_id INTEGER NOT NULL,
        free INTEGER NOT NULL CHECK (free IN (0, 1)),
        bytes INTEGER NOT NULL,
        PRIMARY KEY (account_id, free)
      ) STRICT, WITHOUT ROWID`,
      'CREATE TABLE response_evicted (id TEXT NOT NULL PRIMARY KEY, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID',
      `INSERT INTO response_bytes (account_id, free, bytes)
        SELECT account_id, 0, SUM(octet_length(input) + octet_length(response)) FROM response_turn GROUP BY account_id`,
    ],
  },
];
