/** The table of responses that can be continued. */
import type { Migration } from '../../../core/plugin.ts';

/**
 * One row per response: what was new in its request, and the answer. `previous_id` is the one it goes on from; all that come from
 * one beginning share `conversation`. `turns` and `bytes` count it and everything before it. `channel` is whose vendor knows
 * `id`, NULL where only we do. `input` is a JSON array of items, `response` a JSON object.
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
];
