/** Puts a backup in the place of the store. */
import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { StoreDriver } from '../../../core/plugin.ts';
import { refuse } from '../../../core/plugin.ts';
import { sync, verify } from './connection.ts';
import { lock } from './lock.ts';

/**
 * Replaces the database `file` by the one at `from`, which stays as it is. What was there is kept as `<file>.before-restore`.
 * Throws `StoreInUse` while a gateway runs on it, and refuses (400, 409) a source that is not a whole, sound database of
 * Turnpike; nothing has changed then. Cut off in the middle, it leaves the old database or the new one, never a mixture.
 */
export const restore: StoreDriver['restore'] = async ({ from, file, log }) => {
  const source = resolve(from);
  const target = resolve(file);
  const kept = `${target}.before-restore`;
  if (source === target) refuse(400, 'backup_unusable', `${from} is the store itself`);
  if (!existsSync(source)) refuse(400, 'backup_unusable', `${from} does not exist`);
  if (existsSync(`${source}-wal`)) {
    refuse(400, 'backup_unusable', `${from} is in use or was not closed well: take a backup of it and restore that`);
  }
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const unlock = lock(target);
  const copy = `${target}.restoring`;
  try {
    if (existsSync(kept)) refuse(409, 'file_exists', `${kept} is left from an earlier restore: move it away first`);
    rmSync(copy, { force: true });
    copyFileSync(source, copy);
    chmodSync(copy, 0o600);
    try {
      verify(copy);
    } catch (error) {
      const reason = error instanceof Error ? error.message.replaceAll(copy, from) : String(error);
      refuse(400, 'backup_unusable', reason);
    }
    sync(copy);
    if (existsSync(target)) {
      // The log is kept beside its file, under the name that belongs to it: together they are the old state, whole.
      linkSync(target, kept);
      if (existsSync(`${target}-wal`)) linkSync(`${target}-wal`, `${kept}-wal`);
    }
    // The old log must be gone before the new file comes: it would be played back into it.
    rmSync(`${target}-wal`, { force: true });
    rmSync(`${target}-shm`, { force: true });
    sync(dirname(target));
    renameSync(copy, target);
    sync(dirname(target));
  } finally {
    rmSync(copy, { force: true });
    unlock();
  }
  log.info('the store was restored', { from: source, to: target, ...(existsSync(kept) ? { kept } : {}) });
};
