/** The tables of responses that can be continued. */
import type { Migration } from '../../../core/plugin.ts';

/**
 * One row per response: what was new in its request, and the answer. `previous_id` is the one it goes on from; all that come from
 * one beginning share `conversation`. `turns` and `bytes` count it and everything before it. `channel` is whose vendor knows
 * `id`, NULL where only we do. `input` is a JSON array of items, `response` a JSON object. `free`: it counts towards what an account may
 * keep of models that are free.
 *
 * `response_bytes`: how many bytes the texts of an account have, written in the same list as they. `response_evicted`: what the list
 * that runs is about to delete, because there are too many; between two lists it is empty.
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
