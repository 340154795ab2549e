/** Whom the gateway connects to: its vendors, and public addresses. Nothing that a client says leads anywhere else. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { writeForm } from '../../kit/clients/multipart.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { head, jsonAnswer } from '../../kit/vendors/script.ts';

const MODEL = 'test-model';
/** Spoken to in another style, and wants the bytes of whatever a request names. */
const FAR_MODEL = 'far-model';
/** Wants the images that it edits as files, and answers with addresses. */
const PAINTER = 'painter';

const hello = [{ role: 'user', content: 'Hello?' }];
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);

let gateway: TestGateway;
let vendor: FakeVendor;
/** A neighbour of the gateway's that nobody outside may reach through it. */
let inside: FakeVendor;

before(async () => {
  inside = await fakeVendor(jsonAnswer(200, { secret: 'of the neighbour' }));
  vendor = await fakeVendor();
  const channel = { vendor: 'compatible', url: vendor.url, key: VENDOR_KEY };
  const near = ['chat', 'embeddings', 'images', 'edits', 'speech', 'transcription'];
  const fetched = { image: { url: 'fetch' }, file: { url: 'fetch' } };
  gateway = await startGateway({
    config: {
      pipeline: [...(defaultConfig([]).pipeline as string[]), 'passthrough'],
      channels: [
        { ...channel, name: 'near', speaks: near },
        { ...channel, name: 'far', speaks: ['messages'] },
      ],
      models: {
        [MODEL]: { from: ['near'], free: true },
        [FAR_MODEL]: { from: ['far'], free: true, quirks: fetched },
        [PAINTER]: { from: ['near'], free: true, quirks: { images: { answers: 'url' } } },
      },
      passthrough: [{ prefix: '/v1/files', channel: 'near', free: true }],
    },
  });
});
after(async () => {
  try {
    await gateway.stop();
  } finally {
    await Promise.all([vendor.close(), inside.close()]);
  }
});
afterEach(() => {
  assert.equal(inside.connections, 0, 'nobody has come to the neighbour');
  vendor.forget();
});

/** The neighbour, in a few of the ways in which it can be called. */
function addresses(): readonly string[] {
  const { port } = inside;
  return [
    `http://127.0.0.1:${port}/secret`,
    `http://localhost:${port}/secret`,
    `http://[::ffff:127.0.0.1]:${port}/secret`,
    `http://2130706433:${port}/secret`,
    `https://127.0.0.1:${port}/secret`,
    'http://127.0.0.1/secret',
    'http://localhost/secret',
    'http://169.254.169.254/latest/meta-data/',
  ];
}

function post(path: string, body: JsonObject, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.key}`,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

interface Told {
  readonly status: number;
  readonly code: unknown;
  readonly param: unknown;
}

async function toldBy(response: Response): Promise<Told> {
  const { error } = (await response.json()) as { readonly error: Readonly<Record<string, unknown>> };
  return { status: response.status, code: error.code, param: error.param };
}

/** What each endpoint asks for at least. */
const REQUESTS: readonly (readonly [path: string, body: JsonObject])[] = [
  ['/v1/chat/completions', { model: MODEL, messages: hello }],
  ['/v1/responses', { model: MODEL, input: 'Hello?' }],
  ['/v1/messages', { model: MODEL, messages: hello, max_tokens: 16 }],
  ['/v1/embeddings', { model: MODEL, input: 'Hello' }],
  ['/v1/images/generations', { model: MODEL, prompt: 'A gate' }],
  ['/v1/audio/speech', { model: MODEL, input: 'Hello.', voice: 'alloy' }],
];

describe('T-SSRF-01: no field, header or query of a client chooses whom the gateway asks', () => {
  for (const [path, body] of REQUESTS) {
    it(path, async () => {
      const [address = ''] = addresses();
      const host = new URL(address).host;
      const names = ['api_base', 'base_url', 'url', 'endpoint', 'host', 'proxy', 'custom_host', 'webhook_url'];
      const fields: Record<string, Json> = Object.fromEntries(names.map((name) => [name, address]));
      const headers = Object.fromEntries(
        ['api-base', 'base-url', 'custom-host', 'forwarded-host', 'original-url', 'upstream', 'target-url']
          .flatMap((name) => [`x-${name}`, `x-turnpike-${name}`])
          .map((name) => [name, name.endsWith('host') ? host : address]),
      );
      const query = new URLSearchParams(Object.fromEntries(names.map((name) => [name, address])));
      const asked = vendor.requests.length;
      const metadata = { api_base: address, base_url: address };
      const response = await post(`${path}?${query}`, { ...body, ...fields, metadata }, headers);
      await response.arrayBuffer();
      assert.equal(vendor.requests.length, asked + 1);
      const { headers: sent, path: target } = vendor.requests.at(-1)!;
      assert.equal(sent.host, new URL(vendor.url).host);
      assert.ok(!target.includes('?'), 'nothing of the query goes on');
      assert.ok(!JSON.stringify(sent).includes(host), 'nothing of the headers goes on');
    });
  }
});

describe('T-SSRF-04: a vendor that answers with a redirect is not followed', () => {
  for (const [path, body] of REQUESTS) {
    it(path, async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        vendor.next([head(status, { location: addresses()[0]!, 'content-length': '0' })]);
        const told = await toldBy(await post(path, body));
        assert.equal(told.status, 502, `${status}: ${String(told.code)}`);
      }
    });
  }
});

describe('T-SSRF-05: a name that is part of an address stays a name', () => {
  const names = [
    '../../v1/files?x=',
    '..',
    'a/../../b',
    'a%2f..%2f',
    'http://127.0.0.1/',
    '//127.0.0.1/x',
    'test-model?x=1',
    'test-model#x',
    'test-model/',
    'a\r\nHost: x',
    'a\u0000b',
    '@127.0.0.1',
  ];
  for (const [path, body] of REQUESTS) {
    it(`a model at ${path}`, async () => {
      const asked = vendor.requests.length;
      for (const model of names) {
        const told = await toldBy(await post(path, { ...body, model }));
        assert.deepEqual(told, { status: 404, code: 'model_not_found', param: 'model' }, model);
      }
      assert.equal(vendor.requests.length, asked);
    });
  }

  it('a response', async () => {
    const asked = vendor.requests.length;
    for (const id of names) {
      const body = { model: MODEL, input: 'And?', previous_response_id: id };
      const told = await toldBy(await post('/v1/responses', body));
      assert.deepEqual([told.status, told.param], [404, 'previous_response_id'], id);
      for (const method of ['GET', 'DELETE']) {
        const response = await fetch(`${gateway.url}/v1/responses/${encodeURIComponent(id)}`, {
          method,
          headers: { authorization: `Bearer ${gateway.key}` },
        });
        assert.ok([400, 404].includes((await toldBy(response)).status), id);
      }
    }
    assert.equal(vendor.requests.length, asked);
  });

  it('what stands behind a passthrough', async () => {
    const host = new URL(vendor.url).host;
    for (const rest of [
      `@127.0.0.1:${inside.port}/`,
      `//127.0.0.1:${inside.port}/`,
      `/http://127.0.0.1:${inside.port}/`,
    ]) {
      const asked = vendor.requests.length;
      const response = await fetch(`${gateway.url}/v1/files${rest}`, {
        headers: { authorization: `Bearer ${gateway.key}` },
      });
      await response.arrayBuffer();
      for (const { path, headers } of vendor.requests.slice(asked)) {
        assert.ok(path.startsWith('/v1/files/'), path);
        assert.equal(headers.host, host);
      }
    }
  });
});

