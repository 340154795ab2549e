/** Opens the store and brings its tables up to date. */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import type { Backup } from './contracts/running.ts';
import type { Log } from './log.ts';
import type { Migration, OpenStore, StoreDriver } from './plugin.ts';
import type { Vault } from './vault.ts';

/** Where the store is and what opens it. */
export interface StoreOptions {
  readonly driver: StoreDriver;
  readonly file: string;
  readonly log: Log;
}

/** Whose tables to bring up to date; a plugin is one. */
export interface TableOwner {
  readonly name: string;
  readonly migrations?: readonly Migration[];
}

const TABLE = `CREATE TABLE IF NOT EXISTS migration (
  owner TEXT NOT NULL, id INTEGER NOT NULL, title TEXT NOT NULL, applied_ms INTEGER NOT NULL, PRIMARY KEY (owner, id)
) STRICT`;

const VAULT_TABLE = 'CREATE TABLE IF NOT EXISTS vault (key_id TEXT NOT NULL PRIMARY KEY) STRICT';

/** The tables of core itself that are migrated as those of plugins are. */
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
  ],
};

/** Writes a copy, and remembers it: its name, not its folder. A copy that cannot be remembered is none the worse. */
export async function backUp(
  store: OpenStore,
  file: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
) {
  const atMs = clock.now();
  const begun = clock.mono();
  await store.backup(file);
  const took = Math.round(clock.mono() - begun);
  const bytes = await stat(file).then(
    ({ size }) => size,
    () => null,
  );
  try {
    await store.run(
      `INSERT INTO last_backup (one, at_ms, name, bytes, took_ms) VALUES (1, ?, ?, ?, ?)
       ON CONFLICT (one) DO UPDATE
       SET at_ms = excluded.at_ms, name = excluded.name, bytes = excluded.bytes, took_ms = excluded.took_ms`,
      ...[atMs, basename(file), bytes, took],
    );
  } catch (error) {
    log.warn('a backup was written, and could not be remembered', { error });
  }
}

/** The last one that was remembered. */
export async function lastBackup(store: OpenStore): Promise<Backup | undefined> {
  const row = await store.one<{ at_ms: number; name: string; bytes: number | null; took_ms: number }>(
    'SELECT at_ms, name, bytes, took_ms FROM last_backup WHERE one = 1',
  );
  if (row === undefined) return undefined;
  return { atMs: row.at_ms, name: row.name, bytes: row.bytes ?? undefined, tookMs: row.took_ms };
}

/** Whether a master key seals what is in the store. */
export async function isSealed(store: OpenStore): Promise<boolean> {
  await store.run(VAULT_TABLE);
  return (await store.one('SELECT key_id FROM vault')) !== undefined;
}

/** Notes which master key seals what is in the store. Throws where that was another one. */
export async function rememberVault(store: OpenStore, { keyId }: Vault): Promise<void> {
  await store.run(VAULT_TABLE);
  await store.run(
    'INSERT INTO vault (key_id) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM vault) ON CONFLICT DO NOTHING',
    keyId,
  );
  if ((await store.one('SELECT key_id FROM vault WHERE key_id = ?', keyId)) !== undefined) return;
  throw new Error(
    'the secrets in this store were sealed with another master key: give it TURNPIKE_MASTER_KEY, or its .key file back',
  );
}

/** Opens the store, with the table that remembers migrations in it. Throws `StoreInUse`, or says what is wrong with it. */
export async function openStore({ driver, file, log }: StoreOptions): Promise<OpenStore> {
  const store = await driver.open({ file, log });
  try {
    await store.run(TABLE);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/**
 * Runs what has not run yet, owner by owner, each migration in one atomic list with its row: cut off anywhere, the next run
 * goes on from there. Nothing runs where an owner's tables were made by a newer version. Owners that are not named are left
 * alone, with their tables.
 */
export async function migrate(
  store: OpenStore,
  owners: readonly TableOwner[],
  clock: Clock = systemClock,
): Promise<void> {
  const applied = new Map<string, Set<number>>();
  for (const { owner, id } of await store.all<{ owner: string; id: number }>('SELECT owner, id FROM migration')) {
    applied.set(owner, (applied.get(owner) ?? new Set()).add(id));
  }
  const pending = owners.flatMap((owner) =>
    missing(owner, applied.get(owner.name) ?? new Set()).map((migration) => ({ owner: owner.name, migration })),
  );
  for (const { owner, migration } of pending) {
    const { id, title, sql } = migration;
    // The row goes first: where two gateways start on one database, only one of them gets past it.
    const row = { sql: 'INSERT INTO migration (owner, id, title, applied_ms) VALUES (?, ?, ?, ?)' };
    try {
      await store.atomic([{ ...row, params: [owner, id, title, clock.now()] }, ...sql.map((text) => ({ sql: text }))]);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`migration ${id} of "${owner}" (${title}) failed: ${reason}`, { cause: error });
    }
  }
}

/** The migrations of one owner that have not run, in order. Throws where what has run does not fit the code. */
function missing({ name, migrations = [] }: TableOwner, applied: ReadonlySet<number>): readonly Migration[] {
  const ids = migrations.map((migration) => migration.id);
  if (ids.some((id, index) => index > 0 && id <= ids[index - 1]!)) {
    throw new Error(`the migrations of "${name}" are not in ascending order: ${ids.join(', ')}`);
  }
  const last = Math.max(0, ...applied);
  for (const id of applied) {
    if (ids.includes(id)) continue;
    throw new Error(
      `the tables of "${name}" were made by a newer version (migration ${last}): start that version, or restore a backup`,
    );
  }
  const left = migrations.filter((migration) => !applied.has(migration.id));
  const late = left.find((migration) => migration.id < last);
  if (late) throw new Error(`migration ${late.id} of "${name}" comes too late: ${last} has already run`);
  return left;
}
