/** Which vendor is asked, which one then, and when nobody is asked any more; seen by clients and vendors. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { definePlugin } from '../../../core/plugin.ts';
import { chat } from '../../../plugins/styles/chat/index.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { CHAT_DELTAS, CHAT_USAGE, chatEvents, DONE } from '../../kit/gateway/fixtures.ts';
import { startGateway, type TestGateway, type TestGatewayOptions, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type UsageRow, usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import {
  errorAnswer,
  eventStream,
  hold,
  htmlAnswer,
  rst,
  type Script,
  silence,
  streamAnswer,
  wholeAnswer,
} from '../../kit/vendors/script.ts';

/** A gateway with vendors of its own: the channels `main`, `spare`, `third` and `fourth`, tried in this order. */
interface Stand {
  readonly gateway: TestGateway;
  readonly vendors: readonly FakeVendor[];
  readonly clock: FakeClock;
  /** How often each vendor has been asked since the last `calm`. */
  readonly asked: readonly number[];
  /** Lets so much time pass that no channel is left alone any more. */
  calm(): void;
  /** The record of an answer. */
  recordOf(answer: Response): UsageRow;
  stop(): Promise<void>;
}

async function stand(
  count: number,
  configure: (channels: readonly Channel[]) => TestGatewayOptions['config'] = () => ({}),
  options: Omit<TestGatewayOptions, 'config'> = {},
): Promise<Stand> {
  const clock = fakeClock();
  const vendors = await Promise.all(Array.from({ length: count }, () => fakeVendor()));
  const channels = vendors.map(({ url }, i) => ({
    name: ['main', 'spare', 'third', 'fourth'][i]!,
    vendor: 'compatible',
    url,
    key: `${VENDOR_KEY}-${i}`,
    priority: i,
  }));
  const gateway = await startGateway({
    clock,
    vendor: vendors,
    ...options,
    config: {
      channels,
      models: { 'test-model': { from: channels.map(({ name }) => name), price: { input: 1, output: 2 } } },
      ...configure(channels),
    },
  }).catch(async (error: unknown) => {
    await Promise.all(vendors.map((vendor) => vendor.close()));
    throw error;
  });
  let known = vendors.map(() => 0);
  return {
    gateway,
    vendors,
    clock,
    get asked() {
      return vendors.map(({ requests }, i) => requests.length - known[i]!);
    },
    calm() {
      clock.advance(400_000);
      known = vendors.map(({ requests }) => requests.length);
    },
    recordOf(answer) {
      const id = answer.headers.get('x-request-id');
      const record = usageRecords(gateway.storeFile).find((candidate) => candidate.id === id);
      assert.ok(record !== undefined, `there is no record of ${id}`);
      return record;
    },
    async stop() {
      await gateway.stop();
      await Promise.all(vendors.map((vendor) => vendor.close()));
    },
  };
}

interface Channel {
  readonly name: string;
  readonly url: string;
  readonly [field: string]: unknown;
}

async function codeOf(answer: Response): Promise<string> {
  const { error } = (await answer.json()) as { readonly error: { readonly code: string } };
  return error.code;
}

/** What the price of so many currency units per million makes of the usual usage, in micro-quota. */
function cost(input: number, output: number): bigint {
  return BigInt(CHAT_USAGE.prompt * input + CHAT_USAGE.completion * output) * 500_000n;
}

