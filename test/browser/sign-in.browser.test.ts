/** The first visit, in a browser: signing in by every way there is, making an account, and a forgotten password. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { Accounts } from '../../core/contracts/accounts.ts';
import {
  assertClean,
  becomes,
  builtConsole,
  freePort,
  type Onlooker,
  onlooker,
  startBrowser,
} from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, member, PASSWORD, PATIENT, ROOT_ENV, signedIn, verify } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { CLIENT, type FakeProvider, startGithub } from '../kit/stand-ins/fake-oauth.ts';
import { mailbox } from '../kit/stand-ins/mailbox.ts';

const mail = mailbox();
let github: FakeProvider;
let gateway: TestGateway;
let browser: Browser;
before(async () => {
  const [port, env] = [await freePort(), await builtConsole()];
  github = await startGithub();
  gateway = await startGateway({
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: CONSOLE_PIPELINE.filter((name) => name !== 'mail'),
      console: {
        ...PATIENT,
        url: `http://localhost:${port}`,
        name: 'Toll Road',
        registration: 'invite',
        emailProof: true,
        oauth: { github: { id: CLIENT.id, secret: CLIENT.secret, issuer: github.issuer } },
      },
    },
    plugins: [mail.plugin],
    env: { ...ROOT_ENV, ...env },
  });
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  github?.close();
});

let at: Onlooker;
let page: Page;
beforeEach(async () => {
  at = await onlooker(browser, gateway, undefined);
  page = at.page;
});
afterEach(async () => {
  // To the provider one goes on purpose.
  assertClean(
    'in the browser',
    at.problems.filter((problem) => !problem.includes(github.issuer)),
  );
  await at.close();
});

const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });
const button = (name: string) => page.getByRole('button', { name, exact: true });
const refusal = () => page.getByRole('alert');

async function enter(name: string, password: string): Promise<void> {
  await page.getByLabel('Name or email address').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await button('Sign in').click();
}

describe('the sign-in', () => {
  it('stands wherever somebody wants to go, does not tell who exists, and leads there', async () => {
    await member(gateway, 'ann');
    await at.open('/security');
    await heading('Sign in').waitFor();
    await becomes(() => page.title(), 'Sign in · Toll Road');
    const focused = () => page.evaluate('document.activeElement.autocomplete');
    await becomes(focused, 'username');
    const said: (string | null)[] = [];
    for (const name of ['ann', 'nobody-at-all']) {
      await enter(name, 'not the password');
      await refusal().waitFor();
      said.push(await refusal().textContent());
      await becomes(focused, 'current-password');
      await page.reload();
      await becomes(focused, 'username');
    }
    assert.equal(said[0], said[1]);
    await enter('ann', PASSWORD);
    await heading('Security').waitFor();
    // Whoever is in has no business there.
    for (const address of ['/register', '/reset?email=a@b.example&code=x']) {
      await page.goto(new URL(`/console${address}`, page.url()).href);
      await heading('Home').waitFor();
    }
    await page.getByRole('button', { name: 'Account: ann' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading('Sign in').waitFor();
  });

  it('asks for a code where one is wanted, and begins again where that has expired', async () => {
    const codes = await enabled('bea');
    await at.open('/login');
    await enter('bea', PASSWORD);
    await heading('Two-factor authentication').waitFor();
    const code = page.getByLabel('Authenticator code');
    await becomes(() => code.getAttribute('autocomplete'), 'one-time-code');
    await code.fill('000000');
    await button('Continue').click();
    await page.getByText('This code is incorrect').waitFor();
    await becomes(() => code.getAttribute('aria-invalid'), 'true');
    await gateway.host.store.run('DELETE FROM ticket');
    await code.fill(codes[1] ?? '');
    await button('Continue').click();
    await heading('Sign in').waitFor();
    await becomes(() => refusal().textContent(), /has expired/);
    await enter('bea', PASSWORD);
    await code.fill(codes[1] ?? '');
    await code.press('Enter');
    await heading('Home').waitFor();
  });

  it('says when to try again; a language that is chosen there is that of emails to the account', async () => {
    await member(gateway, 'cleo');
    // What it takes to be refused so is told in the tests of the gateway.
    await page.route('**/api/user/login', (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '3600' },
        json: { success: false, code: 'rate_limit_exceeded', message: 'Too many attempts. Try again in 3600 s.' },
      }),
    );
    await at.open('/');
    await enter('cleo', PASSWORD);
    await becomes(
      () => refusal().textContent(),
      /Too many attempts\. Try again in 60 minutes \(at \d+:\d\d [AP]M UTC\)/,
    );
    await page.getByRole('button', { name: 'Switch to Chinese' }).click();
    await button('登录').click();
    await page.getByText(/次数过多，请于60 分钟后/).waitFor();
    await page.unroute('**/api/user/login');
    await button('登录').click();
    const accounts = gateway.host.use(Accounts);
    const { id } = (await accounts.findByName('cleo'))!;
    await becomes(async () => (await accounts.person(id))?.settings.language, 'zh');
  });

  it('goes through an account elsewhere and comes back to what was asked for, with a code where one is wanted', async () => {
    const codes = await enabled('dora');
    await at.open('/usage');
    github.person = { subject: '501', name: 'dora-elsewhere' };
    await button('Continue with GitHub').click();
    await page.getByText('registration is off').waitFor();

    // Connected by its owner, it signs in; and what is left of the way there is the code.
    await enter('dora', PASSWORD);
    await page.getByLabel('Authenticator code').fill(codes[1] ?? '');
    await button('Continue').click();
    await heading('Usage').waitFor();
    await at.open('/security');
    await button('Link: GitHub').click();
    await page
      .getByRole('dialog')
      .getByLabel('Authenticator code')
      .fill(codes[2] ?? '');
    await page.getByRole('dialog').getByRole('button', { name: 'Continue' }).click();
    await page.getByText('GitHub is linked').waitFor();
    await page.context().clearCookies();
    await at.open('/models');
    await button('Continue with GitHub').click();
    await heading('Two-factor authentication').waitFor();
    await page.getByLabel('Authenticator code').fill(codes[3] ?? '');
    await button('Continue').click();
    await heading('Models').waitFor();
  });
});

