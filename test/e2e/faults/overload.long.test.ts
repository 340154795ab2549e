/** More work than there is money, room or time for: nobody gets more than was granted, whatever a vendor or a client makes up. */
import assert from 'node:assert/strict';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { type Balance, Ledger } from '../../../core/contracts/ledger.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { chatBody, chatEvent, chatEvents, DONE } from '../../kit/gateway/fixtures.ts';
import { startGateway, type TestGateway, type TestGatewayOptions } from '../../kit/gateway/gateway.ts';
import { debitLines, heldByCalls } from '../../kit/gateway/money.ts';
import { type UsageRow, usageRecords } from '../../kit/gateway/usage-records.ts';
import { closedPort, type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import {
  cutAt,
  errorAnswer,
  eventStream,
  hold,
  jsonAnswer,
  rst,
  type Script,
  silence,
  sized,
  streamAnswer,
  wholeAnswer,
} from '../../kit/vendors/script.ts';

/** One quota unit per output token, nothing for the input: what a call holds is the `max_tokens` it asks for. */
const PER_OUTPUT_TOKEN = { output: 2 };
const MICRO = 1_000_000n;

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The error's code; undefined in an answer. */
  readonly code: string | undefined;
}

/** A crowd: sends whatever it is given at the same time, over at most 200 connections. */
function crowd(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  return {
    ask(key: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
      const text = JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hello' }], ...body });
      return new Promise((resolve, reject) => {
        const asked = request({
          host: '127.0.0.1',
          port,
          agent,
          method: 'POST',
          path: '/v1/chat/completions',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
            ...headers,
          },
        });
        asked.on('error', reject);
        asked.on('response', (response) => {
          let received = '';
          response.setEncoding('utf8').on('data', (data: string) => {
            received += data;
          });
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: received,
              code: /"code":"([^"]*)"/.exec(received)?.[1],
            }),
          );
        });
        asked.end(text);
      });
    },
    leave: () => agent.destroy(),
  };
}

/** The newest balance of a kind: that of the customer who was made last. */
async function newestBalance({ host }: TestGateway, kind: 'account' | 'key'): Promise<Omit<Balance, 'unlimited'>> {
  const sql = 'SELECT MAX(owner) AS owner FROM bucket WHERE kind = ?';
  const { owner } = (await host.store.one<{ owner: number }>(sql, kind))!;
  const { granted, used, held } = (await host.use(Ledger).balance({ kind, owner }))!;
  return { granted, used, held };
}

function recordOf(gateway: TestGateway, reply: Pick<Reply, 'headers'>): UsageRow {
  const found = usageRecords(gateway.storeFile).filter(({ id }) => id === reply.headers['x-request-id']);
  assert.equal(found.length, 1, 'an answer has one record');
  return found[0]!;
}

/** A vendor and a gateway before it, for all tests of a `describe`. */
function together(options: () => TestGatewayOptions): {
  vendor: FakeVendor;
  gateway: TestGateway;
  all: ReturnType<typeof crowd>;
} {
  const parts = {} as { vendor: FakeVendor; gateway: TestGateway; all: ReturnType<typeof crowd> };
  before(async () => {
    parts.vendor = await fakeVendor();
    parts.gateway = await startGateway({ vendor: parts.vendor, ...options() });
    parts.all = crowd(parts.gateway.port);
  });
  after(async () => {
    parts.all.leave();
    await parts.gateway.stop();
    await parts.vendor.close();
  });
  return parts;
}

const oneModel = (price: object) => ({ 'test-model': { from: ['main'], price } });

