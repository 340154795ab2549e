/** E-mail addresses: a code that proves one, and whose it becomes by it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { generate } from 'otplib';
import {
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeSmtp, startSmtp, type TakenLetter } from '../../kit/stand-ins/fake-smtp.ts';

const ORIGIN = 'https://console.example';
const FROM = 'no-reply@console.example';

const codeIn = ({ text }: TakenLetter): string => /The code is (\d{8})\./.exec(text)?.[1] ?? assert.fail(text);

describe('an e-mail address', () => {
  let server: FakeSmtp;
  let gateway: TestGateway;
  let ann: Visitor;
  let bob: Visitor;
  before(async () => {
    server = await startSmtp();
    gateway = await startGateway({
      // Served without TLS all the same: cookies are for http.
      config: {
        pipeline: CONSOLE_PIPELINE,
        console: { ...PATIENT, url: ORIGIN.replace('https', 'http') },
        mail: { smtp: server.url, from: FROM },
      },
      env: ROOT_ENV,
    });
    ann = await member(gateway, 'ann');
    bob = await member(gateway, 'bob');
  });
  after(async () => {
    await gateway.stop();
    await server.close();
  });

  /** Asks for a code, and reads the letter. */
  async function codeFor(who: Visitor, email: string): Promise<string> {
    await who.data('GET', `/api/verification?email=${encodeURIComponent(email)}`);
    const letter = await server.letter();
    assert.deepEqual(letter.to, [email]);
    return codeIn(letter);
  }
  const emailOf = async (who: Visitor): Promise<string> => (await who.data('GET', '/api/user/self')).email;
  const bind = (who: Visitor, email: string, code: string) => who.post('/api/oauth/email/bind', { email, code });

  it('becomes that of the account with the code of the letter, once', async () => {
    const code = await codeFor(ann, 'Ann@example.com');
    assert.equal(said(await bind(ann, 'other@example.com', code)), '403 wrong_code');
    const done = await bind(ann, 'ann@example.COM', ` ${code} `);
    assert.deepEqual(done.body, { success: true, message: '', data: null });
    assert.equal((await emailOf(ann)).toLowerCase(), 'ann@example.com');
    assert.equal(said(await bind(ann, 'ann@example.com', code)), '403 wrong_code');
    const { items } = await (await root(gateway)).data('GET', '/api/audit?action=user.change');
    assert.equal(items.length, 1);
  });

  it('becomes it by a GET as well, but by none that another site makes', async () => {
    const code = await codeFor(bob, 'bob@example.com');
    const path = `/api/oauth/email/bind?email=bob@example.com&code=${code}`;
    assert.equal(said(await bob.get(path, { 'sec-fetch-site': 'cross-site' })), '403 cross_site');
    assert.equal(said(await bob.get('/api/oauth/email/bind?email=bob@example.com')), '400 invalid_request_error');
    assert.equal((await bob.get(path)).status, 200);
    assert.equal(await emailOf(bob), 'bob@example.com');
  });

  it('becomes it by no page of another site that asks for the code, and no link in a letter that brings it', async () => {
    const page = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    assert.equal(said(await bob.get('/api/verification?email=evil@example.com', page)), '403 cross_site');
    const code = await codeFor(bob, 'evil@example.com');
    const path = `/api/oauth/email/bind?email=evil@example.com&code=${code}`;
    // What browsers say of an address that somebody typed they say of a link in a letter, too.
    const link = { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' };
    assert.equal(said(await bob.get(path, link)), '403 cross_site');
    assert.equal(await emailOf(bob), 'bob@example.com');
  });

  it('becomes that of whoever has a second factor after a check by it: it can set a new password', async () => {
    const zoe = await member(gateway, 'zoe');
    const { secret, backup_codes: codes } = await zoe.data('POST', '/api/user/2fa/setup');
    await zoe.data('POST', '/api/user/2fa/enable', { code: await generate({ secret }) });
    const code = await codeFor(zoe, 'zoe@example.com');
    assert.equal(said(await bind(zoe, 'zoe@example.com', code)), '403 verification_required');
    assert.equal(await emailOf(zoe), '');
    await zoe.data('POST', '/api/verify', { method: '2fa', code: codes[0] });
    assert.equal((await bind(zoe, 'zoe@example.com', code)).status, 200, 'the code is still good');
  });

  it('is proven only to whoever asked for the code: nobody gives theirs to somebody else', async () => {
    const mine = await codeFor(bob, 'evil@example.com');
    assert.equal(said(await bind(ann, 'evil@example.com', mine)), '403 wrong_code');
    const nobodys = await codeFor(visitor(gateway), 'evil@example.com');
    assert.equal(said(await bind(ann, 'evil@example.com', nobodys)), '403 wrong_code');
    assert.notEqual(await emailOf(ann), 'evil@example.com');
  });

  it('is of one account', async () => {
    const code = await codeFor(bob, 'ann@example.com');
    assert.equal(said(await bind(bob, 'ann@example.com', code)), '409 email_taken');
    assert.equal(await emailOf(bob), 'bob@example.com');
  });

  it('that is replaced is told so', async () => {
    const code = await codeFor(bob, 'robert@example.com');
    assert.equal((await bind(bob, 'robert@example.com', code)).status, 200);
    const letter = await server.letter();
    assert.deepEqual(letter.to, ['bob@example.com']);
    assert.match(letter.text, /was changed|another one now/);
    assert.ok(!letter.raw.includes('robert'), 'whoever took it over is not named');
  });

  it('gets a code whether it is known here or not, with the same answer', async () => {
    const answers = [];
    for (const email of ['ann@example.com', 'nobody@example.com']) {
      const { status, text } = await visitor(gateway).get(`/api/verification?email=${email}`);
      answers.push([status, text]);
      await server.letter();
    }
    assert.deepEqual(answers[0], answers[1]);
  });

  it('gets its emails in the language of its account, otherwise in that of the browser', async () => {
    const chinese = { 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' };
    const textAfter = async (request: Promise<unknown>): Promise<string> => {
      await request;
      return (await server.letter()).text;
    };
    const codeTo = (who: Visitor) => textAfter(who.get('/api/verification?email=anna@example.com', chinese));
    assert.match(await codeTo(visitor(gateway)), /^有人.*\n\n验证码是 \d{8}，十分钟内有效/);
    await bob.data('PUT', '/api/user/setting', { language: 'en' });
    assert.match(await codeTo(bob), /The code is/);
    await ann.data('PUT', '/api/user/setting', { language: 'zh' });
    const email = encodeURIComponent(await emailOf(ann));
    assert.match(await textAfter(visitor(gateway).get(`/api/reset_password?email=${email}`)), /为账户“ann”设置新密码/);
    const [, code = ''] = /(\d{8})/.exec(await codeTo(ann)) ?? [];
    assert.match(
      await textAfter(bind(ann, 'anna@example.com', code)),
      /^ann，你好：\n\n你在 \S+ 的账户的邮箱地址已更改/,
    );
  });

  it('is one, and nothing more', async () => {
    for (const email of [
      '',
      'ann',
      'ann@',
      '@example.com',
      'a@b@c.example',
      'ann@example.com,eve@example.com',
      'ann@example.com\r\nBcc: eve@example.com',
      'ann@exаmple.com',
      `${'a'.repeat(250)}@example.com`,
    ]) {
      const { status, body } = await visitor(gateway).get(`/api/verification?email=${encodeURIComponent(email)}`);
      assert.deepEqual([status, body.param], [400, 'email'], email);
    }
    for (const [body, param] of [
      [{}, 'email'],
      [{ email: 'ann@example.com' }, 'code'],
      [{ email: 'ann@example.com', code: 7 }, 'code'],
      [{ email: 'ann@example.com', code: '12345678', role: 100, quota: 5, account_id: 1 }, 'role'],
    ] as const) {
      const { status, body: said } = await ann.post('/api/oauth/email/bind', body);
      assert.deepEqual([status, said.param], [400, param]);
    }
  });

  it('is proven by nobody without a session', async () => {
    for (const who of [
      visitor(gateway),
      visitor(gateway, { authorization: await ann.data('GET', '/api/user/token') }),
    ]) {
      assert.equal((await bind(who, 'ann@example.com', '12345678')).status, 401);
      assert.equal((await who.get('/api/oauth/email/bind?email=ann@example.com&code=12345678')).status, 401);
    }
  });

  it('cannot be guessed: ten codes an hour', async () => {
    const cal = await member(gateway, 'cal');
    const code = await codeFor(cal, 'cal@example.com');
    const wrong = code === '00000000' ? '00000001' : '00000000';
    for (let i = 0; i < 10; i++) assert.equal(said(await bind(cal, 'cal@example.com', wrong)), '403 wrong_code');
    assert.equal((await bind(cal, 'cal@example.com', code)).status, 429);
  });

  it('letters name no host but that of the configuration [T-RST-01]', async () => {
    const evil = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      'x-host': 'evil.example',
      forwarded: 'host=evil.example',
      referer: 'http://evil.example/',
    };
    assert.equal((await visitor(gateway).get('/api/verification?email=dee@example.com', evil)).status, 200);
    // A made-up host, and a whole address as the target.
    const statuses: string[] = [];
    for (const target of ['', 'http://evil.example']) {
      const socket = connect(gateway.port, '127.0.0.1');
      const path = `${target}/api/verification?email=dee@example.com`;
      socket.write(`GET ${path} HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n`);
      let said = '';
      socket.on('data', (chunk) => {
        said += chunk;
      });
      await once(socket, 'close');
      statuses.push(said.slice(9, 12));
    }
    assert.deepEqual(statuses, ['200', '200']);
    const letters = [await server.letter(), await server.letter(), await server.letter()];
    for (const { raw, text } of letters) {
      assert.ok(!raw.includes('evil'), raw);
      const hosts = [...text.matchAll(/https?:\/\/([\w.-]+\w)/g)].map(([, host]) => host);
      assert.deepEqual([...new Set(hosts)], ['console.example']);
    }
  });
});

