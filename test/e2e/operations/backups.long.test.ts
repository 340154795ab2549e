/** Scheduled backups: a gateway that serves, a folder or a bucket, and proofs that succeed or fail. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { planFrom, rehearse } from '../../../core/assembly/assemble.ts';
import { fetchBackup, listBackups, proveBackup } from '../../../core/cli/backup-files.ts';
import { Running } from '../../../core/contracts/running.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeS3, startS3 } from '../../kit/stand-ins/fake-s3.ts';
import { noPostgres, onlyOnSqlite, type PostgresServer, startPostgres } from '../../kit/stand-ins/postgres.ts';
import { until } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const NAME = /^turnpike-\d{8}T\d{6}Z\.db$/;

let vendor: FakeVendor;
before(async () => {
  vendor = await fakeVendor();
});
after(() => vendor.close());

const start = (backup: object, more: object = {}): Promise<TestGateway> =>
  startGateway({ vendor, config: { backup }, ...more });
const stored = ({ dir }: TestGateway): readonly string[] => {
  const folder = join(dir, 'backups');
  return existsSync(folder) ? readdirSync(folder).sort() : [];
};
const scheduleOf = async ({ host }: TestGateway) => (await host.use(Running).vitals()).backups;
const logged = ({ log }: TestGateway, message: string): readonly Record<string, unknown>[] =>
  log.map((line) => JSON.parse(line)).filter(({ msg }) => msg === message);
/** Waits for a line of the log. */
async function untilLogged(gateway: TestGateway, message: string, times: number): Promise<void> {
  await until(`${times} times: ${message}`, () => logged(gateway, message).length >= times, gateway);
}

describe('a scheduled backup', onlyOnSqlite('a server has dumps'), () => {
  it('is stored in a folder, proven, reported, and can be restored', async () => {
    const gateway = await start({ to: './backups' });
    assert.equal((await gateway.chat({})).status, 200);
    await untilLogged(gateway, 'a backup was made and proven', 1);
    assert.match(await gateway.command('backup now'), /^turnpike-\S+Z\.db was stored in .*backups and proven in/);
    const name = stored(gateway).at(-1)!;
    assert.match(name, NAME);
    const file = join(gateway.dir, 'backups', name);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(usageRecords(file), usageRecords(gateway.storeFile));
    const schedule = await scheduleOf(gateway);
    assert.deepEqual(
      [schedule?.everyMs, schedule?.running, schedule?.proven?.name, schedule?.failed],
      [86_400_000, false, name, undefined],
    );
    assert.equal(schedule?.proven?.bytes, statSync(file).size);
    assert.ok(!existsSync(`${gateway.storeFile}.backup-scratch`));
    assert.match((await proveBackup(gateway.configFile, {}, file)).text, /can be restored: \d+ invariants hold$/);
    assert.match((await listBackups(gateway.configFile, {})).text, new RegExp(`${name} .* yes +no`));
    await gateway.stop();
  });

  it('is made when it is due, and again after the interval', async () => {
    const clock = fakeClock();
    const gateway = await start({ every: '6h', to: './backups' }, { clock });
    await untilLogged(gateway, 'a backup was made and proven', 1);
    clock.advance(5 * 3_600_000);
    clock.advance(3_600_000);
    await untilLogged(gateway, 'a backup was made and proven', 2);
    assert.deepEqual(stored(gateway), ['turnpike-20260101T000000Z.db', 'turnpike-20260101T060000Z.db']);
    await gateway.stop();
  });

  it('is not made again after a restart within the interval', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-backups-'));
    const clock = fakeClock();
    const first = await start({ to: './backups' }, { dir, clock });
    await untilLogged(first, 'a backup was made and proven', 1);
    await first.stop();
    clock.advance(3_600_000);
    const second = await start({ to: './backups' }, { dir, clock });
    clock.advance(61_000);
    assert.equal((await scheduleOf(second))?.running, false);
    // It is due a day after the first, not after the restart.
    clock.advance(23 * 3_600_000);
    await untilLogged(second, 'a backup was made and proven', 1);
    assert.equal(stored(second).length, 2);
    await second.stop();
    rmSync(dir, { recursive: true });
  });

  it('that cannot be stored is a failure in the log and the state, and calls are served', async () => {
    const gateway = await start({ to: './gateway.yaml/backups' });
    const { code, stderr } = await gateway.tryCommand('backup now');
    assert.deepEqual([code, /ENOTDIR|not a folder/.test(stderr)], [1, true]);
    assert.ok(logged(gateway, 'the backup failed').length >= 1);
    assert.match((await scheduleOf(gateway))?.failed?.reason ?? '', /ENOTDIR/);
    assert.equal((await gateway.chat({})).status, 200);
    assert.ok(!existsSync(`${gateway.storeFile}.backup-scratch`));
    await gateway.stop();
  });

  it('of books that do not balance is kept as unproven, deletes no other, and fails', async () => {
    const gateway = await start({ to: './backups', keep: { last: 1, daily: 0, weekly: 0 } }, { mustReconcile: false });
    const customer = await gateway.customer(1_000);
    assert.equal((await gateway.chat({}, { key: customer })).status, 200);
    await gateway.command('backup now');
    const [proven] = stored(gateway);
    await gateway.host.store.run('UPDATE bucket SET used = used - 1 WHERE used > 0');
    const { code, stderr } = await gateway.tryCommand('backup now');
    assert.equal(code, 1);
    assert.match(stderr, /its proof failed: the copy does not reconcile/);
    assert.deepEqual(
      stored(gateway)
        .map((name) => name.includes('-unproven'))
        .sort(),
      [false, true],
    );
    assert.ok(stored(gateway).includes(proven!));
    assert.equal((await scheduleOf(gateway))?.proven?.name, proven);
    await gateway.stop();
  });

  it('encrypted with the master key opens with it alone', async () => {
    const gateway = await start({ to: './backups', encrypt: 'master-key' });
    await gateway.command('backup now');
    const name = stored(gateway)[0]!;
    const file = join(gateway.dir, 'backups', name);
    assert.match(name, /\.db\.enc$/);
    assert.ok(!readFileSync(file).includes('SQLite format'));
    const fetched = join(gateway.dir, 'fetched.db');
    await fetchBackup(gateway.configFile, {}, name, fetched);
    assert.ok(readFileSync(fetched).includes('SQLite format'));
    await assert.rejects(fetchBackup(gateway.configFile, {}, name, fetched), /exists/);
    const other = { TURNPIKE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') };
    await assert.rejects(proveBackup(gateway.configFile, other, file), /another master key or passphrase/);
    await gateway.stop();
  });

  it('of another master key is no proof', async () => {
    const gateway = await start({ to: './backups' });
    await gateway.command('backup now');
    const file = join(gateway.dir, 'backups', stored(gateway)[0]!);
    const other = { TURNPIKE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') };
    await assert.rejects(proveBackup(gateway.configFile, other, file), /sealed with another master key/);
    writeFileSync(file, readFileSync(file).subarray(0, 8_192));
    await assert.rejects(proveBackup(gateway.configFile, {}, file), /malformed|damaged|integrity/);
    await gateway.stop();
  });
});

describe('the section `backup`', () => {
  it('is refused if its interval is too short, and on a server whose tools are not installed', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-backups-'));
    const problemsOf = async (config: object): Promise<string> => {
      writeFileSync(join(dir, 'gateway.yaml'), stringify({ ...defaultConfig([]), ...config }));
      const plan = await planFrom(join(dir, 'gateway.yaml'), {});
      return rehearse(plan).then(
        () => '',
        (error: Error) => error.message,
      );
    };
    assert.match(await problemsOf({ backup: { every: '10s', to: './b' } }), /backup\.every: must be at least 1m/);
    const { PATH } = process.env;
    process.env.PATH = dir;
    try {
      const store = { driver: 'postgres', url: 'postgres://127.0.0.1:9/none' };
      assert.match(await problemsOf({ store, backup: { to: './b' } }), /backup: pg_dump is not installed/);
      assert.equal(await problemsOf({ store }), '');
    } finally {
      process.env.PATH = PATH;
    }
    rmSync(dir, { recursive: true });
  });
});

