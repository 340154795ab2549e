/** The rules of HTTP at the gateway's door: what is refused, how, and that nothing ever slips through behind a refusal. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Headers } from '../../../core/contracts/definitions.ts';
import { definePlugin, refuse } from '../../../core/plugin.ts';
import { connectionsWithin, descriptorLimit } from '../../../core/server/descriptors.ts';
import { Lines } from '../../../core/server/pipelining.ts';
import { createGatewayServer, type ServerOptions } from '../../../core/server/server.ts';
import { type RawConnection, type RawResponse, rawConnection, rawRequest } from '../../kit/clients/raw-client.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { chatBody, chatEvents, chatRequest } from '../../kit/gateway/fixtures.ts';
import { defaultConfig, startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, hold, jsonAnswer, streamAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const PATH = '/v1/chat/completions';
const LIMIT = 8 << 10;

interface Stand {
  readonly gateway: TestGateway;
  readonly vendor: FakeVendor;
  readonly clock: FakeClock;
  /** How often the handler of the plugin's own routes ran. */
  readonly handled: string[];
}

async function open(): Promise<Stand> {
  const vendor = await fakeVendor();
  const clock = fakeClock();
  const handled: string[] = [];
  const handle = ({ path }: { readonly path: string }) => {
    handled.push(path);
    return { ok: true };
  };
  const probe = definePlugin({
    name: 'probe',
    api: 2,
    create: () => ({
      routes: [
        { method: 'GET', path: '/v1/probe', access: ['key'], handle },
        { method: 'POST', path: '/v1/probe', access: ['key'], handle },
        { method: 'GET', path: '/v1/probe/:id/part', access: ['key'], handle },
        { method: 'GET', path: '/v1/probe/rest/:id*', access: ['key'], handle },
      ],
    }),
  });
  const standard = defaultConfig([vendor]);
  const gateway = await startGateway({
    vendor,
    clock,
    plugins: [probe],
    config: {
      listen: { port: 0, body: { json: '8kb', upload: '8kb' } },
      pipeline: [...(standard.pipeline as string[]), 'passthrough'],
      passthrough: [{ prefix: '/v1/files', channel: 'main', free: true }],
    },
  });
  return { gateway, vendor, clock, handled };
}

let stand: Stand;
before(async () => {
  stand = await open();
});
after(async () => {
  await stand.gateway.stop();
  await stand.vendor.close();
});
afterEach(async () => {
  await checkService(stand);
});

/** Whatever has been sent before: an honest call is served, and nothing was an accident of the gateway's. */
async function checkService({ gateway }: Stand): Promise<void> {
  const answer = await rawRequest(gateway.port, call({ user: 'honest' }));
  assert.equal(answer.status, 200);
  checkHeaders(answer.headers);
  assert.deepEqual(
    gateway.log.filter((line) => line.includes('"level":"error"')),
    [],
  );
}

/** A request, byte by byte: header lines as given, none added. */
function request(start: string, lines: readonly string[], body: string | Buffer = ''): Buffer {
  const head = [start, ...lines].map((line) => `${line}\r\n`).join('');
  return Buffer.concat([Buffer.from(`${head}\r\n`, 'latin1'), Buffer.from(body)]);
}
function authorized(...more: readonly string[]): readonly string[] {
  return ['host: localhost', `authorization: Bearer ${stand.gateway.key}`, ...more];
}
const JSON_TYPE = 'content-type: application/json';
function lengthOf(body: string | Buffer): string {
  return `content-length: ${Buffer.byteLength(body)}`;
}
function body(more: Parameters<typeof chatRequest>[0] = {}): string {
  return JSON.stringify(chatRequest({ model: 'test-model', max_tokens: 16, ...more }));
}
/** An honest call. */
function call(more: Parameters<typeof chatRequest>[0] = {}): Buffer {
  const text = body(more);
  return request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE, lengthOf(text)), text);
}
/** A call with these header lines beside the usual ones, and the body framed unless they frame it. */
function callWith(...lines: readonly string[]): Buffer {
  const text = body();
  const framed = lines.some((line) => /^(content-length|transfer-encoding)/i.test(line));
  const all = [JSON_TYPE, ...(framed ? [] : [lengthOf(text)]), ...lines];
  return request(`POST ${PATH} HTTP/1.1`, authorized(...all), text);
}
function get(path: string, ...lines: readonly string[]): Buffer {
  return request(`GET ${path} HTTP/1.1`, authorized(...lines));
}
function inChunks(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}

