/** The commands `backup list`, `backup fetch` and `backup prove`, which need no running gateway. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Plan, planOf, rehearse } from '../assembly/assemble.ts';
import { keySourceOf } from '../assembly/open-store.ts';
import { readBackup } from '../config/backup-section.ts';
import { coreErrors } from '../contracts/errors.ts';
import { secondsOf } from '../contracts/shown.ts';
import { nearest } from '../helpers/nearest.ts';
import { table } from '../helpers/text-table.ts';
import { type BackupSecret, decryptFile, encryptionOf } from '../operations/backups/encryption.ts';
import { PROOF_FOLDER } from '../operations/backups/left-behind.ts';
import { backupOfName } from '../operations/backups/names.ts';
import { prove } from '../operations/backups/proof.ts';
import { type BackupStorage, openStorage } from '../operations/backups/storage.ts';
import { readComplete } from '../operations/commands/stored-config.ts';
import type { CommandAnswer } from '../plugin.ts';
import { masterKeyOf } from '../store/master-key.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A table of the stored backups, newest first. Throws `ConfigError`, and if none are configured. */
export async function listBackups(configFile: string, env: Env): Promise<CommandAnswer> {
  const storage = storageOf(await checkedPlan(configFile, env));
  const backups = (await storage.list()).flatMap((name) => {
    const backup = backupOfName(name);
    return backup === undefined ? [] : [{ name, ...backup }];
  });
  backups.sort((a, b) => b.atMs - a.atMs);
  const rows = backups.map(({ name, atMs, proven, encrypted }) => [
    name,
    new Date(atMs).toISOString(),
    proven ? 'yes' : 'failed',
    encrypted ? 'yes' : 'no',
  ]);
  const text =
    rows.length === 0 ? `${storage.name} has no backups` : table([['NAME', 'TIME', 'PROVEN', 'ENCRYPTED'], ...rows]);
  return { text, json: backups.map(({ atMs, ...backup }) => ({ ...backup, time: secondsOf(atMs) })) };
}

/** Writes a stored backup, decrypted, to a new file. Returns the line to print. */
export async function fetchBackup(configFile: string, env: Env, name: string, file: string): Promise<string> {
  const plan = await checkedPlan(configFile, env);
  if (existsSync(file)) throw coreErrors.file_exists(`${file} exists: name a new file`);
  const storage = storageOf(plan);
  const names = await storage.list();
  if (!names.includes(name)) {
    const near = nearest(name, names);
    throw new Error(`${storage.name} has no backup ${name}${near === undefined ? '' : `; did you mean ${near}?`}`);
  }
  if (!backupOfName(name)?.encrypted) {
    await storage.get(name, file);
    return file;
  }
  const stored = `${file}.enc`;
  try {
    await storage.get(name, stored);
    await decryptFile(stored, file, await secretOf(plan, stored));
    return file;
  } finally {
    await rm(stored, { force: true });
  }
}

/** Proves a backup file, encrypted or not. Throws if the proof fails. */
export async function proveBackup(configFile: string, env: Env, file: string): Promise<CommandAnswer> {
  const plan = await checkedPlan(configFile, env);
  const folder = await mkdtemp(join(tmpdir(), PROOF_FOLDER));
  try {
    let opened = file;
    if ((await encryptionOf(file)) !== undefined) {
      opened = join(folder, 'opened');
      await decryptFile(file, opened, await secretOf(plan, file));
    }
    const { invariants, migrations } = await prove(plan, opened, join(folder, 'scratch'));
    const upgraded = migrations === 0 ? '' : `, and ${migrations} migrations ran`;
    return {
      text: `${file} can be restored: ${invariants} invariants hold${upgraded}`,
      json: { file, invariants, migrations },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function checkedPlan(configFile: string, env: Env): Promise<Plan> {
  const plan = await planOf(await readComplete(configFile, env), []);
  await rehearse(plan);
  return plan;
}

function storageOf(plan: Plan): BackupStorage {
  const settings = readBackup(plan.values.backup);
  if (settings === undefined) throw new Error('gateway.yaml has no section `backup`: no backups are stored');
  return openStorage(settings.to, plan);
}

/** The secret that an encrypted file needs: whatever encrypts new backups now. */
async function secretOf(plan: Plan, file: string): Promise<BackupSecret> {
  if ((await encryptionOf(file)) !== 'passphrase') return { masterKey: masterKeyOf(keySourceOf(plan)) };
  const encrypt = readBackup(plan.values.backup)?.encrypt;
  if (typeof encrypt === 'object') return encrypt;
  throw new Error(`${file} was encrypted with a passphrase: write it to \`backup.encrypt.passphrase\` in gateway.yaml`);
}
