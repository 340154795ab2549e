/** Calls of people who are signed in: a key of theirs is named, the session proves whose it is, and nothing else is enough. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import {
  CONSOLE_PIPELINE,
  PATIENT,
  ROOT_ENV,
  signedIn,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;
const SAME = { 'sec-fetch-site': 'same-origin' };

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Person;
let bob: Person;
let mine: number;
let theirs: number;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({
    vendor,
    config: {
      pipeline: [...CONSOLE_PIPELINE, 'passthrough'],
      console: PATIENT,
      passthrough: [{ prefix: '/v1/files', channel: 'main', free: true }],
    },
    env: ROOT_ENV,
  });
  ann = await signedIn(gateway, 'ann');
  bob = await signedIn(gateway, 'bob');
  await gateway.command('user credit ann 1000000');
  await gateway.command('user credit bob 1000000');
  mine = await keyOf(ann);
  theirs = await keyOf(bob);
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});
beforeEach(() => vendor.forget());

async function keyOf(who: Visitor, more: object = {}): Promise<number> {
  return (await who.data('POST', '/api/token/', { name: 'k', unlimited_quota: true, ...more })).id;
}

const HELLO = { model: 'test-model', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };

/** A call as the console makes it; a test's own `x-requested-with` is not sent. */
async function call(
  who: Visitor,
  headers: Record<string, string>,
  path = '/v1/chat/completions',
  body: object = HELLO,
) {
  const cookie = [...who.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const response = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(cookie !== '' && { cookie }), ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
/** `200`; of a refusal its status and code. */
async function verdict(...asked: Parameters<typeof call>): Promise<string> {
  const { status, text } = await call(...asked);
  return status < 400 ? `${status}` : `${status} ${JSON.parse(text).error.code}`;
}
const naming = (id: number | string): Record<string, string> => ({ 'x-turnpike-key': `${id}`, ...SAME });
const wire = ({ path, rawHeaders, body }: VendorRequest): string =>
  [path, ...rawHeaders.map((pair) => pair.join(': ')), body.toString('latin1')].join('\n');

describe('a key that is named by whoever is signed in', () => {
  it('makes the call, which is charged to it and notes where it came from', async () => {
    const { status, headers } = await call(ann, naming(mine));
    assert.equal(status, 200);
    const record = usageRecords(gateway.storeFile).find(({ id }) => id === headers.get('x-request-id'));
    assert.equal(record?.other.from, 'console');
    const [line] = (await ann.data('GET', '/api/log/self?type=2')).items;
    assert.equal(line.token_id, mine);
    assert.ok(line.quota > 0, 'it is charged');
  });

  it('is not what a call with a key in it notes', async () => {
    const { headers } = await call(ann, { authorization: `Bearer ${gateway.key}`, ...naming(mine) });
    const record = usageRecords(gateway.storeFile).find(({ id }) => id === headers.get('x-request-id'));
    assert.ok(record !== undefined && !('from' in record.other), 'it came from elsewhere');
  });

  it('answers in every style, in streams and where models are listed', async () => {
    const stream = await call(ann, naming(mine), undefined, { ...HELLO, stream: true });
    assert.match(stream.text, /data: \[DONE\]/);
    const cookie = `turnpike_session=${ann.secret}`;
    const list = await fetch(`${gateway.url}/v1/models`, { headers: { cookie, ...naming(mine) } });
    assert.equal(list.status, 200);
    const scoped = await keyOf(ann, { model_limits: 'demo' });
    const few = await fetch(`${gateway.url}/v1/models`, { headers: { cookie, ...naming(scoped) } });
    assert.deepEqual(
      ((await few.json()) as { data: { id: string }[] }).data.map(({ id }) => id),
      ['demo'],
    );
  });

  it('never reaches the vendor, and neither does the cookie [T-PRX-08]', async () => {
    const secrets = [ann.secret, 'x-turnpike-key', 'turnpike_session', 'cookie'];
    const seen = vendor.requests.length;
    await call(ann, naming(mine));
    await call(ann, naming(mine), undefined, { ...HELLO, stream: true });
    await call(ann, naming(mine), '/v1/files', { purpose: 'x' });
    const requests = vendor.requests.slice(seen);
    assert.equal(requests.length, 3);
    for (const request of requests) {
      assert.ok(wire(request).includes(VENDOR_KEY), 'with the key of the channel');
      for (const secret of secrets) assert.ok(!wire(request).toLowerCase().includes(secret.toLowerCase()), secret);
    }
    assert.ok(!gateway.log.some((line) => line.includes(ann.secret)), 'nor the log');
  });

  it('opens no other way: somebody else’s key, and none that there is, are alike [T-AUTHZ-03]', async () => {
    const before = vendor.requests.length;
    const foreign = await call(ann, naming(theirs));
    const unknown = await call(ann, naming(999_999));
    assert.equal(foreign.status, 401);
    assert.equal(foreign.text, unknown.text);
    assert.equal(JSON.parse(foreign.text).error.code, 'invalid_api_key');
    for (const id of ['', '0', '-1', '1e3', `${mine}.0`, ` ${mine},${theirs}`, "1' OR 1=1--", 'x', '9'.repeat(40)]) {
      assert.equal(await verdict(ann, naming(id)), '401 invalid_api_key', id);
    }
    assert.equal(vendor.requests.length, before);
  });

  it('needs a session that is alive [T-SES-01]', async () => {
    const nobody = visitor(gateway);
    assert.equal(await verdict(nobody, naming(mine)), '401 not_signed_in');
    for (const value of ['', 'null', '{}', 'x'.repeat(43)]) {
      const cookie = `turnpike_session=${value}`;
      assert.equal(await verdict(nobody, { ...naming(mine), cookie }), '401 not_signed_in', value);
    }
    const twice = `turnpike_session=${ann.secret}; turnpike_session=${bob.secret}`;
    assert.equal(await verdict(nobody, { ...naming(mine), cookie: twice }), '401 not_signed_in');
    assert.equal(await verdict(ann, SAME), '401 invalid_api_key', 'a cookie alone is no key');
  });

  it('is refused once the session has ended, or the account is disabled [T-SES-03] [T-SES-04]', async () => {
    const carl = await signedIn(gateway, 'carl');
    const id = await keyOf(carl);
    const model = { ...HELLO, model: 'free-model' };
    assert.equal(await verdict(carl, naming(id), undefined, model), '200');
    const [session] = await gateway.host.use(Sessions).list(carl.id);
    await gateway.host.use(Sessions).end(carl.id, session!.id);
    assert.equal(await verdict(carl, naming(id), undefined, model), '401 not_signed_in');
    const again = await signedIn(gateway, 'carl');
    assert.equal(await verdict(again, naming(id), undefined, model), '200');
    await gateway.host.use(Accounts).change(carl.id, { enabled: false });
    assert.equal(await verdict(again, naming(id), undefined, model), '401 not_signed_in');
  });

  it('wants the new cookie after a second factor was shown', async () => {
    const vera = await signedIn(gateway, 'vera');
    const id = await keyOf(vera);
    const before = new Map(vera.cookies);
    await verify(vera);
    const model = { ...HELLO, model: 'free-model' };
    assert.equal(await verdict({ ...vera, cookies: before }, naming(id), undefined, model), '401 not_signed_in');
    assert.equal(await verdict(vera, naming(id), undefined, model), '200');
  });

  it('is not there for access tokens', async () => {
    const token = await ann.data('GET', '/api/user/token');
    const nobody = visitor(gateway);
    for (const headers of [{ authorization: `Bearer ${token}` }, { 'x-api-key': token }] as const) {
      assert.equal(await verdict(nobody, { ...headers, ...naming(mine) }), '401 invalid_api_key');
      assert.equal(await verdict(ann, { ...headers, ...naming(mine) }), '401 invalid_api_key', 'nor beside a cookie');
    }
  });

  it('loses against a key that is sent, good or bad, wherever that stands [T-AUTH-01]', async () => {
    const bad = `sk-${'a'.repeat(49)}`;
    const places: readonly ((key: string) => Record<string, string>)[] = [
      (key) => ({ authorization: `Bearer ${key}` }),
      (key) => ({ 'x-api-key': key }),
      (key) => ({ 'x-goog-api-key': key }),
    ];
    for (const place of places) {
      assert.equal(await verdict(ann, { ...place(bad), ...naming(mine) }), '401 invalid_api_key');
      assert.equal(await verdict(ann, { ...place(gateway.key), ...naming(theirs) }), '200');
    }
    const headers = { cookie: `turnpike_session=${ann.secret}`, ...naming(mine) };
    const list = await fetch(`${gateway.url}/v1/models?key=${bad}`, { headers });
    assert.equal(list.status, 401);
  });

  it('is no way in for strange sites [T-CSRF-01]', async () => {
    const before = vendor.requests.length;
    const strange: readonly Record<string, string>[] = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      // A form says neither, in an old browser, and no header of its own.
      {},
    ];
    for (const headers of strange) {
      const asked = { 'x-turnpike-key': `${mine}`, ...headers };
      assert.equal(await verdict(ann, asked), '403 cross_site', JSON.stringify(headers));
      assert.equal(await verdict(ann, asked, '/v1/files'), '403 cross_site', JSON.stringify(headers));
      const cookie = `turnpike_session=${ann.secret}`;
      const list = await fetch(`${gateway.url}/v1/models`, { headers: { cookie, ...asked } });
      assert.equal(list.status, 403, JSON.stringify(headers));
      // A browser that has sent a cookie shows the answer to no page without this.
      assert.equal(list.headers.get('access-control-allow-credentials'), null);
    }
    assert.equal(vendor.requests.length, before);
    assert.equal(await verdict(ann, { 'x-turnpike-key': `${mine}`, 'x-requested-with': 'console' }), '200');
    assert.equal(await verdict(ann, { 'x-turnpike-key': `${mine}`, origin: gateway.url }), '200');
  });

  it('opens websockets of passthroughRoutes on the same terms', async () => {
    const open = (headers: Record<string, string>): Promise<string> =>
      new Promise((done) => {
        const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/files/live`, { headers });
        socket.on('open', () => {
          socket.close();
          done('open');
        });
        socket.on('unexpected-response', (_, response) => {
          response.resume();
          done(`${response.statusCode}`);
        });
        socket.on('error', () => {});
      });
    const cookie = `turnpike_session=${ann.secret}`;
    assert.equal(await open({ cookie, ...naming(mine) }), 'open');
    const upgrade = vendor.requests.at(-1)!;
    assert.ok(!wire(upgrade).includes(ann.secret), 'the vendor does not see the cookie');
    assert.equal(await open({ cookie, ...naming(theirs) }), '401');
    assert.equal(await open({ cookie, 'x-turnpike-key': `${mine}`, origin: 'https://evil.example' }), '403');
    assert.equal(await open({ cookie }), '401');
    assert.equal(await open({ ...naming(mine) }), '401');
  });

  it('is judged as if it had been sent', async () => {
    const keys = gateway.host.use(Keys);
    const states: readonly (readonly [object, string])[] = [
      [{ enabled: false }, '401 key_disabled'],
      [{ expiresMs: Date.now() - 1_000 }, '401 key_expired'],
      [{ addresses: ['10.0.0.0/8'] }, '403 ip_not_allowed'],
      [{ models: ['demo'] }, '403 model_not_allowed'],
    ];
    for (const [changes, expected] of states) {
      const { secret, key } = await keys.create({ accountId: ann.id, name: 'k', allowance: undefined });
      await keys.change(ann.id, key.id, changes);
      const sent = await call(visitor(gateway), { authorization: `Bearer ${secret}` });
      const named = await call(ann, naming(key.id));
      assert.equal(`${named.status} ${JSON.parse(named.text).error.code}`, expected);
      assert.deepEqual([named.status, named.text], [sent.status, sent.text], expected);
    }
    const { secret, key } = await keys.create({ accountId: ann.id, name: 'poor', allowance: 0n });
    const sent = await call(visitor(gateway), { authorization: `Bearer ${secret}` });
    const named = await call(ann, naming(key.id));
    assert.deepEqual([named.status, named.text], [sent.status, sent.text]);
    await keys.revoke(key.id);
    assert.equal(await verdict(ann, naming(key.id)), '401 invalid_api_key');
  });

  it('does not open what else is asked with a key', async () => {
    for (const path of ['/api/usage/token/', '/api/log/token', '/v1/dashboard/billing/usage']) {
      const answer = await ann.get(path, naming(mine));
      assert.equal(answer.status, 401, path);
    }
  });
});
