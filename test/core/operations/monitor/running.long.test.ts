/** What core tells plugins of the process: what runs in it, how it is doing, and what became of its configuration. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: they are what configurations are written with
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Running, type RunningExchange } from '../../../../core/contracts/running.ts';
import { fakeClock, isOfThisRun } from '../../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../../kit/gateway/gateway.ts';
import { isOnPostgres, onlyOnSqlite } from '../../../kit/stand-ins/postgres.ts';
import { type FakeVendor, fakeVendor } from '../../../kit/vendors/fake-vendor.ts';
import { chunk, head, hold, streamAnswer } from '../../../kit/vendors/script.ts';

describe('the list of running calls', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({ vendor: [vendor, vendor] });
  });
  after(async () => {
    vendor.release();
    await gateway?.stop();
    await vendor?.close();
  });
  const running = () => gateway.host.find(Running)!;
  const items = async (): Promise<readonly RunningExchange[]> => (await running().inFlight({ limit: 10 })).items;

  it('is empty before the first call, and after the last one', async () => {
    assert.deepEqual(await running().inFlight({ limit: 10 }), { total: 0, items: [] });
    await (await gateway.chat({})).text();
    assert.deepEqual(await running().inFlight({ limit: 10 }), { total: 0, items: [] });
  });

  it('has a call while its vendor is silent, until it ends', async () => {
    vendor.next([hold('first'), ...streamAnswer()]);
    const calling = gateway.chat({ stream: true });
    await vendor.waitFor(() => vendor.inFlight === 1);
    const [call, ...others] = await items();
    assert.deepEqual(others, []);
    const { id, startedMs, ms, holder, ...facts } = call!;
    assert.deepEqual(facts, {
      ip: '127.0.0.1',
      style: 'chat',
      model: 'test-model',
      stream: true,
      channel: 'main',
      attempts: 1,
      phase: 'asking',
      outputTokens: 0,
      gateway: undefined,
    });
    assert.equal(holder?.account.name, 'root');
    assert.ok(isOfThisRun(startedMs) && ms >= 0, `${startedMs} ${ms}`);
    vendor.release('first');
    const response = await calling;
    assert.equal(response.headers.get('x-request-id'), id);
    await response.text();
    await gone();
  });

  it('reports a call as answering once the client has got a part, and counts its tokens', async () => {
    const text =
      'data: {"id":"a","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello there"}}]}\n\n';
    vendor.next([
      head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' }),
      chunk(text),
      hold('rest'),
    ]);
    const abort = new AbortController();
    const response = await gateway.chat({ stream: true }, { signal: abort.signal });
    await response.body!.getReader().read();
    const [call] = await items();
    assert.equal(call?.phase, 'answering');
    assert.ok(call.outputTokens > 0, `${call.outputTokens} tokens`);
    abort.abort();
    await gone();
  });

  it('can be limited to an account and a number, newest first', async () => {
    const key = await gateway.customer(1_000_000);
    vendor.always([hold('all'), ...streamAnswer()]);
    const calls = [gateway.chat({})];
    await vendor.waitFor(() => vendor.inFlight === 1);
    calls.push(gateway.chat({ model: 'free-model' }, { key }));
    await vendor.waitFor(() => vendor.inFlight === 2);
    assert.deepEqual(
      (await items()).map(({ model }) => model),
      ['free-model', 'test-model'],
    );
    const hers = (await items())[0]!.holder!.account.id;
    const { total, items: own } = await running().inFlight({ accountId: hers, limit: 10 });
    assert.deepEqual([total, own.map(({ model }) => model)], [1, ['free-model']]);
    const first = await running().inFlight({ limit: 1 });
    assert.deepEqual([first.total, first.items.length], [2, 1]);

    // What a reload has replaced still runs.
    await gateway.gateway.reload();
    assert.equal((await running().inFlight({ limit: 10 })).total, 2);
    assert.deepEqual((await running().vitals()).configuration.generation, 2);
    vendor.release('all');
    for (const call of calls) await (await call).text();
    await gone();
  });

  /** An answer may be there before its connection knows that it is. */
  async function gone(): Promise<void> {
    while ((await items()).length > 0) await new Promise((done) => setImmediate(done));
  }
});

