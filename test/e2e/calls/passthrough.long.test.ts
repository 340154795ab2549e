/** PassthroughRoutes: what is carried without being understood arrives whole or not at all, and no word of the client's goes out unasked. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { LiveExchange } from '../../../core/call/live-exchange.ts';
import { ConfigError } from '../../../core/config/file.ts';
import { definePlugin } from '../../../core/plugin.ts';
import { type RawResponse, rawConnection, rawRequest, requestText } from '../../kit/clients/raw-client.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type UsageRow, usageRecords } from '../../kit/gateway/usage-records.ts';
import { closedPort, type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import {
  atHead,
  bytes,
  chunk,
  errorAnswer,
  fin,
  head,
  hold,
  htmlAnswer,
  jsonAnswer,
  lastChunk,
  rst,
  type Script,
  silence,
  sized,
  stopReading,
} from '../../kit/vendors/script.ts';

/** Which paths are carried; `free` unless a test is about the price. */
const CARRIED = [
  { prefix: '/v1/files', channel: 'main', free: true },
  { prefix: '/v1/batches', channel: 'main', price: 2 },
  { prefix: '/v1/files/special', channel: 'main', path: '/elsewhere', free: true },
  { prefix: '/v1/realtime', channel: 'main', price: 1 },
  { prefix: '/v1/gone', channel: 'gone', free: true },
  { prefix: '/v1/off', channel: 'unpaid', free: true },
];
const UPLOAD_LIMIT = 32 << 20;

/** The exchanges that were admitted, latest last. */
const admitted: LiveExchange[] = [];
/** What the books wait for. */
let settling: (() => Promise<void>) | undefined;
const witness = definePlugin({
  name: 'witness',
  api: 2,
  create: () => ({
    admit(x) {
      admitted.push(x as LiveExchange);
    },
    async settle() {
      await settling?.();
      return undefined;
    },
  }),
});

