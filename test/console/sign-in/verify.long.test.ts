import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  said,
  signedIn,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { authenticator } from '../../kit/stand-ins/authenticator.ts';
import { addPasskey, enableTotp, FACTORS_PIPELINE, nextCodeOf, verifyByPasskey } from '../../kit/stand-ins/factors.ts';

const ORIGIN = 'http://localhost:8080';
const FIVE_MINUTES_MS = 300_000;
const OAUTH = { github: { id: 'an id', secret: 'a secret for tests' } };

describe('the check before sensitive operations', () => {
  let gateway: TestGateway;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    gateway = await startGateway({
      config: { pipeline: FACTORS_PIPELINE, console: PATIENT },
      env: ROOT_ENV,
      clock,
    });
  });
  after(() => gateway.stop());

  /** What a sensitive operation says; it does nothing, for nobody here has a passkey unless the test says so. */
  const sensitive = async (person: Visitor): Promise<string> => {
    const { status, body } = await person.delete('/api/user/passkey');
    return `${status} ${body.code ?? 'ok'}`;
  };
  const REQUIRED = '403 verification_required';
  const DONE = '409 no_passkey';

  async function withTotp(name: string): Promise<{ person: Visitor; secret: string; check(): Promise<JsonAnswer> }> {
    const person = await signedIn(gateway, name);
    const { secret } = await enableTotp(person, clock);
    return {
      person,
      secret,
      check: () => person.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) }),
    };
  }
  type JsonAnswer = Readonly<Record<string, unknown>>;

  it('counts for five minutes to the millisecond, and for its session only [T-VER-01]', async () => {
    const { person, secret } = await withTotp('ann');
    const elsewhere = await signedIn(gateway, 'ann');
    assert.equal(await sensitive(person), REQUIRED);
    assert.deepEqual(await person.data('GET', '/api/verify/status'), { verified: false, methods: ['2fa'] });

    const before = person.cookies.get('turnpike_session');
    const code = nextCodeOf(secret, clock);
    const said = await person.data('POST', '/api/verify', { method: '2fa', code });
    const untilMs = clock.now() + FIVE_MINUTES_MS;
    assert.deepEqual(said, { verified: true, expires_at: Math.floor(untilMs / 1_000), method: '2fa' });
    assert.notEqual(person.cookies.get('turnpike_session'), before, 'the session has a new secret');
    const old = await visitor(gateway, { cookie: `turnpike_session=${before}` }).get('/api/verify/status');
    assert.equal(old.status, 401, 'and the one before is void');

    assert.equal(await sensitive(person), DONE);
    assert.deepEqual(await person.data('GET', '/api/verify/status'), {
      verified: true,
      expires_at: said.expires_at,
      methods: ['2fa'],
    });
    assert.equal(await sensitive(elsewhere), REQUIRED);
    assert.deepEqual(await elsewhere.data('GET', '/api/verify/status'), { verified: false, methods: ['2fa'] });

    clock.advance(FIVE_MINUTES_MS);
    assert.equal(await sensitive(person), DONE, '5:00.000');
    assert.equal((await person.data('GET', '/api/verify/status')).verified, true);
    clock.advance(1);
    assert.equal(await sensitive(person), REQUIRED, '5:00.001');
    assert.deepEqual(await person.data('GET', '/api/verify/status'), { verified: false, methods: ['2fa'] });
  });

  it('ends with the session, and with any change of factors [T-VER-01]', async () => {
    const { person, secret, check } = await withTotp('bob');
    await check();
    await person.data('GET', '/api/user/logout');
    const again = await signedIn(gateway, 'bob');
    assert.equal(await sensitive(again), REQUIRED);

    await again.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
    await again.data('POST', '/api/user/2fa/backup_codes', { code: nextCodeOf(secret, clock) });
    assert.equal(await sensitive(again), REQUIRED, 'after new backup codes');

    await again.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
    const key = authenticator(ORIGIN);
    await addPasskey(again, key);
    assert.equal(await sensitive(again), REQUIRED, 'after a passkey was added');

    await verifyByPasskey(again, key);
    await again.data('POST', '/api/user/2fa/disable', { code: nextCodeOf(secret, clock) });
    assert.equal(await sensitive(again), REQUIRED, 'after a factor was disabled');
    await verifyByPasskey(again, key);
    assert.equal(await sensitive(again), '200 ok');
    assert.deepEqual(
      await again.data('GET', '/api/verify/status'),
      { verified: false, methods: [] },
      'after the passkey was removed',
    );
  });

  it('is made with a passkey, too: begun here or there, and finished there', async () => {
    const person = await signedIn(gateway, 'carl');
    const key = authenticator(ORIGIN);
    await addPasskey(person, key);

    const begun = await person.data('POST', '/api/verify', { method: 'passkey' });
    assert.equal(begun.verified, false);
    const before = person.cookies.get('turnpike_session');
    const said = await person.data('POST', '/api/user/passkey/verify/finish', key.get(begun.options.publicKey));
    const expires_at = Math.floor((clock.now() + FIVE_MINUTES_MS) / 1_000);
    assert.deepEqual(said, { verified: true, expires_at, method: 'passkey' });
    assert.notEqual(person.cookies.get('turnpike_session'), before);

    // As tools do that want it confirmed; within a minute, and without any more time by that.
    clock.advance(59_999);
    assert.deepEqual(await person.data('POST', '/api/verify', { method: 'passkey' }), said);
    clock.advance(1);
    const anew = await person.data('POST', '/api/verify', { method: 'passkey', scope: 'channel.key.read' });
    assert.equal(anew.verified, false);
    assert.equal(typeof anew.flow_token, 'string');
    assert.deepEqual(await person.data('GET', '/api/verify/status'), {
      verified: true,
      expires_at,
      methods: ['passkey'],
    });
    assert.equal(await sensitive(person), '200 ok');
  });

  it('takes backup codes, and a scope that it ignores', async () => {
    const person = await signedIn(gateway, 'dora');
    const { backupCodes } = await enableTotp(person, clock);
    const body = { method: '2fa', code: backupCodes[0], scope: 'passkey.delete' };
    assert.equal((await person.data('POST', '/api/verify', body)).verified, true);
    assert.equal(await sensitive(person), DONE);
  });

  it('does not count where the code was wrong, and cannot be made without a factor', async () => {
    const { person } = await withTotp('emma');
    const wrong = await person.post('/api/verify', { method: '2fa', code: 'abcdef' });
    assert.deepEqual([wrong.status, wrong.body.code], [403, 'wrong_code']);
    assert.deepEqual(wrong.headers.getSetCookie(), []);
    assert.equal(await sensitive(person), REQUIRED);
    const none = await person.post('/api/verify', { method: 'passkey' });
    assert.deepEqual([none.status, none.body.code], [409, 'no_passkey']);

    const bare = await signedIn(gateway, 'finn');
    const { status, body } = await bare.post('/api/verify', { method: '2fa', code: '123456' });
    assert.deepEqual([status, body.code], [409, 'no_second_factor']);
    assert.equal(await sensitive(bare), REQUIRED);
  });

  it('is for callers who are signed in, and no other site begins it', async () => {
    const gina = await signedIn(gateway, 'gina');
    for (const { status, body } of [
      await visitor(gateway).post('/api/verify', { method: '2fa', code: '123456' }),
      await visitor(gateway).get('/api/verify/status'),
    ])
      assert.deepEqual([status, body.code], [401, 'not_signed_in']);
    const foreign = await gina.post(
      '/api/verify',
      { method: 'passkey' },
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    );
    assert.deepEqual([foreign.status, foreign.body.code], [403, 'cross_site']);
  });

  it('refuses bodies that are not what it takes', async () => {
    const hugo = await signedIn(gateway, 'hugo');
    for (const [body, param] of [
      [{}, 'method'],
      [{ method: 'sms' }, 'method'],
      [{ method: '2fa' }, 'code'],
      [{ method: '2fa', code: 123_456 }, 'code'],
      [{ method: '2fa', code: 'x'.repeat(65) }, 'code'],
      [{ method: 'passkey', verified: true }, 'verified'],
      [{ method: 'passkey', verified_until_ms: 9e15 }, 'verified_until_ms'],
      [{ method: 'passkey', account_id: 1 }, 'account_id'],
      [{ method: 'password' }, 'password'],
      [{ method: 'password', password: 5 }, 'password'],
    ] as const) {
      const { status, body: said } = await hugo.post('/api/verify', body);
      assert.deepEqual([status, said.success, said.param], [400, false, param], JSON.stringify(body));
    }
    assert.deepEqual(await hugo.data('GET', '/api/verify/status'), { verified: false, methods: [] });
  });

  it('is made with the password by an account without a second factor, and by no other [T-VER-04]', async () => {
    const ida = await member(gateway, 'ida');
    const { methods } = await ida.data('GET', '/api/verify/status');
    assert.deepEqual(methods, ['password']);
    assert.equal(await sensitive(ida), REQUIRED, 'a recent sign-in is no check');
    assert.equal(said(await ida.post('/api/verify', { method: 'password', password: 'wrong' })), '403 wrong_password');
    assert.equal(await sensitive(ida), REQUIRED);
    const before = ida.cookies.get('turnpike_session');
    const { method } = await ida.data('POST', '/api/verify', { method: 'password', password: PASSWORD });
    assert.equal(method, 'password');
    assert.notEqual(ida.cookies.get('turnpike_session'), before, 'the session has a new secret');
    assert.equal(await sensitive(ida), DONE);

    await enableTotp(ida, clock);
    assert.equal(await sensitive(ida), REQUIRED, 'what the password allowed ends with the second factor');
    const byPassword = await ida.post('/api/verify', { method: 'password', password: PASSWORD });
    assert.equal(said(byPassword), '403 second_factor_wanted');
    assert.equal(await sensitive(ida), REQUIRED);
    const bare = await signedIn(gateway, 'jon');
    assert.equal(said(await bare.post('/api/verify', { method: 'password', password: PASSWORD })), '409 no_password');
  });

  it('cannot be guessed: after ten tries a password is compared once every 15 seconds [T-VER-04]', async () => {
    const kim = await member(gateway, 'kim');
    const answers = await Promise.all(
      Array.from({ length: 14 }, () => kim.post('/api/verify', { method: 'password', password: 'a wrong one' })),
    );
    const counted = answers.filter(({ status }) => status === 403).length;
    assert.ok(counted <= 11, `${counted} were compared`);
    const right = () => kim.post('/api/verify', { method: 'password', password: PASSWORD });
    assert.equal((await right()).status, 429);
    clock.advance(15_000);
    for (let i = 0; i < 12; i++) assert.equal((await right()).status, 200, 'right ones are not counted');
  });

  it('counts for the access token that it was made with, and for no other credential [T-VER-05]', async () => {
    const admin = await member(gateway, 'lea', { role: 'admin' });
    const someone = await signedIn(gateway, 'mo');
    const credit = { id: someone.id, action: 'add_quota', value: 5 };
    const robot = visitor(gateway, { authorization: `Bearer ${await admin.data('GET', '/api/user/token')}` });
    assert.equal(said(await robot.post('/api/user/manage', credit)), REQUIRED);
    assert.equal(said(await robot.post('/api/verify', { method: 'passkey' })), '401 session_wanted');
    const given = await robot.data('POST', '/api/verify', { method: 'password', password: PASSWORD });
    assert.equal(given.expires_at, Math.floor((clock.now() + FIVE_MINUTES_MS) / 1_000));
    assert.equal((await robot.data('GET', '/api/verify/status')).verified, true);
    await robot.data('POST', '/api/user/manage', credit);
    assert.equal(said(await admin.post('/api/user/manage', credit)), REQUIRED, 'the session was not checked');
    clock.advance(FIVE_MINUTES_MS + 1);
    assert.equal(said(await robot.post('/api/user/manage', credit)), REQUIRED);

    // With a second factor it takes a code, and another token begins unchecked.
    await admin.data('POST', '/api/verify', { method: 'password', password: PASSWORD });
    const { secret } = await enableTotp(admin, clock);
    await admin.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
    const next = visitor(gateway, { authorization: await admin.data('GET', '/api/user/token') });
    assert.equal(said(await next.post('/api/user/manage', credit)), REQUIRED);
    await next.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
    await next.data('POST', '/api/user/manage', credit);
    const renewed = visitor(gateway, { authorization: await admin.data('GET', '/api/user/token') });
    assert.equal(said(await renewed.post('/api/user/manage', credit)), REQUIRED);
  });
});