describe('the vitals of the gateway', () => {
  it('are plausible, and kept for an hour', async () => {
    const clock = fakeClock();
    const gateway = await startGateway({ clock });
    const running = gateway.host.find(Running)!;
    assert.deepEqual(running.history(), []);
    const first = await running.vitals();
    assert.equal(first.lag, undefined);
    clock.advance(25_000);
    const { memory, cpu, store, ...vitals } = await running.vitals();
    assert.deepEqual([vitals.uptimeMs, vitals.startedMs, vitals.inFlight], [25_000, clock.now() - 25_000, 0]);
    assert.deepEqual(vitals.configuration, { generation: 1, loadedMs: vitals.startedMs, differing: [] });
    assert.deepEqual(vitals.keeps, { log: '90d', responses: '30d' });
    assert.equal(vitals.backup, undefined);
    const [{ name, startedMs, report } = assert.fail('it lists itself'), ...others] = vitals.gateways;
    assert.deepEqual([others, startedMs], [[], vitals.startedMs]);
    assert.match(name, /:\d+$/);
    assert.deepEqual(
      [report?.readiness, report?.memory.machine, report?.lag, report?.inFlight, report?.calls],
      ['ready', memory.machine, vitals.lag, 0, 0],
    );
    assert.deepEqual(report?.counters, { driver: 'memory', shared: undefined });
    assert.ok(memory.rss > memory.heapUsed && memory.heapUsed > 1e6 && memory.heapTotal <= memory.heapLimit, 'memory');
    assert.ok(memory.machine >= memory.rss, `${memory.machine}`);
    assert.ok(cpu.userMs > 0 && cpu.cores >= 1 && cpu.load.length === 3, JSON.stringify(cpu));
    assert.ok(vitals.lag !== undefined && vitals.lag.max >= vitals.lag.p50 && vitals.lag.p50 >= 0, 'lag');
    assert.deepEqual([store.name, store.waiting, store.writable], [basename(gateway.storeFile), 0, true]);
    // Of its disk a server says nothing.
    if (isOnPostgres()) assert.equal(store.room, undefined);
    else {
      assert.equal(store.room?.file, statSync(gateway.storeFile).size);
      assert.equal(store.room.log, statSync(`${gateway.storeFile}-wal`).size);
      assert.ok(store.room.free > 0 && store.room.disk >= store.room.free, JSON.stringify(store.room));
    }

    clock.advance(2 * 3_600_000);
    const history = running.history();
    assert.equal(history.length, 360);
    assert.equal(history.at(-1)!.atMs - history[0]!.atMs, 359 * 10_000);
    for (const value of Object.values(history.at(-1)!)) assert.ok(Number.isFinite(value) && value >= 0, `${value}`);
    await gateway.stop();
  });

  const backups = onlyOnSqlite('a server has backups of its own');
  it('include the last backup, also after a restart', backups, async () => {
    const clock = fakeClock();
    const gateway = await startGateway({ clock });
    await gateway.command('backup first.db');
    clock.advance(1_000);
    await gateway.command('backup copies-of-it.db');
    const backup = {
      atMs: clock.now(),
      name: 'copies-of-it.db',
      bytes: statSync(join(gateway.dir, 'copies-of-it.db')).size,
      tookMs: 0,
    };
    assert.deepEqual((await gateway.host.find(Running)!.vitals()).backup, backup);
    assert.equal((await gateway.tryCommand('backup first.db')).code, 1, 'it exists already');
    assert.deepEqual((await gateway.host.find(Running)!.vitals()).backup, backup);
    const { dir } = gateway;
    await gateway.gateway.stop();
    const again = await startGateway({ dir });
    assert.deepEqual((await again.host.find(Running)!.vitals()).backup, backup);
    await again.stop();
    await gateway.stop();
  });
});

describe('started calls', () => {
  it('are counted for five minutes', async () => {
    const clock = fakeClock();
    const gateway = await startGateway({ clock });
    const calls = async (): Promise<number | undefined> =>
      (await gateway.host.find(Running)!.vitals()).gateways[0]?.report?.calls;
    await (await gateway.chat({ model: 'demo' })).text();
    assert.equal(await calls(), 1);
    clock.advance(60_000);
    await (await gateway.chat({ model: 'demo' })).text();
    assert.equal(await calls(), 2);
    clock.advance(250_000);
    assert.equal(await calls(), 1);
    clock.advance(60_000);
    assert.equal(await calls(), 0);
    await gateway.stop();
  });
});

