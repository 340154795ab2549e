/** The tables of departments: the tree, its members, and a version. Balances are in the ledger; budgets are limits. */
import type { Migration } from '../../core/plugin.ts';

/** The maximum budget, in micro-quota, limited by the ledger's integers. */
export const LARGEST_BUDGET = 4_000_000_000_000_000_000n;

/**
 * `folded` is the name in lower case. Every change increments the `version` of `department_tree` in the same list, if it still is the
 * version the change was computed for: so what was validated in memory is still true when it is written.
 */
export const migrations: readonly Migration[] = [
  {
    id: 1,
    title: 'departments and their people',
    sql: [
      `CREATE TABLE department (
        id INTEGER NOT NULL PRIMARY KEY,
        name TEXT NOT NULL,
        folded TEXT NOT NULL,
        parent_id INTEGER REFERENCES department (id),
        budget INTEGER CHECK (budget BETWEEN 0 AND ${LARGEST_BUDGET}),
        monthly_budget INTEGER CHECK (monthly_budget BETWEEN 0 AND ${LARGEST_BUDGET}),
        factor_ppm INTEGER NOT NULL CHECK (factor_ppm >= 0),
        enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
        created_ms INTEGER NOT NULL,
        updated_ms INTEGER NOT NULL
      ) STRICT`,
      'CREATE UNIQUE INDEX department_name ON department (COALESCE(parent_id, 0), folded)',
      `CREATE TABLE membership (
        account_id INTEGER NOT NULL PRIMARY KEY,
        department_id INTEGER NOT NULL REFERENCES department (id),
        since_ms INTEGER NOT NULL
      ) STRICT`,
      `CREATE TABLE department_tree (
        one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
        version INTEGER NOT NULL,
        last_id INTEGER NOT NULL
      ) STRICT`,
      'INSERT INTO department_tree (one, version, last_id) VALUES (1, 0, 0)',
    ],
  },
];
