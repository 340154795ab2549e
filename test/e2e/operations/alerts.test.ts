/** Alerts of a real gateway: told once, to every target, by owner and administrator, after failures and quiet times. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { BUDGET_EMAILS } from '../../../core/contracts/alerts.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { MICRO } from '../../../core/contracts/ledger.ts';
import {
  advanced,
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  signedIn,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeSmtp, startSmtp } from '../../kit/stand-ins/fake-smtp.ts';
import { until as eventually, turns } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const SECRET = 'signing-canary';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** A Monday. */
const NOON_MS = Date.UTC(2026, 8, 28, 12);

interface Posted {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly raw: string;
  readonly body: JsonObject;
}

/** A receiver: keeps what it gets, and answers as the test says. */
class Receiver {
  readonly posts: Posted[] = [];
  answer: (response: ServerResponse) => void = (response) => response.end('{"code":0,"errcode":0}');
  readonly #server: Server;
  private constructor(server: Server) {
    this.#server = server;
    server.on('request', async (request, response) => {
      const raw = Buffer.concat(await request.toArray()).toString();
      this.posts.push({ path: request.url ?? '', headers: request.headers, raw, body: JSON.parse(raw) as JsonObject });
      this.answer(response);
    });
  }
  static async start(): Promise<Receiver> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Receiver(server);
  }
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  /** Titles of the events that a path received, in their order. */
  titles(path = '/hook'): readonly string[] {
    const bodies = this.posts.filter((post) => post.path === path).map(({ body }) => body);
    return bodies.flatMap(({ alerts }) => (alerts as { title: string }[]).map(({ title }) => title));
  }
  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

let vendor: FakeVendor;
let receiver: Receiver;
let smtp: FakeSmtp;
let clock: FakeClock;
let gateway: TestGateway;

before(async () => {
  vendor = await fakeVendor();
  smtp = await startSmtp();
});
after(async () => {
  await vendor?.close();
  await smtp?.close();
});

beforeEach(async () => {
  receiver = await Receiver.start();
  clock = fakeClock(NOON_MS);
});
afterEach(async () => {
  try {
    await stop();
  } finally {
    await receiver.stop();
  }
});

async function stop(): Promise<void> {
  const running = gateway;
  gateway = undefined as never;
  await running?.stop();
}

/** `dir`: of a gateway that was here before. */
async function start(alerts: object = {}, dir?: string): Promise<void> {
  gateway = await startGateway({
    vendor,
    clock,
    env: ROOT_ENV,
    ...(dir !== undefined && { dir }),
    config: {
      pipeline: CONSOLE_PIPELINE,
      console: PATIENT,
      mail: { smtp: smtp.url, from: 'gateway@example.com' },
      alerts: { to: [{ webhook: `${receiver.url}/hook`, secret: SECRET }], disk: false, ...alerts },
    },
  });
}

/** Until a condition holds that work of the gateway brings about, with the time going on in steps of its chores. */
async function until(condition: () => boolean): Promise<void> {
  await eventually(
    'it comes about',
    async () => {
      if (condition()) return true;
      await advanced(gateway, clock, 5_000);
      await turns();
      return condition();
    },
    gateway,
  );
}

/** Time for everything that might still be told. */
async function quietWhile(ms = 6 * 5_000): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    await advanced(gateway, clock, 5_000);
    await turns();
  }
}

/** A call that costs this much, as the vendor counts it. */
async function spend(key: string, quota: number): Promise<void> {
  vendor.next(wholeAnswer({ usage: { prompt: 0, completion: quota } }));
  const response = await gateway.chat({ model: 'test-model', max_tokens: quota }, { key });
  assert.equal(response.status, 200, await response.text());
}

