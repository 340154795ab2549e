/** Nothing is read before it is admitted: rate and concurrency are counted from the head, of calls and of whatever else a key asks for. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { Running } from '../../../core/contracts/running.ts';
import { type RawConnection, rawConnection, requestText } from '../../kit/clients/raw-client.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { until } from '../../kit/until.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { hold, wholeAnswer } from '../../kit/vendors/script.ts';

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

describe('many requests that are refused unread', () => {
  it('are all answered, and the rest of only a few is read to be thrown away', async () => {
    // By this clock nobody lingers for too long.
    const clock = fakeClock();
    const gateway = await startGateway({ clock, config: { limits: { requestsPerMinute: 1 } } });
    const clients: RawConnection[] = [];
    try {
      assert.equal((await gateway.chat({ model: 'demo', messages: HELLO })).status, 200);
      // More than the buffers on the way take.
      const body = Buffer.alloc(15 * MIB, ' ');
      let sent = 0;
      for (let i = 0; i < 12; i++) {
        const client = await announce(gateway, gateway.key, '/v1/chat/completions', body.length);
        clients.push(client);
        assert.equal((await client.response()).status, 429);
      }
      for (const client of clients) {
        client.write(body).then(
          () => sent++,
          () => {},
        );
      }
      await eventually(async () => sent === 8);
      for (let i = 0; i < 20; i++) assert.equal((await fetch(`${gateway.url}/healthz`)).status, 200);
      assert.equal(sent, 8);
    } finally {
      // Now they do, and are closed.
      clock.advance(2_000);
      await Promise.all(clients.map((client) => client.ended));
      await gateway.stop();
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
      for (let i = 0; i < 3; i++) assert.equal((await count()).status, 404);
    } finally {
      await close();
    }
  });
});

describe('bodies that are on their way', () => {
  const KIB = 1 << 10;
  const LISTEN = {
    port: 0,
    body: {
      json: '8kb',
      upload: '8mb',
      inFlight: { memory: { total: '30kb', perAccount: '20kb' }, disk: { total: '16mb', perAccount: '10mb' } },
    },
  };
  const COUNT = '/v1/messages/count_tokens';
  const FORM = { 'content-type': 'multipart/form-data; boundary=x' };
  const CHUNKED = { 'transfer-encoding': 'chunked' };
  let gateway: TestGateway;
  let close: () => Promise<void>;
  /** Connections that hold what they have announced, until they are torn down. */
  let open: RawConnection[];

  before(async () => {
    ({ gateway, close } = await stand({}, { listen: LISTEN }));
  });
  beforeEach(() => {
    open = [];
  });
  afterEach(async () => {
    for (const client of open) client.abort();
    // What they held is given back when the gateway has noticed that they are gone.
    const running = gateway.host.find(Running)!;
    await eventually(async () => (await running.inFlight({ limit: 0 })).total === 0);
  });
  after(() => close());

  const CHAT = '/v1/chat/completions';
  const CONTINUE = { expect: '100-continue' };

  /** Announces a body and is told to go on: it counts from here on. */
  async function holding(key: string, path: string, length: number, headers = {}): Promise<RawConnection> {
    const client = await announce(gateway, key, path, length, { ...CONTINUE, ...headers });
    open.push(client);
    await client.until('100 Continue');
    return client;
  }
  /** Announces a body that is refused. */
  async function refused(key: string, path: string, length: number, headers = {}) {
    const client = await announce(gateway, key, path, length, { ...CONTINUE, ...headers });
    const { status, headers: said, text, interim } = await client.response();
    client.abort();
    assert.deepEqual(interim, []);
    assert.equal(said['retry-after'], '1');
    return { status, code: codeOf(text), text };
  }
  const small = (key: string) => gateway.chat({ model: 'demo', messages: HELLO }, { key });

  it('are bounded for each account, whatever their paths, and before they come', async () => {
    await holding(gateway.key, CHAT, 8 * KIB);
    const second = await holding(gateway.key, COUNT, 8 * KIB);
    for (const path of [CHAT, '/v1/messages', '/v1/responses', COUNT]) {
      const { status, code, text } = await refused(gateway.key, path, 5 * KIB);
      assert.deepEqual([status, code], [429, 'concurrency_limit_exceeded']);
      assert.match(text, /20480 bytes.*listen\.body\.inFlight\.memory\.perAccount/);
    }
    assert.equal((await small(gateway.key)).status, 200);
    second.abort();
    await eventually(async () => {
      const client = await announce(gateway, gateway.key, CHAT, 5 * KIB, CONTINUE);
      open.push(client);
      const goesOn = client.until('100 Continue').then(
        () => true,
        () => false,
      );
      return goesOn;
    });
  });

  it('count as they come where their length is not declared', async () => {
    await holding(gateway.key, CHAT, 8 * KIB);
    await holding(gateway.key, CHAT, 8 * KIB);
    const own = { authorization: `Bearer ${gateway.key}`, ...JSON_TYPE, ...CHUNKED };
    const client = await rawConnection(gateway.port);
    open.push(client);
    await client.write(requestText('POST', CHAT, own));
    await client.write(`${(3 * KIB).toString(16)}\r\n${' '.repeat(3 * KIB)}\r\n`);
    await client.write(`${(3 * KIB).toString(16)}\r\n${' '.repeat(3 * KIB)}\r\n`);
    const answer = await client.response();
    assert.equal(answer.status, 429);
    assert.match(answer.text, /inFlight\.memory\.perAccount/);
  });

  it('are bounded over all accounts; whoever holds more than an equal share is refused then, and nobody else', async () => {
    const [second, third] = await Promise.all([gateway.customer(0), gateway.customer(0)]);
    for (const key of [gateway.key, second]) await holding(key, CHAT, 8 * KIB);
    await holding(gateway.key, CHAT, 8 * KIB);
    const { status, code, text } = await refused(second, CHAT, 8 * KIB);
    assert.deepEqual([status, code], [503, 'overloaded']);
    assert.match(text, /listen\.body\.inFlight\.memory\.total/);
    await holding(third, CHAT, 8 * KIB);
    assert.equal((await refused(third, CHAT, 8 * KIB)).status, 503);
    assert.equal((await small(second)).status, 200);
    assert.equal((await small(gateway.key)).status, 503);
  });

  it('have a budget of their own where they lie on disk, or may come to', async () => {
    const path = '/v1/audio/transcriptions';
    await holding(gateway.key, path, 8 * MIB, FORM);
    const { status, text } = await refused(gateway.key, path, 3 * MIB, FORM);
    assert.equal(status, 429);
    assert.match(text, /inFlight\.disk\.perAccount/);
    await holding(gateway.key, CHAT, 8 * KIB);
    const own = { authorization: `Bearer ${gateway.key}`, ...FORM, ...CHUNKED };
    const client = await rawConnection(gateway.port);
    open.push(client);
    await client.write(requestText('POST', path, own));
    const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\n\r\n';
    await client.write(`${(part.length).toString(16)}\r\n${part}\r\n`);
    void client.write(`${(3 * MIB).toString(16)}\r\n${' '.repeat(3 * MIB)}\r\n`).catch(() => {});
    const answer = await client.response();
    assert.equal(answer.status, 429);
    assert.match(answer.text, /inFlight\.disk\.perAccount/);
  });

  it('are not forgotten by a reload', async () => {
    await holding(gateway.key, CHAT, 8 * KIB);
    await gateway.gateway.reload();
    await holding(gateway.key, CHAT, 8 * KIB);
    assert.equal((await refused(gateway.key, CHAT, 5 * KIB)).status, 429);
  });
});

/** Asks again until it is so: what a gateway does when a connection breaks, it does in its own time. */
async function eventually(isSo: () => Promise<boolean>): Promise<void> {
  await until('the gateway has noticed', isSo);
}
