/** Calls from pages of other sites: which answers a browser may show them, and that it never shows what a cookie is good for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PIPELINE, root } from '../../kit/console/console.ts';
import { chatRequest } from '../../kit/gateway/fixtures.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { streamAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const PAGE = 'https://chat.example.com';
const CHAT = '/v1/chat/completions';

/** What the answer says to the page's browser. */
function shared({ headers }: Response): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    ['allow-origin', 'expose-headers', 'allow-credentials'].map((name) => [
      name,
      headers.get(`access-control-${name}`),
    ]),
  );
}
const WITH_ANY = { 'allow-origin': '*', 'expose-headers': '*', 'allow-credentials': null };
const WITH_NONE = { 'allow-origin': null, 'expose-headers': null, 'allow-credentials': null };

describe('a page of another site', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor((request) => (request.json.stream ? streamAnswer() : wholeAnswer()));
    gateway = await startGateway({ vendor, config: { pipeline: [...CONSOLE_PIPELINE] } });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const ask = (path: string, init: RequestInit = {}, origin: string | null = PAGE): Promise<Response> =>
    fetch(`${gateway.url}${path}`, {
      ...init,
      headers: { ...(origin !== null && { origin }), ...(init.headers as Record<string, string>) },
    });
  const call = (more: object = {}, key = gateway.key): RequestInit => ({
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chatRequest({ model: 'test-model', ...more })),
  });
  const withKey = () => ({ headers: { authorization: `Bearer ${gateway.key}` } });

  it('reads the answers of calls, whole and streamed, and why one was refused', async () => {
    for (const [status, init] of [
      [200, call()],
      [200, call({ stream: true })],
      [400, call({ messages: 'Hello' })],
      [404, call({ model: 'nobody' })],
      [401, call({}, 'sk-nobody')],
      [405, { method: 'GET' }],
    ] as const) {
      const answer = await ask(CHAT, init);
      assert.deepEqual([answer.status, shared(answer)], [status, WITH_ANY]);
      await answer.text();
    }
  });

  it('reads whatever else a key is good for', async () => {
    for (const path of [
      '/v1/models',
      '/v1/models/demo',
      '/api/usage/token/',
      '/api/log/token',
      '/v1/dashboard/billing/subscription',
    ]) {
      const answer = await ask(path, withKey());
      assert.deepEqual([path, answer.status, shared(answer)], [path, 200, WITH_ANY]);
      await answer.text();
    }
  });

  it('is answered before it asks, with no key and at no cost', async () => {
    const asking = {
      method: 'OPTIONS',
      headers: {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,x-stainless-os',
      },
    };
    for (const path of [
      CHAT,
      '/v1/messages',
      '/v1/messages/count_tokens',
      '/v1/responses/resp_1',
      '/api/usage/token',
    ]) {
      const answer = await ask(path, asking);
      assert.deepEqual([path, answer.status, await answer.text(), shared(answer)], [path, 204, '', WITH_ANY]);
      assert.match(answer.headers.get('access-control-allow-headers')!, /^authorization, \*$/);
      assert.match(answer.headers.get('access-control-allow-methods')!, /POST/);
      assert.ok(Number(answer.headers.get('access-control-max-age')) > 0);
    }
    const bare = await ask(CHAT, { method: 'OPTIONS' });
    assert.deepEqual([bare.status, bare.headers.get('allow')], [204, 'POST, OPTIONS'], 'no browser asks like that');
    const nothing = await ask('/v1/nosuch', {
      method: 'OPTIONS',
      headers: { origin: PAGE, 'access-control-request-method': 'POST' },
    });
    assert.deepEqual([nothing.status, shared(nothing)], [204, WITH_ANY]);
    await nothing.text();
    await bare.text();
  });

  it('reads nothing that a session is good for, and may not even ask', async () => {
    const person = await root(gateway);
    const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const self = await ask('/api/user/self', { headers: { cookie } });
    assert.deepEqual([self.status, shared(self)], [200, WITH_NONE]);
    const { authorization: _, ...headers } = call().headers as Record<string, string>;
    const called = await ask(CHAT, { ...call(), headers: { ...headers, cookie, 'x-turnpike-key': '1' } });
    assert.deepEqual([called.status, shared(called)], [403, WITH_ANY], await called.text());
    for (const path of ['/api/user/self', '/api/token/', '/api/status', '/console', '/healthz']) {
      const answer = await ask(path, {
        method: 'OPTIONS',
        headers: { 'access-control-request-method': 'GET' },
      });
      assert.deepEqual([path, shared(answer)], [path, WITH_NONE]);
      assert.notEqual(answer.status, 204, path);
      await answer.text();
    }
  });

  it('changes nothing for those that are none', async () => {
    const answer = await ask(CHAT, call(), null);
    assert.deepEqual([answer.status, shared(answer), answer.headers.get('vary')], [200, WITH_NONE, null]);
    await answer.text();
  });
});

it('only pages of the origins that are listed read answers, and nobody keeps them for others', async () => {
  const gateway = await startGateway({ config: { listen: { port: 0, cors: [PAGE, 'http://localhost:3000'] } } });
  const allowed = async (origin: string): Promise<unknown> => {
    const { headers } = await fetch(`${gateway.url}/v1/models`, { headers: { origin } });
    assert.equal(headers.get('vary'), 'origin');
    return headers.get('access-control-allow-origin');
  };
  assert.equal(await allowed(PAGE), PAGE);
  assert.equal(await allowed('http://localhost:3000'), 'http://localhost:3000');
  for (const other of ['http://chat.example.com', `${PAGE}.evil.example`, 'http://localhost:3001', 'null', '*'])
    assert.equal(await allowed(other), null, other);
  await gateway.stop();
});

it('no page reads anything where the list is empty', async () => {
  const gateway = await startGateway({ config: { listen: { port: 0, cors: [] } } });
  const answer = await fetch(`${gateway.url}${CHAT}`, {
    method: 'OPTIONS',
    headers: { origin: PAGE, 'access-control-request-method': 'POST' },
  });
  assert.deepEqual(shared(answer), WITH_NONE);
  const list = await fetch(`${gateway.url}/v1/models`, {
    headers: { origin: PAGE, authorization: `Bearer ${gateway.key}` },
  });
  assert.deepEqual([list.status, shared(list)], [200, WITH_NONE]);
  await list.text();
  await gateway.stop();
});
