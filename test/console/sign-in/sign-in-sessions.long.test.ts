/** Where somebody is signed in, and the personal access token. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import {
  type ApiAnswer,
  advanced,
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  root,
  signedIn,
  verdictOf,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { enableTotp, FACTORS_PIPELINE, nextCodeOf } from '../../kit/stand-ins/factors.ts';

describe('sessions at the console', () => {
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

  const enter = (name: string) => signedIn(gateway, name);
  const isIn = async (who: { get(path: string): Promise<ApiAnswer> }): Promise<boolean> =>
    (await who.get('/api/user/self')).status === 200;

  it('are listed with where they come from, and no secret of theirs', async () => {
    await enter('ann');
    const ann = await enter('ann');
    await enter('somebody-else');
    const answer = await ann.get('/api/user/sessions');
    const seconds = Math.floor(clock.now() / 1_000);
    assert.equal(answer.body.data.length, 2);
    const current = answer.body.data.find((session: { current: boolean }) => session.current);
    assert.deepEqual(current, {
      sid: current.sid,
      current: true,
      login_method: 'password',
      ip: '127.0.0.1',
      user_agent: 'a test',
      created_at: seconds,
      last_active_at: seconds,
      expires_at: seconds + 30 * 86_400,
    });
    assert.match(current.sid, /^\d+$/);
    assert.ok(!answer.text.includes(ann.secret), 'the list holds a secret');
  });

  it('end one by one; those of others are not there', async () => {
    const [ann, elsewhere, bob] = [await enter('ann-b'), await enter('ann-b'), await enter('bob')];
    const sids = async (who: typeof ann): Promise<string[]> =>
      (await who.data('GET', '/api/user/sessions'))
        .filter(({ current }: { current: boolean }) => !current)
        .map(({ sid }: { sid: string }) => sid);
    const [sid = ''] = await sids(ann);
    for (const strange of [sid, '0', '-1', '1.5', 'x', '99999999999999999999']) {
      assert.equal(verdictOf(await bob.delete(`/api/user/sessions/${strange}`)), '404 session_not_found', strange);
    }
    assert.equal(await isIn(elsewhere), true);
    assert.deepEqual(await ann.data('DELETE', `/api/user/sessions/${sid}`), { revoked_sid: sid, current: false });
    assert.equal(await isIn(elsewhere), false);
    assert.equal(verdictOf(await ann.delete(`/api/user/sessions/${sid}`)), '404 session_not_found');
    const own = (await ann.data('GET', '/api/user/sessions'))[0].sid;
    const last = await ann.delete(`/api/user/sessions/${own}`);
    assert.deepEqual(last.body.data, { revoked_sid: own, current: true });
    assert.match(last.headers.getSetCookie()[0] ?? '', /^turnpike_session=; Max-Age=0/);
    assert.equal(await isIn(ann), false);
  });

  it('end all but the one that asks', async () => {
    const [ann, two, three, bob] = [
      await enter('ann-c'),
      await enter('ann-c'),
      await enter('ann-c'),
      await enter('bob-c'),
    ];
    assert.deepEqual(await ann.data('POST', '/api/user/sessions/revoke-others'), { revoked_count: 2 });
    assert.deepEqual(await Promise.all([ann, two, three, bob].map(isIn)), [true, false, false, true]);
    assert.deepEqual(await ann.data('POST', '/api/user/sessions/revoke-others'), { revoked_count: 0 });
    const [entry] = await gateway.host.use(Audit).page({ limit: 1 });
    assert.deepEqual([entry?.action, entry?.actor.name], ['session.end-others', 'ann-c']);
  });

  it('end when the password changes, two-factor sign-in is disabled, or the account is [T-SES-04]', async () => {
    const ann = await member(gateway, 'ann-d');
    let other = await enter('ann-d');
    await ann.data('PUT', '/api/user/self', { password: 'thirteen eggs', original_password: PASSWORD });
    assert.deepEqual([await isIn(ann), await isIn(other)], [true, false]);

    const { secret } = await enableTotp(ann, clock);
    other = await enter('ann-d');
    await ann.data('POST', '/api/user/2fa/disable', { code: nextCodeOf(secret, clock) });
    assert.deepEqual([await isIn(ann), await isIn(other)], [true, false]);

    await gateway.command('user disable ann-d');
    await gateway.command('user enable ann-d');
    assert.equal(await isIn(ann), false);
  });

  it('are no business of an access token', async () => {
    const ann = await enter('ann-e');
    const headers = { authorization: `Bearer ${await ann.data('GET', '/api/user/token')}` };
    const robot = visitor(gateway, headers);
    const answers = [
      await robot.get('/api/user/sessions'),
      await robot.delete('/api/user/sessions/1'),
      await robot.post('/api/user/sessions/revoke-others'),
      await robot.get('/api/user/token'),
      await robot.delete('/api/user/self'),
    ];
    assert.deepEqual(answers.map(verdictOf), Array(5).fill('401 session_wanted'));
  });
});

describe('the personal access token', () => {
  let gateway: TestGateway;
  before(async () => {
    const config = { pipeline: FACTORS_PIPELINE, console: PATIENT };
    gateway = await startGateway({ config, env: ROOT_ENV });
  });
  after(() => gateway.stop());

  it('lets tools in as its owner, however they send it, until there is another', async () => {
    const ann = await signedIn(gateway, 'ann');
    assert.deepEqual(await ann.data('GET', '/api/user/token/status'), { exists: false, valid_days: 90 });
    const token: string = await ann.data('GET', '/api/user/token');
    const { exists, created_at } = await ann.data('GET', '/api/user/token/status');
    assert.deepEqual([exists, Number.isSafeInteger(created_at)], [true, true]);
    assert.match(token, /^[0-9A-Za-z]{43}$/);
    for (const headers of [
      { authorization: token },
      { authorization: `Bearer ${token}`, 'New-Api-User': '999' },
      { authorization: `bearer  ${token}` },
    ]) {
      const { status, body } = await visitor(gateway, headers as Record<string, string>).get('/api/user/self');
      assert.deepEqual([status, body.data?.username], [200, 'ann']);
    }
    const next: string = await ann.data('GET', '/api/user/token');
    assert.notEqual(next, token);
    assert.equal(
      verdictOf(await visitor(gateway, { authorization: token }).get('/api/user/self')),
      '401 invalid_access_token',
    );
    const entries = await gateway.host.use(Audit).page({ limit: 10, action: 'access-token.renew' });
    assert.deepEqual(
      entries.map(({ object }) => object),
      [`user ${ann.id}`, `user ${ann.id}`],
    );
    assert.ok(!JSON.stringify(entries).includes(token), 'the audit holds an access token');
  });

  it('expires after the days of gateway.yaml, and says when [T-TOK-01]', async () => {
    const clock = fakeClock();
    const config = { pipeline: FACTORS_PIPELINE, console: { ...PATIENT, accessToken: { days: 2 } } };
    const brief = await startGateway({ config, env: ROOT_ENV, clock });
    try {
      const ann = await signedIn(brief, 'ann');
      // Not when what has expired is removed: it has ended before.
      await advanced(brief, clock, 3 * 60_000 + 5);
      const robot = visitor(brief, { authorization: await ann.data('GET', '/api/user/token') });
      const madeS = Math.floor(clock.now() / 1_000);
      assert.deepEqual(await ann.data('GET', '/api/user/token/status'), {
        exists: true,
        created_at: madeS,
        expires_at: madeS + 2 * 86_400,
        valid_days: 2,
      });
      await advanced(brief, clock, 2 * 86_400_000 - 1);
      assert.equal((await robot.get('/api/user/self')).status, 200);
      await advanced(brief, clock, 1);
      assert.equal(verdictOf(await robot.get('/api/user/self')), '401 invalid_access_token');
      const later = await signedIn(brief, 'ann');
      assert.deepEqual(await later.data('GET', '/api/user/token/status'), { exists: false, valid_days: 2 });
    } finally {
      await brief.stop();
    }
  });

  it('ends when its owner signs out everywhere, an administrator signs them out, or a second factor is set up [T-TOK-02]', async () => {
    const ann = await signedIn(gateway, 'ann-t');
    const robot = async () => visitor(gateway, { authorization: await ann.data('GET', '/api/user/token') });
    const one = await robot();
    await ann.data('POST', '/api/user/sessions/revoke-others');
    assert.equal(verdictOf(await one.get('/api/user/self')), '401 invalid_access_token', 'signed out everywhere');
    const two = await robot();
    await verify(ann);
    assert.equal(verdictOf(await two.get('/api/user/self')), '401 invalid_access_token', 'a second factor was set up');
    const three = await robot();
    await (await root(gateway)).data('DELETE', `/api/user/${ann.id}/sessions`);
    assert.equal(verdictOf(await three.get('/api/user/self')), '401 invalid_access_token', 'by an administrator');
  });

  it('is no session, no session is one, and it is no good where the account is disabled', async () => {
    const ann = await signedIn(gateway, 'ann-b');
    const token: string = await ann.data('GET', '/api/user/token');
    assert.equal((await visitor(gateway, { cookie: `turnpike_session=${token}` }).get('/api/user/self')).status, 401);
    assert.equal((await visitor(gateway, { authorization: ann.secret }).get('/api/user/self')).status, 401);
    assert.equal(await gateway.host.use(Sessions).find(token), undefined);
    await gateway.host.use(Accounts).change(ann.id, { enabled: false });
    assert.equal((await visitor(gateway, { authorization: token }).get('/api/user/self')).status, 401);
  });
});
