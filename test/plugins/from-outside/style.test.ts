/** A style from outside the checkout whose clients name the model and the method in the path. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { definePlugin, type Style } from '../../../core/plugin.ts';
import { chat } from '../../../plugins/styles/chat/index.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { outsideFolder } from './outside-kit.ts';

const ASKED = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };

describe('a style from outside the checkout with parameters in its path', () => {
  let place: ReturnType<typeof outsideFolder>;
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    place = outsideFolder();
    vendor = await fakeVendor();
    const { pipeline } = defaultConfig([vendor]) as { pipeline: string[] };
    gateway = await startGateway({
      vendor,
      config: {
        pipeline: [...pipeline, join(place.dir, 'vendors/generate.ts')],
        models: {
          'test-model': { from: ['main'], price: { input: 1, output: 2 } },
          'team/test': { from: [{ main: 'test-model' }], free: true },
        },
      },
    });
  });
  afterEach(() => vendor.forget());
  after(async () => {
    await gateway.stop();
    await vendor.close();
    place.remove();
  });

  const post = (target: string, body: object = ASKED, key = gateway.key): Promise<Response> =>
    fetch(`${gateway.url}/v1beta/models/${target}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const refused = async (response: Response) => {
    const { error } = (await response.json()) as { error: JsonObject };
    return [response.status, error.code, error.status];
  };

  it('serves whole replies, and charges for them', async () => {
    const response = await post('test-model:generateContent');
    const { candidates, usageMetadata } = (await response.json()) as {
      candidates: [{ content: { parts: [{ text: string }] }; finishReason: string }];
      usageMetadata: JsonObject;
    };
    assert.equal(response.status, 200);
    assert.equal(candidates[0].content.parts[0].text, 'Hello from the vendor.');
    assert.equal(candidates[0].finishReason, 'STOP');
    const { model, input, outcome, charged } = usageRecords(gateway.storeFile).at(-1)!;
    assert.deepEqual([model, input, outcome], ['test-model', usageMetadata.promptTokenCount, 'served']);
    assert.ok(charged > 0n);
    assert.deepEqual(vendor.requests.at(-1)?.json.messages, [{ role: 'user', content: 'Hi' }]);
  });

  it('serves streams, which the method and the query request', async () => {
    const response = await post('test-model:streamGenerateContent?alt=sse');
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    const events = (await response.text()).trim().split('\n\n');
    const replies = events.map((event) => JSON.parse(event.replace(/^data: /, '')));
    const text = replies.map(({ candidates }) => candidates[0].content.parts[0]?.text ?? '').join('');
    assert.equal(text, 'Hello from the vendor.');
    assert.equal(replies.at(-1).candidates[0].finishReason, 'STOP');
    assert.equal(vendor.requests.at(-1)?.json.stream, true);
  });

  it('decodes parameters: the name of a model may contain a slash', async () => {
    assert.equal((await post('team%2Ftest:generateContent')).status, 200);
    assert.equal(vendor.requests.at(-1)?.json.model, 'test-model');
  });

  it('names what the vendor was not told', async () => {
    const response = await post('test-model:generateContent', {
      ...ASKED,
      generationConfig: { seed: 7 },
      cachedContent: 'c',
    });
    assert.equal(
      response.headers.get('x-turnpike-translation'),
      'generationConfig.seed:dropped, cachedContent:dropped',
    );
  });

  it('writes every error on its path in its own format', async () => {
    const bad = { contents: 'Hi' };
    assert.deepEqual(await refused(await post('test-model:generateContent', bad)), [400, 400, 'INVALID_REQUEST_ERROR']);
    assert.deepEqual(await refused(await post('test-model:embedContent')), [404, 404, 'NOT_FOUND']);
    assert.deepEqual(await refused(await post('nothing:generateContent')), [404, 404, 'MODEL_NOT_FOUND']);
    assert.deepEqual(await refused(await post('test-model:streamGenerateContent')), [
      400,
      400,
      'INVALID_REQUEST_ERROR',
    ]);
    assert.deepEqual(await refused(await post('test-model:generateContent', ASKED, 'sk-wrong')), [
      401,
      401,
      'INVALID_API_KEY',
    ]);
  });

  it('leaves the other methods of the path to the routes there', async () => {
    const list = await fetch(`${gateway.url}/v1beta/models/test-model`, { headers: { 'x-goog-api-key': gateway.key } });
    assert.equal(((await list.json()) as JsonObject).name, 'models/test-model');
    const put = await fetch(`${gateway.url}/v1beta/models/test-model`, { method: 'PUT' });
    assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, HEAD, POST, OPTIONS']);
  });
});

/** Chat, without all that has a default. */
const small: Style = {
  name: 'small',
  ingress: { path: '/v1/small', read: chat.ingress!.read },
  relay: { answer: chat.relay.answer },
  ...(chat.client && { client: chat.client }),
  ...(chat.vendor && { vendor: chat.vendor }),
};

describe('a style that has nothing but what has no default', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const dialect = { path: '/chat/completions', headers: () => ({}) };
    gateway = await startGateway({
      vendor,
      plugins: [
        definePlugin({
          name: 'small',
          api: 2,
          create: () => ({ styles: [small], vendors: [{ name: 'small', speaks: { small: dialect } }] }),
        }),
      ],
      config: {
        channels: [{ name: 'main', vendor: 'small', url: vendor.url, key: 'vendor-key' }],
        models: { 'test-model': { from: [{ main: 'their-model' }], free: true } },
      },
    });
  });
  afterEach(() => vendor.forget());
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const post = (more: JsonObject): Promise<Response> =>
    fetch(`${gateway.url}/v1/small`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hi' }], ...more }),
    });

  it("forwards requests with the vendor's name for the model, and replies as they are", async () => {
    const response = await post({ seed: 7 });
    const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
    assert.equal(choices[0].message.content, 'Hello from the vendor.');
    assert.deepEqual(vendor.requests.at(-1)?.json, {
      model: 'their-model',
      messages: [{ role: 'user', content: 'Hi' }],
      seed: 7,
    });
  });

  it('decodes and encodes streams', async () => {
    const text = await (await post({ stream: true })).text();
    const pieces = [...text.matchAll(/"content":"([^"]+)"/g)].map(([, piece]) => piece);
    assert.equal(pieces.join(''), 'Hello from the vendor.');
    assert.match(text, /^data: \[DONE\]$/m);
  });

  it('refuses a stream with more than one answer, which the common form does not have', async () => {
    const before = vendor.requests.length;
    const response = await post({ stream: true, n: 2 });
    const { error } = (await response.json()) as { error: JsonObject };
    assert.deepEqual([response.status, error.param, error.code], [400, 'stream', 'unsupported_parameter']);
    assert.equal(vendor.requests.length, before);
  });
});
