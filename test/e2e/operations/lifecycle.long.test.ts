/** A gateway as operators know it: started, stopped, reloaded and commanded from outside, with exit codes they can rely on. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { stringify } from 'yaml';
import { CERTIFICATES } from '../../kit/clients/certificates.ts';
import { rawConnection, requestText } from '../../kit/clients/raw-client.ts';
import { CONSOLE_PIPELINE } from '../../kit/console/console.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { chatEvents, DONE } from '../../kit/gateway/fixtures.ts';
import {
  defaultConfig,
  startGateway,
  type TestGateway,
  type TestGatewayOptions,
  type TestStore,
  testStore,
} from '../../kit/gateway/gateway.ts';
import { type GatewayProcess, startProcess, turnpike } from '../../kit/gateway/process.ts';
import { ledgerFaults } from '../../kit/gateway/reconcile.ts';
import { storedBytes } from '../../kit/gateway/rows.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, hold, sized, streamAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const PASSWORD = 'a long enough password';

/** A folder with a gateway.yaml in it, and whoever was started on it: all gone when the test is over. */
let dir: string;
let configFile: string;
let store: TestStore;
let storeFile: string;
let vendor: FakeVendor;
let started: GatewayProcess[];
let inside: Set<TestGateway>;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'turnpike-life-'));
  configFile = join(dir, 'gateway.yaml');
  store = await testStore(dir);
  storeFile = store.address;
  vendor = await fakeVendor();
  started = [];
  inside = new Set();
  configure();
});
afterEach(async () => {
  for (const gateway of started) await gateway.kill();
  for (const gateway of inside) {
    const stopped = gateway.stop();
    gateway.gateway.hurry();
    await stopped;
  }
  await vendor.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Writes gateway.yaml: the kit's, with these sections instead. */
function configure(sections: Readonly<Record<string, unknown>> = {}): void {
  writeFileSync(configFile, stringify({ ...defaultConfig([vendor]), store: store.section, ...sections }));
}
function withModels(...names: readonly string[]): Readonly<Record<string, unknown>> {
  const model = { from: ['main'], price: { input: 1, output: 2 } };
  return { models: Object.fromEntries(['test-model', ...names].map((name) => [name, model])) };
}

async function start(...args: readonly string[]): Promise<GatewayProcess> {
  const gateway = await startProcess(configFile, { args });
  started.push(gateway);
  return gateway;
}
/** A gateway in this process, where a test has its clock or its parts in hand. */
async function startInside(options: TestGatewayOptions): Promise<TestGateway> {
  const gateway = await startGateway({ vendor, ...options });
  const tracked: TestGateway = {
    ...gateway,
    stop() {
      inside.delete(tracked);
      return gateway.stop();
    },
  };
  inside.add(tracked);
  return tracked;
}
const run = (line: string, stdin = ''): ReturnType<typeof turnpike> =>
  turnpike([...line.split(' '), '--config', configFile], { stdin });
/** The same, where it has to succeed. */
async function done(line: string, stdin = ''): Promise<string> {
  const { code, stdout, stderr } = await run(line, stdin);
  assert.equal(code, 0, `turnpike ${line}: ${stderr}`);
  return stdout.trim();
}

/** The key that the log of a first start holds. */
function firstKey(gateway: GatewayProcess): string {
  return String(gateway.log.find(({ msg }) => msg === 'first start')?.key);
}
function chat(gateway: GatewayProcess, key: string, body: Readonly<Record<string, unknown>> = {}): Promise<Response> {
  return fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'test-model',
      max_tokens: 50,
      messages: [{ role: 'user', content: 'Hello' }],
      ...body,
    }),
  });
}
/** The same as bytes, for a client that looks closely at how its connection ends. */
function chatText(key: string, body: Readonly<Record<string, unknown>> = {}): Buffer {
  const message = { model: 'test-model', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }], ...body };
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return requestText('POST', '/v1/chat/completions', headers, JSON.stringify(message));
}
async function codeOf(response: Response): Promise<string> {
  return `${response.status} ${((await response.json()) as { error?: { code: string } }).error?.code}`;
}
/** A stream that stops after two words until the vendor is told to go on. */
function held(name: string) {
  const events = chatEvents();
  return eventStream([...events.slice(0, 3), hold(name), ...events.slice(3)]);
}

