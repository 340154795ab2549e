/** One process per store: a second, tiny database stays locked while the process runs. */
import { existsSync } from 'node:fs';
import { StoreInUse } from '../../../core/plugin.ts';
import { Database } from './binding.ts';
import { createPrivate } from './connection.ts';

const lockOf = (file: string): string => `${file}.lock`;

/**
 * Locks `file` against other processes, and against a second lock in this one; returns a function that unlocks it. The kernel unlocks it if
 * the process dies. Throws `StoreInUse` if it is locked.
 */
export function lock(file: string): () => void {
  const name = lockOf(file);
  createPrivate(name);
  const db = new Database(name, { timeout: 0 });
  try {
    // Nothing is ever written, so no journal file is needed.
    db.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    db.close();
    if (!(error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))) throw error;
    throw new StoreInUse(`${file} is in use by another process: only one gateway at a time can have it`);
  }
  return () => db.close();
}

/** Whether a process has locked `file`. Creates nothing. */
export function isLocked(file: string): boolean {
  if (!existsSync(lockOf(file))) return false;
  try {
    lock(file)();
    return false;
  } catch (error) {
    if (error instanceof StoreInUse) return true;
    throw error;
  }
}