describe('a stolen session', () => {
  let gateway: TestGateway;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    gateway = await startGateway({
      config: { pipeline: [...FACTORS_PIPELINE, 'oauth', 'mail'], console: { ...PATIENT, oauth: OAUTH } },
      env: ROOT_ENV,
      clock,
    });
  });
  after(() => gateway.stop());

  /** Everything that makes another way in, or ends the account; bodies are such that nothing comes of them. */
  const WAYS_IN = [
    ['POST', '/api/user/2fa/setup'],
    ['POST', '/api/user/2fa/enable', { code: '123456' }],
    ['POST', '/api/user/passkey/register/begin'],
    ['POST', '/api/user/passkey/register/finish', { credential: {} }],
    ['POST', '/api/oauth/email/bind', { email: 'thief@example.com', code: '1' }],
    ['GET', '/api/oauth/email/bind?email=thief@example.com&code=1'],
    ['POST', '/api/oauth/state', { provider: 'github', intent: 'bind' }],
    ['GET', '/api/oauth/github?intent=bind'],
    ['DELETE', '/api/user/unbind/github'],
    ['GET', '/api/user/unbind/github'],
    ['GET', '/api/user/token'],
    ['DELETE', '/api/user/self'],
  ] as const;
  async function refused(person: Visitor): Promise<readonly string[]> {
    const said: string[] = [];
    for (const [method, path, body] of WAYS_IN) {
      const { status, body: answer } =
        method === 'POST' ? await person.post(path, body) : await (method === 'GET' ? person.get : person.delete)(path);
      if (status === 403 && answer?.code === 'verification_required') said.push(`${method} ${path}`);
    }
    return said;
  }
  const ALL = WAYS_IN.map(([method, path]) => `${method} ${path}`);

  it('does not become the account: five minutes after the sign-in the password is asked for [T-VER-06]', async () => {
    const owner = await member(gateway, 'ann');
    clock.advance(FIVE_MINUTES_MS);
    await owner.data('POST', '/api/user/2fa/setup');
    clock.advance(1);
    assert.deepEqual(await refused(owner), ALL);
    assert.equal((await owner.put('/api/user/self', { password: 'the thief knows it' })).status, 403);
    await owner.data('POST', '/api/verify', { method: 'password', password: PASSWORD });
    await owner.data('POST', '/api/user/2fa/setup');
    await owner.data('GET', '/api/user/token');
  });

  it('does not become the account, however recent the sign-in, if there is a second factor [T-VER-06]', async () => {
    const owner = await member(gateway, 'bob');
    const { secret } = await enableTotp(owner, clock);
    const stolen = await signedIn(gateway, 'bob');
    assert.deepEqual(await refused(stolen), ALL);
    const words = { password: 'the thief knows it', original_password: PASSWORD };
    assert.equal(said(await stolen.put('/api/user/self', words)), '403 verification_required');
    await stolen.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
    assert.equal(said(await stolen.put('/api/user/self', { ...words, original_password: 'x' })), '403 wrong_password');
    await stolen.data('PUT', '/api/user/self', words);
  });

  it('does not become an account without a password, which signs in again [T-VER-06]', async () => {
    const owner = await signedIn(gateway, 'carl');
    clock.advance(FIVE_MINUTES_MS + 1);
    assert.deepEqual(await refused(owner), ALL);
    assert.equal(
      said(await owner.put('/api/user/self', { password: 'the thief knows it' })),
      '403 verification_required',
    );
    const again = await signedIn(gateway, 'carl');
    await again.data('PUT', '/api/user/self', { password: 'a password at last' });
    await again.data('GET', '/api/user/token');
  });

  it('moves no money, and ends nobody: moves between budgets and deletions want a check [T-VER-03]', async () => {
    const departed = await startGateway({
      config: { pipeline: [...FACTORS_PIPELINE, 'departments'], console: PATIENT },
      env: ROOT_ENV,
    });
    try {
      const admin = await member(departed, 'adam', { role: 'admin' });
      const someone = await signedIn(departed, 'eve');
      const [top, below] = [
        (await admin.data('POST', '/api/department/', { name: 'top' })).id,
        (await admin.data('POST', '/api/department/', { name: 'below' })).id,
      ];
      const asks = {
        'into a department': () => admin.post(`/api/department/${top}/members`, { user_ids: [someone.id] }),
        'out of it': () => admin.delete(`/api/department/${top}/members/${someone.id}`),
        'below another': () => admin.put(`/api/department/${below}`, { parent_id: top }),
        invitation: () => admin.post('/api/user/invitation', {}),
        'email taken away': () => admin.delete(`/api/user/${someone.id}/bindings/email`),
        deleted: () => admin.post('/api/user/manage', { id: someone.id, action: 'delete' }),
        'deleted, the other way': () => admin.delete(`/api/user/${someone.id}`),
      };
      for (const [name, ask] of Object.entries(asks))
        assert.equal(said(await ask()), '403 verification_required', name);
      // What moves nothing needs none.
      await admin.data('PUT', `/api/department/${below}`, { name: 'lower', parent_id: 0 });
      await admin.data('POST', '/api/verify', { method: 'password', password: PASSWORD });
      const answers = Object.fromEntries(
        await Promise.all(
          Object.entries(asks)
            .slice(0, 1)
            .map(async ([name, ask]) => [name, said(await ask())]),
        ),
      );
      assert.deepEqual(answers, { 'into a department': '200 ok' });
      for (const name of ['out of it', 'below another', 'invitation', 'deleted'] as const)
        assert.equal(said(await asks[name]()), '200 ok', name);
    } finally {
      await departed.stop();
    }
  });
});