/** What every answer carries, whatever it says. */
function checkHeaders(headers: Headers): void {
  assert.match(headers['x-request-id'] ?? '', /^[0-9a-v]{26}$/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.match(headers['content-type'] ?? '', /^(application\/json|text\/event-stream)/);
  for (const name of ['server', 'x-powered-by', 'set-cookie', 'location', 'via'])
    assert.equal(headers[name], undefined);
}

interface ErrorObject {
  readonly message: string;
  readonly type: string;
  readonly param: string;
  readonly code: string;
}

/** The error object of a refusal: four strings, the message for people. */
function errorOf(answer: RawResponse): ErrorObject {
  checkHeaders(answer.headers);
  assert.equal(answer.complete, true);
  const { error } = JSON.parse(answer.text) as { error: Record<string, unknown> };
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
  for (const member of Object.values(error)) assert.equal(typeof member, 'string');
  assert.match(String(error.message), /^[`A-Z].{10,}[.?]$/s);
  return error as unknown as ErrorObject;
}

/** One request on a connection of its own. */
async function ask<T>(bytes: Buffer | string, use: (client: RawConnection) => Promise<T>): Promise<T> {
  const client = await rawConnection(stand.gateway.port);
  try {
    await client.write(bytes);
    return await use(client);
  } finally {
    client.abort();
  }
}

/** Resolves when a connection has been closed, by whoever still waited for the rest of a request two seconds later at the latest. */
async function closed(client: RawConnection): Promise<void> {
  stand.clock.advance(2_000);
  await client.ended;
}

interface Case {
  readonly name: string;
  readonly bytes: () => Buffer | string;
  readonly status: number;
  readonly code?: string;
  readonly param?: string;
  readonly allow?: string;
  readonly says?: RegExp;
  /** True where the connection must be closed, because nobody can be sure where the next request begins. */
  readonly closes?: boolean;
}

/** A case, in one row. */
function refusal(name: string, bytes: Case['bytes'], status: number, more: Partial<Case> = {}): Case {
  return { name, bytes, status, ...more };
}

/** Every case is refused as it says, and no vendor and no handler ever hears of it. */
function refuses(cases: readonly Case[]): void {
  for (const { name, bytes, status, code, param, allow, says, closes } of cases) {
    it(`${name}: ${status}`, async () => {
      const { vendor, handled } = stand;
      const asked = vendor.requests.length;
      const ran = handled.length;
      await ask(bytes(), async (client) => {
        const answer = await client.response();
        assert.equal(answer.status, status, answer.text);
        const error = errorOf(answer);
        if (code !== undefined) assert.equal(error.code, code);
        if (param !== undefined) assert.equal(error.param, param);
        if (allow !== undefined) assert.equal(answer.headers.allow, allow);
        if (says !== undefined) assert.match(error.message, says);
        if (closes) {
          assert.match(answer.headers.connection ?? '', /\bclose$/);
          await closed(client);
        }
      });
      assert.equal(vendor.requests.length, asked);
      assert.equal(handled.length, ran);
    });
  }
}

describe('T-FRM-02 the host of a request', () => {
  const host =
    (...lines: readonly string[]) =>
    () =>
      request('GET /v1/models HTTP/1.1', [...lines, `authorization: Bearer ${stand.gateway.key}`]);
  refuses([
    refusal('comes twice', host('host: a', 'host: a'), 400, { code: 'duplicate_header', closes: true }),
    refusal('comes twice and differs', host('host: a', 'Host: b'), 400, { param: 'host', closes: true }),
    refusal('is missing', host(), 400, { code: 'invalid_host', closes: true }),
    ...['', 'a@b', 'a/b?x', 'a b', 'a,b', 'a\\b', 'http://a', 'a#b', '{a}', 'a%00'].map((name) =>
      refusal(`is ${JSON.stringify(name)}`, host(`host: ${name}`), 400, { code: 'invalid_host', closes: true }),
    ),
  ]);
  for (const name of ['localhost', 'gateway.example.com:8443', '127.0.0.1', '[::1]:80']) {
    it(`may be ${name}`, async () => {
      const answer = await ask(host(`host: ${name}`)(), (client) => client.response());
      assert.equal(answer.status, 200);
    });
  }
});

describe('T-FRM-03 the version of HTTP', () => {
  refuses([
    refusal('is 0.9', () => 'GET /v1/models\r\n\r\n', 505, { code: 'http_version_not_supported', closes: true }),
    refusal(
      'is 1.0 with chunks',
      () => request(`POST ${PATH} HTTP/1.0`, authorized(JSON_TYPE, 'transfer-encoding: chunked'), inChunks(body())),
      505,
      { closes: true },
    ),
    ...['HTTP/1.2', 'HTTP/3.0', 'HTTP/11', 'http/1.1', 'HTTP/1.1 x'].map((version) =>
      refusal(`is ${version}`, () => request(`GET /v1/models ${version}`, authorized()), 400, { closes: true }),
    ),
    refusal('is the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, { closes: true }),
  ]);
  it('may be 1.0, also without a host', async () => {
    const text = request('GET /v1/models HTTP/1.0', [`authorization: Bearer ${stand.gateway.key}`]);
    await ask(text, async (client) => {
      assert.equal((await client.response()).status, 200);
      await client.ended;
    });
  });
});

describe('T-FRM-04 the framing of a body', () => {
  const chunked =
    (...lines: readonly string[]) =>
    () =>
      request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE, ...lines), inChunks(body()));
  const CODINGS = [
    'gzip, chunked',
    'cow, chunked',
    'chunked, chunked',
    'chunked, identity',
    'identity',
    'gzip',
    'xchunked',
    'chunked;q=1',
    '"chunked"',
    'chunked,',
    ', chunked',
    '',
  ];
  refuses([
    ...CODINGS.map((coding) =>
      refusal(`is Transfer-Encoding ${JSON.stringify(coding)}`, chunked(`transfer-encoding: ${coding}`), 400, {
        closes: true,
      }),
    ),
    refusal('is Transfer-Encoding twice', chunked('transfer-encoding: chunked', 'Transfer-Encoding: chunked'), 400, {
      closes: true,
    }),
    refusal(
      'is Transfer-Encoding and Content-Length',
      chunked('transfer-encoding: chunked', 'content-length: 5'),
      400,
      { closes: true },
    ),
    refusal(
      'is Content-Length and Transfer-Encoding',
      chunked('content-length: 5', 'transfer-encoding: chunked'),
      400,
      { closes: true },
    ),
    ...['010', '+2', '0x2', '-2', '2, 2', '2 2', '2.0', '2e0', '', '99999999999999999999', 'two', '00'].map((length) =>
      refusal(`is Content-Length ${JSON.stringify(length)}`, () => callWith(`content-length: ${length}`), 400, {
        closes: true,
      }),
    ),
    refusal('is two equal Content-Lengths', () => callWith(lengthOf(body()), lengthOf(body())), 400, { closes: true }),
    refusal('is two different Content-Lengths', () => callWith(lengthOf(body()), 'content-length: 0'), 400, {
      closes: true,
    }),
  ]);
  for (const coding of ['chunked', 'Chunked', 'CHUNKED', '  chunked ']) {
    it(`may be Transfer-Encoding ${JSON.stringify(coding)}`, async () => {
      const answer = await ask(chunked(`transfer-encoding:${coding}`)(), (client) => client.response());
      assert.equal(answer.status, 200);
    });
  }
});

describe('T-FRM-05 a header that must come once', () => {
  refuses(
    ['authorization', 'content-type', 'x-api-key', 'x-goog-api-key', 'cookie', 'expect'].flatMap((name) =>
      ['a', 'b'].map((second) =>
        refusal(
          `${name} comes twice and ${second === 'a' ? 'is the same' : 'differs'}`,
          () => request('GET /v1/models HTTP/1.1', ['host: a', `${name}: a`, `${name.toUpperCase()}: ${second}`]),
          400,
          { code: 'duplicate_header', param: name, closes: true },
        ),
      ),
    ),
  );
});

describe('T-FRM-06 a method', () => {
  const ALL = 'GET, HEAD, POST, PUT, DELETE, OPTIONS';
  const withMethod = (method: string, path: string) => () => request(`${method} ${path} HTTP/1.1`, authorized());
  refuses([
    // The parser does not know the last ones, so their path is not known, either.
    ...[...['TRACE', 'PATCH', 'PROPFIND', 'PURGE'], ...['FOO', 'post', 'Get', 'GETT']].map((method, i) =>
      refusal(`${method} is served nowhere`, withMethod(method, '/v1/models'), 405, {
        code: 'method_not_allowed',
        allow: i < 4 ? 'GET, HEAD, OPTIONS' : ALL,
        closes: true,
      }),
    ),
    refusal('PATCH of nothing', withMethod('PATCH', '/v1/nosuch'), 404, { closes: true }),
    refusal('CONNECT opens no tunnel', withMethod('CONNECT', 'a:443'), 405, { allow: ALL, closes: true }),
    ...['GET', 'PUT', 'DELETE'].map((method) =>
      refusal(`${method} makes no call`, withMethod(method, PATH), 405, { allow: 'POST, OPTIONS' }),
    ),
    ...['PUT', 'POST', 'DELETE'].map((method) =>
      refusal(`${method} lists no models`, withMethod(method, '/v1/models'), 405, { allow: 'GET, HEAD, OPTIONS' }),
    ),
    refusal('DELETE has no handler here', withMethod('DELETE', '/v1/probe'), 405, {
      allow: 'GET, HEAD, POST, OPTIONS',
    }),
    refusal('OPTIONS of nothing', withMethod('OPTIONS', '/v1/nosuch'), 404),
  ]);

  it('OPTIONS names the methods of a path, and of the whole gateway', async () => {
    for (const [target, allow] of [
      ['/v1/models', 'GET, HEAD, OPTIONS'],
      ['/v1/probe', 'GET, HEAD, POST, OPTIONS'],
      [PATH, 'POST, OPTIONS'],
      ['*', ALL],
    ]) {
      const answer = await ask(withMethod('OPTIONS', target!)(), (client) => client.response());
      assert.deepEqual([answer.status, answer.headers.allow], [204, allow], target);
    }
  });

  it('HEAD is answered like GET, without the body', async () => {
    await ask(request('HEAD /v1/models HTTP/1.1', authorized()), async (client) => {
      const answer = await client.response({ bodiless: true });
      assert.equal(answer.status, 200);
      assert.notEqual(answer.headers['content-length'], '0');
      await client.write(get('/v1/models'));
      assert.equal((await client.response()).status, 200);
    });
  });
});

describe('T-FRM-06 an upgrade', () => {
  const upgrade =
    (protocol: string, path: string, start = 'GET') =>
    () =>
      request(`${start} ${path} HTTP/1.1`, authorized('connection: Upgrade', `upgrade: ${protocol}`));
  refuses([
    ...[
      upgrade('websocket', '/v1/models'),
      upgrade('websocket', PATH, 'POST'),
      upgrade('h2c', '/v1/models'),
      upgrade('h2c', '/v1/files/a'),
      upgrade('TLS/1.0', '/v1/probe'),
    ].map((bytes, i) => refusal(`is not served (${i})`, bytes, 426, { code: 'upgrade_not_served', closes: true })),
    refusal('goes nowhere', upgrade('websocket', '/v2'), 404, { closes: true }),
  ]);
  it('of a path that takes calls is refused with the status by which coding clients fall back at once', async () => {
    const bytes = upgrade('websocket', '/v1/responses')();
    await ask(bytes, async (client) => {
      const answer = await client.response();
      assert.equal(answer.status, 426);
      assert.deepEqual([answer.headers.upgrade, answer.headers.connection], ['HTTP/1.1', 'upgrade, close']);
      assert.equal(JSON.parse(answer.text).error.code, 'upgrade_not_served');
    });
  });
  it('that the connection does not ask for is only a header, and goes no further', async () => {
    const answer = await ask(callWith('upgrade: websocket'), (client) => client.response());
    assert.equal(answer.status, 200);
    assert.equal(stand.vendor.requests.at(-1)!.headers.upgrade, undefined);
  });
});

/** Ways to write a path that some server or proxy takes for the path itself. */
function variantsOf(path: string): readonly string[] {
  const last = path.lastIndexOf('/');
  const parent = path.slice(0, last);
  const name = path.slice(last + 1);
  const escaped = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
  return [
    `ftp://localhost${path}`,
    `//localhost${path}`,
    path.slice(1),
    `${path}/`,
    `${path}//`,
    `/${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `${parent}//${name}`,
    `${parent}/./${name}`,
    `${parent}/x/../${name}`,
    `${path}/.`,
    `${path}/..`,
    `${path}/../${name}`,
    `${parent}/..;/${name}`,
    `${parent}/.;/${name}`,
    `${parent}/%2e/${name}`,
    `${parent}/x/%2e%2E/${name}`,
    `${parent}/x/.%2e/${name}`,
    `${parent}/%252e%252e/${name}`,
    `${parent}%2f${name}`,
    `${parent}%2F${name}`,
    `${parent}%5c${name}`,
    `${parent}\\${name}`,
    `${parent}/${escaped}`,
    path.toUpperCase(),
    `${parent}/${name[0]!.toUpperCase()}${name.slice(1)}`,
    `${path};x`,
    `${path};x=/..`,
    `${path}%00`,
    `${path}%0d%0a`,
    `${path}%20`,
    `${path}.json`,
    `${path}#a`,
    `${path}#?a`,
    `${path}%23`,
    `${path}%3fa`,
    `${path}&a`,
    `${path}\xe9`,
    `${path}?#`,
    `${path}?\\`,
  ];
}

describe('T-FRM-07 the target of a request', () => {
  refuses([
    ...[
      'http://localhost//v1/models',
      'http://a@localhost/v1/models',
      'ftp://localhost/v1/models',
      '/v1/models/%zz',
      '/v1/models/%ff',
      '//v1/models',
      '/v1//models',
      '/v1/models//',
      '/v1/models#a',
      '/v1/models?a#b',
      '/v1\\models',
      '/v1/%2e%2e/v1/models',
      '/v1/%2E/models',
      '/v1/models%00',
      '/./v1/models',
      '/v1/../v1/models',
      '/v1/models/..',
      '/v1/models/.',
      '/v1/models/..;/x',
      '/v1%5cmodels',
      '/v1/mod\xe8les',
      '*',
      'v1/models',
    ].map((target) => refusal(`is ${target}`, () => get(target), 400, { closes: true })),
    ...[
      '/v1/models/',
      '/v1/models;x',
      '/V1/models',
      '/v1/Models',
      '/v1/models%20',
      '/v1%2fmodels',
      '/v1/models%3f',
      '/v1/%6dodels',
      '/v1/probe;x/part',
      '/v1/probe//part',
      '/v1/files;x',
      '/v1/filesx',
      '/',
      '/v1',
    ].map((target) => refusal(`is ${target}`, () => get(target), target.includes('//') ? 400 : 404)),
  ]);

  it('is the address of a call, or no call is made', async () => {
    const { vendor, gateway } = stand;
    const asked = vendor.requests.length;
    const text = body();
    for (const target of variantsOf(PATH)) {
      const bytes = request(`POST ${target} HTTP/1.1`, authorized(JSON_TYPE, lengthOf(text)), text);
      const { status } = await rawRequest(gateway.port, bytes);
      assert.ok(status === 400 || status === 404, `${target}: ${status}`);
    }
    assert.equal(vendor.requests.length, asked);
  });

  refuses(
    [
      ['/chat/completions', '/v1/chat/completions'],
      ['/v1/v1/chat/completions', '/v1/chat/completions'],
      ['/v1/chat/completions/', '/v1/chat/completions'],
      ['/V1/Chat/Completions', '/v1/chat/completions'],
      ['/models', '/v1/models'],
      ['/models/test-model', '/v1/models/test-model'],
      ['/files/a', '/v1/files/a'],
    ].map(([wrong, right]) =>
      refusal(`is ${wrong}, and the answer names ${right}`, () => get(wrong!), 404, {
        code: 'not_found',
        says: new RegExp(`Did you mean ${right}\\?$`),
      }),
    ),
  );
});

it('T-FRM-07 the target of a request to a proxy is served, and a query goes with it', async () => {
  for (const target of ['http://localhost/v1/models', 'HTTPS://gateway.example:8080/v1/models?a=b']) {
    const answer = await ask(get(target), (client) => client.response());
    assert.equal(answer.status, 200, target);
  }
});

describe('T-FRM-08 a body where none belongs', () => {
  refuses(
    ['GET', 'DELETE', 'OPTIONS'].flatMap((method) => [
      refusal(
        `${method} with a length`,
        () => request(`${method} /v1/models HTTP/1.1`, authorized(JSON_TYPE, 'content-length: 2'), '{}'),
        400,
        { code: 'unexpected_body', closes: true },
      ),
      refusal(
        `${method} in chunks`,
        () =>
          request(`${method} /v1/models HTTP/1.1`, authorized(JSON_TYPE, 'transfer-encoding: chunked'), inChunks('{}')),
        400,
        { code: 'unexpected_body', closes: true },
      ),
      refusal(
        `${method} in no chunks at all`,
        () => request(`${method} /v1/models HTTP/1.1`, authorized('transfer-encoding: chunked'), '0\r\n\r\n'),
        400,
        { code: 'unexpected_body', closes: true },
      ),
    ]),
  );
  it('HEAD with a length: 400', async () => {
    await ask(request('HEAD /v1/models HTTP/1.1', authorized('content-length: 2'), '{}'), async (client) => {
      assert.equal((await client.response({ bodiless: true })).status, 400);
      await client.ended;
    });
  });
  it('GET may say that it has none', async () => {
    const answer = await ask(get('/v1/models', 'content-length: 0'), (client) => client.response());
    assert.equal(answer.status, 200);
  });
});

describe('T-FRM-09 an expectation', () => {
  refuses(
    ['other', '200-ok', '100-continue, other', '100-continued', 'x 100-continue', ''].map((expectation) =>
      refusal(`of ${JSON.stringify(expectation)}`, () => callWith(`expect: ${expectation}`), 417, {
        param: 'expect',
        closes: true,
      }),
    ),
  );

  /** The head of a call that waits for a go-ahead. */
  const asking = (key: string, text: string, type = JSON_TYPE) =>
    request(`POST ${PATH} HTTP/1.1`, [
      'host: localhost',
      `authorization: Bearer ${key}`,
      type,
      lengthOf(text),
      'Expect: 100-Continue',
    ]);

  it('of a go-ahead is met where the call may come', async () => {
    const text = body();
    await ask(asking(stand.gateway.key, text), async (client) => {
      await client.until('HTTP/1.1 100 Continue\r\n\r\n');
      await client.write(text);
      const answer = await client.response();
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.interim, [100]);
    });
  });

  for (const [name, status, bytes] of [
    ['a bad key', 401, () => asking('sk-none', body())],
    ['the wrong type', 415, () => asking(stand.gateway.key, body(), 'content-type: text/plain')],
    ['too much', 413, () => asking(stand.gateway.key, 'a'.repeat(LIMIT + 1))],
  ] as const) {
    it(`of a go-ahead is not met for ${name}: ${status} before the body is sent`, async () => {
      await ask(bytes(), async (client) => {
        const answer = await client.response();
        assert.equal(answer.status, status);
        assert.deepEqual(answer.interim, []);
        assert.match(answer.headers.connection ?? '', /\bclose$/);
        errorOf(answer);
      });
    });
  }
});

describe('T-FRM-10 T-FRM-11 a protected path', () => {
  const PROTECTED: readonly (readonly [method: string, path: string])[] = [
    ['GET', '/v1/models'],
    ['GET', '/v1/models/test-model'],
    ['POST', PATH],
    ['GET', '/v1/probe'],
    ['POST', '/v1/probe'],
    ['GET', '/v1/probe/1/part'],
    ['GET', '/v1/probe/rest/a/b'],
    ['GET', '/v1/files/a'],
    ['POST', '/v1/files'],
    ['DELETE', '/v1/files/a'],
  ];

  for (const [method, path] of PROTECTED) {
    it(`${method} ${path} is not reached without a key, however it is written`, async () => {
      const { gateway, vendor, handled } = stand;
      const asked = vendor.requests.length;
      const ran = handled.length;
      const text = method === 'POST' ? body() : '';
      const framing = text === '' ? [] : [JSON_TYPE, lengthOf(text)];
      const internal = ['x-user-id: 1', 'x-role: root', 'x-forwarded-for: 127.0.0.1', 'x-original-url: /healthz'];
      for (const target of [path, `${path}?key=${gateway.key}x`, ...variantsOf(path)]) {
        for (const lines of [
          ['host: localhost'],
          ['host: localhost', 'authorization: Bearer sk-none', ...internal],
          ['host: 127.0.0.1:1', 'authorization: Basic cm9vdDpyb290', 'cookie: turnpike_session=1'],
        ]) {
          const bytes = request(`${method} ${target} HTTP/1.1`, [...lines, ...framing], text);
          const { status } = await rawRequest(gateway.port, bytes);
          assert.ok([400, 401, 404].includes(status), `${method} ${target}: ${status}`);
        }
      }
      assert.equal(vendor.requests.length, asked);
      assert.equal(handled.length, ran);
    });
  }

  it('is reached with a key, so that these tests say something', async () => {
    const { gateway, handled } = stand;
    const ran = handled.length;
    for (const path of ['/v1/probe', '/v1/probe/1/part', '/v1/probe/rest/a/b']) {
      assert.equal((await rawRequest(gateway.port, get(path))).status, 200);
    }
    assert.deepEqual(handled.slice(ran), ['/v1/probe', '/v1/probe/1/part', '/v1/probe/rest/a/b']);
  });
});

describe('T-FRM-12 names of headers', () => {
  it('may be anything, and change nothing', async () => {
    const strange = ['__proto__: a', 'constructor: b', 'hasOwnProperty: c', 'toString: d', 'prototype: e'];
    const answer = await ask(callWith(...strange), (client) => client.response());
    assert.equal(answer.status, 200);
    const seen = stand.vendor.requests.at(-1)!.headers;
    for (const line of strange) assert.ok(!Object.hasOwn(seen, line.slice(0, line.indexOf(':')).toLowerCase()));
    assert.equal(({} as Record<string, unknown>).a, undefined);
  });
});

describe('T-FRM-13 T-CL-08 a head that is too large', () => {
  const filler = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}: 1`);
  refuses([
    refusal('101 headers', () => get('/v1/models', ...filler(99)), 431, { closes: true }),
    refusal('1,500 headers', () => get('/v1/models', ...filler(1_500)), 431, { closes: true }),
    refusal('16 KiB of headers and a bit', () => get('/v1/models', `x-a: ${'a'.repeat(16 << 10)}`), 431, {
      code: 'headers_too_large',
      closes: true,
    }),
    refusal('a megabyte of headers', () => get('/v1/models', `x-a: ${'a'.repeat(1 << 20)}`), 431, {
      code: 'headers_too_large',
      closes: true,
    }),
    refusal('an address beyond 8 KiB', () => get(`/v1/models?${'a'.repeat(8_192)}`), 414, { closes: true }),
  ]);
  it('100 headers and an address of 8 KiB are not', async () => {
    const path = `/v1/models?${'a'.repeat(8_192 - '/v1/models?'.length)}`;
    const answer = await ask(get(path, ...filler(98)), (client) => client.response());
    assert.equal(answer.status, 200);
  });
});

describe('T-CL-08 a body', () => {
  const exactly = (size: number): string => {
    const empty = body({ user: '' });
    return body({ user: 'a'.repeat(size - empty.length) });
  };
  refuses([
    refusal(
      'one byte too long, by its length',
      () => {
        const text = exactly(LIMIT + 1);
        return request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE, lengthOf(text)), text);
      },
      413,
      { code: 'request_too_large', says: /8192/, closes: true },
    ),
    refusal(
      'one byte too long, in chunks',
      () =>
        request(
          `POST ${PATH} HTTP/1.1`,
          authorized(JSON_TYPE, 'transfer-encoding: chunked'),
          inChunks(exactly(LIMIT + 1)),
        ),
      413,
      { closes: true },
    ),
    refusal(
      'far too long, and never sent',
      () => request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE, 'content-length: 999999999999999')),
      413,
    ),
    refusal('missing', () => request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE)), 411, {
      code: 'length_required',
      closes: true,
    }),
    ...[
      'text/plain',
      'application/json; charset=latin1',
      'application/jsonx',
      'multipart/form-data; boundary=a',
      '',
    ].map((type) =>
      refusal(
        `of the type ${JSON.stringify(type)}`,
        () => request(`POST ${PATH} HTTP/1.1`, authorized(`content-type: ${type}`, lengthOf(body())), body()),
        415,
        { param: 'content-type' },
      ),
    ),
    ...['compress', 'gzip, br', 'gzip, identity', 'x'].map((coding) =>
      refusal(`in the coding ${coding}`, () => callWith(`content-encoding: ${coding}`), 415, {
        param: 'content-encoding',
      }),
    ),
  ]);

  it('of exactly the limit is taken', async () => {
    const text = exactly(LIMIT);
    for (const bytes of [
      request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE, lengthOf(text)), text),
      request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE, 'transfer-encoding: chunked'), inChunks(text)),
    ]) {
      assert.equal((await rawRequest(stand.gateway.port, bytes)).status, 200);
    }
  });

  it('may leave out its type, or spell it as it likes', async () => {
    const text = body();
    for (const lines of [
      [],
      ['content-type: Application/JSON;Charset="UTF-8"'],
      ['content-type: application/json ; charset=utf8'],
      [JSON_TYPE, 'content-encoding: identity'],
    ]) {
      const bytes = request(`POST ${PATH} HTTP/1.1`, authorized(...lines, lengthOf(text)), text);
      assert.equal((await rawRequest(stand.gateway.port, bytes)).status, 200, lines.join());
    }
  });

  it('that is too long is answered while it is still being sent, and cut off two seconds later', async () => {
    const clock = fakeClock();
    const vendor = await fakeVendor();
    const gateway = await startGateway({ vendor, clock, config: { listen: { port: 0, body: { json: '8kb' } } } });
    const client = await rawConnection(gateway.port);
    const lines = ['host: a', `authorization: Bearer ${gateway.key}`, JSON_TYPE, 'transfer-encoding: chunked'];
    await client.write(request(`POST ${PATH} HTTP/1.1`, lines, `ffffff\r\n${'a'.repeat(LIMIT + 1)}`));
    assert.equal((await client.response()).status, 413);
    await client.write('a'.repeat(1 << 16));
    assert.equal(client.ending, undefined);
    clock.advance(2_000);
    await client.ended;
    client.abort();
    await gateway.stop();
    await vendor.close();
  });
});

describe('T-CL-10 T-JSON a body that is no JSON object', () => {
  const said = (name: string, bytes: string | Buffer, says: RegExp): Case =>
    refusal(name, () => request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE, lengthOf(bytes)), bytes), 400, {
      code: 'invalid_json',
      says,
    });
  const deep = (levels: number): string => `{"messages":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  refuses([
    said('ends early', '{"model":', /ends at byte 9, expected a value/),
    said('goes on behind its end', `${body()}{}`, /expected nothing more/),
    said('has a comma too many', '{"model":"a",}', /byte 13/),
    said('has single quotes', "{'model':'a'}", /`'` at byte 1/),
    said('is a form', 'model=test-model', /must be a JSON object/),
    said('is an array', `[${body()}]`, /must be a JSON object/),
    said('is a string', '"test-model"', /must be a JSON object/),
    said('is nested 65 levels deep', deep(65), /more than 64 levels/),
    said('is nothing but brackets', '['.repeat(LIMIT), /must be a JSON object/),
    said('is nothing but braces', `{"a":`.repeat(1_000), /more than 64 levels/),
    said('has the model twice', '{"model":"test-model","model":"free-model","messages":[{}]}', /"model" twice/),
    said('has the model twice, once in disguise', '{"model":"a","m\\u006fdel":"b","messages":[{}]}', /"model" twice/),
    said('has stream twice', '{"stream":true,"stream":false}', /"stream" twice/),
    said('names a prototype', '{"model":"a","messages":[{"__proto__":{"a":1}}]}', /__proto__/),
    said('has a byte order mark', `\uFEFF${body()}`, /byte order mark/),
    said('is UTF-16', Buffer.from(body(), 'utf16le'), /JSON|UTF-8/),
    said('is UTF-16 with its mark', Buffer.from(`\uFEFF${body()}`, 'utf16le'), /UTF-8/),
    said('is not UTF-8', Buffer.from('{"model":"\xff"}', 'latin1'), /UTF-8/),
    said('holds a surrogate as bytes', Buffer.from('7b2261223a22eda080227d', 'hex'), /UTF-8/),
    said('holds half a character', Buffer.from('7b2261223a22c3', 'hex'), /UTF-8/),
    said('is empty', Buffer.alloc(0), /empty/),
    said('is blank', ' \r\n\t ', /empty/),
    said('holds NaN', '{"a":NaN}', /byte 5/),
    said('holds a number with a leading zero', '{"a":01}', /byte 6/),
  ]);
  it('keeps the connection, for its end is known', async () => {
    await ask(request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE, 'content-length: 1'), '{'), async (client) => {
      assert.equal((await client.response()).status, 400);
      await client.write(call());
      assert.equal((await client.response()).status, 200);
    });
  });
});

