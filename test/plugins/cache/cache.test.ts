/** The plugin `cache`: the same request gets the same answer, in every style and at its price, and only of its own account. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { ContentPart } from '../../../core/plugin.ts';
import { AnswerCollector, partsOf } from '../../../core/translation/index.ts';
import { repeatableAnswer } from '../../../plugins/cache/index.ts';
import { KIND_NAMES, modelOf, openStand, type Stand } from '../../clients/stand.ts';
import { CLIENTS, type ClientName } from '../../e2e/faults/style-clients.ts';
import { replyOf } from '../../kit/conversations/conversations.ts';
import fc from '../../kit/fast-check.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, type TestGatewayOptions, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import type { Scenario } from '../../kit/speech.ts';
import { type Answer, type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { SCENARIOS, SPEECHES, says, speechAt } from '../../kit/vendors/scenarios.ts';
import { errorAnswer, eventStream, inPieces, jsonAnswer } from '../../kit/vendors/script.ts';

const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[];
const USAGE = { input: 1_000, cached: 0, output: 500, reasoning: 0 };

/** The client's question in other words, with temperature 0. */
function saying(client: ClientName, text: string): JsonObject {
  const said: JsonObject = client === 'responses' ? { input: text } : { messages: [{ role: 'user', content: text }] };
  return { ...said, temperature: 0 };
}