describe('more calls than quota', () => {
  const parts = together(() => ({ config: { models: oneModel(PER_OUTPUT_TOKEN) } }));

  /** So many calls at once; the vendor answers none before each is either there or refused. */
  async function burst(key: string, calls: number, name: string, used: number): Promise<readonly Reply[]> {
    const { vendor, all } = parts;
    const before = vendor.requests.length;
    let refused = 0;
    const everybodyKnows = (): void => {
      if (vendor.requests.length - before + refused === calls) vendor.release(name);
    };
    vendor.always(() => {
      everybodyKnows();
      return [hold(name), ...wholeAnswer({ usage: { prompt: 3, completion: used } })];
    });
    return Promise.all(
      Array.from({ length: calls }, async () => {
        const reply = await all.ask(key, { max_tokens: 100 });
        if (reply.status !== 200) refused++;
        everybodyKnows();
        return reply;
      }),
    );
  }

  async function spendItAll(layer: 'account' | 'key', key: string, code: string): Promise<void> {
    const { vendor, gateway } = parts;
    // 1,000 quota are ten reservations; each call then uses 60 of its 100.
    for (const [i, { calls, served }] of [
      { calls: 2_000, served: 10 },
      { calls: 200, served: 4 },
      { calls: 200, served: 1 },
      { calls: 200, served: 1 },
      { calls: 200, served: 0 },
    ].entries()) {
      const before = vendor.requests.length;
      const replies = await burst(key, calls, `${layer} ${i}`, 60);
      assert.equal(replies.filter(({ status }) => status === 200).length, served);
      assert.equal(vendor.requests.length - before, served, 'the vendor saw those that were served, and no others');
      const refused = replies.filter(({ status }) => status !== 200);
      assert.deepEqual(
        new Set(refused.map((reply) => `${reply.status} ${reply.code} ${reply.headers['x-should-retry']}`)),
        new Set([`403 ${code} false`]),
      );
      const { granted, used, held } = await newestBalance(gateway, layer);
      assert.equal(held, 0n);
      assert.ok(used <= granted);
    }
    const { granted, used } = await newestBalance(gateway, layer);
    assert.equal(granted, 1_000n * MICRO);
    assert.equal(used, 16n * 60n * MICRO);
  }

  it('a key whose allowance covers ten of 2,000 parallel calls serves ten, and is never charged more than it had', async () => {
    const key = await parts.gateway.customer(1_000_000, 1_000);
    await spendItAll('key', key, 'QUOTA_TOKEN_INSUFFICIENT');
  });

  it('so does an account whose balance covers ten, with a key that has no limit of its own', async () => {
    const key = await parts.gateway.customer(1_000);
    await spendItAll('account', key, 'QUOTA_USER_INSUFFICIENT');
  });

  it('a credit can be spent by the very next call', async () => {
    const { vendor, gateway, all } = parts;
    vendor.always(wholeAnswer({ usage: { prompt: 3, completion: 100 } }));
    const key = await gateway.customer(0);
    const name = JSON.parse(await gateway.command('user list --json')).at(-1).username;
    assert.equal((await all.ask(key, { max_tokens: 100 })).code, 'QUOTA_USER_INSUFFICIENT');
    await gateway.command(`user credit ${name} 100`);
    assert.equal((await all.ask(key, { max_tokens: 100 })).status, 200);
    assert.equal((await all.ask(key, { max_tokens: 1 })).code, 'QUOTA_USER_INSUFFICIENT');
  });
});

