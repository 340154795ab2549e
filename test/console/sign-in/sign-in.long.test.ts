/** Signing in and out: what is proof enough, what a cookie is worth, and who may not have a browser do it. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { Sessions, Tickets } from '../../../core/contracts/sessions.ts';
import { refuse } from '../../../core/plugin.ts';
import accounts from '../../../plugins/accounts/index.ts';
import { createGuesses } from '../../../plugins/console/access/sign-in-attempts.ts';
import counters from '../../../plugins/counters/index.ts';
import {
  type ApiAnswer,
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  signedIn,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { drive, verdict } from '../../kit/gateway/drive.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { enableTotp, FACTORS_PIPELINE, nextCodeOf } from '../../kit/stand-ins/factors.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Rows that need a sign-in, of all kinds. */
const SIGNED_IN = [
  ['GET', '/api/user/self'],
  ['PUT', '/api/user/self'],
  ['DELETE', '/api/user/self'],
  ['PUT', '/api/user/setting'],
  ['GET', '/api/user/sessions'],
  ['DELETE', '/api/user/sessions/1'],
  ['POST', '/api/user/sessions/revoke-others'],
  ['GET', '/api/user/token'],
  ['GET', '/api/token/'],
  ['POST', '/api/user/2fa/setup'],
  ['POST', '/api/verify'],
] as const;

const ask = (
  who: Visitor,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  headers: Record<string, string> = {},
) => {
  if (method === 'GET') return who.get(path, headers);
  if (method === 'DELETE') return who.delete(path, undefined, headers);
  return who[method === 'POST' ? 'post' : 'put'](path, {}, headers);
};

const verdictOf = ({ status, body }: ApiAnswer): string => `${status} ${body?.code ?? ''}`.trim();

