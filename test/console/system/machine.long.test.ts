/** What runs, how the machine is doing and gateway.yaml, at `/api`: who sees what, and what is never shown. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { after, before, describe, it } from 'node:test';
import {
  CONSOLE_PIPELINE,
  checked,
  fieldOf,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { fakeClock, isOfThisRun } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { isOnPostgres } from '../../kit/stand-ins/postgres.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { hold, wholeAnswer } from '../../kit/vendors/script.ts';

/** Secrets of the file, each where it stands as it is. */
const SECRETS = {
  metrics: 'a-literal-metrics-token',
  smtp: 'correct-horse-battery',
  oauth: 'hunter22',
  webhook: 'whsec_aGVsbG8gd29ybGQ',
  epay: '1234567812345678',
};

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;
let adam: Visitor;
let boss: Visitor;
let key: string;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({
    vendor,
    // The file is taken over when a test says so, and not because it has changed.
    clock: fakeClock(Date.now()),
    config: {
      pipeline: [...CONSOLE_PIPELINE.slice(0, -1), 'metrics', 'console'],
      console: { ...PATIENT, oauth: { work: { issuer: 'https://id.example.com', id: 'x', secret: SECRETS.oauth } } },
      metrics: { token: SECRETS.metrics },
      mail: { smtp: `smtp://me:${SECRETS.smtp}@127.0.0.1:9`, from: 'me@example.com' },
      payments: {
        stripe: { secret: 'sk_test_aGVsbG8gd29ybGQ', webhookSecret: SECRETS.webhook },
        epay: { url: 'https://pay.example.com', id: '1', key: SECRETS.epay },
      },
    },
    env: ROOT_ENV,
  });
  [ann, adam, boss] = [
    await member(gateway, 'ann', { units: 10_000_000 }),
    await member(gateway, 'adam', { role: 'admin' }),
    await root(gateway),
  ];
  key = (await ann.data('POST', '/api/token/', { name: 'cli', unlimited_quota: true })).key;
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

describe('calls that run', () => {
  it('are shown to whoever makes them, and all of them to administrators', async () => {
    vendor.always([hold('calls'), ...wholeAnswer()]);
    const calls = [gateway.chat({})];
    await vendor.waitFor(() => vendor.inFlight === 1);
    calls.push(gateway.chat({ model: 'free-model' }, { key }));
    await vendor.waitFor(() => vendor.inFlight === 2);

    const { total, items } = await ann.data('GET', '/api/log/self/live');
    const [{ id, started_at_ms: startedMs, ms, ...call }] = items;
    assert.deepEqual(
      [total, items.length, call],
      [
        1,
        1,
        {
          username: 'ann',
          token_name: 'cli',
          style: 'chat',
          model: 'free-model',
          stream: false,
          channel: 'main',
          attempts: 1,
          phase: 'asking',
          output_tokens: 0,
        },
      ],
    );
    assert.ok(Number.isInteger(ms) && isOfThisRun(startedMs), `${ms} ${startedMs}`);
    const names = async (who: Visitor, path: string) =>
      (await who.data('GET', path)).items.map(({ username }: { username: string }) => username);
    assert.deepEqual(await names(adam, '/api/log/live'), ['ann', 'root']);
    const { items: all } = await adam.data('GET', '/api/log/live');
    assert.deepEqual(
      all.map(({ gateway: name }: { gateway: string | null }) => name),
      [null, null],
    );
    assert.deepEqual(await names(adam, '/api/log/self/live'), []);
    assert.equal(said(await ann.get('/api/log/live')), '403 role_insufficient');
    assert.equal(said(await visitor(gateway).get('/api/log/self/live')), '401 not_signed_in');

    vendor.release('calls');
    for (const answer of calls) await (await answer).text();
    const { items: lines } = await ann.data('GET', '/api/log/self');
    assert.equal(lines[0].request_id, id);
  });
});

describe('how the machine is doing', () => {
  it('is for administrators, and names no folder', async () => {
    const onServer = isOnPostgres();
    if (!onServer) await gateway.command('backup copy.db');
    const { status, text, body } = await adam.get('/api/system');
    assert.equal(status, 200, text);
    assert.ok(!text.includes(gateway.dir), 'no folder');
    const { store, backup, keeps, in_flight: inFlight } = body.data;
    assert.deepEqual([keeps.log, inFlight], ['90d', 0]);
    const [{ self, report }, ...others] = body.data.gateways;
    assert.deepEqual([self, report.readiness, report.memory.rss > 0, others], [true, 'ready', true, []]);
    const { name, bytes, disk_free: free, disk_total: total } = store;
    if (onServer) {
      assert.deepEqual([name, bytes, free, total, backup], [basename(gateway.storeFile), null, null, null, null]);
    } else {
      assert.deepEqual([name, backup.name], ['turnpike.db', 'copy.db']);
      assert.ok(bytes > 0 && free > 0 && total >= free, text);
    }
    assert.ok(Array.isArray(await adam.data('GET', '/api/system/history')), 'it has a history');
    for (const path of ['/api/system', '/api/system/history']) {
      assert.equal(said(await ann.get(path)), '403 role_insufficient');
      assert.equal(said(await visitor(gateway).get(path)), '401 not_signed_in');
    }
  });
});

