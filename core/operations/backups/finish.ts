/** What follows the copy of a backup, in a process of its own: encrypt, prove, store, verify, delete old ones. */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Plan, planOf } from '../../assembly/assemble.ts';
import { keySourceOf } from '../../assembly/open-store.ts';
import { type BackupSettings, readBackup } from '../../config/backup-section.ts';
import type { ConfigOrigin } from '../../config/file.ts';
import { throwIfWrong } from '../../config/sections.ts';
import type { BackupProof } from '../../contracts/running.ts';
import { masterKeyOf } from '../../store/master-key.ts';
import { readOrigin } from '../config-editing/config-source.ts';
import { type BackupSecret, decryptFile, encryptFile } from './encryption.ts';
import { expendable, type NamedBackup, nameOfBackup } from './names.ts';
import { prove } from './proof.ts';
import { openStorage } from './storage.ts';

/** The order to the process. */
export interface FinishOrder {
  readonly origin: ConfigOrigin;
  /** The copy of the store, in a folder of its own for scratch files. */
  readonly copy: string;
  readonly folder: string;
  readonly atMs: number;
  readonly kind: NamedBackup['kind'];
}

/** The result. */
export interface Finished {
  /** The name under which it is stored. */
  readonly name: string;
  /** The size of the stored file. */
  readonly bytes: number;
  /** Undefined if the proof failed. */
  readonly proof: BackupProof | undefined;
  /** The reason why the proof failed. */
  readonly failure: string | undefined;
  /** The names of the old backups that were deleted. */
  readonly deleted: readonly string[];
}

/**
 * Finishes a backup. What is proven is what is stored: the encrypted file is decrypted again, and the stored file is
 * read back and compared. A copy whose proof fails is stored, too, but not counted as a backup: no old one is deleted.
 * Rejects if nothing could be stored.
 */
export async function finishBackup({ origin, copy, folder, atMs, kind }: FinishOrder): Promise<Finished> {
  const plan = await planOf(readOrigin(origin), []);
  throwIfWrong(plan.file);
  const settings = readBackup(plan.values.backup);
  if (settings === undefined) throw new Error('gateway.yaml has no section `backup`');
  const secret = secretFor(plan, settings);
  const [sealed, opened, returned] = ['sealed', 'opened', 'returned'].map((name) => join(folder, name));
  if (secret !== undefined) {
    await encryptFile(copy, sealed!, secret);
    await decryptFile(sealed!, opened!, secret);
  }
  const stored = secret === undefined ? copy : sealed!;
  const { proof, failure } = await prove(plan, secret === undefined ? copy : opened!, join(folder, 'scratch')).then(
    (proof) => ({ proof, failure: undefined }),
    (error: unknown) => ({ proof: undefined, failure: error instanceof Error ? error.message : String(error) }),
  );
  // Space for the file that is read back.
  await Promise.all([rm(join(folder, 'scratch'), { recursive: true, force: true }), rm(opened!, { force: true })]);

  const storage = openStorage(settings.to, plan);
  const name = nameOfBackup({ atMs, kind, proven: proof !== undefined, encrypted: secret !== undefined });
  await storage.put(name, stored);
  await storage.get(name, returned!);
  const [sent, received] = await Promise.all([digestOf(stored), digestOf(returned!)]);
  if (sent.hash !== received.hash) {
    await storage.remove(name);
    throw new Error(`${storage.name} returned another file than was stored; it was deleted`);
  }
  const deleted = proof === undefined ? [] : expendable(await storage.list(), settings.keep);
  for (const old of deleted) await storage.remove(old);
  return { name, bytes: sent.bytes, proof, failure, deleted };
}

/** The secret of `backup.encrypt`; undefined: backups are not encrypted. */
export function secretFor(plan: Plan, { encrypt }: Pick<BackupSettings, 'encrypt'>): BackupSecret | undefined {
  if (encrypt === undefined) return undefined;
  return encrypt === 'master-key' ? { masterKey: masterKeyOf(keySourceOf(plan)) } : encrypt;
}

async function digestOf(file: string): Promise<{ readonly hash: string; readonly bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(createReadStream(file), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  });
  return { hash: hash.digest('hex'), bytes };
}