describe('a call whose first channel fails', () => {
  let bench: Stand;
  before(async () => {
    bench = await stand(3);
  });
  after(() => bench.stop());
  beforeEach(() => bench.calm());

  const FAILURES: readonly (readonly [string, Script])[] = [
    ['has no money there', errorAnswer(402)],
    ['may not use the model there', errorAnswer(403)],
    ['finds no such model there', errorAnswer(404)],
    ['is told to come back later', errorAnswer(429)],
    ['finds it overloaded', errorAnswer(529)],
    ['gets a page of HTML', htmlAnswer(200)],
    ['gets nothing but a reset', [rst()]],
  ];
  for (const [how, failure] of FAILURES) {
    it(`because it ${how} is served by the next one, whole or streamed, and charged once`, async () => {
      const { gateway, vendors, recordOf } = bench;
      for (const stream of [false, true]) {
        vendors[0]!.next(failure);
        const answer = await gateway.chat({ stream });
        assert.equal(answer.status, 200);
        assert.equal((await answer.text()).includes(CHAT_DELTAS.at(-1)!), true);
        assert.equal(answer.headers.get('x-turnpike-channel'), 'spare');
        const record = recordOf(answer);
        assert.deepEqual(
          record.attempts.map((attempt) => [attempt.channel, attempt.failure !== undefined]),
          [
            ['main', true],
            ['spare', false],
          ],
        );
        assert.equal(record.charged, cost(1, 2));
        assert.deepEqual(bench.asked, [1, 1, 0]);
        bench.calm();
      }
    });
  }

  it('sends the next one its own key and the whole request again', async () => {
    const { gateway, vendors } = bench;
    vendors[0]!.next(errorAnswer(500));
    await (await gateway.chat({ seed: 7 })).text();
    for (const [i, { requests }] of vendors.slice(0, 2).entries()) {
      assert.equal(requests.at(-1)?.headers.authorization, `Bearer ${VENDOR_KEY}-${i}`);
      assert.equal(requests.at(-1)?.json.seed, 7);
    }
  });

  it('after the first byte ends there: no other channel is asked', async () => {
    const { gateway, vendors } = bench;
    vendors[0]!.next(eventStream([...chatEvents().slice(0, 3), rst()]));
    const answer = await gateway.chat({ stream: true });
    let text = '';
    await assert.rejects(async () => {
      for await (const chunk of answer.body!) text += Buffer.from(chunk).toString();
    });
    assert.doesNotMatch(text, /error/);
    assert.equal(text.includes(DONE), false);
    assert.equal(answer.headers.get('x-turnpike-channel'), 'main');
    assert.deepEqual(bench.asked, [1, 0, 0]);
    assert.equal(bench.recordOf(answer).outcome, 'failed');
  });

  it('with the word of the vendor that the request is wrong hears exactly that, and nobody else is asked', async () => {
    const { gateway, vendors } = bench;
    vendors[0]!.next(errorAnswer(400, 'Too many images.'));
    const answer = await gateway.chat({});
    assert.equal(answer.status, 400);
    assert.equal(((await answer.json()) as { error: { message: string } }).error.message, 'Too many images.');
    assert.deepEqual(bench.asked, [1, 0, 0]);
    assert.equal(bench.recordOf(answer).charged, 0n);
  });

  it('because the vendor does not take our key gets 502 in the end, and never learns why', async () => {
    const { gateway, vendors } = bench;
    for (const vendor of vendors) vendor.next(errorAnswer(401, `Incorrect API key provided: ${VENDOR_KEY}.`));
    const answer = await gateway.chat({});
    const text = await answer.text();
    assert.equal(answer.status, 502);
    assert.equal(text.includes('upstream_error') && !text.includes('key'), true, text);
    assert.deepEqual(
      bench.recordOf(answer).attempts.map(({ channel, status, failure }) => [channel, status, failure]),
      ['main', 'spare', 'third'].map((name) => [name, 401, 'credential']),
    );
    assert.deepEqual(
      ['main', 'spare', 'third'].filter((name) =>
        gateway.log.some((line) => line.includes('does not accept the key') && line.includes(`"${name}"`)),
      ),
      ['main', 'spare', 'third'],
    );
  });

  it('because all are at their limit hears when to come back, but never later than in a minute', async () => {
    const { gateway, vendors } = bench;
    for (const vendor of vendors) vendor.next(errorAnswer(429, 'Slow down.', { 'retry-after': '3600' }));
    const answer = await gateway.chat({});
    assert.equal(answer.status, 429);
    assert.equal(answer.headers.get('retry-after'), '60');
    assert.equal(answer.headers.get('retry-after-ms'), '60000');
    assert.equal(await codeOf(answer), 'vendor_429');
    assert.deepEqual(bench.asked, [1, 1, 1]);
  });
});

