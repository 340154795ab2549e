/** The store on PostgreSQL: the contract of all stores, and what only a server and a network can suffer. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Log, OpenStore } from '../../../core/plugin.ts';
import { StoreMissing, StoreUnavailable } from '../../../core/plugin.ts';
import { CORE_TABLES, exclusively, migrate, openStore, pendingMigrations } from '../../../core/store/migrations.ts';
import accounts from '../../../plugins/accounts/index.ts';
import audit from '../../../plugins/audit/index.ts';
import departments from '../../../plugins/departments/index.ts';
import keys from '../../../plugins/keys/index.ts';
import log from '../../../plugins/log/index.ts';
import notices from '../../../plugins/notices/index.ts';
import oauth from '../../../plugins/oauth/index.ts';
import payments from '../../../plugins/payments/index.ts';
import plans from '../../../plugins/plans/index.ts';
import quota from '../../../plugins/quota/index.ts';
import secondFactors from '../../../plugins/second-factors/index.ts';
import driver from '../../../plugins/stores/postgres/index.ts';
import styles from '../../../plugins/styles/index.ts';
import { sharedStoreContract } from '../../kit/contracts/shared-store-contract.ts';
import { storeContract } from '../../kit/contracts/store-contract.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../../kit/stand-ins/postgres.ts';
import { until } from '../../kit/until.ts';
import { type Cut, cutBefore } from '../../kit/vendors/cut.ts';

const OWNERS = [
  CORE_TABLES,
  accounts,
  audit,
  departments,
  keys,
  log,
  notices,
  oauth,
  payments,
  plans,
  quota,
  secondFactors,
  styles,
];

const silent: Log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
/** As it is sent: `READ COMMITTED` is not meant. */
const COMMIT = 'COMMIT\0';
const missing = noPostgres();
if (missing !== undefined) it('PostgreSQL', { skip: missing }, () => {});
else tests();

