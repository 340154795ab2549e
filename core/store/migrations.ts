/** Opens the store and migrates its tables. */

import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Vault } from '../contracts/host.ts';
import type { Backup } from '../contracts/running.ts';
import {
  type Migration,
  type OpenStore,
  type Step,
  type StoreDriver,
  StoreMissing,
  type StoreOpening,
  StoreUnavailable,
} from '../plugin.ts';
import type { Clock } from '../runtime/clock.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/logger.ts';

/** The location and driver of the store. */
export interface StoreOptions extends StoreOpening {
  readonly driver: StoreDriver;
}

/** An owner of tables to migrate, such as a plugin. */
export interface TableOwner {
  readonly name: string;
  readonly migrations?: readonly Migration[];
}

const TABLE = `CREATE TABLE IF NOT EXISTS migration (
  owner TEXT NOT NULL, id INTEGER NOT NULL, title TEXT NOT NULL, applied_ms INTEGER NOT NULL, PRIMARY KEY (owner, id)
) STRICT`;

const VAULT_TABLE = 'CREATE TABLE IF NOT EXISTS vault (key_id TEXT NOT NULL PRIMARY KEY) STRICT';

/** The migration of core since which the store records which older versions are compatible. */
const COMPATIBILITY = 2;

/** The migration of core that creates the tables of the configuration. */
export const CONFIG_TABLES = 5;

/** Core's own tables that are migrated like those of plugins. */
export const CORE_TABLES: TableOwner = {
  name: 'core',
  migrations: [
    {
      id: 1,
      title: 'the last backup',
      sql: [
        `CREATE TABLE last_backup (
          one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1), at_ms INTEGER NOT NULL, name TEXT NOT NULL, bytes INTEGER,
          took_ms INTEGER NOT NULL
        ) STRICT`,
      ],
    },
    {
      id: COMPATIBILITY,
      title: 'which versions can run alongside a migration',
      sql: ['ALTER TABLE migration ADD COLUMN compatible_from INTEGER'],
      compatibleFrom: 0,
    },
    {
      id: 3,
      title: 'the results of scheduled backups',
      sql: [
        // The last proven one, and the last failure since.
        `CREATE TABLE backup_run (
          kind TEXT NOT NULL PRIMARY KEY CHECK (kind IN ('proven', 'failed')), at_ms INTEGER NOT NULL, name TEXT NOT NULL,
          bytes INTEGER, took_ms INTEGER NOT NULL, reason TEXT
        ) STRICT`,
      ],
      compatibleFrom: 0,
    },
    {
      id: 4,
      title: 'the latest scheduled backups with what their proofs found',
      sql: [
        `CREATE TABLE backup_result (
          at_ms INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, bytes INTEGER, took_ms INTEGER NOT NULL, reason TEXT,
          invariants INTEGER, migrations INTEGER
        ) STRICT`,
      ],
      compatibleFrom: 0,
    },
    {
      id: CONFIG_TABLES,
      title: 'secrets and versions of the configuration',
      sql: [
        `CREATE TABLE config_secret (
          name TEXT NOT NULL PRIMARY KEY, sealed TEXT NOT NULL, set_ms INTEGER NOT NULL, set_by TEXT NOT NULL
        ) STRICT`,
        `CREATE TABLE config_version (
          id INTEGER NOT NULL PRIMARY KEY, at_ms INTEGER NOT NULL, by_name TEXT, note TEXT NOT NULL,
          revision TEXT NOT NULL, sealed TEXT NOT NULL
        ) STRICT`,
      ],
      compatibleFrom: 0,
    },
  ],
};

/** Writes a copy and records it: its name, not its folder. If recording fails, the copy is still valid. */
export async function backUp(
  store: OpenStore & Required<Pick<OpenStore, 'backup'>>,
  file: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
) {
  const atMs = clock.now();
  const begun = clock.mono();
  await store.backup(file);
  const tookMs = Math.round(clock.mono() - begun);
  const bytes = await stat(file).then(
    ({ size }) => size,
    () => undefined,
  );
  try {
    await recordBackup(store, { atMs, name: basename(file), bytes, tookMs });
  } catch (error) {
    log.warn('a backup was written, but could not be recorded', { error });
  }
}

/** Records the last backup. */
export async function recordBackup(store: OpenStore, { atMs, name, bytes, tookMs }: Backup): Promise<void> {
  await store.run(
    `INSERT INTO last_backup (one, at_ms, name, bytes, took_ms) VALUES (1, ?, ?, ?, ?)
     ON CONFLICT (one) DO UPDATE
     SET at_ms = excluded.at_ms, name = excluded.name, bytes = excluded.bytes, took_ms = excluded.took_ms`,
    ...[atMs, name, bytes ?? null, tookMs],
  );
}

/** The last recorded backup. */
export async function lastBackup(store: OpenStore): Promise<Backup | undefined> {
  const row = await store.one<{ at_ms: number; name: string; bytes: number | null; took_ms: number }>(
    'SELECT at_ms, name, bytes, took_ms FROM last_backup WHERE one = 1',
  );
  if (row === undefined) return undefined;
  return { atMs: row.at_ms, name: row.name, bytes: row.bytes ?? undefined, tookMs: row.took_ms };
}

