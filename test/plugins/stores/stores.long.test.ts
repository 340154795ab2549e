/** The embedded store: the contract of all stores, and what only a file, a disk and a process can suffer. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type BetterSqlite3 from 'better-sqlite3';
import type { Log, OpenStore, Statement, Value } from '../../../core/plugin.ts';
import { StoreInUse, StoreMissing, StoreUnavailable } from '../../../core/plugin.ts';
import { startThread } from '../../../core/runtime/thread.ts';
import { openStore } from '../../../core/store/migrations.ts';
import { createBatches, createSender } from '../../../plugins/stores/sqlite/batch.ts';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { openReader, openWriter } from '../../../plugins/stores/sqlite/connection.ts';
import driver from '../../../plugins/stores/sqlite/index.ts';
import { createLists } from '../../../plugins/stores/sqlite/lists.ts';
import type { Batch, FromWriter } from '../../../plugins/stores/sqlite/wire.ts';
import { storeContract } from '../../kit/contracts/store-contract.ts';
import { until } from '../../kit/until.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DRIVER = new URL('../../../plugins/stores/sqlite/index.ts', import.meta.url).href;

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
const directories: string[] = [];
after(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});
function freshDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-store-'));
  directories.push(directory);
  return directory;
}
type FileStore = Awaited<ReturnType<typeof driver.open>>;
const stores: FileStore[] = [];
after(async () => {
  for (const store of stores) await store.close();
});
/** A store that is closed at the end, however the test ends. */
async function open(file: string, log: Log = silent): Promise<FileStore> {
  const store = await driver.open({ file, log });
  stores.push(store);
  return store;
}
const freshFile = (): string => join(freshDirectory(), 'data', 'turnpike.db');

storeContract('sqlite', async () => {
  const file = freshFile();
  let store = await driver.open({ file, log: silent });
  return {
    store,
    async reopen() {
      await store.close();
      store = await driver.open({ file, log: silent });
      return store;
    },
    cleanup: () => store.close(),
  };
});