describe('the configuration of the gateway', () => {
  let gateway: TestGateway;
  let written: string;
  const env = { SOME_WORD: 'a-word-of-the-environment', SOME_KEY: 'a-key-of-the-environment' };
  const LITERAL = 'a-literal-token-of-the-file';
  before(async () => {
    const channel = { vendor: 'compatible', url: 'http://127.0.0.1:9/v1' };
    gateway = await startGateway({
      clock: fakeClock(),
      env,
      config: {
        pipeline: [
          'accounts',
          'auth',
          'counters',
          'keys',
          'prices',
          'quota',
          'models',
          'styles',
          'vendors/compatible',
          'log',
          'metrics',
        ],
        channels: [
          { ...channel, name: 'one', key: VENDOR_KEY },
          { ...channel, name: 'two', key: '${SOME_KEY}' },
          { ...channel, name: 'three', key: 'x', url: 'http://127.0.0.1:9/${SOME_WORD}' },
        ],
        models: { m: { from: ['one'] } },
        metrics: { token: LITERAL },
      },
    });
    written = readFileSync(gateway.configFile, 'utf8');
  });
  after(() => gateway?.stop());

  const running = () => gateway.host.find(Running)!;
  const write = (text: string): void => writeFileSync(gateway.configFile, text);
  const messages = async (text: string) => (await running().check(text)).problems.map(({ message }) => message);

  it('is shown without its secrets, and a changed secret is reported as a change', async () => {
    const { running: runs, disk, verdict } = await running().configuration();
    for (const secret of [VENDOR_KEY, LITERAL, ...Object.values(env)])
      assert.ok(!JSON.stringify([runs, disk, verdict]).includes(secret), secret);
    assert.equal(runs.text, disk.text);
    assert.equal(disk.changed, false);
    assert.deepEqual(verdict.problems, []);
    assert.ok(
      verdict.report.some((line) => line.startsWith('admit')),
      verdict.report.join('\n'),
    );
    assert.match(runs.text, /key: \$\{SOME_KEY\}/);
    assert.match(runs.text, /token: •••• [0-9a-f]{6}/);

    write(written.replace(LITERAL, 'another-literal-of-the-file'));
    const after = await running().configuration();
    assert.equal(after.disk.changed, true);
    assert.equal(after.running.text, runs.text);
    const different = (line: string, i: number) => line !== runs.text.split('\n')[i];
    const lines = after.disk.text.split('\n').filter(different);
    assert.deepEqual(lines.length, 1);
    assert.match(lines[0]!, /token: ••••/);
    write(written);
  });

  it('reports why the file on the disk is not valid, with positions in the masked text', async () => {
    write(written.replace('metrics:\n  token:', 'metrics:\n  tokken:').replace('name: two', 'nam: two'));
    const { disk, verdict, generation } = await running().configuration();
    assert.equal(verdict.report.length, 0);
    assert.ok(verdict.problems.length >= 2, JSON.stringify(verdict.problems));
    for (const { line, column, path } of verdict.problems) {
      const place = disk.text.split('\n')[line - 1]!.slice(column - 1);
      assert.ok(place !== '', `${path} is at ${line}:${column}`);
    }
    const metrics = verdict.problems.find(({ path }) => path.startsWith('metrics'))!;
    assert.match(disk.text.split('\n')[metrics.line - 1]!.slice(metrics.column - 1), /^tokken/);
    const problems = await running().reload();
    assert.deepEqual(problems, verdict.problems);
    assert.equal((await running().configuration()).generation, generation, 'nothing has changed');
    write(written);
  });

  it('is checked in its masked form as the original', async () => {
    const { disk, verdict } = await running().configuration();
    assert.deepEqual(await running().check(disk.text), verdict);
    assert.deepEqual(await running().check(written), verdict);
  });

  it('checks a draft like the file, and changes nothing', async () => {
    const draft = written.replace('from:\n      - one', 'from:\n      - nobody');
    assert.notEqual(draft, written);
    const { problems } = await running().check(draft);
    assert.deepEqual(
      problems.map(({ path }) => path),
      ['models.m.from[0]'],
    );
    assert.equal(draft.split('\n')[problems[0]!.line - 1]?.trim(), '- nobody');
    const [broken, ...echoes] = await messages('a: [');
    assert.match(broken!, /a bracket above is not closed/);
    assert.deepEqual(echoes, []);
    assert.match((await messages('x'.repeat(300_000)))[0]!, /larger than 256 KiB/);
    assert.match((await messages(written.replace(basename(gateway.storeFile), 'other')))[0]!, /needs a restart/);
    assert.equal(readFileSync(gateway.configFile, 'utf8'), written);
    assert.equal((await running().configuration()).disk.changed, false);
  });

  it('does not allow drafts to read files or the environment [T-AUTHZ-05]', async () => {
    const secretFile = join(gateway.dir, 'secret.txt');
    writeFileSync(secretFile, 'the content of a file', { mode: 0o600 });
    const code = join(gateway.dir, 'code.mjs');
    writeFileSync(code, 'globalThis.draftRan = true; export default {};');
    const attempts: readonly (readonly [string, string])[] = [
      // Neither what is there nor what is not.
      ['name: one', 'name: "${file:./secret.txt}"'],
      ['name: one', 'name: "${file:./no-such-file}"'],
      ['name: one', 'name: "${PATH}"'],
      ['name: one', 'name: "${NO_SUCH_VARIABLE:-x}"'],
      [`key: ${VENDOR_KEY}`, 'key: "${file:./secret.txt}"'],
      [`key: ${VENDOR_KEY}`, 'key: "${PATH}"'],
      // What the file refers to, where that would be shown.
      ['name: one', 'name: "${SOME_WORD}"'],
      ['name: one', 'name: "${SOME_KEY}"'],
      ['key: x', 'key: x\n    weight: "${SOME_WORD}"'],
      // The same behind an alias.
      ['models:', 'passthrough: &a "${SOME_WORD}"\nmodels:'],
    ];
    for (const [there, instead] of attempts) {
      const draft = written.replace(there, instead);
      assert.notEqual(draft, written);
      const said = await messages(draft);
      assert.match(said.join('\n'), /is not resolved for a draft/, instead);
      assert.doesNotMatch(said.join('\n'), /content|a-word|a-key|does not exist|not set/, instead);
    }
    const alias = written
      .replace('key: ${SOME_KEY}', 'key: &k ${SOME_KEY}')
      .replace('from:\n      - one', 'from:\n      - *k');
    assert.match((await messages(alias)).join('\n'), /SOME_KEY\} is not resolved for a draft/);

    for (const use of [`./code.mjs`, code, 'left-pad', './no-such-code.mjs']) {
      const said = await messages(written.replace('  - metrics', `  - metrics\n  - ${use}`));
      assert.equal(said.length, 1, said.join('\n'));
      assert.match(said[0]!, /is not loaded for a draft/);
    }
    assert.ok(!('draftRan' in globalThis), 'no code of a draft ran');
    for (const path of ['/etc/passwd', '/no-such-file']) {
      const tls = `listen:\n  tls: { cert: ${path}, key: ${path} }`;
      assert.match((await messages(written.replace('listen:', tls)))[0]!, /a draft can only use references/);
      const spool = `listen:\n  body: { spool: ${path} }`;
      assert.match((await messages(written.replace('listen:', spool)))[0]!, /a draft can only use references/);
    }
  });

  it('allows a draft to repeat references of the file in the same place, or in place of a key', async () => {
    assert.deepEqual(await messages(written.replace(`key: ${VENDOR_KEY}`, 'key: ${SOME_KEY:-none}')), []);
    const { disk } = await running().configuration();
    const mask = /token: (•••• [0-9a-f]{6})/.exec(disk.text)![1]!;
    assert.match((await messages(disk.text.replace('name: one', `name: ${mask}`)))[0]!, /this mask matches no secret/);
    assert.match((await messages(disk.text.replace(mask, '•••• 000000')))[0]!, /this mask matches no secret/);
  });

  it('is applied on request', async () => {
    const { generation } = await running().configuration();
    write(written.replace('  m:\n', '  other:\n'));
    assert.deepEqual(await running().reload(), []);
    const now = await running().configuration();
    assert.deepEqual([now.generation, now.disk.changed], [generation + 1, false]);
    write(written);
    assert.deepEqual(await running().reload(), []);
  });

  it('has a schema with the sections of the running plugins', () => {
    const { properties } = running().schema() as { properties: Record<string, object> };
    assert.ok('metrics' in properties && 'listen' in properties, Object.keys(properties).join(' '));
    assert.ok(!('mail' in properties), 'of those that do not run it has none');
  });
});
