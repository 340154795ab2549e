/** The page Security, in a browser with an authenticator of its own: factors, the check before what is sensitive, sessions, tokens, the end. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { generate } from 'otplib';
import type { Browser, Page } from 'playwright-core';
import {
  assertClean,
  becomes,
  builtConsole,
  freePort,
  type Onlooker,
  onlooker,
  startBrowser,
} from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, member, PASSWORD, PATIENT, ROOT_ENV, signedIn, visitor } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { mailbox } from '../kit/stand-ins/mailbox.ts';

const mail = mailbox();
let gateway: TestGateway;
let browser: Browser;
before(async () => {
  const [port, env] = [await freePort(), await builtConsole()];
  gateway = await startGateway({
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: CONSOLE_PIPELINE.filter((name) => name !== 'mail'),
      console: { ...PATIENT, url: `http://localhost:${port}` },
    },
    plugins: [mail.plugin],
    env: { ...ROOT_ENV, ...env },
  });
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

let at: Onlooker;
let page: Page;
let name: string;
let people = 0;
/** Somebody with a password, at the page. */
beforeEach(async () => {
  name = `person-${++people}`;
  at = await onlooker(browser, gateway, await member(gateway, name));
  page = at.page;
  await at.open('/security');
});
afterEach(async () => {
  assertClean('in the browser', at.problems);
  await at.close();
});

const heading = (text: string) => page.getByRole('heading', { level: 1, name: text, exact: true });
const dialog = (title: string) => page.getByRole('dialog', { name: title });
const press = (text: string) => page.getByRole('button', { name: text, exact: true }).click();
const part = (title: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) });

/** An authenticator of this machine, which knows its owner. */
async function plugIn(): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

/** Sets an authenticator up, as people do; its backup codes. */
async function setUp(): Promise<readonly string[]> {
  await press('Set up');
  const setup = dialog('Set up an authenticator app');
  await becomes(() => setup.getByAltText('QR code').getAttribute('src'), /^data:image\/svg/);
  const secret = ((await setup.locator('code').textContent()) ?? '').replaceAll(' ', '');
  await setup.getByLabel('Current code from the app').fill('000000');
  await setup.getByRole('button', { name: 'Enable' }).click();
  await setup.getByText('This code is incorrect').waitFor();
  await setup.getByLabel('Current code from the app').fill(await generate({ secret }));
  await setup.getByRole('button', { name: 'Enable' }).click();
  const kept = dialog('Keep your backup codes');
  const codes = ((await kept.locator('pre').textContent()) ?? '').split('\n');
  assert.equal(codes.length, 10);
  // They are shown once: nothing closes this by accident.
  await page.keyboard.press('Escape');
  await becomes(() => kept.getByRole('button', { name: 'Done' }).isDisabled(), true);
  await kept.getByLabel('I have saved them').check();
  await kept.getByRole('button', { name: 'Done' }).click();
  await page.getByText('10 backup codes left.').waitFor();
  return codes;
}

