/** Additions of the embedded store: whatever fails and wherever it ends, every row has what was added to it by answered lists, once. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type BetterSqlite3 from 'better-sqlite3';
import { type Step, StoreUnavailable, type Sum } from '../../../core/plugin.ts';
import { createBatches, createSender } from '../../../plugins/stores/sqlite/batch.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { openWriter } from '../../../plugins/stores/sqlite/connection.ts';
import { createLists } from '../../../plugins/stores/sqlite/lists.ts';
import { HOLD, RELEASE } from '../../../plugins/stores/sqlite/wire.ts';
import fc from '../../kit/fast-check.ts';

const folder = mkdtempSync(join(tmpdir(), 'turnpike-additions-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** More than one commit adds in passing. */
const ROWS = 40;
const TABLES = [
  'CREATE TABLE tally (id TEXT NOT NULL PRIMARY KEY, n INTEGER NOT NULL, m INTEGER NOT NULL) STRICT, WITHOUT ROWID',
  'CREATE TABLE line (id INTEGER NOT NULL PRIMARY KEY) STRICT',
  'CREATE VIEW tallied AS SELECT id, n FROM tally',
];
const UPSERT = `INSERT INTO tally (n, m, id) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET n = tally.n + excluded.n, m = tally.m + excluded.m`;
/** Of every other row: other rows have other statements. */
const TWICE = UPSERT.replace('(?, ?, ?)', '(2 * ?, ?, ?)');
const times = (row: number): bigint => (row % 2 === 0 ? 1n : 2n);
const line = (id: number): Step => ({ sql: 'INSERT INTO line (id) VALUES (?)', params: [id] });

let files = 0;

/** The writing side of a store in one thread: lists, batches and the file; its turns come when the test says so. */
class Subject {
  readonly file: string;
  readonly unadded: string[] = [];
  db!: BetterSqlite3.Database;
  lists!: ReturnType<typeof createLists>;
  isFull = false;
  isBehind = false;
  #turn: (() => void) | undefined;
  #sums: Sum[] = [];

  constructor() {
    this.file = join(folder, `${files++}.db`);
    const db = openWriter(this.file);
    for (const sql of TABLES) db.exec(sql);
    db.close();
    this.open();
  }

  open(): void {
    const db = openWriter(this.file);
    const prepare = db.prepare.bind(db);
    const commit = prepare('COMMIT');
    const fullAtTimes = {
      run: () => {
        if (this.isFull) throw new Database.SqliteError('the disk is full', 'SQLITE_FULL');
        return commit.run();
      },
    };
    db.prepare = ((sql: string) => (sql === 'COMMIT' ? fullAtTimes : prepare(sql))) as typeof db.prepare;
    const from = createSender((message) => {
      if (message.kind === 'again') this.lists.again();
      else if (message.kind === 'failed') this.lists.failed(new StoreUnavailable(message.reason));
      else if (message.kind === 'ran' || message.kind === 'done') {
        this.lists.answer(message.answers);
        if (message.kind === 'ran') return;
        this.isBehind = message.behind;
        this.lists.done();
      }
    });
    this.#turn = undefined;
    const batches = createBatches(db, {
      unadded: (text) => this.unadded.push(text),
      later: (work) => {
        this.#turn = work;
        return () => {};
      },
    });
    this.lists = createLists((batch) => batches.run([{ from, batch }]));
    this.#sums = Array.from({ length: ROWS }, (_, i) => ({
      sql: i % 2 === 0 ? UPSERT : TWICE,
      params: [`row ${i}`],
    }));
    this.db = db;
  }

  /** Ends like a process that is killed: nothing is added any more. */
  crash(): void {
    this.db.close();
    this.open();
  }

  turn(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    turn?.();
  }

  add(row: number, n: bigint | number, m: bigint | number): Step {
    return { to: this.#sums[row]!, adds: [n, m] };
  }

  rows(): ReadonlyMap<string, readonly bigint[]> {
    const rows = this.db.prepare('SELECT id, n, m FROM tally ORDER BY id').raw().all() as [string, bigint, bigint][];
    return new Map(rows.map(([id, ...sums]) => [id, sums]));
  }
}

