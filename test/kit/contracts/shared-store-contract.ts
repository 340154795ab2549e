/** What a store must do that several processes have open at once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { OpenStore, Step } from '../../../core/plugin.ts';

/** Runs it; `open` gives one empty store, opened twice. */
export function sharedStoreContract(name: string, open: () => Promise<readonly [OpenStore, OpenStore]>): void {
  describe(`store that is shared: ${name}`, () => {
    let here: OpenStore;
    let there: OpenStore;
    before(async () => {
      [here, there] = await open();
      const tables = [
        'CREATE TABLE balance (id BIGINT PRIMARY KEY, amount BIGINT NOT NULL CHECK (amount >= 0), held BIGINT NOT NULL DEFAULT 0)',
        'CREATE TABLE owed (id BIGINT PRIMARY KEY, amount BIGINT NOT NULL)',
        'CREATE TABLE line (list TEXT NOT NULL, half BIGINT NOT NULL, seq BIGINT NOT NULL)',
      ];
      assert.equal(await here.atomic(tables.map((sql) => ({ sql }))), undefined);
    });
    after(() => Promise.all([here?.close(), there?.close()]));

    const balance = (id: number, amount: number): Step => ({
      sql: 'INSERT INTO balance (id, amount) VALUES (?, ?)',
      params: [id, amount],
    });
    const amountOf = async (store: OpenStore, id: number): Promise<number> =>
      (await store.one<{ amount: number }>('SELECT amount FROM balance WHERE id = ?', id))!.amount;

    it('shows each what the other has written', async () => {
      for (let i = 0; i < 20; i++) {
        const [writer, reader] = i % 2 === 0 ? [here, there] : [there, here];
        await writer.atomic([balance(1_000 + i, i)]);
        assert.equal(await amountOf(reader, 1_000 + i), i);
      }
    });

    it('never sells more than there is: 200 at once on each side over a balance for 33', async () => {
      await here.atomic([balance(1, 33 * 7 + 6)]);
      const take: Step = { sql: 'UPDATE balance SET amount = amount - 7 WHERE id = 1 AND amount >= 7', must: 'empty' };
      const answers = await Promise.all(
        Array.from({ length: 400 }, (_, i) => (i % 2 === 0 ? here : there).atomic([take])),
      );
      assert.equal(answers.filter((answer) => answer === undefined).length, 33);
      assert.equal(answers.filter((answer) => answer === 'empty').length, 367);
      assert.equal(await amountOf(here, 1), 6);
    });

    it('refuses what is held beside a debt, whoever comes first: a guard may look at another row than it changes', async () => {
      const rounds = 60;
      await here.atomic(Array.from({ length: rounds }, (_, i) => balance(2_000 + i, 10)));
      const outcomes = await Promise.all(
        Array.from({ length: rounds }, async (_, i) => {
          const hold: Step = {
            sql: 'UPDATE balance SET held = 10 WHERE id = ? AND NOT EXISTS (SELECT 1 FROM owed WHERE owed.id = balance.id)',
            params: [2_000 + i],
            must: 'in debt',
          };
          const owe: Step = {
            sql: 'INSERT INTO owed (id, amount) SELECT id, 30 FROM balance WHERE id = ? AND held = 0',
            params: [2_000 + i],
            must: 'held',
          };
          return Promise.all([here.atomic([hold]), there.atomic([owe])]);
        }),
      );
      for (const outcome of outcomes) assert.equal(outcome.filter((answer) => answer === undefined).length, 1);
      const both = 'SELECT COUNT(*) AS n FROM balance JOIN owed ON owed.id = balance.id WHERE held > 0';
      assert.deepEqual(await here.one(both), { n: 0 });
    });

    it('puts nothing of the other between the statements of a list', async () => {
      await here.atomic([balance(3, 0)]);
      const next: Step = { sql: 'UPDATE balance SET amount = amount + 1 WHERE id = 3' };
      const half = (list: string, which: number): Step => ({
        sql: 'INSERT INTO line (list, half, seq) SELECT CAST(? AS TEXT), CAST(? AS BIGINT), amount FROM balance WHERE id = 3',
        params: [list, which],
      });
      const lists = (store: OpenStore, whose: string): Promise<unknown>[] =>
        Array.from({ length: 300 }, (_, i) =>
          store.atomic([next, half(`${whose}${i}`, 1), next, half(`${whose}${i}`, 2)]),
        );
      await Promise.all([...lists(here, 'here'), ...lists(there, 'there')]);
      const torn = await here.all(
        'SELECT a.list FROM line a JOIN line b ON a.list = b.list AND a.half = 1 AND b.half = 2 WHERE b.seq <> a.seq + 1',
      );
      assert.deepEqual(torn, []);
      assert.equal(await amountOf(there, 3), 1_200);
    });

    it('adds what both add to one row, exactly', async () => {
      await here.atomic([balance(4, 0)]);
      const row = () => ({ sql: 'UPDATE balance SET amount = amount + ? WHERE id = ?', params: [4], must: 'gone' });
      const [mine, theirs] = [row(), row()];
      await Promise.all(
        Array.from({ length: 500 }, (_, i) =>
          i % 2 === 0 ? here.atomic([{ to: mine, adds: [i] }]) : there.atomic([{ to: theirs, adds: [i] }]),
        ),
      );
      assert.equal(await amountOf(here, 4), (499 * 500) / 2);
    });

    it('shows one moment inside a snapshot, whatever the other writes meanwhile', async () => {
      await here.atomic([balance(5, 1), balance(6, 0)]);
      const move: readonly Step[] = [
        { sql: 'UPDATE balance SET amount = 0 WHERE id = 5' },
        { sql: 'UPDATE balance SET amount = 1 WHERE id = 6' },
      ];
      const seen = await here.snapshot(async (reader) => {
        const sum = 'SELECT SUM(amount) AS n FROM balance WHERE id = ?';
        const left = await reader.one<{ n: number }>(sum, 5);
        await there.atomic(move);
        return [left!.n, (await reader.one<{ n: number }>(sum, 6))!.n];
      });
      assert.deepEqual(seen, [1, 0]);
    });
  });
}