describe('a bucket', onlyOnSqlite('the storage is the same'), () => {
  let s3: FakeS3;
  before(async () => {
    s3 = await startS3();
  });
  after(() => s3.close());

  it('gets signed requests, keeps as many backups as it should, and returns them', async () => {
    const clock = fakeClock();
    const gateway = await start(
      { every: '1h', to: s3.section, keep: { last: 3, daily: 0, weekly: 0 }, encrypt: { passphrase: 'correct horse' } },
      { clock },
    );
    s3.objects.set('gate/readme.txt', Buffer.from('not a backup'));
    for (let made = 1; made <= 5; made++) {
      await untilLogged(gateway, 'a backup was made and proven', made);
      clock.advance(3_600_000);
    }
    await untilLogged(gateway, 'a backup was made and proven', 6);
    assert.deepEqual([...s3.objects.keys()].sort(), [
      'gate/readme.txt',
      ...[3, 4, 5].map((hour) => `gate/turnpike-20260101T0${hour}0000Z.db.enc`),
    ]);
    const fetched = join(gateway.dir, 'fetched.db');
    await fetchBackup(gateway.configFile, {}, 'turnpike-20260101T050000Z.db.enc', fetched);
    assert.match((await proveBackup(gateway.configFile, {}, fetched)).text, /can be restored/);
    assert.ok(!gateway.log.some((line) => line.includes('correct horse') || line.includes(s3.section.secretKey!)));
    await gateway.stop();
  });

  it('that is overloaded is asked again; one that refuses is a failure', async () => {
    const gateway = await start({ to: { ...s3.section, bucket: 'other' } });
    assert.match((await gateway.tryCommand('backup now')).stderr, /404 NoSuchBucket/);
    assert.equal((await gateway.chat({})).status, 200);
    await gateway.stop();
    const again = await start({ to: s3.section });
    await untilLogged(again, 'a backup was made and proven', 1);
    s3.fail(503, 500);
    await again.command('backup now');
    await again.stop();
  });
});

const missing = noPostgres();
describe('a backup of a server', { skip: missing ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres();
  });
  after(() => server.remove());

  it('is a dump that was restored into a scratch database, which is dropped', async () => {
    const url = await server.database();
    const gateway = await start(
      { to: './backups' },
      { config: { backup: { to: './backups' }, store: { driver: 'postgres', url, data: '.' } } },
    );
    assert.equal((await gateway.chat({})).status, 200);
    await gateway.command('backup now');
    assert.match(stored(gateway)[0]!, /^turnpike-\S+Z\.dump$/);
    const left = await server.query(url, "SELECT datname FROM pg_database WHERE datname LIKE 'turnpike_proof%'");
    assert.deepEqual(left, []);
    await gateway.stop();
  });
});
