import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../core/plugin.ts';
import { PATIENT, ROOT_ENV, signedIn, type Visitor, visitor } from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { authenticator } from '../../kit/stand-ins/authenticator.ts';
import { addPasskey, enableTotp, FACTORS_PIPELINE, nextCodeOf, verifyByPasskey } from '../../kit/stand-ins/factors.ts';

const ORIGIN = 'https://console.example';
const PATH = '/api/user/passkey';

/** Each of them, and what else it takes than being signed in. */
const ROWS = [
  ['get', PATH],
  ['delete', PATH],
  ['post', `${PATH}/register/begin`],
  ['post', `${PATH}/register/finish`],
  ['post', `${PATH}/verify/begin`],
  ['post', `${PATH}/verify/finish`],
] as const;

describe('passkeys at the console', () => {
  let gateway: TestGateway;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    gateway = await startGateway({
      config: { pipeline: FACTORS_PIPELINE, console: { ...PATIENT, url: ORIGIN } },
      env: ROOT_ENV,
      clock,
    });
  });
  after(() => gateway.stop());

  /** Signed in at a gateway that is served over https: its cookies have another name. */
  const enter = (name: string): Promise<Visitor> => signedIn(gateway, name);

  it('are added, sign in, are shown and removed', async () => {
    const ann = await enter('ann');
    assert.deepEqual(await ann.data('GET', PATH), { enabled: false });
    const key = authenticator(ORIGIN);
    await addPasskey(ann, key);
    const created_at = new Date(clock.now()).toISOString();
    assert.deepEqual(await ann.data('GET', PATH), { enabled: true, last_used_at: null, created_at });

    clock.advance(60_000);
    const later = visitor(gateway);
    const { options, flow_token, expires_at } = await later.data('POST', `${PATH}/login/begin`);
    assert.equal(expires_at, Math.floor(clock.now() / 1_000) + 300);
    const { id } = await ann.data('GET', '/api/user/self');
    const said = await later.data('POST', `${PATH}/login/finish`, { flow_token, credential: key.get(options) });
    assert.deepEqual([said.id, said.username, said.role, said.require_2fa], [id, 'ann', 1, undefined]);
    const last_used_at = new Date(clock.now()).toISOString();
    assert.deepEqual(await later.data('GET', PATH), { enabled: true, last_used_at, created_at });

    assert.equal((await later.delete(PATH)).body.code, 'verification_required');
    await verifyByPasskey(later, key);
    await later.data('DELETE', PATH);
    assert.deepEqual(await later.data('GET', PATH), { enabled: false });
    assert.equal((await ann.get(PATH)).status, 401, 'all other sessions ended');
    const again = visitor(gateway);
    const begun = await again.data('POST', `${PATH}/login/begin`);
    const refused = await again.post(`${PATH}/login/finish`, key.get(begun.options));
    assert.deepEqual([refused.status, refused.body.code], [403, 'passkey_refused']);
  });

  it('have options for all tools: whole, and once more in `publicKey`', async () => {
    const person = await enter('otto');
    const key = authenticator(ORIGIN);
    const registering = await person.data('POST', `${PATH}/register/begin`);
    await person.data('POST', `${PATH}/register/finish`, key.create(registering.options.publicKey));
    const checking = await person.data('POST', `${PATH}/verify/begin`, { scope: 'passkey.delete' });
    await person.data('POST', `${PATH}/verify/finish`, key.get(checking.options.publicKey));
    const login = await visitor(gateway).data('POST', `${PATH}/login/begin`);
    for (const { options } of [registering, checking, login]) {
      const { publicKey, ...bare } = options;
      assert.deepEqual(publicKey, bare);
      assert.match(publicKey.challenge, /^[A-Za-z0-9_-]{43}$/);
    }
    assert.equal(login.options.allowCredentials, undefined);
    assert.equal(login.options.rpId, 'console.example');
    assert.equal(checking.options.allowCredentials.length, 1);
  });

  it('take the bare credential with a cookie, and the wrapped one without', async () => {
    const person = await enter('paul');
    const key = authenticator(ORIGIN);
    await addPasskey(person, key);
    const classic = visitor(gateway);
    const begun = await classic.data('POST', `${PATH}/login/begin`);
    assert.equal(classic.cookies.get('__Host-turnpike_flow'), begun.flow_token);
    const bare = { ...key.get(begun.options), clientExtensionResults: {}, authenticatorAttachment: null };
    await classic.data('POST', `${PATH}/login/finish`, bare);
    assert.equal(classic.cookies.has('__Host-turnpike_flow'), false, 'it is spent');
    assert.equal((await classic.data('GET', PATH)).enabled, true);

    const { options, flow_token } = await visitor(gateway).data('POST', `${PATH}/login/begin`);
    const elsewhere = visitor(gateway);
    await elsewhere.data('POST', `${PATH}/login/finish`, { flow_token, credential: key.get(options) });
    assert.equal((await elsewhere.data('GET', PATH)).enabled, true);

    const without = await visitor(gateway).data('POST', `${PATH}/login/begin`);
    const refused = await visitor(gateway).post(`${PATH}/login/finish`, key.get(without.options));
    assert.deepEqual([refused.status, refused.body.code], [403, 'passkey_refused'], 'neither');
  });

  it('are of the site that the configuration names, whatever host a request names [T-PK-02]', async () => {
    const person = await enter('quin');
    const key = authenticator(ORIGIN);
    await addPasskey(person, key);
    const evil = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' };
    const begun = await ask(gateway, `${PATH}/login/begin`, {}, evil);
    const { options, flow_token } = begun.data as unknown as { options: JsonObject; flow_token: string };
    assert.equal(options.rpId, 'console.example');
    const lured = key.get(options, { origin: 'https://evil.example', rpId: 'evil.example' });
    const refused = await ask(gateway, `${PATH}/login/finish`, { flow_token, credential: lured }, evil);
    assert.deepEqual([refused.success, refused.code], [false, 'passkey_refused']);
    for (const origin of ['http://console.example', 'https://a.console.example', 'https://console.example:444']) {
      const next = await visitor(gateway).data('POST', `${PATH}/login/begin`);
      const credential = key.get(next.options, { origin });
      const answer = await visitor(gateway).post(`${PATH}/login/finish`, { flow_token: next.flow_token, credential });
      assert.deepEqual([answer.status, answer.body.code], [403, 'passkey_refused'], origin);
    }
  });

  it('have challenges for one ceremony in one session, whichever way they come back [T-PK-01]', async () => {
    const person = await enter('rita');
    const key = authenticator(ORIGIN);
    await addPasskey(person, key);
    const other = await enter('rita');
    const { options, flow_token } = await person.data('POST', `${PATH}/verify/begin`);
    const right = key.get(options);
    for (const [who, path, credential] of [
      [other, `${PATH}/verify/finish`, right],
      [visitor(gateway), `${PATH}/login/finish`, right],
      // A challenge of the client's own, in the body or in what is signed.
      [person, `${PATH}/verify/finish`, key.get({ ...options, challenge: 'AAAA' })],
    ] as const) {
      const { status, body, headers } = await who.post(path, { flow_token, credential });
      assert.deepEqual([status, body.code], [403, 'passkey_refused'], path);
      assert.deepEqual(headers.getSetCookie(), []);
    }
    const own = await person.post(`${PATH}/verify/finish`, { flow_token, credential: right, challenge: 'AAAA' });
    assert.deepEqual([own.status, own.body.param], [400, 'challenge']);
    // Tried by others, it is spent.
    assert.equal((await person.post(`${PATH}/verify/finish`, { flow_token, credential: right })).status, 403);
    assert.deepEqual(await person.data('GET', '/api/verify/status'), { verified: false, methods: ['passkey'] });
  });

  it('check nobody else: that of one account in a session of another [T-PK-03]', async () => {
    const [ann, bob] = [await enter('sara'), await enter('theo')];
    const [hers, his] = [authenticator(ORIGIN), authenticator(ORIGIN)];
    await addPasskey(ann, hers);
    await addPasskey(bob, his);
    const { options, flow_token } = await bob.data('POST', `${PATH}/verify/begin`);
    const refused = await bob.post(`${PATH}/verify/finish`, { flow_token, credential: hers.get(options) });
    assert.deepEqual([refused.status, refused.body.code], [403, 'passkey_refused']);
    assert.deepEqual(await bob.data('GET', '/api/verify/status'), { verified: false, methods: ['passkey'] });
    await verifyByPasskey(bob, his);
    assert.equal((await bob.post(`${PATH}/register/begin`)).body.code, 'passkey_exists');
  });

  it('are told of by nobody who is not signed in [T-PK-04]', async () => {
    const { options: one, ...more } = await visitor(gateway).data('POST', `${PATH}/login/begin`, { username: 'ann' });
    const { options: other } = await visitor(gateway).data('POST', `${PATH}/login/begin`, { username: 'nobody' });
    const shape = ({ publicKey, ...rest }: { publicKey: object }) => ({
      ...rest,
      publicKey: { ...publicKey, challenge: '' },
      challenge: '',
    });
    assert.deepEqual(shape(one), shape(other));
    assert.deepEqual(Object.keys(more).sort(), ['expires_at', 'flow_token']);
  });

  it('are added, where there is two-factor sign-in, after a check by it only: begun and finished [T-VER-02]', async () => {
    const person = await enter('uma');
    // Begun before there was a second factor.
    const early = await person.data('POST', `${PATH}/register/begin`);
    const { secret } = await enableTotp(person, clock);
    const key = authenticator(ORIGIN);
    const required = async (path: string, body: object) => {
      const { status, body: said } = await person.post(path, body);
      assert.deepEqual([status, said.code], [403, 'verification_required'], path);
    };
    await required(`${PATH}/register/begin`, {});
    await required(`${PATH}/register/finish`, { flow_token: early.flow_token, credential: key.create(early.options) });

    const check = () => person.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
    await check();
    const stale = await person.post(`${PATH}/register/finish`, {
      flow_token: early.flow_token,
      credential: key.create(early.options),
    });
    assert.equal(stale.body.code, 'passkey_refused', 'what was begun before the change is void');
    const { options, flow_token } = await person.data('POST', `${PATH}/register/begin`);
    clock.advance(300_001);
    await required(`${PATH}/register/finish`, { flow_token, credential: key.create(options) });
    await check();
    await addPasskey(person, key);
    assert.equal((await person.data('GET', PATH)).enabled, true);
  });

  it('are for people who are signed in with a browser', async () => {
    const person = await enter('vera');
    const token = await person.data('GET', '/api/user/token');
    const body = { credential: {} };
    for (const [method, path] of ROWS) {
      for (const [who, code] of [
        [visitor(gateway), 'not_signed_in'],
        [visitor(gateway, { authorization: `Bearer ${token}` }), 'session_wanted'],
      ] as const) {
        const { status, body: said } = method === 'post' ? await who.post(path, body) : await who[method](path);
        assert.deepEqual([status, said.code], [401, code], `${method} ${path}`);
      }
    }
  });

  it('refuse bodies that are not what they take, whatever columns they name', async () => {
    const person = await enter('wanda');
    const key = authenticator(ORIGIN);
    await addPasskey(person, key);
    await verifyByPasskey(person, key);
    const before = await person.data('GET', PATH);
    for (const path of [`${PATH}/login/finish`, `${PATH}/register/finish`, `${PATH}/verify/finish`]) {
      for (const [body, param] of [
        [{}, 'credential'],
        [{ flow_token: 'x' }, 'credential'],
        [{ credential: 'x' }, 'credential'],
        [{ credential: {}, flow_token: 1 }, 'flow_token'],
        [{ credential: {}, flow_token: 'x'.repeat(65) }, 'flow_token'],
        [{ id: 1 }, 'id'],
        [{ id: 'x', response: [] }, 'response'],
        ...['account_id', 'public_key', 'counter', 'handle', 'credential_id', 'role'].map(
          (column) => [{ credential: {}, [column]: 1 }, column] as const,
        ),
      ] as const) {
        const { status, body: said } = await person.post(path, body);
        assert.deepEqual([status, said.success, said.param], [400, false, param], `${path} ${JSON.stringify(body)}`);
      }
    }
    assert.deepEqual(await person.data('GET', PATH), before);
  });
});

/** Posts with headers that `fetch` sets itself; what was answered. */
function ask(
  { port }: TestGateway,
  path: string,
  body: JsonObject,
  headers: Record<string, string>,
): Promise<JsonObject> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { port, host: '127.0.0.1', path, method: 'POST', headers: { 'content-type': 'application/json', ...headers } },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece) => {
          text += piece;
        });
        answer.on('end', () => resolve(JSON.parse(text) as JsonObject));
      },
    );
    asked.on('error', reject).end(JSON.stringify(body));
  });
}
