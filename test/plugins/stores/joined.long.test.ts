/** The embedded store as processes have it that join it: the contract of all stores, and what only two processes can suffer. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Log, OpenStore } from '../../../core/plugin.ts';
import { StoreUnavailable } from '../../../core/plugin.ts';
import { frame, readFrames } from '../../../plugins/stores/sqlite/frames.ts';
import driver from '../../../plugins/stores/sqlite/index.ts';
import { storeContract } from '../../kit/contracts/store-contract.ts';
import { until as eventually } from '../../kit/until.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DRIVER = new URL('../../../plugins/stores/sqlite/index.ts', import.meta.url).href;
const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };

const closing: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closing.reverse()) await close();
});

interface Shared {
  readonly file: string;
  readonly socket: string;
  readonly owner: OpenStore;
  /** Who has left, in this order. */
  readonly left: string[];
  join(name: string): Promise<OpenStore>;
}

async function share(): Promise<Shared> {
  const directory = mkdtempSync(join(tmpdir(), 'turnpike-joined-'));
  closing.push(() => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'turnpike.db');
  const socket = join(directory, 'writer.sock');
  const left: string[] = [];
  const owner = await driver.open({ file, log: silent, shared: { socket, left: (name) => void left.push(name) } });
  closing.push(() => owner.close());
  return {
    file,
    socket,
    owner,
    left,
    async join(name) {
      const store = await driver.attach({ file, socket, name, log: silent });
      closing.push(() => store.close());
      return store;
    },
  };
}

/** Resolves when it holds: what is waited for comes from another thread. */
const until = (holds: () => boolean) => eventually('the other thread has come to it', holds);

const TABLE = 'CREATE TABLE number (id INTEGER PRIMARY KEY, filler TEXT) STRICT';
const insert = (id: number, filler = '') => ({ sql: 'INSERT INTO number VALUES (?, ?)', params: [id, filler] });
const countOf = async (store: OpenStore): Promise<number> =>
  (await store.one<{ n: number }>('SELECT COUNT(*) AS n FROM number'))!.n;

storeContract('sqlite, attached', async () => {
  const shared = await share();
  let store = await shared.join('a');
  return {
    store,
    async reopen() {
      await store.close();
      store = await shared.join('a');
      return store;
    },
    async cleanup() {
      await store.close();
      await shared.owner.close();
    },
  };
});