describe('how often is tried', () => {
  it('is three times, with as many channels as there may be, or what `listen.attempts.max` says', async () => {
    for (const [max, asked] of [
      [undefined, [1, 1, 1, 0]],
      [2, [1, 1, 0, 0]],
    ] as const) {
      const listen = { host: '127.0.0.1', port: 0, ...(max && { attempts: { max } }) };
      const bench = await stand(4, () => ({ listen }));
      try {
        for (const vendor of bench.vendors) vendor.next(errorAnswer(500));
        const answer = await bench.gateway.chat({});
        assert.equal(answer.status, 502);
        assert.equal(await codeOf(answer), 'upstream_error');
        assert.deepEqual(bench.asked, asked);
      } finally {
        await bench.stop();
      }
    }
  });

  it('depends on the time that is left: `timeout.total` is for all attempts together', async () => {
    const timeout = { head: '3s', total: '5s' };
    const bench = await stand(3, (channels) => ({ channels: channels.map((channel) => ({ ...channel, timeout })) }));
    try {
      const { gateway, vendors, clock } = bench;
      for (const vendor of vendors.slice(0, 2)) vendor.next([silence()]);
      const answer = gateway.chat({});
      await vendors[0]!.waitFor(1);
      clock.advance(3_100);
      await vendors[1]!.waitFor(1);
      clock.advance(2_000);
      assert.equal((await answer).status, 504);
      assert.equal(await codeOf(await answer), 'upstream_timeout');
      assert.deepEqual(bench.asked, [1, 1, 0]);
      for (const vendor of vendors.slice(0, 2)) await vendor.waitFor(() => vendor.requests[0]?.state === 'aborted');
    } finally {
      await bench.stop();
    }
  });

  it('is less when many have to try again: ten at a time, or a fifth of all', async () => {
    const bench = await stand(2);
    try {
      const { gateway, vendors } = bench;
      const [main, spare] = vendors as [FakeVendor, FakeVendor];
      main.always([hold('together'), ...errorAnswer(500)]);
      spare.always([hold('spare'), ...wholeAnswer()]);
      const calls = Array.from({ length: 12 }, () => gateway.chat({}));
      await main.waitFor(12);
      main.release('together');
      const done: number[] = [];
      for (const call of calls) void call.then(({ status }) => done.push(status));
      await spare.waitFor(10);
      // The two that may not try again are through before anybody else is.
      await Promise.race(calls);
      spare.release('spare');
      const answers = await Promise.all(calls);
      assert.deepEqual(done.slice(0, 2), [502, 502]);
      assert.equal(answers.filter(({ status }) => status === 200).length, 10);
      assert.equal(spare.requests.length, 10);
      const refused = answers.filter(({ status }) => status === 502).map((answer) => bench.recordOf(answer));
      assert.deepEqual(
        refused.map(({ other }) => other.retries),
        ['retry budget used up', 'retry budget used up'],
      );
    } finally {
      await bench.stop();
    }
  });
});

describe('which channel is asked first', () => {
  it('is the one of the lowest priority number as long as it is well', async () => {
    const bench = await stand(3, (channels) => ({
      channels: channels.map((channel, i) => ({ ...channel, priority: 2 - i, weight: 1 + 1_000 * (2 - i) })),
    }));
    try {
      for (let i = 0; i < 5; i++) await (await bench.gateway.chat({})).text();
      assert.deepEqual(bench.asked, [0, 0, 5]);
    } finally {
      await bench.stop();
    }
  });

  it('depends on the key among those of one priority: always the same for one, by weight over many', async () => {
    const bench = await stand(2, (channels) => ({
      channels: channels.map((channel, i) => ({ ...channel, priority: 0, weight: i === 0 ? 3 : 1 })),
    }));
    try {
      const { gateway } = bench;
      const keys = await Promise.all(
        Array.from({ length: 80 }, (_, i) => gateway.command(`key create --name key-${i}`)),
      );
      const channelFor = async (key: string) => (await gateway.chat({}, { key })).headers.get('x-turnpike-channel');
      const first = await Promise.all(keys.map(channelFor));
      const again = await Promise.all(keys.map(channelFor));
      assert.deepEqual(again, first);
      const share = first.filter((name) => name === 'main').length;
      assert.ok(share >= 50 && share <= 70, `${share} of 80 went to the channel of weight 3, beside one of weight 1`);
    } finally {
      await bench.stop();
    }
  });
});

