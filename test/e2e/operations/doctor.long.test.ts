/** `turnpike doctor`: what it finds in an installation that is well, and in others. */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { runCommandLine } from '../../../core/cli/main.ts';
import type { Diagnosis } from '../../../core/contracts/diagnosis.ts';
import { certificate, describeDiagnoses, examineFile } from '../../../core/operations/commands/doctor.ts';
import { CERTIFICATES } from '../../kit/clients/certificates.ts';
import { chatBody } from '../../kit/gateway/fixtures.ts';
import { defaultConfig, startGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { startSmtp } from '../../kit/stand-ins/fake-smtp.ts';
import { onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { jsonAnswer, sized } from '../../kit/vendors/script.ts';

let vendor: FakeVendor;
before(async () => {
  vendor = await fakeVendor();
});
after(() => vendor.close());

/** A vendor that accepts our key alone; `list`: for its list of models, too. */
const accept = (list: boolean): void =>
  vendor.always(({ method, path, headers }) =>
    method === 'HEAD'
      ? sized(200, 'text/plain', '', { date: new Date().toUTCString() })
      : headers.authorization === `Bearer ${VENDOR_KEY}` || (path.endsWith('/models') && !list)
        ? jsonAnswer(200, path.endsWith('/models') ? { object: 'list', data: [] } : chatBody())
        : jsonAnswer(401, { error: { message: 'no' } }),
  );
const levelsOf = (found: readonly Diagnosis[], topic: string): readonly string[] =>
  found.filter((each) => each.topic === topic).map(({ level }) => level);
const textOf = (found: readonly Diagnosis[], topic: string): string =>
  found
    .filter((each) => each.topic === topic)
    .map(({ text }) => text)
    .join('\n');

describe('the doctor', onlyOnSqlite('it reads the modes of its files'), () => {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-doctor-'));
  after(() => rmSync(dir, { recursive: true }));
  const write = (config: object): string => {
    const file = join(dir, 'gateway.yaml');
    writeFileSync(file, stringify({ ...defaultConfig([vendor]), ...config }), { mode: 0o600 });
    return file;
  };

  it('finds nothing wrong with a gateway that runs, and asks its vendors for nothing that costs', async () => {
    accept(true);
    const gateway = await startGateway({ vendor, config: { backup: { to: './backups' } } });
    await gateway.command('backup now');
    chmodSync(gateway.configFile, 0o600);
    const before = vendor.requests.length;
    const found = await examineFile(gateway.configFile, {});
    assert.deepEqual(
      found.filter(({ level }) => level === 'problem'),
      [],
    );
    for (const topic of ['configuration', 'files', 'gateway', 'disk', 'proxy', 'backups', 'channel main', 'clock'])
      assert.ok(levelsOf(found, topic).includes('ok'), `${topic}: ${textOf(found, topic)}`);
    assert.ok(vendor.requests.slice(before).every(({ method }) => method !== 'POST'));
    await gateway.stop();
  });

  it('makes a test call if the list of models is public, and finds a key that is not accepted', async () => {
    accept(false);
    const file = write({});
    const well = await examineFile(file, {});
    assert.match(textOf(well, 'channel main'), /at your expense/);
    vendor.always(() => jsonAnswer(401, { error: { message: 'no' } }));
    const wrong = await examineFile(file, {});
    assert.deepEqual(levelsOf(wrong, 'channel main'), ['problem']);
    assert.match(textOf(wrong, 'channel main'), /does not accept the key/);
    assert.ok(!JSON.stringify(wrong).includes(VENDOR_KEY));
  });

  it('finds files that others may read, and says how to change that', async () => {
    accept(true);
    const file = write({});
    chmodSync(file, 0o644);
    writeFileSync(join(dir, '.env'), 'KEY=1', { mode: 0o644 });
    const found = await examineFile(file, {});
    assert.equal(levelsOf(found, 'files').length, 2);
    assert.ok(found.some(({ advice }) => advice === `chmod go= ${join(dir, '.env')}`));
    rmSync(join(dir, '.env'));
  });

  it('reports an untrusted proxy that the running gateway has seen', async () => {
    accept(true);
    const gateway = await startGateway({ vendor });
    await fetch(`${gateway.url}/healthz`, { headers: { 'x-forwarded-for': '198.51.100.7' } });
    const found = await examineFile(gateway.configFile, {});
    assert.deepEqual(levelsOf(found, 'proxy'), ['problem']);
    assert.match(textOf(found, 'proxy'), /127\.0\.0\.1, which listen\.trustProxy does not name/);
    await gateway.stop();
  });

  it('reports every mistake of the configuration, a proxy that everybody may be, and no backups', async () => {
    accept(true);
    const everybody = await examineFile(write({ listen: { trustProxy: ['0.0.0.0/0'] } }), {});
    assert.deepEqual(levelsOf(everybody, 'proxy'), ['problem']);
    assert.deepEqual(levelsOf(everybody, 'backups'), ['warning']);
    const wrong = await examineFile(write({ listen: { port: 'x', hosst: 1 } }), {});
    assert.equal(levelsOf(wrong, 'configuration').filter((level) => level === 'problem').length, 2);
  });

  it('signs in to the mail server and sends nothing', async () => {
    accept(true);
    const login = { name: 'gate', password: 'a password' };
    const smtp = await startSmtp({ login });
    const pipeline = [...(defaultConfig([]).pipeline as string[]), 'mail'];
    const mail = (password: string): object => ({
      pipeline,
      mail: { smtp: smtp.url.replace('//', `//gate:${password}@`), from: 'a@example.com' },
    });
    assert.deepEqual(levelsOf(await examineFile(write(mail('a%20password')), {}), 'mail'), ['ok']);
    const refused = await examineFile(write(mail('another')), {});
    assert.deepEqual(levelsOf(refused, 'mail'), ['problem']);
    assert.ok(!JSON.stringify(refused).includes('another'));
    assert.deepEqual(smtp.letters, []);
    await smtp.close();
  });

  it('knows when a certificate expires', () => {
    const tls = { cert: Buffer.from(CERTIFICATES[0].cert), key: Buffer.from(CERTIFICATES[0].key) };
    const end = Date.parse('2126-10-27T09:33:25Z');
    const day = 86_400_000;
    for (const [atMs, level] of [
      [end - 30 * day, 'ok'],
      [end - 20 * day, 'warning'],
      [end - 6 * day, 'problem'],
      [end + day, 'problem'],
      [Date.parse('2026-01-01'), 'problem'],
    ] as const)
      assert.equal(certificate({ tls }, atMs)[0]?.level, level);
  });

  it('ends with 1 if there is a problem, and has the same as JSON', async () => {
    vendor.always(() => jsonAnswer(401, {}));
    const lines: string[] = [];
    const terminal = { say: (line: string) => void lines.push(line), complain: () => {}, isWatched: false };
    const code = await runCommandLine(['doctor', '--json', '--config', write({})], terminal);
    const found = JSON.parse(lines.join('')) as Diagnosis[];
    assert.equal(code, 1);
    assert.deepEqual(levelsOf(found, 'channel main'), ['problem']);
    assert.match(describeDiagnoses(found), /^problem +channel main: .*\n +→ /m);
  });
});
