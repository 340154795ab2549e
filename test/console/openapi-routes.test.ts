/** The OpenAPI document and the routes that are served: each has what the other has; and refusals before a route is known. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { rawRequest, requestText } from '../kit/clients/raw-client.ts';
import { CONSOLE_PIPELINE, visitor } from '../kit/console/console.ts';
import { type PayingGateway, startPaying } from '../kit/console/paying.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of every shape
type Any = any;

/** Served, and no operation of an interface. */
const OTHERS: Readonly<Record<string, string>> = {
  'GET /': 'the console',
  'GET /login': 'the console',
  'GET /console': 'the console',
  'GET /console/': 'the console',
  'GET /console/{path}': 'the console',
  'GET /metrics': 'for Prometheus, with a token of its own',
  'ANY /v1/images/variations': 'says that it is not implemented',
  'GET /api/user/aff': 'says that there are no referrals',
  'GET /api/user/checkin': 'says that there are no check-ins',
  'POST /api/user/checkin': 'says that there are no check-ins',
};

/** `/api/token/:id` as the document has it. */
const described = (path: string): string => path.replace(/:(\w+)\*?/g, '{$1}');

/** A path with the examples of its parameters. */
const filled = (path: string, parameters: readonly Any[]): string =>
  path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(parameters.find((each) => each.name === name).example));

describe('the OpenAPI document and the routes', () => {
  let gateway: PayingGateway;
  let operations: ReadonlyMap<string, Any>;
  before(async () => {
    gateway = await startPaying({ pipeline: [...CONSOLE_PIPELINE, 'metrics'] });
    const { paths } = (await visitor(gateway).get('/api/openapi.json')).body;
    operations = new Map(
      Object.entries<Any>(paths).flatMap(([path, methods]) =>
        Object.entries<Any>(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
      ),
    );
  });
  after(() => gateway.stop());

  it('every operation that is described is served, by the Allow header of its path', async () => {
    assert.ok(operations.size > 220, `${operations.size}`);
    for (const [name, { parameters = [] }] of operations) {
      const [method = '', path = ''] = name.split(' ');
      const { status, headers } = await fetch(`${gateway.url}${filled(path, parameters)}`, { method: 'PATCH' });
      assert.equal(status, 405, name);
      assert.ok(headers.get('allow')?.split(', ').includes(method), `${name}: ${headers.get('allow')}`);
    }
  });

  it('every route that is served is described, under its path or in the text of another one', () => {
    const texts = [...operations.values()].map(({ description }) => description).join('\n');
    const isDescribed = (method: string, path: string): boolean => {
      const twin = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
      return (
        operations.has(`${method} ${path}`) ||
        operations.has(`${method} ${twin}`) ||
        texts.includes(`\`${path}\``) ||
        `${method} ${path}` in OTHERS
      );
    };
    const missing: string[] = [];
    const seen = new Set<string>();
    const see = (method: string, path: string): void => {
      seen.add(`${method} ${path}`);
      if (!isDescribed(method, path)) missing.push(`${method} ${path}`);
    };
    for (const { method, path } of gateway.host.routes()) see(method.toUpperCase(), described(path));
    for (const { ingress } of gateway.host.styles().values())
      for (const below of ingress === undefined ? [] : ['', ...(ingress.operations ?? [])])
        see('POST', described(ingress!.path + below));
    assert.deepEqual(missing, []);
    for (const name of Object.keys(OTHERS)) assert.ok(seen.has(name), `${name} is served`);
  });

  it('what a provider of payments sends is described with its format and its refusals', async () => {
    const { requestBody, responses } = operations.get('POST /api/user/epay/notify');
    assert.deepEqual(Object.keys(requestBody.content), ['application/x-www-form-urlencoded']);
    assert.deepEqual(Object.keys(responses[400].content), ['text/plain']);
    const refused = await fetch(`${gateway.url}/api/user/epay/notify`, { method: 'POST', body: 'sign=x' });
    assert.deepEqual([refused.status, refused.headers.get('content-type')?.split(';')[0]], [400, 'text/plain']);
    assert.equal(operations.get('GET /api/user/epay/notify').operationId, 'notifyOfEpayByGet');
    for (const path of ['/api/stripe/webhook', '/api/creem/webhook'])
      assert.ok('application/json' in operations.get(`POST ${path}`).requestBody.content, path);
  });

  it('every operation that needs a sign-in or a key says so with 401, and by which scheme', async () => {
    let count = 0;
    for (const [name, { parameters = [], security, requestBody }] of operations) {
      if (security.length === 0) continue;
      count++;
      const [method = '', path = ''] = name.split(' ');
      const { status, headers } = await fetch(`${gateway.url}${filled(path, parameters)}`, {
        method,
        headers: { 'x-requested-with': 'a test', ...(requestBody && { 'content-type': 'application/json' }) },
        ...(requestBody && { body: '{}' }),
      });
      assert.deepEqual([status, headers.get('www-authenticate')], [401, 'Bearer'], name);
    }
    assert.ok(count > 180, `${count}`);
  });

  it('headers that are too large are refused in the format of the path', async () => {
    const { port } = new URL(gateway.url);
    for (const [path, codeOf] of [
      ['/api/token/', (body: Any) => body.code],
      ['/api/nothing', (body: Any) => body.code],
      ['/v1/models', (body: Any) => body.error.code],
    ] as const) {
      const head = requestText('GET', path, { host: 'x', 'x-a': 'a'.repeat(17 << 10) });
      const { status, text } = await rawRequest(Number(port), head);
      assert.deepEqual([status, codeOf(JSON.parse(text))], [431, 'headers_too_large'], path);
    }
  });

  it('a client that speaks TLS is told that this port serves HTTP', async () => {
    const { port } = new URL(gateway.url);
    const hello = await clientHello();
    const { status, text } = await rawRequest(Number(port), hello);
    assert.equal(status, 400);
    assert.match(JSON.parse(text).error.message, /serves HTTP, and the client speaks TLS/);
  });
});

/** The first bytes of a TLS connection. */
async function clientHello(): Promise<Buffer> {
  const [client, server] = duplexPair();
  const tls = connect({ socket: client, servername: 'gateway.example' });
  // It is never answered.
  tls.on('error', () => {});
  const [hello] = (await once(server, 'data')) as [Buffer];
  tls.destroy();
  return hello;
}
