/** Nothing is read before it is admitted: rate and concurrency are counted from the head, of calls and of whatever else a key asks for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type FakeVendor, fakeVendor } from '../kit/fake-vendor.ts';
import { defaultConfig, startGateway, type TestGateway } from '../kit/gateway.ts';
import { type RawConnection, rawConnection, requestText } from '../kit/raw-client.ts';
import { hold, wholeAnswer } from '../kit/script.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const VERSION = { 'anthropic-version': '2023-06-01' };
const MIB = 1 << 20;
const HELLO = [{ role: 'user', content: 'Hello?' }];

/** A gateway whose keys may make one call a minute, or whatever `limits` says. */
async function stand(limits: object, more: Readonly<Record<string, unknown>> = {}) {
  const vendor = await fakeVendor();
  const gateway = await startGateway({ vendor, config: { limits, ...more } });
  return {
    vendor,
    gateway,
    async close() {
      await gateway.stop();
      await vendor.close();
    },
  };
}

/** Sends only the head of a request whose body is to have so many bytes. */
async function announce(
  { port }: TestGateway,
  key: string,
  path: string,
  length: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawConnection> {
  const client = await rawConnection(port);
  const own = { authorization: `Bearer ${key}`, ...JSON_TYPE, ...VERSION, 'content-length': String(length) };
  await client.write(requestText('POST', path, { ...own, ...headers }));
  return client;
}

const codeOf = (text: string) => (JSON.parse(text) as { readonly error: { readonly code: string } }).error.code;

describe('a key at its limit', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let close: () => Promise<void>;
  before(async () => {
    const standard = defaultConfig([]).pipeline as string[];
    ({ vendor, gateway, close } = await stand(
      { requestsPerMinute: 1 },
      {
        pipeline: [...standard, 'passthrough'],
        passthrough: [{ prefix: '/v1/files', channel: 'main', free: true }],
      },
    ));
    assert.equal((await gateway.chat({ model: 'free-model', messages: HELLO })).status, 200);
  });
  after(() => close());

  const PATHS = [
    '/v1/chat/completions',
    '/v1/messages',
    '/v1/responses',
    '/v1/embeddings',
    '/v1/audio/transcriptions',
    '/v1/images/edits',
    '/v1/files',
    '/v1/messages/count_tokens',
    '/v1/responses/resp_1/cancel',
  ];
  for (const path of PATHS) {
    it(`is refused at ${path} before a byte of the body has come`, async () => {
      const asked = vendor.requests.length;
      const client = await announce(gateway, gateway.key, path, 15 * MIB);
      const answer = await client.response();
      client.abort();
      assert.equal(answer.status, 429);
      assert.equal(codeOf(answer.text), 'rate_limit_exceeded');
      assert.ok(Number(answer.headers['retry-after']) >= 1);
      assert.equal(answer.headers['x-ratelimit-limit-requests'], '1');
      assert.equal(answer.headers['x-ratelimit-remaining-requests'], '0');
      assert.equal(vendor.requests.length, asked);
    });

    it(`is given no go-ahead at ${path}`, async () => {
      const client = await announce(gateway, gateway.key, path, 64, { expect: '100-continue' });
      const answer = await client.response();
      client.abort();
      assert.deepEqual([answer.status, answer.interim], [429, []]);
    });
  }

  for (const path of ['/v1/responses/resp_1', '/v1/responses/resp_1/input_items']) {
    it(`is refused at ${path}`, async () => {
      const answer = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${gateway.key}` } });
      assert.equal(answer.status, 429);
      assert.equal(answer.headers.get('x-ratelimit-remaining-requests'), '0');
    });
  }

  it('may list models all the same', async () => {
    for (const path of ['/v1/models', '/v1/models/free-model', '/v1beta/models']) {
      const answer = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${gateway.key}` } });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('x-ratelimit-remaining-requests'), null);
    }
  });
});

describe('a request for a route', () => {
  it('counts like a call, and says what is left', async () => {
    const { gateway, close } = await stand({ requestsPerMinute: 5 });
    try {
      const answer = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { ...JSON_TYPE, ...VERSION, 'x-api-key': gateway.key },
        body: JSON.stringify({ model: 'demo', messages: HELLO }),
      });
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('x-ratelimit-remaining-requests'), '4');
      const missing = await fetch(`${gateway.url}/v1/responses/none`, { headers: { 'x-api-key': gateway.key } });
      assert.equal(missing.status, 404);
      assert.equal(missing.headers.get('x-ratelimit-remaining-requests'), '3');
    } finally {
      await close();
    }
  });

  it('takes a place among those that run, and leaves it however it ends', async () => {
    const { gateway, vendor, close } = await stand({ concurrent: 1 });
    try {
      vendor.next([hold(), ...wholeAnswer()]);
      const running = gateway.chat({ model: 'free-model', messages: HELLO });
      await vendor.waitFor(1);
      const count = () =>
        fetch(`${gateway.url}/v1/messages/count_tokens`, {
          method: 'POST',
          headers: { ...JSON_TYPE, ...VERSION, 'x-api-key': gateway.key },
          body: '{"model":"nonsense"}',
        });
      assert.equal((await count()).status, 429);
      vendor.release();
      await running;
      for (let i = 0; i < 3; i++) assert.equal((await count()).status, 400);
    } finally {
      await close();
    }
  });
});
