/** Opens the store and brings its tables up to date. */
import type { Clock } from './clock.ts';
import { systemClock } from './clock.ts';
import type { Log } from './log.ts';
import type { Migration, OpenStore, StoreDriver } from './plugin.ts';

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