describe('starting', () => {
  it('says on standard output that it is ready, and nothing else; standard error is JSON', async () => {
    const gateway = await start();
    await chat(gateway, firstKey(gateway));
    for (const path of ['/healthz', '/readyz']) assert.equal((await fetch(gateway.url + path)).status, 200);
    await gateway.stop();
    assert.match(gateway.stdout, /^ready http:\/\/127\.0\.0\.1:\d+\n$/);
    assert.deepEqual(gateway.complaints, []);
    for (const line of gateway.log) assert.equal(typeof line.msg, 'string');
    assert.ok(gateway.log.some(({ msg, url }) => msg === 'ready' && url === gateway.url));
  });

  it('shows the first key and the password of root once, and a call that works', async () => {
    const first = await start();
    const { key, rootPassword, try: call } = first.log.find(({ msg }) => msg === 'first start')!;
    assert.match(String(key), /^sk-[0-9A-Za-z]{49}$/);
    assert.ok(String(rootPassword).length >= 16);
    assert.equal(first.stderr.split(String(key)).length, 3, 'once as the key, once inside the call');
    const [, url = '', bearer = '', body = ''] =
      /^curl (\S+) -H 'Authorization: Bearer (\S+)' -H 'Content-Type: application\/json' -d '(.*)'$/.exec(
        String(call),
      ) ?? [];
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 200);
    await first.stop();

    const second = await start('--welcome');
    assert.equal((await chat(second, String(key))).status, 200);
    await second.stop();
    assert.deepEqual(second.complaints, []);
    for (const secret of [String(key), String(rootPassword)]) {
      assert.ok(!second.stderr.includes(secret) && !second.stdout.includes(secret));
      assert.ok(!storedBytes(storeFile).includes(secret), 'it stands nowhere in the database');
    }
  });

  it('shows them to people as text, and no password that they gave themselves', async () => {
    const gateway = await startProcess(configFile, {
      args: ['--welcome'],
      env: { TURNPIKE_ROOT_PASSWORD: 'a password of my own' },
    });
    started.push(gateway);
    assert.match(gateway.stderr, /first API key {3}sk-[0-9A-Za-z]{49}\n/);
    assert.match(gateway.stderr, /Try it:\n\ncurl /);
    assert.ok(!gateway.stderr.includes('a password of my own') && !gateway.stderr.includes('root password'));
    assert.equal(gateway.stdout, `ready ${gateway.url}\n`);
  });

  for (const [where, settings, wanted] of [
    ['at the port where it listens', {}, (port: number) => `http://localhost:${port}/console`],
    [
      'at the address in gateway.yaml',
      { url: 'https://ai.example.com/gate' },
      () => 'https://ai.example.com/gate/console',
    ],
  ] as const) {
    it(`shows where people sign in: ${where}`, async () => {
      configure({ pipeline: [...CONSOLE_PIPELINE], console: settings });
      const gateway = await start();
      const { console: page } = await gateway.logged(({ msg }) => msg === 'first start');
      assert.equal(page, wanted(gateway.port));
      await gateway.stop();
    });
  }

  const lock = onlyOnSqlite('several gateways may share a database');
  it('a second gateway on the same database ends with 73, and the first one does not notice', lock, async () => {
    const gateway = await start();
    const second = await run('start');
    assert.equal(second.code, 73);
    assert.equal(second.stdout, '');
    assert.match(second.stderr, /turnpike\.db is in use by another process/);
    assert.equal((await chat(gateway, firstKey(gateway))).status, 200);
    await gateway.stop();
  });

  it('a gateway.yaml with mistakes ends with 78, names the place of each, and touches nothing', async () => {
    writeFileSync(configFile, 'listen:\n  port: 99999\nchanels: []\npipeline: [log, logg]\n');
    const before = readdirSync(dir);
    const { code, stdout, stderr } = await run('start');
    assert.equal(code, 78);
    assert.equal(stdout, '');
    const { msg, problems } = JSON.parse(stderr) as { msg: string; problems: readonly string[] };
    const places = problems.map((line) => /gateway\.yaml:(\d+:\d+): /.exec(line)?.[1]);
    assert.deepEqual([msg, places], ['the gateway did not start', ['2:3', '3:1', '4:17']]);
    const { code: shown, stderr: lines } = await run('start --welcome');
    assert.deepEqual([shown, lines], [78, `${problems.join('\n')}\n`], 'people are shown lines');
    assert.deepEqual(readdirSync(dir), before);
  });

  it('a port that is taken ends with 78, at its place in the file', async () => {
    const gateway = await start();
    const other = (await testStore(dir, 'other')).section;
    configure({ listen: { port: gateway.port }, store: other });
    const second = await run('start');
    assert.equal(second.code, 78);
    assert.match(second.stderr, /gateway\.yaml:2:\d+: listen\.port: another process already listens on this port/);
    // The first one has seen the file change, and is not impressed.
    assert.equal((await chat(gateway, firstKey(gateway))).status, 200);

    configure({ store: other });
    const third = await start();
    assert.equal((await chat(third, firstKey(third))).status, 200, 'nothing was made that nobody was shown');
  });

  it('what was made once is shown although the start fails, and good for the next', async () => {
    const late = join(dir, 'late.mjs');
    writeFileSync(late, "export default { name: 'late', api: 2, create: () => ({ start: () => nothing }) };\n");
    const { pipeline } = defaultConfig([vendor]) as { readonly pipeline: readonly string[] };
    configure({ pipeline: [...pipeline, './late.mjs'] });
    const { code, stdout, stderr } = await run('start');
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /"error":\{"message":"the plugin late failed in its `start`: nothing is not defined"/);
    const { key, rootPassword } = JSON.parse(/^\{.*"first start".*$/m.exec(stderr)![0]) as Record<string, string>;
    assert.ok(rootPassword);
    configure();
    const gateway = await start();
    assert.equal((await chat(gateway, key!)).status, 200);
  });

  it('goes by one clock, down to its tables', async () => {
    const clock = fakeClock();
    const gateway = await startInside({ clock });
    const dates = gateway.rows('SELECT DISTINCT applied_ms FROM migration');
    assert.deepEqual(dates, [{ applied_ms: clock.now() }]);
  });

  it('wrong usage ends with 2, and says how it is meant', async () => {
    await start();
    const lines = [
      ...['nonsense', 'constructor', 'key create', 'key revoke one', 'restore', 'restore a b'],
      ...['start --port 9000', 'check --nonsense foo', 'schema x y', 'help me'],
    ];
    const results = await Promise.all([...lines.map((line) => run(line)), turnpike(['check', '--config'])]);
    for (const { code, stdout, stderr } of results) {
      assert.equal(code, 2, stderr);
      assert.equal(stdout, '');
      assert.notEqual(stderr, '');
    }
  });
});

