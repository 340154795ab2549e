/** Replaces the store by a backup. */
import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { coreErrors } from '../../../core/contracts/errors.ts';
import { type StoreDriver, StoreInUse } from '../../../core/plugin.ts';
import { sync, verify } from './connection.ts';
import { isLocked, lock } from './lock.ts';

/**
 * Replaces the database `file` by a copy of `from`, including the changes in its write-ahead log; `from` is not changed. The previous
 * database is kept as `<file>.before-restore`. Throws `StoreInUse` while a gateway runs on it, and refuses (400, 409) a source that is not
 * a complete, undamaged Turnpike database; then nothing changed. An interruption leaves the old database or the new one, never a mixture.
 */
export const restore: NonNullable<StoreDriver['restore']> = async ({ from, file, log }) => {
  const source = resolve(from);
  const target = resolve(file);
  const kept = `${target}.before-restore`;
  if (source === target) throw coreErrors.backup_unusable(`${from} is the store itself`);
  if (!existsSync(source)) throw coreErrors.backup_unusable(`${from} does not exist`);
  if (isLocked(source)) {
    throw coreErrors.backup_unusable(`${from} is in use: take a backup of it with its own gateway, and restore that`);
  }
  if (isLocked(target)) throw new StoreInUse(`${target} is in use by another process: stop the gateway first`);
  // A folder that was created for an invalid backup is removed again.
  const made = mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const copy = `${target}.restoring-${process.pid}`;
  const removeCopy = (): void => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${copy}${end}`, { force: true });
  };
  try {
    takeCopy(source, copy, from);
  } catch (error) {
    removeCopy();
    if (made !== undefined) rmSync(made, { recursive: true });
    throw error;
  }
  let unlock = (): void => {};
  try {
    unlock = lock(target);
    const old = ['', '-wal'].filter((end) => existsSync(`${target}${end}`));
    for (const end of ['', '-wal']) {
      if (existsSync(`${kept}${end}`)) {
        throw coreErrors.file_exists(`${kept}${end} is left from an earlier restore: move it away first`);
      }
    }
    // The log is kept next to the file, under the matching name: together they are the complete old state.
    for (const end of old) linkSync(`${target}${end}`, `${kept}${end}`);
    // The old log must be moved away before the new file is in its place: SQLite would replay it into the new file.
    rmSync(`${target}-wal`, { force: true });
    rmSync(`${target}-shm`, { force: true });
    sync(dirname(target));
    renameSync(copy, target);
    sync(dirname(target));
    const before = old.length > 0 ? kept : undefined;
    log.info('the store was restored', { from: source, to: target, ...(before !== undefined && { kept: before }) });
    return before;
  } finally {
    removeCopy();
    unlock();
  }
};

/** Copies a backup to a single synced file, and refuses (400) one that is incomplete or damaged. */
function takeCopy(source: string, copy: string, from: string): void {
  copyFileSync(source, copy);
  chmodSync(copy, 0o600);
  // Programs that only read the backup leave an empty log.
  const log = `${source}-wal`;
  if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0) copyFileSync(log, `${copy}-wal`);
  try {
    verify(copy);
  } catch (error) {
    const reason = error instanceof Error ? error.message.replaceAll(copy, from) : String(error);
    throw coreErrors.backup_unusable(reason);
  }
  if (existsSync(`${copy}-wal`)) throw new Error(`the write-ahead log of ${from} could not be written into its copy`);
  sync(copy);
}
