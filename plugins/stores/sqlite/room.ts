/** How much room a database takes on its disk, and how much is left there. */
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StoreRoom } from '../../../core/plugin.ts';

/** Undefined where it cannot be looked at. */
export async function roomOf(file: string): Promise<StoreRoom | undefined> {
  try {
    const [database, log, disk] = await Promise.all([stat(file), sizeOf(`${file}-wal`), statfs(dirname(file))]);
    return { file: database.size, log, free: disk.bavail * disk.bsize, disk: disk.blocks * disk.bsize };
  } catch {
    return undefined;
  }
}

/** 0 where there is none: the last one who closed it has folded it in. */
function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
