/** The size of a database, and the free space on its disk. */
import { stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { StoreRoom } from '../../../core/plugin.ts';

/** Undefined if it cannot be determined. */
export async function roomOf(file: string): Promise<StoreRoom | undefined> {
  try {
    const [database, log, disk] = await Promise.all([stat(file), sizeOf(`${file}-wal`), statfs(dirname(file))]);
    return { file: database.size, log, free: disk.bavail * disk.bsize, disk: disk.blocks * disk.bsize };
  } catch {
    return undefined;
  }
}

/** 0 if there is none: the last connection checkpointed and removed it. */
function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}