describe('more calls than room', () => {
  const parts = together(() => ({ config: { models: oneModel(PER_OUTPUT_TOKEN), limits: { concurrent: 8 } } }));

  it('of 1,000 parallel calls eight are at the vendor, and the others are told to come again', async () => {
    const { vendor, gateway, all } = parts;
    const key = await gateway.customer(1_000_000);
    let refused = 0;
    const everybodyKnows = (): void => {
      if (vendor.requests.length + refused === 1_000) vendor.release('room');
    };
    vendor.always(() => {
      everybodyKnows();
      return [hold('room'), ...wholeAnswer()];
    });
    const replies = await Promise.all(
      Array.from({ length: 1_000 }, async () => {
        const reply = await all.ask(key, { max_tokens: 10 });
        if (reply.status !== 200) refused++;
        everybodyKnows();
        return reply;
      }),
    );
    assert.equal(vendor.maxInFlight, 8);
    assert.equal(replies.filter(({ status }) => status === 200).length, 8);
    assert.deepEqual(
      new Set(
        replies
          .filter(({ status }) => status !== 200)
          .map((reply) => `${reply.status} ${reply.code} ${reply.headers['retry-after']}`),
      ),
      new Set(['429 concurrency_limit_exceeded 1']),
    );
    assert.equal((await newestBalance(gateway, 'account')).held, 0n);
  });

  it('every place is free again, however the call in it ended', async () => {
    const { vendor, gateway, all } = parts;
    const key = await gateway.customer(1_000_000);
    const endings: readonly Script[] = [
      wholeAnswer(),
      errorAnswer(500),
      errorAnswer(400),
      [rst()],
      jsonAnswer(200, {}),
    ];
    for (const [i, ending] of endings.entries()) {
      const before = vendor.requests.length;
      vendor.always([hold(`ending ${i}`), ...ending]);
      const eight = Array.from({ length: 8 }, () => all.ask(key, { max_tokens: 10 }));
      await vendor.waitFor(before + 8);
      assert.equal((await all.ask(key, { max_tokens: 10 })).code, 'concurrency_limit_exceeded');
      vendor.release(`ending ${i}`);
      await Promise.all(eight);
    }
    // The last ending: eight clients that leave in the middle of their streams.
    const before = vendor.requests.length;
    vendor.always(eventStream([...chatEvents().slice(0, 3), silence()]));
    const leaving = new AbortController();
    const streams = Array.from({ length: 8 }, async () => {
      const response = await gateway.chat({ stream: true, max_tokens: 10 }, { key, signal: leaving.signal });
      await response.text().catch(() => {});
    });
    await vendor.waitFor(before + 8);
    assert.equal((await all.ask(key, { max_tokens: 10 })).code, 'concurrency_limit_exceeded');
    leaving.abort();
    await Promise.allSettled(streams);
    await vendor.waitFor(() => vendor.inFlight === 0);
    vendor.always(wholeAnswer());
    const eight = await Promise.all(Array.from({ length: 8 }, () => all.ask(key, { max_tokens: 10 })));
    assert.deepEqual(new Set(eight.map(({ status }) => status)), new Set([200]));
  });
});

describe('more calls than time', () => {
  const clock = fakeClock();
  const parts = together(() => ({
    clock,
    config: { models: oneModel(PER_OUTPUT_TOKEN), limits: { requestsPerMinute: 60 } },
  }));

  it('sixty requests a minute are sixty within any minute, to the millisecond', async () => {
    const { gateway, all } = parts;
    const key = await gateway.customer(1_000_000);
    const many = async (): Promise<Readonly<Record<string, number>>> => {
      const replies = await Promise.all(Array.from({ length: 100 }, () => all.ask(key, { max_tokens: 10 })));
      const counts: Record<string, number> = {};
      for (const { status, code, headers } of replies) {
        const what = status === 200 ? 'served' : `${status} ${code} after ${headers['retry-after']} s`;
        counts[what] = (counts[what] ?? 0) + 1;
      }
      return counts;
    };
    assert.deepEqual(await many(), { served: 60, '429 rate_limit_exceeded after 60 s': 40 });
    clock.advance(30_000);
    assert.deepEqual(await many(), { '429 rate_limit_exceeded after 30 s': 100 });
    clock.advance(29_999);
    assert.deepEqual(await many(), { '429 rate_limit_exceeded after 1 s': 100 });
    clock.advance(1);
    assert.deepEqual(await many(), { served: 60, '429 rate_limit_exceeded after 60 s': 40 });
  });
});