describe('second factors', () => {
  it('are set up at the page; a sensitive operation asks for one and goes on; a passkey signs in by itself', async () => {
    await plugIn();
    const [first = '', second = ''] = await setUp();

    // With one factor there, another is sensitive.
    await press('Add passkey');
    const check = dialog('Confirm it’s you');
    await check.waitFor();
    await page.keyboard.press('Escape');
    await check.waitFor({ state: 'detached' });
    await page.getByText('Sign in with the fingerprint').waitFor();
    await press('Add passkey');
    await check.getByLabel('Authenticator code').fill('123456');
    await check.getByLabel('Authenticator code').press('Enter');
    await check.getByText('This code is incorrect').waitFor();
    await check.getByLabel('Authenticator code').fill(first);
    await check.getByLabel('Authenticator code').press('Enter');
    await page.getByText('The passkey was added.').waitFor();
    await page.getByText('9 backup codes left.').waitFor();

    await page.getByRole('button', { name: `Account: ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await press('Sign in with a passkey');
    await heading('Security').waitFor();
    await part('Sessions').getByText('Passkey').waitFor();

    // The dialog that asks stands above the one that wanted it, and Escape closes only itself.
    await press('Remove');
    const remove = dialog('Remove the passkey?');
    await remove.getByRole('button', { name: 'Remove' }).click();
    await check.getByLabel('Authenticator code').waitFor();
    await check.getByLabel('Authenticator code').focus();
    await page.keyboard.press('Escape');
    await check.waitFor({ state: 'detached' });
    await remove.getByRole('button', { name: 'Remove' }).click();
    await check.getByRole('button', { name: 'Use passkey' }).click();
    await page.getByText('The passkey was removed.').waitFor();

    await press('Confirm now');
    await check.getByLabel('Authenticator code').fill(second);
    await check.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(/not be asked again for [45]:\d\d/).waitFor();
  });

  it('are set up with the password, once the sign-in is older than five minutes', async () => {
    await gateway.host.store.run('UPDATE session SET created_ms = created_ms - 300001');
    await press('Set up');
    const check = dialog('Confirm it’s you');
    await check.getByLabel('Password', { exact: true }).fill('not this one');
    await check.getByRole('button', { name: 'Continue' }).click();
    await check.getByText('The password is incorrect.').waitFor();
    await check.getByLabel('Password', { exact: true }).fill(PASSWORD);
    assertClean('the dialog', await at.violations());
    await check.getByRole('button', { name: 'Continue' }).click();
    await dialog('Set up an authenticator app').getByAltText('QR code').waitFor();
  });

  it('go again, with a code', async () => {
    const [, , third = '', fourth = ''] = await setUp();
    await press('Disable');
    const off = dialog('Disable');
    await off.getByLabel('Authenticator code').fill(third);
    await off.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('You have no second factor').waitFor();
    const stranger = visitor(gateway);
    await stranger.signIn(name, PASSWORD);
    assert.equal((await stranger.post('/api/verify', { method: '2fa', code: fourth })).status, 409);
  });
});

describe('the account', () => {
  it('changes its password with the old one, and ends elsewhere by that', async () => {
    const other = await signedIn(gateway, name);
    const [old, fresh] = [page.getByLabel('Current password'), page.getByLabel('New password')];
    await becomes(() => old.getAttribute('autocomplete'), 'current-password');
    await becomes(() => fresh.getAttribute('autocomplete'), 'new-password');
    await old.fill('not this one');
    await fresh.fill('another passphrase');
    await press('Change password');
    await page.getByText('The password is incorrect.').waitFor();
    await old.fill(PASSWORD);
    await fresh.fill('password1');
    await press('Change password');
    await page.getByText('This password is too common').waitFor();
    await fresh.fill('another passphrase');
    await press('Change password');
    await page.getByText('Your password is changed.').waitFor();
    assert.equal((await other.get('/api/user/self')).status, 401);
    await visitor(gateway).signIn(name, 'another passphrase');
  });

  it('has a name, a proven address, and notices', async () => {
    await page.getByLabel('Display name').fill('Somebody');
    await part('Profile').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Account: Somebody' }).waitFor();

    await press('Add email address');
    const email = part('Email address');
    await email.getByLabel('Email address').fill(`${name}@example.com`);
    await press('Send code');
    const letter = await mail.letter();
    await email.getByLabel('Code from the email').fill('00000000');
    await press('Save email address');
    await email.getByText('This code is incorrect').waitFor();
    await email.getByLabel('Code from the email').fill(/code is (\d+)/.exec(letter.text)?.[1] ?? '');
    await press('Save email address');
    await page.getByText('For password resets and notifications').waitFor();

    const notices = part('Notifications');
    await notices.getByLabel('Notify me when my balance is low').check();
    await notices.getByRole('button', { name: 'Save' }).click();
    await notices.getByText('Enter a threshold.').waitFor();
    await notices.getByLabel('Threshold').fill('2');
    await notices.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').last().waitFor();
    const { setting } = await (await signedIn(gateway, name)).data('GET', '/api/user/self');
    assert.equal(JSON.parse(setting).quota_warning_threshold, 1_000_000);
  });

  it('ends sessions elsewhere, one or all of them', async () => {
    const one = visitor(gateway, { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/140.0' });
    await one.signIn(name, PASSWORD);
    const others = [await signedIn(gateway, name), await signedIn(gateway, name)];
    await page.reload();
    await press('End the session: Firefox on Windows');
    await dialog('End this session?').getByRole('button', { name: 'End' }).click();
    await page.getByText('The session has ended.').waitFor();
    assert.equal((await one.get('/api/user/self')).status, 401);
    await press('End all other sessions');
    await dialog('End all other sessions?').getByRole('button', { name: 'End all other sessions' }).click();
    await page.getByText('2 sessions have ended.').waitFor();
    for (const other of others) assert.equal((await other.get('/api/user/self')).status, 401);
    // Somebody who was ended is let in where they are.
    await gateway.host.store.run('DELETE FROM session');
    await press('Create access token');
    await heading('Sign in').waitFor();
  });

  it('makes an access token, shown once, and takes it away', async () => {
    await press('Create access token');
    const shown = dialog('Your access token');
    const authorization = ((await shown.locator('pre').textContent()) ?? '').trim();
    await page.keyboard.press('Escape');
    assert.ok(await shown.isVisible(), 'only its button closes what is shown once');
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    const robot = visitor(gateway, { authorization });
    assert.equal((await robot.get('/api/user/self')).body.data.username, name);
    await part('Access token').getByRole('button', { name: 'Remove' }).click();
    await dialog('Remove the access token?').getByRole('button', { name: 'Remove' }).click();
    await part('Access token').getByText('No access token.').waitFor();
    assert.equal((await robot.get('/api/user/self')).status, 401);
  });

  it('ends for good once its name is typed', async () => {
    await press('Delete my account');
    const end = dialog('Delete your account?');
    const go = end.getByRole('button', { name: 'Delete my account' });
    await end.getByLabel(`Type ${name} to confirm`).fill('somebody else');
    await becomes(() => go.isDisabled(), true);
    await end.getByLabel(`Type ${name} to confirm`).fill(name);
    await go.click();
    await heading('Sign in').waitFor();
    assert.equal((await visitor(gateway).post('/api/user/login', { username: name, password: PASSWORD })).status, 401);
  });
});

describe('service tokens', () => {
  it('are created by an administrator with a second factor, shown once, used, and revoked', async () => {
    await page.getByText('Sessions', { exact: true }).first().waitFor();
    await becomes(() => page.getByText('Service tokens').count(), 0, 'members have none');
    await at.close();
    at = await onlooker(browser, gateway, await member(gateway, `${name}-admin`, { role: 'admin' }));
    page = at.page;
    await at.open('/security');
    const [first = ''] = await setUp();
    const tokens = part('Service tokens');
    await tokens.getByRole('button', { name: 'Create service token' }).click();
    const form = dialog('Create service token');
    await becomes(() => form.getByRole('button', { name: 'Create service token' }).isDisabled(), true);
    await form.getByLabel('Name').fill('terraform');
    const users = form.getByRole('radiogroup', { name: 'Users and invitations' });
    await users.getByText('Write').click();
    await becomes(() => form.getByText('Configuration').count(), 0, 'only root can give it');
    await form.getByLabel('Addresses').fill('office');
    assertClean('the form', await at.violations());
    await form.getByRole('button', { name: 'Create service token' }).click();
    const check = dialog('Confirm it’s you');
    await check.getByLabel('Authenticator code').fill(first);
    await check.getByRole('button', { name: 'Continue' }).click();
    await form.getByText('is not an address').waitFor();
    await form.getByLabel('Addresses').fill('127.0.0.0/8, ::1');
    await form.getByRole('button', { name: 'Create service token' }).click();
    const shown = dialog('Your service token');
    const secret = ((await shown.locator('pre').textContent()) ?? '').trim();
    assert.match(secret, /^turnpike_st_/);
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    const machine = visitor(gateway, { authorization: `Bearer ${secret}` });
    await machine.data('GET', '/api/user/');
    await tokens.getByText('terraform', { exact: true }).waitFor();
    await tokens.getByText('users:write').waitFor();
    await tokens.getByRole('button', { name: 'Revoke the service token terraform' }).click();
    await dialog('Revoke the service token terraform').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The service token was revoked.').waitFor();
    assert.equal((await machine.get('/api/user/')).status, 401);
  });
});