/** Another process that runs `code` with `open(file)` and `say(line)` at hand. */
function child(code: string, loader = ['--import', 'tsx'], prologue = ''): ChildProcess {
  const script = `
    import { writeSync } from 'node:fs';
    ${prologue}
    const driver = (await import(${JSON.stringify(DRIVER)})).default;
    const log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
    const open = (file) => driver.open({ file, log });
    const say = (line) => writeSync(1, line + '\\n');
    ${code}`;
  const args = [...loader, '--input-type=module', '--eval', script];
  return spawn(process.execPath, args, { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'] });
}
const linesOf = (process: ChildProcess): AsyncIterable<string> => createInterface({ input: process.stdout! });
async function firstLine(process: ChildProcess): Promise<string> {
  for await (const line of linesOf(process)) return line;
  throw new Error('the other process said nothing');
}

const NUMBERS = 'CREATE TABLE number (id INTEGER PRIMARY KEY, twin INTEGER, filler TEXT) STRICT';
const insert = (id: number, filler: string | null = null): Statement => ({
  sql: 'INSERT INTO number (id, filler) VALUES (?, ?)',
  params: [id, filler],
});
const twin = (id: number): Statement => ({
  sql: 'UPDATE number SET twin = id WHERE id = ?',
  params: [id],
  must: 'gone',
});
const countOf = async (store: Pick<OpenStore, 'one'>): Promise<number> =>
  (await store.one<{ n: number }>('SELECT COUNT(*) AS n FROM number'))!.n;

/** A closed store with some rows, and the file it is in. */
async function written(rows: number): Promise<string> {
  const file = freshFile();
  const store = await openStore({ driver, file, log: silent });
  await store.run(NUMBERS);
  await store.atomic(Array.from({ length: rows }, (_, id) => insert(id, 'x'.repeat(200))));
  await store.close();
  return file;
}

describe('sqlite: how the file is opened', () => {
  it('asks for every setting that durability rests on, and gets it', () => {
    const file = join(freshDirectory(), 'turnpike.db');
    const writer = openWriter(file);
    const reader = openReader(file);
    const setting = (db: BetterSqlite3.Database, name: string): unknown => db.pragma(name, { simple: true });
    assert.equal(setting(writer, 'journal_mode'), 'wal');
    assert.equal(setting(writer, 'synchronous'), 2n);
    assert.equal(setting(writer, 'foreign_keys'), 1n);
    assert.equal(setting(writer, 'busy_timeout'), 2000n);
    for (const db of [writer, reader]) {
      assert.equal(setting(db, 'trusted_schema'), 0n);
      assert.equal(setting(db, 'mmap_size'), 0n);
    }
    assert.equal(setting(reader, 'query_only'), 1n);
    reader.close();
    writer.close();
  });

  it('keeps the directory and every file in it to its owner', async () => {
    const file = freshFile();
    const store = await open(file);
    await store.run(NUMBERS);
    const mode = (path: string): number => statSync(path).mode & 0o777;
    assert.equal(mode(join(file, '..')), 0o700);
    assert.deepEqual(readdirSync(join(file, '..')).sort(), [
      'turnpike.db',
      'turnpike.db-shm',
      'turnpike.db-wal',
      'turnpike.db.lock',
    ]);
    for (const name of readdirSync(join(file, '..'))) assert.equal(mode(join(file, '..', name)), 0o600, name);
    await store.close();
    assert.deepEqual(readdirSync(join(file, '..')).sort(), ['turnpike.db', 'turnpike.db.lock']);
  });

  it('is had by one process at a time, and by this one only once', async () => {
    const file = freshFile();
    const store = await open(file);
    await assert.rejects(driver.open({ file, log: silent }), StoreInUse);
    const asked = child(
      `await open(${JSON.stringify(file)}).then(() => say('got it'), (e) => say(e.constructor.name + ': ' + e.message))`,
    );
    assert.match(await firstLine(asked), /^StoreInUse: .*turnpike\.db is in use by another process/);
    assert.deepEqual(await once(asked, 'exit'), [0, null]);
    await store.run(NUMBERS);
    await store.close();
    const later = child(`const store = await open(${JSON.stringify(file)}); await store.close(); say('got it');`);
    assert.equal(await firstLine(later), 'got it');
  });

  it('works where the loader was registered by the program, and lets the process end after close', async () => {
    const code = `const store = await open(${JSON.stringify(freshFile())}); say((await store.one('SELECT 1 AS n')).n); await store.close();`;
    const other = child(code, [], `import { register } from 'tsx/esm/api'; register();`);
    assert.equal(await firstLine(other), '1');
    assert.deepEqual(await once(other, 'exit'), [0, null]);
  });

  it('refuses a damaged file and says what to do', async () => {
    const file = await written(500);
    const handle = openSync(file, 'r+');
    writeSync(handle, Buffer.alloc(8192, 0x5a), 0, 8192, 3 * 4096);
    closeSync(handle);
    await assert.rejects(driver.open({ file, log: silent }), /turnpike\.db is damaged, .*restore it from a backup/s);
  });

  it('refuses a file that is no database, and leaves it as it is', async () => {
    const file = join(freshDirectory(), 'turnpike.db');
    writeFileSync(file, 'Dear diary, '.repeat(1_000));
    await assert.rejects(
      driver.open({ file, log: silent }),
      /damaged, or is not a database .*restore it from a backup/,
    );
    assert.equal(statSync(file).size, 12_000);
  });

  it('refuses the database of another program, and leaves it as it is', async () => {
    const file = join(freshDirectory(), 'other.db');
    const other = new Database(file);
    other.exec('CREATE TABLE theirs (id INTEGER)');
    other.close();
    await assert.rejects(driver.open({ file, log: silent }), /other\.db is a database of another program/);
    const still = new Database(file);
    assert.equal(still.pragma('journal_mode', { simple: true }), 'delete');
    still.close();
  });
});

describe('sqlite: a database that is not there', () => {
  /** A database of which a killed process has left the log and its index. */
  async function crashed(): Promise<string> {
    const file = await written(1);
    const killed = child(`
      const store = await open(${JSON.stringify(file)});
      await store.run('INSERT INTO number (id) VALUES (7)');
      say('written');
      await new Promise(() => {});`);
    await firstLine(killed);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    return file;
  }
  const names = (file: string): string[] => readdirSync(join(file, '..')).sort();

  it('is not made where there has to be one, and nothing else is', async () => {
    const home = freshDirectory();
    const opening = driver.open({ file: join(home, 'data', 'turnpike.db'), log: silent, mustExist: true });
    await assert.rejects(
      opening,
      (error) => error instanceof StoreMissing && /turnpike\.db does not exist/.test(error.message),
    );
    assert.deepEqual(readdirSync(home), []);
    const empty = join(home, 'empty.db');
    writeFileSync(empty, '');
    await assert.rejects(driver.open({ file: empty, log: silent, mustExist: true }), /empty\.db is empty/);
    assert.deepEqual([readdirSync(home), statSync(empty).size], [['empty.db'], 0]);
  });

  it('is never made anew beside the log of one that was there', async () => {
    for (const lose of [(file: string) => rmSync(file), (file: string) => truncateSync(file)]) {
      const file = await crashed();
      lose(file);
      const [before, size] = [names(file), statSync(`${file}-wal`).size];
      await assert.rejects(
        driver.open({ file, log: silent }),
        (error) =>
          error instanceof StoreMissing && /but its write-ahead log \S+turnpike\.db-wal is there/.test(error.message),
      );
      assert.deepEqual([names(file), statSync(`${file}-wal`).size], [before, size]);
    }
  });

  it('is not opened without its log while that holds what is in it nowhere else', async () => {
    for (const lose of [rmSync, truncateSync]) {
      const file = await crashed();
      lose(`${file}-wal`);
      const before = names(file);
      await assert.rejects(
        driver.open({ file, log: silent }),
        (error) => error instanceof StoreMissing && /turnpike\.db-wal .*put it back/.test(error.message),
      );
      assert.deepEqual(names(file), before);
    }
  });
});

describe('sqlite: files that go while it is open', () => {
  for (const end of ['', '-wal', '-shm']) {
    for (const [how, change] of [
      ['removed', (name: string) => rmSync(name)],
      [
        'replaced',
        (name: string) => {
          copyFileSync(name, `${name}.other`);
          renameSync(`${name}.other`, name);
        },
      ],
    ] as const) {
      it(`answers no write as done once turnpike.db${end} was ${how}`, async () => {
        const file = freshFile();
        const store = await open(file);
        await store.run(NUMBERS);
        await store.atomic([insert(1)]);
        change(`${file}${end}`);
        await assert.rejects(store.atomic([insert(2)]), (error) => {
          assert.ok(error instanceof StoreUnavailable);
          assert.match(error.message, new RegExp(`turnpike\\.db${end} was ${how} while in use`));
          return true;
        });
        await assert.rejects(store.atomic([insert(3)]), StoreUnavailable);
        assert.equal(store.pressure().oldestMs, Infinity);
        await store.close();
      });
    }
  }

  it('notices it without a write, too', async () => {
    const file = freshFile();
    const errors: string[] = [];
    const store = await open(file, { ...silent, error: (_, facts) => errors.push(String(facts?.reason)) });
    await store.run(NUMBERS);
    rmSync(`${file}-wal`);
    await until('it is noticed', () => store.pressure().oldestMs === Infinity);
    assert.match(errors[0]!, /-wal was removed while in use/);
    await store.close();
  });

  it('has what it acknowledged in the database when the log went, even if it is killed then', async () => {
    const file = freshFile();
    const killed = child(`
      import { rmSync } from 'node:fs';
      const store = await open(${JSON.stringify(file)});
      await store.run(${JSON.stringify(NUMBERS)});
      for (let id = 0; id < 50; id++) await store.run('INSERT INTO number (id) VALUES (?)', id);
      rmSync(${JSON.stringify(`${file}-wal`)});
      rmSync(${JSON.stringify(`${file}-shm`)});
      await store.run('INSERT INTO number (id) VALUES (99)').catch(() => say('refused'));
      await new Promise(() => {});`);
    assert.equal(await firstLine(killed), 'refused');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const store = await open(file);
    assert.equal((await store.one<{ n: number }>('SELECT COUNT(*) AS n FROM number WHERE id < 50'))?.n, 50);
  });
});

describe('sqlite: what a crash leaves', () => {
  it('finds every list it acknowledged after SIGKILL in the middle of writing, and no half of one', async () => {
    const file = freshFile();
    const acknowledged: number[] = [];
    for (let round = 0; round < 3; round++) {
      const writer = child(`
        const store = await open(${JSON.stringify(file)});
        await store.run('CREATE TABLE IF NOT EXISTS' + ${JSON.stringify(NUMBERS.slice('CREATE TABLE'.length))});
        let next = ${round * 1_000_000};
        const write = async () => {
          for (;;) {
            const id = next++;
            await store.atomic([{ sql: 'INSERT INTO number (id) VALUES (?)', params: [id] }], 'ran');
            await store.atomic([{ sql: 'UPDATE number SET twin = id WHERE id = ?', params: [id], must: 'gone' }]);
            say(id);
          }
        };
        for (let i = 0; i < 16; i++) void write();`);
      let heard = 0;
      for await (const line of linesOf(writer)) {
        acknowledged.push(Number(line));
        if (++heard === 300) writer.kill('SIGKILL');
      }
      assert.ok(heard >= 300);
      const store = await open(file);
      const rows = await store.all<{ id: number; twin: number | null }>('SELECT id, twin FROM number');
      const twins = new Map(rows.map(({ id, twin }) => [id, twin]));
      assert.deepEqual(
        acknowledged.filter((id) => twins.get(id) !== id),
        [],
      );
      await store.close();
    }
  });
});

/** Resolves once the store says that it can be written; nobody writes to it. */
async function recovered(store: OpenStore): Promise<void> {
  while (store.pressure().oldestMs === Infinity) await new Promise((resolve) => setImmediate(resolve));
}

describe('sqlite: a store that cannot write', () => {
  /** Runs lists of one step each, `[step, durable]`, as one batch whose commit fails with `fault` where one is set. */
  function faulty(): {
    db: BetterSqlite3.Database;
    fault: string | undefined;
    run(...lists: [Statement, boolean][]): FromWriter[];
  } {
    const db = openWriter(join(freshDirectory(), 'turnpike.db'));
    db.exec(NUMBERS);
    const prepare = db.prepare.bind(db);
    const commit = prepare('COMMIT');
    const failing = {
      run() {
        if (subject.fault !== undefined) throw new Database.SqliteError('the disk said no', subject.fault);
        return commit.run();
      },
    };
    db.prepare = ((sql: string) => (sql === 'COMMIT' ? failing : prepare(sql))) as typeof db.prepare;
    let posted: FromWriter[] = [];
    const from = createSender((message) => posted.push(message));
    const { run } = createBatches(db);
    const subject: ReturnType<typeof faulty> = {
      db,
      fault: undefined,
      run(...lists) {
        const wire: Value[] = [];
        for (const [number, [{ sql, params = [] }, durable]] of lists.entries()) {
          wire.push(number, wire.length + 5 + params.length, durable ? 1 : 0, sql, params.length * 2, ...params);
        }
        posted = [];
        run([{ from, batch: { texts: [], sums: [], forget: false, lists: wire, count: lists.length } }]);
        return posted;
      },
    };
    return subject;
  }

  it('fails every list of a batch that could not be committed, keeps nothing of it, and tries the next', () => {
    const subject = faulty();
    subject.fault = 'SQLITE_FULL';
    const failed = subject.run([insert(1), false], [insert(2), true], [insert(1), true]);
    assert.deepEqual(failed, [
      { kind: 'ran', answers: [0, 1] },
      { kind: 'failed', reason: 'the disk said no (SQLITE_FULL)', lasting: false },
    ]);
    subject.fault = undefined;
    assert.deepEqual(subject.run([insert(2), true]), [{ kind: 'done', answers: [0, 1], behind: false }]);
    assert.deepEqual(subject.db.prepare('SELECT id FROM number').pluck().all(), [2n]);
    subject.db.close();
  });

  it('keeps its write-ahead log short, behind the answers', () => {
    const subject = faulty();
    for (let id = 1; id <= 30; id++) {
      const [done] = subject.run([insert(id, 'x'.repeat(1 << 20)), true]);
      assert.equal(done?.kind, 'done');
    }
    const [{ log }] = subject.db.pragma('wal_checkpoint(NOOP)') as [{ readonly log: bigint }];
    assert.ok(log < 4_000n, `${log} pages`);
    subject.db.close();
  });

  it('believes nothing any more after a sync has failed', () => {
    const subject = faulty();
    subject.fault = 'SQLITE_IOERR_FSYNC';
    const [failed] = subject.run([insert(1), true]);
    assert.ok(failed?.kind === 'failed' && failed.lasting);
    subject.fault = undefined;
    const [again] = subject.run([insert(2), true]);
    assert.ok(again?.kind === 'failed' && again.lasting);
    assert.deepEqual(subject.db.prepare('SELECT id FROM number').all(), []);
    subject.db.close();
  });

  const mountpoint = freshDirectory();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', mountpoint]).status === 0;
  it('refuses while the disk is full, loses nothing it acknowledged, and goes on when there is room again', {
    skip: mounted ? false : 'needs the right to mount a small disk',
  }, async () => {
    const ballast = join(mountpoint, 'ballast');
    writeFileSync(ballast, Buffer.alloc(1 << 20));
    const told: string[] = [];
    const log = { ...silent, error: (text: string) => told.push(text), info: (text: string) => told.push(text) };
    const store = await open(join(mountpoint, 'turnpike.db'), log);
    try {
      await store.run(NUMBERS);
      let id = 0;
      let full: unknown;
      while (full === undefined) {
        await store.atomic([insert(id, 'x'.repeat(20_000))]).then(
          () => id++,
          (error: unknown) => {
            full = error;
          },
        );
      }
      assert.ok(full instanceof StoreUnavailable, String(full));
      assert.match(full.message, /SQLITE_FULL/);
      // Answered before the commit that fails, and lost with it: that is what `ran` means.
      await store.atomic([insert(id, 'x'.repeat(20_000))], 'ran').catch(() => {});
      assert.equal(await countOf(store), id);
      assert.equal(store.pressure().oldestMs, Infinity);
      rmSync(ballast);
      await recovered(store);
      assert.equal(await store.atomic([insert(id, 'room')]), undefined);
      assert.equal(await countOf(store), id + 1);
      // Once, however often it was tried.
      assert.deepEqual(told, ['the store cannot be written', 'the store can be written again']);
    } finally {
      await store.close();
    }
  });
  after(() => {
    if (mounted) spawnSync('umount', [mountpoint]);
  });

  it('refuses at once what comes after a failure, and finds out by itself when it can be written again', async () => {
    const file = await written(1);
    const store = await open(file);
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    await assert.rejects(store.atomic([insert(7)]), StoreUnavailable);
    const order: string[] = [];
    // What asks the thread is answered behind this turn of the event loop.
    const refused = [store.atomic([insert(7)]), store.run('DELETE FROM number')].map((write) =>
      assert.rejects(write, StoreUnavailable).then(() => order.push('refused')),
    );
    await new Promise((resolve) => setImmediate(resolve));
    order.push('next turn');
    await Promise.all(refused);
    assert.deepEqual(order, ['refused', 'refused', 'next turn']);
    assert.equal(store.pressure().oldestMs, Infinity);
    other.exec('ROLLBACK');
    await recovered(store);
    assert.equal(await store.atomic([insert(7)]), undefined);
    assert.equal(await countOf(store), 2);
    other.close();
    await store.close();
  });

  it('waits for another program that holds the file, without holding up reads or this thread', async () => {
    const file = await written(1);
    const store = await open(file);
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const write = store.atomic([insert(7)]);
    assert.equal(await countOf(store), 1);
    assert.equal(store.pressure().waiting, 1);
    other.exec('ROLLBACK');
    assert.equal(await write, undefined);
    assert.equal(await countOf(store), 2);
    other.close();
    await store.close();
  });

  for (const [what, happen] of [
    ['removed', (file: string) => rmSync(file)],
    [
      'replaced',
      (file: string) => {
        copyFileSync(file, `${file}.new`);
        renameSync(`${file}.new`, file);
      },
    ],
  ] as const) {
    it(`neither writes nor reads any more when the file was ${what} behind its back`, async () => {
      const file = await written(1);
      let heard: (facts: unknown) => void = () => {};
      const told = new Promise((resolve) => {
        heard = resolve;
      });
      const store = await open(file, { ...silent, error: (_, facts) => heard(facts) });
      assert.equal(await countOf(store), 1);
      happen(file);
      assert.match(JSON.stringify(await told), new RegExp(`turnpike.db was ${what} while in use`));
      await assert.rejects(store.run('DELETE FROM number'), StoreUnavailable);
      await assert.rejects(store.atomic([insert(1)], 'ran'), StoreUnavailable);
      await assert.rejects(countOf(store), StoreUnavailable);
      await assert.rejects(store.snapshot(countOf), StoreUnavailable);
      await assert.rejects(store.backup(`${file}.copy`), StoreUnavailable);
      assert.equal(existsSync(`${file}.copy`), false);
      await store.close();
    });
  }
});

describe('sqlite: lists that wait', () => {
  /** Lists whose writer answers when the test says so, and a clock by hand. */
  function held(): { lists: ReturnType<typeof createLists>; batches: Batch[]; advance(ms: number): void } {
    const batches: Batch[] = [];
    let nowMs = 5;
    const lists = createLists(
      (batch) => batches.push(batch),
      () => nowMs,
    );
    return { lists, batches, advance: (ms) => (nowMs += ms) };
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const sum = (id: number, must?: string) => ({
    sql: 'UPDATE number SET twin = twin + ? WHERE id = ?',
    params: [id],
    ...(must !== undefined && { must }),
  });

  it('are 10,000 at most', async () => {
    const { lists } = held();
    const waiting = Array.from({ length: 10_000 }, (_, id) => lists.atomic([insert(id)], true));
    await assert.rejects(lists.atomic([insert(1)], true), StoreUnavailable);
    assert.equal(lists.pressure().waiting, 10_000);
    await turn();
    lists.answer([0, 1]);
    assert.equal(await waiting[0], undefined);
    waiting.push(lists.atomic([insert(1)], true));
    await assert.rejects(lists.run(insert(1)), StoreUnavailable);
    lists.end(new StoreUnavailable('over'));
    const ends = await Promise.allSettled(waiting.slice(1));
    assert.ok(ends.every(({ status }) => status === 'rejected'));
  });

  it('take no company any more when the oldest has waited for 2 s', async () => {
    const { lists, advance } = held();
    const first = lists.atomic([insert(1)], true);
    await turn();
    advance(1_500);
    const second = lists.atomic([insert(2)], true);
    advance(500);
    const third = lists.atomic([insert(3)], true);
    advance(1);
    assert.deepEqual(lists.pressure(), { waiting: 3, oldestMs: 2_001 });
    await assert.rejects(lists.atomic([insert(4)], true), StoreUnavailable);
    lists.answer([0, 1]);
    lists.done();
    assert.equal(await first, undefined);
    assert.deepEqual(lists.pressure(), { waiting: 2, oldestMs: 501 });
    const fourth = lists.atomic([insert(4)], true);
    lists.answer([0, 1, 1, 1]);
    lists.done();
    lists.answer([0, 1]);
    await Promise.all([second, third, fourth]);
  });

  it('leave together, one batch at a time, and tell each text only once', async () => {
    const { lists, batches } = held();
    const work = [lists.atomic([insert(1), twin(1)], false), lists.run(insert(2))];
    assert.equal(batches.length, 0);
    await turn();
    work.push(lists.atomic([twin(1)], true));
    await turn();
    work.push(lists.atomic([twin(2)], true));
    await turn();
    assert.deepEqual(batches, [
      {
        texts: [insert(1).sql, twin(1).sql],
        lists: [0, 10, 0, 0, 4, 1, null, 1, 3, 1, 1, 17, 1, 0, 4, 2, null],
        sums: [],
        forget: false,
        count: 2,
      },
    ]);
    lists.answer([0, 1, 1, 1]);
    lists.done();
    const nothing = { texts: [], sums: [], forget: false };
    assert.deepEqual(batches.slice(1), [{ ...nothing, lists: [0, 6, 1, 1, 3, 1, 1, 12, 1, 1, 3, 2], count: 2 }]);
    lists.answer([0, -1, 1, 1]);
    assert.deepEqual(await Promise.all(work), [undefined, 1, 'gone', undefined]);
  });

  it('add up what they add to one row, in front of the first list that may look at it', async () => {
    const { lists, batches } = held();
    const [one, two] = [sum(1), sum(2, 'lost')];
    const add = (to: typeof one, ...adds: (bigint | number)[]) => ({ to, adds });
    lists.atomic([insert(7), add(one, 5n)], true);
    lists.atomic([add(two, 1), add(one, 6n)], true);
    lists.atomic([add(two, Number.MAX_SAFE_INTEGER)], true);
    lists.atomic([twin(7)], true);
    lists.atomic([add(one, 7n)], true);
    await turn();
    const texts = [insert(1).sql, one.sql, twin(7).sql];
    const sums = [
      [1, 0, 1],
      [1, 1, 2],
    ];
    const folded = [
      ...[0, 7, 3, 0, 4, 7, null],
      ...[1, 10, 3],
      ...[2, 13, 3],
      ...[-1, 22, 0, 0, 1, 11n, 1, 1, 2n ** 53n],
      ...[3, 28, 1, 2, 3, 7],
      ...[4, 31, 3],
      ...[-1, 37, 0, 0, 1, 7n],
    ];
    assert.deepEqual(batches, [{ texts, sums, forget: false, lists: folded, count: 5 }]);
    lists.again();
    const single = [
      ...[0, 11, 1, 0, 4, 7, null, 1, 4, 5n, 1],
      ...[1, 22, 1, 1, 5, 1, 2, 1, 4, 6n, 1],
      ...[2, 29, 1, 1, 5, Number.MAX_SAFE_INTEGER, 2],
      ...[3, 35, 1, 2, 3, 7],
      ...[4, 42, 1, 1, 4, 7n, 1],
    ];
    assert.deepEqual(batches[1], { texts: [], sums: [], forget: false, lists: single, count: 5 });
  });

  it('reject one that cannot be sent, and nothing else of the same turn', async () => {
    const store = await open(await written(0));
    const wrong = { ...insert(2), params: [2, Symbol('no value') as unknown as string] };
    const results = await Promise.allSettled([
      store.atomic([insert(1)]),
      store.atomic([insert(5), wrong]),
      store.atomic([insert(3), { sql: 'DELETE FROM number WHERE id = ?', params: [1] }]),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(await store.all('SELECT id FROM number'), [{ id: 3 }]);
    await store.close();
  });

  it('run however many different texts there are', async () => {
    const store = await open(await written(0));
    const text = (id: number): Statement => ({ sql: `INSERT INTO number (id, twin) VALUES (?, ${id})`, params: [id] });
    await Promise.all(Array.from({ length: 1_200 }, (_, id) => store.atomic([text(id)])));
    await Promise.all(Array.from({ length: 600 }, (_, id) => store.all(`SELECT ${id} AS n`)));
    assert.equal((await store.one<{ n: number }>('SELECT COUNT(*) AS n FROM number WHERE id = twin'))?.n, 1_200);
    await store.close();
  });
});

describe('sqlite: its threads', () => {
  it('end alone when they throw, and say why', async () => {
    const entry = join(freshDirectory(), 'broken.ts');
    writeFileSync(entry, `const why: string = 'out of order';\nthrow new Error(why);\n`);
    const ends: (Error | undefined)[] = [];
    const thread = startThread(new URL(`file://${entry}`), { message() {}, ended: (error) => ends.push(error) });
    await thread.ended;
    assert.deepEqual(
      ends.map((error) => error?.message),
      ['out of order'],
    );
  });
});

describe('sqlite: backups', () => {
  it('copies one moment while lists are being written', async () => {
    const file = await written(0);
    const store = await open(file);
    let next = 0;
    let copying = true;
    const write = async (): Promise<void> => {
      while (copying) {
        const id = next++;
        await store.atomic([insert(id, 'x'.repeat(500)), twin(id)]);
      }
    };
    await store.atomic([insert(-1, 'x'.repeat(1 << 20)), twin(-1)]);
    const writers = [write(), write(), write(), write()];
    const copy = join(freshDirectory(), 'copy.db');
    await store.backup(copy);
    copying = false;
    await Promise.all(writers);
    await store.close();

    assert.equal(statSync(copy).mode & 0o777, 0o600);
    assert.deepEqual(readdirSync(join(copy, '..')), ['copy.db']);
    const restored = await open(copy);
    assert.deepEqual(await restored.all('SELECT id FROM number WHERE twin IS NOT id'), []);
    // A list is in the copy only where all that were durable before it are.
    const ids = (await restored.all<{ id: number }>('SELECT id FROM number ORDER BY id')).map(({ id }) => id);
    assert.equal(ids[0], -1);
    assert.ok(ids.length <= next + 1);
    await restored.close();
  });

  it('never overwrites anything and leaves no pieces behind', async () => {
    const store = await open(await written(3));
    const taken = join(freshDirectory(), 'taken');
    writeFileSync(taken, 'precious');
    await assert.rejects(store.backup(taken), /taken exists: a backup never overwrites anything/);
    assert.equal(statSync(taken).size, 8);
    await assert.rejects(store.backup(join(freshDirectory(), 'nowhere', 'copy.db')), /nowhere/);
    assert.deepEqual(readdirSync(join(taken, '..')), ['taken']);
    await store.close();
  });
});

describe('sqlite: restoring', () => {
  async function backupOf(rows: number): Promise<string> {
    const store = await open(await written(rows));
    const copy = join(freshDirectory(), 'copy.db');
    await store.backup(copy);
    await store.close();
    return copy;
  }
  const restore = (from: string, file: string): Promise<string | undefined> =>
    driver.restore({ from, file, log: silent });
  async function rowsIn(file: string): Promise<number> {
    const store = await open(file);
    const rows = await countOf(store);
    await store.close();
    return rows;
  }

  it('puts the backup in the place of the store and keeps what was there, its log included', async () => {
    const copy = await backupOf(3);
    const file = await written(5);
    const killed = child(`
      const store = await open(${JSON.stringify(file)});
      for (let id = 10; id < 20; id++) await store.run('INSERT INTO number (id) VALUES (?)', id);
      say('written');
      await new Promise(() => {});`);
    assert.equal(await firstLine(killed), 'written');
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    assert.ok(statSync(`${file}-wal`).size > 0);

    await restore(copy, file);
    assert.deepEqual(readdirSync(join(file, '..')).sort(), [
      'turnpike.db',
      'turnpike.db.before-restore',
      'turnpike.db.before-restore-wal',
      'turnpike.db.lock',
    ]);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(await rowsIn(file), 3);
    assert.equal(await rowsIn(`${file}.before-restore`), 15);
    assert.equal(await rowsIn(copy), 3);
    await assert.rejects(restore(copy, file), /before-restore is left from an earlier restore/);
  });

  it('takes a backup that a program has only looked at', async () => {
    const copy = await backupOf(4);
    const looking = new Database(copy, { readonly: true });
    assert.equal(looking.prepare('SELECT COUNT(*) FROM number').pluck().get(), 4);
    looking.close();
    assert.equal(statSync(`${copy}-wal`).size, 0, 'it leaves an empty log behind');
    const file = freshFile();
    assert.equal(await restore(copy, file), undefined);
    assert.equal(await rowsIn(file), 4);
  });

  it('takes what a crash has left, with all that its log holds', async () => {
    const copy = await backupOf(3);
    const file = await written(5);
    const killed = child(`
      const store = await open(${JSON.stringify(file)});
      for (let id = 10; id < 20; id++) await store.run('INSERT INTO number (id) VALUES (?)', id);
      say('written');
      await new Promise(() => {});`);
    await firstLine(killed);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const kept = await restore(copy, file);
    const back = freshFile();
    await restore(kept!, back);
    assert.equal(await rowsIn(back), 15);
  });

  it('keeps the log of a database that is missing itself', async () => {
    const copy = await backupOf(3);
    const file = await written(0);
    rmSync(file);
    writeFileSync(`${file}-wal`, 'x'.repeat(100));
    assert.equal(await restore(copy, file), `${file}.before-restore`);
    assert.equal(statSync(`${file}.before-restore-wal`).size, 100);
    assert.equal(await rowsIn(file), 3);
  });

  it('of what is no backup leaves no folder behind', async () => {
    const home = freshDirectory();
    const garbage = join(home, 'garbage.db');
    writeFileSync(garbage, 'Dear diary, '.repeat(1_000));
    await assert.rejects(restore(garbage, join(home, 'data', 'deep', 'turnpike.db')), /damaged, or is not a database/);
    assert.deepEqual(readdirSync(home), ['garbage.db']);
  });

  it('makes a store where there was none', async () => {
    const file = freshFile();
    await restore(await backupOf(4), file);
    assert.equal(await rowsIn(file), 4);
  });

  it('refuses while a gateway has the store', async () => {
    const copy = await backupOf(1);
    const file = await written(2);
    const store = await open(file);
    await assert.rejects(restore(copy, file), StoreInUse);
    assert.equal(await countOf(store), 2);
    await store.close();
    assert.equal(await rowsIn(file), 2);
  });

  it('refuses what is not a whole and sound backup, and changes nothing then', async () => {
    const file = await written(2);
    const directory = freshDirectory();
    const garbage = join(directory, 'garbage.db');
    writeFileSync(garbage, 'Dear diary, '.repeat(1_000));

    const damaged = await backupOf(500);
    const handle = openSync(damaged, 'r+');
    writeSync(handle, Buffer.alloc(8192, 0x5a), 0, 8192, 4 * 4096);
    closeSync(handle);

    const foreign = join(directory, 'foreign.db');
    const theirs = new Database(foreign);
    theirs.exec('CREATE TABLE theirs (id INTEGER)');
    theirs.close();

    const empty = join(directory, 'empty.db');
    await (await open(empty)).close();

    const dangling = await backupOf(1);
    const loose = new Database(dangling);
    loose.pragma('foreign_keys = OFF');
    loose.exec('CREATE TABLE child (parent INTEGER REFERENCES number (id)); INSERT INTO child VALUES (99)');
    loose.close();

    const busy = join(directory, 'busy', 'turnpike.db');
    mkdirSync(join(directory, 'busy'));
    const running = await open(busy);

    for (const [from, reason] of [
      [garbage, /garbage\.db is damaged, or is not a database/],
      [damaged, /copy\.db is damaged/],
      [foreign, /foreign\.db is a database of another program/],
      [empty, /empty\.db is not a database of Turnpike/],
      [dangling, /1 rows refer to missing rows, the first in child/],
      [busy, /busy\/turnpike\.db is in use/],
      [join(directory, 'missing.db'), /missing\.db does not exist/],
      [file, /is the store itself/],
    ] as const) {
      await assert.rejects(restore(from, file), reason);
      assert.deepEqual(readdirSync(join(file, '..')).sort(), ['turnpike.db', 'turnpike.db.lock']);
    }
    await running.close();
    assert.equal(await rowsIn(file), 2);
  });
});