describe('a vendor that makes up what was used', () => {
  const parts = together(() => ({ config: { models: oneModel({ input: 1, output: 2 }) } }));

  /** What the vendor says was used, as JSON; and what becomes of it. */
  const inventions: readonly {
    readonly says: string;
    readonly usage: string | undefined;
    readonly charged: 'nothing' | 'our own count' | 'the whole hold' | bigint;
  }[] = [
    { says: 'minus one', usage: '{"prompt_tokens":-1,"completion_tokens":-1}', charged: 'our own count' },
    {
      says: 'minus a million',
      usage: '{"prompt_tokens":-1000000,"completion_tokens":-1e6}',
      charged: 'our own count',
    },
    {
      says: 'less than nothing of one kind',
      usage: '{"prompt_tokens":-50,"completion_tokens":7}',
      charged: 7n * MICRO,
    },
    { says: 'a token and a half', usage: '{"prompt_tokens":1.5,"completion_tokens":1.5}', charged: 3n * MICRO },
    { says: 'numbers as text', usage: '{"prompt_tokens":"12","completion_tokens":"12"}', charged: 'our own count' },
    {
      says: 'a milliard',
      usage: '{"prompt_tokens":1000000000,"completion_tokens":1000000000}',
      charged: 'the whole hold',
    },
    {
      says: 'more than 2^53',
      usage: '{"prompt_tokens":1e18,"completion_tokens":1000000000000000000}',
      charged: 'the whole hold',
    },
    {
      says: 'more than there are atoms',
      usage: '{"prompt_tokens":1e300,"completion_tokens":1e999}',
      charged: 'the whole hold',
    },
    { says: 'null', usage: 'null', charged: 'our own count' },
    { says: 'an empty object', usage: '{}', charged: 'our own count' },
    { says: 'a list', usage: '[1,2]', charged: 'our own count' },
    { says: 'a sentence', usage: '"plenty"', charged: 'our own count' },
    { says: 'nothing at all', usage: undefined, charged: 'our own count' },
    {
      says: 'more from the cache than there was',
      usage: '{"prompt_tokens":10,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":99999}}',
      charged: 12n * MICRO,
    },
    {
      says: 'a total that is no sum',
      usage: '{"prompt_tokens":10,"completion_tokens":7,"total_tokens":123456789}',
      charged: 12n * MICRO,
    },
  ];

  /** Asks, and looks at the hold while the vendor thinks. */
  async function askHeld(script: Script, stream: boolean): Promise<{ readonly reply: Reply; readonly held: bigint }> {
    const { vendor, gateway, all } = parts;
    const name = `invention ${vendor.requests.length}`;
    vendor.next([hold(name), ...script]);
    const asked = all.ask(gateway.key, { max_tokens: 50, ...(stream && { stream }) });
    await vendor.waitFor(() => vendor.requests.at(-1)?.holding === name);
    const { account: held } = await heldByCalls(gateway);
    vendor.release(name);
    return { reply: await asked, held: held! };
  }

  function checkCharge(reply: Reply, held: bigint, charged: (typeof inventions)[number]['charged']): void {
    const record = recordOf(parts.gateway, reply);
    assert.ok(record.charged >= 0n && record.charged <= held, `${record.charged} of ${held} were charged`);
    if (charged === 'our own count') {
      assert.ok(record.estimated && record.charged > 0n);
    } else {
      const amount = charged === 'nothing' ? 0n : charged === 'the whole hold' ? held : charged;
      assert.equal(record.charged, amount);
    }
    if (charged === 'the whole hold') {
      assert.ok(parts.gateway.log.some((line) => line.includes('usage anomaly') && line.includes(record.id)));
    }
  }

  for (const { says, usage, charged } of inventions) {
    it(`${says}: a whole answer is charged ${charged}`, async () => {
      const body = JSON.stringify({ ...chatBody({ usage: null }), ...(usage !== undefined && { usage: '@' }) });
      const script = sized(200, 'application/json', body.replace('"@"', usage ?? ''));
      const { reply, held } = await askHeld(script, false);
      assert.equal(reply.status, 200);
      checkCharge(reply, held, charged);
    });
    it(`${says}: a stream is charged ${charged}`, async () => {
      const events = chatEvents({ usage: null });
      const told = `data: {"object":"chat.completion.chunk","choices":[],"usage":${usage}}\n\n`;
      const script = eventStream([...events.slice(0, -1), ...(usage === undefined ? [] : [told]), DONE]);
      const { reply, held } = await askHeld(script, true);
      assert.ok(reply.text.endsWith(DONE));
      checkCharge(reply, held, charged);
    });
  }

  const usageEvent = (prompt: number, completion: number): string =>
    chatEvent({
      object: 'chat.completion.chunk',
      choices: [],
      usage: { prompt_tokens: prompt, completion_tokens: completion },
    });

  it('says it twice in one stream, and differently: the last word counts', async () => {
    const events = chatEvents({ usage: null }).slice(0, -1);
    const { reply, held } = await askHeld(eventStream([...events, usageEvent(90, 40), usageEvent(10, 7), DONE]), true);
    checkCharge(reply, held, 12n * MICRO);
  });

  it('says it, and goes on talking: what it said counts', async () => {
    const [role = '', ...events] = chatEvents({ usage: null });
    const { reply, held } = await askHeld(eventStream([role, usageEvent(10, 7), ...events]), true);
    checkCharge(reply, held, 12n * MICRO);
  });

  it('says something that is no JSON: nobody gets it, and nobody pays', async () => {
    const body = JSON.stringify(chatBody()).replace(/"usage":.*$/, '"usage":{"prompt_tokens":NaN}}');
    const { reply, held } = await askHeld(sized(200, 'application/json', body), false);
    assert.equal(reply.status, 502);
    checkCharge(reply, held, 'nothing');
  });
});