describe('a model that has a fallback', () => {
  const MODELS = {
    large: { from: [{ main: 'vendor-large' }], fallback: ['small'], price: { input: 10, output: 20 } },
    small: { from: [{ spare: 'vendor-small' }], price: { input: 1, output: 2 } },
    plain: { from: ['main'], price: { input: 1, output: 2 } },
    backed: { from: ['main'], fallback: ['large'], price: { input: 1, output: 2 } },
    best: { alias: 'large' },
    'the very best': { alias: 'best' },
  };
  let bench: Stand;
  before(async () => {
    bench = await stand(2, () => ({ models: MODELS }));
  });
  after(() => bench.stop());
  beforeEach(() => bench.calm());

  it('is served and charged as itself while it can be had', async () => {
    const answer = await bench.gateway.chat({ model: 'large' });
    assert.equal(answer.headers.get('x-turnpike-channel'), 'main');
    assert.equal(bench.recordOf(answer).charged, cost(10, 20));
    assert.equal(bench.vendors[0]!.requests.at(-1)?.json.model, 'vendor-large');
  });

  it('is served by its fallback where it fails, at the price of that, and the answer says by which channel', async () => {
    for (const stream of [false, true]) {
      bench.vendors[0]!.next(errorAnswer(500));
      const answer = await bench.gateway.chat({ model: 'large', stream });
      await answer.text();
      assert.equal(answer.headers.get('x-turnpike-channel'), 'spare');
      const record = bench.recordOf(answer);
      assert.deepEqual([record.model, record.channel, record.charged], ['large', 'spare', cost(1, 2)]);
      assert.equal(bench.vendors[1]!.requests.at(-1)?.json.model, 'vendor-small');
    }
  });

  it('is set aside at the price of the dearest that may serve', async () => {
    // 1,000 tokens of output cost 1,000 quota there, and 10,000 with the fallback.
    const key = await bench.gateway.customer(5_000);
    const request = { max_tokens: 1_000 };
    assert.equal((await bench.gateway.chat({ model: 'plain', ...request }, { key })).status, 200);
    // What is left pays fewer tokens of the fallback, so the vendor is told that limit.
    const limited = await bench.gateway.chat({ model: 'backed', ...request }, { key });
    assert.equal(limited.status, 200);
    assert.match(limited.headers.get('x-turnpike-translation') ?? '', /max_tokens:changed/);
  });

  it('is found behind its aliases, and by the vendor under its own name', async () => {
    for (const model of ['best', 'the very best']) {
      const answer = await bench.gateway.chat({ model });
      assert.equal(answer.status, 200);
      assert.equal(bench.recordOf(answer).charged, cost(10, 20));
      assert.equal(bench.vendors[0]!.requests.at(-1)?.json.model, 'vendor-large');
    }
  });

  it('never leaves the scope of a key: the fallback is not for it', async () => {
    const { gateway, vendors } = bench;
    const key = await gateway.command('key create --name narrow --models large');
    vendors[0]!.next(errorAnswer(500), errorAnswer(500));
    const answer = await gateway.chat({ model: 'large' }, { key });
    assert.equal(answer.status, 502);
    assert.deepEqual(bench.asked, [1, 0]);
    const both = await gateway.command('key create --name wide --models large,small');
    assert.equal((await gateway.chat({ model: 'large' }, { key: both })).status, 200);
    assert.deepEqual(bench.asked, [2, 1]);
  });

  it('is all that a key for it sees, in the list and in calls; its aliases are it', async () => {
    const { gateway } = bench;
    const key = await gateway.command('key create --name narrow --models large');
    const headers = { authorization: `Bearer ${key}` };
    const list = await fetch(`${gateway.url}/v1/models`, { headers });
    const { data } = (await list.json()) as { readonly data: readonly { readonly id: string }[] };
    assert.deepEqual(
      data.map(({ id }) => id),
      ['large', 'best', 'the very best'],
    );
    for (const model of ['large', 'best', 'the very best']) {
      assert.equal((await gateway.chat({ model }, { key })).status, 200);
      assert.equal((await fetch(`${gateway.url}/v1/models/${encodeURIComponent(model)}`, { headers })).status, 200);
    }
    const refused = await gateway.chat({ model: 'small' }, { key });
    assert.equal(refused.status, 403);
    assert.equal(await codeOf(refused), 'model_not_allowed');
    assert.equal((await fetch(`${gateway.url}/v1/models/small`, { headers })).status, 404);
    assert.deepEqual(bench.asked, [3, 0]);
  });
});

