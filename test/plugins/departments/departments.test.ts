/** Departments: a tree that stays a tree, people who are in one place, and two gateways on one store. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Accounts, type Person } from '../../../core/contracts/accounts.ts';
import { type Department, Departments } from '../../../core/contracts/departments.ts';
import type { Migration, Service } from '../../../core/plugin.ts';
import plugin from '../../../plugins/departments/index.ts';
import { type Driven, drive, type MemoryStore, memoryStore, verdict } from '../../kit/gateway/drive.ts';

type Listener = Parameters<Accounts['watch']>[0];

/** People 1 to 20; who is in `gone` was deleted. */
function people(gone: Set<number>, listeners: Listener[]): Accounts {
  return {
    person: async (id: number) =>
      id >= 1 && id <= 20 ? ({ id, deletedMs: gone.has(id) ? 1 : undefined } as Person) : undefined,
    watch: (listener: Listener) => void listeners.push(listener),
  } as unknown as Accounts;
}

interface Stand {
  readonly departments: Departments;
  readonly driven: Driven;
  readonly gone: Set<number>;
  tell(id: number): void;
}

const TABLES: readonly Migration[] = [{ id: 1, title: '', sql: ['CREATE TABLE told (n INTEGER NOT NULL) STRICT'] }];

async function stand(store: MemoryStore = memoryStore()): Promise<Stand> {
  const gone = new Set<number>();
  const listeners: Listener[] = [];
  const driven = await drive([plugin], {
    store,
    tables: TABLES,
    services: () => [[Accounts as Service<unknown>, people(gone, listeners)]],
  });
  await driven.start();
  return {
    departments: driven.use(Departments),
    driven,
    gone,
    tell: (id) => {
      for (const listener of listeners) listener(id, true);
    },
  };
}