describe('T-HDR-01 T-HDR-02 T-HDR-03 what a client says', () => {
  const HEADERS = new Set([
    ...['cache-control', 'content-length', 'content-security-policy', 'content-type', 'connection', 'date'],
    ...['keep-alive', 'referrer-policy', 'x-content-type-options', 'x-request-id', 'x-turnpike-channel'],
    ...['x-turnpike-cost', 'allow', 'www-authenticate'],
  ]);
  const MODELS = [
    'a\r\nset-cookie: b=c',
    'a\u0000b',
    'a\u2028b',
    '\u001b[31mred',
    'mod\u00e8le',
    '\u{1f600}',
    'a"\'<b>',
  ];
  for (const model of [...MODELS, 'x'.repeat(256), 'x'.repeat(7_000)]) {
    it(`as a model’s name never gets into a header (${JSON.stringify(model.slice(0, 20))})`, async () => {
      await ask(call({ model }), async (client) => {
        const answer = await client.response();
        assert.equal(answer.status, model.length > 256 ? 400 : 404);
        errorOf(answer);
        assert.ok(answer.text.length < 1_000);
        for (const name of Object.keys(answer.headers)) assert.ok(HEADERS.has(name), name);
        assert.ok(!/[^\x20-\x7e]/.test(Object.values(answer.headers).join('')));
        await client.write(call());
        assert.equal((await client.response()).status, 200);
      });
    });
  }

  it('as its request id is kept for the records and never taken for ours', async () => {
    for (const id of ['mine', 'a'.repeat(26), 'a,b', 'x'.repeat(2_000), '\xff\xfe', '<script>']) {
      const answer = await ask(callWith(`x-request-id: ${id}`), (client) => client.response());
      checkHeaders(answer.headers);
      assert.ok(!JSON.stringify([answer.headers, answer.text]).includes(id));
      assert.equal(usageRecords(stand.gateway.storeFile).at(-1)!.id, answer.headers['x-request-id']);
    }
  });

  it('about itself in headers for the inside has no effect', async () => {
    const { gateway } = stand;
    const member = await gateway.customer(0);
    const lines = ['x-user-id: 1', 'x-account-id: 1', 'x-role: root', 'x-internal: 1', 'x-forwarded-for: 192.0.2.7'];
    const text = body();
    const headers = ['host: a', `authorization: Bearer ${member}`, ...lines, JSON_TYPE, lengthOf(text)];
    const answer = await rawRequest(gateway.port, request(`POST ${PATH} HTTP/1.1`, headers, text));
    assert.equal(errorOf(answer).code, 'QUOTA_USER_INSUFFICIENT');
  });

  it('reaches a plugin, whose own headers are made fit to be sent', async () => {
    const vendor = await fakeVendor();
    const careless = definePlugin({
      name: 'careless',
      api: 2,
      create: () => ({
        admit(x) {
          const said = String(x.call.body.get('user'));
          x.header('x-said', said);
          if (said.includes('refuse')) refuse(400, 'said', 'That was said.', { headers: { 'x-refused': said } });
        },
      }),
    });
    const gateway = await startGateway({ vendor, plugins: [careless] });
    for (const word of ['fine', 'refuse']) {
      const answer = await gateway.chat({ user: `${word}\r\nset-cookie: a=b\u0000\u{1f600}\xe9` });
      assert.equal(answer.status, word === 'fine' ? 200 : 400);
      assert.equal(answer.headers.get('set-cookie'), null);
      assert.match(answer.headers.get(word === 'fine' ? 'x-said' : 'x-refused')!, /^[\x20-\x7e]+$/);
    }
    await gateway.stop();
    await vendor.close();
  });
});

