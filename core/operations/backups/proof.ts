/** Proves a copy of the store: restores it into a scratch store, migrates that, and checks all invariants. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { driverOf, type Plan, rehearse } from '../../assembly/assemble.ts';
import { keySourceOf, withoutBackup } from '../../assembly/open-store.ts';
import type { StoreSection } from '../../config/core-sections.ts';
import type { BackupProof } from '../../contracts/running.ts';
import type { OpenStore, StoreDriver } from '../../plugin.ts';
import { systemClock } from '../../runtime/clock.ts';
import { silentLog } from '../../runtime/logger.ts';
import { reconcile } from '../../store/invariants.ts';
import { openVault } from '../../store/master-key.ts';
import { CORE_TABLES, migrate, openStore, pendingMigrations } from '../../store/migrations.ts';

/**
 * Restores `file`, an unencrypted backup, into the existing folder `scratch`, which the caller deletes. Throws if it
 * cannot be restored, needs another master key, cannot be migrated, or if an invariant does not hold.
 */
export async function prove(plan: Plan, file: string, scratch: string): Promise<BackupProof> {
  const driver = await driverOf(plan);
  const { place, settings, remove } = await restored(driver, plan, file, scratch);
  try {
    const store = await openStore({ driver, file: place, settings, log: silentLog, mustExist: true });
    try {
      const owners = [CORE_TABLES, ...plan.plugins];
      const pending = await pendingMigrations(store, owners);
      await migrate(store, owners);
      const vault = await openVault(keySourceOf(plan), store, false);
      const { players } = await rehearse(plan, { store, vault, log: silentLog, clock: systemClock });
      const findings = await reconcile(players, store);
      const faults = findings.flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}`));
      if (faults.length > 0) throw new Error(`the copy does not reconcile: ${faults.slice(0, 3).join('; ')}`);
      return { invariants: findings.length, migrations: pending.length };
    } finally {
      await store.close();
    }
  } finally {
    await remove();
  }
}

/** A scratch store, and how it is opened. */
interface Scratch {
  readonly place: string;
  readonly settings: Readonly<Record<string, unknown>>;
  remove(): Promise<void>;
}

async function restored(driver: StoreDriver, plan: Plan, file: string, scratch: string): Promise<Scratch> {
  const settings = plan.values.store as StoreSection & Readonly<Record<string, unknown>>;
  const place = join(scratch, 'scratch.db');
  if (driver.dumps !== undefined) return { place, ...(await driver.dumps.load(settings, file)) };
  if (driver.restore === undefined) throw new Error(`this database has no backups: ${driver.server?.backup}`);
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  await driver.restore({ from: file, file: place, log: silentLog });
  return { place, settings, remove: async () => {} };
}

/** Writes a consistent copy of the open store for a backup: with the store itself, or with the tools of its server. */
export async function copyTo(file: string, plan: Plan, store: Pick<OpenStore, 'backup'>): Promise<void> {
  if (store.backup !== undefined) return store.backup(file);
  const driver = await driverOf(plan);
  if (driver.dumps === undefined) throw new Error(withoutBackup(driver));
  await driver.dumps.write(plan.values.store as StoreSection & Readonly<Record<string, unknown>>, file);
}