/** Somebody with an authenticator; the codes that stand in for it. The first is used up. */
async function enabled(name: string): Promise<readonly string[]> {
  let codes: readonly string[] = [];
  const person = await member(gateway, name);
  const told = {
    ...person,
    async data(...asked: Parameters<typeof person.data>) {
      const answer = await person.data(...asked);
      if (asked[1] === '/api/user/2fa/setup') codes = answer.backup_codes;
      return answer;
    },
  };
  await verify(told);
  return codes;
}

describe('somebody new', () => {
  it('makes an account with an invitation and a proven address, and is in', async () => {
    const root = await verify(await signedIn(gateway, 'root'));
    const { code } = await root.data('POST', '/api/user/invitation');
    await at.open(`/register?invite=${code}`);
    await becomes(() => page.getByLabel('Invitation').inputValue(), code);
    await page.getByLabel('Name', { exact: true }).fill('fay');
    const password = page.getByLabel('Password', { exact: true });
    await password.fill('short');
    await page.getByLabel('Email address').fill('fay@example.com');
    await button('Send code').click();
    const letter = await mail.letter();
    await page.getByLabel('Code from the email').fill(/code is (\d+)/.exec(letter.text)?.[1] ?? '');
    await button('Create account').click();
    await page.getByText('8 to 256 characters').waitFor();
    await becomes(() => password.getAttribute('aria-invalid'), 'true');
    await password.fill('a passphrase of fay');
    await button('Create account').click();
    await heading('Home').waitFor();
    assert.equal((await root.data('GET', '/api/user/search?keyword=fay')).items[0]?.email, 'fay@example.com');
  });
});

describe('a forgotten password', () => {
  it('is replaced by the link of a letter, which is good once', async () => {
    const gil = await signedIn(gateway, 'gil', { email: 'gil@example.com' });
    await at.open('/');
    await page.getByRole('link', { name: 'Forgot password?' }).click();
    // Whoever has no account reads the same, and gets nothing.
    await page.getByLabel('Email address of your account').fill('nobody@example.com');
    await button('Send link').click();
    await page.getByText('If an account has the address nobody@example.com').waitFor();
    await button('Use another address').click();
    await page.getByLabel('Email address of your account').fill('gil@example.com');
    await button('Send link').click();
    await page.getByText('If an account has the address gil@example.com').waitFor();
    const { to, text } = await mail.letter();
    assert.equal(to, 'gil@example.com');
    const link = /http:\S+/.exec(text)?.[0] ?? '';
    await page.goto(link);
    await page.getByLabel('New password').fill('a passphrase of gil');
    await button('Set password').click();
    await page.getByText('Your password was changed').waitFor();
    await becomes(() => page.url().includes('code='), false, 'the code stays in no address');
    assert.equal((await gil.get('/api/user/self')).status, 401);
    await enter('gil@example.com', 'a passphrase of gil');
    await heading('Home').waitFor();

    await page.context().clearCookies();
    await page.goto(link);
    await page.getByLabel('New password').fill('another passphrase of gil');
    await button('Set password').click();
    await refusal().waitFor();
    await page.getByRole('link', { name: 'Request a new link' }).click();
    await heading('Reset password').waitFor();
  });
});
