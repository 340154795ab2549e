import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Tickets } from '../../../core/contracts/sessions.ts';
import { member, PASSWORD, PATIENT, ROOT_ENV, signedIn, type Visitor, visitor } from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { allRows } from '../../kit/gateway/rows.ts';
import { authenticator } from '../../kit/stand-ins/authenticator.ts';
import { addPasskey, codeOf, enableTotp, FACTORS_PIPELINE, nextCodeOf } from '../../kit/stand-ins/factors.ts';

const ORIGIN = 'http://localhost:8080';

/** Each of them, with a body that is right in form. */
const ROWS = [
  ['GET', '/api/user/2fa/status', undefined],
  ['POST', '/api/user/2fa/setup', {}],
  ['POST', '/api/user/2fa/enable', { code: '123456' }],
  ['POST', '/api/user/2fa/disable', { code: '123456' }],
  ['POST', '/api/user/2fa/backup_codes', { code: '123456' }],
] as const;

describe('two-factor sign-in at the console', () => {
  let gateway: TestGateway;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    gateway = await startGateway({
      config: { pipeline: FACTORS_PIPELINE, console: { ...PATIENT, name: 'Toll Road' } },
      env: ROOT_ENV,
      clock,
    });
  });
  after(() => gateway.stop());

  const ask = (who: Visitor, method: 'GET' | 'POST', path: string, body?: unknown, headers = {}) =>
    method === 'GET' ? who.get(path, headers) : who.post(path, body, headers);

  /** A wrong code of six digits. */
  const wrong = (secret: string): string => (codeOf(secret, clock) === '000000' ? '111111' : '000000');

  it('is set up, enabled, asked for at sign-in, and disabled', async () => {
    const ann = await member(gateway, 'ann');
    assert.deepEqual(await ann.data('GET', '/api/user/2fa/status'), { enabled: false, locked: false });

    const setup = await ann.data('POST', '/api/user/2fa/setup');
    assert.match(setup.otpauth, /^otpauth:\/\/totp\/Toll%20Road:ann\?.*issuer=Toll(%20|\+)Road/);
    assert.equal(setup.qr_code_data, setup.otpauth);
    assert.equal(new URL(setup.otpauth).searchParams.get('secret'), setup.secret);
    assert.equal(setup.backup_codes.length, 10);
    const [, picture = ''] = /^data:image\/svg\+xml;base64,(.+)$/.exec(setup.qr) ?? [];
    assert.match(Buffer.from(picture, 'base64').toString(), /^<svg /);
    assert.deepEqual(await ann.data('GET', '/api/user/2fa/status'), { enabled: false, locked: false });

    assert.equal(await ann.data('POST', '/api/user/2fa/enable', { code: codeOf(setup.secret, clock) }), null);
    const status = { enabled: true, locked: false, backup_codes_remaining: 10 };
    assert.deepEqual(await ann.data('GET', '/api/user/2fa/status'), status);

    const later = visitor(gateway);
    const first = await later.data('POST', '/api/user/login', { username: 'ann', password: PASSWORD });
    assert.equal(first.require_2fa, true);
    assert.equal((await later.get('/api/user/2fa/status')).status, 401, 'a password is not enough');
    await later.data('POST', '/api/user/login/2fa', { code: nextCodeOf(setup.secret, clock) });
    assert.deepEqual(await later.data('GET', '/api/user/2fa/status'), status);

    await later.data('POST', '/api/user/2fa/disable', { code: setup.backup_codes[3] });
    assert.deepEqual(await later.data('GET', '/api/user/2fa/status'), { enabled: false, locked: false });
    assert.equal((await ann.get('/api/user/2fa/status')).status, 401, 'all other sessions ended');
    const alone = await visitor(gateway).signIn('ann', PASSWORD);
    assert.equal((await alone.get('/api/user/2fa/status')).status, 200);
  });

  it('takes a code once, of those who try it at sign-in, at the check and to disable it [T-2FA-03]', async () => {
    const bob = await member(gateway, 'bob');
    const { secret } = await enableTotp(bob, clock);
    const places = async (): Promise<readonly (() => Promise<number>)[]> => {
      const entering = visitor(gateway);
      await entering.data('POST', '/api/user/login', { username: 'bob', password: PASSWORD });
      const code = codeOf(secret, clock);
      const at = (who: Visitor, path: string, body: object) => async () => (await who.post(path, body)).status;
      return [
        at(entering, '/api/user/login/2fa', { code }),
        at(bob, '/api/verify', { method: '2fa', code }),
        at(bob, '/api/user/2fa/backup_codes', { code }),
      ];
    };
    clock.advance(30_000);
    const atOnce = await Promise.all((await places()).map((place) => place()));
    assert.equal(atOnce.filter((status) => status === 200).length, 1, atOnce.join());
    // And one after the other, whichever is first.
    const again = await visitor(gateway).data('POST', '/api/user/login', { username: 'bob', password: PASSWORD });
    const code = nextCodeOf(secret, clock);
    const next = visitor(gateway);
    await next.data('POST', '/api/user/login/2fa', { code, flow_token: again.flow_token });
    for (const [path, body] of [
      ['/api/verify', { method: '2fa', code }],
      ['/api/user/2fa/disable', { code }],
      ['/api/user/2fa/backup_codes', { code }],
    ] as const) {
      const { status, body: said } = await next.post(path, body);
      assert.deepEqual([status, said.code, said.param], [403, 'wrong_code', 'code'], path);
    }
  });

  it('counts wrong codes of all places together, and says when it takes one again [T-2FA-02]', async () => {
    const carl = await member(gateway, 'carl');
    const { secret } = await enableTotp(carl, clock);
    const entering = visitor(gateway);
    await entering.data('POST', '/api/user/login', { username: 'carl', password: PASSWORD });
    const code = wrong(secret);
    const tries = [
      () => carl.post('/api/verify', { method: '2fa', code }),
      () => carl.post('/api/user/2fa/disable', { code }),
      () => carl.post('/api/user/2fa/backup_codes', { code }),
      () => entering.post('/api/user/login/2fa', { code }),
      () => carl.post('/api/verify', { method: '2fa', code: 'no code at all' }),
    ];
    for (const each of tries) assert.equal((await each()).status, 403);
    for (const each of tries) {
      const { status, body, headers } = await each();
      assert.deepEqual([status, body.code, headers.get('retry-after')], [429, 'codes_locked', '300']);
    }
    assert.equal((await carl.data('GET', '/api/user/2fa/status')).locked, true);
    clock.advance(300_000);
    assert.equal((await carl.data('GET', '/api/user/2fa/status')).locked, false);
    await carl.data('POST', '/api/verify', { method: '2fa', code: codeOf(secret, clock) });
  });

  it('gives new backup codes for a code of the authenticator, and voids those before [T-2FA-04]', async () => {
    const dora = await signedIn(gateway, 'dora');
    const { secret, backupCodes } = await enableTotp(dora, clock);
    const { backup_codes: renewed } = await dora.data('POST', '/api/user/2fa/backup_codes', {
      code: nextCodeOf(secret, clock),
    });
    assert.equal(renewed.length, 10);
    const old = await dora.post('/api/verify', { method: '2fa', code: backupCodes[0] });
    assert.equal(old.status, 403);
    await dora.data('POST', '/api/verify', { method: '2fa', code: renewed[0].toLowerCase() });
    assert.equal((await dora.post('/api/verify', { method: '2fa', code: renewed[0] })).status, 403);
    assert.equal((await dora.data('GET', '/api/user/2fa/status')).backup_codes_remaining, 9);
  });

  it('is not set up a second time, and a set-up does not change it [T-2FA-05]', async () => {
    const emma = await signedIn(gateway, 'emma');
    const { secret, backupCodes } = await enableTotp(emma, clock);
    await emma.data('POST', '/api/verify', { method: '2fa', code: backupCodes[0] });
    for (const [path, body] of [
      ['/api/user/2fa/setup', {}],
      ['/api/user/2fa/enable', { code: nextCodeOf(secret, clock) }],
    ] as const) {
      const { status, body: said } = await emma.post(path, body);
      assert.deepEqual([status, said.code], [409, 'two_factor_enabled'], path);
    }
    await emma.data('POST', '/api/verify', { method: '2fa', code: codeOf(secret, clock) });
  });

  it('wants a check by the passkey, where there is one, to set it up and to enable it [T-VER-02]', async () => {
    const finn = await signedIn(gateway, 'finn');
    // Begun before there was a passkey: by whoever had the password.
    const { secret } = await finn.data('POST', '/api/user/2fa/setup');
    const key = authenticator(ORIGIN);
    await addPasskey(finn, key);
    for (const [path, body] of [
      ['/api/user/2fa/setup', {}],
      ['/api/user/2fa/enable', { code: codeOf(secret, clock) }],
    ] as const) {
      const { status, body: said } = await finn.post(path, body);
      assert.deepEqual([status, said.code], [403, 'verification_required'], path);
    }
    const { options, flow_token } = await finn.data('POST', '/api/user/passkey/verify/begin');
    await finn.data('POST', '/api/user/passkey/verify/finish', { flow_token, credential: key.get(options) });
    await enableTotp(finn, clock);
    assert.equal((await finn.data('GET', '/api/user/2fa/status')).enabled, true);
  });

  it('is wanted after a password and not after a passkey; what one sign-in began, no other goes on with [T-2FA-06] [T-2FA-07]', async () => {
    const gina = await member(gateway, 'gina');
    const key = authenticator(ORIGIN);
    await addPasskey(gina, key);
    const { options: checking, flow_token: checkToken } = await gina.data('POST', '/api/user/passkey/verify/begin');
    await gina.data('POST', '/api/user/passkey/verify/finish', {
      flow_token: checkToken,
      credential: key.get(checking),
    });
    const { secret } = await enableTotp(gina, clock);

    const byPassword = await visitor(gateway).data('POST', '/api/user/login', { username: 'gina', password: PASSWORD });
    assert.equal(byPassword.require_2fa, true);
    const entering = visitor(gateway);
    const begun = await entering.data('POST', '/api/user/passkey/login/begin');
    const code = nextCodeOf(secret, clock);
    for (const [path, body] of [
      ['/api/user/login/2fa', { code, flow_token: begun.flow_token }],
      ['/api/user/passkey/login/finish', { credential: key.get(begun.options), flow_token: byPassword.flow_token }],
    ] as const) {
      const refused = await visitor(gateway).post(path, body);
      assert.ok([401, 403].includes(refused.status), `${path}: ${refused.text}`);
      assert.deepEqual(refused.headers.getSetCookie(), []);
    }
    await entering.data('POST', '/api/user/passkey/login/finish', {
      credential: key.get(begun.options),
      flow_token: begun.flow_token,
    });
    assert.equal((await entering.get('/api/user/2fa/status')).status, 200);
    const second = visitor(gateway);
    await second.data('POST', '/api/user/login/2fa', { code, flow_token: byPassword.flow_token });
    assert.equal((await second.get('/api/user/2fa/status')).status, 200);
  });

  it('is wanted after a password was reset, and the link of that is no way around it [T-2FA-07]', async () => {
    const kate = await signedIn(gateway, 'kate');
    const { secret } = await enableTotp(kate, clock);
    const { id } = await kate.data('GET', '/api/user/self');
    const email = 'kate@example.com';
    await gateway.host.use(Accounts).change(id, { email });
    const token = await gateway.host.use(Tickets).issue('password-reset', { accountId: id, forMs: 60_000 });
    const around = visitor(gateway);
    for (const path of ['/api/user/login/2fa', '/api/user/passkey/login/finish']) {
      const body = { flow_token: token, ...(path.endsWith('2fa') ? { code: nextCodeOf(secret, clock) } : { id: 'x' }) };
      const { status, headers } = await around.post(path, body);
      assert.ok(status === 401 || status === 403, `${path}: ${status}`);
      assert.deepEqual(headers.getSetCookie(), []);
    }
    const reset = await around.post('/api/user/reset', { email, token, password: PASSWORD });
    assert.deepEqual([reset.status, reset.headers.getSetCookie()], [200, []]);
    const entering = await around.data('POST', '/api/user/login', { username: 'kate', password: PASSWORD });
    assert.equal(entering.require_2fa, true);
    assert.equal((await around.get('/api/user/self')).status, 401);
    await around.data('POST', '/api/user/login/2fa', { code: nextCodeOf(secret, clock) });
    assert.equal((await around.get('/api/user/self')).status, 200);
  });

  it('is for people who are signed in with a browser', async () => {
    const hugo = await signedIn(gateway, 'hugo');
    const token = await hugo.data('GET', '/api/user/token');
    for (const [method, path, body] of ROWS) {
      const stranger = await ask(visitor(gateway), method, path, body);
      assert.deepEqual([stranger.status, stranger.body.code], [401, 'not_signed_in'], path);
      const withToken = await ask(visitor(gateway, { authorization: `Bearer ${token}` }), method, path, body);
      assert.deepEqual([withToken.status, withToken.body.code], [401, 'session_wanted'], path);
    }
  });

  it('refuses bodies that are not what it takes, whatever columns they name', async () => {
    const ivan = await signedIn(gateway, 'ivan');
    const { secret, backupCodes } = await enableTotp(ivan, clock);
    await ivan.data('POST', '/api/verify', { method: '2fa', code: backupCodes[0] });
    const tables = (): unknown => {
      const { totp, totp_pending, backup_code, passkey, account } = allRows(gateway.storeFile);
      return { totp, totp_pending, backup_code, passkey, account };
    };
    const before = tables();
    const columns = {
      account_id: 1,
      secret: 'x',
      last_step: 0,
      wrong: 0,
      locked_until_ms: 0,
      pending: 0,
      role: 'root',
    };
    for (const [method, path, right] of ROWS) {
      if (method === 'GET' || path.endsWith('setup')) continue;
      for (const [body, param] of [
        [{}, 'code'],
        [{ code: 123_456 }, 'code'],
        [{ code: null }, 'code'],
        [{ code: 'x'.repeat(65) }, 'code'],
        ...Object.entries(columns).map(([name, value]) => [{ ...right, [name]: value }, name] as const),
        [[], ''],
      ] as const) {
        const { status, body: said } = await ivan.post(path, body);
        assert.deepEqual([status, said.success, said.param ?? ''], [400, false, param], JSON.stringify([path, body]));
      }
    }
    // What takes no body looks at none.
    assert.equal((await ivan.post('/api/user/2fa/setup', { ...columns, enabled: true })).status, 409);
    assert.deepEqual(tables(), before);
    await ivan.data('POST', '/api/user/2fa/disable', { code: nextCodeOf(secret, clock) });
  });

  it('stands in the audit: who, what and from where, and no secret', async () => {
    const jana = await signedIn(gateway, 'jana');
    const { secret } = await enableTotp(jana, clock);
    await jana.data('POST', '/api/user/2fa/backup_codes', { code: nextCodeOf(secret, clock) });
    await jana.data('POST', '/api/user/2fa/disable', { code: nextCodeOf(secret, clock) });
    const rows = gateway.rows(
      "SELECT action, object, ip, facts FROM audit WHERE actor = 'jana' AND action LIKE 'two-%' ORDER BY seq",
    );
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['two-factor.enable', 'two-factor.backup-codes', 'two-factor.disable'],
    );
    const id = (await jana.data('GET', '/api/user/self')).id;
    for (const { object, ip, facts } of rows) assert.deepEqual([object, ip, facts], [`user ${id}`, '127.0.0.1', '{}']);
  });
});