/** The version of the schema: the number of migrations that core and the plugins have run. */
export async function schemaVersion(store: OpenStore): Promise<number> {
  return Number((await store.one<{ n: number }>('SELECT COUNT(*) AS n FROM migration'))?.n ?? 0);
}

/** The id of the master key of the store; undefined if nothing was sealed yet. */
export async function sealedWith(store: OpenStore): Promise<string | undefined> {
  await store.run(VAULT_TABLE);
  return (await store.one<{ key_id: string }>('SELECT key_id FROM vault'))?.key_id;
}

/** Records the master key of the store. Throws if another one was recorded. */
export async function rememberVault(store: OpenStore, { keyId }: Vault): Promise<void> {
  await store.run(VAULT_TABLE);
  await store.run(
    'INSERT INTO vault (key_id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM vault) ON CONFLICT DO NOTHING',
    keyId,
  );
  if ((await store.one('SELECT key_id FROM vault WHERE key_id = ?', keyId)) !== undefined) return;
  throw new Error(
    'the secrets in this store were sealed with another master key: set TURNPIKE_MASTER_KEY, or restore the .key file. ' +
      'If the key is permanently lost, move the wrong one away: `turnpike recover --without-master-key` deletes the data that was sealed with it',
  );
}

/** Opens the store and creates the table of migrations. Throws `StoreInUse`, `StoreMissing`, or the store's error. */
export async function openStore({ driver, ...options }: StoreOptions): Promise<OpenStore> {
  const store = await driver.open(options);
  try {
    if (options.mustExist === true) await requireTables(store, options.file);
    else await store.run(TABLE);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** Throws `StoreMissing` if nothing was ever written to a store, or everything was lost. Writes nothing. */
async function requireTables(store: OpenStore, file: string): Promise<void> {
  try {
    await store.one('SELECT 1 FROM migration');
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new StoreMissing(`${file} has no tables`);
  }
}

/** Runs a function exclusively among the processes that have the store open. */
export function exclusively<T>(store: OpenStore, work: () => Promise<T>): Promise<T> {
  return store.exclusively === undefined ? work() : store.exclusively(work);
}

/** Number of tries, and the pause between them, for a migration whose tables are locked by a long read. */
const MOST_TRIES = 30;
const AGAIN_MS = 1_000;

/**
 * Runs pending migrations, by owner, each in one atomic list with its row: after a crash, the next run continues.
 * Nothing runs if an owner's tables were migrated by a newer version that is incompatible with this one. Tables of
 * owners that are not listed stay as they are.
 */
export async function migrate(
  store: OpenStore,
  owners: readonly TableOwner[],
  clock: Clock = systemClock,
): Promise<void> {
  for (const { owner, migration } of await pendingMigrations(store, owners)) {
    const { id, title, sql, compatibleFrom } = migration;
    const steps: readonly Step[] = [
      // The row comes first: of two concurrent runs, only one succeeds.
      {
        sql: 'INSERT INTO migration (owner, id, title, applied_ms) VALUES (?, ?, ?, ?)',
        params: [owner, id, title, clock.now()],
      },
      ...sql.map((text) => ({ sql: text })),
      // Last, because the column is created by a migration, too.
      ...(compatibleFrom === undefined
        ? []
        : [
            {
              sql: 'UPDATE migration SET compatible_from = ? WHERE owner = ? AND id = ?',
              params: [compatibleFrom, owner, id],
            },
          ]),
    ];
    try {
      await writePatiently(store, steps, clock);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`migration ${id} of "${owner}" (${title}) failed: ${reason}`, { cause: error });
    }
  }
}

/** A shared server rejects a migration that would block other processes; it is tried again later. */
async function writePatiently(store: OpenStore, steps: readonly Step[], clock: Clock): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await store.atomic(steps);
      return;
    } catch (error) {
      if (store.join === undefined || !(error instanceof StoreUnavailable) || tries === MOST_TRIES) throw error;
      await new Promise<void>((done) => void clock.after(AGAIN_MS, done));
    }
  }
}

/** A pending migration. */
export interface Pending {
  readonly owner: string;
  readonly migration: Migration;
  /** It changes existing tables, and does not only create the first ones of its owner. */
  readonly upgrade: boolean;
}

/** Pending migrations, in order. Throws if the migrations that have run do not match the code. */
export async function pendingMigrations(store: OpenStore, owners: readonly TableOwner[]): Promise<readonly Pending[]> {
  const ran = await ranOf(store);
  return owners.flatMap((owner) => {
    const own = ran.get(owner.name) ?? new Map();
    return missing(owner, own).map((migration) => ({ owner: owner.name, migration, upgrade: own.size > 0 }));
  });
}

/** The migrations of one owner that have run: by id, the oldest compatible version. */
type Ran = ReadonlyMap<number, number | undefined>;

