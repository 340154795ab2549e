/**
 * `turnpike upgrade`, run by a version that was just installed: tests it with the configuration and a copy of the store,
 * then migrates the store of a stopped gateway. If anything fails, the store is as it was.
 */
import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { driverOf, type Plan, planOf, rehearse } from '../assembly/assemble.ts';
import { isOnServer, keySourceOf, openForCommand, storeFileOf } from '../assembly/open-store.ts';
import type { StoreSection } from '../config/core-sections.ts';
import type { BackupProof } from '../contracts/running.ts';
import type { GatewayOptions } from '../gateway/gateway.ts';
import { copyTo, prove } from '../operations/backups/proof.ts';
import { askControl, controlPath } from '../operations/commands/control-socket.ts';
import { readComplete } from '../operations/commands/stored-config.ts';
import { version } from '../operations/monitor/running.ts';
import type { OpenStore } from '../plugin.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLog } from '../runtime/logger.ts';
import { reconcile } from '../store/invariants.ts';
import { openVault } from '../store/master-key.ts';
import { CORE_TABLES, exclusively, migrate } from '../store/migrations.ts';

/** How it is done. */
export interface UpgradeOptions {
  /** Tests only. */
  readonly dryRun: boolean;
  /** Prints a line. */
  say(line: string): void;
}

/**
 * Throws if the configuration is not valid for this version (`ConfigError`), or the copy cannot be migrated and
 * reconciled: then nothing was changed. If the migration itself fails, the copy is restored before it throws.
 */
export async function upgrade(options: GatewayOptions, { dryRun, say }: UpgradeOptions): Promise<void> {
  const { configFile, env, plugins } = options;
  const plan = await planOf(await readComplete(configFile, env), plugins ?? []);
  await rehearse(plan);
  say(`gateway.yaml is valid for version ${version}`);
  const place = storeFileOf(plan);
  const kept = `${place}.before-upgrade-${new Date(systemClock.now()).toISOString().replace(/[-:]|\.\d+/g, '')}`;
  const scratch = `${place}.upgrade-scratch`;
  await rm(scratch, { recursive: true, force: true });
  let keeps = false;
  try {
    const isRunning = await copyOf(plan, kept);
    say(`the database was copied to ${kept}`);
    await mkdir(scratch, { mode: 0o700 });
    const { migrations, invariants } = await tested(plan, kept, scratch);
    say(`a restored copy was migrated (${migrations} migrations) and reconciled (${invariants} invariants)`);
    if (dryRun) return say('nothing was changed');
    if (isRunning) return say(AFTER_TEST);
    if (migrations === 0) return say('the database needs no migration: start the gateway');
    keeps = true;
    await migrateOrGoBack(plan, kept);
    say('the database was migrated and reconciles: start the gateway');
    say(`To go back: stop the gateway, ${backTo()}, and run \`turnpike restore ${kept}\``);
  } finally {
    await rm(scratch, { recursive: true, force: true });
    if (!keeps) await rm(kept, { force: true });
  }
}

const AFTER_TEST =
  'a gateway runs with the version before: restart it now (`systemctl restart turnpike`, or as your supervisor does). ' +
  'Its start copies the database again, and migrates it';

/** Copies the store, through the gateway if one runs. Returns whether one does. */
async function copyOf(plan: Plan, file: string): Promise<boolean> {
  const line = { argv: ['backup', file], stdin: '', cwd: process.cwd() };
  const path = controlPath(storeFileOf(plan));
  if (!isOnServer(plan)) {
    const answer = await askControl(path, line);
    if (answer !== undefined && answer.code !== 0) throw new Error(`no backup was made: ${answer.stderr.trim()}`);
    if (answer !== undefined) return true;
  }
  const isRunning = (await askControl(path, { ...line, argv: ['doctor'] })) !== undefined;
  const store = await openForCommand(plan, silentLog);
  try {
    await copyTo(file, plan, store);
  } finally {
    await store.close();
  }
  return isRunning;
}

async function tested(plan: Plan, file: string, scratch: string): Promise<BackupProof> {
  try {
    return await prove(plan, file, scratch);
  } catch (error) {
    throw new Error(
      `version ${version} cannot work with this database: ${reasonOf(error)}. Nothing was changed: ${backTo()}`,
    );
  }
}

async function migrateOrGoBack(plan: Plan, copy: string): Promise<void> {
  try {
    const store = await openForCommand(plan, silentLog);
    try {
      await migrateAndCheck(plan, store);
    } finally {
      await store.close();
    }
  } catch (error) {
    const what = `the migration failed: ${reasonOf(error)}`;
    try {
      await putBack(plan, copy);
    } catch (second) {
      throw new Error(`${what}. The copy could not be restored (${reasonOf(second)}): restore ${copy} yourself`);
    }
    throw new Error(`${what}. The database is as it was before: ${backTo()}`);
  }
}

async function migrateAndCheck(plan: Plan, store: OpenStore): Promise<void> {
  await exclusively(store, () => migrate(store, [CORE_TABLES, ...plan.plugins]));
  const vault = await openVault(keySourceOf(plan), store, false);
  const { players } = await rehearse(plan, { store, vault, log: silentLog, clock: systemClock });
  const faults = (await reconcile(players, store)).flatMap(({ name, faults }) => faults.map((it) => `${name}: ${it}`));
  if (faults.length > 0) throw new Error(`it does not reconcile: ${faults.slice(0, 3).join('; ')}`);
}

async function putBack(plan: Plan, copy: string): Promise<void> {
  const driver = await driverOf(plan);
  const settings = plan.values.store as StoreSection & Readonly<Record<string, unknown>>;
  if (driver.dumps !== undefined) return driver.dumps.restore(settings, copy);
  const replaced = await driver.restore!({ from: copy, file: storeFileOf(plan), log: silentLog });
  // It has nothing that the copy has not: no gateway ran.
  for (const end of ['', '-wal']) if (replaced !== undefined) await rm(`${replaced}${end}`, { force: true });
}

/** How the version before is installed again: the gateway does not change its own installation. */
function backTo(): string {
  const isCheckout = existsSync(fileURLToPath(new URL('../../.git', import.meta.url)));
  return isCheckout
    ? 'check out the version before (`git checkout VERSION && npm ci`)'
    : 'install the version before with your package manager (`npm install PACKAGE@VERSION`)';
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