describe('e-mail addresses, where mail is scarce', () => {
  it("fill nobody else's mailbox, and do not tell whether anybody has one", async () => {
    const server = await startSmtp();
    const console = { limits: { signIn: 10_000, mail: 3, requests: 10_000 }, url: 'http://console.example' };
    const gateway = await startGateway({
      config: {
        listen: { host: '127.0.0.1', port: 0, trustProxy: ['127.0.0.1'] },
        pipeline: CONSOLE_PIPELINE,
        console,
        mail: { smtp: server.url, from: FROM },
      },
    });
    try {
      const statuses: number[] = [];
      for (let i = 0; i < 5; i++) {
        const from = { 'x-forwarded-for': `198.51.100.${i}` };
        const { status, headers } = await visitor(gateway).get('/api/verification?email=Eve@example.com', from);
        statuses.push(status);
        if (status === 429) assert.ok(Number(headers.get('retry-after')) > 0, 'when to come again');
      }
      assert.deepEqual(statuses, [200, 200, 200, 429, 429]);
      for (let i = 0; i < 3; i++) await server.letter();
      // And one address fills no mailboxes either.
      const from = { 'x-forwarded-for': '198.51.100.99' };
      const others = [];
      for (let i = 0; i < 5; i++)
        others.push((await visitor(gateway).get(`/api/verification?email=e${i}@example.com`, from)).status);
      assert.deepEqual(others, [200, 200, 200, 429, 429]);
    } finally {
      await gateway.stop();
      await server.close();
    }
  });

  it('do without a server: whoever runs the gateway reads the letters in its log', async () => {
    const gateway = await startGateway({ config: { pipeline: CONSOLE_PIPELINE, console: PATIENT } });
    try {
      await visitor(gateway).data('GET', '/api/verification?email=fay@example.com');
      const line =
        gateway.log.find((one) => one.includes('email not sent: no mail server')) ?? assert.fail('no letter');
      const { level, to, text } = JSON.parse(line);
      assert.deepEqual([level, to], ['info', 'fay@example.com']);
      assert.match(text, /The code is \d{8}\./);
    } finally {
      await gateway.stop();
    }
  });

  it('do not prove anything without a plugin that sends letters', async () => {
    const pipeline = CONSOLE_PIPELINE.filter((name) => name !== 'mail');
    const gateway = await startGateway({ config: { pipeline, console: PATIENT } });
    try {
      assert.equal(said(await visitor(gateway).get('/api/verification?email=fay@example.com')), '404 not_available');
    } finally {
      await gateway.stop();
    }
  });
});