describe('alerts of budgets', () => {
  it('tell each level of a period once, signed, and again in the next period', async () => {
    await start();
    const ann = await member(gateway, 'ann', { units: 1_000_000 });
    const { key } = await ann.data('POST', '/api/token/', { name: 'ci', limits: [{ daily_budget: 1_200 }] });
    await spend(key, 600);
    await until(() => receiver.titles().length > 0);
    const what = 'Daily budget of the key "ci" of ann';
    assert.deepEqual(receiver.titles(), [`${what}: 50 % used`]);
    const [{ headers, raw, body }] = receiver.posts as [Posted];
    const [, time = '', signature = ''] =
      /^t=(\d+),v1=([0-9a-f]{64})$/.exec(`${headers['x-turnpike-signature']}`) ?? [];
    assert.equal(signature, createHmac('sha256', SECRET).update(`${time}.${raw}`).digest('hex'));
    const [{ kind, level, over, text }] = body.alerts as [JsonObject];
    assert.deepEqual({ kind, level, over }, { kind: 'budget', level: 50, over: false });
    assert.match(`${text}`, /50 % of the daily budget .*: 600 of 1200 quota\. It resets at 2026-09-29T00:00:00/);

    await spend(key, 20);
    await quietWhile();
    assert.equal(receiver.titles().length, 1, 'the same level');
    await spend(key, 525);
    await until(() => receiver.titles().length > 1);
    assert.deepEqual(receiver.titles().slice(1), [`${what}: 95 % used`]);
    // What is left is too little for a call: the budget is used up.
    assert.equal((await gateway.chat({ model: 'test-model', max_tokens: 300 }, { key })).status, 403);
    await until(() => receiver.titles().length > 2);
    assert.deepEqual(receiver.titles().slice(2), [`${what}: 100 % used`]);

    // The answer to the last message must have arrived: the time below passes in one piece.
    await quietWhile();
    await advanced(gateway, clock, 12 * HOUR_MS);
    await spend(key, 600);
    await until(() => receiver.titles().length > 3);
    assert.deepEqual(receiver.titles().slice(3), [`${what}: 50 % used`]);
  });

  it('tell those of departments, users, channels and the gateway', async () => {
    // In currency units: 500,000 quota each.
    const amount = 0.002;
    await start({
      levels: [90],
      budget: { gateway: amount, person: amount, channels: { main: amount, spare: amount } },
    });
    const ann = await member(gateway, 'ann', { units: 1_000_000 });
    const departments = gateway.host.use(Departments);
    const { id } = await departments.create({ name: 'Research', monthlyBudget: 1_000n * MICRO });
    await departments.place((await gateway.host.use(Accounts).findByName('ann'))!.id, id);
    const { key } = await ann.data('POST', '/api/token/', { name: 'ci', unlimited_quota: false, remain_quota: 1_000 });
    await spend(key, 900);
    await until(() => receiver.titles().length >= 5);
    assert.deepEqual([...receiver.titles()].sort(), [
      'Monthly amount of the channel "main": 90 % used',
      'Monthly amount of the gateway: 90 % used',
      'Monthly amount of the user ann: 90 % used',
      'Monthly budget of the department "Research": 90 % used',
      'Quota of the key "ci" of ann: 90 % used',
    ]);
  });

  it('reach the owner by email if the owner wants it', async () => {
    await start();
    const accounts = gateway.host.use(Accounts);
    for (const name of ['ann', 'bob']) {
      const person = await member(gateway, name, { units: 1_000_000 });
      const { id } = (await accounts.findByName(name))!;
      await accounts.change(id, { email: `${name}@example.com` });
      await (await signedIn(gateway, name)).data('PUT', '/api/user/setting', { [BUDGET_EMAILS]: name === 'ann' });
      const { key } = await (await signedIn(gateway, name)).data('POST', '/api/token/', {
        name: `key of ${name}`,
        limits: [{ model: 'test-model', monthly_budget: 1_000 }],
      });
      assert.ok(person);
      await spend(key, 500);
    }
    await until(() => smtp.letters.length > 0);
    const letter = smtp.letters[0];
    assert.deepEqual(letter?.to, ['ann@example.com']);
    assert.match(letter.text, /Monthly budget of the key "key of ann" of ann for "test-model": 50 % used/);
    await until(() => receiver.titles().length === 2);
    assert.equal(smtp.letters.length, 1);
    const boss = await root(gateway);
    const { events } = await boss.data('GET', '/api/alerts');
    const targets = events.map(({ deliveries }: { deliveries: { target: string }[] }) =>
      deliveries.map((each) => each.target),
    );
    assert.deepEqual(
      targets.sort((a: string[], b: string[]) => a.length - b.length),
      [['webhook'], ['owner', 'webhook']],
    );
  });
});