describe('signing in', () => {
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

  const logIn = (username: string, password = PASSWORD, who = visitor(gateway)) =>
    who.post('/api/user/login', { username, password });
  const sessionOf = async (name: string): Promise<string> => (await signedIn(gateway, name)).secret;
  const withCookie = (value: string): Visitor => visitor(gateway, { cookie: `turnpike_session=${value}` });

  it('takes the name or the e-mail address, and says who it is', async () => {
    await member(gateway, 'zoe', { role: 'admin' });
    const book = gateway.host.use(Accounts);
    const { id } = (await book.findByName('zoe'))!;
    await book.change(id, { email: 'zoe@example.com', displayName: 'Zoë', group: 'vip' });
    for (const name of ['zoe', ' ZOE ', 'Zoe@Example.com']) {
      const { status, body } = await logIn(name);
      assert.equal(status, 200);
      assert.deepEqual(body, {
        success: true,
        message: '',
        data: { id, username: 'zoe', display_name: 'Zoë', role: 10, status: 1, group: 'vip' },
      });
    }
  });

  it('sets a cookie that no page can read and no other site sends along', async () => {
    const ann = await member(gateway, 'ann');
    const answer = await logIn('ann', PASSWORD, ann);
    const lines = answer.headers.getSetCookie();
    assert.match(
      lines[0] ?? '',
      /^turnpike_session=[0-9A-Za-z]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    assert.match(lines[1] ?? '', /^turnpike_flow=; Max-Age=0;/);
  });

  it('refuses a wrong password, an unknown name and a disabled account with one answer [T-AUTH-08]', async () => {
    await member(gateway, 'off');
    await gateway.command('user disable off');
    const answers = [
      await logIn('ann', 'wrong one'),
      await logIn('nobody'),
      await logIn('off'),
      await logIn('ann@example.com'),
    ];
    const seen = answers.map(({ status, body, headers }) => ({ status, body, headers: [...headers.keys()].sort() }));
    assert.equal(verdictOf(answers[0]!), '401 wrong_credentials');
    for (const one of seen) assert.deepEqual(one, seen[0]);
    assert.deepEqual(
      answers.flatMap(({ headers }) => headers.getSetCookie()),
      [],
    );
  });

  it('refuses what is no name and password', async () => {
    const bodies = [
      {},
      { username: 'ann' },
      { username: 'ann', password: 7 },
      { username: '', password: PASSWORD },
      { username: 'ann', password: 'x'.repeat(2_000) },
      { username: { $ne: '' }, password: PASSWORD },
      { username: 'ann', password: PASSWORD, role: 100 },
    ];
    for (const body of bodies)
      assert.equal((await visitor(gateway).post('/api/user/login', body)).status, 400, JSON.stringify(body));
  });

  it('counts wrong passwords for each name, whether or not anybody has it, and right ones not [T-AUTH-08]', async () => {
    await member(gateway, 'guessed');
    for (const name of ['guessed', 'Guessed-by-nobody']) {
      await spend(gateway, name, 9);
      // The eleventh is the first of those that come one by one.
      const answers = [
        await logIn(name, 'wrong one'),
        await logIn(name, 'wrong one'),
        await logIn(name, 'wrong one'),
        await logIn(` ${name.toUpperCase()} `),
      ];
      const verdicts = [...Array(2).fill('401 wrong_credentials'), ...Array(2).fill('429 rate_limit_exceeded')];
      assert.deepEqual(answers.map(verdictOf), verdicts, name);
      assert.equal(answers[2]?.headers.get('retry-after'), '15');
    }
    assert.equal((await logIn('ann')).status, 200);
    clock.advance(HOUR);
    await spend(gateway, 'guessed', 9);
    for (let i = 0; i < 2; i++) assert.equal((await logIn('guessed')).status, 200);
  });

  it('lets the right password in fifteen seconds after a wrong one, however many strangers sent [T-LOCK-01]', async () => {
    await member(gateway, 'besieged');
    await spend(gateway, 'besieged', 11);
    assert.equal((await logIn('besieged')).status, 429);
    clock.advance(15_000);
    assert.equal((await logIn('besieged')).status, 200, 'from the address of the stranger, with no cookie');
  });

  it('lets a browser in at once that has signed in before, whatever strangers at its address send [T-LOCK-02]', async () => {
    await member(gateway, 'regular');
    await member(gateway, 'someone-else');
    const mine = visitor(gateway);
    const other = visitor(gateway);
    assert.equal((await logIn('regular', PASSWORD, mine)).status, 200);
    assert.equal((await logIn('someone-else', PASSWORD, other)).status, 200);
    await mine.data('GET', '/api/user/logout');
    await spend(gateway, 'regular', 11);
    assert.equal((await logIn('regular', PASSWORD, other)).status, 429, 'known to another account only');
    assert.equal((await logIn('regular')).status, 429);
    assert.equal((await logIn('regular', PASSWORD, mine)).status, 200);
    for (let i = 0; i < 11; i++) assert.equal((await logIn('regular', 'wrong one', mine)).status, 401);
    assert.equal((await logIn('regular', PASSWORD, mine)).status, 429, 'a stolen cookie is no way round the limit');
    const forged = visitor(gateway, {}, { turnpike_browser: 'v1.0000.AAAA' });
    assert.equal((await logIn('regular', PASSWORD, forged)).status, 429);
  });

  it('adopts no cookie that the browser brought, and ends the session before it [T-SES-02]', async () => {
    const chosen = 'A'.repeat(43);
    const planted = withCookie(chosen);
    const answer = await logIn('ann', PASSWORD, planted);
    const first = planted.cookies.get('turnpike_session')!;
    assert.equal(answer.status, 200);
    assert.notEqual(first, chosen);
    assert.equal((await withCookie(chosen).get('/api/user/self')).status, 401);

    const again = await logIn('ann', PASSWORD, withCookie(first));
    assert.equal(again.status, 200);
    assert.equal((await withCookie(first).get('/api/user/self')).status, 401);
  });

  it('is undone for good by signing out, in all its spellings [T-SES-03]', async () => {
    const spellings = [
      ['GET', '/api/user/logout'],
      ['POST', '/api/user/logout'],
      ['POST', '/api/user/auth/logout'],
    ] as const;
    for (const [method, path] of spellings) {
      const kept = await sessionOf('ann');
      const answer = await ask(withCookie(kept), method, path);
      assert.deepEqual(answer.body, { success: true, message: '', data: null });
      assert.match(answer.headers.getSetCookie()[0] ?? '', /^turnpike_session=; Max-Age=0;/);
      assert.equal((await withCookie(kept).get('/api/user/self')).status, 401);
      assert.equal((await ask(withCookie(kept), method, path)).status, 200);
    }
    // The cookie goes, whatever is sent beside it: so must the session.
    const kept = await sessionOf('ann');
    const { status } = await withCookie(kept).post('/api/user/logout', {}, { authorization: 'Bearer of-no-use' });
    assert.equal(status, 200);
    assert.equal((await withCookie(kept).get('/api/user/self')).status, 401);
  });

  it('is needed, and nothing that looks like it, or was it once, will do [T-SES-01] [T-SES-05]', async () => {
    const pending = await member(gateway, 'pending');
    await enableTotp(pending, clock);
    const begun = visitor(gateway);
    const { flow_token: flow } = await begun.data('POST', '/api/user/login', {
      username: 'pending',
      password: PASSWORD,
    });
    assert.equal(begun.cookies.get('turnpike_flow'), flow);
    const gone = await sessionOf('gone');
    await withCookie(gone).data('DELETE', '/api/user/self');
    const [idle, expired] = [await sessionOf('idle'), await sessionOf('expired')];
    const age = (column: string, name: string, ms: number) =>
      gateway.host.store.run(
        `UPDATE session SET ${column} = ${column} - ? WHERE account_id = (SELECT id FROM account WHERE name = ?)`,
        ms,
        name,
      );
    await age('last_seen_ms', 'idle', DAY);
    await age('created_ms', 'expired', 30 * DAY);
    for (const value of ['', 'null', 'undefined', '{}', 'true', 'x'.repeat(43), gone, idle, expired, flow]) {
      for (const [method, path] of SIGNED_IN) {
        assert.equal(verdictOf(await ask(withCookie(value), method, path)), '401 not_signed_in', `${value}: ${path}`);
      }
    }
    const twice = visitor(gateway, {
      cookie: `turnpike_session=${'a'.repeat(43)}; turnpike_session=${'b'.repeat(43)}`,
    });
    assert.equal((await twice.get('/api/user/self')).status, 401);
  });

  it('is not done, nor undone, by another site [T-CSRF-01]', async () => {
    const secret = await sessionOf('ann');
    const ann = withCookie(secret);
    const image = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };
    const cookie = `turnpike_session=${secret}`;
    // A browser that says nothing of where a request comes from, and a page that can set no header.
    const bare = (path: string, init: RequestInit = {}) =>
      fetch(`${gateway.url}${path}`, { ...init, headers: { cookie, ...init.headers } });
    const form = { 'content-type': 'text/plain' };
    const strange: readonly (readonly [string, Promise<{ readonly status: number }>])[] = [
      ['image', ann.get('/api/user/logout', image)],
      ['image of a neighbour', ann.get('/api/user/logout', { ...image, 'sec-fetch-site': 'same-site' })],
      ['origin', ann.get('/api/user/logout', { origin: 'https://evil.example' })],
      ['origin of a file', ann.get('/api/user/logout', { origin: 'null' })],
      ['nothing said', bare('/api/user/logout')],
      ['a form', bare('/api/user/auth/logout', { method: 'POST', headers: form, body: '{}' })],
      ['an access token', ann.get('/api/user/token', image)],
      ['revoke', ann.post('/api/user/sessions/revoke-others', {}, { origin: 'https://evil.example' })],
      ['delete', ann.delete('/api/user/self', undefined, { 'sec-fetch-site': 'cross-site' })],
      ['profile', ann.put('/api/user/self', { display_name: 'Evil' }, { origin: 'https://evil.example' })],
      ['setting', ann.put('/api/user/setting', { language: 'xx' }, { 'sec-fetch-site': 'same-site' })],
      [
        'login',
        visitor(gateway).post(
          '/api/user/login',
          { username: 'ann', password: PASSWORD },
          { 'sec-fetch-site': 'cross-site' },
        ),
      ],
      ['code', visitor(gateway).post('/api/user/login/2fa', { code: '000000' }, { origin: 'https://evil.example' })],
      [
        'register',
        visitor(gateway).post(
          '/api/user/register',
          { username: 'x', password: PASSWORD },
          { origin: 'https://evil.example' },
        ),
      ],
      ['reset', visitor(gateway).get('/api/reset_password?email=a@example.com', image)],
      [
        'new password',
        visitor(gateway).post(
          '/api/user/reset',
          { email: 'a@example.com', token: 'x' },
          { 'sec-fetch-site': 'cross-site' },
        ),
      ],
    ];
    for (const [what, answer] of strange) assert.equal((await answer).status, 403, what);
    assert.equal((await ann.data('GET', '/api/user/self')).display_name, 'ann');
    assert.equal((await bare('/api/user/logout', { headers: { 'new-api-user': '2' } })).status, 200);
  });

  it('stands in the audit, right or wrong; what was typed as a name does not', async () => {
    await logIn('ann');
    await logIn('ann', 'wrong one');
    await logIn('my-password-in-the-wrong-field');
    const { id } = (await gateway.host.use(Accounts).findByName('ann'))!;
    const entries = await gateway.host.use(Audit).page({ limit: 3 });
    assert.deepEqual(
      entries.map(({ action, object, actor, facts }) => [action, object, actor.name, facts.method]),
      [
        ['sign-in.failed', '', '', 'password'],
        ['sign-in.failed', `user ${id}`, '', 'password'],
        ['sign-in.ok', `user ${id}`, 'ann', 'password'],
      ],
    );
    assert.ok(!JSON.stringify(entries).includes('wrong-field'), 'the audit holds what was typed');
  });

  describe('where a second step is wanted', () => {
    let secret: string;
    let codes: readonly string[];
    before(async () => {
      const person = await member(gateway, 'two');
      ({ secret, backupCodes: codes } = await enableTotp(person, clock));
    });

    const begin = async () => {
      const who = visitor(gateway);
      const { status, body, headers } = await logIn('two', PASSWORD, who);
      assert.equal(status, 200);
      assert.deepEqual(body.data, {
        require_2fa: true,
        flow_token: body.data.flow_token,
        expires_at: Math.floor(clock.now() / 1_000) + 300,
      });
      assert.match(
        headers.getSetCookie().join('\n'),
        /^turnpike_flow=[0-9A-Za-z]{43}; Max-Age=300; Path=\/; HttpOnly; SameSite=Lax$/,
      );
      return { who, flow: body.data.flow_token as string };
    };
    const second = (who: Visitor, code: string, flow_token?: string) =>
      who.post('/api/user/login/2fa', { code, ...(flow_token !== undefined && { flow_token }) });

    it('opens with a code, by the cookie or by the ticket in the body; the session is a new one [T-SES-02]', async () => {
      const byCookie = await begin();
      const answer = await second(byCookie.who, nextCodeOf(secret, clock));
      assert.equal(answer.body.data.username, 'two');
      assert.deepEqual([...byCookie.who.cookies.keys()], ['turnpike_session', 'turnpike_browser']);
      assert.notEqual(byCookie.who.cookies.get('turnpike_session'), byCookie.flow);
      const elsewhere = visitor(gateway);
      const { flow } = await begin();
      assert.equal((await second(elsewhere, nextCodeOf(secret, clock), flow)).status, 200);
      assert.equal((await elsewhere.get('/api/user/self')).status, 200);
    });

    it('lets nobody do anything else before it, whatever they carry the ticket in [T-2FA-01]', async () => {
      const { who, flow } = await begin();
      for (const [method, path] of SIGNED_IN) {
        for (const headers of [{}, { cookie: `turnpike_session=${flow}` }, { authorization: `Bearer ${flow}` }]) {
          assert.equal((await ask(who, method, path, headers)).status, 401, `${method} ${path}`);
        }
      }
      assert.equal((await second(who, nextCodeOf(secret, clock))).status, 200);
    });

    it('ends with five wrong codes: the right one comes too late [T-2FA-02]', async () => {
      const { who, flow } = await begin();
      for (let i = 0; i < 5; i++) assert.equal(verdictOf(await second(who, 'not a code')), '403 wrong_code');
      assert.equal(verdictOf(await second(who, nextCodeOf(secret, clock))), '401 sign_in_expired');
      assert.equal(verdictOf(await second(visitor(gateway), nextCodeOf(secret, clock), flow)), '401 sign_in_expired');
      clock.advance(HOUR);
    });

    it('is over after five minutes, or once it has been taken; two right codes at the same moment open one session', async () => {
      const late = await begin();
      clock.advance(5 * MINUTE);
      assert.equal(verdictOf(await second(late.who, nextCodeOf(secret, clock))), '401 sign_in_expired');

      const { flow } = await begin();
      const [one, other] = [visitor(gateway), visitor(gateway)];
      const answers = await Promise.all([second(one, codes[0]!, flow), second(other, codes[1]!, flow)]);
      assert.deepEqual(answers.map(verdictOf).sort(), ['200', '401 sign_in_expired']);
      assert.equal(verdictOf(await second(one, codes[2]!, flow)), '401 sign_in_expired');
      assert.equal(verdictOf(await second(visitor(gateway), codes[3]!)), '401 sign_in_expired');
    });

    it('takes no ticket that is for something else [T-2FA-07]', async () => {
      const { id } = (await gateway.host.use(Accounts).findByName('two'))!;
      const purposes = [
        'password-reset',
        'email-proof',
        'passkey-login',
        'passkey-verify',
        'oauth',
        'invitation',
      ] as const;
      for (const purpose of purposes) {
        const ticket = await gateway.host.use(Tickets).issue(purpose, { accountId: id, forMs: MINUTE });
        assert.equal(verdictOf(await second(visitor(gateway), codes[4]!, ticket)), '401 sign_in_expired', purpose);
      }
    });

    it('is refused to who was disabled meanwhile, or has another password by now', async () => {
      const { who } = await begin();
      await gateway.command('user password two --password-stdin', PASSWORD);
      assert.equal(verdictOf(await second(who, codes[5]!)), '401 sign_in_expired');
      const again = await begin();
      await gateway.command('user disable two');
      assert.equal(verdictOf(await second(again.who, codes[6]!)), '401 sign_in_expired');
    });

    it('refuses what is no code', async () => {
      for (const body of [{}, { code: 123456 }, { code: '' }, { code: 'x'.repeat(65) }, { code: '1', account: 1 }]) {
        assert.equal((await visitor(gateway).post('/api/user/login/2fa', body)).status, 400, JSON.stringify(body));
      }
    });
  });
});

