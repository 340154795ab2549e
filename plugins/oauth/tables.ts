/** Whose identities elsewhere are whose. */
import type { Migration } from '../../core/plugin.ts';

/** An identity is what a provider calls somebody, together with the provider: the same word at another one is somebody else. */
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