describe('alerts of conditions', () => {
  it('tell a channel whose circuit stays open, and when it works again', async () => {
    await start({ vendors: '5m' });
    vendor.next(...Array.from({ length: 5 }, () => errorAnswer(500)));
    for (let i = 0; i < 5; i++) await (await gateway.chat({ model: 'free-model' })).text();
    await quietWhile(4 * MINUTE_MS);
    assert.deepEqual(receiver.titles(), []);
    await until(() => receiver.titles().length > 0);
    assert.deepEqual(receiver.titles(), ['The channel "main" is failing']);
    const boss = await root(gateway);
    const { open } = await boss.data('GET', '/api/alerts');
    assert.deepEqual(
      open.map(({ subject, facts }: { subject: string; facts: object }) => [subject, facts]),
      [['vendor main', { about: 'circuit', name: 'main', minutes: 5, failure: 'status', status: 500 }]],
    );
    assert.match(await gateway.command('alerts list'), /vendor +The channel "main" is failing/);
    await quietWhile(5 * MINUTE_MS);
    assert.equal(receiver.titles().length, 1, 'told once');
    assert.equal((await gateway.chat({ model: 'free-model' })).status, 200);
    await until(() => receiver.titles().length > 1);
    assert.deepEqual(receiver.titles().slice(1), ['Over: The channel "main" is failing']);
    const after = await (await root(gateway)).data('GET', '/api/alerts');
    assert.deepEqual(after.open, []);
    assert.deepEqual([after.events[0].over, after.events[0].facts.about], [true, 'circuit']);
  });

  it('tell a key that a vendor refuses at once', async () => {
    await start();
    vendor.next(errorAnswer(401));
    await (await gateway.chat({ model: 'free-model' })).text();
    await until(() => receiver.titles().length > 0);
    assert.deepEqual(receiver.titles(), ['The key of the channel "main" is refused']);
  });
});

