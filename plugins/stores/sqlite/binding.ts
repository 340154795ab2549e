/** SQLite for the Node that runs: one version of its binding wants Node 22; the last one for Node 20 aborts from Node 24.19 on. */
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

const isOld = Number(process.versions.node.split('.')[0]) < 22;

/** Opens databases. Of the two versions only what both do alike is used. */
export const Database: typeof BetterSqlite3 = createRequire(import.meta.url)(
  isOld ? 'better-sqlite3' : 'better-sqlite3-13',
);