/** The migrations that have run, by owner. */
async function ranOf(store: OpenStore): Promise<ReadonlyMap<string, Ran>> {
  const ran = new Map<string, Map<number, number | undefined>>();
  for (const { owner, id } of await store.all<{ owner: string; id: number }>('SELECT owner, id FROM migration')) {
    ran.set(owner, (ran.get(owner) ?? new Map()).set(id, undefined));
  }
  if (ran.get(CORE_TABLES.name)?.has(COMPATIBILITY) !== true) return ran;
  const rows = await store.all<{ owner: string; id: number; compatible_from: number }>(
    'SELECT owner, id, compatible_from FROM migration WHERE compatible_from IS NOT NULL',
  );
  for (const { owner, id, compatible_from } of rows) ran.get(owner)!.set(id, compatible_from);
  return ran;
}

/** The last migration that each of these owners knows: it identifies a version. */
export function knownMigrations(owners: readonly TableOwner[]): Readonly<Record<string, number>> {
  return Object.fromEntries(owners.map((owner) => [owner.name, lastOf(owner)]));
}

/** Whether a version can work on tables after some migrations, given its `knownMigrations`. */
export function canWorkBeside(known: Readonly<Record<string, number>>, pending: readonly Pending[]): boolean {
  return pending.every(({ owner, migration }) => {
    const last = known[owner];
    // A version without the plugin does not use its tables.
    return last === undefined || last >= compatibleFrom(migration);
  });
}

/** Migrations that may break a running older version. New tables cannot, because no running version uses them. */
export function riskyMigrations(pending: readonly Pending[]): readonly Pending[] {
  return pending.filter(({ migration, upgrade }) => upgrade && compatibleFrom(migration) > 0);
}

function compatibleFrom({ id, compatibleFrom = id }: Migration): number {
  return compatibleFrom;
}

function lastOf({ migrations = [] }: TableOwner): number {
  return migrations.at(-1)?.id ?? 0;
}

/** Throws if a migration is pending: commands do not migrate. */
export async function requireUpToDate(store: OpenStore, owners: readonly TableOwner[]): Promise<void> {
  if ((await pendingMigrations(store, owners)).length === 0) return;
  throw new Error(
    'the database was created by an older version, or with fewer plugins: run `turnpike start` to migrate it',
  );
}

/** Throws if a newer version, even a compatible one, migrated any table: this version does not know all of them. */
export async function requireKnown(store: OpenStore, owners: readonly TableOwner[]): Promise<void> {
  const ran = await ranOf(store);
  for (const owner of owners) {
    const last = Math.max(0, ...(ran.get(owner.name)?.keys() ?? []));
    if (last > lastOf(owner)) throw newerTables(owner.name, last);
  }
}

/**
 * Writes a copy of the store next to it before migrating, named after the first migration, so that the previous version
 * can be restored. An existing copy is kept. If there is not enough space, or the store is a server, no copy is made,
 * and this is logged.
 */
export async function copyBeforeUpgrade(
  store: OpenStore,
  file: string,
  pending: readonly Pending[],
  log: Log,
): Promise<void> {
  const first = pending.find(({ upgrade }) => upgrade);
  if (first === undefined) return;
  if (store.backup === undefined) {
    log.info("migrating tables; to go back, restore a backup made with the database's own tools");
    return;
  }
  const copy = `${file}.before-${first.owner.replaceAll('/', '-')}-${first.migration.id}`;
  if (existsSync(copy)) return;
  const room = await store.room?.();
  const bytes = room === undefined ? undefined : room.file + room.log;
  if (room !== undefined && room.free < bytes! * 1.1) {
    log.warn('not enough disk space to copy the database before migrating', {
      copy,
      bytes,
      free: room.free,
    });
    return;
  }
  await store.backup(copy);
  log.info('the database was copied before migrating; remove the copy when it is no longer needed', {
    copy,
    bytes,
  });
}

/** The pending migrations of one owner, in order. Throws if the migrations that have run do not match the code. */
function missing(owner: TableOwner, ran: Ran): readonly Migration[] {
  const { name, migrations = [] } = owner;
  const ids = migrations.map((migration) => migration.id);
  if (ids.some((id, index) => index > 0 && id <= ids[index - 1]!)) {
    throw new Error(`the migrations of "${name}" are not in ascending order: ${ids.join(', ')}`);
  }
  const last = Math.max(0, ...ran.keys());
  const known = lastOf(owner);
  for (const [id, compatible = id] of ran) {
    if (ids.includes(id) || (id > known && known >= compatible)) continue;
    throw newerTables(name, last);
  }
  const left = migrations.filter((migration) => !ran.has(migration.id));
  const late = left.find((migration) => migration.id < last);
  if (late) throw new Error(`migration ${late.id} of "${name}" comes too late: ${last} has already run`);
  return left;
}

function newerTables(owner: string, last: number): Error {
  return new Error(
    `the tables of "${owner}" were created by a newer version (migration ${last}): start that version, or restore a backup`,
  );
}