describe('stopping', () => {
  it('SIGTERM lets running calls finish, takes no new ones, and ends with 0', async () => {
    const gateway = await start();
    const key = firstKey(gateway);
    vendor.next(held('go'), [hold('go'), ...wholeAnswer()]);
    const stream = await chat(gateway, key, { stream: true });
    const whole = chat(gateway, key);
    await vendor.waitFor(2);
    // A connection on which a request has begun to come is not idle, and hears that nothing new is taken.
    const late = await rawConnection(gateway.port);
    await late.write('GET /readyz HTTP/1.1\r\n');
    await (await fetch(`${gateway.url}/healthz`)).text();
    gateway.signal('SIGTERM');
    await gateway.logged(({ msg }) => msg === 'stopping');
    await late.write('host: localhost\r\n\r\n');
    const answer = await late.response();
    assert.equal(answer.status, 503);
    assert.match(answer.text, /draining/);
    const refused = await chat(gateway, key).then(
      ({ status }) => status,
      () => 'refused',
    );
    assert.equal(refused, 503);
    assert.equal((await fetch(`${gateway.url}/readyz`)).status, 503);
    vendor.release('go');
    assert.ok((await stream.text()).endsWith(DONE));
    assert.equal((await whole).status, 200);
    await (await whole).text();
    const { code } = await gateway.ended;
    assert.equal(code, 0);
    assert.deepEqual(gateway.complaints, []);
    assert.deepEqual(ledgerFaults(storeFile), []);
    assert.deepEqual(
      usageRecords(storeFile).map(({ outcome }) => outcome),
      ['served', 'served'],
    );
  });

  it('waits until a slow client has the last byte of its answer', async () => {
    const gateway = await start();
    const body = JSON.stringify({
      choices: [{ message: { content: 'x'.repeat(24 * 1_024 * 1_024) } }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    });
    vendor.next(sized(200, 'application/json', body));
    const client = await rawConnection(gateway.port);
    await client.write(chatText(firstKey(gateway)));
    await client.until('HTTP/1.1 200 OK');
    client.pause();
    gateway.signal('SIGTERM');
    await gateway.logged(({ msg }) => msg === 'stopping');
    client.resume();
    const answer = await client.response();
    assert.ok(answer.complete);
    assert.equal(answer.body.length, body.length);
    assert.equal((await gateway.ended).code, 0);
  });

  it('a second SIGTERM cuts what still runs, also what runs on an older configuration, and books it', async () => {
    const gateway = await start();
    const key = firstKey(gateway);
    vendor.always(held('never'));
    const clients = [];
    for (let i = 0; i < 2; i++) {
      const client = await rawConnection(gateway.port);
      await client.write(chatText(key, { stream: true }));
      await client.until('from');
      clients.push(client);
      if (i > 0) continue;
      gateway.signal('SIGHUP');
      await gateway.logged(({ msg }) => msg === 'gateway.yaml was reloaded');
    }
    gateway.signal('SIGTERM');
    await gateway.logged(({ msg }) => msg === 'stopping');
    gateway.signal('SIGTERM');
    for (const client of clients) {
      const answer = await client.response();
      assert.ok(!answer.complete, 'there is no last chunk');
      assert.match(answer.text, /data: \{"error":\{.*"code":"shutting_down"/);
      assert.ok(!answer.text.includes('[DONE]'));
    }
    assert.equal((await gateway.ended).code, 0);
    assert.deepEqual(gateway.complaints, []);
    assert.deepEqual(ledgerFaults(storeFile), []);
    for (const { outcome, charged, estimated, output } of usageRecords(storeFile)) {
      assert.equal(outcome, 'failed');
      assert.ok(estimated && charged > 0n);
      assert.equal(output, 3, '"Hello from" was delivered');
    }
    assert.equal(usageRecords(storeFile).length, 2);
  });

  it('a second SIGTERM does not wait for a request that never comes to its end', async () => {
    const gateway = await start();
    const client = await rawConnection(gateway.port);
    const whole = chatText(firstKey(gateway));
    await client.write(whole.subarray(0, whole.length - 5));
    await (await fetch(`${gateway.url}/healthz`)).text();
    gateway.signal('SIGTERM');
    await gateway.logged(({ msg }) => msg === 'stopping');
    gateway.signal('SIGTERM');
    assert.equal((await gateway.ended).code, 0);
    assert.deepEqual(gateway.complaints, []);
  });

  it('two signals at once are two signals', async () => {
    const gateway = await start();
    vendor.next(held('never'));
    const client = await rawConnection(gateway.port);
    await client.write(chatText(firstKey(gateway), { stream: true }));
    await client.until('from');
    gateway.signal('SIGINT');
    gateway.signal('SIGTERM');
    assert.equal((await gateway.ended).code, 0);
    assert.match((await client.response()).text, /shutting_down/);
  });

  it('when the time to drain is over, what still runs is cut off', async () => {
    const clock = fakeClock();
    const gateway = await startInside({ clock, config: { listen: { port: 0, drain: '30s' } } });
    vendor.next(held('never'));
    const client = await rawConnection(gateway.port);
    await client.write(chatText(gateway.key, { stream: true }));
    await client.until('from');
    const stopped = gateway.stop();
    const ready = async (): Promise<number> => (await fetch(`${gateway.url}/readyz`)).status;
    while ((await ready()) !== 503);
    clock.advance(29_999);
    assert.equal(client.ending, undefined);
    clock.advance(1);
    await stopped;
    const answer = await client.response();
    assert.match(answer.text, /shutting_down/);
    assert.ok(!answer.complete);
  });
});

describe('stopping a plugin', () => {
  const stopping = (name: string, stop: () => void | Promise<void>) =>
    ({ name, api: 2, create: () => ({ stop }) }) as const;

  it('that fails, and leaves something running, keeps no process alive', async () => {
    writeFileSync(
      join(dir, 'clumsy.mjs'),
      `export default { name: 'clumsy', api: 2, create: () => ({
        start: () => void setInterval(() => {}, 1_000),
        stop: () => { throw new Error('not now'); },
      }) };\n`,
    );
    const { pipeline } = defaultConfig([vendor]) as { readonly pipeline: readonly string[] };
    configure({ pipeline: [...pipeline, './clumsy.mjs'] });
    const gateway = await start();
    await gateway.stop();
    const { plugin, error } = gateway.log.find(({ msg }) => msg === 'a plugin failed to stop')!;
    assert.equal(plugin, 'clumsy');
    assert.match(JSON.stringify(error), /not now/);
    assert.deepEqual(ledgerFaults(storeFile), []);
  });

  for (const hurried of [false, true]) {
    it(`that never ends is waited for until ${hurried ? 'a second signal' : 'the time to drain'}, and a little longer`, async () => {
      const clock = fakeClock();
      let began = (): void => {};
      const reached = new Promise<void>((resolve) => {
        began = resolve;
      });
      const gateway = await startInside({
        clock,
        config: { listen: { port: 0, drain: '30s' } },
        plugins: [
          stopping('hangs', () => {
            began();
            return new Promise<void>(() => {});
          }),
        ],
      });
      let over = false;
      const stopped = gateway.stop().then(() => {
        over = true;
      });
      await reached;
      if (hurried) gateway.gateway.hurry();
      else clock.advance(30_000);
      clock.advance(4_999);
      for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
      assert.equal(over, false);
      clock.advance(1);
      await stopped;
      assert.ok(gateway.log.some((line) => /a plugin took too long to stop.*"hangs"/.test(line)));
    });
  }
});

describe('reloading', () => {
  it('SIGHUP takes a good file over, while a running stream does not notice', async () => {
    const gateway = await start();
    const key = firstKey(gateway);
    vendor.next(held('go'));
    const stream = await chat(gateway, key, { stream: true });
    assert.equal(await codeOf(await chat(gateway, key, { model: 'new-model' })), '404 model_not_found');
    configure(withModels('new-model'));
    gateway.signal('SIGHUP');
    await gateway.logged(({ msg }) => msg === 'gateway.yaml was reloaded');
    assert.equal((await chat(gateway, key, { model: 'new-model' })).status, 200);
    vendor.release('go');
    assert.ok((await stream.text()).endsWith(DONE));
    await gateway.stop();
    assert.deepEqual(ledgerFaults(storeFile), []);
  });

  it('a file that changes is taken over without a word; a bad one changes nothing, and the log says where it is wrong', async () => {
    const gateway = await start();
    const key = firstKey(gateway);
    const yaml = readFileSync(configFile, 'utf8');
    const line = yaml.split('\n').findIndex((text) => text.startsWith('channels:')) + 1;
    writeFileSync(configFile, yaml.replace('channels:', 'chanels:'));
    const complaint = await gateway.logged(({ msg }) => msg === 'gateway.yaml was not reloaded');
    assert.equal(complaint.level, 'error');
    assert.match(
      String((complaint.problems as string[])[0]),
      new RegExp(`gateway\\.yaml:${line}:1: chanels: .*did you mean channels`),
    );
    assert.equal((await chat(gateway, key)).status, 200);

    configure(withModels('new-model'));
    await gateway.logged(({ msg }) => msg === 'gateway.yaml was reloaded');
    assert.equal((await chat(gateway, key, { model: 'new-model' })).status, 200);
    await gateway.stop();
  });

  it('a file behind symbolic links is taken over when they lead elsewhere', async () => {
    // As a folder looks that an orchestrator mounts: it changes one link, and never the file.
    const versions = ['..one', '..two'].map((name) => join(dir, name));
    for (const version of versions) mkdirSync(version);
    const written = (sections: Readonly<Record<string, unknown>>): string =>
      stringify({ ...defaultConfig([vendor]), store: store.section, ...sections });
    writeFileSync(join(versions[0]!, 'gateway.yaml'), written({}));
    writeFileSync(join(versions[1]!, 'gateway.yaml'), written(withModels('new-model')));
    rmSync(configFile);
    symlinkSync('..one', join(dir, '..data'));
    symlinkSync('..data/gateway.yaml', configFile);
    const gateway = await start();
    symlinkSync('..two', join(dir, '..next'));
    renameSync(join(dir, '..next'), join(dir, '..data'));
    await gateway.logged(({ msg }) => msg === 'gateway.yaml was reloaded');
    assert.equal((await chat(gateway, firstKey(gateway), { model: 'new-model' })).status, 200);
    await gateway.stop();
  });

  it('TLS connections carry many calls each, whole and streamed, and none is left running', async () => {
    const [one] = CERTIFICATES;
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(dir, name)) as [string, string];
    writeFileSync(cert, one.cert);
    writeFileSync(key, one.key);
    const gateway = await startInside({ config: { listen: { port: 0, tls: { cert, key } } } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
    const call = async (stream: boolean): Promise<string> => {
      vendor.next(stream ? streamAnswer() : wholeAnswer());
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' };
      const options = { port: gateway.port, path: '/v1/chat/completions', method: 'POST', agent, headers };
      const sent = request(options).end(
        JSON.stringify({ model: 'test-model', max_tokens: 50, stream, messages: [{ role: 'user', content: 'Hello' }] }),
      );
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      assert.equal(answer.statusCode, 200);
      let received = '';
      for await (const bytes of answer) received += String(bytes);
      return received;
    };
    for (let calls = 0; calls < 12; calls++) {
      const stream = calls % 3 === 0;
      assert.ok((await call(stream)).endsWith(stream ? DONE : '}'));
    }
    assert.equal(usageRecords(gateway.storeFile).filter(({ outcome }) => outcome === 'served').length, 12);
    // It would wait for calls that it takes for running.
    await gateway.stop();
    agent.destroy();
  });

  it('a renewed certificate is shown to whoever connects next; one that does not fit its key changes nothing', async () => {
    const [one, two] = CERTIFICATES;
    const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(dir, name)) as [string, string];
    const write = (certificate: { readonly cert: string }, { key: secret }: { readonly key: string }): void => {
      writeFileSync(cert, certificate.cert);
      writeFileSync(key, secret);
    };
    write(one, one);
    const { gateway, port } = await startInside({ config: { listen: { port: 0, tls: { cert, key } } } });
    const shown = async (): Promise<unknown> => {
      const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
      await once(socket, 'secureConnect');
      const { subject } = socket.getPeerCertificate();
      socket.destroy();
      return subject.CN;
    };
    assert.equal(await shown(), one.name);
    write(two, two);
    await gateway.reload();
    assert.equal(await shown(), two.name);
    write(one, two);
    await assert.rejects(
      gateway.reload(),
      /: listen\.tls\.key: the file does not contain a private key .* that matches the cert/,
    );
    writeFileSync(cert, 'no certificate');
    await assert.rejects(gateway.reload(), /: listen\.tls\.cert: the file does not contain a certificate/);
    assert.equal(await shown(), two.name);
  });

  it('what only a restart can change is refused, at its place', async () => {
    const gateway = await start();
    configure({ store: (await testStore(dir, 'elsewhere')).section, ...withModels('new-model') });
    const { problems } = await gateway.logged(({ msg }) => msg === 'gateway.yaml was not reloaded');
    assert.match(String((problems as string[])[0]), /:\d+:\d+: store\.(file|url): changing this needs a restart/);
    assert.equal(await codeOf(await chat(gateway, firstKey(gateway), { model: 'new-model' })), '404 model_not_found');
  });

  it('any number of signals is answered one after the other', async () => {
    const gateway = await start();
    const key = firstKey(gateway);
    const reloads = (): number => gateway.log.filter(({ msg }) => msg === 'gateway.yaml was reloaded').length;
    for (let i = 0; i < 20; i++) {
      gateway.signal('SIGHUP');
      assert.equal((await chat(gateway, key)).status, 200);
    }
    const seen = reloads();
    gateway.signal('SIGHUP');
    await gateway.logged(() => reloads() > seen);
    assert.ok(seen >= 1);
    await gateway.stop();
    assert.deepEqual(ledgerFaults(storeFile), []);
  });

  it('hands out no limit anew: neither the minute that runs nor the places that are taken', async () => {
    const limits = { requestsPerMinute: 4, concurrent: 1 };
    const gateway = await startInside({ clock: fakeClock(), config: { limits } });
    vendor.next(held('go'));
    const stream = await gateway.chat({ stream: true });
    await gateway.gateway.reload();
    assert.equal(await codeOf(await gateway.chat({})), '429 concurrency_limit_exceeded');
    vendor.release('go');
    assert.ok((await stream.text()).endsWith(DONE));
    for (let i = 0; i < 3; i++) assert.equal((await gateway.chat({})).status, 200);
    await gateway.gateway.reload();
    assert.equal(await codeOf(await gateway.chat({})), '429 rate_limit_exceeded');
  });

  it('two reloads at once leave one configuration behind, and every older one is stopped', async () => {
    let running = 0;
    const watched = {
      name: 'watched',
      api: 2,
      create: () => ({
        start: () => void running++,
        stop: () => void running--,
      }),
    } as const;
    const gateway = await startInside({ plugins: [watched] });
    await Promise.all([gateway.gateway.reload(), gateway.gateway.reload(), gateway.gateway.reload()]);
    await gateway.stop();
    assert.equal(running, 0);
  });
});

describe('commands', () => {
  for (const beside of [true, false]) {
    const where = beside ? 'beside a running gateway' : 'without one';

    it(`accounts, keys and books are managed ${where}`, async () => {
      const first = await start();
      if (!beside) await first.stop();
      assert.match(await done('user create --name ada --role member --password-stdin', PASSWORD), /^\d+$/);
      assert.match(await done('user credit ada 500'), /credited 500 to ada: 500 quota available/);
      const key = await done('key create --name laptop --user ada --quota 200 --models test-model');
      assert.match(key, /^sk-[0-9A-Za-z]{49}$/);

      const users = JSON.parse(await done('user list --json')) as readonly { username: string; role: number }[];
      const names = users.map(({ username, role }) => `${username} ${role}`);
      assert.deepEqual(names, ['root 100', 'ada 1']);
      const listed = await done('key list');
      assert.match(listed, /laptop +ada +sk-\S+…\S{4} +enabled +never +test-model +all/);
      assert.ok(!listed.includes(key), 'a list shows no secret');
      assert.match(await done('reconcile'), /^(ok {6}\S+\n?)+$/);

      const gateway = beside ? first : await start();
      // The 500 of the account pay the shortest answer that is worth asking for, the 200 of the key do not.
      assert.equal(await codeOf(await chat(gateway, key, { max_tokens: 1_000 })), '403 QUOTA_TOKEN_INSUFFICIENT');
      if (!beside) await gateway.stop();
      const id = Number(/^(\d+) +laptop/m.exec(listed)?.[1]);
      assert.equal(await done(`key revoke ${id}`), `revoked ${id}`);
      const last = beside ? first : await start();
      assert.equal(await codeOf(await chat(last, key)), '401 invalid_api_key');
      await last.stop();
      assert.deepEqual(ledgerFaults(storeFile), []);
    });
  }

  it('what cannot be done ends with 1, and `check` says what the file means', async () => {
    await start();
    await done('user create --name ada --role member --password-stdin', PASSWORD);
    const [twice, nobody, nothing, check] = await Promise.all([
      run('user create --name ada --role member --password-stdin', PASSWORD),
      run('user credit bob 5'),
      run('key revoke 99'),
      run('check'),
    ]);
    assert.equal(`${twice.code} ${twice.stderr}`, '1 An account with the name "ada" already exists.\n');
    assert.equal(`${nobody.code} ${nobody.stderr}`, '1 There is no account called "bob".\n');
    assert.equal(`${nothing.code} ${nothing.stderr}`, '1 There is no key 99.\n');
    assert.equal(check.code, 0);
    assert.match(check.stdout, /^admit +keys → limits → quota$/m);
    assert.match(check.stdout, /^models +3 models, 0 aliases, 2 channels$/m);
  });

  it('a key is good for the very next call after it was made, and refused by the very next after it was revoked', async () => {
    const gateway = await start();
    const key = await done('key create --name guest');
    assert.equal((await chat(gateway, key)).status, 200);
    await done('key revoke 2');
    assert.equal(await codeOf(await chat(gateway, key)), '401 invalid_api_key');
  });

  it('a mistake in the file does not keep commands from the gateway that runs', async () => {
    const gateway = await start();
    writeFileSync(configFile, readFileSync(configFile, 'utf8').replace('channels:', 'chanels:'));
    await gateway.logged(({ msg }) => msg === 'gateway.yaml was not reloaded');
    const [list, check] = await Promise.all([done('key list'), run('check')]);
    assert.match(list, /first/);
    assert.equal(check.code, 78);
    assert.match(check.stderr, /chanels/);
  });

  const backups = onlyOnSqlite('a server has backups of its own');
  for (const beside of [true, false]) {
    const where = beside ? 'beside a running gateway' : 'and without one';
    it(`a backup goes where its command was given, ${where}`, backups, async () => {
      const gateway = await start();
      if (!beside) await gateway.stop();
      const cwd = realpathSync(mkdtempSync(join(dir, 'elsewhere-')));
      const { code, stdout, stderr } = await turnpike(['backup', './x.db', '--config', configFile], { cwd });
      assert.equal(`${code} ${stdout}`, `0 ${join(cwd, 'x.db')}\n`);
      assert.equal(stderr, `The master key is not in it: keep a copy of ${storeFile}.key in another place.\n`);
      assert.deepEqual(ledgerFaults(join(cwd, 'x.db')), []);
    });
  }

  it('a backup taken while calls run is whole, and restored only where nobody runs', backups, async () => {
    const gateway = await start();
    const key = firstKey(gateway);
    await done('user create --name ada --role member --password-stdin', PASSWORD);
    await done('user credit ada 500');
    vendor.next(held('go'));
    const stream = await chat(gateway, key, { stream: true });
    const copy = join(dir, 'copy.db');
    await done(`backup ${copy}`);
    const [again, inUse] = await Promise.all([
      run(`backup ${copy}`),
      run(`restore ${copy}`),
      done('user credit ada 1'),
    ]);
    assert.equal(again.code, 1, 'a backup does not overwrite another');
    assert.equal(inUse.code, 73);
    vendor.release('go');
    await stream.text();
    await gateway.stop();

    assert.equal((await run(`restore ${configFile}`)).code, 1, 'that is no database');
    assert.match(await done('user credit ada 1'), /502 quota available/);
    const said = await done(`restore ${copy}`);
    assert.equal(said, `restored ${storeFile} from ${copy}; the previous file is kept as ${storeFile}.before-restore`);
    const restored = await start();
    assert.match(await done('user credit ada 1'), /501 quota available/);
    assert.equal((await chat(restored, key)).status, 200);
    await restored.stop();
    assert.deepEqual(ledgerFaults(storeFile), []);
  });
});

describe('a store that cannot be written', () => {
  // The driver, with a switch that makes every list fail as a full disk would.
  const broken = { now: false, asked: 0 };
  let gone: () => void;
  before(() => {
    Object.assign(globalThis, { turnpikeTestStore: broken });
    gone = () => Reflect.deleteProperty(globalThis, 'turnpikeTestStore');
  });
  after(() => gone());
  afterEach(() => {
    broken.now = false;
  });

  const breakable = (): Readonly<Record<string, unknown>> => {
    const root = new URL('../../..', import.meta.url).pathname;
    const file = join(dir, 'store.mts');
    writeFileSync(
      file,
      `import { StoreUnavailable } from '${root}core/plugin.ts';
       import driver from '${store.driver}';
       const full = () => {
         const broken = globalThis.turnpikeTestStore;
         if (!broken.now) return;
         broken.asked++;
         throw new StoreUnavailable('the disk is full');
       };
       export default {
         ...driver,
         async open(options) {
           const store = await driver.open(options);
           return {
             ...store,
             run: async (...given) => (full(), store.run(...given)),
             atomic: async (...given) => (full(), store.atomic(...given)),
             pressure: () => ({ ...store.pressure(), ...(globalThis.turnpikeTestStore.now && { oldestMs: Infinity }) }),
           };
         },
       };`,
    );
    return { ...store.section, driver: file };
  };

  it('refuses calls with 503 at once and asks no vendor; when it can be written again, all is well without a restart', async () => {
    // A clock that stands still: nothing waits for the store.
    const clock = fakeClock();
    const gateway = await startInside({ clock, config: { store: breakable() } });
    assert.equal((await gateway.chat({})).status, 200);
    broken.now = true;
    const refused = await gateway.chat({});
    const asked = vendor.requests.length;
    broken.now = false;
    assert.equal(refused.headers.get('retry-after'), '2');
    assert.equal(await codeOf(refused), '503 storage_unavailable');
    assert.equal(asked, 1);
    assert.equal((await gateway.chat({})).status, 200);
    await gateway.stop();
  });

  it('keeps the end of an answer back until it is in the books', async () => {
    const clock = fakeClock();
    const gateway = await startInside({
      clock,
      config: { store: breakable() },
    });
    const client = await rawConnection(gateway.port);
    vendor.next(held('go'));
    await client.write(chatText(gateway.key, { stream: true }));
    await client.until('from');
    broken.now = true;
    broken.asked = 0;
    vendor.release('go');
    while (broken.asked === 0) await new Promise((resolve) => setImmediate(resolve));
    assert.ok(!client.received.includes('[DONE]'));
    broken.now = false;
    clock.advance(200);
    const answer = await client.response();
    assert.ok(answer.complete && answer.text.endsWith(DONE));
    assert.equal(usageRecords(gateway.storeFile).at(-1)?.outcome, 'served');
    await gateway.stop();
  });

  it('gives no good ending to what never gets into the books', async () => {
    const clock = fakeClock();
    const gateway = await startInside({
      clock,
      config: { store: breakable() },
    });
    for (const stream of [true, false]) {
      vendor.next(stream ? held(`go ${stream}`) : [hold(`go ${stream}`), ...wholeAnswer()]);
      const before = vendor.requests.length;
      const client = await rawConnection(gateway.port);
      await client.write(chatText(gateway.key, { stream }));
      await vendor.waitFor(() => vendor.requests[before]?.holding !== undefined);
      if (stream) await client.until('from');
      broken.now = true;
      vendor.release(`go ${stream}`);
      let told = false;
      const answered = client.response().finally(() => {
        told = true;
      });
      // Patience with the store is five seconds of the gateway's clock.
      while (!told) {
        clock.advance(200);
        await new Promise((resolve) => setImmediate(resolve));
      }
      const answer = await answered;
      broken.now = false;
      if (stream) assert.ok(!answer.complete && !answer.text.includes('[DONE]'));
      else assert.match(`${answer.status} ${answer.text}`, /^503 .*storage_unavailable/);
    }
    await gateway.stop();
  });
});