describe('delivery of alerts', () => {
  /** Something to tell: 90 % of a new key's budget. */
  async function happen(name: string): Promise<void> {
    const person = await signedIn(gateway, 'root');
    const { key } = await person.data('POST', '/api/token/', { name, limits: [{ daily_budget: 1_000 }] });
    await spend(key, 900);
  }

  it('is repeated until the target accepts it, and an outage is logged once', async () => {
    await start();
    receiver.answer = (response) => response.writeHead(503).end();
    await happen('a');
    await until(() => receiver.posts.length >= 3);
    await happen('b');
    const { targets } = await (await root(gateway)).data('GET', '/api/alerts');
    assert.match(targets[0].problem, /status 503/);
    receiver.answer = (response) => response.end();
    const failed = receiver.posts.length;
    await until(() => receiver.posts.length > failed);
    await quietWhile();
    const { alerts } = receiver.posts.at(-1)!.body as { alerts: { title: string }[] };
    assert.equal(alerts.length, 2, 'one message');
    assert.equal(receiver.posts.length, failed + 1);
    const lines = gateway.log.filter((line) => line.includes('alerts could not be delivered'));
    assert.equal(lines.length, 1);
    assert.ok(!gateway.log.some((line) => line.includes(receiver.url)), 'the URL is a secret');
  });

  it('to one target does not wait for another that hangs, nor does the stop of the gateway', async () => {
    const hanging = await Receiver.start();
    hanging.answer = () => {};
    const to = [hanging, receiver].map(({ url }, i) => ({ name: `target ${i}`, webhook: `${url}/hook` }));
    await start({ to });
    await happen('a');
    await until(() => receiver.titles().length === 1 && hanging.posts.length === 1);
    await stop();
    await hanging.stop();
  });

  it('waits for the end of the quiet time, and is grouped then', async () => {
    // Noon in UTC is 14:00 in Berlin in summer.
    await start({ quiet: '13:30-14:30', zone: 'Europe/Berlin' });
    await happen('a');
    await quietWhile();
    await happen('b');
    await quietWhile(25 * MINUTE_MS);
    assert.deepEqual(receiver.posts, []);
    const boss = await root(gateway);
    assert.deepEqual((await boss.data('GET', '/api/alerts')).quiet, { time: '13:30-14:30 Europe/Berlin', now: true });
    await until(() => receiver.posts.length > 0);
    assert.equal(clock.now() - NOON_MS >= 30 * MINUTE_MS, true);
    assert.equal(receiver.titles().length, 2);
    assert.equal(receiver.posts.length, 1);
  });

  it('goes on after a restart of the gateway, which tells nothing again', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'turnpike-alerts-'));
    try {
      await start({}, dir);
      await happen('a');
      await until(() => receiver.titles().length === 1);
      receiver.answer = (response) => response.writeHead(503).end();
      await happen('b');
      await until(() => receiver.posts.length > 1);
      await stop();
      const failed = receiver.posts.length;
      receiver.answer = (response) => response.end();
      await start({}, dir);
      await until(() => receiver.posts.length > failed);
      await quietWhile();
      assert.deepEqual(receiver.titles().slice(failed), ['Daily budget of the key "b" of root: 80 % used']);
    } finally {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('has the form of each chat service, and takes an error with status 200 for a failure', async () => {
    const bots = ['slack', 'feishu', 'dingtalk', 'wecom'];
    await start({ to: bots.map((type) => ({ [type]: `${receiver.url}/${type}`, secret: SECRET })) });
    const boss = await root(gateway);
    const results = await boss.data('POST', '/api/alerts/test');
    assert.deepEqual(
      results,
      bots.map((target) => ({ target, problem: null })),
    );
    const by = (type: string): Posted => receiver.posts.find(({ path }) => path.startsWith(`/${type}`))!;
    const text = /^Turnpike\nTest\nThis is a test/;
    assert.match(`${by('slack').body.text}`, text);
    const { msg_type, content, timestamp, sign } = by('feishu').body as Record<string, JsonObject & string>;
    assert.equal(msg_type, 'text');
    assert.match(`${content!.text}`, text);
    assert.equal(sign, createHmac('sha256', `${timestamp}\n${SECRET}`).digest('base64'));
    for (const type of ['dingtalk', 'wecom']) {
      const { msgtype, text: inner } = by(type).body as Record<string, JsonObject & string>;
      assert.equal(msgtype, 'text');
      assert.match(`${inner!.content}`, text);
    }
    const query = new URL(by('dingtalk').path, receiver.url).searchParams;
    const signed = createHmac('sha256', SECRET)
      .update(`${query.get('timestamp')}\n${SECRET}`)
      .digest('base64');
    assert.equal(query.get('sign'), signed);

    receiver.answer = (response) =>
      response.end('{"code":19021,"msg":"sign match fail","errcode":310000,"errmsg":"no"}');
    const failed = await boss.data('POST', '/api/alerts/test');
    assert.deepEqual(
      failed.map(({ problem }: { problem: string | null }) => problem),
      [
        null,
        'the service responded with code 19021: sign match fail',
        'the service responded with errcode 310000: no',
        'the service responded with errcode 310000: no',
      ],
    );
    assert.match(await gateway.command('alerts test'), /^slack: accepted\nfeishu: the service responded/);
    assert.equal(said(await (await signedIn(gateway, 'carl')).post('/api/alerts/test')), '403 role_insufficient');
  });
});
