import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, type Visitor, visitor } from '../../kit/console/console.ts';
import { isOfThisRun } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { fin, sized } from '../../kit/vendors/script.ts';

const json = (status: number, body: object) => sized(status, 'application/json', JSON.stringify(body));

let vendor: FakeVendor;
let spare: FakeVendor;
let gateway: TestGateway;
let adam: Visitor;

before(async () => {
  vendor = await fakeVendor();
  spare = await fakeVendor();
  const upstream = { vendor: 'compatible', url: vendor.url, key: VENDOR_KEY };
  gateway = await startGateway({
    vendor,
    config: {
      pipeline: [...CONSOLE_PIPELINE, 'vendors/anthropic', 'vendors/gemini'],
      console: PATIENT,
      channels: [
        { ...upstream, name: 'main', weight: 3 },
        { ...upstream, name: 'spare', url: spare.url, priority: 1 },
        { ...upstream, name: 'claude', vendor: 'anthropic' },
        { ...upstream, name: 'gem', vendor: 'gemini' },
        { ...upstream, name: 'vectors', speaks: ['embeddings'] },
        { ...upstream, name: 'pictures', speaks: ['images'] },
        { ...upstream, name: 'lost', key: '' },
        { ...upstream, name: 'sick', url: spare.url },
        { name: 'demo', vendor: 'demo' },
      ],
      models: {
        talker: { from: [{ main: 'talker-2' }, 'spare'], fallback: ['thinker'], price: { input: 1, output: 2 } },
        other: { alias: 'talker' },
        thinker: { from: ['claude'], free: true },
        gemma: { from: ['gem'], free: true },
        embedder: { from: ['vectors'], free: true },
        painter: { from: ['pictures'], free: true },
        ailing: { from: ['sick'], free: true },
        demo: { from: ['demo'], free: true },
      },
    },
    env: ROOT_ENV,
  });
  adam = await member(gateway, 'adam', { role: 'admin' });
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
  await spare?.close();
});

interface Shown {
  readonly name: string;
  readonly [member: string]: unknown;
}
const channel = async (name: string): Promise<Shown> =>
  (await adam.data('GET', '/api/vendor/')).find((each: Shown) => each.name === name);
const test = (name: string, body?: object) => adam.data('POST', `/api/vendor/${name}/test`, body);