describe('sqlite, attached', () => {
  it('has a socket that only its user may connect to', async () => {
    const { socket } = await share();
    assert.equal(statSync(socket).mode & 0o777, 0o600);
  });

  it('shows each process what the others have written, and lets them write beside each other', async () => {
    const { owner, join: joinAs } = await share();
    await owner.run(TABLE);
    const stores = [owner, await joinAs('a'), await joinAs('b')];
    await Promise.all(
      stores.flatMap((store, i) => Array.from({ length: 200 }, (_, n) => store.atomic([insert(1_000 * i + n)]))),
    );
    for (const store of stores) assert.equal(await countOf(store), 600);
  });

  it('keeps what goes wrong in the lists of one process from those of another that share their commit', async () => {
    const { owner, join: joinAs } = await share();
    await owner.run(TABLE);
    await owner.atomic([insert(1)]);
    const stores = [owner, await joinAs('a'), await joinAs('b')];
    const sum = { sql: 'UPDATE number SET id = id + ? WHERE id = 0', params: [], must: 'there is no such row' };
    for (let round = 0; round < 50; round++) {
      const answers = await Promise.allSettled(
        stores.flatMap((store, i) => [
          store.atomic([insert(1_000 * (i + 1) + round)]),
          // A row that is there, what is no statement, and what cannot be added.
          store.atomic([insert(5_000 + 10 * round + i), insert(1)]),
          store.atomic([{ sql: 'no statement' }], 'ran'),
          store.atomic([insert(7_000 + 10 * round + i), { to: sum, adds: [1] }]),
        ]),
      );
      assert.deepEqual(
        answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.status)),
        stores.flatMap(() => [undefined, 'rejected', 'rejected', 'there is no such row']),
      );
    }
    assert.equal(await countOf(owner), 151);
  });

  it('lets only one process have the last unit', async () => {
    const { owner, join: joinAs } = await share();
    await owner.run(TABLE);
    await owner.atomic([insert(1, 'free')]);
    const stores = [owner, await joinAs('a'), await joinAs('b')];
    const take = { sql: "UPDATE number SET filler = 'taken' WHERE id = 1 AND filler = 'free'", must: 'taken' };
    const answers = await Promise.all(stores.map((store) => store.atomic([take])));
    assert.deepEqual(answers.filter((answer) => answer === undefined).length, 1);
  });

  it('tells the owner that a process has gone', async () => {
    const { left, join: joinAs } = await share();
    const store = await joinAs('a');
    await joinAs('b');
    await store.close();
    await until(() => left.length > 0);
    assert.deepEqual(left, ['a']);
  });

  it('has run what a killed process had handed in when it tells that it has gone, and every list it acknowledged is there', async () => {
    const { owner, file, socket, left } = await share();
    await owner.run(TABLE);
    const script = `
      import { writeSync } from 'node:fs';
      const driver = (await import(${JSON.stringify(DRIVER)})).default;
      const log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
      const store = await driver.attach({ file: ${JSON.stringify(file)}, socket: ${JSON.stringify(socket)}, name: 'child', log });
      for (let id = 0; ; id++) {
        await store.atomic([{ sql: 'INSERT INTO number VALUES (?, ?)', params: [id, 'x'.repeat(1000)] }]);
        writeSync(1, id + '\\n');
      }`;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    for await (const piece of child.stdout) {
      said += piece;
      if (!child.killed && said.split('\n').length > 50) child.kill('SIGKILL');
    }
    const acknowledged = said.split('\n').length - 1;
    await until(() => left.length > 0);
    assert.deepEqual(left, ['child']);
    const count = await countOf(owner);
    // One batch may have been under way.
    assert.ok(count === acknowledged || count === acknowledged + 1, `${count} rows, ${acknowledged} acknowledged`);
    await owner.run('DELETE FROM number WHERE id >= ?', count);
    assert.equal(await countOf(owner), count);
  });

  it('is unavailable for good where the owner closes the store', async () => {
    const { owner, join: joinAs } = await share();
    const store = await joinAs('a');
    await owner.close();
    await until(() => store.pressure().oldestMs === Infinity);
    await assert.rejects(store.run(TABLE), StoreUnavailable);
    await assert.rejects(store.one('SELECT 1'), StoreUnavailable);
  });

  it('is unavailable for good where a file of the database was removed', async () => {
    const { owner, file, join: joinAs } = await share();
    await owner.run(TABLE);
    const store = await joinAs('a');
    rmSync(`${file}-wal`);
    await until(() => store.pressure().oldestMs === Infinity && owner.pressure().oldestMs === Infinity);
    await assert.rejects(store.atomic([insert(1)]), /-wal was removed while in use/);
  });

  it('ends a connection that says something else, and serves the others', async () => {
    const { owner, socket, join: joinAs } = await share();
    const stranger = connect(socket);
    stranger.on('error', () => {});
    stranger.resume();
    stranger.write(Buffer.from([4, 0, 0, 0, ...Buffer.from('what')]));
    await once(stranger, 'close');
    const store = await joinAs('a');
    await store.run(TABLE);
    assert.equal(await countOf(owner), 0);
  });
});

describe('messages on a stream', () => {
  it('come out whole and in their order, however the stream is cut', () => {
    const sent = [{ a: 1n }, 'text', [null, undefined, Buffer.from('bytes'), 'x'.repeat(300)], {}];
    const bytes = Buffer.concat(sent.map(frame));
    for (const step of [1, 2, 3, 5, 7, 64, 301, bytes.length]) {
      const got: unknown[] = [];
      const read = readFrames((message) => got.push(message));
      for (let at = 0; at < bytes.length; at += step) read(bytes.subarray(at, at + step));
      assert.deepEqual(JSON.stringify(got, big), JSON.stringify(sent, big));
    }
  });
});

const big = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}n` : value);