describe('ids that others make up', () => {
  const parts = together(() => ({ config: { models: oneModel({ input: 1, output: 2 }) } }));

  it('a hundred calls with one x-request-id are a hundred calls', async () => {
    const { vendor, gateway, all } = parts;
    vendor.always(wholeAnswer({ usage: { prompt: 10, completion: 7 } }));
    const key = await gateway.customer(1_000_000);
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => all.ask(key, { max_tokens: 10 }, { 'x-request-id': 'A' })),
    );
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.equal(new Set(replies.map(({ headers }) => headers['x-request-id'])).size, 100);
    const records = usageRecords(gateway.storeFile).filter(({ other }) => other.clientRequestId === 'A');
    assert.equal(records.length, 100);
    for (const { id, charged } of records) {
      assert.equal(charged, 12n * MICRO);
      assert.deepEqual(await debitLines(gateway, id), [`account ${12n * MICRO}`, `key ${12n * MICRO}`]);
    }
    assert.equal((await newestBalance(gateway, 'account')).used, 100n * 12n * MICRO);
  });

  it('a vendor that gives every answer the same id, an empty one, or a monstrous one, is charged for each', async () => {
    const { vendor, gateway, all } = parts;
    const key = await gateway.customer(1_000_000);
    const ids = ['same', 'same', 'same', '', '', 'x'.repeat(10_000), 'nul\u0000in it', 'sk-looks-like-a-key'];
    for (const id of ids) {
      vendor.always(wholeAnswer({ id, usage: { prompt: 10, completion: 7 } }));
      const reply = await all.ask(key, { max_tokens: 10 });
      assert.equal(reply.status, 200);
      assert.equal(recordOf(gateway, reply).charged, 12n * MICRO);
    }
    assert.equal((await newestBalance(gateway, 'account')).used, BigInt(ids.length) * 12n * MICRO);
  });
});

