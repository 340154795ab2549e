/** The table of usage records. */
import type { Migration } from '../../core/plugin.ts';

/**
 * One row per exchange, kept under its account and in the order of time: the key alone serves pages, and a row costs
 * one write. `charged` is micro-quota. The counts are tokens, NULL where nothing was used. `other` is a JSON object.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'usage records',
    sql: [
      `CREATE TABLE usage_record (
        account_id INTEGER NOT NULL,
        id TEXT NOT NULL,
        at_ms INTEGER NOT NULL,
        key_id INTEGER NOT NULL,
        style TEXT NOT NULL,
        model TEXT NOT NULL,
        channel TEXT NOT NULL,
        stream INTEGER NOT NULL CHECK (stream IN (0, 1)),
        outcome TEXT NOT NULL,
        status INTEGER NOT NULL,
        input INTEGER,
        cache_read INTEGER,
        cache_write INTEGER,
        cache_write_long INTEGER,
        input_audio INTEGER,
        output INTEGER,
        reasoning INTEGER,
        output_audio INTEGER,
        estimated INTEGER CHECK (estimated IN (0, 1)),
        charged INTEGER NOT NULL CHECK (charged >= 0),
        duration_ms INTEGER NOT NULL,
        first_byte_ms INTEGER,
        ip TEXT NOT NULL,
        other TEXT NOT NULL,
        PRIMARY KEY (account_id, id)
      ) STRICT, WITHOUT ROWID`,
    ],
  },
];
