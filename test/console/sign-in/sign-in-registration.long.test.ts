/** New accounts: who may make one, and what it takes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Sessions, Tickets } from '../../../core/contracts/sessions.ts';
import {
  checked,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  signedIn,
  type Visitor,
  verdictOf,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { tableColumns } from '../../kit/gateway/rows.ts';

const PIPELINE = [
  'accounts',
  'auth',
  'counters',
  'keys',
  'prices',
  'quota',
  'models',
  'styles',
  'vendors/demo',
  'log',
  'audit',
  'console',
];
const DAY = 86_400_000;

/** A gateway with such a console. */
async function start(section: object) {
  const clock = fakeClock();
  const gateway = await startGateway({
    config: { pipeline: PIPELINE, console: { ...PATIENT, ...section } },
    env: ROOT_ENV,
    clock,
  });
  const register = (body: object, who: Visitor = visitor(gateway)) =>
    who.post('/api/user/register', { password: PASSWORD, ...body });
  const proof = (email: string, code: string, accountId?: number) =>
    gateway.host.use(Tickets).issue('email-proof', { secret: `${email}:${code}`, forMs: 600_000, accountId });
  const find = (name: string) => gateway.host.use(Accounts).findByName(name);
  return { clock, gateway, register, proof, find };
}
type Stage = Awaited<ReturnType<typeof start>>;

