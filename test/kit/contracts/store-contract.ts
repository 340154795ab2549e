/** What every store driver must do, whatever database is behind it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { OpenStore, Step } from '../../../core/plugin.ts';
import { until } from '../until.ts';

/** A store to try: empty, and reopenable. */
export interface StoreUnderTest {
  readonly store: OpenStore;
  /** Closes the store, if it is open, and opens the same one again. */
  reopen(): Promise<OpenStore>;
  /** Closes it and leaves nothing behind. */
  cleanup(): Promise<void>;
}

/** The SQL is what SQLite and PostgreSQL both read. */
const TABLES = [
  'CREATE TABLE purse (id BIGINT PRIMARY KEY, amount BIGINT NOT NULL CHECK (amount >= 0))',
  'CREATE TABLE note (id BIGINT PRIMARY KEY, text TEXT, bytes BYTEA, ratio DOUBLE PRECISION)',
  'CREATE TABLE pair (list BIGINT NOT NULL, half BIGINT NOT NULL, seq BIGINT NOT NULL)',
  'CREATE TABLE counter (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)',
];

const put = (id: number, amount: number | bigint): Step => ({
  sql: 'INSERT INTO purse (id, amount) VALUES (?, ?)',
  params: [id, amount],
});
const take = (id: number, amount: number | bigint): Step => ({
  sql: 'UPDATE purse SET amount = amount - ? WHERE id = ? AND amount >= ?',
  params: [amount, id, amount],
  must: `purse ${id} is empty`,
});
/** A purse that lists add to; see `Addition`. */
const purse = (id: number) => ({
  sql: 'UPDATE purse SET amount = amount + ? WHERE id = ?',
  params: [id],
  must: `no purse ${id}`,
});
const note = (id: number, text: string): Step => ({
  sql: 'INSERT INTO note (id, text) VALUES (?, ?)',
  params: [id, text],
});