const names = (path: readonly Department[]): string => path.map(({ name }) => name).join(' < ');
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('departments', () => {
  it('are a tree, with everything a department has', async () => {
    const { departments, driven } = await stand();
    const firm = await departments.create({ name: ' Firm ', budget: 2n ** 60n, factorPpm: 900_000 });
    assert.deepEqual(firm, {
      id: 1,
      name: 'Firm',
      parentId: undefined,
      budget: 2n ** 60n,
      monthlyBudget: undefined,
      factorPpm: 900_000,
      enabled: true,
      createdMs: driven.clock.now(),
      updatedMs: driven.clock.now(),
    });
    const lab = await departments.create({ name: 'Lab', parentId: 1, monthlyBudget: 5n, enabled: false });
    const attic = await departments.create({ name: 'Attic', parentId: lab.id });
    assert.deepEqual(
      departments.below(firm.id).map(({ name }) => name),
      ['Lab', 'Attic'],
    );
    await departments.place(7, attic.id);
    assert.equal(names(departments.pathOf(7)), 'Attic < Lab < Firm');
    assert.equal(departments.departmentOf(7)?.name, 'Attic');
    assert.deepEqual(departments.pathOf(8), []);
    assert.equal(departments.departmentOf(8), undefined);
    assert.deepEqual(await departments.members(attic.id), [7]);
    assert.deepEqual(await departments.members(firm.id), []);
    driven.clock.advance(1_000);
    const changed = await departments.change(lab.id, {
      name: 'Laboratory',
      monthlyBudget: null,
      budget: 0n,
      enabled: true,
    });
    assert.deepEqual(
      { ...changed },
      {
        ...lab,
        name: 'Laboratory',
        monthlyBudget: undefined,
        budget: 0n,
        enabled: true,
        updatedMs: lab.createdMs + 1_000,
      },
    );
    assert.equal(names(departments.pathOf(7)), 'Attic < Laboratory < Firm');
    // What is in memory is what another start reads.
    const again = await stand(driven.store);
    assert.deepEqual(again.departments.all(), departments.all());
    assert.equal(names(again.departments.pathOf(7)), 'Attic < Laboratory < Firm');
  });

  it('have names that are unique under one parent, however they are spelled', async () => {
    const { departments } = await stand();
    const firm = await departments.create({ name: 'Firm' });
    await departments.create({ name: 'Lab', parentId: firm.id });
    await departments.create({ name: 'Lab' });
    for (const [name, parentId] of [
      ['firm', undefined],
      ['LAB', firm.id],
      ['lab ', undefined],
    ] as const) {
      const made = departments.create({ name, ...(parentId !== undefined && { parentId }) });
      assert.equal(await verdict(() => made), '409 name_taken');
    }
    assert.equal(await verdict(() => departments.change(3, { parentId: firm.id })), '409 name_taken');
    assert.equal((await departments.change(3, { name: 'LAB' })).name, 'LAB');
    for (const name of ['', ' ', 'x'.repeat(65), 'a\u0000']) {
      assert.equal(await verdict(() => departments.create({ name })), '400 invalid_name');
    }
  });

  it('never become a circle, nor deeper than ten', async () => {
    const { departments } = await stand();
    let parentId: number | null = null;
    for (let i = 1; i <= 10; i++) {
      const made: Department = await departments.create({ name: `level ${i}`, parentId });
      parentId = made.id;
    }
    assert.equal(await verdict(() => departments.create({ name: 'eleven', parentId: 10 })), '400 department_too_deep');
    assert.equal(await verdict(() => departments.change(1, { parentId: 1 })), '400 department_circle');
    assert.equal(await verdict(() => departments.change(1, { parentId: 10 })), '400 department_circle');
    assert.equal(await verdict(() => departments.change(3, { parentId: 4 })), '400 department_circle');
    const other = await departments.create({ name: 'other' });
    assert.equal(await verdict(() => departments.change(1, { parentId: other.id })), '400 department_too_deep');
    assert.equal(names([await departments.change(2, { parentId: other.id })]), 'level 2');
    assert.equal(await verdict(() => departments.change(3, { parentId: 99 })), '404 department_not_found');
    assert.equal((await departments.change(2, { parentId: null })).parentId, undefined);
  });

  it('do not go while somebody or something is in them, and their ids never come back', async () => {
    const { departments } = await stand();
    const firm = await departments.create({ name: 'Firm' });
    const lab = await departments.create({ name: 'Lab', parentId: firm.id });
    await departments.place(7, lab.id);
    assert.equal(await verdict(() => departments.remove(firm.id)), '409 department_not_empty');
    assert.equal(await verdict(() => departments.remove(lab.id)), '409 department_not_empty');
    await departments.place(7, null);
    await departments.remove(lab.id);
    assert.equal(departments.get(lab.id), undefined);
    assert.equal(await verdict(() => departments.remove(lab.id)), '404 department_not_found');
    assert.equal((await departments.create({ name: 'Lab' })).id, 3);
  });

  it('take people who are there, all of them or none', async () => {
    const { departments, gone } = await stand();
    const firm = await departments.create({ name: 'Firm' });
    gone.add(3);
    for (const ids of [[1, 21], [1, 3], [99]]) {
      assert.equal(await verdict(() => departments.placeAll(ids, firm.id)), '404 account_not_found');
    }
    assert.equal(await verdict(() => departments.place(1, 2)), '404 department_not_found');
    assert.deepEqual(await departments.members(firm.id), []);
    await departments.placeAll([2, 1, 2], firm.id);
    assert.deepEqual(await departments.members(firm.id), [1, 2]);
  });

  it('lose whoever is deleted, and nobody else', async () => {
    const { departments, gone, tell } = await stand();
    const firm = await departments.create({ name: 'Firm' });
    await departments.placeAll([1, 2], firm.id);
    gone.add(2);
    for (const id of [1, 2, 3]) tell(id);
    for (let i = 0; i < 5; i++) await settled();
    assert.deepEqual(await departments.members(firm.id), [1]);
  });

  it('refuse amounts and factors that mean nothing', async () => {
    const { departments } = await stand();
    for (const [changes, wanted] of [
      [{ budget: -1n }, '400 invalid_amount'],
      [{ monthlyBudget: 4_000_000_000_000_000_001n }, '400 invalid_amount'],
      [{ factorPpm: -1 }, '400 invalid_ratio'],
      [{ factorPpm: 0.5 }, '400 invalid_ratio'],
      [{ factorPpm: Number.NaN }, '400 invalid_ratio'],
      [{ factorPpm: 1_000_000_001 }, '400 invalid_ratio'],
    ] as const) {
      assert.equal(await verdict(() => departments.create({ name: 'x', ...changes })), wanted);
    }
    assert.deepEqual(departments.all(), []);
  });

  it('add to a budget exactly, however many do at once', async () => {
    const { departments } = await stand();
    await departments.create({ name: 'Firm', budget: 2n ** 53n + 1n });
    await Promise.all(Array.from({ length: 50 }, () => departments.addToBudget(1, 3n)));
    assert.equal(departments.get(1)?.budget, 2n ** 53n + 151n);
    await departments.change(1, { budget: null });
    assert.equal(await verdict(() => departments.addToBudget(1, 3n)), '409 no_budget');
  });

  it('are written along with what tells of it, or not at all', async () => {
    const { departments, driven } = await stand();
    const tell = { sql: 'INSERT INTO told (n) VALUES (1)' };
    const never = { sql: 'UPDATE told SET n = 2 WHERE n = 99', must: 'never' };
    await departments.create({ name: 'Firm' }, [tell]);
    await assert.rejects(departments.create({ name: 'Lab' }, [tell, never]), { code: 'conflict' });
    await assert.rejects(departments.change(1, { name: 'X' }, [tell, never]), { code: 'conflict' });
    await assert.rejects(departments.place(1, 1, [tell, never]), { code: 'conflict' });
    await assert.rejects(departments.remove(1, [tell, never]), { code: 'conflict' });
    assert.deepEqual(
      departments.all().map(({ name }) => name),
      ['Firm'],
    );
    assert.deepEqual(departments.pathOf(1), []);
    assert.equal((await driven.store.one<{ n: number }>('SELECT COUNT(*) AS n FROM told'))?.n, 1);
  });

  it('are found by another gateway within five seconds', async () => {
    const one = await stand();
    const two = await stand(one.driven.store);
    await one.departments.create({ name: 'Firm' });
    await one.departments.place(1, 1);
    assert.deepEqual(two.departments.pathOf(1), []);
    two.driven.clock.advance(5_000);
    for (let i = 0; i < 10; i++) await settled();
    assert.equal(names(two.departments.pathOf(1)), 'Firm');
  });

  it('stay a tree when two gateways change it at once', async () => {
    const one = await stand();
    await one.departments.create({ name: 'a' });
    await one.departments.create({ name: 'b' });
    const two = await stand(one.driven.store);
    // Each would be right by itself; both would be a circle, or two of one name.
    const moves = await Promise.all([
      verdict(() => one.departments.change(1, { parentId: 2 })),
      verdict(() => two.departments.change(2, { parentId: 1 })),
      verdict(() => one.departments.create({ name: 'twin' })),
      verdict(() => two.departments.create({ name: 'Twin' })),
      verdict(() => one.departments.place(1, 1)),
      verdict(() => two.departments.remove(1)),
    ]);
    assert.deepEqual(moves.slice(0, 2).sort(), ['400 department_circle', 'ok']);
    assert.deepEqual(moves.slice(2, 4).sort(), ['409 name_taken', 'ok']);
    assert.equal(moves.slice(4).filter((move) => move === 'ok').length, 1, `${moves}`);
    const three = await stand(one.driven.store);
    for (const { id } of three.departments.all()) {
      const path = three.departments.pathOf(id).map((department) => department.id);
      assert.equal(new Set(path).size, path.length, `${id} is above itself`);
    }
  });

  it('do not hang on a circle that somebody made in the file', async () => {
    const { departments, driven } = await stand();
    await departments.create({ name: 'a' });
    await departments.create({ name: 'b', parentId: 1 });
    await departments.place(1, 2);
    await driven.store.run('UPDATE department SET parent_id = 2 WHERE id = 1');
    const again = await stand(driven.store);
    assert.equal(again.departments.pathOf(1).length, 10);
    assert.equal(again.departments.below(1).length, 10);
  });
});