describe('channels', () => {
  it('are shown as they are configured and as they do', async () => {
    const all: readonly Shown[] = await adam.data('GET', '/api/vendor/');
    assert.deepEqual(
      all.map(({ name }) => name),
      ['main', 'spare', 'claude', 'gem', 'vectors', 'pictures', 'lost', 'sick', 'demo'],
    );
    const { recent, ...main } = all[0]!;
    const { since, ...counts } = recent as { readonly since: number };
    assert.ok(isOfThisRun(since * 1_000), 'counting began with the process');
    assert.deepEqual(counts, {
      attempts: 0,
      failures: 0,
      success_share: null,
      p50_first_byte_ms: null,
      p95_first_byte_ms: null,
      last_success_at: 0,
    });
    assert.deepEqual(main, {
      name: 'main',
      vendor: 'compatible',
      on: true,
      weight: 3,
      priority: 0,
      state: 'closed',
      open_until: 0,
      last_failure: null,
      keys: [{ number: 1, state: 'available', until: 0 }],
      models: [{ name: 'talker', model: 'talker-2', state: 'closed', failures: 0 }],
    });
    const lost = await channel('lost');
    assert.deepEqual([lost.on, lost.models], [false, []]);
  });

  it('that fail are left alone for a while, and the last failure is told', async () => {
    spare.always(json(500, { error: { message: 'boom' } }));
    for (let i = 0; i < 5; i++) {
      const { last_failure: last, models } = await channel('sick');
      assert.equal(last === null, i === 0);
      assert.equal((models as { failures: number }[])[0]?.failures, i);
      assert.ok((await gateway.chat({ model: 'ailing' })).status >= 500, 'it fails');
    }
    const sick = await channel('sick');
    const { kind, status, at } = sick.last_failure as { kind: string; status: number; at: number };
    assert.deepEqual([sick.state, kind, status], ['open', 'status', 500]);
    assert.ok(isOfThisRun(at * 1_000), 'it was just now');
    assert.ok(Number(sick.open_until) > at && Number(sick.open_until) < at + 60, `until ${sick.open_until}`);
    assert.equal((sick.last_failure as Shown).message, 'It could not answer (status 500).');
    const { attempts, failures, success_share: share } = sick.recent as Shown;
    assert.deepEqual([attempts, failures, share], [5, 5, 0]);
    assert.deepEqual((sick.models as Shown[])[0], { name: 'ailing', model: 'ailing', state: 'open', failures: 5 });
  });

  it('are shown with neither key nor address, whatever is asked [T-SEC-08]', async () => {
    vendor.next(json(401, { error: { message: `Incorrect API key provided: ${VENDOR_KEY} at ${vendor.url}` } }));
    const answers = [
      await adam.post('/api/vendor/main/test', {}),
      await adam.get('/api/vendor/'),
      await adam.get('/api/vendor'),
      await adam.get('/api/vendor/routes'),
      await adam.get('/api/pricing'),
      await adam.get('/api/status'),
    ];
    for (const { status, text, headers } of answers) {
      assert.equal(status, 200, text);
      for (const secret of [VENDOR_KEY, '127.0.0.1', `${vendor.port}`, `${spare.port}`]) {
        assert.ok(!`${text}${JSON.stringify([...headers])}`.includes(secret), `${secret} is in ${text}`);
      }
    }
  });

  it('are for administrators', async () => {
    const ann = await member(gateway, 'ann');
    for (const [method, path] of [
      ['get', '/api/vendor/'],
      ['get', '/api/vendor/routes'],
      ['post', '/api/vendor/main/test'],
    ] as const) {
      assert.equal((await ann[method](path)).status, 403, path);
      assert.equal((await visitor(gateway)[method](path)).status, 401, path);
      const withKey = visitor(gateway, { authorization: `Bearer ${gateway.key}` });
      assert.equal((await withKey[method](path)).status, 401, path);
    }
  });
});

describe('what the last day was like', () => {
  it('is counted by channel: what was answered, what failed, and how soon', async () => {
    const before = (await channel('claude')).recent as { attempts: number };
    for (const status of [200, 400, 503]) {
      const body = status === 200 ? { type: 'message', role: 'assistant', content: [], usage: {} } : {};
      vendor.next(json(status, body));
      await (await gateway.chat({ model: 'thinker', max_tokens: 10 })).text();
    }
    const { recent } = (await channel('claude')) as unknown as { recent: Record<string, number> };
    assert.deepEqual(
      [recent.attempts! - before.attempts, recent.failures, recent.success_share],
      [2, 1, 0.5],
      'what the vendor calls wrong says nothing about it',
    );
    assert.ok(
      recent.p50_first_byte_ms! > 0 && recent.p95_first_byte_ms! >= recent.p50_first_byte_ms!,
      'it took a while',
    );
    assert.ok(isOfThisRun(recent.last_success_at! * 1_000), 'it was just now');
  });
});

describe('routes', () => {
  it('say where each model goes and what it costs', async () => {
    const routes: readonly Shown[] = await adam.data('GET', '/api/vendor/routes');
    const talker = {
      model: 'talker',
      free: false,
      channels: [
        { channel: 'main', model: 'talker-2', priority: 0, weight: 3 },
        { channel: 'spare', model: 'talker', priority: 1, weight: 1 },
      ],
      fallback: ['thinker'],
      price: { free: false, input: '1', output: '2', text: 'input 1, output 2 per million tokens' },
    };
    assert.deepEqual(
      routes.filter(({ model }) => model === 'talker'),
      [
        { name: 'talker', ...talker },
        { name: 'other', ...talker },
      ],
    );
  });
});

