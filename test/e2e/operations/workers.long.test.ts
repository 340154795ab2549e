/** `listen.workers`: several processes that serve as one gateway, seen from outside. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { stringify } from 'yaml';
import { Database } from '../../../plugins/stores/sqlite/binding.ts';
import { CERTIFICATES } from '../../kit/clients/certificates.ts';
import { type RawConnection, type RawResponse, rawConnection, requestText } from '../../kit/clients/raw-client.ts';
import { CONSOLE_PIPELINE, PATIENT } from '../../kit/console/console.ts';
import { chatEvents, DONE } from '../../kit/gateway/fixtures.ts';
import { defaultConfig } from '../../kit/gateway/gateway.ts';
import { type GatewayProcess, type LogLine, startProcess, turnpike } from '../../kit/gateway/process.ts';
import { ledgerFaults } from '../../kit/gateway/reconcile.ts';
import { readRows } from '../../kit/gateway/rows.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';
import { until } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, hold, wholeAnswer } from '../../kit/vendors/script.ts';

/** A route that says what it sees of a request, and one that wants nothing but bytes. */
const MIRROR = `
const seen = ({ method, path, query, headers, ip, bytes }) => ({ method, path, query: String(query), headers, ip, bytes: bytes.length });
export default {
  name: 'mirror',
  api: 2,
  create: () => ({
    routes: [
      { method: 'GET', path: '/mirror', access: 'public', cors: true, handle: seen },
      { method: 'POST', path: '/mirror', access: 'public', takes: 'bytes', maxBody: 100_000, handle: seen },
      { method: 'DELETE', path: '/mirror/:id', access: 'public', handle: ({ params }) => params },
    ],
  }),
};
`;
const workers = onlyOnSqlite('with `listen.workers` one process writes the file for all');
const ENV = { TURNPIKE_ROOT_PASSWORD: 'a root password for tests' };

interface Installation {
  readonly dir: string;
  readonly configFile: string;
  readonly storeFile: string;
}

function install(sections: Readonly<Record<string, unknown>>): Installation {
  const dir = mkdtempSync(join(tmpdir(), 'turnpike-workers-'));
  const configFile = join(dir, 'gateway.yaml');
  writeFileSync(join(dir, 'mirror.mjs'), MIRROR);
  writeFileSync(configFile, stringify(sections));
  return { dir, configFile, storeFile: join(dir, 'turnpike.db') };
}

const configOf = (vendor: FakeVendor, listen: Readonly<Record<string, unknown>>) => ({
  ...defaultConfig([vendor]),
  pipeline: [...CONSOLE_PIPELINE, './mirror.mjs'].filter((name) => name !== 'passthrough'),
  console: PATIENT,
  listen: { host: '127.0.0.1', port: 0, ...listen },
});

const keyOf = (gateway: GatewayProcess): string => String(gateway.log.find(({ msg }) => msg === 'first start')?.key);
const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

/** Which process an exchange ran in: its id ends with the epoch. */
const epochOf = (id: unknown): string => String(id).slice(-10);

/** The workers that serve, as their lines of the log say; the one that came last in the place of each. */
function servingIn(gateway: GatewayProcess): ReadonlyMap<unknown, LogLine> {
  return new Map(gateway.log.filter(({ msg }) => msg === 'serving').map((line) => [line.worker, line]));
}

interface Call {
  readonly answer: IncomingMessage;
  readonly epoch: string;
  /** Rejects where it breaks off. */
  readonly text: Promise<string>;
}

/** A call on a connection of its own. */
async function call(gateway: GatewayProcess, body: object, key: string): Promise<Call> {
  const sent = httpRequest(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { ...bearer(key), 'content-type': 'application/json' },
  });
  sent.end(JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'hello' }], ...body }));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const text = answer.toArray().then((pieces) => Buffer.concat(pieces as Buffer[]).toString());
  text.catch(() => {});
  return { answer, epoch: epochOf(answer.headers['x-request-id']), text };
}

/** Resolves when it holds; the test fails when it never does. */
async function eventually(holds: () => boolean | Promise<boolean>): Promise<void> {
  await until('the workers have come to it', holds);
}

/** True while there is a process of that id. */
function isAlive(pid: unknown): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

