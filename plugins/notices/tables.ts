/** Who was told that their quota runs low. */
import type { Migration } from '../../core/plugin.ts';

/**
 * A row per account that was ever told. `told`: since it was above its threshold. `remaining` and `granted` are micro-quota as they were
 * when it was looked at last and was below: what was granted since then tells whether it was above in between.
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