async function passing(
  vendor: FakeVendor,
  more: Record<string, unknown> = {},
  clock?: FakeClock,
): Promise<TestGateway> {
  const standard = defaultConfig([vendor]);
  return startGateway({
    vendor,
    plugins: [witness],
    ...(clock === undefined ? {} : { clock }),
    config: {
      listen: { host: '127.0.0.1', port: 0, body: { upload: '32mb' } },
      pipeline: [...(standard.pipeline as string[]), 'passthrough'],
      channels: [
        { name: 'main', vendor: 'compatible', url: vendor.url, key: VENDOR_KEY, timeout: { head: '10s', idle: '10s' } },
        { name: 'gone', vendor: 'compatible', url: `http://127.0.0.1:${await closedPort()}/v1`, key: VENDOR_KEY },
        { name: 'unpaid', vendor: 'compatible', url: vendor.url },
        { name: 'demo', vendor: 'demo' },
      ],
      models: { demo: { from: ['demo'], free: true } },
      passthrough: CARRIED,
      ...more,
    },
  });
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const codeOf = (answer: RawResponse): unknown => (JSON.parse(answer.text) as { error: { code: unknown } }).error.code;
const sha = (data: Buffer): string => createHash('sha256').update(data).digest('hex');
/** A request as it stood on the wire, for the search of what should not be there. */
const wire = ({ method, path, rawHeaders, body }: VendorRequest): string =>
  [`${method} ${path}`, ...rawHeaders.map((pair) => pair.join(': ')), body.toString('latin1')].join('\n');

/** The one record of an answer. */
function recordOf(gateway: TestGateway, answer: Pick<RawResponse, 'headers'>): UsageRow {
  const records = usageRecords(gateway.storeFile).filter(({ id }) => id === answer.headers['x-request-id']);
  assert.equal(records.length, 1, `one usage record for ${answer.headers['x-request-id']}`);
  return records[0]!;
}

/** The record of an exchange whose client has gone: written in its own time. */
async function booked(gateway: TestGateway, { id }: LiveExchange): Promise<UsageRow> {
  for (let looks = 0; looks < 2_000; looks++) {
    const found = usageRecords(gateway.storeFile).find((record) => record.id === id);
    if (found !== undefined) return found;
    await setImmediate();
  }
  return assert.fail('the exchange was never booked');
}

/** Lets everything happen that only waits for its turn. */
async function settleDown(progress: () => number): Promise<void> {
  for (let quiet = 0, last = -1; quiet < 200; quiet++) {
    if (progress() !== last) {
      last = progress();
      quiet = 0;
    }
    await setImmediate();
  }
}

describe('a passthrough', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    gateway = await passing(vendor);
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });
  beforeEach(() => vendor.always(jsonAnswer(200, { ok: true })));
  afterEach(() => {
    assert.deepEqual(
      gateway.log.filter((line) => line.includes('"level":"error"') || line.includes(VENDOR_KEY)),
      [],
    );
  });

  const ask = (method: string, path: string, headers: Record<string, string> = {}, body: string | Buffer = '') =>
    rawRequest(gateway.port, requestText(method, path, { ...bearer(gateway.key), ...headers }, body));
  const last = (): VendorRequest => vendor.requests.at(-1)!;
  /** What `work` answered, and how many requests the vendor saw meanwhile. */
  const counting = async (work: () => Promise<RawResponse>): Promise<readonly [RawResponse, number]> => {
    const seen = vendor.requests.length;
    const answer = await work();
    return [answer, vendor.requests.length - seen];
  };
  /** The vendor has nothing more to do with the last request. */
  const over = (): Promise<void> => vendor.waitFor(() => last().state === 'played' || last().state === 'aborted');
  /** The next request is answered as if nothing had happened. */
  const isWell = async (): Promise<void> => {
    vendor.always(jsonAnswer(200, { well: true }));
    assert.equal((await ask('GET', '/v1/files')).text, '{"well":true}');
  };

  it('goes to its channel with the credential of the channel, and exactly the headers it needs', async () => {
    const headers = { 'content-type': 'text/plain', accept: 'application/json', range: 'bytes=0-9', 'x-other': 'no' };
    const answer = await ask('POST', '/v1/files/a%20b;c?limit=2&key=canary&after=x%2Fy', headers, 'the body');
    assert.equal(answer.status, 200);
    assert.equal(answer.text, '{"ok":true}');
    assert.equal(answer.headers['x-turnpike-channel'], 'main');
    assert.equal(`${last().method} ${last().path}`, 'POST /v1/files/a%20b;c?limit=2&after=x%2Fy');
    assert.equal(last().body.toString(), 'the body');
    assert.deepEqual(
      { ...last().headers },
      {
        accept: 'application/json',
        'accept-encoding': 'identity',
        authorization: `Bearer ${VENDOR_KEY}`,
        connection: 'keep-alive',
        'content-length': '8',
        'content-type': 'text/plain',
        host: `127.0.0.1:${vendor.port}`,
        range: 'bytes=0-9',
        'user-agent': 'turnpike',
      },
    );
  });

  it('goes where its entry says, the closest entry first', async () => {
    for (const [path, target] of [
      ['/v1/files', '/v1/files'],
      ['/v1/files/', '/v1/files/'],
      ['/v1/files/specially', '/v1/files/specially'],
      ['/v1/files/special/9', '/v1/elsewhere/9'],
    ] as const) {
      await ask('GET', path);
      assert.equal(last().path, target);
    }
    assert.equal((await ask('GET', '/v1/filesystem')).status, 404);
  });

  it('keeps its connection for the next request', async () => {
    await ask('GET', '/v1/files');
    const { connection } = last();
    await ask('POST', '/v1/files', {}, 'more');
    await ask('DELETE', '/v1/files/1');
    assert.equal(last().connection, connection);
  });

  it('carries methods without a body, and answers without one', async () => {
    vendor.next([head(204, { 'content-length': '0' })]);
    const deleted = await ask('DELETE', '/v1/files/1');
    assert.equal(deleted.status, 204);
    assert.equal(deleted.headers['content-length'], undefined);
    assert.equal(last().headers['content-length'], '0');

    vendor.next([head(200, { 'content-length': '1000', etag: '"e"' })]);
    const client = await rawConnection(gateway.port);
    await client.write(requestText('HEAD', '/v1/files/1', bearer(gateway.key)));
    const asked = await client.response({ bodiless: true });
    client.abort();
    assert.equal(asked.headers['content-length'], '1000');
    assert.equal(asked.headers.etag, '"e"');
    assert.equal(last().method, 'HEAD');

    await ask('POST', '/v1/files/1/cancel');
    assert.equal(last().headers['content-length'], '0');
    assert.equal(last().headers['transfer-encoding'], undefined);
  });

  it('asks nobody anything for a client it does not know, or of a channel that is off', async () => {
    const [unknown, first] = await counting(() => rawRequest(gateway.port, requestText('GET', '/v1/files')));
    assert.deepEqual([unknown.status, first], [401, 0]);
    const [off, second] = await counting(() => ask('GET', '/v1/off'));
    assert.deepEqual([off.status, codeOf(off), second], [503, 'no_channel', 0]);
  });

  describe('hides the client from the vendor', () => {
    it('T-PRX-02, 05, 06, 08: no credential, no hop-by-hop header and none that is not allowed reaches the wire', async () => {
      const client = await rawConnection(gateway.port);
      const headers = {
        ...bearer(gateway.key),
        'x-api-key': gateway.key,
        'x-other-api-key': 'canary-key',
        cookie: 'session=canary-cookie',
        'proxy-authorization': 'Basic canary-proxy',
        'x-forwarded-for': 'canary-address',
        'x-request-id': 'canary-id',
        connection: 'keep-alive, x-internal',
        'x-internal': 'canary-internal',
        te: 'trailers, canary-te',
        trailer: 'x-canary-trailer',
        referer: 'https://canary-page/',
        'user-agent': 'canary-agent',
        expect: '100-continue',
        'content-length': '4',
      };
      await client.write(requestText('POST', '/v1/files?key=canary-query', headers));
      await client.until('100 Continue');
      await client.write('body');
      const answer = await client.response();
      client.abort();
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.interim, [100]);
      assert.equal(last().body.toString(), 'body');
      assert.ok(!wire(last()).includes(gateway.key), 'our key');
      assert.ok(!/canary-[^5]/.test(wire(last()).replaceAll(VENDOR_KEY, '')), wire(last()));
      assert.equal(last().headers.expect, undefined);
    });

    it('T-PRX-05: trailers behind a body stay behind', async () => {
      const body = '4\r\nbody\r\n0\r\nx-canary: canary-trailer\r\n\r\n';
      const answer = await ask('POST', '/v1/files', { 'transfer-encoding': 'chunked', trailer: 'x-canary' }, body);
      assert.equal(answer.status, 200);
      assert.equal(last().body.toString(), 'body');
      assert.equal(last().headers['transfer-encoding'], 'chunked');
      await isWell();
    });
  });

  describe('refuses what two readers could read differently', () => {
    for (const method of ['DELETE', 'OPTIONS', 'GET', 'HEAD']) {
      it(`T-PRX-01: ${method} with a chunked body never reaches the vendor`, async () => {
        const smuggled = 'GET /smuggled HTTP/1.1\r\nhost: vendor\r\n\r\n';
        const body = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
        const client = await rawConnection(gateway.port);
        const seen = vendor.requests.length;
        const headers = { ...bearer(gateway.key), 'transfer-encoding': 'chunked' };
        await client.write(requestText(method, '/v1/files', headers, body));
        assert.equal((await client.response({ bodiless: method === 'HEAD' })).status, 400);
        client.abort();
        assert.equal(vendor.requests.length, seen);
        await isWell();
      });
    }

    for (const target of [
      'http://[',
      '//%00:99999/',
      '/v1/files/../chat',
      '/v1/files/%2e%2e/%2e%2e/api/user',
      '/v1/files/%2E%2E/x',
      '/v1/files/..',
      '/v1/files//x',
      '/v1/files/a%2fb',
      '/v1/files/..%2Fchat',
      '/v1/files/a\\b',
      '/v1/files/a#b',
    ]) {
      it(`T-PRX-03, 04: the target ${target}`, async () => {
        const [answer, seen] = await counting(() => ask('GET', target));
        assert.deepEqual([answer.status, seen], [400, 0]);
        await isWell();
      });
    }

    it('T-PRX-07: an upgrade to anything but a websocket, or by anything but GET', async () => {
      for (const [method, headers, body] of [
        ['GET', { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' }, ''],
        ['GET', { connection: 'Upgrade', upgrade: 'tls/1.2' }, ''],
        ['POST', { connection: 'Upgrade', upgrade: 'websocket' }, 'GET /smuggled HTTP/1.1\r\n\r\n'],
      ] as const) {
        const [answer, seen] = await counting(() => ask(method, '/v1/realtime', headers, body));
        assert.deepEqual([answer.status, codeOf(answer), seen], [426, 'upgrade_not_served', 0]);
      }
    });
  });

  describe('whose vendor misbehaves', () => {
    const half = [head(200, { 'content-length': '10' }), bytes('half')];
    const halfChunked = [head(200, { 'transfer-encoding': 'chunked' }), chunk('half')];

    for (const [row, name, script] of [
      ['09', 'sends a bad chunk with its head', [bytes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n')]],
      [
        '09',
        'frames its answer twice',
        [head(200, { 'content-length': '2', 'transfer-encoding': 'chunked' }), bytes('{}')],
      ],
      ['10', 'closes before its head', [fin()]],
      ['10', 'resets before its head', [rst()]],
      ['10', 'closes after its head', [head(200, { 'content-length': '10' }), fin()]],
      [
        '12',
        'switches protocols unasked',
        [bytes('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')],
      ],
      ['12', 'answers with a page', htmlAnswer()],
      ['12', 'answers an error with a page', htmlAnswer(404)],
      [
        '12',
        'explains an error without end',
        [head(400, { 'content-length': '99999' }), bytes('a'.repeat(70_000)), silence()],
      ],
      [
        '12',
        'breaks off the explanation of an error',
        [head(500, { 'content-length': '99' }), bytes('{"error":'), fin()],
      ],
    ] as const satisfies readonly (readonly [string, string, Script])[]) {
      it(`T-PRX-${row}: it ${name}, and the client gets our error`, async () => {
        vendor.next([...script]);
        const answer = await ask('GET', '/v1/files/1');
        assert.ok(answer.status === 502 || answer.status === 400, String(answer.status));
        assert.equal(answer.headers['content-type'], 'application/json');
        assert.equal(typeof codeOf(answer), 'string');
        const record = recordOf(gateway, answer);
        assert.equal(record.outcome, answer.status < 500 ? 'refused' : 'failed');
        assert.notEqual(record.attempts[0]!.failure, undefined);
        await over();
        await isWell();
      });
    }

    for (const [name, script] of [
      ['closes in the middle of a length', [...half, fin()]],
      ['closes in the middle of chunks', [...halfChunked, fin()]],
      ['resets in the middle of a length', [...half, hold(), rst()]],
      ['resets in the middle of chunks', [...halfChunked, hold(), rst()]],
      ['sends a bad chunk behind a good one', [...halfChunked, hold(), bytes('zz\r\n'), silence()]],
    ] as const satisfies readonly (readonly [string, Script])[]) {
      it(`T-PRX-10: it ${name}, and the part never looks like the whole`, async () => {
        vendor.next([...script]);
        const client = await rawConnection(gateway.port);
        await client.write(requestText('GET', '/v1/files/1', bearer(gateway.key)));
        await client.until('half');
        vendor.release();
        const answer = await client.response();
        await client.ended;
        assert.deepEqual([answer.status, answer.text, answer.complete], [200, 'half', false]);
        const record = recordOf(gateway, answer);
        assert.deepEqual([record.outcome, record.attempts[0]!.failure], ['failed', 'broken']);
        await isWell();
      });
    }

    it('T-PRX-11: what follows a whole answer is nobody’s answer', async () => {
      const poison = bytes('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison');
      vendor.next(
        [...sized(200, 'text/plain', 'fine'), poison],
        [...sized(200, 'text/plain', 'fine'), hold('later'), poison],
      );
      for (let i = 0; i < 2; i++) assert.ok(!(await ask('GET', '/v1/files/1')).text.includes('poison'));
      const { connection } = last();
      vendor.release('later');
      await over();
      await settleDown(() => vendor.openConnections);
      await isWell();
      assert.notEqual(last().connection, connection);
    });

    it('T-PRX-12: what a vendor tells browsers and proxies stays with us', async () => {
      const headers = {
        'content-type': 'application/octet-stream',
        'content-length': '2',
        'content-disposition': 'attachment; filename="a.bin"',
        'content-encoding': 'identity',
        'content-range': 'bytes 0-1/9',
        'accept-ranges': 'bytes',
        etag: '"e"',
        'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
      };
      const kept = {
        'set-cookie': 'canary=1',
        location: 'https://canary/',
        'alt-svc': 'h3="canary:443"',
        'www-authenticate': 'Basic realm="canary"',
        'proxy-authenticate': 'Basic realm="canary"',
        'content-security-policy': 'canary',
        'access-control-allow-origin': 'canary',
        'strict-transport-security': 'canary',
        'cache-control': 'public, canary',
        server: 'canary',
        'x-request-id': 'canary',
        'x-powered-by': 'canary',
        'retry-after': '86400',
      };
      vendor.next([head(206, { ...headers, ...kept }), bytes('ok')]);
      const answer = await ask('GET', '/v1/files/1/content');
      assert.equal(answer.status, 206);
      for (const [name, value] of Object.entries(headers)) assert.equal(answer.headers[name], value);
      assert.equal(answer.headers['retry-after'], '60');
      assert.equal(answer.headers['cache-control'], 'no-store');
      assert.equal(answer.headers['x-content-type-options'], 'nosniff');
      assert.ok(!JSON.stringify(answer.headers).includes('canary'), JSON.stringify(answer.headers));
    });

    for (const status of [300, 301, 302, 304, 307, 308, 401, 403, 407]) {
      it(`T-PRX-12: its ${status} is a failure of ours, and is not followed`, async () => {
        const moved = { location: `${vendor.url}/elsewhere`, 'www-authenticate': 'Basic', 'content-length': '0' };
        vendor.next([head(status, moved)]);
        const [answer, seen] = await counting(() => ask('GET', '/v1/files/1'));
        assert.deepEqual([answer.status, seen], [502, 1]);
        assert.equal(answer.headers.location, undefined);
        assert.equal(answer.headers['www-authenticate'], undefined);
      });
    }

    for (const status of [400, 404, 409, 416, 422, 429, 500, 503]) {
      it(`tells the client its ${status}`, async () => {
        vendor.next(errorAnswer(status, 'No.', { 'retry-after': '90' }));
        const answer = await ask('GET', '/v1/files/1');
        assert.deepEqual(
          [answer.status, codeOf(answer), answer.headers['retry-after']],
          [status, `vendor_${status}`, '60'],
        );
        const { outcome, charged } = recordOf(gateway, answer);
        assert.deepEqual([outcome, charged], [status < 500 && status !== 429 ? 'refused' : 'failed', 0n]);
      });
    }

    it('does not tell the client an error that tells our key, or where the channel goes', async () => {
      for (const told of [VENDOR_KEY, `127.0.0.1:${vendor.port}`]) {
        vendor.next(errorAnswer(400, `Not good: ${told}`));
        const answer = await ask('GET', '/v1/files/1');
        assert.equal(answer.status, 400);
        assert.ok(!answer.text.includes(told));
      }
    });

    it('says 502 where nobody listens', async () => {
      const answer = await ask('POST', '/v1/gone', {}, 'body');
      assert.deepEqual([answer.status, codeOf(answer)], [502, 'upstream_unreachable']);
      assert.equal(recordOf(gateway, answer).attempts[0]!.failure, 'connect');
    });
  });

  describe('carries much', () => {
    const large = randomBytes(20 << 20);

    it('uploads 20 MB byte for byte, under a length and in chunks', async () => {
      assert.equal((await ask('POST', '/v1/files', {}, large)).status, 200);
      assert.equal(sha(last().body), sha(large));
      assert.equal(last().headers['content-length'], String(large.length));

      const framed = Buffer.concat([
        Buffer.from(`${large.length.toString(16)}\r\n`),
        large,
        Buffer.from('\r\n0\r\n\r\n'),
      ]);
      assert.equal((await ask('PUT', '/v1/files/1', { 'transfer-encoding': 'chunked' }, framed)).status, 200);
      assert.equal(sha(last().body), sha(large));
      assert.equal(last().headers['transfer-encoding'], 'chunked');
    });

    it('lets the client wait for a vendor that takes its body slowly', async () => {
      vendor.next([atHead(), stopReading(), silence()]);
      const seen = vendor.requests.length;
      const client = await rawConnection(gateway.port);
      const headers = { ...bearer(gateway.key), 'content-length': String(UPLOAD_LIMIT) };
      await client.write(requestText('POST', '/v1/files', headers));
      void client.write(Buffer.alloc(UPLOAD_LIMIT - 1));
      await vendor.waitFor(() => vendor.requests.length > seen);
      const { request } = admitted.at(-1)!;
      await settleDown(() => request.socket.bytesRead);
      assert.ok(request.socket.bytesRead < 20 << 20, `${request.socket.bytesRead} bytes were taken`);
      assert.ok(request.readableLength < 1 << 20, `${request.readableLength} bytes wait in memory`);
      client.abort();
      await isWell();
    });

    it('tells the vendor when the client leaves in the middle of its body', async () => {
      vendor.next([atHead(), silence()]);
      const client = await rawConnection(gateway.port);
      const headers = { ...bearer(gateway.key), 'content-length': '1000' };
      const seen = vendor.requests.length;
      await client.write(requestText('POST', '/v1/files', headers, 'only this'));
      await vendor.waitFor(() => vendor.requests.length > seen);
      client.abort();
      await over();
      assert.deepEqual([last().body.toString(), last().complete], ['only this', false]);
      const { outcome, status } = await booked(gateway, admitted.at(-1)!);
      assert.deepEqual([outcome, status], ['aborted', 499]);
      await isWell();
    });

    it('refuses a body that is declared too large before it is sent', async () => {
      const headers = { 'content-length': String(UPLOAD_LIMIT + 1), expect: '100-continue' };
      const [answer, seen] = await counting(() => ask('POST', '/v1/files', headers));
      assert.deepEqual([answer.status, codeOf(answer), seen], [413, 'request_too_large', 0]);
      assert.deepEqual(answer.interim, []);
    });

    it('cuts off a body that grows too large', async () => {
      const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1 << 20), Buffer.from('\r\n')]);
      const body = Buffer.concat([...Array.from({ length: 33 }, () => piece), Buffer.from('0\r\n\r\n')]);
      const answer = await ask('POST', '/v1/files', { 'transfer-encoding': 'chunked' }, body);
      assert.deepEqual([answer.status, codeOf(answer)], [413, 'request_too_large']);
      await over();
      assert.equal(last().complete, false);
      await isWell();
    });

    for (const status of [413, 422]) {
      it(`tells the client a ${status} that comes while it is still sending`, async () => {
        vendor.next([atHead(), stopReading(), ...errorAnswer(status), silence()]);
        const answer = await ask('POST', '/v1/files', {}, large);
        assert.deepEqual([answer.status, codeOf(answer)], [status, `vendor_${status}`]);
        assert.equal(last().complete, false);
      });
    }

    it('answers a success that comes while the client is still sending, and serves its connection again', async () => {
      vendor.next([atHead(), ...jsonAnswer(200, { early: true }), silence()]);
      const client = await rawConnection(gateway.port);
      const headers = { ...bearer(gateway.key), 'content-length': String(large.length) };
      await client.write(requestText('POST', '/v1/files', headers, large.subarray(0, 100)));
      assert.equal((await client.response()).text, '{"early":true}');
      await client.write(large.subarray(100));
      await client.write(requestText('GET', '/v1/files', bearer(gateway.key)));
      assert.equal((await client.response()).text, '{"ok":true}');
      client.abort();
    });

    it('lets the vendor wait for a client that reads slowly, then hands over every byte', async () => {
      const piece = randomBytes(1 << 20);
      const count = 40;
      vendor.next([
        head(200, { 'content-length': String(count * piece.length) }),
        ...Array.from({ length: count }, () => bytes(piece)),
      ]);
      const client = await rawConnection(gateway.port);
      client.pause();
      const seen = vendor.requests.length;
      await client.write(requestText('GET', '/v1/files/1/content', bearer(gateway.key)));
      await vendor.waitFor(() => vendor.requests.length > seen);
      await settleDown(() => last().sentBytes);
      assert.ok(last().sentBytes < 25 << 20, `${last().sentBytes} bytes were taken`);
      assert.ok(admitted.at(-1)!.response.writableLength < 2 << 20);
      client.resume();
      const answer = await client.response();
      client.abort();
      assert.equal(answer.complete, true);
      assert.equal(sha(answer.body), sha(Buffer.concat(Array.from({ length: count }, () => piece))));
    });

    it('tells the vendor when the client leaves in the middle of an answer', async () => {
      vendor.next([head(200, { 'transfer-encoding': 'chunked' }), chunk('begun'), silence()]);
      const client = await rawConnection(gateway.port);
      await client.write(requestText('GET', '/v1/files/1/content', bearer(gateway.key)));
      await client.until('begun');
      client.abort();
      await over();
      assert.equal(last().state, 'aborted');
      await isWell();
    });
  });

  describe('is booked', () => {
    it('at its price where the vendor answers with a success, before the client has the end of the answer', async () => {
      const key = await gateway.customer(9);
      const answers: readonly Script[] = [
        sized(200, 'text/plain', 'whole'),
        [head(201, { 'content-length': '5' }), bytes('who'), bytes('le')],
        [head(200, { 'transfer-encoding': 'chunked' }), chunk('whole'), lastChunk()],
        [head(204, { 'content-length': '0' })],
      ];
      for (const script of answers) {
        vendor.next(script);
        const answer = await ask('POST', '/v1/batches', bearer(key), '{}');
        assert.equal(answer.text, answer.status === 204 ? '' : 'whole');
        const { charged, outcome, channel } = recordOf(gateway, answer);
        assert.deepEqual([charged, outcome, channel], [2_000_000n, 'served', 'main']);
      }
      const [answer, seen] = await counting(() => ask('POST', '/v1/batches', bearer(key), '{}'));
      assert.deepEqual([answer.status, codeOf(answer), seen], [403, 'QUOTA_USER_INSUFFICIENT', 0]);
    });

    for (const [name, script, first] of [
      ['a whole answer', sized(200, 'text/plain', 'whole'), ''],
      [
        'an answer with a length',
        [head(200, { 'content-length': '5' }), bytes('who'), hold('rest'), bytes('le')],
        'who',
      ],
      ['an answer in chunks', [head(200, { 'transfer-encoding': 'chunked' }), chunk('whole'), lastChunk()], 'whole'],
      ['an answer without a body', [head(204, {})], ''],
    ] as const satisfies readonly (readonly [string, Script, string])[]) {
      it(`before the end of ${name} leaves`, async () => {
        let finish = (): void => {};
        const entered = new Promise<void>((enter) => {
          settling = () => {
            enter();
            return new Promise((done) => {
              finish = done;
            });
          };
        });
        vendor.next([...script]);
        const client = await rawConnection(gateway.port);
        await client.write(requestText('POST', '/v1/batches', bearer(gateway.key), '{}'));
        if (first !== '') await client.until(first);
        vendor.release('rest');
        await entered;
        await settleDown(() => client.received.length);
        const received = client.received.toString();
        if (first === '') assert.equal(received, '');
        else
          assert.ok(received.includes(first) && !received.endsWith('le') && !received.endsWith('0\r\n\r\n'), received);
        settling = undefined;
        finish();
        const answer = await client.response();
        client.abort();
        assert.equal(answer.complete, true);
        // Where the head has waited, it can tell the price.
        assert.equal(answer.headers['x-turnpike-cost'], first === '' ? '2' : undefined);
      });
    }

    it('at nothing where the vendor does not', async () => {
      for (const script of [errorAnswer(404), errorAnswer(500), [fin()], htmlAnswer()]) {
        vendor.next(script);
        const answer = await ask('POST', '/v1/batches', {}, '{}');
        assert.equal(recordOf(gateway, answer).charged, 0n);
      }
    });
  });
});

