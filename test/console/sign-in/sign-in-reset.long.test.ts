/** A forgotten password: what is mailed, to whom, and what the link is good for. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Sessions, Tickets } from '../../../core/contracts/sessions.ts';
import { PASSWORD, PATIENT, ROOT_ENV, signedIn, verdictOf, visitor } from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { enableTotp, FACTORS_PIPELINE } from '../../kit/stand-ins/factors.ts';
import { mailbox } from '../../kit/stand-ins/mailbox.ts';

const ORIGIN = 'https://console.example.com';
const MINUTE = 60_000;

describe('a forgotten password', () => {
  const mail = mailbox();
  let gateway: TestGateway;
  let clock: FakeClock;
  let ann: number;
  before(async () => {
    clock = fakeClock();
    gateway = await startGateway({
      config: { pipeline: FACTORS_PIPELINE, console: { ...PATIENT, url: ORIGIN, name: 'Toll Road' } },
      plugins: [mail.plugin],
      env: ROOT_ENV,
      clock,
    });
    ({ id: ann } = await gateway.host
      .use(Accounts)
      .create({ name: 'ann', role: 'member', email: 'ann+1@example.com' }));
  });
  after(() => gateway.stop());

  const ask = (email: string, headers = {}) =>
    visitor(gateway).get(`/api/reset_password?email=${encodeURIComponent(email)}`, headers);
  const reset = (body: object) => visitor(gateway).post('/api/user/reset', { email: 'ann+1@example.com', ...body });
  const tokenIn = (text: string): string => /[?&]code=(\w+)/.exec(text)?.[1] ?? '';
  const issue = () => gateway.host.use(Tickets).issue('password-reset', { accountId: ann, forMs: 15 * MINUTE });

  it('brings a letter with a link that only the configuration could name [T-RST-01]', async () => {
    // `fetch` lets nobody choose the host.
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = {
        host: 'evil.example',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'http',
        forwarded: 'host=evil.example',
      };
      const path = '/api/reset_password?email=ANN%2B1@example.com';
      request({ port: gateway.port, path, headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    assert.equal(status, 200);
    const letter = await mail.letter();
    assert.equal(letter.to, 'ann+1@example.com');
    assert.equal(letter.subject, 'Toll Road: a new password');
    const links = letter.text.match(/https?:\/\/\S+/g) ?? [];
    assert.equal(links.length, 1);
    const link = new URL(links[0]!);
    assert.equal(link.origin, ORIGIN);
    assert.equal(link.pathname, '/console/reset');
    assert.equal(link.searchParams.get('email'), 'ann+1@example.com');
    assert.match(link.searchParams.get('code') ?? '', /^[0-9A-Za-z]{43}$/);
    assert.ok(!/evil/.test(letter.text), letter.text);
  });

  it('is answered alike for whoever has an account, has none, or is disabled; only the first gets a letter [T-AUTH-08]', async () => {
    const book = gateway.host.use(Accounts);
    const off = await book.create({ name: 'off', role: 'member', email: 'off@example.com' });
    await book.change(off.id, { enabled: false });
    const sent = mail.letters.length;
    const answers = [
      await ask('nobody@example.com'),
      await ask('off@example.com'),
      await ask('no address'),
      await ask('ann+1@example.com'),
    ];
    const seen = answers.map(({ status, body, headers }) => ({ status, body, headers: [...headers.keys()].sort() }));
    assert.deepEqual(seen[0]?.body, { success: true, message: '', data: null });
    for (const one of seen) assert.deepEqual(one, seen[0]);
    assert.equal((await mail.letter()).to, 'ann+1@example.com');
    assert.equal(mail.letters.length, sent + 1);
    assert.equal(verdictOf(await visitor(gateway).get('/api/reset_password')), '400 invalid_request_error email');
  });

  it('is replaced by the password sent, once; every session ends, and nobody is signed in by it [T-SES-04]', async () => {
    const before = await signedIn(gateway, 'ann');
    await ask('ann+1@example.com');
    const token = tokenIn((await mail.letter()).text);
    assert.equal(verdictOf(await reset({ token, password: 'password1' })), '400 common_password password');
    assert.equal(verdictOf(await reset({ token, password: 'short' })), '400 invalid_password password');
    const answer = await reset({ token, password: 'thirteen eggs' });
    assert.deepEqual([answer.status, answer.body], [200, { success: true, message: '', data: null }]);
    assert.deepEqual(answer.headers.getSetCookie(), []);
    assert.equal((await before.get('/api/user/self')).status, 401);
    assert.equal(verdictOf(await reset({ token, password: 'fourteen eggs' })), '403 reset_refused token');
    await visitor(gateway).signIn('ann', 'thirteen eggs');
  });

  it('is made up where none is sent', async () => {
    const { body } = await reset({ token: await issue() });
    assert.match(body.data, /^[0-9A-Za-z]{20}$/);
    await visitor(gateway).signIn('ann', body.data);
  });

  it('is set by one of those who try the link at the same moment', async () => {
    const token = await issue();
    const answers = await Promise.all([1, 2, 3].map((n) => reset({ token, password: `number ${n} of three` })));
    const refused = '403 reset_refused token';
    assert.deepEqual(answers.map(verdictOf).sort(), ['200', refused, refused]);
  });

  it('is set by no link that is late, another address’s, for something else, or from before a new password', async () => {
    const refused = '403 reset_refused token';
    const late = await issue();
    clock.advance(15 * MINUTE);
    assert.equal(verdictOf(await reset({ token: late, password: PASSWORD })), refused);
    await gateway.host.use(Accounts).create({ name: 'bob', role: 'member', email: 'bob@example.com' });
    assert.equal(
      verdictOf(await reset({ token: await issue(), email: 'bob@example.com', password: PASSWORD })),
      refused,
    );
    assert.equal(verdictOf(await reset({ token: 'x'.repeat(43), password: PASSWORD })), refused);
    for (const purpose of ['sign-in', 'email-proof', 'oauth', 'passkey-login', 'invitation'] as const) {
      const token = await gateway.host.use(Tickets).issue(purpose, { accountId: ann, forMs: MINUTE });
      assert.equal(verdictOf(await reset({ token, password: PASSWORD })), refused, purpose);
    }
    const before = await issue();
    await gateway.command('user password ann --password-stdin', PASSWORD);
    assert.equal(verdictOf(await reset({ token: before, password: 'another one' })), refused);
    const off = await issue();
    await gateway.host.use(Accounts).change(ann, { enabled: false });
    await gateway.host.use(Accounts).change(ann, { enabled: true });
    assert.equal(verdictOf(await reset({ token: off, password: 'another one' })), refused);
  });

  it('takes no link for a session or a second step [T-2FA-07]', async () => {
    const token = await issue();
    assert.equal(await gateway.host.use(Sessions).find(token), undefined);
    for (const headers of [{ cookie: `turnpike_session=${token}` }, { authorization: `Bearer ${token}` }]) {
      assert.equal((await visitor(gateway).get('/api/user/self', headers)).status, 401);
    }
    const second = await visitor(gateway).post('/api/user/login/2fa', { code: '123456', flow_token: token });
    assert.equal(verdictOf(second), '401 sign_in_expired');
  });

  it('does not spare anybody the second step [T-2FA-07]', async () => {
    await gateway.command('user password ann --password-stdin', PASSWORD);
    await enableTotp(await signedIn(gateway, 'ann'), clock);
    assert.equal((await reset({ token: await issue(), password: 'fifteen eggs' })).status, 200);
    const { require_2fa } = await visitor(gateway).data('POST', '/api/user/login', {
      username: 'ann',
      password: 'fifteen eggs',
    });
    assert.equal(require_2fa, true);
  });

  it('refuses bodies that are not what it takes', async () => {
    for (const body of [
      {},
      { token: '' },
      { token: 7 },
      { token: 'x', password: 7 },
      { token: 'x', id: 1 },
      { token: 'x', role: 'root' },
    ]) {
      assert.equal((await reset(body)).status, 400, JSON.stringify(body));
    }
  });
});

describe('a gateway without mail', () => {
  it('says that there is none', async () => {
    const gateway = await startGateway({ config: { pipeline: FACTORS_PIPELINE, console: PATIENT }, env: ROOT_ENV });
    try {
      assert.equal(
        verdictOf(await visitor(gateway).get('/api/reset_password?email=a@example.com')),
        '404 not_available',
      );
    } finally {
      await gateway.stop();
    }
  });
});
