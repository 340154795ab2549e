/** Migrations: each once, whole, in order, and never backwards. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import type { Log, Migration, OpenStore, StoreDriver } from '../../../core/plugin.ts';
import {
  CORE_TABLES,
  migrate,
  openStore,
  requireKnown,
  requireUpToDate,
  type TableOwner,
} from '../../../core/store/migrations.ts';
import driver from '../../../plugins/stores/sqlite/index.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';

const log: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
const directory = mkdtempSync(join(tmpdir(), 'turnpike-migrate-'));
const stores: OpenStore[] = [];
let files = 0;
async function fresh(): Promise<OpenStore> {
  const store = await openStore({ driver, file: join(directory, `${files++}.db`), log });
  stores.push(store);
  return store;
}
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});
after(() => rmSync(directory, { recursive: true }));

const step = (id: number, ...sql: string[]): Migration => ({ id, title: `step ${id}`, sql });
const people: TableOwner = {
  name: 'people',
  migrations: [
    step(1, 'CREATE TABLE person (id INTEGER PRIMARY KEY) STRICT', 'CREATE TABLE pet (id INTEGER PRIMARY KEY) STRICT'),
    step(2, 'ALTER TABLE person ADD COLUMN name TEXT', "INSERT INTO person (id, name) VALUES (1, 'Ada')"),
    step(5, "UPDATE person SET name = name || '!'", 'DROP TABLE pet'),
  ],
};
const shops: TableOwner = {
  name: 'shops',
  migrations: [step(1, 'CREATE TABLE shop (id INTEGER PRIMARY KEY, person INTEGER REFERENCES person (id)) STRICT')],
};

const applied = (store: OpenStore): Promise<{ owner: string; id: number }[]> =>
  store.all('SELECT owner, id FROM migration ORDER BY rowid');
const tables = async (store: OpenStore): Promise<string[]> =>
  (
    await store.all<{ name: string }>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'store!_%' ESCAPE '!' ORDER BY name",
    )
  ).map((t) => t.name);
const ALL = [
  { owner: 'people', id: 1 },
  { owner: 'people', id: 2 },
  { owner: 'people', id: 5 },
  { owner: 'shops', id: 1 },
];

describe('migrations', () => {
  it('run in order, per owner, each once', async () => {
    const store = await fresh();
    const clock = fakeClock(1_750_000_000_000);
    await migrate(store, [people, { name: 'no-tables' }, shops], clock);
    assert.deepEqual(await applied(store), ALL);
    assert.deepEqual(await tables(store), ['migration', 'person', 'shop']);
    clock.advance(1_000);
    await migrate(store, [people, { name: 'no-tables' }, shops], clock);
    assert.deepEqual(await applied(store), ALL);
    assert.deepEqual(await store.all('SELECT name FROM person'), [{ name: 'Ada!' }]);
    assert.deepEqual(await store.all('SELECT DISTINCT title, applied_ms FROM migration WHERE id = 5'), [
      { title: 'step 5', applied_ms: 1_750_000_000_000 },
    ]);
  });

  it('run only those that were added since', async () => {
    const store = await fresh();
    await migrate(store, [{ ...people, migrations: people.migrations!.slice(0, 1) }]);
    assert.deepEqual(await tables(store), ['migration', 'person', 'pet']);
    await migrate(store, [people, shops]);
    assert.deepEqual(await applied(store), ALL);
  });

  it('are atomic: a failing one changes nothing, and a corrected one continues', async () => {
    const store = await fresh();
    const broken = step(2, 'ALTER TABLE person ADD COLUMN name TEXT', 'INSERT INTO persons (id) VALUES (1)');
    const wrong = { name: 'people', migrations: [people.migrations![0]!, broken, people.migrations![2]!] };
    await assert.rejects(migrate(store, [wrong, shops]), /migration 2 of "people" \(step 2\) failed: .*persons/);
    assert.deepEqual(await applied(store), [{ owner: 'people', id: 1 }]);
    await assert.rejects(store.all('SELECT name FROM person'));
    await migrate(store, [people, shops]);
    assert.deepEqual(await applied(store), ALL);
    assert.deepEqual(await store.all('SELECT name FROM person'), [{ name: 'Ada!' }]);
  });

  it('complete on the next run wherever the last one was interrupted', async () => {
    for (const when of ['before', 'after'] as const) {
      for (let survived = 0; survived < ALL.length; survived++) {
        const store = await fresh();
        let lists = 0;
        const dying: OpenStore = {
          ...store,
          async atomic(steps) {
            const last = lists++ === survived;
            if (last && when === 'before') throw new Error('the power went');
            const refused = await store.atomic(steps);
            if (last) throw new Error('the power went');
            return refused;
          },
        };
        await assert.rejects(migrate(dying, [people, shops]), /the power went/);
        assert.equal((await applied(store)).length, when === 'before' ? survived : survived + 1);
        await migrate(store, [people, shops]);
        assert.deepEqual(await applied(store), ALL);
        assert.deepEqual(await store.all('SELECT name FROM person'), [{ name: 'Ada!' }]);
      }
    }
  });

  it('never start on tables of a newer version', async () => {
    const store = await fresh();
    await migrate(store, [people]);
    const older = { name: 'people', migrations: people.migrations!.slice(0, 2) };
    await assert.rejects(
      migrate(store, [shops, older]),
      /tables of "people" were created by a newer version \(migration 5\)/,
    );
    assert.deepEqual(await applied(store), ALL.slice(0, 3));
  });

  it('allow an older version on tables of a newer one if each newer migration declares it', async () => {
    const store = await fresh();
    const expanding = { ...step(3, 'CREATE TABLE toy (id INTEGER PRIMARY KEY) STRICT'), compatibleFrom: 2 };
    const contracting = { ...step(4, 'DROP TABLE toy'), compatibleFrom: 3 };
    const upTo = (...migrations: readonly Migration[]): readonly TableOwner[] => [
      CORE_TABLES,
      { name: 'people', migrations },
    ];
    const [first, second] = people.migrations as readonly [Migration, Migration];
    await migrate(store, upTo(first, second, expanding));
    await migrate(store, upTo(first, second));
    await assert.rejects(migrate(store, upTo(first)), /created by a newer version \(migration 3\)/);
    await assert.rejects(requireKnown(store, upTo(first, second)), /created by a newer version \(migration 3\)/);
    await requireKnown(store, upTo(first, second, expanding));
    await migrate(store, upTo(first, second, expanding, contracting));
    await requireUpToDate(store, upTo(first, second, expanding));
    await assert.rejects(migrate(store, upTo(first, second)), /created by a newer version \(migration 4\)/);
  });

  it('leave the tables of a plugin alone that is not in the pipeline', async () => {
    const store = await fresh();
    await migrate(store, [people, shops]);
    await migrate(store, [shops]);
    await migrate(store, []);
    assert.deepEqual(await applied(store), ALL);
    assert.deepEqual(await tables(store), ['migration', 'person', 'shop']);
  });

  it('must be numbered in order, and none may be inserted before one that has run', async () => {
    const store = await fresh();
    await assert.rejects(
      migrate(store, [{ name: 'people', migrations: [step(2), step(1)] }]),
      /migrations of "people" are not in ascending order: 2, 1/,
    );
    await migrate(store, [people]);
    const late = { name: 'people', migrations: [...people.migrations!.slice(0, 2), step(3), people.migrations![2]!] };
    await assert.rejects(migrate(store, [late]), /migration 3 of "people" comes too late: 5 has already run/);
    assert.deepEqual(await applied(store), ALL.slice(0, 3));
  });
});

describe('opening the store', () => {
  it('closes it again if its first statement fails', async () => {
    const store = await fresh();
    let closed = 0;
    const failing: StoreDriver = {
      ...driver,
      open: async () => ({
        ...store,
        run: () => Promise.reject(new Error('read-only')),
        async close() {
          closed++;
        },
      }),
    };
    await assert.rejects(openStore({ driver: failing, file: 'unused', log }), /read-only/);
    assert.equal(closed, 1);
  });
});
