/** A channel with several keys: which key a call gets, what happens to a key that the vendor refuses, and what belongs to one key. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { Catalog } from '../../../core/contracts/catalog.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type Answer, type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const KEYS = ['first-canary-3f81c2', 'second-canary-77aa01', 'third-canary-10dd42'] as const;
const [FIRST, SECOND, THIRD] = KEYS;
/** Longer than every pause of a key. */
const A_WHILE_MS = 120_000;

const limited = (seconds: number): Answer => errorAnswer(429, 'Too many requests.', { 'retry-after': String(seconds) });
const responseOf = (id: string): JsonObject => ({
  id,
  object: 'response',
  status: 'completed',
  model: 'm',
  error: null,
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }],
  usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 },
});

describe('a channel with several keys', () => {
  const clock = fakeClock();
  let vendor: FakeVendor;
  let spare: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    spare = await fakeVendor();
    const { pipeline } = defaultConfig([]) as { pipeline: string[] };
    gateway = await startGateway({
      clock,
      env: { SECOND },
      config: {
        pipeline: [...pipeline, 'passthrough', 'metrics'],
        channels: [
          {
            name: 'many',
            vendor: 'compatible',
            url: vendor.url,
            speaks: ['chat', 'responses', 'embeddings'],
            // biome-ignore lint/suspicious/noTemplateCurlyInString: filled in from the environment
            keys: [FIRST, '${SECOND}', '${NONE:-}', THIRD],
          },
          { name: 'spare', vendor: 'compatible', url: spare.url, key: 'spare-canary-55ee99', priority: 1 },
        ],
        models: {
          alone: { from: ['many'], free: true },
          safe: { from: ['many', 'spare'], free: true },
          vectors: { from: ['many'], free: true },
        },
        passthrough: [{ prefix: '/v1/files', channel: 'many', free: true }],
        responses: { keep: '1d' },
        listen: { host: '127.0.0.1', port: 0, attempts: { max: 5 } },
      },
    });
  });
  afterEach(() => {
    vendor.forget();
    clock.advance(A_WHILE_MS);
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
    await spare.close();
  });

  /** The keys of the requests that `calls` makes. */
  const keysOf = async (calls: () => Promise<unknown>): Promise<readonly string[]> => {
    const before = vendor.requests.length;
    await calls();
    return vendor.requests.slice(before).map(({ headers }) => headers.authorization!.replace('Bearer ', ''));
  };
  const chat = async (more: JsonObject = {}): Promise<number> => {
    const answer = await gateway.chat({ model: 'alone', ...more });
    await answer.text();
    return answer.status;
  };
  const post = (path: string, body: Record<string, Json>, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const status = () => gateway.host.use(Catalog).channels()[0]!;
  const states = () => status().keys.map(({ number, state }) => `${number} ${state}`);
  const saying = (text: string): JsonObject => ({ messages: [{ role: 'user', content: text }] });
  /** A first message whose conversation prefers the keys in this order. */
  const preferring = async (...order: readonly string[]): Promise<string> => {
    for (let i = 0; i < 200; i++) {
      const text = `Conversation ${i}`;
      vendor.next(...KEYS.map(() => limited(1)));
      const used = await keysOf(() => chat(saying(text)));
      clock.advance(A_WHILE_MS);
      if (order.every((key, at) => used[at] === key)) return text;
    }
    return assert.fail(`no conversation prefers ${order.join(', ')}`);
  };

  it('uses one key for a conversation, and all keys over many, without those that are empty', async () => {
    const used = await keysOf(async () => {
      for (let i = 0; i < 30; i++) {
        const turns = [{ role: 'user', content: `Question ${i}` }];
        assert.equal(await chat({ messages: turns }), 200);
        const more = [
          { role: 'assistant', content: 'Hi' },
          { role: 'user', content: 'And then?' },
        ];
        assert.equal(await chat({ messages: [...turns, ...more] }), 200);
      }
    });
    for (let i = 0; i < used.length; i += 2) assert.equal(used[i], used[i + 1]);
    for (const key of KEYS) assert.ok(used.filter((each) => each === key).length >= 8, `${key}: ${used.join(' ')}`);
    assert.deepEqual(states(), ['1 available', '2 available', '4 available']);
  });

  it('knows a conversation by its cache key, by the session of its client, or by its first message without cache marks', async () => {
    const [one, other] = [await preferring(FIRST), await preferring(SECOND)];
    const marked = (text: string, mark: JsonObject): JsonObject => ({
      messages: [{ role: 'user', content: [{ type: 'text', text, ...mark }] }],
    });
    const inSession = (session: string, text: string) =>
      keysOf(() =>
        post('/v1/chat/completions', { model: 'alone', ...saying(text) }, { 'x-session-affinity': session }),
      );
    const sameKey = async (...calls: readonly (() => Promise<readonly string[]>)[]): Promise<void> => {
      const used = new Set<string>();
      for (const call of calls) for (const key of await call()) used.add(key);
      assert.equal(used.size, 1, [...used].join(' '));
    };
    await sameKey(
      () => keysOf(() => chat({ ...saying(one), prompt_cache_key: 'thread-1' })),
      () => keysOf(() => chat({ ...saying(other), prompt_cache_key: 'thread-1' })),
    );
    await sameKey(
      () => inSession('s-1', one),
      () => inSession('s-1', other),
    );
    await sameKey(
      () => keysOf(() => chat(marked(one, {}))),
      () => keysOf(() => chat(marked(one, { cache_control: { type: 'ephemeral' } }))),
      () => keysOf(() => chat(saying(one))),
      () =>
        keysOf(() =>
          chat({ messages: [{ role: 'system', content: 'Be brief.' }, ...(saying(one).messages as Json[])] }),
        ),
    );
  });

  it('uses its keys in turn for calls that are no conversations', async () => {
    const used = await keysOf(async () => {
      for (let i = 0; i < 6; i++) {
        vendor.next(jsonAnswer(200, { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }] }));
        assert.equal((await post('/v1/embeddings', { model: 'vectors', input: 'x' })).status, 200);
      }
    });
    const start = KEYS.indexOf(used[0] as typeof FIRST);
    const turn = [0, 1, 2, 3, 4, 5].map((i) => KEYS[(start + i) % KEYS.length]);
    assert.deepEqual(used, turn);
  });

  it('uses its first key alone for a thread, which its vendor holds', async () => {
    const text = await preferring(SECOND);
    const used = await keysOf(() => chat({ ...saying(text), thread: { type: 'create' } }));
    assert.deepEqual(used, [FIRST]);
  });

  const sealedElsewhere = (): Answer =>
    jsonAnswer(400, {
      error: {
        message:
          'The encrypted content gAAA could not be verified. Reason: Encrypted content organization_id did not match the target organization.',
        type: 'invalid_request_error',
        code: 'invalid_encrypted_content',
      },
    });

  it('tries the other keys if reasoning was encrypted for another account, and pauses none', async () => {
    const text = await preferring(FIRST, THIRD);
    vendor.next(sealedElsewhere(), jsonAnswer(200, responseOf('resp_sealed')));
    const used = await keysOf(async () => {
      const answer = await post('/v1/responses', { model: 'alone', input: text });
      assert.equal(answer.status, 200);
    });
    assert.deepEqual(used, [FIRST, THIRD]);
    assert.deepEqual(states(), ['1 available', '2 available', '4 available']);
    vendor.next(sealedElsewhere(), sealedElsewhere(), sealedElsewhere());
    const refused = await post('/v1/responses', { model: 'alone', input: text });
    assert.equal(refused.status, 400);
    assert.equal(((await refused.json()) as { error: { code: string } }).error.code, 'invalid_encrypted_content');
  });

  it('answers 429 if the only key that can decrypt the reasoning is paused, so that the client tries again', async () => {
    const text = await preferring(FIRST);
    vendor.next(limited(20), sealedElsewhere(), sealedElsewhere());
    assert.equal((await post('/v1/responses', { model: 'alone', input: text })).status, 429);
    vendor.next(sealedElsewhere(), sealedElsewhere(), limited(15));
    const used = await keysOf(async () => {
      assert.equal((await post('/v1/responses', { model: 'alone', input: text })).status, 429);
    });
    assert.equal(used[2], FIRST);
  });

  for (const refusal of [401, 403]) {
    it(`pauses a key that gets ${refusal}, answers the call with the next one, and leaves the circuit closed`, async () => {
      const text = await preferring(SECOND, THIRD);
      vendor.next(errorAnswer(refusal), wholeAnswer());
      const used = await keysOf(async () => {
        for (let i = 0; i < 3; i++) assert.equal(await chat(saying(text)), 200);
      });
      assert.deepEqual(used, [SECOND, THIRD, THIRD, THIRD]);
      assert.deepEqual(states(), ['1 available', '2 refused', '4 available']);
      assert.equal(status().state, 'closed');
      clock.advance(A_WHILE_MS);
      assert.deepEqual(states(), ['1 available', '2 available', '4 available']);
    });
  }

  it('pauses a key that gets 429 for the time in retry-after, and the others go on', async () => {
    const text = await preferring(FIRST, SECOND);
    vendor.next(limited(20), wholeAnswer());
    assert.deepEqual(await keysOf(() => chat(saying(text))), [FIRST, SECOND]);
    const paused = status().keys[0]!;
    assert.deepEqual([paused.state, paused.untilMs], ['paused', clock.now() + 20_000]);
    clock.advance(19_000);
    assert.deepEqual(await keysOf(() => chat(saying(text))), [SECOND]);
    clock.advance(1_000);
    assert.deepEqual(await keysOf(() => chat(saying(text))), [FIRST]);
  });

  it('is skipped when all its keys are paused, and tried with the one that recovers first if there is no other channel', async () => {
    const text = await preferring(FIRST, SECOND, THIRD);
    vendor.next(limited(30), limited(10), limited(40));
    assert.equal(await chat({ model: 'safe', ...saying(text) }), 200);
    assert.equal(spare.requests.length, 1);
    assert.equal(status().state, 'open');
    assert.equal(status().untilMs, clock.now() + 10_000);
    assert.deepEqual(await keysOf(() => chat({ model: 'safe' })), []);
    clock.advance(1);
    assert.deepEqual(await keysOf(() => chat()), [SECOND]);
    assert.deepEqual(states(), ['1 paused', '2 available', '4 paused']);
  });

  it('is not tried with another key after a failure that concerns all of them', async () => {
    for (const failure of [500, 529]) {
      vendor.next(errorAnswer(failure));
      const before = spare.requests.length;
      const used = await keysOf(() => chat({ model: 'safe' }));
      assert.equal(used.length, 1, String(failure));
      assert.equal(spare.requests.length, before + 1);
    }
    // After the 529 the whole channel is paused.
    assert.equal(status().state, 'open');
  });

  it('continues a stored response with the key that made it, and reads and deletes it with that key', async () => {
    const input = await preferring(THIRD);
    vendor.next(jsonAnswer(200, responseOf('resp_one')));
    assert.deepEqual(await keysOf(() => post('/v1/responses', { model: 'alone', input })), [THIRD]);
    vendor.next(jsonAnswer(200, responseOf('resp_two')));
    const next = { model: 'alone', input: 'Two?', previous_response_id: 'resp_one' };
    assert.deepEqual(await keysOf(() => post('/v1/responses', next)), [THIRD]);
    assert.equal(vendor.requests.at(-1)!.json.previous_response_id, 'resp_one');
    vendor.next(jsonAnswer(200, {}));
    const deleted = await keysOf(() =>
      fetch(`${gateway.url}/v1/responses/resp_two`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${gateway.key}` },
      }),
    );
    assert.deepEqual(deleted, [THIRD]);
  });

  it('sends the whole conversation to another key if the one that made a response is paused', async () => {
    const question = await preferring(SECOND);
    vendor.next(jsonAnswer(200, responseOf('resp_kept')));
    await post('/v1/responses', { model: 'alone', input: question });
    vendor.next(errorAnswer(401), jsonAnswer(200, responseOf('resp_next')));
    const next = { model: 'alone', input: 'Two?', previous_response_id: 'resp_kept' };
    const used = await keysOf(() => post('/v1/responses', next));
    assert.equal(used[0], SECOND);
    assert.notEqual(used[1], SECOND);
    const { previous_response_id: previous, input } = vendor.requests.at(-1)!.json;
    assert.equal(previous ?? null, null);
    assert.match(JSON.stringify(input), new RegExp(`${question}.*Hi.*Two\\?`));
  });

  it('uploads files with its first key, and uses that key alone for calls that name a file', async () => {
    const used = await keysOf(async () => {
      for (let i = 0; i < 2; i++) {
        vendor.next(jsonAnswer(200, { id: 'file-1' }));
        assert.equal((await post('/v1/files', { purpose: 'batch' })).status, 200);
        const content = [{ type: 'file', file: { file_id: 'file-1' } }];
        assert.equal(await chat({ messages: [{ role: 'user', content }] }), 200);
      }
      vendor.next(limited(5));
      const content = [{ type: 'file', file: { file_id: 'file-1' } }];
      assert.equal(await chat({ messages: [{ role: 'user', content }] }), 429);
    });
    assert.deepEqual(used, [FIRST, FIRST, FIRST, FIRST, FIRST]);
  });

  it('names a key by its position in usage records and metrics, and its value nowhere', async () => {
    const text = await preferring(THIRD, FIRST);
    vendor.next(errorAnswer(401, `Incorrect API key: ${THIRD}`), wholeAnswer());
    assert.equal(await chat(saying(text)), 200);
    const [{ other }] = gateway.rows('SELECT other FROM usage_record ORDER BY id DESC LIMIT 1') as [{ other: string }];
    const attempts = (JSON.parse(other) as { attempts: readonly JsonObject[] }).attempts;
    assert.deepEqual(
      attempts.map(({ channel, key, failure }) => [channel, key, failure]),
      [
        ['many', 4, 'credential'],
        ['many', 1, undefined],
      ],
    );
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    const values = [...metrics.matchAll(/turnpike_channel_key_available\{channel="many",key="(\d)"\} (\d)/g)];
    assert.deepEqual(
      values.map(([, number, value]) => [number, value]),
      [
        ['1', '1'],
        ['2', '1'],
        ['4', '0'],
      ],
    );
    const seen = JSON.stringify([gateway.log, metrics, gateway.host.use(Catalog).channels(), other]);
    for (const key of KEYS) assert.ok(!seen.includes(key));
    assert.match(gateway.log.join('\n'), /a vendor does not accept the key of a channel.*many#4/);
  });
});

describe('the keys of a channel in gateway.yaml', () => {
  const started = (channel: JsonObject): Promise<TestGateway> =>
    startGateway({
      config: {
        channels: [{ name: 'many', vendor: 'compatible', url: 'http://127.0.0.1:9/v1', ...channel }],
        models: { alone: { from: ['many'], free: true } },
      },
    });

  it('are not written twice, nor beside `key`', async () => {
    await assert.rejects(started({ keys: [FIRST, SECOND, FIRST] }), /keys\[2\]: is the same key as number 1/);
    await assert.rejects(started({ key: FIRST, keys: [SECOND] }), /key: write either `key` or `keys`/);
  });

  it('turn the channel off if all of them are empty', async () => {
    const gateway = await started({ keys: ['', ''] });
    const channel = gateway.host.use(Catalog).channels()[0]!;
    await gateway.stop();
    assert.deepEqual([channel.on, channel.keys], [false, []]);
  });
});
