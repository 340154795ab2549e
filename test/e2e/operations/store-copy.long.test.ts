/** `turnpike store copy`: a store with people, keys, departments and calls, from a file to a server and back. */
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { copyStore } from '../../../core/cli/store-copy.ts';
import { StoreInUse } from '../../../core/plugin.ts';
import { silentLog } from '../../../core/runtime/logger.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { ledgerFaults } from '../../kit/gateway/reconcile.ts';
import { readRows } from '../../kit/gateway/rows.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../../kit/stand-ins/postgres.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const missing = noPostgres();
if (missing !== undefined) it('PostgreSQL', { skip: missing }, () => {});
else tests();

function tests(): void {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-copy-'));
  const configFile = join(dir, 'gateway.yaml');
  const file = join(dir, 'turnpike.db');
  const options = { configFile, env: {}, log: silentLog };
  let server: PostgresServer;
  let vendor: FakeVendor;
  let url: string;
  before(async () => {
    server = await startPostgres();
    vendor = await fakeVendor();
    url = await server.database();
  });
  after(async () => {
    await vendor.close();
    server.remove();
    rmSync(dir, { recursive: true });
  });

  const start = (store: object): Promise<TestGateway> =>
    startGateway({ vendor, dir, config: { store, pipeline: PIPELINE } });
  const use = (store: object): void => {
    const config = parse(readFileSync(configFile, 'utf8')) as object;
    writeFileSync(configFile, stringify({ ...config, store }));
  };
  const count = (store: string): unknown =>
    readRows(
      store,
      ...[
        'account',
        'api_key',
        'audit',
        'bucket',
        'entry',
        'debit',
        'usage_row',
        'usage_label',
        'department',
        'vault',
      ].map((table) => `SELECT COUNT(*) AS n FROM ${table}`),
    );

  describe('a store that is copied', () => {
    let key: string;

    it('from a file to a server has every row, reconciles, and serves on', async () => {
      const gateway = await start({ file: './turnpike.db' });
      key = await gateway.customer(1_000);
      for (let i = 0; i < 12; i++) assert.equal((await gateway.chat({ stream: i % 2 === 0 }, { key })).status, 200);
      await assert.rejects(copyStore(options, url), StoreInUse);
      await gateway.stop();
      const said = (await copyStore(options, url.replace('turnpike@', 'turnpike:hush-hush@'))).join('\n');
      assert.match(said, /driver: postgres\n {2}url: postgres:\/\/turnpike:…@/);
      assert.match(said, /cp -p .*turnpike\.db\.key .*turnpike\.key/);
      assert.deepEqual(count(url), count(file));
      assert.deepEqual(usageRecords(url), usageRecords(file));
      assert.deepEqual(ledgerFaults(url), []);
      copyFileSync(join(dir, 'turnpike.db.key'), join(dir, 'turnpike.key'));
    });

    it('serves on where it is now: new rows come behind the old ones, and nothing can be taken out of the audit log', async () => {
      const gateway = await start({ driver: 'postgres', url, data: '.' });
      assert.equal((await gateway.chat({}, { key })).status, 200);
      await gateway.command('key create --name later --user customer-1 --unlimited');
      await gateway.command('user credit customer-1 5');
      assert.match(await gateway.command('audit verify'), /entries, head/);
      await assert.rejects(server.query(url, 'DELETE FROM audit'), /append-only/);
      await assert.rejects(server.query(url, 'DELETE FROM entry'), /append-only/);
      await gateway.stop();
      assert.deepEqual(ledgerFaults(url), []);
    });

    it('is not copied over anything', async () => {
      await assert.rejects(copyStore(options, url), /not empty/);
      await assert.rejects(copyStore(options, file), /exists/);
    });

    it('from a server back to a file is what it was on the server', async () => {
      const back = join(dir, 'back.db');
      await copyStore(options, back);
      assert.deepEqual(count(back), count(url));
      assert.deepEqual(usageRecords(back), usageRecords(url));
      assert.deepEqual(ledgerFaults(back), []);
      copyFileSync(join(dir, 'turnpike.key'), `${back}.key`);
      const gateway = await start({ file: './back.db' });
      assert.equal((await gateway.chat({}, { key })).status, 200);
      await gateway.command('reconcile');
      await gateway.stop();
      assert.deepEqual(ledgerFaults(back), []);
    });

    it('with tables of a plugin that gateway.yaml has no more is not copied', async () => {
      use({ file: './back.db' });
      const config = parse(readFileSync(configFile, 'utf8')) as { pipeline: string[] };
      writeFileSync(
        configFile,
        stringify({ ...config, pipeline: config.pipeline.filter((name) => name !== 'departments') }),
      );
      await assert.rejects(copyStore(options, await server.database()), /department/);
      assert.equal(existsSync(join(dir, 'back.db')), true);
    });
  });
}

const PIPELINE = [
  ...[
    'accounts',
    'audit',
    'auth',
    'counters',
    'departments',
    'keys',
    'limits',
    'prices',
    'quota',
    'plans',
    'models',
    'styles',
  ],
  ...['vendors/compatible', 'vendors/demo', 'log'],
];