describe('an answer from the cache', () => {
  let stand: Stand;
  let other: string;
  before(async () => {
    stand = await openStand(0, {
      ship: ['pseudonyms', 'cache'],
      config: {
        cache: { ttl: '1h', price: 0.1 },
        pseudonyms: { lists: [{ kind: 'NAME', words: ['Ann', 'Bob'] }] },
      },
      price: { input: 1_000, output: 2_000 },
    });
    other = await stand.gateway.customer(1_000_000_000);
  });
  after(() => stand?.stop());

  async function ask(client: ClientName, body: JsonObject, key = stand.key) {
    const { path, headers } = CLIENTS[client];
    const count = stand.vendor.requests.length;
    const response = await fetch(stand.root + path, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const { stream, whole } = CLIENTS[client];
    return {
      understood: body.stream === true ? stream(text) : whole(JSON.parse(text) as JsonObject),
      state: response.headers.get('x-turnpike-cache'),
      id: response.headers.get('x-request-id')!,
      requests: stand.vendor.requests.slice(count),
    };
  }

  /** A vendor whose stream comes in pieces of so many bytes. */
  function next(scenario: Scenario, size: number): void {
    stand.vendor.next((request) => {
      const speech = SPEECHES[speechAt(request.path)];
      const isStream = request.path.includes(':stream') || request.json.stream === true;
      if (!isStream) return jsonAnswer(200, speech.whole(scenario, request.json));
      return inPieces(eventStream(speech.events(scenario, request.json)), size);
    });
  }

  it('is the first one, whichever styles client and vendor use, whole or streamed, however that was cut', async () => {
    let question = 0;
    const client = fc.constantFrom(...CLIENT_NAMES);
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(client, fc.boolean()),
        fc.tuple(client, fc.boolean()),
        fc.constantFrom(...KIND_NAMES),
        fc.array(fc.constantFrom('Hello', ' ', 'Zü', '👋', '\n', '"'), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 40 }),
        async (first, second, kind, text, size) => {
          question++;
          stand.vendor.forget();
          const body = ([name, isStream]: readonly [ClientName, boolean]): JsonObject => ({
            ...CLIENTS[name].ask(modelOf(kind)),
            ...saying(name, `Question ${question}`),
            ...(isStream && CLIENTS[name].streamed),
          });
          next({ text: ['It is ', ...text], end: 'stop', usage: USAGE }, size);
          const asked = await ask(first[0], body(first));
          assert.deepEqual([asked.state, asked.requests.length], ['miss', 1]);
          assert.equal(asked.understood.text, ['It is ', ...text].join(''));
          const again = await ask(second[0], body(second));
          assert.deepEqual([again.state, again.requests.length], ['hit', 0]);
          assert.deepEqual(again.understood, asked.understood);

          next({ text: ['Yours.'], end: 'stop', usage: USAGE }, size);
          const others = await ask(second[0], body(second), other);
          assert.deepEqual([others.state, others.understood.text], ['miss', 'Yours.']);
        },
      ),
      { numRuns: 60, endOnFailure: true },
    );
  });

  for (const client of CLIENT_NAMES) {
    it(`costs a ${client} client its part of the price, and is a call in the usage records`, async () => {
      const body = { ...CLIENTS[client].ask(modelOf(client)), ...saying(client, 'What does it cost?') };
      next({ text: ['So much.'], end: 'stop', usage: USAGE }, 9);
      const ids = [await ask(client, body), await ask(client, { ...body, ...CLIENTS[client].streamed })].map(
        ({ id }) => id,
      );
      const [first, second] = ids.map(
        (id) =>
          stand.gateway.rows(
            `SELECT CAST(charged AS TEXT) AS charged, input, output, other FROM usage_record WHERE id = '${id}'`,
          )[0]!,
      );
      assert.ok(BigInt(String(first!.charged)) > 0n);
      assert.equal(BigInt(String(second!.charged)) * 10n, BigInt(String(first!.charged)));
      assert.deepEqual([second!.input, second!.output], [first!.input, first!.output]);
      const other = JSON.parse(String(second!.other)) as JsonObject;
      assert.deepEqual([other.answeredBy, other.priceFactor], ['cache', 0.1]);
    });
  }

  it('has the personal data of its own request, which was not kept', async () => {
    next({ text: ['Hello [NAME_1]!'], end: 'stop', usage: USAGE }, 3);
    const body = (name: string) => ({ ...CLIENTS.chat.ask(modelOf('chat')), ...saying('chat', `I am ${name}.`) });
    assert.equal((await ask('chat', body('Ann'))).understood.text, 'Hello Ann!');
    const bob = await ask('chat', { ...body('Bob'), ...CLIENTS.chat.streamed });
    assert.deepEqual([bob.state, bob.understood.text], ['hit', 'Hello Bob!']);
  });

  it('can be continued as a stored response', async () => {
    const body = { ...CLIENTS.responses.ask(modelOf('chat')), ...saying('responses', 'Who are you?') };
    next({ text: ['A model.'], end: 'stop', usage: USAGE }, 9);
    await ask('responses', body);
    const response = await fetch(`${stand.v1}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stand.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(response.headers.get('x-turnpike-cache'), 'hit');
    const { id } = (await response.json()) as { readonly id: string };
    next({ text: ['Yes.'], end: 'stop', usage: USAGE }, 9);
    const later = await ask('responses', { ...body, previous_response_id: id, input: 'Really?' });
    assert.equal(later.state, 'miss');
    assert.match(later.requests[0]!.body.toString(), /Who are you\?.*A model\..*Really\?/s);
  });
});

interface StartOptions extends Omit<TestGatewayOptions, 'vendor'> {
  readonly answer?: Answer;
}

describe('the plugin cache', () => {
  let gateway: TestGateway;
  let vendor: FakeVendor;
  let stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    const running = stops;
    stops = [];
    for (const stop of running) await stop();
  });

  async function start(
    cache: JsonObject | undefined,
    { answer = says(SCENARIOS.text, { key: VENDOR_KEY }), ...more }: StartOptions = {},
  ): Promise<void> {
    vendor = await fakeVendor(answer);
    stops = [() => vendor.close()];
    const pipeline =
      'accounts auth counters keys limits cache prices quota models styles vendors/compatible vendors/demo log';
    gateway = await startGateway({
      vendor,
      ...more,
      config: { pipeline: pipeline.split(' '), ...(cache && { cache }), ...more.config },
    });
    stops.unshift(() => gateway.stop());
  }

  /** Whether a chat call is answered from the cache; undefined: it is not looked for. */
  async function ask(more: JsonObject = {}, headers: Readonly<Record<string, string>> = {}) {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...CLIENTS.chat.ask('test-model'), ...saying('chat', 'Hello?'), ...more }),
    });
    await response.text();
    return response.headers.get('x-turnpike-cache') ?? undefined;
  }
  async function twice(more: JsonObject = {}, headers?: Readonly<Record<string, string>>) {
    return [await ask(more, headers), await ask(more, headers)];
  }

  it('has no part in any call without its section', async () => {
    await start(undefined);
    assert.deepEqual(await twice(), [undefined, undefined]);
    assert.equal(vendor.requests.length, 2);
  });

  it('keeps an answer for as long as configured', async () => {
    const clock = fakeClock();
    await start({ ttl: '1h' }, { clock });
    assert.deepEqual(await twice(), ['miss', 'hit']);
    clock.advance(3_599_000);
    assert.equal(await ask(), 'hit');
    clock.advance(2_000);
    assert.deepEqual(await twice(), ['miss', 'hit']);
  });

  it('drops the answer that was not requested longest if there is no room', async () => {
    await start({ ttl: '1h', maxBytes: '700b' });
    assert.deepEqual(await twice({ seed: 1 }), ['miss', 'hit']);
    assert.deepEqual(await twice({ seed: 2 }), ['miss', 'hit']);
    assert.deepEqual(await twice({ seed: 3 }), ['miss', 'hit']);
    assert.equal(await ask({ seed: 3 }), 'hit');
    assert.equal(await ask({ seed: 1 }), 'miss');
  });

  it('makes no difference between whole and streamed, orders of members and ways to say the same', async () => {
    await start({ ttl: '1h' });
    assert.equal(await ask({ metadata: { a: '1', b: '2' } }), 'miss');
    assert.equal(await ask({ metadata: { b: '2', a: '1' }, stream: true }), 'hit');
    assert.equal(
      await ask({ metadata: { b: '2', a: '1' }, stream: true, stream_options: { include_usage: true } }),
      'hit',
    );
    for (const more of [{ metadata: { a: '2' } }, { seed: 1 }, { max_tokens: 17 }, { top_p: 0.5 }, { user: 'ann' }])
      assert.equal(await ask(more), 'miss', JSON.stringify(more));
    assert.equal(await ask({ metadata: { a: '1', b: '2' } }, { 'anthropic-beta': 'new-2026-01-01' }), 'miss');
  });

  it('keeps only what is determined by the request, unless all calls are configured', async () => {
    await start({ ttl: '1h' });
    assert.deepEqual(await twice({ temperature: 0.5 }), [undefined, undefined]);
    assert.deepEqual(await twice({ temperature: null }), [undefined, undefined]);
    assert.deepEqual(await twice({ n: 2 }), [undefined, undefined]);
    assert.deepEqual(await twice({ tools: [{ type: 'web_search' }] }), [undefined, undefined]);
    const part = { type: 'image_url', image_url: { url: 'https://example.com/a.png', frame: 2 } };
    assert.deepEqual(await twice({ messages: [{ role: 'user', content: [part] }] }), [undefined, undefined]);
    const image = `data:image/png;base64,${'A'.repeat(1_100_000)}`;
    const large = { type: 'image_url', image_url: { url: image } };
    assert.deepEqual(await twice({ messages: [{ role: 'user', content: [large] }] }), [undefined, undefined]);
  });

  it('keeps answers to calls with any temperature if all are configured, of the keys and models that are', async () => {
    await start({ ttl: '1h', calls: 'all', models: ['test-*'] });
    assert.deepEqual(await twice({ temperature: 0.5 }), ['miss', 'hit']);
    assert.deepEqual(await twice({ temperature: null }), ['miss', 'hit']);
    assert.deepEqual(await twice({ model: 'free-model' }), [undefined, undefined]);
  });

  it('does what the client says in `cache-control`', async () => {
    await start({ ttl: '1h' });
    assert.deepEqual(await twice({}, { 'cache-control': 'no-store' }), [undefined, undefined]);
    assert.deepEqual(await twice({}, { 'cache-control': 'max-age=0, No-Cache' }), ['miss', 'miss']);
    assert.equal(await ask(), 'hit');
  });

  it('keeps no answer that is cut off, refused, or failed', async () => {
    await start({ ttl: '1h' });
    for (const scenario of [{ ...SCENARIOS.text, end: 'length' }, SCENARIOS.refusal] as const) {
      for (const stream of [true, false]) {
        const ending = says(scenario, { key: VENDOR_KEY });
        vendor.next(ending, ending);
        assert.deepEqual(await twice({ stream }), ['miss', 'miss'], scenario.end);
      }
    }
    vendor.next(jsonAnswer(400, { error: { message: 'No.', type: 'invalid_request_error' } }));
    assert.deepEqual(await twice(), ['miss', 'miss']);
    assert.equal(await ask(), 'hit');
  });

  it('gives calls of tools again', async () => {
    await start({ ttl: '1h' });
    vendor.next(says(SCENARIOS.calls, { key: VENDOR_KEY }));
    const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }];
    assert.deepEqual(await twice({ tools }), ['miss', 'hit']);
  });

  it('keeps no answer of a fallback, which has another price', async () => {
    await start(
      { ttl: '1h' },
      {
        answer: (request) => {
          if (request.json.model === 'test-model') return errorAnswer(500);
          const answer = says(SCENARIOS.text, { key: VENDOR_KEY });
          return typeof answer === 'function' ? answer(request) : answer;
        },
        config: {
          models: {
            'test-model': { from: ['main'], price: { input: 1, output: 2 }, fallback: ['other'] },
            other: { from: ['main'], price: { input: 5, output: 6 } },
            same: { alias: 'other' },
          },
        },
      },
    );
    assert.deepEqual(await twice(), ['miss', 'miss']);
    assert.deepEqual(await twice({ model: 'same' }), ['miss', 'hit']);
  });

  it('costs nothing if no price is configured for it, and its usage is recorded', async () => {
    await start({ ttl: '1h' });
    await twice();
    const rows = gateway.rows('SELECT CAST(charged AS TEXT) AS charged, input FROM usage_record ORDER BY id');
    assert.deepEqual(
      rows.map(({ charged }) => BigInt(String(charged)) > 0n),
      [true, false],
    );
    assert.equal(rows[0]?.input, rows[1]?.input);
  });

  it('says in `turnpike explain` that it may answer, and keeps nothing of that call', async () => {
    await start({ ttl: '1h' });
    const body = { ...CLIENTS.chat.ask('test-model'), ...saying('chat', 'Hello?') };
    const told = await gateway.command(`explain --key ${gateway.key} --style chat --body -`, JSON.stringify(body));
    assert.match(told, /may answer from the cache/);
    assert.equal(await ask(), 'miss');
  });
});

describe('an answer that is collected', () => {
  it('is given up if it is longer than all answers may be together', () => {
    const reply = replyOf([{ type: 'text', text: 'Hello' }]);
    for (const [most, isKept] of [
      [5, true],
      [4, false],
    ] as const) {
      const collector = new AnswerCollector(most, true);
      for (const part of partsOf(reply)) collector.part(part as ContentPart);
      assert.equal(repeatableAnswer(collector) !== undefined, isKept);
    }
  });
});