describe('a console served over https', () => {
  it('sets cookies that come back over https only, and that no other host can have made', async () => {
    const gateway = await startGateway({
      config: {
        pipeline: FACTORS_PIPELINE,
        console: { ...PATIENT, url: 'https://console.example.com', session: { days: 2 } },
      },
      env: ROOT_ENV,
    });
    try {
      const who = visitor(gateway);
      const { headers } = await who.post('/api/user/login', {
        username: 'root',
        password: ROOT_ENV.TURNPIKE_ROOT_PASSWORD,
      });
      const [line = ''] = headers.getSetCookie();
      assert.match(
        line,
        /^__Host-turnpike_session=[0-9A-Za-z]{43}; Max-Age=172800; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      );
      assert.equal((await who.get('/api/user/self')).status, 200);
      // A page that came without https may be anybody's, whatever it is called.
      const { host } = new URL(gateway.url);
      for (const [origin, status] of [
        ['https://console.example.com', 200],
        [`https://${host}`, 200],
        ['http://console.example.com', 403],
        [`http://${host}`, 403],
      ] as const) {
        assert.equal((await who.put('/api/user/setting', {}, { origin })).status, status, origin);
      }
    } finally {
      await gateway.stop();
    }
  });
});

describe('a page of a name that leads to this gateway (DNS rebinding)', () => {
  it('may not sign in, nor use a session: with http, only names that cannot be made to lead here are believed [T-CSRF-04]', async () => {
    const gateway = await startGateway({
      config: { pipeline: FACTORS_PIPELINE, console: { ...PATIENT, url: 'http://gateway.lan:8080' } },
      env: ROOT_ENV,
    });
    try {
      const ann = await signedIn(gateway, 'ann');
      const { port } = new URL(gateway.url);
      const from = (host: string) =>
        new Promise<number | undefined>((resolve, reject) => {
          const cookie = [...ann.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
          const headers = { host, origin: `http://${host}`, cookie, 'content-type': 'application/json' };
          request(`${gateway.url}/api/user/self`, { method: 'PUT', headers }, (answer) => {
            answer.resume();
            resolve(answer.statusCode);
          })
            .once('error', reject)
            .end('{}');
        });
      for (const host of [
        `127.0.0.1:${port}`,
        `localhost:${port}`,
        '192.168.1.5:8080',
        '[::1]:8080',
        'gateway.lan:9090',
      ])
        assert.equal(await from(host), 200, host);
      for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '127.0.0.1.evil.example'])
        assert.equal(await from(host), 403, host);
    } finally {
      await gateway.stop();
    }
  });
});

