/** What an import of very many keys keeps in memory. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { marked, Packed, Texts, viewed } from '../../plugins/import/packed.ts';
import { readImports } from '../../plugins/import/tables.ts';
import { inventoryOf } from './import-tables.ts';

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