describe('T-CL-07 requests that do not wait for answers', () => {
  /** No request, as it is behind a body whose length was counted in characters. */
  const NOISE = Buffer.from('NOISE\r\n\r\n');

  it('are answered in their order, whatever they ask for', async () => {
    const { gateway, vendor } = stand;
    vendor.always((asked) => jsonAnswer(200, { ...chatBody(), user: asked.json.user ?? null }));
    const kinds = Array.from({ length: 10 }, (_, i) => i);
    const bytes = kinds.map((i) =>
      i % 3 === 0 ? get('/v1/models') : i % 3 === 1 ? call({ user: `${i}` }) : get('/no'),
    );
    // An unknown path ends the connection; so it comes last.
    const order = [...kinds.filter((i) => i % 3 !== 2), 2];
    await ask(Buffer.concat(order.map((i) => bytes[i]!)), async (client) => {
      for (const i of order) {
        const answer = await client.response();
        assert.equal(answer.status, i % 3 === 2 ? 404 : 200);
        if (i % 3 === 1) assert.equal(JSON.parse(answer.text).user, `${i}`);
        if (i % 3 === 0) assert.equal(JSON.parse(answer.text).object, 'list');
      }
      await client.ended;
    });
    vendor.always(wholeAnswer());
    assert.equal((await rawRequest(gateway.port, call())).status, 200);
  });

  it('are all answered in their order, and at most twenty of them are served at a time', async () => {
    const { vendor } = stand;
    vendor.always((asked) => [hold('crowd'), ...jsonAnswer(200, { ...chatBody(), user: asked.json.user ?? null })]);
    const before = vendor.requests.length;
    const users = Array.from({ length: 150 }, (_, i) => `crowd-${i}`);
    await ask(Buffer.concat(users.map((user) => call({ user }))), async (client) => {
      await vendor.waitFor(() => vendor.requests.length === before + 20);
      vendor.release('crowd');
      for (const user of users) assert.equal(JSON.parse((await client.response()).text).user, user);
      assert.ok(vendor.maxInFlight <= 20);
      // It is read again once nothing waits.
      await client.write(call({ user: 'later' }));
      assert.equal(JSON.parse((await client.response()).text).user, 'later');
    });
    vendor.always(wholeAnswer());
  });

  it('are not read any further while more than twenty wait', async () => {
    const { vendor } = stand;
    vendor.always([hold('unread'), ...wholeAnswer()]);
    const before = vendor.requests.length;
    await ask(Buffer.concat(Array.from({ length: 30 }, () => call())), async (client) => {
      await vendor.waitFor(() => vendor.requests.length === before + 20);
      // Far more than the buffers on the way take; it is handed over once there is an end to the waiting.
      const more = Array.from({ length: 8_000 }, () => call({ user: 'x'.repeat(2_000) }));
      let sent = false;
      const sending = client.write(Buffer.concat(more)).then(
        () => {
          sent = true;
        },
        () => {},
      );
      for (let i = 0; i < 20; i++) assert.equal((await rawRequest(stand.gateway.port, get('/v1/models'))).status, 200);
      assert.equal(sent, false);
      assert.equal(vendor.requests.length, before + 20);
      client.abort();
      await sending;
    });
    vendor.release('unread');
    await vendor.waitFor(() => vendor.inFlight === 0);
    vendor.always(wholeAnswer());
  });

  it('behind a refused one are not carried out, and those before it are answered', async () => {
    const { vendor } = stand;
    const asked = vendor.requests.length;
    vendor.next([hold('before'), ...wholeAnswer()]);
    const bad = callWith('transfer-encoding: gzip, chunked').subarray(0, -body().length);
    await ask(Buffer.concat([call(), bad, Buffer.from(inChunks(body())), call({ user: 'behind' })]), async (client) => {
      await vendor.waitFor(() => vendor.requests.length === asked + 1);
      vendor.release('before');
      assert.equal((await client.response()).status, 200);
      assert.equal(errorOf(await client.response()).code, 'invalid_transfer_encoding');
      await client.ended;
      assert.equal(vendor.requests.length, asked + 1);
    });
  });

  it('behind a body without a length are not carried out: they may be that body', async () => {
    const { vendor } = stand;
    const asked = vendor.requests.length;
    const bodiless = request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE));
    await ask(Buffer.concat([bodiless, call({ user: 'behind' })]), async (client) => {
      assert.equal((await client.response()).status, 411);
      await client.ended;
    });
    assert.equal(vendor.requests.length, asked);
  });

  it('that turn into noise end the connection behind a running stream, and nothing is written into it', async () => {
    const { vendor } = stand;
    const [first = '', second = '', ...others] = chatEvents();
    vendor.next(eventStream([first, second, hold('noise'), ...others]));
    await ask(call({ stream: true, stream_options: { include_usage: true } }), async (client) => {
      await client.until('Hello');
      await client.write(NOISE);
      await client.write(NOISE);
      // An answer later the noise has arrived.
      assert.equal((await rawRequest(stand.gateway.port, get('/v1/models'))).status, 200);
      vendor.release('noise');
      const answer = await client.response();
      assert.deepEqual([answer.complete, answer.text], [true, chatEvents().join('')]);
      await client.ended;
      assert.equal(client.received.toString().split('HTTP/1.1 ').length, 2, 'one answer only');
    });
  });

  it('that turn into noise do not hide that the client leaves', async () => {
    const { vendor } = stand;
    const [first = '', second = ''] = chatEvents();
    vendor.next(eventStream([first, second, hold('noise-left')]));
    await ask(call({ stream: true }), async (client) => {
      await client.until('Hello');
      await client.write(NOISE);
      assert.equal((await rawRequest(stand.gateway.port, get('/v1/models'))).status, 200);
      client.abort();
      await vendor.waitFor(() => vendor.requests.at(-1)!.state === 'aborted');
    });
  });

  it('that turn into noise get no answer: it would be taken for the answer to one before', async () => {
    const { vendor } = stand;
    const answer = (user: string) => [hold('noise-before'), ...jsonAnswer(200, { ...chatBody(), user })];
    const before = vendor.requests.length;
    vendor.always((asked) => answer(asked.json.user as string));
    await ask(Buffer.concat([call({ user: 'one' }), call({ user: 'two' }), NOISE]), async (client) => {
      await vendor.waitFor(() => vendor.requests.length === before + 2);
      vendor.release('noise-before');
      for (const user of ['one', 'two']) assert.equal(JSON.parse((await client.response()).text).user, user);
      await client.ended;
      assert.equal(client.received.toString().split('HTTP/1.1 ').length, 3, 'two answers only');
    });
    vendor.always(wholeAnswer());
  });
});