describe('guesses of passwords', () => {
  const IP = '192.0.2.7';

  async function start(perAddress = 10_000) {
    const host = await drive([accounts, counters], {
      sections: { counters: { driver: 'memory', url: '', prefix: '' } },
    });
    const ann = await host.use(Accounts).create({ name: 'ann', role: 'member' });
    const guesses = createGuesses(host, { recognize: () => undefined }, perAddress);
    const wrong = (name: string, ip: string) =>
      verdict(() => guesses.compare({ name, ip, headers: {} }, async () => undefined));
    const right = (ip: string) => verdict(() => guesses.compare({ name: 'ann', ip, headers: {} }, async () => ann));
    return { host, ann, guesses, wrong, right };
  }
  const LATE = '429 rate_limit_exceeded';

  it('are ten an hour from one network and then one every 15 seconds, and from others as many', async () => {
    const { wrong, right, host } = await start();
    for (let i = 0; i < 11; i++) assert.equal(await wrong('ann', '2001:db8::1'), 'ok');
    assert.equal(await wrong('ANN ', '2001:db8::ffff'), LATE);
    assert.equal(await right('2001:db8::1'), LATE);
    assert.equal(await wrong('bob', '2001:db8::1'), 'ok');
    assert.equal(await wrong('ann', '2001:db8:0:1::1'), 'ok');
    host.clock.advance(15_000);
    assert.equal(await right('2001:db8::1'), 'ok');
    assert.equal(await wrong('ann', '2001:db8::1'), 'ok', 'a right one uses nothing up');
    assert.equal(await right('2001:db8::1'), LATE);
    host.clock.advance(HOUR);
    for (let i = 0; i < 10; i++) assert.equal(await wrong('ann', '2001:db8::1'), 'ok');
  });

  it('of many names from one address are limited, but not where an account is signed in [T-AUTH-08]', async () => {
    const { wrong, right, ann, host } = await start(20);
    for (let i = 0; i < 21; i++) assert.equal(await wrong(`name-${i}`, IP), 'ok');
    assert.equal(await wrong('another', IP), LATE);
    assert.equal(await right(IP), LATE, 'ann was never there');
    await host.use(Sessions).open({ accountId: ann.id, method: 'password', ip: IP, userAgent: '' });
    assert.equal(await right(IP), 'ok');
    assert.equal(await wrong('another', '192.0.2.8'), 'ok');
  });

  it('from everywhere at once delay others, but not where the owner is signed in [T-AUTH-08]', async () => {
    const { wrong, right, ann, host } = await start();
    await host.use(Sessions).open({ accountId: ann.id, method: 'password', ip: IP, userAgent: '' });
    for (let i = 0; i < 101; i++) await wrong('ann', `198.51.100.${i}`);
    assert.equal(await wrong('ann', '203.0.113.1'), LATE);
    assert.equal(await right('203.0.113.1'), LATE);
    for (let i = 0; i < 11; i++) assert.equal(await wrong('ann', IP), 'ok');
    assert.equal(await wrong('ann', IP), LATE);
    host.clock.advance(15_000);
    assert.equal(await right('203.0.113.1'), 'ok');
  });

  it('that were right are given back, and those that nothing was compared with', async () => {
    const { guesses, wrong, right } = await start();
    const busy = (): never => refuse(429, 'rate_limit_exceeded', 'Too many sign-ins at the same time.');
    for (let i = 0; i < 50; i++) {
      assert.equal(await right(IP), 'ok');
      assert.equal(
        await verdict(() => guesses.compare({ name: 'ann', ip: IP, headers: {} }, async () => busy())),
        LATE,
      );
    }
    for (let i = 0; i < 11; i++) assert.equal(await wrong('ann', IP), 'ok');
    assert.equal(await wrong('ann', IP), LATE);
  });

  it('of an account that is signed in are counted apart from those of strangers', async () => {
    const { guesses, wrong, ann } = await start();
    for (let i = 0; i < 20; i++) await wrong('ann', IP);
    for (let i = 0; i < 11; i++)
      assert.equal(await verdict(() => guesses.compareOwn(ann.id, async () => undefined)), 'ok');
    assert.equal(await verdict(() => guesses.compareOwn(ann.id, async () => ann)), LATE);
  });
});

/** Uses guesses up, as a stranger at the address of the tests does. */
async function spend(gateway: TestGateway, name: string, times: number): Promise<void> {
  const guesses = createGuesses(gateway.host, { recognize: () => undefined }, 10_000);
  for (let i = 0; i < times; i++) await guesses.compare({ name, ip: '127.0.0.1', headers: {} }, async () => undefined);
}
