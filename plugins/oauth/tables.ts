/** The table of linked OAuth accounts. */
import type { Migration } from '../../core/plugin.ts';

/** An identity is a provider and its subject: the same subject at another provider is another user. */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'identities elsewhere',
    sql: [
      `CREATE TABLE oauth_link (
        provider TEXT NOT NULL,
        subject TEXT NOT NULL,
        account_id INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        PRIMARY KEY (provider, subject),
        UNIQUE (account_id, provider)
      ) STRICT`,
    ],
  },
];