const amount = fc.oneof(fc.bigInt({ min: -(2n ** 52n), max: 2n ** 52n }), fc.integer({ min: -1_000, max: 1_000 }));
const list = fc.record({
  adds: fc.array(fc.tuple(fc.nat(ROWS - 1), amount, amount), { minLength: 10, maxLength: 60 }),
  /** It inserts a line that exists. */
  fails: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
});
const step = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant('lists' as const),
      lists: fc.array(list, { minLength: 1, maxLength: 5 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('full' as const), lists: fc.array(list, { minLength: 1, maxLength: 5 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      row: fc.nat(ROWS - 1),
      n: fc.integer({ min: 0, max: 9 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), row: fc.nat(ROWS - 1) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('query' as const),
      text: fc.constantFrom(HOLD, 'SELECT * FROM tally', 'SELECT n FROM "tallied"'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('turn' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
);

describe('additions that are made later', () => {
  it('are in their rows once, whatever fails and wherever it ends', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
        const subject = new Subject();
        const model = new Map<string, [bigint, bigint]>();
        let lines = 0;
        const write = async (lists: (typeof steps)[number] & { readonly kind: 'lists' | 'full' }): Promise<void> => {
          subject.isFull = lists.kind === 'full';
          await Promise.all(
            lists.lists.map(async ({ adds, fails }) => {
              // The first line exists as soon as anything was written.
              const id = fails && lines > 0 ? 0 : lines++;
              const steps = adds.map(([row, n, m]) => subject.add(row, n, m));
              const isWritten = await subject.lists.atomic([line(id), ...steps], true).then(
                () => true,
                () => false,
              );
              if (!isWritten) return;
              for (const [row, n, m] of adds) {
                const [before, other] = model.get(`row ${row}`) ?? [0n, 0n];
                model.set(`row ${row}`, [before + times(row) * BigInt(n), other + BigInt(m)]);
              }
            }),
          );
          subject.isFull = false;
        };
        await subject.lists.run({ sql: 'INSERT INTO line (id) VALUES (0)' });
        lines = 1;
        for (const each of steps) {
          switch (each.kind) {
            case 'lists':
            case 'full':
              await write(each);
              break;
            case 'set': {
              const id = `row ${each.row}`;
              await subject.lists.run({ sql: 'UPDATE tally SET n = ? WHERE id = ?', params: [each.n, id] });
              const known = model.get(id);
              if (known !== undefined) model.set(id, [BigInt(each.n), known[1]]);
              break;
            }
            case 'remove':
              await subject.lists.run({ sql: 'DELETE FROM tally WHERE id = ?', params: [`row ${each.row}`] });
              model.delete(`row ${each.row}`);
              break;
            case 'query':
              await subject.lists.before(each.text);
              assert.deepEqual(subject.rows(), sorted(model));
              if (each.text === HOLD) await subject.lists.before(RELEASE);
              break;
            case 'turn':
              subject.turn();
              break;
            case 'crash':
              subject.crash();
              assert.deepEqual(subject.rows(), sorted(model));
          }
        }
        subject.crash();
        assert.deepEqual(subject.rows(), sorted(model));
        assert.deepEqual(subject.unadded, []);
        subject.db.close();
      }),
      { numRuns: 200, endOnFailure: true },
    );
  });

  it('leave queries of other tables alone, and are made before one that reads their row, also through a view', async () => {
    const subject = new Subject();
    const add = (): Promise<unknown> => subject.lists.atomic([line(lines++), subject.add(0, 1, 1)], true);
    let lines = 0;
    // The first addition to a row is made at once.
    await add();
    await add();
    assert.equal(subject.isBehind, true);
    await subject.lists.before('SELECT id FROM line WHERE id = ?');
    assert.deepEqual(subject.rows().get('row 0'), [1n, 1n]);
    await subject.lists.before('SELECT n FROM tallied');
    assert.deepEqual(subject.rows().get('row 0'), [2n, 2n]);
    assert.equal(subject.isBehind, false);
    subject.db.close();
  });

  it('are added by the next commits, a few in each, after a second turn at the latest by one of their own', async () => {
    const subject = new Subject();
    const sums = Array.from({ length: 40 }, (_, i): Sum => ({ sql: UPSERT, params: [`many ${i}`] }));
    const addAll = (): Promise<unknown> =>
      Promise.all(sums.map((to) => subject.lists.atomic([{ to, adds: [1, 0] }], true)));
    const total = (): bigint => subject.db.prepare('SELECT SUM(n) FROM tally').pluck().get() as bigint;
    await addAll();
    await addAll();
    assert.equal(total(), 40n);
    subject.turn();
    assert.equal(total(), 40n);
    await subject.lists.atomic([line(1), subject.add(0, 0, 0)], true);
    assert.equal(total(), 56n);
    subject.turn();
    assert.equal(total(), 80n);
    assert.equal(subject.db.prepare('SELECT COUNT(*) FROM store_addition').pluck().get(), 0n);
    subject.db.close();
  });

  it('are made with their list while a snapshot begins, and later again', async () => {
    const subject = new Subject();
    let lines = 0;
    const add = (): Promise<unknown> => subject.lists.atomic([line(lines++), subject.add(0, 1, 1)], true);
    await add();
    await subject.lists.before(HOLD);
    for (let i = 0; i < 3; i++) await add();
    assert.deepEqual(subject.rows().get('row 0'), [4n, 4n]);
    await subject.lists.before(RELEASE);
    await add();
    assert.deepEqual(subject.rows().get('row 0'), [4n, 4n]);
    subject.crash();
    assert.deepEqual(subject.rows().get('row 0'), [5n, 5n]);
    subject.db.close();
  });

  it('are integers, and of a row that was made by a list that failed there are none', async () => {
    const subject = new Subject();
    await assert.rejects(subject.lists.atomic([line(1), subject.add(0, 0.5, 1)], true), /0.5 cannot be added/);
    const sum: Sum = { sql: 'UPDATE tally SET n = n + ? WHERE id = ?', params: ['made'], must: 'gone' };
    const make = { sql: "INSERT INTO tally (id, n, m) VALUES ('made', 0, 0)" };
    subject.isFull = true;
    const both = [subject.lists.run(make), subject.lists.atomic([{ to: sum, adds: [1] }], true)];
    assert.ok((await Promise.allSettled(both)).every(({ status }) => status === 'rejected'));
    subject.isFull = false;
    assert.equal(await subject.lists.atomic([{ to: sum, adds: [1] }], true), 'gone');
    subject.db.close();
  });

  it('refuse a list whose fence was taken away', async () => {
    const subject = new Subject();
    await subject.lists.run({ sql: "INSERT INTO tally (id, n, m) VALUES ('fence', 0, 0)" });
    const sql = 'UPDATE tally SET n = n + ? WHERE id = ?';
    const fence: Sum = { sql, params: ['fence'], must: 'lost', isFence: true };
    const pass = (): Promise<string | undefined> =>
      subject.lists.atomic([{ to: fence, adds: [0] }, subject.add(0, 1, 1)], true);
    assert.deepEqual([await pass(), await pass()], [undefined, undefined]);
    await subject.lists.run({ sql: "DELETE FROM tally WHERE id = 'fence'" });
    assert.equal(await pass(), 'lost');
    await subject.lists.before('SELECT * FROM tally');
    assert.deepEqual(subject.rows().get('row 0'), [2n, 2n]);
    subject.db.close();
  });
});

function sorted(model: ReadonlyMap<string, readonly bigint[]>): ReadonlyMap<string, readonly bigint[]> {
  return new Map([...model].sort(([a], [b]) => (a < b ? -1 : 1)));
}