/** Runs the contract. `open` gives an empty store; it is called once, and every test uses rows of its own. */
export function storeContract(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`store: ${name}`, () => {
    let subject: StoreUnderTest;
    let store: OpenStore;
    before(async () => {
      subject = await open();
      store = subject.store;
      assert.equal(await store.atomic(TABLES.map((sql) => ({ sql }))), undefined);
    });
    after(() => subject?.cleanup());

    const amount = async (id: number): Promise<string | undefined> =>
      (await store.one<{ amount: string }>('SELECT CAST(amount AS TEXT) AS amount FROM purse WHERE id = ?', id))
        ?.amount;
    const text = async (id: number): Promise<string | null | undefined> =>
      (await store.one<{ text: string | null }>('SELECT text FROM note WHERE id = ?', id))?.text;

    it('says how many rows a statement changed', async () => {
      assert.equal(await store.run('INSERT INTO purse (id, amount) VALUES (1, 5), (2, 6), (3, 7)'), 3);
      assert.equal(await store.run('UPDATE purse SET amount = amount + 1 WHERE id IN (?, ?)', 1, 2), 2);
      assert.equal(await store.run('UPDATE purse SET amount = 0 WHERE id = ?', -1), 0);
      assert.equal(await store.run('DELETE FROM purse WHERE id = ?', 3), 1);
    });

    it('reads one row, all rows, and no row', async () => {
      await store.atomic([note(10, 'ten'), note(11, 'eleven')]);
      assert.deepEqual(await store.one('SELECT id, text FROM note WHERE id = ?', 10), { id: 10, text: 'ten' });
      const rows = await store.all<{ id: number }>('SELECT id FROM note WHERE id IN (?, ?) ORDER BY id DESC', 10, 11);
      assert.deepEqual(
        rows.map(({ id }) => id),
        [11, 10],
      );
      assert.equal(await store.one('SELECT id FROM note WHERE id = ?', -1), undefined);
      assert.deepEqual(await store.all('SELECT id FROM note WHERE id = ?', -1), []);
    });

    it('gives back text, bytes, fractions and null as they were', async () => {
      const words = 'quotes \' " \\ and ? and $1, umlauts äöü, 漢字, 🙂\n';
      const bytes = Buffer.from([0, 1, 127, 128, 255]);
      await store.run('INSERT INTO note (id, text, bytes, ratio) VALUES (?, ?, ?, ?)', 20, words, bytes, 0.1);
      await store.run('INSERT INTO note (id, text, bytes, ratio) VALUES (?, ?, ?, ?)', 21, '', new Uint8Array(0), null);
      await store.run('INSERT INTO note (id, text, bytes, ratio) VALUES (?, ?, ?, ?)', 22, null, null, -2.5);
      interface Note {
        text: string | null;
        bytes: Uint8Array | null;
        ratio: number | null;
      }
      const rows = await store.all<Note>('SELECT text, bytes, ratio FROM note WHERE id BETWEEN 20 AND 22 ORDER BY id');
      assert.deepEqual(
        rows.map((row) => row.text),
        [words, '', null],
      );
      assert.deepEqual(
        rows.map((row) => row.ratio),
        [0.1, null, -2.5],
      );
      assert.deepEqual(
        rows.map((row) => row.bytes && [...row.bytes]),
        [[0, 1, 127, 128, 255], [], null],
      );
    });

    it('keeps bigints exact and counts with them exactly', async () => {
      const odd = 2n ** 53n + 1n;
      await store.atomic([put(30, odd), put(31, 2n ** 62n)]);
      assert.equal(await amount(30), odd.toString());
      assert.equal(await amount(31), (2n ** 62n).toString());
      await store.run('UPDATE purse SET amount = amount + ? WHERE id = ?', 2n, 30);
      await store.run('UPDATE purse SET amount = amount - ? WHERE id = ?', 1n, 31);
      assert.equal(await amount(30), (odd + 2n).toString());
      assert.equal(await amount(31), (2n ** 62n - 1n).toString());
    });

    it('counts exactly with whole numbers too: they are integers, not fractions', async () => {
      const odd = 2n ** 60n + 1n;
      await store.atomic([put(35, odd)]);
      await store.run('UPDATE purse SET amount = amount + ? WHERE id = ?', 2, 35);
      assert.equal(await amount(35), (odd + 2n).toString());
      assert.equal((await store.one<{ n: number }>('SELECT 7 / ? AS n', 2))?.n, 3);
    });

    it('reads integers up to 2^53 as numbers and refuses to round larger ones', async () => {
      await store.atomic([put(40, Number.MAX_SAFE_INTEGER), put(41, 2n ** 53n)]);
      const row = await store.one<{ amount: number }>('SELECT amount FROM purse WHERE id = ?', 40);
      assert.equal(row?.amount, Number.MAX_SAFE_INTEGER);
      await assert.rejects(store.one('SELECT amount FROM purse WHERE id = ?', 41));
      await assert.rejects(store.all('SELECT amount FROM purse WHERE id IN (?, ?)', 40, 41));
    });

    it('refuses numbers that have lost digits or are none, and does nothing then', async () => {
      for (const wrong of [2 ** 60, Number.NaN, Number.POSITIVE_INFINITY]) {
        await assert.rejects(store.atomic([note(45, 'before'), put(45, wrong)]));
      }
      await assert.rejects(store.run('INSERT INTO purse (id, amount) VALUES (?, ?)', 45, 2n ** 64n));
      assert.equal(await text(45), undefined);
      assert.equal(await amount(45), undefined);
    });

    it('has utf8_bytes, which gives a text as bytes of its own', async () => {
      for (const given of ['', 'abc', 'ä漢🙂'.repeat(100_000)]) {
        const rows = await store.all<{ b: Uint8Array }>(
          'SELECT utf8_bytes(?) AS b UNION ALL SELECT utf8_bytes(?)',
          given,
          given,
        );
        for (const { b } of rows) assert.equal(Buffer.from(b).toString(), given);
      }
      assert.equal((await store.one<{ b: null }>('SELECT utf8_bytes(NULL) AS b'))?.b, null);
    });

    it('has sha256_hex, in what it writes, in what it reads, and in a snapshot', async () => {
      // Of FIPS 180-2, and of text that is more bytes than characters.
      const digests = [
        ['', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
        ['abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
        ['ä漢🙂', createHash('sha256').update('ä漢🙂').digest('hex')],
      ] as const;
      for (const [given, digest] of digests) {
        await store.run('INSERT INTO note (id, text) VALUES (47, sha256_hex(?))', given);
        assert.equal(await text(47), digest);
        assert.equal((await store.one<{ h: string }>('SELECT sha256_hex(?) AS h', given))?.h, digest);
        const [row] = await store.snapshot((reader) => reader.all<{ h: string }>('SELECT sha256_hex(?) AS h', given));
        assert.equal(row?.h, digest);
        await store.run('DELETE FROM note WHERE id = 47');
      }
      assert.equal((await store.one<{ h: null }>('SELECT sha256_hex(NULL) AS h'))?.h, null);
      // One step of a list builds on what the one before it wrote.
      await store.atomic([
        note(47, 'abc'),
        { sql: 'UPDATE note SET text = sha256_hex(text) WHERE id = 47', must: 'note 47' },
        { sql: 'UPDATE note SET text = sha256_hex(text) WHERE id = 47', must: 'note 47' },
      ]);
      assert.equal(await text(47), createHash('sha256').update(digests[1][1]).digest('hex'));
    });

    it('does a whole list or nothing of it', async () => {
      await store.atomic([put(50, 10)]);
      await assert.rejects(
        store.atomic([note(50, 'a'), { sql: 'UPDATE purse SET amount = amount - 11 WHERE id = 50' }]),
      );
      await assert.rejects(store.atomic([note(50, 'b'), { sql: 'INSERT INTO nowhere (id) VALUES (1)' }]));
      await assert.rejects(store.atomic([note(50, 'c'), { sql: 'not a statement' }]));
      await assert.rejects(store.atomic([note(50, 'd'), { ...put(50, 1), params: [1] }]));
      assert.equal(await text(50), undefined);
      assert.equal(await store.atomic([note(50, 'e'), take(50, 10)]), undefined);
      assert.equal(await text(50), 'e');
      assert.equal(await amount(50), '0');
    });

    it('undoes a list whose `must` changed nothing, and names it', async () => {
      await store.atomic([put(60, 10), put(61, 1)]);
      assert.equal(await store.atomic([take(60, 5), note(60, 'x'), take(61, 5)]), 'purse 61 is empty');
      assert.equal(await store.atomic([take(61, 5), take(60, 5)]), 'purse 61 is empty');
      assert.equal(await amount(60), '10');
      assert.equal(await text(60), undefined);
      assert.equal(await store.atomic([take(60, 5), take(61, 1)], 'ran'), undefined);
      assert.equal(await store.atomic([take(60, 5), take(61, 1)], 'ran'), 'purse 61 is empty');
    });

    it('lets a step without `must` change nothing', async () => {
      const idle = { sql: 'UPDATE purse SET amount = 1 WHERE id = ?', params: [-1] };
      assert.equal(await store.atomic([idle, note(65, 'kept'), idle]), undefined);
      assert.equal(await text(65), 'kept');
      assert.equal(await store.atomic([]), undefined);
    });

    it('keeps the errors of one list from those that run beside it', async () => {
      await store.atomic([put(70, 3), note(70, 'taken')]);
      const results = await Promise.allSettled([
        store.atomic([take(70, 1), note(71, 'first')]),
        store.atomic([take(70, 1), note(70, 'taken again')]),
        store.run('UPDATE purse SET amount = amount - 100 WHERE id = 70'),
        store.atomic([take(70, 1), { sql: 'not a statement' }], 'ran'),
        store.atomic([take(70, 1), note(72, 'last')]),
      ]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'],
      );
      assert.equal(await amount(70), '1');
      assert.equal(await text(71), 'first');
      assert.equal(await text(72), 'last');
    });

    it('says what was wrong with a statement, and never with which values', async () => {
      const error = await store.run('INSERT INTO nowhere (secret) VALUES (?)', 'hush-hush').catch((e: Error) => e);
      assert.ok(error instanceof Error);
      assert.match(error.message, /nowhere/);
      assert.doesNotMatch(error.message, /hush-hush/);
    });

    it('puts nothing of anybody else between the statements of 2,000 lists at once', async () => {
      await store.run('INSERT INTO counter (id, n) VALUES (1, 0)');
      const next = { sql: 'UPDATE counter SET n = n + 1 WHERE id = 1' };
      const half = (list: number, which: number): Step => ({
        sql: 'INSERT INTO pair (list, half, seq) SELECT CAST(? AS BIGINT), CAST(? AS BIGINT), n FROM counter WHERE id = 1',
        params: [list, which],
      });
      await Promise.all(
        Array.from({ length: 2_000 }, (_, list) =>
          store.atomic([next, half(list, 1), next, half(list, 2)], list % 2 === 0 ? 'ran' : 'durable'),
        ),
      );
      // The ones answered early are durable when a later one is.
      await store.run('UPDATE counter SET n = n WHERE id = 1');
      const torn = await store.all(
        'SELECT a.list FROM pair a JOIN pair b ON a.list = b.list AND a.half = 1 AND b.half = 2 WHERE b.seq <> a.seq + 1',
      );
      assert.deepEqual(torn, []);
      const all = await store.one<{ rows: number; seqs: number }>(
        'SELECT COUNT(*) AS rows, COUNT(DISTINCT seq) AS seqs FROM pair',
      );
      assert.deepEqual(all, { rows: 4_000, seqs: 4_000 });
    });

    it('never sells more than there is: 200 at once over a purse for 33', async () => {
      await store.atomic([put(80, 33 * 7 + 6)]);
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          store.atomic([take(80, 7), note(8_000 + i, 'sold')], i % 3 ? 'ran' : 'durable'),
        ),
      );
      assert.equal(answers.filter((answer) => answer === undefined).length, 33);
      assert.equal(answers.filter((answer) => answer === 'purse 80 is empty').length, 167);
      await store.run('UPDATE purse SET amount = amount WHERE id = 80');
      assert.equal(await amount(80), '6');
      const sold = await store.one<{ n: number }>('SELECT COUNT(*) AS n FROM note WHERE id BETWEEN 8000 AND 8199');
      assert.equal(sold?.n, 33);
    });

    it('adds what many lists add to one row, exactly, and shows it to every list that comes behind them', async () => {
      await store.atomic([put(83, 2n ** 60n), put(84, 0)]);
      const [from, to] = [purse(83), purse(84)];
      const work: Promise<string | undefined>[] = [];
      for (let i = 1; i <= 300; i++) {
        const steps = [note(8_300 + i, 'added'), { to: from, adds: [-BigInt(i)] }, { to, adds: [i] }];
        work.push(store.atomic(steps, i % 4 === 0 ? 'ran' : 'durable'));
        // Just what there is by now, and not a unit more.
        if (i % 100 === 0) work.push(store.atomic([take(84, (i * (i + 1)) / 2)]), store.atomic([put(8_400 + i, i)]));
        if (i % 100 === 0) work.push(store.atomic([take(84, 1)]), store.atomic([{ to, adds: [(i * (i + 1)) / 2] }]));
      }
      const refused = (await Promise.all(work)).filter((answer) => answer !== undefined);
      assert.deepEqual(refused, Array(3).fill('purse 84 is empty'));
      await store.run('UPDATE purse SET amount = amount WHERE id = 83');
      assert.equal(await amount(83), (2n ** 60n - 45_150n).toString());
      assert.equal(await amount(84), '45150');
    });

    it('keeps a list that cannot add from those that add to the same row beside it', async () => {
      await store.atomic([put(86, 5), note(86, 'taken')]);
      const [some, none] = [purse(86), purse(-1)];
      const results = await Promise.allSettled([
        store.atomic([note(8_700, 'first'), { to: some, adds: [1n] }]),
        store.atomic([
          { to: some, adds: [10n] },
          { to: none, adds: [1n] },
        ]),
        store.atomic([{ to: some, adds: [100n] }, note(86, 'taken again')]),
        store.atomic([{ to: some, adds: [-1_000n] }]),
        store.atomic([{ to: some, adds: [2n ** 80n] }]),
        store.atomic([note(8_701, 'last'), { to: some, adds: [2n] }]),
      ]);
      assert.deepEqual(
        results.map((result) => (result.status === 'fulfilled' ? result.value : result.status)),
        [undefined, 'no purse -1', 'rejected', 'rejected', 'rejected', undefined],
      );
      assert.equal(await amount(86), '8');
      assert.deepEqual([await text(8_700), await text(8_701)], ['first', 'last']);
    });

    it('lets a list see what ran before it, answered before the commit or not', async () => {
      await store.atomic([put(90, 1)]);
      assert.equal(await store.atomic([take(90, 1)], 'ran'), undefined);
      assert.equal(await store.atomic([take(90, 1)], 'ran'), 'purse 90 is empty');
      assert.equal(await store.atomic([take(90, 1)]), 'purse 90 is empty');
      assert.equal(await store.run('UPDATE purse SET amount = 4 WHERE id = 90 AND amount = 0'), 1);
      assert.equal(await amount(90), '4');
    });

    it('shows a read every write that was durable before it', async () => {
      await store.run('INSERT INTO counter (id, n) VALUES (2, 0)');
      for (let i = 1; i <= 100; i++) {
        if (i % 2) await store.run('UPDATE counter SET n = ? WHERE id = 2', i);
        else await store.atomic([{ sql: 'UPDATE counter SET n = ? WHERE id = 2', params: [i] }]);
        assert.equal((await store.one<{ n: number }>('SELECT n FROM counter WHERE id = 2'))?.n, i);
      }
    });

    it('refuses to write where it reads', async () => {
      await assert.rejects(store.all('DELETE FROM purse WHERE id = 1 RETURNING id'));
      await assert.rejects(store.one('INSERT INTO purse (id, amount) VALUES (99, 1) RETURNING id'));
      await store.snapshot((reader) => assert.rejects(reader.all('DELETE FROM purse RETURNING id')));
      assert.equal(await amount(1), '6');
      assert.equal(await amount(99), undefined);
    });

    it('refuses statements that would end or split the transaction of others', async () => {
      for (const sql of ['COMMIT', 'ROLLBACK', 'SAVEPOINT mine', 'BEGIN']) {
        await assert.rejects(store.atomic([note(100, sql), { sql }, note(101, sql)]));
      }
      assert.equal(await text(100), undefined);
      assert.equal(await text(101), undefined);
    });

    it('shows one moment inside a snapshot, however much is written meanwhile', async () => {
      const all = 1_000_000;
      await store.atomic([put(110, all), put(111, 0)]);
      const move: Step[] = [
        take(110, 1),
        { sql: 'UPDATE purse SET amount = amount + 1 WHERE id = 111', must: 'no purse' },
      ];
      let moving = true;
      const mover = (async () => {
        while (moving) assert.equal(await store.atomic(move), undefined);
      })();
      const [left, right] = await store.snapshot(async (reader) => {
        const read = async (id: number): Promise<number> =>
          (await reader.one<{ amount: number }>('SELECT amount FROM purse WHERE id = ?', id))!.amount;
        const first = await read(110);
        // These are durable before the second read, and not seen by it.
        for (let i = 0; i < 20; i++) assert.equal(await store.atomic(move), undefined);
        return [first, await read(111)];
      });
      moving = false;
      await mover;
      assert.equal(left! + right!, all);
      assert.ok(Number(await amount(111)) >= right! + 20);
    });

    it('answers reads and other snapshots while a snapshot is open, and gives back what it returns or throws', async () => {
      const result = await store.snapshot(async (outer) => {
        await store.run('INSERT INTO counter (id, n) VALUES (3, 1)');
        assert.equal((await store.one<{ n: number }>('SELECT n FROM counter WHERE id = 3'))?.n, 1);
        const inner = await store.snapshot((reader) => reader.all('SELECT n FROM counter WHERE id = 3'));
        return [inner.length, (await outer.all('SELECT n FROM counter WHERE id = 3')).length];
      });
      assert.deepEqual(result, [1, 0]);
      await assert.rejects(
        store.snapshot(() => Promise.reject(new Error('my own'))),
        /my own/,
      );
    });

    it('knows how many lists wait, and that none does when all are answered', async () => {
      // A store may have lists of its own, such as those that a query waits for.
      const { waiting } = store.pressure();
      const work = Array.from({ length: 10 }, (_, i) => store.atomic([note(120 + i, 'w')]));
      assert.equal(store.pressure().waiting, waiting + 10);
      await Promise.all(work);
      await until('no list waits', () => store.pressure().waiting === 0);
      assert.deepEqual(store.pressure(), { waiting: 0, oldestMs: 0 });
    });

    it('writes down what it was given before it closes, takes nothing afterwards, and finds all of it again', async () => {
      const work = Array.from({ length: 50 }, (_, i) =>
        store.atomic([note(200 + i, 'late')], i % 2 ? 'ran' : 'durable'),
      );
      const closing = store.close();
      await assert.rejects(store.run('INSERT INTO note (id) VALUES (300)'));
      await Promise.all(work);
      await closing;
      await store.close();
      await assert.rejects(store.one('SELECT 1 AS n'));
      await assert.rejects(store.snapshot((reader) => reader.all('SELECT 1 AS n')));
      store = await subject.reopen();
      const kept = await store.one<{ n: number }>('SELECT COUNT(*) AS n FROM note WHERE id BETWEEN 200 AND 249');
      assert.equal(kept?.n, 50);
      assert.equal(await text(300), undefined);
      assert.equal(await amount(31), (2n ** 62n - 1n).toString());
      assert.equal(await store.atomic([take(80, 7)]), 'purse 80 is empty');
    });
  });
}
