import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { authenticator } from '../kit/authenticator.ts';
import { type FakeClock, fakeClock } from '../kit/clock.ts';
import { PATIENT, ROOT_ENV, signedIn, type Visitor, visitor } from '../kit/console.ts';
import { addPasskey, enableTotp, FACTORS_PIPELINE, nextCodeOf, verifyByPasskey } from '../kit/factors.ts';
import { startGateway, type TestGateway } from '../kit/gateway.ts';

const ORIGIN = 'http://localhost:8080';
const FIVE_MINUTES_MS = 300_000;

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
    assert.deepEqual(await person.data('GET', '/api/verify/status'), { verified: false });

    const before = person.cookies.get('turnpike_session');
    const code = nextCodeOf(secret, clock);
    const said = await person.data('POST', '/api/verify', { method: '2fa', code });
    const untilMs = clock.now() + FIVE_MINUTES_MS;
    assert.deepEqual(said, { verified: true, expires_at: Math.floor(untilMs / 1_000), method: '2fa' });
    assert.notEqual(person.cookies.get('turnpike_session'), before, 'the session has a new secret');
    const old = await visitor(gateway, { cookie: `turnpike_session=${before}` }).get('/api/verify/status');
    assert.equal(old.status, 401, 'and the one before is void');

    assert.equal(await sensitive(person), DONE);
    assert.deepEqual(await person.data('GET', '/api/verify/status'), { verified: true, expires_at: said.expires_at });
    assert.equal(await sensitive(elsewhere), REQUIRED);
    assert.deepEqual(await elsewhere.data('GET', '/api/verify/status'), { verified: false });

    clock.advance(FIVE_MINUTES_MS);
    assert.equal(await sensitive(person), DONE, '5:00.000');
    assert.equal((await person.data('GET', '/api/verify/status')).verified, true);
    clock.advance(1);
    assert.equal(await sensitive(person), REQUIRED, '5:00.001');
    assert.deepEqual(await person.data('GET', '/api/verify/status'), { verified: false });
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
      { verified: false },
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
    assert.deepEqual(await person.data('GET', '/api/verify/status'), { verified: true, expires_at });
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

  it('is for people who are signed in with a browser', async () => {
    const gina = await signedIn(gateway, 'gina');
    const token = await gina.data('GET', '/api/user/token');
    const bearer = visitor(gateway, { authorization: `Bearer ${token}` });
    for (const [who, code] of [
      [visitor(gateway), 'not_signed_in'],
      [bearer, 'session_wanted'],
    ] as const) {
      const post = await who.post('/api/verify', { method: '2fa', code: '123456' });
      const get = await who.get('/api/verify/status');
      for (const { status, body } of [post, get]) assert.deepEqual([status, body.code], [401, code]);
    }
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
    ] as const) {
      const { status, body: said } = await hugo.post('/api/verify', body);
      assert.deepEqual([status, said.success, said.param], [400, false, param], JSON.stringify(body));
    }
    assert.deepEqual(await hugo.data('GET', '/api/verify/status'), { verified: false });
  });
});