describe('gateway.yaml', () => {
  const written = (): string => readFileSync(gateway.configFile, 'utf8');

  it('is for root alone', async () => {
    for (const who of [ann, adam]) {
      for (const path of ['/api/config', '/api/config/schema'])
        assert.equal(said(await who.get(path)), '403 role_insufficient');
      for (const path of ['/api/config/check', '/api/config/reload'])
        assert.equal(said(await who.post(path, { text: '' })), '403 role_insufficient');
    }
    assert.equal(said(await boss.post('/api/config/reload')), '403 verification_required');
    assert.equal(fieldOf(await boss.post('/api/config/check')), '400 text');
    assert.equal((await boss.post('/api/config/check', { text: '', file: '/etc/passwd' })).status, 400);
    assert.equal(fieldOf(await boss.post('/api/config/check', { text: 'ü'.repeat(200_000) })), '400 text');
    assert.equal((await boss.post('/api/config/check', { text: 'x'.repeat(2_000_000) })).status, 413);
  });

  it('is never shown with a secret, wherever that is looked for [T-SEC-01]', async () => {
    const whole = written();
    const comment = `# key: ${SECRETS.epay}\n`;
    const answers = [await boss.get('/api/config'), await boss.post('/api/config/check', { text: whole })];
    for (const wrong of [
      // Problems at the places of secrets, and a text that is none.
      whole.replace(SECRETS.metrics, `[${SECRETS.metrics}]`),
      whole.replace('name: main', `nam: ${VENDOR_KEY}`),
      whole.replace('vendor: compatible', `vendor: ${SECRETS.webhook}`),
      `${comment}${whole}`,
      `${whole}\n]`,
    ]) {
      writeFileSync(gateway.configFile, wrong);
      answers.push(await boss.get('/api/config'));
    }
    writeFileSync(gateway.configFile, whole);
    for (const { status, text } of answers) {
      assert.equal(status, 200, text);
      for (const secret of [...Object.values(SECRETS), VENDOR_KEY, 'sk_test_aGVsbG8gd29ybGQ', gateway.dir])
        assert.ok(!text.includes(secret), `${secret} is in ${text}`);
    }
    const { running, report, problems } = answers[0]!.body.data;
    assert.match(running.text, /smtp: smtp:\/\/•••• [0-9a-f]{6}@127\.0\.0\.1:9/);
    assert.deepEqual(problems, []);
    assert.ok(report.length > 10, 'it has a report');
  });

  it('is taken over by a check and a word, and that is in the audit', async () => {
    boss = await checked(gateway, boss);
    const whole = written();
    const { generation } = await boss.data('GET', '/api/config');
    assert.equal((await gateway.chat({ model: 'new-model' })).status, 404);

    writeFileSync(gateway.configFile, whole.replace('free-model:', 'new-model:').replace('models:', 'modells:'));
    const refused = await boss.post('/api/config/reload');
    assert.equal(said(refused), '400 configuration_wrong');
    const lines = refused.body.problems.map(({ line }: { line: number }) => written().split('\n')[line - 1]);
    assert.ok(lines.includes('modells:'), refused.text);
    const still = await boss.data('GET', '/api/config');
    assert.deepEqual([still.generation, still.disk.changed], [generation, true]);
    assert.deepEqual(still.problems, refused.body.problems);

    writeFileSync(gateway.configFile, whole.replace('free-model:', 'new-model:'));
    assert.equal((await boss.data('POST', '/api/config/reload')).generation, generation + 1);
    assert.equal((await gateway.chat({ model: 'new-model' })).status, 200);
    const [entry] = (await boss.data('GET', '/api/audit?action=config')).items;
    assert.deepEqual(
      [entry.actor, entry.action, entry.object, entry.facts],
      ['root', 'config.reload', 'gateway.yaml', { generation: generation + 1 }],
    );
    assert.equal((await boss.data('GET', '/api/config')).disk.changed, false);
  });

  it('has a schema that editors can use', async () => {
    const schema = await boss.data('GET', '/api/config/schema');
    assert.ok(schema.properties.payments !== undefined, 'of the plugins that run');
  });
});