describe('a passthrough where keys stand in another member of the query', () => {
  it('goes without that one, whatever it is called, and with all others', async () => {
    const vendor = await fakeVendor(() => jsonAnswer(200, {}));
    const gateway = await passing(vendor, { auth: { query: 'api_key' } });
    try {
      const answer = await rawRequest(
        gateway.port,
        requestText('GET', '/v1/files?key=a-sort-key&api_key=canary&limit=2&api_key=canary', bearer(gateway.key)),
      );
      assert.equal(answer.status, 200);
      assert.equal(vendor.requests.at(-1)!.path, '/v1/files?key=a-sort-key&limit=2');
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });
});

describe('a passthrough that takes too long', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let clock: FakeClock;
  before(async () => {
    vendor = await fakeVendor();
    clock = fakeClock();
    gateway = await passing(vendor, {}, clock);
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  it('ends with 504 where no answer comes', async () => {
    vendor.next([silence()]);
    const answer = rawRequest(gateway.port, requestText('POST', '/v1/files', bearer(gateway.key), 'body'));
    await vendor.waitFor(() => vendor.requests.at(-1)?.complete === true);
    // The end of the body is behind it here as soon as it is there.
    await settleDown(() => vendor.requests.length);
    clock.advance(11_000);
    const { status } = await answer;
    assert.equal(status, 504);
    await vendor.waitFor(() => vendor.inFlight === 0);
  });

  it('breaks off where the answer does not go on', async () => {
    vendor.next([head(200, { 'content-length': '10' }), bytes('half'), silence()]);
    const client = await rawConnection(gateway.port);
    await client.write(requestText('GET', '/v1/files/1', bearer(gateway.key)));
    await client.until('half');
    clock.advance(11_000);
    const answer = await client.response();
    assert.deepEqual([answer.text, answer.complete], ['half', false]);
    assert.equal(recordOf(gateway, answer).attempts[0]!.failure, 'timeout');
    await vendor.waitFor(() => vendor.inFlight === 0);
  });

  it('breaks off where the client does not read', async () => {
    vendor.next([
      head(200, { 'transfer-encoding': 'chunked' }),
      ...Array.from({ length: 64 }, () => chunk(Buffer.alloc(1 << 20))),
      silence(),
    ]);
    const client = await rawConnection(gateway.port);
    client.pause();
    const seen = vendor.requests.length;
    await client.write(requestText('GET', '/v1/files/1', bearer(gateway.key)));
    await vendor.waitFor(() => vendor.requests.length > seen);
    await settleDown(() => vendor.requests.at(-1)!.sentBytes);
    clock.advance(121_000);
    await vendor.waitFor(() => vendor.inFlight === 0);
    assert.equal(vendor.requests.at(-1)!.state, 'aborted');
    client.abort();
  });
});

describe('a websocket inside a passthrough', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    gateway = await passing(vendor, { limits: { concurrent: 1 } });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const open = (headers: Record<string, string> = bearer(gateway.key), protocols: string[] = []): WebSocket =>
    new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?model=m&key=canary-query`, protocols, { headers });
  /** What a client that is refused gets. */
  const refused = async (webSocket: WebSocket): Promise<{ readonly status: number; readonly code: unknown }> => {
    webSocket.on('error', () => {});
    const [, answer] = (await once(webSocket, 'unexpected-response')) as [unknown, import('node:http').IncomingMessage];
    const text = Buffer.concat(await answer.toArray()).toString();
    return { status: answer.statusCode!, code: (JSON.parse(text) as { error: { code: unknown } }).error.code };
  };
  const echoed = async (webSocket: WebSocket, message: string | Buffer): Promise<Buffer> => {
    webSocket.send(message);
    const [data] = (await once(webSocket, 'message')) as [Buffer];
    return data;
  };
  /** The record of the last exchange, once it is over. */
  const ended = (): Promise<UsageRow> => booked(gateway, admitted.at(-1)!);

  it('carries messages both ways, small and large', async () => {
    const webSocket = open();
    await once(webSocket, 'open');
    assert.equal((await echoed(webSocket, 'hello')).toString(), 'hello');
    const large = randomBytes(3 << 20);
    assert.equal(sha(await echoed(webSocket, large)), sha(large));
    webSocket.close(1000, 'done');
    const [code, reason] = (await once(webSocket, 'close')) as [number, Buffer];
    assert.deepEqual([code, reason.toString()], [1000, 'done']);
    const { outcome, status, charged, channel } = await ended();
    assert.deepEqual([outcome, status, charged, channel], ['served', 101, 1_000_000n, 'main']);
  });

  it('T-PRX-08: tells the vendor nothing of the client’s but what a websocket needs', async () => {
    const headers = {
      ...bearer(gateway.key),
      cookie: 'canary-cookie',
      origin: 'https://canary-page',
      'x-api-key': gateway.key,
    };
    const webSocket = open(headers, ['realtime', 'some-api-key.canary-protocol']);
    vendor.onUpgrade = (theirs) => theirs.close();
    await once(webSocket, 'close');
    const request = vendor.requests.at(-1)!;
    assert.equal(request.path, '/v1/realtime?model=m');
    assert.equal(request.headers.authorization, `Bearer ${VENDOR_KEY}`);
    assert.equal(request.headers['sec-websocket-protocol'], 'realtime');
    assert.equal(webSocket.protocol, 'realtime');
    assert.ok(!wire(request).replaceAll(VENDOR_KEY, '').includes('canary'), wire(request));
    assert.ok(!wire(request).includes(gateway.key));
    await ended();
  });

  it('is opened by a page of a browser, which can only name its key among the protocols', async () => {
    const key = `openai-insecure-api-key.${gateway.key}`;
    const webSocket = open({}, ['realtime', key, 'openai-beta.realtime-v1']);
    await once(webSocket, 'open');
    assert.equal(webSocket.protocol, 'realtime');
    const request = vendor.requests.at(-1)!;
    assert.equal(request.headers['sec-websocket-protocol'], 'realtime, openai-beta.realtime-v1');
    assert.ok(!wire(request).includes(gateway.key));
    assert.ok(!gateway.log.join('').includes(gateway.key));
    webSocket.close();
    await ended();
    const other = await gateway.customer(1_000);
    assert.deepEqual(await refused(open(bearer(other), ['realtime', key])), { status: 401, code: 'invalid_api_key' });
  });

  it('tells the client nothing of the vendor’s but what a websocket needs', async () => {
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    vendor.next([
      head(101, {
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
        'set-cookie': 'canary=1',
        server: 'canary',
      }),
      silence(),
    ]);
    const client = await rawConnection(gateway.port);
    const headers = {
      ...bearer(gateway.key),
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': key,
      'sec-websocket-version': '13',
    };
    await client.write(requestText('GET', '/v1/realtime', headers));
    const answer = await client.response();
    assert.equal(answer.status, 101);
    assert.equal(answer.headers['sec-websocket-accept'], 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    assert.ok(!JSON.stringify(answer.headers).includes('canary'));
    // The vendor would never close it.
    client.abort();
    assert.equal((await ended()).outcome, 'served');
    await vendor.waitFor(() => vendor.inFlight === 0);
  });

  it('holds its place among the calls that run at a time until it is closed, by whichever side', async () => {
    let theirs: { close(): void } | undefined;
    vendor.onUpgrade = (webSocket) => {
      theirs = webSocket;
    };
    for (const close of [
      (ours: WebSocket) => ours.close(),
      () => theirs!.close(),
      (ours: WebSocket) => ours.terminate(),
    ]) {
      const webSocket = open();
      await once(webSocket, 'open');
      assert.deepEqual(await refused(open()), { status: 429, code: 'concurrency_limit_exceeded' });
      const x = admitted.at(-1)!;
      close(webSocket);
      await once(webSocket, 'close');
      assert.equal((await booked(gateway, x)).outcome, 'served');
    }
  });

  it('is refused to a client nobody knows, and without a word to the vendor', async () => {
    const seen = vendor.requests.length;
    assert.deepEqual(await refused(open({})), { status: 401, code: 'invalid_api_key' });
    const client = await rawConnection(gateway.port);
    await client.write(requestText('GET', '/v1/realtime', { connection: 'Upgrade', upgrade: 'websocket' }));
    assert.equal((await client.response()).status, 401);
    assert.equal(await client.ended, 'fin');
    assert.equal(vendor.requests.length, seen);
  });

  for (const [said, status, code] of [
    [errorAnswer(404), 404, 'upstream_refused'],
    [errorAnswer(401, `bad key ${VENDOR_KEY}`), 502, 'upstream_error'],
    [errorAnswer(429), 429, 'rate_limit_exceeded'],
    [errorAnswer(500), 502, 'upstream_error'],
    [jsonAnswer(200, {}), 502, 'upstream_error'],
    [[head(302, { location: '/', 'content-length': '0' })], 502, 'upstream_error'],
    [[fin()], 502, 'bad_upstream_response'],
  ] as const) {
    const what = said[0]?.kind === 'bytes' ? said[0].bytes.toString().slice(9, 12) : 'no word';
    it(`is refused with our error where the vendor answers with ${what}`, async () => {
      vendor.next([...said]);
      assert.deepEqual(await refused(open()), { status, code });
      const { outcome, charged } = await ended();
      assert.deepEqual([outcome, charged], [status === 404 ? 'refused' : 'failed', 0n]);
      await vendor.waitFor(() => vendor.inFlight === 0);
    });
  }

  it('is closed when the gateway stops and its patience ends', async () => {
    const other = await passing(vendor, { listen: { host: '127.0.0.1', port: 0, drain: '0s' } });
    vendor.onUpgrade = (theirs) => theirs.send('welcome');
    const webSocket = new WebSocket(`${other.url.replace('http', 'ws')}/v1/realtime`, { headers: bearer(other.key) });
    await once(webSocket, 'message');
    const closed = once(webSocket, 'close');
    await other.stop();
    const [code] = (await closed) as [number];
    assert.equal(code, 1006);
  });
});

describe('a websocket on which nothing happens', () => {
  it('is closed after the channel’s `idle`, and not while something does', async () => {
    const clock = fakeClock();
    const vendor = await fakeVendor();
    const gateway = await passing(vendor, {}, clock);
    try {
      const webSocket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime`, {
        headers: bearer(gateway.key),
      });
      await once(webSocket, 'open');
      for (let i = 0; i < 3; i++) {
        webSocket.send('ping');
        await once(webSocket, 'message');
        clock.advance(10_050);
      }
      assert.equal(webSocket.readyState, WebSocket.OPEN);
      clock.advance(20_100);
      await once(webSocket, 'close');
    } finally {
      await gateway.stop();
      await vendor.close();
    }
  });
});

