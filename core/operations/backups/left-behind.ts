/** Files that a kill has left: copies of the database, which have its secrets. Their names end with a known word; what else lies there is not touched. */
import { tmpdir } from 'node:os';
import { basename, dirname } from 'node:path';
import { removeOld } from '../config-editing/replace-file.ts';

/** Younger ones may be of a command that is running. */
export const OLD_MS = 60 * 60_000;

/** Beside the database, with its name before: the work folders of backups and upgrades, and the copies of restores. */
const BESIDE_STORE = /^\.(?:backup-scratch|upgrade-scratch|restoring-\d+(?:-wal|-shm)?)$/;

/** The folder in which a backup is proven, below that for temporary files. */
export const PROOF_FOLDER = 'turnpike-proof-';

/** Removes what was left of a database at this path, and of proofs. Called when no other process serves it. */
export async function removeLeftBehind(store: string, nowMs: number): Promise<void> {
  const name = basename(store);
  await removeOld(
    dirname(store),
    nowMs - OLD_MS,
    (each) => each.startsWith(name) && BESIDE_STORE.test(each.slice(name.length)),
  );
  await removeOld(tmpdir(), nowMs - OLD_MS, (each) => each.startsWith(PROOF_FOLDER));
}