describe('registration that is open', () => {
  let stage: Stage;
  let gateway: TestGateway;
  before(async () => {
    stage = await start({ registration: 'open' });
    ({ gateway } = stage);
  });
  after(() => gateway.stop());

  it('makes a member who can sign in, has nothing yet, and stands in the audit', async () => {
    const answer = await stage.register({ username: ' ann ', email: '', password2: PASSWORD });
    assert.deepEqual([answer.status, answer.body], [200, { success: true, message: '', data: null }]);
    assert.deepEqual(answer.headers.getSetCookie(), []);
    const ann = await visitor(gateway).signIn('ann', PASSWORD);
    const { role, quota, email } = await ann.data('GET', '/api/user/self');
    assert.deepEqual([role, quota, email], [1, 0, '']);
    const { id } = (await stage.find('ann'))!;
    const [entry] = await stage.gateway.host.use(Audit).page({ limit: 1, action: 'user.register' });
    assert.deepEqual([entry?.object, entry?.actor.accountId], [`user ${id}`, id]);
  });

  it('refuses a name that is taken and a password that is weak, and names what is wrong', async () => {
    assert.equal(verdictOf(await stage.register({ username: 'Root' })), '409 name_taken username');
    assert.equal(verdictOf(await stage.register({ username: '  ' })), '400 invalid_name username');
    assert.equal(verdictOf(await stage.register({ username: 'a\u0000b' })), '400 invalid_name username');
    assert.equal(
      verdictOf(await stage.register({ username: 'eve', password: 'short' })),
      '400 invalid_password password',
    );
    assert.equal(
      verdictOf(await stage.register({ username: 'eve', password: 'Password1' })),
      '400 common_password password',
    );
    assert.equal((await visitor(gateway).post('/api/user/register', { username: 'eve' })).body.param, 'password');
    assert.equal(await stage.find('eve'), undefined);
  });

  it('lets nobody say more than who they are, whatever columns there are', async () => {
    const columns = tableColumns(stage.gateway.storeFile).get('account') ?? [];
    assert.ok(columns.includes('group_name') && columns.includes('role'), `${columns}`);
    const wishes = [
      ...columns.filter((name) => name !== 'email'),
      'is_admin',
      'prices',
      'quota',
      'used_quota',
      'group',
      'status',
      'id',
      '__proto__',
      'constructor',
    ];
    for (const wish of wishes) {
      const body = `{"username":"eve","password":"${PASSWORD}","${wish}":100}`;
      const answer = await visitor(gateway).post('/api/user/register', body);
      assert.equal(answer.status, 400, wish);
    }
    assert.equal(await stage.find('eve'), undefined);
  });

  it('takes an e-mail address only with a code that came to it, once', async () => {
    const email = 'Eve@example.com';
    const ask = (verification_code: string, username = 'eve') => stage.register({ username, email, verification_code });
    await stage.proof('eve@example.com', '12345678');
    await stage.proof('other@example.com', '11111111');
    await stage.proof('eve@example.com', '22222222', 1);
    for (const code of ['', '00000000', '11111111', '22222222']) {
      assert.equal(verdictOf(await ask(code)), '403 wrong_code verification_code', code);
    }
    assert.equal(verdictOf(await ask('12345678', 'root')), '409 name_taken username');
    const both = await Promise.all([ask(' 12345678 '), ask('12345678', 'eva')]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
    const made = await stage.gateway.host.use(Accounts).findByEmail('eve@EXAMPLE.com');
    assert.ok(made?.name === 'eve' || made?.name === 'eva', 'one of them has it');
    assert.equal(verdictOf(await ask('12345678', 'late')), '403 wrong_code verification_code');
  });

  it('lets nobody guess a code: ten an hour for each address', async () => {
    const email = 'guess@example.com';
    const answers: string[] = [];
    for (let i = 0; i < 11; i++) {
      answers.push(
        verdictOf(
          await stage.register({
            username: 'g',
            email: i % 2 ? email : email.toUpperCase(),
            verification_code: `${i}`,
          }),
        ),
      );
    }
    assert.deepEqual(answers, [...Array(10).fill('403 wrong_code verification_code'), '429 rate_limit_exceeded']);
  });

  it('refuses an address that somebody has by now', async () => {
    await stage.gateway.host.use(Accounts).create({ name: 'first', role: 'member', email: 'taken@example.com' });
    await stage.proof('taken@example.com', '12345678');
    const answer = await stage.register({
      username: 'second',
      email: 'taken@example.com',
      verification_code: '12345678',
    });
    assert.equal(verdictOf(answer), '409 email_taken email');
  });
});

describe('registration that wants proof of an e-mail address', () => {
  it('makes no account without one', async () => {
    const stage = await start({ registration: 'open', emailProof: true });
    try {
      assert.equal(verdictOf(await stage.register({ username: 'ann' })), '403 email_wanted email');
      await stage.proof('ann@example.com', '12345678');
      const body = { username: 'ann', email: 'ann@example.com', verification_code: '12345678' };
      assert.equal((await stage.register(body)).status, 200);
    } finally {
      await stage.gateway.stop();
    }
  });
});

describe('registration for whoever is invited', () => {
  let stage: Stage;
  let clock: FakeClock;
  let admin: Visitor;
  before(async () => {
    stage = await start({ registration: 'invite' });
    ({ clock } = stage);
    admin = await checked(stage.gateway, await signedIn(stage.gateway, 'admin', { role: 'admin' }));
  });
  after(() => stage.gateway.stop());

  it('takes an invitation once, whoever comes first', async () => {
    const { code, expires_at } = await admin.data('POST', '/api/user/invitation');
    assert.match(code, /^[0-9A-Za-z]{43}$/);
    assert.equal(expires_at, Math.floor(clock.now() / 1_000) + 7 * 86_400);
    for (const invite_code of [undefined, '', 'x'.repeat(43)]) {
      const answer = await stage.register({ username: 'ann', ...(invite_code !== undefined && { invite_code }) });
      assert.equal(verdictOf(answer), '403 invitation_wanted invite_code');
    }
    // What fails uses nothing up.
    assert.equal(verdictOf(await stage.register({ username: 'root', invite_code: code })), '409 name_taken username');
    const both = await Promise.all(['ann', 'bob'].map((username) => stage.register({ username, invite_code: code })));
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
    assert.equal(
      verdictOf(await stage.register({ username: 'eve', aff_code: code })),
      '403 invitation_wanted invite_code',
    );
    assert.equal(await stage.find('eve'), undefined);
  });

  it('takes it by the name that tools know, until it is too old', async () => {
    const { code } = await admin.data('POST', '/api/user/invitation', { expires_days: 2 });
    const late = await stage.gateway.host.use(Tickets).issue('invitation', { forMs: 1_000 });
    clock.advance(1_000);
    assert.equal((await stage.register({ username: 'cid', aff_code: code })).status, 200);
    assert.equal(
      verdictOf(await stage.register({ username: 'dan', invite_code: late })),
      '403 invitation_wanted invite_code',
    );
  });

  it('is invited to by administrators, in a way that makes sense, and their password has nothing to do with it', async () => {
    const path = '/api/user/invitation';
    const mia = await signedIn(stage.gateway, 'mia');
    assert.equal(verdictOf(await visitor(stage.gateway).post(path)), '401 not_signed_in');
    assert.equal(verdictOf(await mia.post(path)), '403 role_insufficient');
    for (const body of [{ expires_days: 0 }, { expires_days: 366 }, { expires_days: '7' }, { role: 'admin' }]) {
      assert.equal((await admin.post(path, body)).status, 400, JSON.stringify(body));
    }
    const { code } = await admin.data('POST', path);
    const { id } = (await stage.find('admin'))!;
    await stage.gateway.host.store.atomic(stage.gateway.host.use(Tickets).voidSteps(id));
    assert.notEqual(await stage.gateway.host.use(Tickets).look('invitation', code), undefined);
    const [entry] = await stage.gateway.host.use(Audit).page({ limit: 1, action: 'invitation.create' });
    assert.equal(entry?.actor.name, 'admin');
    assert.ok(!JSON.stringify(entry).includes(code), 'the audit holds an invitation');
    assert.equal(await stage.gateway.host.use(Sessions).find(code), undefined);
  });
});

describe('registration that is closed', () => {
  it('makes no account, whatever is shown', async () => {
    const stage = await start({});
    try {
      const invite_code = await stage.gateway.host.use(Tickets).issue('invitation', { forMs: DAY });
      assert.equal(verdictOf(await stage.register({ username: 'ann', invite_code })), '403 registration_closed');
    } finally {
      await stage.gateway.stop();
    }
  });
});