describe('what a failure costs', () => {
  const clock = fakeClock();
  let main: FakeVendor;
  let spare: FakeVendor;
  let gateway: TestGateway;
  let all: ReturnType<typeof crowd>;
  before(async () => {
    [main, spare] = [await fakeVendor(), await fakeVendor()];
    const channel = { vendor: 'compatible', key: 'a-key-of-a-vendor' };
    const price = { input: 1, output: 2 };
    gateway = await startGateway({
      clock,
      config: {
        channels: [
          { ...channel, name: 'main', url: main.url, timeout: { head: '10s' } },
          { ...channel, name: 'spare', url: spare.url, priority: 1 },
          { ...channel, name: 'nobody', url: `http://127.0.0.1:${await closedPort()}/v1` },
        ],
        models: {
          'test-model': { from: ['main'], price },
          'two-channels': { from: ['main', 'spare'], price },
          unreachable: { from: ['nobody'], price },
        },
      },
    });
    all = crowd(gateway.port);
  });
  after(async () => {
    all.leave();
    await gateway.stop();
    await main.close();
    await spare.close();
  });

  it('two attempts are one charge, for the one that answered', async () => {
    main.next(errorAnswer(500));
    spare.next(wholeAnswer({ usage: { prompt: 10, completion: 7 } }));
    const reply = await all.ask(gateway.key, { model: 'two-channels', max_tokens: 10 });
    assert.equal(reply.status, 200);
    const record = recordOf(gateway, reply);
    assert.deepEqual(
      record.attempts.map(({ channel }) => channel),
      ['main', 'spare'],
    );
    assert.equal(record.charged, 12n * MICRO);
    assert.deepEqual(await debitLines(gateway, record.id), [`account ${12n * MICRO}`, `key ${12n * MICRO}`]);
  });

  const beforeTheFirstWord: readonly (readonly [what: string, script: Script, stream: boolean])[] = [
    ['an error of the vendor', errorAnswer(500), false],
    ['a refusal of the vendor', errorAnswer(400), false],
    ['a reset', [rst()], false],
    ['half of a whole answer', cutAt(wholeAnswer(), -20), false],
    ['a stream that is reset before its first event', cutAt(streamAnswer(), 90), true],
    ['a stream that is an error', eventStream(['data: {"error":{"message":"no","code":"x"}}\n\n', DONE]), true],
  ];
  for (const [what, script, stream] of beforeTheFirstWord) {
    it(`${what} costs nothing, and gives back everything`, async () => {
      const key = await gateway.customer(10_000);
      // On a kept connection a reset would be taken for its old age, and the call made again.
      main.dropIdle();
      await main.waitFor(() => main.openConnections === 0);
      main.next(script);
      const reply = await all.ask(key, { max_tokens: 50, ...(stream && { stream }) });
      assert.notEqual(reply.status, 200);
      assert.equal(recordOf(gateway, reply).charged, 0n);
      assert.deepEqual(await newestBalance(gateway, 'account'), { granted: 10_000n * MICRO, used: 0n, held: 0n });
    });
  }

  it('a vendor that cannot be reached costs nothing', async () => {
    const reply = await all.ask(gateway.key, { model: 'unreachable', max_tokens: 50 });
    assert.equal(reply.status, 502);
    assert.equal(recordOf(gateway, reply).charged, 0n);
  });

  it('a vendor that never answers costs nothing', async () => {
    main.next([silence()]);
    const asked = all.ask(gateway.key, { max_tokens: 50 });
    await main.waitFor(() => main.inFlight === 1);
    clock.advance(11_000);
    const reply = await asked;
    assert.equal(reply.status, 504);
    assert.equal(recordOf(gateway, reply).charged, 0n);
  });

  it('a stream that breaks off is charged what was delivered of it, by our own count', async () => {
    const key = await gateway.customer(10_000);
    main.next(eventStream([...chatEvents().slice(0, 3), rst()]));
    const response = await gateway.chat({ stream: true, max_tokens: 50 }, { key });
    await response.text().catch(() => {});
    const id = response.headers.get('x-request-id') ?? '';
    const record = recordOf(gateway, { headers: { 'x-request-id': id } });
    assert.equal(record.outcome, 'failed');
    assert.ok(record.estimated);
    // "Hello from" is ten characters: three tokens.
    assert.equal(record.output, 3);
    const { used, held } = await newestBalance(gateway, 'account');
    assert.equal(used, record.charged);
    assert.equal(held, 0n);
    assert.ok(record.charged > 3n * MICRO && record.charged < 50n * MICRO);
  });
});
