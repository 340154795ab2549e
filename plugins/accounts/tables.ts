/** The tables of people: who they are, and how they prove it. No money here. */
import type { Migration } from '../../core/plugin.ts';

/** `folded` is the name in lower case: two names that differ only in case are one. */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'accounts and their passwords',
    sql: [
      `CREATE TABLE account (
        id INTEGER NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        folded TEXT NOT NULL UNIQUE,
        role TEXT NOT NULL CHECK (role IN ('member', 'admin', 'root')),
        enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
        created_ms INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE password (
        account_id INTEGER NOT NULL PRIMARY KEY REFERENCES account (id),
        hash TEXT NOT NULL
      ) STRICT`,
    ],
  },
];