describe('two workers', workers, () => {
  let vendor: FakeVendor;
  let installed: Installation;
  let gateway: GatewayProcess;
  beforeEach(async () => {
    vendor = await fakeVendor();
    installed = install(configOf(vendor, { workers: 2 }));
    gateway = await startProcess(installed.configFile, { env: ENV });
  });
  afterEach(async () => {
    await gateway.kill();
    vendor.release();
    await vendor.close();
    rmSync(installed.dir, { recursive: true, force: true });
  });

  /** The books balance while all of them have leases. */
  async function reconciles(): Promise<void> {
    const { code, stdout } = await turnpike(['reconcile', '--config', installed.configFile]);
    assert.equal(code, 0, stdout);
  }

  /** One stream in each worker, which waits after its first event. */
  async function streamInEach(key: string): Promise<Map<string, Call>> {
    vendor.always(eventStream([chatEvents()[0]!, hold('rest'), ...chatEvents().slice(1), DONE]));
    const streams = new Map<string, Call>();
    while (streams.size < 2) {
      const stream = await call(gateway, { stream: true }, key);
      streams.set(stream.epoch, stream);
    }
    return streams;
  }

  it('share the calls, bill all of them, and leave books that balance', async () => {
    const key = keyOf(gateway);
    const calls = await Promise.all(Array.from({ length: 40 }, () => call(gateway, {}, key)));
    const epochs = new Map<string, number>();
    for (const { answer, epoch, text } of calls) {
      assert.equal(answer.statusCode, 200);
      await text;
      epochs.set(epoch, (epochs.get(epoch) ?? 0) + 1);
    }
    assert.equal(epochs.size, 2);
    assert.ok(
      [...epochs.values()].every((count) => count > 5),
      JSON.stringify([...epochs]),
    );
    await reconciles();
    await gateway.stop();
    const records = usageRecords(installed.storeFile);
    assert.equal(records.length, 40);
    for (const { charged, outcome } of records) assert.ok(charged > 0n && outcome === 'served');
    assert.deepEqual(ledgerFaults(installed.storeFile), []);
  });

  it('enforce the limits of a key together: its rate, its rate for one model, and its budget', async () => {
    const create = async (name: string, limits: string): Promise<string> => {
      const line = ['key', 'create', '--name', name, '--limits', limits, '--config', installed.configFile];
      const { code, stdout, stderr } = await turnpike(line);
      assert.equal(code, 0, stderr);
      return stdout.trim();
    };
    /** The statuses of so many calls at once, and how many processes answered. */
    const rush = async (key: string, count: number) => {
      const calls = await Promise.all(Array.from({ length: count }, () => call(gateway, { max_tokens: 10 }, key)));
      for (const { text } of calls) await text;
      const having = (status: number): number => calls.filter(({ answer }) => answer.statusCode === status).length;
      const processes = new Set(calls.map(({ epoch }) => epoch)).size;
      return { served: having(200), limited: having(429), forbidden: having(403), processes };
    };
    for (const [name, limits] of [
      ['whole', 'requests=7'],
      ['of one model', 'test-model: requests=7'],
    ] as const) {
      const key = await create(name, limits);
      assert.deepEqual(await rush(key, 40), { served: 7, limited: 33, forbidden: 0, processes: 2 }, name);
    }
    // Both lease parts of this limit meanwhile.
    const busy = await create('busy', 'requests=200');
    let admitted = 0;
    for (let i = 0; i < 6; i++) admitted += (await rush(busy, 50)).served;
    assert.equal(admitted, 200);
    const budget = 100;
    const key = await create('budget', `day=${budget}`);
    const { served, forbidden, processes } = await rush(key, 60);
    assert.equal(processes, 2);
    assert.ok(served > 0 && forbidden > 0 && served + forbidden === 60, `${served} served, ${forbidden} refused`);
    await reconciles();
    await gateway.stop();
    const rows = readRows(installed.storeFile, "SELECT used FROM bucket WHERE kind = 'key-day'")[0]!;
    const used = BigInt(String(rows[0]?.used));
    assert.ok(used > 0n && used <= BigInt(budget) * 1_000_000n, `${used}`);
    assert.deepEqual(ledgerFaults(installed.storeFile), []);
  });

  it('are replaced when they are killed: the streams of others go on, and what was cut off is charged', async () => {
    const key = keyOf(gateway);
    const streams = await streamInEach(key);
    const [victim, other] = [...servingIn(gateway).values()];
    // Once a second it is written down how much of a stream was delivered.
    const books = new Database(installed.storeFile, { readonly: true });
    const delivered = books.prepare('SELECT 1 FROM running WHERE epoch = ? AND delivered > 0');
    await eventually(() => delivered.get(victim!.epoch) !== undefined);
    books.close();
    process.kill(Number(victim!.pid), 'SIGKILL');
    await assert.rejects(streams.get(String(victim!.epoch))!.text);
    const ended = await gateway.logged(({ msg }) => msg.startsWith('a worker ended'));
    assert.deepEqual([ended.worker, ended.signal], [victim!.worker, 'SIGKILL']);
    vendor.release('rest');
    assert.match(await streams.get(String(other!.epoch))!.text, /\[DONE\]/);

    await eventually(() => servingIn(gateway).get(victim!.worker)!.pid !== victim!.pid);
    const served = new Set<string>();
    vendor.always(wholeAnswer());
    for (let i = 0; i < 4; i++) served.add((await call(gateway, {}, key)).epoch);
    const now = [...servingIn(gateway).values()].map(({ epoch }) => String(epoch));
    assert.deepEqual([...served].sort(), now.sort());

    await gateway.logged(({ msg }) => msg.startsWith('closed the open calls of a process that ended'));
    await reconciles();
    await gateway.stop();
    assert.deepEqual(ledgerFaults(installed.storeFile), []);
    const cut = usageRecords(installed.storeFile).filter(({ id }) => epochOf(id) === victim!.epoch);
    assert.deepEqual(
      cut.map(({ outcome }) => outcome),
      ['recovered'],
    );
  });

  it('are replaced when they are killed while connections arrive: each client is answered or disconnected, and the gateway stops', async () => {
    const key = keyOf(gateway);
    vendor.always(wholeAnswer());
    let isOver = false;
    const outcomes = { served: 0, disconnected: 0 };
    const client = async (): Promise<void> => {
      while (!isOver) {
        try {
          await (await call(gateway, {}, key)).text;
          outcomes.served++;
        } catch {
          outcomes.disconnected++;
        }
      }
    };
    const clients = Array.from({ length: 4 }, client);
    const killed: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      const before = outcomes.served;
      await eventually(() => outcomes.served > before + 20);
      const { pid } = servingIn(gateway).get(1)!;
      killed.push(pid);
      process.kill(Number(pid), 'SIGKILL');
      await eventually(() => gateway.log.filter(({ msg }) => String(msg).startsWith('a worker ended')).length > round);
      await eventually(() => servingIn(gateway).get(1)!.pid !== pid);
    }
    isOver = true;
    // None of them waits for an answer that never comes.
    await Promise.all(clients);
    assert.equal(new Set(killed).size, 3);
    assert.ok(outcomes.served > 60, JSON.stringify(outcomes));
    await reconciles();
    await gateway.stop();
    assert.deepEqual(ledgerFaults(installed.storeFile), []);
  });

  it('are gone as soon as the owner is, and their clients get no good ending', async () => {
    const streams = await streamInEach(keyOf(gateway));
    const pids = [...servingIn(gateway).values()].map(({ pid }) => pid);
    assert.ok(pids.every(isAlive));
    await gateway.kill();
    await eventually(() => !pids.some(isAlive));
    for (const { text } of streams.values()) await assert.rejects(text);
  });

  it('take a changed gateway.yaml over together', async () => {
    const key = keyOf(gateway);
    assert.equal((await call(gateway, { model: 'another' }, key)).answer.statusCode, 404);
    const config = configOf(vendor, { workers: 2 });
    const models = { ...(defaultConfig([vendor]).models as object), another: { from: ['main'], free: true } };
    writeFileSync(installed.configFile, stringify({ ...config, models }));
    gateway.signal('SIGHUP');
    await gateway.logged(({ msg }) => msg === 'gateway.yaml was reloaded');
    await eventually(async () => (await call(gateway, { model: 'another' }, key)).answer.statusCode === 200);
    const epochs = new Set<string>();
    await eventually(async () => {
      const { answer, epoch } = await call(gateway, { model: 'another' }, key);
      if (answer.statusCode === 200) epochs.add(epoch);
      return epochs.size === 2;
    });
    const pids = [...servingIn(gateway).values()].map(({ pid }) => pid);
    assert.ok(pids.every(isAlive));
    await gateway.stop();
    assert.deepEqual(
      gateway.log.filter(({ level }) => level === 'error'),
      [],
    );
  });

  it('cannot become more or fewer without a restart', async () => {
    writeFileSync(installed.configFile, stringify(configOf(vendor, { workers: 3 })));
    gateway.signal('SIGHUP');
    const line = await gateway.logged(({ msg }) => msg === 'gateway.yaml was not reloaded');
    assert.match(JSON.stringify(line), /listen\.workers.*needs a restart/);
    await gateway.stop();
  });

  it('let what runs come to its end when the gateway is stopped, and then go before it', async () => {
    const streams = await streamInEach(keyOf(gateway));
    const pids = [...servingIn(gateway).values()].map(({ pid }) => pid);
    gateway.signal('SIGTERM');
    await eventually(async () => (await fetch(`${gateway.url}/readyz`)).status === 503);
    // As a terminal does: the signal comes to all of them.
    for (const pid of pids) process.kill(Number(pid), 'SIGINT');
    assert.ok(pids.every(isAlive));
    vendor.release('rest');
    for (const { text } of streams.values()) assert.match(await text, /\[DONE\]/);
    const { code } = await gateway.ended;
    assert.deepEqual([code, gateway.complaints.filter((line) => line !== '')], [0, []]);
    assert.equal(pids.some(isAlive), false);
    assert.deepEqual(ledgerFaults(installed.storeFile), []);
    for (const socket of ['.sock', '.routes.sock', '.writer.sock'])
      assert.equal(existsSync(`${installed.storeFile}${socket}`), false, socket);
  });

  it('cut off what runs at a second signal', async () => {
    const streams = await streamInEach(keyOf(gateway));
    gateway.signal('SIGTERM');
    await gateway.logged(({ msg }) => msg === 'stopping');
    gateway.signal('SIGTERM');
    for (const { text } of streams.values()) await assert.rejects(text);
    assert.equal((await gateway.ended).code, 0);
    assert.deepEqual(ledgerFaults(installed.storeFile), []);
  });

  it('are one gateway to whoever asks what runs, and how it is doing', async () => {
    const key = keyOf(gateway);
    const streams = await streamInEach(key);
    const signedIn = await fetch(`${gateway.url}/api/user/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'root', password: ENV.TURNPIKE_ROOT_PASSWORD }),
    });
    const cookie = signedIn.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
    const get = async (path: string) =>
      ((await (await fetch(gateway.url + path, { headers: { cookie } })).json()) as { data: Record<string, never> })
        .data;
    const live = (await get('/api/log/live')) as unknown as { total: number; items: { id: string }[] };
    assert.equal(live.total, vendor.inFlight);
    assert.deepEqual(new Set(live.items.map(({ id }) => epochOf(id))), new Set(streams.keys()));
    const ids = live.items.map(({ id }) => id.slice(0, 10));
    assert.deepEqual(ids, [...ids].sort().reverse());
    const system = (await get('/api/system')) as unknown as { in_flight: number; memory: { rss: number } };
    assert.equal(system.in_flight, live.total);
    // Three processes take more than any node does alone.
    assert.ok(system.memory.rss > 150e6, `${system.memory.rss}`);
    vendor.release('rest');
    for (const { text } of streams.values()) await text;
    await gateway.stop();
  });

  it('notice a proxy that is not trusted, whichever of them it comes to, and the log says it once', async () => {
    const key = keyOf(gateway);
    const headers = { ...bearer(key), 'x-forwarded-for': '203.0.113.9', 'content-type': 'application/json' };
    for (let i = 0; i < 4; i++) {
      const connection = await rawConnection(gateway.port);
      await connection.write(requestText('POST', '/v1/chat/completions', headers, '{}'));
      assert.equal((await connection.response()).status, 400);
      connection.abort();
    }
    const line = await gateway.logged(({ msg }) => msg.includes('listen.trustProxy'));
    assert.deepEqual([line.peer, line.worker], ['127.0.0.1', undefined]);
    await gateway.stop();
    assert.equal(gateway.log.filter(({ msg }) => msg.includes('listen.trustProxy')).length, 1);
  });

  it('run commands in the owner', async () => {
    await (await call(gateway, {}, keyOf(gateway))).text;
    const created = await turnpike([
      'key',
      'create',
      '--config',
      installed.configFile,
      '--user',
      'root',
      '--name',
      'k',
    ]);
    assert.equal(created.code, 0, created.stderr);
    const key = /sk-\w+/.exec(created.stdout)![0];
    // Keys that were asked for and not found are remembered for a moment.
    await eventually(async () => (await call(gateway, {}, key)).answer.statusCode === 200);
    await gateway.stop();
  });
});

describe('a gateway with workers', workers, () => {
  let vendor: FakeVendor;
  let installed: Installation;
  before(async () => {
    vendor = await fakeVendor();
  });
  after(() => vendor.close());
  afterEach(() => rmSync(installed.dir, { recursive: true, force: true }));

  it('does not start at a port that is taken, and writes nothing then', async () => {
    installed = install(configOf(vendor, { workers: 2, port: vendor.port }));
    const { code, stderr } = await turnpike(['start', '--config', installed.configFile], { env: ENV });
    assert.equal(code, 78, stderr);
    assert.match(stderr, /another process already listens on this port/);
    assert.equal(existsSync(`${installed.storeFile}.key`), false);
  });

  it('does not start on a store that several processes cannot use', async () => {
    installed = install({ ...configOf(vendor, { workers: 2 }), store: { driver: './memory.mjs', file: './x' } });
    writeFileSync(join(installed.dir, 'memory.mjs'), 'export default { open() {}, restore() {} };');
    const { code, stdout, stderr } = await turnpike(['check', '--config', installed.configFile], { env: ENV });
    assert.equal(code, 78, stdout);
    assert.match(
      stderr,
      /listen\.workers: a store of the driver "\.\/memory\.mjs" cannot be used by workers: remove this line/,
    );
  });

  it('says in its check how many there are', async () => {
    installed = install(configOf(vendor, { workers: 3 }));
    const { stdout } = await turnpike(['check', '--config', installed.configFile], { env: ENV });
    assert.match(stdout, /^workers +3 processes serve calls/m);
  });

  it('speaks TLS in every worker, and its routes know nothing of how they are reached', async () => {
    const [certificate] = CERTIFICATES;
    installed = install(configOf(vendor, { workers: 2, tls: { cert: './cert.pem', key: './key.pem' } }));
    writeFileSync(join(installed.dir, 'cert.pem'), certificate.cert);
    writeFileSync(join(installed.dir, 'key.pem'), certificate.key);
    const gateway = await startProcess(installed.configFile, { env: ENV });
    try {
      assert.match(gateway.url, /^https:/);
      const get = async (path: string, headers: Record<string, string> = {}) => {
        const sent = httpsRequest(gateway.url + path, {
          agent: false,
          ca: certificate.cert,
          headers,
          checkServerIdentity: () => undefined,
        });
        sent.end();
        const [answer] = (await once(sent, 'response')) as [IncomingMessage];
        return { status: answer.statusCode, body: Buffer.concat((await answer.toArray()) as Buffer[]).toString() };
      };
      for (let i = 0; i < 4; i++) {
        const { status, body } = await get('/mirror?a=b', { connection: 'close' });
        assert.equal(status, 200);
        assert.deepEqual(JSON.parse(body), {
          method: 'GET',
          path: '/mirror',
          query: 'a=b',
          headers: { host: `127.0.0.1:${gateway.port}`, connection: 'close' },
          ip: '127.0.0.1',
          bytes: 0,
        });
      }
      await gateway.stop();
    } finally {
      await gateway.kill();
    }
  });

  it('carries websockets of a passthrough in every worker', async () => {
    const config = configOf(vendor, { workers: 2 });
    installed = install({
      ...config,
      pipeline: [...config.pipeline, 'passthrough'],
      passthrough: [{ prefix: '/v1/realtime', channel: 'main', price: 7 }],
    });
    const gateway = await startProcess(installed.configFile, { env: ENV });
    try {
      const headers = bearer(keyOf(gateway));
      for (let i = 0; i < 2; i++) {
        const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime`, { headers });
        await once(socket, 'open');
        socket.send('hello');
        const [data] = (await once(socket, 'message')) as [Buffer];
        assert.equal(String(data), 'hello');
        socket.close();
        await once(socket, 'close');
      }
      await gateway.stop();
      const records = usageRecords(installed.storeFile);
      assert.equal(new Set(records.map(({ id }) => epochOf(id))).size, 2);
      assert.deepEqual(
        records.map(({ charged, status }) => [charged, status]),
        Array(2).fill([7_000_000n, 101]),
      );
    } finally {
      await gateway.kill();
    }
  });
});

