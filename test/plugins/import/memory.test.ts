/** What an import of very many keys keeps in memory. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createDaySums } from '../../../plugins/import/day-sums.ts';
import { marked, Packed, Texts, viewed } from '../../../plugins/import/packed.ts';
import { readImports } from '../../../plugins/import/tables.ts';
import { inventoryOf } from './tables.ts';

const KEYS = 20_000;
/** Bytes of the heap, some rows that are kept as samples included: as objects, a key would take more than twice as much. */
const MOST_OF_KEY = 200;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of the heap that live. */
function living(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

describe('an import of very many keys', () => {
  it('keeps a key that was read in few bytes of the heap', async () => {
    const users = [{ id: 1, username: 'ann', role: 1, status: 1, quota: 5, group: 'default' }];
    const tokens = Array.from({ length: KEYS }, (_, i) => ({
      ...{ id: i + 1, user_id: 1, key: `${i}`.padStart(48, 'k'), name: `key ${i}`, status: 1, expired_time: -1 },
      ...{ unlimited_quota: 0, remain_quota: i, model_limits_enabled: 0, model_limits: '' },
    }));
    // Code that is used for the first time is kept, too.
    await inventoryOf('new-api', { users, tokens: tokens.slice(0, 2_000) });
    const before = living();
    const inventory = await inventoryOf('new-api', { users, tokens });
    const bytes = living() - before;
    assert.equal(inventory.keys.length, KEYS);
    assert.ok(bytes < KEYS * MOST_OF_KEY, `${bytes / KEYS} bytes for a key`);
  });

  it('keeps what an earlier import has seen of a thing outside of the heap', async () => {
    const seen = JSON.stringify({ name: 'a key', models: Array.from({ length: 40 }, (_, i) => `model-${i}`) });
    let next = 0;
    const page = (): object[] =>
      Array.from({ length: Math.min(2_000, KEYS - next) }, () => ({
        ...{ kind: 'key', foreign_id: `${next}`, name: 'a key', own_id: next++, revision: 0 },
        seen: seen.replace('a key', `key ${next}`),
      }));
    const store = { all: async () => page() };
    const before = living();
    const imports = await readImports({ store, clock: { now: () => 0 } } as never, 'new-api');
    const bytes = living() - before;
    assert.ok(bytes < KEYS * seen.length, `${bytes / KEYS} bytes for a thing, of which ${seen.length} were seen`);
    assert.equal(imports.find('key', '7')?.seen?.name, 'key 8');
    imports.note('key', '7', { name: 'other', ownId: 7, seen: { name: 'ключ' }, revision: 1 });
    assert.deepEqual(imports.find('key', '7'), { name: 'other', ownId: 7, seen: { name: 'ключ' }, revision: 1 });
    assert.equal(imports.find('key', '19999')?.seen?.name, 'key 20000');
  });
});

describe('sums of days', () => {
  const sum = (user: string, key: string, amount: bigint) => ({
    ...{ user, key, model: 'm', calls: 1, input: 2, output: 3 },
    amount,
  });

  it('keep no group in the heap', async () => {
    const sums = await createDaySums();
    const before = living();
    for (let i = 0; i < KEYS; i++) sums.add((i * 7) % 100, sum(`user ${i}`, `${i}`.padStart(64, 'k'), 1n));
    const bytes = living() - before;
    assert.ok(bytes < KEYS * 10, `${bytes / KEYS} bytes for a group`);
    const days = await sums.days();
    assert.equal(days.length, 100);
    assert.equal(
      days.reduce((count, day) => count + sums.of(day).length, 0),
      KEYS,
    );
    sums.close();
  });

  it('are added up whatever the order, exactly, and by day', async () => {
    const sums = await createDaySums();
    for (const [day, amount] of [
      [86_400, 2n ** 53n],
      [-86_400, 5n],
      [86_400, 2n ** 53n + 1n],
    ] as const)
      sums.add(day, sum('ann', 'k', amount));
    sums.add(86_400, sum('ann', '', 7n));
    assert.deepEqual(await sums.days(), [-86_400, 86_400]);
    assert.deepEqual(sums.of(86_400), [
      sum('ann', '', 7n),
      { ...sum('ann', 'k', 2n ** 54n + 1n), calls: 2, input: 4, output: 6 },
    ]);
    assert.deepEqual(sums.of(0), []);
    sums.close();
  });

  it('find keys by their names, and none by a name of several', async () => {
    async function* names(): AsyncGenerator<readonly [string, string]> {
      yield* [
        ['id 1', 'one'] as const,
        ['laptop', 'one'] as const,
        ['id 2', 'two'] as const,
        ['laptop', 'two'] as const,
      ];
      yield ['server', 'two'];
    }
    const sums = await createDaySums(names());
    for (const name of ['id 1', 'laptop', 'server', 'id 2', 'unknown', '']) sums.add(0, sum('ann', name, 1n));
    assert.deepEqual(
      sums.of(0).map(({ key, amount }) => `${key} ${amount}`),
      [' 3', 'one 1', 'two 2'],
    );
    sums.close();
  });
});

describe('a packed list', () => {
  const things = Array.from({ length: 450 }, (_, i) => ({
    name: `№ ${i}`,
    amount: BigInt(i),
    list: [i],
    no: undefined,
  }));
  const packed = new Packed<(typeof things)[number]>();
  for (const thing of things) packed.push(thing);

  it('has its things in order, as often as it is read', () => {
    assert.equal(packed.length, things.length);
    assert.deepEqual([...packed], things);
    assert.deepEqual([...packed], things);
  });

  it('is seen in another form, and in part, without a second list', () => {
    assert.deepEqual(
      [...viewed(packed, ({ amount }) => amount)],
      things.map(({ amount }) => amount),
    );
    const marks = new Uint8Array(packed.length);
    marks.set([2, 1, 2], 199);
    const some = marked(packed, marks, 2);
    assert.equal(some.length, 2);
    assert.deepEqual([...some], [things[199], things[201]]);
  });

  it('of texts has short, empty and very long ones by their numbers', () => {
    const texts = new Texts();
    const all = ['', 'a', 'ä'.repeat(200_000), 'b'.repeat(262_140), 'c'.repeat(262_141), 'the last'];
    const numbers = all.map((text) => texts.add(text));
    assert.deepEqual(
      numbers.map((number) => texts.at(number)),
      all,
    );
  });
});