function tests(): void {
  let server: PostgresServer;
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-postgres-'));
  const stores: OpenStore[] = [];
  before(async () => {
    server = await startPostgres();
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    server.remove();
    rmSync(folder, { recursive: true });
  });
  const options = (url: string, statementTimeout = '10s') => ({
    file: join(folder, 'turnpike'),
    settings: { url, pool: 4, statementTimeout },
    log: silent,
  });
  /** A store that is closed at the end, however the test ends. */
  async function open(url: string, statementTimeout?: string): Promise<OpenStore> {
    const store = await driver.open(options(url, statementTimeout));
    stores.push(store);
    return store;
  }

  storeContract('postgres', async () => {
    const url = await server.database();
    let store = await open(url);
    return {
      store,
      async reopen() {
        await store.close();
        store = await open(url);
        return store;
      },
      cleanup: () => store.close(),
    };
  });

  sharedStoreContract('postgres', async () => {
    const url = await server.database();
    return [await open(url), await open(url)];
  });

  describe('postgres: how the database is opened', () => {
    it('makes the tables of every plugin, in the order of bytes and as wide as the ledger needs', async () => {
      const url = await server.database();
      const store = await openStore({ driver, ...options(url) });
      stores.push(store);
      await migrate(store, OWNERS);
      assert.deepEqual(await pendingMigrations(store, OWNERS), []);
      const columns = await server.query(
        url,
        `SELECT table_name || '.' || column_name AS name, data_type, collation_name FROM information_schema.columns
          WHERE table_schema = 'public' AND table_name NOT LIKE 'store_%' AND table_name NOT LIKE 'usage_brief'
            AND table_name <> 'usage_record'`,
      );
      assert.ok(columns.length > 100);
      for (const { name, data_type: type, collation_name: collation } of columns) {
        assert.ok(['bigint', 'text', 'bytea', 'double precision'].includes(String(type)), `${name} is ${type}`);
        assert.equal(collation, type === 'text' ? 'C' : null, String(name));
      }
    });

    it('keeps entries from being changed or deleted', async () => {
      const store = await openStore({ driver, ...options(await server.database()) });
      stores.push(store);
      await migrate(store, [quota]);
      await store.run(
        "INSERT INTO entry (ref, op, kind, owner, window_start, amount, at_ms, actor) VALUES ('a', 'credit', 'account', 1, 0, 5, 0, 'x')",
      );
      await assert.rejects(store.run('UPDATE entry SET amount = 6'), /append-only/);
      await assert.rejects(store.run('DELETE FROM entry'), /append-only/);
    });

    it('lets two gateways make the tables of one database at once', async () => {
      const url = await server.database();
      const both = await Promise.all([0, 1].map(() => openStore({ driver, ...options(url) })));
      stores.push(...both);
      await Promise.all(both.map((store) => exclusively(store, () => migrate(store, OWNERS))));
      for (const store of both) assert.deepEqual(await pendingMigrations(store, OWNERS), []);
    });

    it('lets others write while a change of a table waits for somebody who reads it for long', async () => {
      const url = await server.database();
      const [changing, other] = [await openStore({ driver, ...options(url) }), await open(url)];
      stores.push(changing);
      for (const table of ['note', 'mark'])
        await changing.run(`CREATE TABLE ${table} (id INTEGER NOT NULL PRIMARY KEY)`);
      const change = { id: 1, title: 'its text', sql: ['ALTER TABLE note ADD COLUMN text TEXT'] };
      let changed = false;
      let changes: Promise<unknown> = Promise.resolve();
      await other.snapshot(async (reader) => {
        await reader.all('SELECT id FROM note');
        changes = migrate(changing, [{ name: 'notes', migrations: [change] }]).then(() => {
          changed = true;
        });
        const waiting =
          "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE note%'";
        while ((await server.query(url, waiting)).length === 0);
        await other.run('INSERT INTO mark (id) VALUES (1)');
        assert.equal(changed, false);
      });
      await changes;
      assert.deepEqual(await other.all('SELECT id, text FROM note'), []);
    });

    it('makes nothing where there must be something, and says how to make a database', async () => {
      const url = await server.database();
      await assert.rejects(driver.open({ ...options(url), mustExist: true }), StoreMissing);
      assert.deepEqual(await server.query(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'"), []);
      const nowhere = url.replace('//turnpike@', '//turnpike:hush-hush@').replace(/test_\w+/, 'nowhere');
      const error = await driver.open(options(nowhere)).catch((reason: Error) => reason);
      assert.ok(error instanceof StoreMissing);
      assert.match(error.message, /nowhere.*createdb/);
      assert.doesNotMatch(error.message, /hush/);
    });

    it('leaves nothing behind that says somebody writes', async () => {
      const url = await server.database();
      const store = await open(url);
      assert.equal((await server.query(url, 'SELECT 1 FROM store_writer')).length, 1);
      await store.close();
      assert.deepEqual(await server.query(url, 'SELECT 1 FROM store_writer'), []);
    });

    it('keeps a text that no text of PostgreSQL can be, but for the character', async () => {
      const store = await open(await server.database());
      await store.run('CREATE TABLE word (id INTEGER NOT NULL PRIMARY KEY, text TEXT)');
      await store.run('INSERT INTO word (text) VALUES (?), (?), (?)', 'a\0b', 'Z', 'é');
      const rows = await store.all<{ id: number; text: string }>('SELECT id, text FROM word ORDER BY text');
      assert.deepEqual(
        rows.map(({ text }) => text),
        ['Z', 'a\ufffdb', 'é'],
      );
      assert.deepEqual(
        rows.map(({ id }) => id),
        [2, 1, 3],
      );
    });
  });

  describe('postgres: when the connection breaks', () => {
    let cut: Cut;
    let store: OpenStore;
    let url: string;
    const next = { sql: 'UPDATE counter SET n = n + 1 WHERE id = 1' };
    const count = async (): Promise<unknown> => (await server.query(url, 'SELECT n::int FROM counter'))[0]?.n;
    before(async () => {
      url = await server.database();
      cut = await cutBefore(server.port);
      store = await open(url.replace(`:${server.port}/`, `:${cut.port}/`));
      await store.atomic([
        { sql: 'CREATE TABLE counter (id INTEGER NOT NULL PRIMARY KEY, n INTEGER NOT NULL)' },
        { sql: 'INSERT INTO counter (id, n) VALUES (1, 0)' },
      ]);
    });
    after(async () => {
      await store.close();
      await cut.remove();
    });

    it('finds that a commit was made whose answer was lost, and does not run its lists again', async () => {
      const broken = cut.at(COMMIT, 'after');
      assert.deepEqual(await Promise.all([store.run(next.sql), store.atomic([next]), broken]), [
        1,
        undefined,
        undefined,
      ]);
      assert.equal(await count(), 2);
    });

    it('runs the lists again whose commit never reached the server', async () => {
      const broken = cut.at(COMMIT, 'before');
      assert.deepEqual(await Promise.all([store.run(next.sql), store.atomic([next]), broken]), [
        1,
        undefined,
        undefined,
      ]);
      assert.equal(await count(), 4);
    });

    it('answers nobody, and takes nothing, until it is known what became of a commit', async () => {
      const broken = cut.at(COMMIT, 'after').then(() => cut.close());
      let answered = false;
      const asked = store.run(next.sql).then((changes) => {
        answered = true;
        return changes;
      });
      await broken;
      while (Number.isFinite(store.pressure().oldestMs)) await new Promise(setImmediate);
      await assert.rejects(store.run(next.sql), StoreUnavailable);
      assert.equal(answered, false);
      assert.equal(await count(), 5);
      cut.open();
      assert.equal(await asked, 1);
      assert.equal(await count(), 5);
      assert.equal(await store.run(next.sql), 1);
    });

    it('refuses lists while it cannot be reached, and writes again by itself', async () => {
      const before = Number(await count());
      cut.close();
      await assert.rejects(store.run(next.sql), StoreUnavailable);
      assert.equal(store.pressure().oldestMs, Infinity);
      await assert.rejects(store.one('SELECT n FROM counter'), StoreUnavailable);
      cut.open();
      await until('the store writes again', () => Number.isFinite(store.pressure().oldestMs));
      assert.equal(await store.run(next.sql), 1);
      assert.deepEqual(await store.one('SELECT n FROM counter'), { n: before + 1 });
    });

    it('keeps every list that was answered, and half of none, when the server crashes in between', async () => {
      const before = Number(await count());
      let answered = 0;
      let going = true;
      const work = (async () => {
        while (going) {
          const results = await Promise.allSettled(Array.from({ length: 20 }, () => store.run(next.sql)));
          answered += results.filter(({ status }) => status === 'fulfilled').length;
          await new Promise(setImmediate);
        }
      })();
      while (answered < 100) await new Promise(setImmediate);
      server.halt('immediate');
      await assert.rejects(async () => {
        for (;;) await store.run(next.sql).then(() => answered++);
      }, StoreUnavailable);
      server.start();
      await until('the store writes again', () => Number.isFinite(store.pressure().oldestMs));
      const soFar = answered;
      while (answered < soFar + 100) await new Promise(setImmediate);
      going = false;
      await work;
      assert.equal(await count(), before + answered);
      assert.deepEqual(await store.one('SELECT n FROM counter'), { n: before + answered });
    });
  });

  describe('postgres: who may write', () => {
    it('writes nothing any more for who was given up for dead, and says so', async () => {
      const url = await server.database();
      const store = await open(url);
      await store.run('CREATE TABLE note (id INTEGER NOT NULL PRIMARY KEY)');
      await server.query(url, 'DELETE FROM store_writer');
      await assert.rejects(store.run('INSERT INTO note (id) VALUES (1)'), (error: Error) => {
        assert.ok(error instanceof StoreUnavailable);
        assert.match(error.message, /did not renew its lease in time/);
        return true;
      });
      assert.equal(store.pressure().oldestMs, Infinity);
      await assert.rejects(store.atomic([{ sql: 'INSERT INTO note (id) VALUES (2)' }], 'ran'), StoreUnavailable);
      assert.deepEqual(await server.query(url, 'SELECT id FROM note'), []);
    });

    it('waits for a process that stopped in the middle of a batch no longer than its statements may take', async () => {
      const url = await server.database();
      const [stopped, store] = [await open(url), await open(url, '200ms')];
      await stopped.run('CREATE TABLE note (id INTEGER NOT NULL PRIMARY KEY)');
      const holder = server.query(url, `SELECT pg_advisory_lock(${0x5475726e}, 1), pg_sleep(1)`);
      while ((await server.query(url, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'")).length === 0);
      await assert.rejects(store.run('INSERT INTO note (id) VALUES (1)'), StoreUnavailable);
      await holder;
      await until('the store writes again', () => Number.isFinite(store.pressure().oldestMs));
      assert.equal(await store.run('INSERT INTO note (id) VALUES (1)'), 1);
    });
  });
}