describe('a route that is reached through a worker', workers, () => {
  const trustProxy = ['127.0.0.1'];
  let vendor: FakeVendor;
  const installed: Installation[] = [];
  const pairs: { readonly name: string; readonly gateways: readonly GatewayProcess[] }[] = [];
  before(async () => {
    vendor = await fakeVendor();
    for (const [name, listen] of [
      ['as it is', {}],
      ['behind a proxy', { trustProxy }],
    ] as const) {
      const gateways: GatewayProcess[] = [];
      for (const workers of [1, 2]) {
        const config = configOf(vendor, {
          workers,
          ...listen,
          cors: ['https://page.example'],
          body: { json: '100kb' },
        });
        // The same address in both, whatever the port.
        const here = install({ ...config, console: { ...PATIENT, url: 'http://gateway.test' } });
        installed.push(here);
        gateways.push(await startProcess(here.configFile, { env: ENV }));
      }
      pairs.push({ name, gateways });
    }
  });
  after(async () => {
    for (const { gateways } of pairs) for (const gateway of gateways) await gateway.stop();
    await vendor.close();
    for (const { dir } of installed) rmSync(dir, { recursive: true, force: true });
  });

  const KEY = 'KEY-OF-THE-GATEWAY';
  const json = { 'content-type': 'application/json' };
  const bytes = { 'content-type': 'application/octet-stream' };
  const many = Object.fromEntries(Array.from({ length: 98 }, (_, i) => [`x-${i}`, String(i)]));

  /** What is sent, and how often an answer is then read. */
  const requests: readonly (readonly [what: string, send: Buffer | string, answers?: number])[] = [
    ['a GET', requestText('GET', '/mirror?a=b&c', { accept: 'x', 'X-Two': 'a' })],
    ['a HEAD', requestText('HEAD', '/mirror')],
    ['a path with a parameter', requestText('DELETE', '/mirror/a%2Fb')],
    ['a body', requestText('POST', '/mirror', bytes, 'x'.repeat(50_000))],
    [
      'a body in chunks',
      requestText('POST', '/mirror', { ...bytes, 'transfer-encoding': 'chunked' }, '3\r\nabc\r\n0\r\n\r\n'),
    ],
    ['an empty body', requestText('POST', '/mirror', { ...bytes, 'content-length': '0' })],
    ['a body that waits for a go-ahead', requestText('POST', '/mirror', { ...bytes, expect: '100-continue' }, 'abc')],
    ['a body whose length is too large', requestText('POST', '/mirror', { ...bytes, 'content-length': '100001' })],
    [
      'the same, with a go-ahead',
      requestText('POST', '/mirror', { ...bytes, expect: '100-continue', 'content-length': '100001' }),
    ],
    [
      'a body that turns out too large',
      requestText(
        'POST',
        '/mirror',
        { ...bytes, 'transfer-encoding': 'chunked' },
        `1ffff\r\n${'x'.repeat(0x1ffff)}\r\n0\r\n\r\n`,
      ),
    ],
    [
      'a body that nobody reads',
      requestText('POST', '/api/user/login', { 'content-type': 'text/plain' }, 'x'.repeat(1_000)),
    ],
    ['a body that is no JSON', requestText('POST', '/api/user/login', json, '{')],
    ['a wrong password', requestText('POST', '/api/user/login', json, '{"username":"root","password":"wrong one"}')],
    [
      'a sign-in',
      requestText(
        'POST',
        '/api/user/login',
        json,
        JSON.stringify({ username: 'root', password: ENV.TURNPIKE_ROOT_PASSWORD }),
      ),
    ],
    ['a list of models', requestText('GET', '/v1/models', bearer(KEY))],
    ['a list of models without a key', requestText('GET', '/v1/models')],
    [
      'a list of models in another style',
      requestText('GET', '/v1/models', { 'x-api-key': 'sk-wrong', 'anthropic-version': '2023-06-01' }),
    ],
    [
      'tokens that are counted',
      requestText(
        'POST',
        '/v1/messages/count_tokens',
        { ...bearer(KEY), ...json },
        JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'hi' }] }),
      ),
    ],
    ['a page of another site that may', requestText('GET', '/mirror', { origin: 'https://page.example' })],
    ['one that may not', requestText('GET', '/mirror', { origin: 'https://other.example' })],
    ['one at a route that is for none', requestText('GET', '/api/status', { origin: 'https://page.example' })],
    [
      'the question of a browser',
      requestText('OPTIONS', '/v1/models', { origin: 'https://page.example', 'access-control-request-method': 'GET' }),
    ],
    ['the console', requestText('GET', '/console')],
    ['what is not there', requestText('GET', '/nothing')],
    ['another method', requestText('PUT', '/mirror', bytes, 'abc')],
    ['metrics from this machine', requestText('GET', '/metrics', { host: '192.0.2.1' })],
    ['metrics through a proxy', requestText('GET', '/metrics', { 'x-forwarded-for': '127.0.0.1' })],
    ['a client behind a proxy', requestText('GET', '/mirror', { 'x-forwarded-for': '198.51.100.7, 127.0.0.1' })],
    ['a client that invents a proxy', requestText('GET', '/mirror', { 'x-forwarded-for': '198.51.100.7, 192.0.2.1' })],
    ['a client that names the header of workers', requestText('GET', '/mirror', { 'x-turnpike-hop': '1.0 6.6.6.6' })],
    ['as many headers as may be', requestText('GET', '/mirror', many)],
    ['one header more', requestText('GET', '/mirror', { ...many, 'x-98': 'a', 'x-99': 'b' })],
    ['headers as large as may be', requestText('GET', '/mirror', { large: 'x'.repeat(16_000) })],
    ['headers that are larger', requestText('GET', '/mirror', { large: 'x'.repeat(17_000) })],
    ['HTTP/1.0', 'GET /mirror HTTP/1.0\r\n\r\n'],
    ['HTTP/1.0 that is kept alive', 'GET /mirror HTTP/1.0\r\nhost: localhost\r\nconnection: keep-alive\r\n\r\n'],
    ['a connection that is to be closed', requestText('GET', '/mirror', { connection: 'close' })],
    ['another protocol', requestText('GET', '/mirror', { connection: 'Upgrade', upgrade: 'websocket' })],
    [
      'three in one packet',
      Buffer.concat([
        requestText('GET', '/mirror?1'),
        requestText('POST', '/mirror', bytes, 'abc'),
        requestText('GET', '/mirror?3'),
      ]),
      3,
    ],
    [
      'thirty in one packet',
      Buffer.concat(Array.from({ length: 30 }, (_, i) => requestText('GET', `/mirror?${i}`))),
      30,
    ],
  ];

  /** What must be the same: all but what is new with each answer. */
  async function seen(gateway: GatewayProcess, send: Buffer | string, answers: number, isHead: boolean) {
    const text = Buffer.from(send).toString('latin1').replace(KEY, keyOf(gateway));
    const connection: RawConnection = await rawConnection(gateway.port);
    await connection.write(Buffer.from(text, 'latin1'));
    const all: unknown[] = [];
    for (let i = 0; i < answers; i++) {
      const answer: RawResponse = await connection.response({ bodiless: isHead });
      const { date: _, 'x-request-id': id, ...headers } = answer.headers as Record<string, string>;
      if (headers['set-cookie'] !== undefined)
        headers['set-cookie'] = headers['set-cookie'].replace(/=[\w.-]{20,}/g, '=…');
      const isLong = answer.status === 200 && !answer.text.includes('"method"');
      if (isLong) delete headers['content-length'];
      const body = isLong ? answer.text.length > 0 : answer.text.replaceAll(id ?? '-', 'ID');
      all.push({ ...answer, headers, body, text: undefined });
    }
    // Where it was to be closed, it is.
    const last = all.at(-1) as { headers: Record<string, string> };
    if (last.headers.connection === 'close') await connection.ended;
    const { ending } = connection;
    connection.abort();
    return { all, ending };
  }

  for (const [what, send, answers = 1] of requests) {
    it(`is what it is without workers: ${what}`, async () => {
      for (const { name, gateways } of pairs) {
        const [alone, shared] = gateways as [GatewayProcess, GatewayProcess];
        const isHead = what === 'a HEAD';
        const wanted = await seen(alone, send, answers, isHead);
        // Twice: each worker has its turn.
        for (let i = 0; i < 2; i++) assert.deepEqual(await seen(shared, send, answers, isHead), wanted, name);
      }
    });
  }

  it('learns that its client has left', async () => {
    const [, shared] = pairs[0]!.gateways;
    const connection = await rawConnection(shared!.port);
    await connection.write(requestText('POST', '/mirror', { ...bytes, 'content-length': '50000' }, 'x'.repeat(100)));
    connection.abort();
    assert.equal((await fetch(`${shared!.url}/mirror`)).status, 200);
  });
});
