/**
 * Loads better-sqlite3 for the running Node version: one release needs Node 22; the last one for Node 20 aborts from Node 24.19 on, and package-lock.json
 * names only Node 20 for it, so that npm installs and compiles it nowhere else.
 */
import { createRequire } from 'node:module';
import type BetterSqlite3 from 'better-sqlite3';

const isOld = Number(process.versions.node.split('.')[0]) < 22;

/** Opens databases. Only features that both releases share are used. */
export const Database: typeof BetterSqlite3 = createRequire(import.meta.url)(
  isOld ? 'better-sqlite3' : 'better-sqlite3-13',
);