describe('a model that answers on some styles only', () => {
  it('is refused on the others with 404, and the words say where it answers', async () => {
    const other = { ...chat, name: 'other', ingress: { ...chat.ingress!, path: '/v1/other' } };
    const dialect = { path: '/elsewhere', headers: () => ({}) };
    const plugin = definePlugin({
      name: 'bilingual',
      api: 2,
      create: () => ({
        styles: [other],
        vendors: [{ name: 'bilingual', keyless: true, speaks: { chat: dialect, other: dialect } }],
      }),
    });
    const bench = await stand(
      1,
      (channels) => ({
        channels: channels.map(({ url }) => ({ name: 'main', vendor: 'bilingual', url })),
        models: {
          picky: { from: ['main'], only: ['other'], free: true },
          open: { from: ['main'], free: true },
          backed: { from: ['main'], only: ['chat'], fallback: ['picky'], free: true },
        },
      }),
      { plugins: [plugin] },
    );
    try {
      const { gateway, vendors } = bench;
      vendors[0]!.always(wholeAnswer());
      const ask = (path: string, model: string): Promise<Response> =>
        fetch(`${gateway.url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello?' }] }),
        });
      for (const [path, model] of [
        ['/v1/other', 'picky'],
        ['/v1/other', 'open'],
        ['/v1/chat/completions', 'open'],
        ['/v1/chat/completions', 'backed'],
      ] as const) {
        assert.equal((await ask(path, model)).status, 200, `${model} at ${path}`);
      }
      const refused = await ask('/v1/chat/completions', 'picky');
      const { error } = (await refused.json()) as { readonly error: Readonly<Record<string, string>> };
      assert.deepEqual([refused.status, error.code, error.param], [404, 'model_not_found', 'model']);
      assert.match(error.message!, /POST \/v1\/other/);
      // A fallback that answers elsewhere is none here.
      vendors[0]!.next(errorAnswer(500));
      assert.equal((await ask('/v1/chat/completions', 'backed')).status, 502);
      assert.equal(vendors[0]!.requests.length, 5);
    } finally {
      await bench.stop();
    }
  });
});

describe('a channel that keeps failing', () => {
  let bench: Stand;
  before(async () => {
    bench = await stand(2);
  });
  after(() => bench.stop());
  beforeEach(() => bench.calm());

  const call = async (): Promise<string | null> => {
    const answer = await bench.gateway.chat({});
    await answer.text();
    assert.equal(answer.status, 200);
    return answer.headers.get('x-turnpike-channel');
  };
  const failFiveTimes = async (): Promise<void> => {
    bench.vendors[0]!.next(...Array.from({ length: 5 }, () => errorAnswer(500)));
    for (let i = 0; i < 5; i++) assert.equal(await call(), 'spare');
    assert.deepEqual(bench.asked, [5, 5]);
  };

  it('is not asked any more after five times, until ten seconds or so have passed', async () => {
    await failFiveTimes();
    bench.clock.advance(7_900);
    for (let i = 0; i < 10; i++) assert.equal(await call(), 'spare');
    assert.deepEqual(bench.asked, [5, 15]);
    bench.clock.advance(4_200);
    assert.equal(await call(), 'main');
  });

  it('is then asked by one call alone, and by all again when that is answered', async () => {
    await failFiveTimes();
    bench.clock.advance(12_100);
    bench.vendors[0]!.next([hold('probe'), ...wholeAnswer()]);
    const probe = call();
    await bench.vendors[0]!.waitFor(() => bench.vendors[0]!.inFlight === 1);
    assert.deepEqual(await Promise.all(Array.from({ length: 10 }, call)), Array(10).fill('spare'));
    bench.vendors[0]!.release('probe');
    assert.equal(await probe, 'main');
    assert.deepEqual(await Promise.all(Array.from({ length: 10 }, call)), Array(10).fill('main'));
    assert.deepEqual(bench.asked, [16, 15]);
  });

  it('is left alone for twice as long when that one fails, too', async () => {
    await failFiveTimes();
    bench.clock.advance(12_100);
    bench.vendors[0]!.next(errorAnswer(500));
    assert.equal(await call(), 'spare');
    bench.clock.advance(15_900);
    assert.equal(await call(), 'spare');
    assert.equal(bench.asked[0], 6);
    bench.clock.advance(8_200);
    assert.equal(await call(), 'main');
  });

  it('is asked all the same where there is no other, so that it is noticed when it is well', async () => {
    const alone = await stand(1);
    try {
      alone.vendors[0]!.next(...Array.from({ length: 7 }, () => errorAnswer(500)));
      for (let i = 0; i < 7; i++) assert.equal((await alone.gateway.chat({})).status, 502);
      assert.equal((await alone.gateway.chat({})).status, 200);
      assert.deepEqual(alone.asked, [8]);
    } finally {
      await alone.stop();
    }
  });

  it('is not one that a client has made fail', async () => {
    bench.vendors[0]!.next(...Array.from({ length: 8 }, () => errorAnswer(400)));
    for (let i = 0; i < 8; i++) assert.equal((await bench.gateway.chat({})).status, 400);
    assert.equal(await call(), 'main');
  });

  it('rests for as long as its vendor asks when it is at its limit', async () => {
    bench.vendors[0]!.next(errorAnswer(429, 'Slow down.', { 'retry-after': '20' }));
    assert.equal(await call(), 'spare');
    bench.clock.advance(19_900);
    assert.equal(await call(), 'spare');
    assert.equal(bench.asked[0], 1);
    bench.clock.advance(200);
    assert.equal(await call(), 'main');
  });
});

describe('the connections to a vendor', () => {
  let bench: Stand;
  beforeEach(async () => {
    bench = await stand(2);
  });
  afterEach(() => bench.stop());

  it('are used again: many calls in turn go over one, whole and streamed', async () => {
    const { gateway, vendors } = bench;
    for (let i = 0; i < 40; i++) {
      const answer = await gateway.chat({ stream: i % 2 === 1 });
      assert.equal((await answer.text()).length > 0, true);
    }
    assert.equal(vendors[0]!.requests.length, 40);
    assert.equal(vendors[0]!.connections, 1);
  });

  it('are as many as calls run at a time, and no more when as many run again', async () => {
    const { gateway, vendors } = bench;
    vendors[0]!.always((request) => [hold(`round-${request.json.seed}`), ...wholeAnswer()]);
    for (const seed of [1, 2, 3]) {
      const calls = Array.from({ length: 10 }, () => gateway.chat({ seed }));
      await vendors[0]!.waitFor(10 * seed);
      assert.equal(vendors[0]!.inFlight, 10);
      vendors[0]!.release(`round-${seed}`);
      for (const answer of await Promise.all(calls)) await answer.text();
    }
    assert.equal(vendors[0]!.connections, 10);
  });

  it('may die as they are used: the call goes out again on a fresh one, and nobody is blamed', async () => {
    const { gateway, vendors } = bench;
    // Every connection dies with its second request.
    const used = new Set<number>();
    vendors[0]!.always((request) => {
      if (used.has(request.connection)) return [rst()];
      used.add(request.connection);
      return request.json.stream === true ? streamAnswer() : wholeAnswer();
    });
    for (let i = 0; i < 8; i++) {
      const answer = await gateway.chat({ stream: i % 2 === 1 });
      await answer.text();
      assert.equal(answer.headers.get('x-turnpike-channel'), 'main');
      const { attempts, charged } = bench.recordOf(answer);
      assert.deepEqual(
        attempts.map(({ channel, failure }) => [channel, failure]),
        [['main', undefined]],
      );
      assert.equal(charged, cost(1, 2));
    }
    assert.equal(vendors[0]!.connections, 8);
    assert.deepEqual(bench.asked, [15, 0]);
    assert.deepEqual(
      gateway.log.filter((line) => line.includes('circuit opened')),
      [],
    );
  });

  it('may be closed while nobody uses them: the next call opens another', async () => {
    const { gateway, vendors } = bench;
    await (await gateway.chat({})).text();
    vendors[0]!.dropIdle();
    await vendors[0]!.waitFor(() => vendors[0]!.openConnections === 0);
    const answer = await gateway.chat({});
    assert.equal(answer.status, 200);
    assert.equal(bench.recordOf(answer).attempts.length, 1);
    assert.deepEqual(bench.asked, [2, 0]);
  });
});

describe('names in any script', () => {
  const MODELS = {
    'größe/小型-モデル': { from: [{ main: 'anbieter/模型:ü' }], price: { input: 1, output: 2 } },
    '🦊': { alias: 'größe/小型-モデル' },
    plain: { from: ['main'], free: true },
  };
  let bench: Stand;
  before(async () => {
    bench = await stand(1, () => ({ models: MODELS }));
  });
  after(() => bench.stop());

  it('are names of models like any other, with the vendor, in the list and in the books', async () => {
    const { gateway, vendors } = bench;
    const headers = { authorization: `Bearer ${gateway.key}` };
    for (const model of ['größe/小型-モデル', '🦊']) {
      const answer = await gateway.chat({ model });
      assert.equal(answer.status, 200);
      assert.equal(vendors[0]!.requests.at(-1)?.json.model, 'anbieter/模型:ü');
      assert.equal(bench.recordOf(answer).model, model);
      const one = await fetch(`${gateway.url}/v1/models/${encodeURIComponent(model)}`, { headers });
      assert.equal(((await one.json()) as { readonly id: string }).id, model);
    }
  });

  it('are told in a refusal as they were sent', async () => {
    const answer = await bench.gateway.chat({ model: 'größe/中型' });
    assert.equal(answer.status, 404);
    assert.match(((await answer.json()) as { error: { message: string } }).error.message, /größe\/中型/);
  });

  it('are nobody’s where they are only those of members that every object has', async () => {
    for (const model of ['__proto__', 'constructor', 'toString']) {
      const answer = await bench.gateway.chat({ model });
      assert.equal(answer.status, 404, model);
      assert.equal(await codeOf(answer), 'model_not_found');
    }
  });

  it('are names of people, keys and scopes, and passwords, too', async () => {
    const { gateway } = bench;
    await gateway.command('user create --name Анна --role member --password-stdin', 'пароль 密码 🔑 pässwort');
    await gateway.command('user credit Анна 1000000');
    const key = await gateway.command('key create --name ключ --user Анна --models größe/小型-モデル');
    assert.equal((await gateway.chat({ model: '🦊' }, { key })).status, 200);
    const refused = await gateway.chat({ model: 'plain' }, { key });
    assert.equal(refused.status, 403);
    assert.match(((await refused.json()) as { error: { message: string } }).error.message, /ключ/);
  });
});