describe('the section `passthrough`', () => {
  const mistakes = async (entries: unknown): Promise<string> => {
    const vendor = await fakeVendor();
    try {
      await passing(vendor, { passthrough: entries });
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.message;
    } finally {
      await vendor.close();
    }
    return assert.fail('the gateway started');
  };

  it('names every entry that is written wrong', async () => {
    const message = await mistakes([
      { prefix: '/api/x', channel: 'main', free: true },
      { prefix: '/v1/../x', channel: 'main', free: true },
      { prefix: '/v1', channel: 'main', free: true },
      { prefix: '/v1/x', channel: 'main', price: 0 },
      { prefix: '/v1/x', channel: 'main', price: 0.5 },
      { prefix: '/v1/x', channel: 'main', path: 'x', free: true },
    ]);
    for (const place of ['[0].prefix', '[1].prefix', '[2].prefix', '[3].price', '[4].price', '[5].path']) {
      assert.ok(message.includes(`passthrough${place}`), `${place} in ${message}`);
    }
  });

  it('names every entry that cannot work', async () => {
    const entries = [
      [{ prefix: '/v1/a', channel: 'main' }, /\[0\].*set either `price`/],
      [{ prefix: '/v1/b', channel: 'main', free: true, price: 1 }, /\[1\].*set either `price`/],
      [{ prefix: '/v1/c', channel: 'nowhere', free: true }, /\[2\].*no channel 'nowhere'/],
      [{ prefix: '/v1/d', channel: 'demo', free: true }, /\[3\].*does not support passthrough routes/],
      [{ prefix: '/v1/chat/completions', channel: 'main', free: true }, /\[4\].*the style 'chat'/],
      [{ prefix: '/v1/chat', channel: 'main', free: true }, /\[5\].*the style 'chat'/],
      [{ prefix: '/v1/a', channel: 'main', free: true }, /\[6\].*listed twice/],
    ] as const;
    const message = await mistakes(entries.map(([entry]) => entry));
    for (const [, said] of entries) assert.match(message, said);
  });
});