describe('T-DOS-01 a client that takes its time', () => {
  const options = { tls: undefined, clock: fakeClock(), current: () => assert.fail(), state: () => 'ready' };
  const server = createGatewayServer(options as unknown as ServerOptions);

  it('has ten seconds for a head, five minutes for an upload, and is looked after every second', () => {
    assert.equal(server.headersTimeout, 10_000);
    assert.equal(server.requestTimeout, 300_000);
    assert.equal(server.maxRequestsPerSocket, 1_000);
    assert.equal(server.maxConnections, connectionsWithin(descriptorLimit()));
    // One more than is allowed, so that the one too many is seen.
    assert.equal(server.maxHeadersCount, 101);
  });

  it('has a minute for a body of JSON, and no more for one that comes letter by letter', async () => {
    const before = stand.vendor.requests.length;
    const lines = [...authorized('content-type: application/json', 'content-length: 100'), 'expect: 100-continue'];
    await ask(request('POST /v1/chat/completions HTTP/1.1', lines), async (client) => {
      await client.until('HTTP/1.1 100 Continue\r\n\r\n');
      stand.clock.advance(59_000);
      await client.write('{');
      stand.clock.advance(2_000);
      const answer = await client.response();
      assert.deepEqual([answer.status, errorOf(answer).code], [408, 'request_timeout']);
      await closed(client);
    });
    assert.equal(stand.vendor.requests.length, before);
  });

  it('is told that it has 75 seconds between two requests', async () => {
    stand.vendor.always(wholeAnswer());
    for (const bytes of [call(), call({ model: 'unknown' }), call({ stream: true })]) {
      if (bytes.includes('"stream":true')) stand.vendor.next(streamAnswer());
      await ask(bytes, async (client) => {
        const { headers } = await client.response();
        assert.deepEqual([headers.connection, headers['keep-alive']], ['keep-alive', 'timeout=75, max=1000']);
      });
    }
  });

  it('has them from the end of its last answer on, as many requests as it makes', () => {
    const clock = fakeClock();
    const lines = new Lines(clock);
    const socket = Object.assign(new PassThrough(), { remoteAddress: '192.0.2.1' });
    const answered = (): void => {
      const response = new ServerResponse({ socket, httpVersionMajor: 1 } as unknown as IncomingMessage);
      assert.equal(lines.up(response.req, response), undefined);
      clock.advance(200_000);
      assert.equal(socket.destroyed, false, 'an answer is owed');
      response.emit('close');
    };
    answered();
    clock.advance(70_000);
    answered();
    clock.advance(70_000);
    assert.equal(socket.destroyed, false);
    clock.advance(10_000);
    assert.equal(socket.destroyed, true);
    lines.stop();
  });

  it('has more time while a head arrives, and without end where the connection is no longer one of HTTP', () => {
    const clock = fakeClock();
    const lines = new Lines(clock);
    const slow = Object.assign(new PassThrough(), { bytesRead: 0 });
    const upgraded = Object.assign(new PassThrough(), { bytesRead: 0 });
    lines.of(slow);
    lines.of(upgraded);
    lines.release(upgraded);
    for (let bytes = 0; bytes < 20; bytes++) {
      slow.bytesRead = bytes;
      clock.advance(5_000);
    }
    assert.equal(slow.destroyed, false);
    clock.advance(10_000);
    assert.deepEqual([slow.destroyed, upgraded.destroyed], [true, false]);
    lines.stop();
  });

  it('is told so with a status of its own', async () => {
    const socket = new PassThrough();
    const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    server.emit('clientError', error, socket);
    const [said] = (await once(socket, 'data')) as [Buffer];
    assert.match(said.toString(), /^HTTP\/1\.1 408 Request Timeout\r\n/);
    assert.match(said.toString(), /\r\nx-request-id: [0-9a-v]{26}\r\n/);
    assert.match(said.toString(), /"code":"request_timeout"/);
    assert.equal(socket.writableEnded, true);
  });
});