describe('a test of a channel', () => {
  it('asks as calls do, in the words of its vendor, with its key, and little', async () => {
    const asked: readonly (readonly [string, string, string, string])[] = [
      ['main', '/v1/chat/completions', 'authorization', 'talker'],
      ['claude', '/v1/messages', 'x-api-key', 'thinker'],
      ['gem', '/v1/models/gemma:generateContent', 'x-goog-api-key', 'gemma'],
      ['vectors', '/v1/embeddings', 'authorization', 'embedder'],
    ];
    for (const [name, path, header, model] of asked) {
      vendor.next(json(200, { fine: true }));
      const { latency_ms: latency, ...said } = await test(name);
      assert.deepEqual(said, { success: true, model, status: 200, message: 'It answers.' }, name);
      assert.ok(Number.isInteger(latency) && latency >= 0, `${latency} ms`);
      const request = vendor.requests.at(-1)!;
      assert.deepEqual([request.method, request.path], ['POST', path]);
      assert.ok(request.headers[header]?.includes(VENDOR_KEY), 'with the key');
      assert.ok(request.body.length < 400, request.body.toString());
    }
    const [chat, messages, gemini] = vendor.requests.slice(-4).map((request) => request.json);
    assert.deepEqual(chat, { model: 'talker-2', messages: [{ role: 'user', content: 'Say: ok' }], max_tokens: 16 });
    assert.deepEqual([messages?.model, messages?.max_tokens], ['thinker', 16]);
    assert.deepEqual(gemini?.contents, [{ role: 'user', parts: [{ text: 'Say: ok' }] }]);
  });

  it('asks for the list of models where that is all there is to ask', async () => {
    vendor.next(json(200, { data: [] }));
    assert.deepEqual(
      [(await test('pictures')).success, vendor.requests.at(-1)?.method, vendor.requests.at(-1)?.path],
      [true, 'GET', '/v1/models'],
    );
  });

  it('asks the model that is named, by any of its names', async () => {
    for (const model of ['talker', 'other']) {
      vendor.next(json(200, {}));
      assert.deepEqual(
        [(await test('main', { model })).model, vendor.requests.at(-1)?.json.model],
        ['talker', 'talker-2'],
      );
    }
    const wrong = [
      ['main', 'thinker', 404, 'model_not_found'],
      ['main', 'no-such-model', 404, 'model_not_found'],
      ['nowhere', undefined, 404, 'channel_not_found'],
      ['main', 7, 400, 'invalid_request_error'],
    ] as const;
    for (const [name, model, status, code] of wrong) {
      const answer = await adam.post(`/api/vendor/${name}/test`, { model });
      assert.deepEqual([answer.status, answer.body.code], [status, code], `${name} ${model}`);
    }
    assert.equal((await adam.post('/api/vendor/main/test', { model: 'talker', url: 'http://x' })).status, 400);
  });

  it('says in our own words what is wrong', async () => {
    const refusals = [
      [401, /does not accept the key/],
      [402, /no credit/],
      [404, /does not have this model/],
      [429, /overloaded/],
      [418, /refused/],
      [503, /failed/],
    ] as const;
    for (const [status, message] of refusals) {
      vendor.next(json(status, { error: { message: 'canary' } }));
      const said = await test('main');
      assert.deepEqual([said.success, said.status], [false, status]);
      assert.match(said.message, message);
    }
    vendor.next(sized(200, 'text/html', '<html>'));
    assert.match((await test('main')).message, /not JSON/);
    vendor.next([fin()]);
    const gone = await test('main');
    assert.deepEqual([gone.success, gone.status, gone.message], [false, 0, 'The vendor did not respond.']);
    assert.match((await test('lost')).message, /key is empty/);
  });

  it('changes nothing of how the channel is judged', async () => {
    assert.equal((await channel('main')).last_failure, null);
    assert.equal((await channel('main')).state, 'closed');
  });
});