describe('T-SSRF-08: what a request names is fetched through the guard, wherever it stands', () => {
  const image = (url: string): Json => ({ type: 'image_url', image_url: { url } });
  const user = (...content: Json[]): Json => [{ role: 'user', content }];
  const places: readonly (readonly [name: string, path: string, param: string, body: (url: string) => JsonObject])[] = [
    [
      'an image in a chat',
      '/v1/chat/completions',
      'messages',
      (url) => ({ model: FAR_MODEL, messages: user({ type: 'text', text: 'What?' }, image(url)) }),
    ],
    [
      'an image behind a good one',
      '/v1/chat/completions',
      'messages',
      (url) => ({
        model: FAR_MODEL,
        messages: user(image(`data:image/png;base64,${PNG.toString('base64')}`), image(url)),
      }),
    ],
    [
      'an image in responses',
      '/v1/responses',
      'input',
      (url) => ({ model: FAR_MODEL, input: user({ type: 'input_image', image_url: url }) }),
    ],
    [
      'a file in responses',
      '/v1/responses',
      'input',
      (url) => ({ model: FAR_MODEL, input: user({ type: 'input_file', file_url: url }) }),
    ],
    ['an image to edit', '/v1/images/edits', 'image', (url) => ({ model: PAINTER, image: url, prompt: 'Open it' })],
    [
      'the second image to edit',
      '/v1/images/edits',
      'image[1]',
      (url) => ({ model: PAINTER, image: [`data:image/png;base64,${PNG.toString('base64')}`, url], prompt: 'x' }),
    ],
    [
      'a mask',
      '/v1/images/edits',
      'mask',
      (url) => ({ model: PAINTER, image: `data:image/png;base64,${PNG.toString('base64')}`, mask: url, prompt: 'x' }),
    ],
    [
      'an image in the structured form',
      '/v1/images/edits',
      'input.messages[0].content[0].image',
      (url) => ({ model: PAINTER, input: { messages: [{ role: 'user', content: [{ image: url }, { text: 'x' }] }] } }),
    ],
  ];
  for (const [name, path, param, body] of places) {
    it(name, async () => {
      const asked = vendor.requests.length;
      for (const url of addresses()) {
        const told = await toldBy(await post(path, body(url)));
        assert.deepEqual(told, { status: 400, code: 'media_not_fetched', param }, url);
      }
      assert.equal(vendor.requests.length, asked);
    });
  }

  it('an image to edit, in a form', async () => {
    const asked = vendor.requests.length;
    for (const url of addresses()) {
      const { contentType, body } = writeForm([
        { name: 'model', text: PAINTER },
        { name: 'image', text: url },
      ]);
      const response = await fetch(`${gateway.url}/v1/images/edits`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': contentType },
        body: new Uint8Array(body),
      });
      assert.deepEqual(await toldBy(response), { status: 400, code: 'media_not_fetched', param: 'image' }, url);
    }
    assert.equal(vendor.requests.length, asked);
  });

  it('an image that a vendor answers with, for a client that wants its bytes', async () => {
    for (const url of addresses()) {
      vendor.next(jsonAnswer(200, { created: 1, data: [{ url }] }));
      const response = await post('/v1/images/generations', {
        model: PAINTER,
        prompt: 'x',
        response_format: 'b64_json',
      });
      assert.equal(response.status, 200);
      assert.deepEqual(((await response.json()) as JsonObject).data, [{ url }]);
    }
  });
});