describe('T-FRM-01 a request inside a request', () => {
  /** The call that must never be carried out, as bytes that a confused reader takes for a request of its own. */
  const smuggled = () => call({ user: 'smuggled' }).toString('latin1');

  /** Sends an attack and an honest call on one connection, and says what was answered before it ended, or both were. */
  async function attack(name: string, bytes: Buffer): Promise<readonly number[]> {
    const client = await rawConnection(stand.gateway.port);
    try {
      await client.write(Buffer.concat([bytes, call({ user: 'marker' })]));
      const statuses: number[] = [];
      while (statuses.length < 2) {
        const answer = await client.response().catch(() => undefined);
        if (answer === undefined) break;
        statuses.push(answer.status);
      }
      assert.ok(statuses.length === 2 || client.ending !== undefined, `${name}: the gateway waits for more`);
      return statuses;
    } finally {
      client.abort();
    }
  }

  const users = () => stand.vendor.requests.map(({ json }) => json.user);

  /** An attack is one refused message, or ends the connection; what it carries inside is never carried out. */
  async function check(name: string, bytes: Buffer): Promise<'connection ended' | 'one message'> {
    const [first, second] = await attack(name, bytes);
    if (first !== undefined) assert.ok(first >= 400 && first < 600, `${name}: ${first}`);
    if (second === undefined) return 'connection ended';
    assert.equal(second, 200, name);
    return 'one message';
  }

  /** Makes all attacks, a few at a time, and counts how they ended. */
  async function checkAll(
    cases: ReadonlyMap<string, Buffer>,
  ): Promise<{ readonly ended: number; readonly one: number }> {
    let ended = 0;
    let one = 0;
    const waiting = [...cases];
    const before = users().length;
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          if ((await check(...next)) === 'one message') one++;
          else ended++;
        }
      }),
    );
    const asked = users().slice(before);
    assert.equal(
      asked.find((user) => user !== 'marker'),
      undefined,
    );
    // Whoever got a second answer had its marker carried out; nobody else's was.
    assert.equal(asked.length, one);
    return { ended, one };
  }

  const BYTES = ['\0', '\t', '\n', '\v', '\f', '\r', ' ', '"', ',', ':', ';', 'x', '\x7f', '\x85', '\xa0', '\xff'];

  /** All texts that differ from a line in one byte, at places where readers differ. */
  function mutations(line: string): ReadonlySet<string> {
    const colon = line.indexOf(':');
    const places = [0, 1, 8, colon - 1, colon, colon + 1, colon + 2, line.length - 1, line.length];
    const found = new Set<string>();
    for (const at of places) {
      for (const byte of BYTES) {
        found.add(line.slice(0, at) + byte + line.slice(at));
        if (at < line.length) found.add(line.slice(0, at) + byte + line.slice(at + 1));
      }
    }
    for (let at = 0; at < line.length; at++) found.add(line.slice(0, at) + line.slice(at + 1));
    return found;
  }

  it('is never carried out, whatever one byte does to Transfer-Encoding', async () => {
    const cases = new Map<string, Buffer>();
    // Who believes the length sees one message; who believes the chunks, two.
    const inside = `0\r\n\r\n${smuggled()}`;
    for (const line of mutations('Transfer-Encoding: chunked')) {
      const lines = authorized(JSON_TYPE, `content-length: ${inside.length}`, line);
      cases.set(JSON.stringify(line), request(`POST ${PATH} HTTP/1.1`, lines, Buffer.from(inside, 'latin1')));
    }
    const { ended, one } = await checkAll(cases);
    assert.ok(ended > 100 && one > 5, `${cases.size} cases: ${ended} ended the connection, ${one} were one message`);
  });

  it('is never carried out, whatever one byte does to Content-Length', async () => {
    const cases = new Map<string, Buffer>();
    const inside = smuggled();
    const size = `${inside.length.toString(16)}\r\n`;
    // Beside chunks: who believes the length sees the first line, then a request.
    for (const line of mutations(`Content-Length: ${size.length}`)) {
      const lines = authorized(JSON_TYPE, 'transfer-encoding: chunked', line);
      const text = Buffer.from(`${size}${inside}\r\n0\r\n\r\n`, 'latin1');
      cases.set(`chunked and ${JSON.stringify(line)}`, request(`POST ${PATH} HTTP/1.1`, lines, text));
    }
    // Alone: who does not see the length takes the body for a request.
    for (const line of mutations(`Content-Length: ${inside.length}`)) {
      const text = Buffer.from(inside, 'latin1');
      cases.set(JSON.stringify(line), request(`POST ${PATH} HTTP/1.1`, authorized(JSON_TYPE, line), text));
    }
    const { ended, one } = await checkAll(cases);
    assert.ok(ended > 200 && one > 10, `${cases.size} cases: ${ended} ended the connection, ${one} were one message`);
  });

  it('is never carried out, whatever was tried on others', async () => {
    const inside = smuggled();
    const chunked = (text: string, ...lines: readonly string[]) =>
      request(
        `POST ${PATH} HTTP/1.1`,
        authorized(JSON_TYPE, ...(lines.length > 0 ? lines : ['transfer-encoding: chunked'])),
        Buffer.from(text, 'latin1'),
      );
    const hex = inside.length.toString(16);
    const beside = `content-length: ${inside.length + 5}`;
    const hidden = `0\r\n\r\n${inside}`;
    const TRIED: Readonly<Record<string, Buffer>> = {
      'a last chunk that ends in LF': chunked(`0\n\r\n${inside}`),
      'a last chunk that ends in LF twice': chunked(`0\n\n${inside}`),
      'a chunk extension with CR': chunked(`5\r\r;ABCD\r\nhello\r\n0\r\n\r\n${inside}`),
      'a chunk extension with LF': chunked(`5;\nhello\r\n0\r\n\r\n${inside}`),
      'a chunk size in C': chunked(`0x${hex}\r\n${inside}\r\n0\r\n\r\n`),
      'a chunk size with a sign': chunked(`+${hex}\r\n${inside}\r\n0\r\n\r\n`),
      'a chunk size below zero': chunked(`-${hex}\r\n${inside}\r\n0\r\n\r\n`),
      'a chunk size with a space before': chunked(` ${hex}\r\n${inside}\r\n0\r\n\r\n`),
      'a chunk size with an underscore': chunked(`0_${hex}\r\n${inside}\r\n0\r\n\r\n`),
      'a chunk size that overflows': chunked(`10000000000000000\r\n${inside}\r\n0\r\n\r\n`),
      'a chunk size that is empty': chunked(`\r\n${inside}\r\n0\r\n\r\n`),
      'a chunk that is longer than it says': chunked(`1\r\nab\r\n0\r\n\r\n${inside}`),
      'a chunk with NUL in its size': chunked(`${hex}\0\r\n${inside}\r\n0\r\n\r\n`),
      'a folded coding': chunked(hidden, beside, 'transfer-encoding:\r\n chunked'),
      'a coding folded with LF': chunked(hidden, beside, 'transfer-encoding:\n chunked'),
      'a coding in a fold': chunked(hidden, beside, 'x-a: b\r\n\ttransfer-encoding: chunked'),
      'a coding behind a bare CR': chunked(hidden, beside, 'x-a: b\rtransfer-encoding: chunked'),
      'a coding behind a bare LF': chunked(hidden, beside, 'x-a: b\ntransfer-encoding: chunked'),
      'a coding with a space before its colon': chunked(hidden, beside, 'transfer-encoding : chunked'),
      'a coding with a tab before its colon': chunked(hidden, beside, 'transfer-encoding\t: chunked'),
      'a length with a space before its colon': chunked(inside, `content-length : ${inside.length}`),
      'a header without a name': chunked(hidden, beside, ': chunked'),
      'a head line without a colon': chunked(hidden, beside, 'transfer-encoding'),
      'a head that begins with a blank': chunked(hidden, ' x: a', beside, 'transfer-encoding: chunked'),
      'a length with an underscore': chunked(hidden, beside, 'transfer_encoding: chunked'),
      'a connection that hides the coding': chunked(
        hidden,
        beside,
        'connection: transfer-encoding',
        'transfer-encoding: chunked',
      ),
      'a GET with a body': request('GET /v1/models HTTP/1.1', authorized(lengthOf(inside)), inside),
      'a HEAD with a length of chunks': request('DELETE /v1/models HTTP/1.1', authorized(lengthOf(inside)), inside),
      'an unknown path': request('POST /nowhere HTTP/1.1', authorized(JSON_TYPE), inside),
      'a body behind an upgrade': request(
        'GET /v1/models HTTP/1.1',
        authorized('connection: upgrade', 'upgrade: h2c'),
        inside,
      ),
      'a body behind CONNECT': request('CONNECT a:80 HTTP/1.1', authorized(), inside),
    };
    await checkAll(new Map(Object.entries(TRIED)));
  });

  it('is carried out where it is a request of its own, so that these tests say something', async () => {
    await ask(Buffer.concat([call(), Buffer.from(smuggled(), 'latin1')]), async (client) => {
      assert.equal((await client.response()).status, 200);
      assert.equal((await client.response()).status, 200);
    });
    assert.equal(users().at(-1), 'smuggled');
  });
});

it('no answer of all these has told the vendor’s key', () => {
  assert.ok(!stand.gateway.log.join('\n').includes(VENDOR_KEY));
});
