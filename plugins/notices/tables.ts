/** The table of sent low balance notifications. */
import type { Migration } from '../../core/plugin.ts';

/**
 * A row per account that was ever notified. `told`: notified since the balance was above the threshold. `remaining` and `granted` are
 * micro-quota at the last check below the threshold: what was credited since then shows whether the balance was above in between.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'notices of low balances',
    sql: [
      `CREATE TABLE notice (
        account_id INTEGER NOT NULL PRIMARY KEY,
        told INTEGER NOT NULL CHECK (told IN (0, 1)),
        remaining INTEGER NOT NULL,
        granted INTEGER NOT NULL,
        noticed_ms INTEGER NOT NULL
      ) STRICT`,
    ],
  },
];
