/** Administration of people as an administrator does it: quota, freezing, sign-in, invitations, the end; and what the audit log tells of it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
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
import {
  CONSOLE_PIPELINE,
  member,
  PASSWORD,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
  verify,
  visitor,
} from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

describe('people in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let boss: Visitor;
  let mia: Visitor;
  let at: Onlooker;
  let page: Page;
  before(async () => {
    const port = await freePort();
    gateway = await startGateway({
      config: {
        listen: { host: '127.0.0.1', port },
        pipeline: [...CONSOLE_PIPELINE],
        console: { ...PATIENT, url: `http://localhost:${port}`, registration: 'invite' },
      },
      env: { ...ROOT_ENV, ...(await builtConsole()) },
    });
    boss = await root(gateway);
    mia = await member(gateway, 'mia');
    await member(gateway, 'eve', { role: 'admin' });
    // Five minutes of verified operations: that the check is asked for is told in the test of departments.
    const adam = await verify(await member(gateway, 'adam', { role: 'admin' }));
    browser = await startBrowser();
    at = await onlooker(browser, gateway, adam);
    page = at.page;
  });
  after(async () => {
    await browser.close();
    await gateway.stop();
  });

  const drawerOf = (name: string) => page.getByRole('dialog', { name, exact: true });
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) });

  it('are found by filters that stand in the address, and given quota that is told before', async () => {
    await at.open('/users');
    await page.getByRole('combobox', { name: 'Role' }).click();
    await page.getByRole('option', { name: 'administrator' }).click();
    await row('mia').waitFor({ state: 'detached' });
    await page.waitForURL(/role=10/);
    await at.open('/users?q=mi');
    await row('mia').getByRole('button', { name: 'mia' }).click();
    const drawer = drawerOf('mia');
    await drawer.getByRole('button', { name: 'Change balance' }).click();
    const form = page.getByRole('dialog', { name: 'Quota of mia' });
    await form.getByRole('textbox', { name: 'Amount' }).fill('5');
    await form.getByText('Now $0.00, then $5.00.').waitFor();
    await form.getByText('Deduct', { exact: true }).click();
    await form.getByText('Now $0.00, then $0.00.').waitFor();
    await form.getByText('Add', { exact: true }).click();
    await form.getByRole('textbox', { name: 'Reason' }).fill('a prize');
    assertClean('the dialog', await at.violations());
    await form.getByRole('button', { name: 'Add' }).click();
    await page.getByText('The balance is now $5.00.').waitFor();
    await drawer.locator('.figure').filter({ hasText: 'Balance' }).getByText('$5.00').waitFor();
    const { items } = await boss.data('GET', '/api/audit?action=user.quota&page_size=1');
    assert.deepEqual(items[0].facts, { mode: 'add', value: 2_500_000, reason: 'a prize' });
    await page.reload();
    await drawer.getByText('mia', { exact: true }).first().waitFor();
  });

  it('have keys that administrators create, limit, disable and delete for them', async () => {
    await at.open('/users?q=mia');
    await row('mia').getByRole('button', { name: 'mia' }).click();
    const drawer = drawerOf('mia');
    await drawer.getByText('No keys.').waitFor();
    await drawer.getByRole('button', { name: 'Create key' }).click();
    const form = page.getByRole('dialog', { name: 'Create key for mia' });
    await form.getByRole('textbox', { name: 'Name' }).fill('given');
    assertClean('the dialog', await at.violations());
    await form.getByRole('button', { name: 'Create key' }).click();
    const shown = page.getByRole('dialog', { name: 'The new key' });
    await becomes(() => shown.locator('pre').textContent(), /^sk-[0-9A-Za-z]{49}$/);
    const secret = (await shown.locator('pre').textContent()) ?? '';
    await shown.getByRole('button', { name: 'I have saved it' }).click();
    const key = drawer.getByRole('row', { name: /given/ });
    await key.getByText('user balance').waitFor();
    await key.getByRole('button', { name: 'Limit given' }).click();
    const limit = page.getByRole('dialog', { name: 'Limit of given' });
    await limit.getByRole('textbox', { name: 'Limit' }).fill('2');
    await limit.getByRole('button', { name: 'Save' }).click();
    await key.getByText('$2.00').waitFor();
    await key.getByRole('button', { name: 'Disable given' }).click();
    await key.getByText('disabled').waitFor();
    assert.equal((await gateway.chat({}, { key: secret })).status, 401);
    assertClean('the drawer', [...(await at.violations()), ...(await at.overflow())]);
    await key.getByRole('button', { name: 'Delete given' }).click();
    await page.getByRole('dialog', { name: 'Delete the key given?' }).getByRole('button', { name: 'Delete' }).click();
    await drawer.getByText('No keys.').waitFor();
    assert.equal((await mia.data('GET', '/api/token/')).total, 0);
  });

  it('are disabled and enabled, with a reason for the audit log', async () => {
    await at.open('/users?q=mia');
    await row('mia').getByRole('button', { name: 'mia' }).click();
    const drawer = drawerOf('mia');
    await drawer.getByRole('button', { name: 'Disable', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'Disable mia' });
    await form.getByRole('textbox', { name: 'Reason' }).fill('on leave');
    await form.getByRole('button', { name: 'Disable' }).click();
    await drawer.getByText('disabled').waitFor();
    assert.equal(said(await mia.get('/api/user/self')), '401 not_signed_in');
    await drawer.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('dialog', { name: 'Enable mia' }).getByRole('button', { name: 'Enable' }).click();
    await drawer.getByText('active').waitFor();
    await at.open('/audit?action=user.disable');
    await page.getByRole('button', { name: 'adam disabled mia: on leave' }).click();
    const entry = page.getByRole('dialog', { name: /^Entry/ });
    await entry.getByRole('row', { name: 'reason on leave' }).waitFor();
    assertClean('the entry', [...(await at.violations()), ...(await at.overflow())]);
    await entry.getByRole('button', { name: 'Filter by this user' }).click();
    await page
      .getByRole('button', { name: 'adam added $5.00 to the balance of mia: a prize' })
      .waitFor({ state: 'detached' });
    await page.waitForURL(/action=user\.disable.*actor=adam/);
  });

  it('who are administrators are changed by root alone: others see why', async () => {
    await at.open('/users?role=10&q=eve');
    await row('eve').getByRole('button', { name: 'eve' }).click();
    const drawer = drawerOf('eve');
    const freeze = drawer.getByRole('button', { name: 'Disable (Only root can change administrators.)' });
    await becomes(() => freeze.getAttribute('aria-disabled'), 'true');
    await freeze.hover();
    await page.getByRole('tooltip').getByText('Only root can change administrators.').waitFor();
    await freeze.click({ force: true });
    assert.equal(await page.getByRole('dialog', { name: 'Disable eve' }).count(), 0);
  });

  it('are invited by a link that is shown once, listed, and taken back', async () => {
    await at.open('/users?tab=invitations');
    const link = async (): Promise<URL> => {
      await page.getByRole('button', { name: 'New invitation' }).first().click();
      const form = page.getByRole('dialog', { name: 'New invitation' });
      await form.getByText('Link for anyone').click();
      await form.getByRole('button', { name: 'Create link' }).click();
      const text = await form.locator('code').innerText();
      await form.getByRole('button', { name: 'Close' }).last().click();
      await form.waitFor({ state: 'hidden' });
      return new URL(text);
    };
    const first = await link();
    assert.equal(first.pathname, '/console/register');
    const code = first.searchParams.get('invite');
    const answer = await visitor(gateway).post('/api/user/register', {
      username: 'noor',
      password: PASSWORD,
      invite_code: code,
    });
    assert.equal(said(answer), '200 ok');
    await link();
    await page.getByRole('row', { name: /^used anyone with the link adam .* noor/ }).waitFor();
    await page.getByRole('button', { name: /^Revoke/ }).click();
    await page.getByRole('dialog', { name: 'Revoke invitation' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('row', { name: /^revoked anyone with the link adam/ }).waitFor();
    await becomes(async () => (await page.content()).includes(code ?? '?'), false, 'the code can be seen still');
  });

  it('are invited by a pasted list of addresses, and accept with what the invitation says', async () => {
    await at.open('/users?tab=invitations');
    await page.getByRole('button', { name: 'New invitation' }).first().click();
    const form = page.getByRole('dialog', { name: 'New invitation' });
    const addresses = form.getByRole('textbox', { name: 'Email addresses' });
    await form.getByRole('button', { name: 'Invite', exact: true }).click();
    await form.getByText('Enter an email address.').waitFor();
    await addresses.fill('Ola <ola@example.com>; per@example.com,\nola@example.com');
    await form.getByText('2 addresses').waitFor();
    await form.getByRole('textbox', { name: 'Opening balance' }).fill('3');
    assertClean('the form', [...(await at.violations()), ...(await at.overflow())]);
    await form.getByRole('button', { name: 'Invite', exact: true }).click();
    await form.getByText('No mail server is configured.').waitFor();
    const link = await form.locator('code', { hasText: 'register?invite=' }).first().innerText();
    await form.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('row', { name: /^open ola@example\.com \$3\.00 · no email sent adam/ }).waitFor();

    const guest = await onlooker(browser, gateway, undefined);
    await guest.page.goto(link);
    await guest.page.getByText('adam invites you. Your account gets the address ola@example.com.').waitFor();
    const username = guest.page.getByLabel('Name', { exact: true });
    await becomes(() => username.inputValue(), 'ola');
    assertClean('the page of the link', [...(await guest.violations()), ...(await guest.overflow())]);
    await guest.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await guest.page.getByRole('button', { name: 'Create account' }).click();
    await guest.page.getByRole('heading', { name: 'Home' }).waitFor();
    await guest.close();
    await page.getByRole('button', { name: 'Send again per@example.com' }).click();
    const again = page.getByRole('dialog', { name: 'Send again' });
    assert.match(await again.locator('code').innerText(), /register\?invite=/);
    await again.getByRole('button', { name: 'Close' }).last().click();
    const used = await visitor(gateway).get(`/api/invitation?code=${new URL(link).searchParams.get('invite')}`);
    assert.equal(said(used), '403 invitation_wanted');
  });

  it('are made, and ended once their name was typed', async () => {
    await at.open('/users');
    await page.getByRole('button', { name: 'New account' }).click();
    const form = page.getByRole('dialog', { name: 'New account' });
    await form.getByRole('textbox', { name: 'Username' }).fill('brief');
    await form.getByRole('button', { name: 'Generate' }).click();
    await form.getByRole('button', { name: 'Create account' }).click();
    const made = page.getByRole('dialog', { name: 'Created the account brief' });
    const password = await made.locator('code').last().innerText();
    await visitor(gateway).signIn('brief', password);
    await made.getByRole('button', { name: 'Open the account' }).click();
    const drawer = drawerOf('brief');
    await drawer.getByRole('heading', { name: 'Sessions' }).waitFor();
    await drawer.getByRole('button', { name: 'End all sessions' }).click();
    const everywhere = page.getByRole('dialog', { name: 'End all sessions of brief' });
    await everywhere.getByRole('button', { name: 'End all sessions' }).click();
    await drawer.getByText('No sessions.').waitFor();
    await drawer.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete account' }).click();
    const end = page.getByRole('dialog', { name: 'Delete brief' });
    const button = end.getByRole('button', { name: 'Delete account' });
    await becomes(() => button.isDisabled(), true);
    await end.getByRole('textbox', { name: 'Type brief to confirm' }).fill('brief');
    await button.click();
    await page.getByText('The account brief was deleted.').waitFor();
    await row('brief').waitFor({ state: 'detached' });
  });

  it('have an audit log that tells of what is new, can be saved, and whose chain can be checked', async () => {
    await at.open('/audit');
    await page.getByRole('button', { name: 'adam deleted the account brief' }).waitFor();
    await page.getByRole('button', { name: 'Check the chain' }).click();
    await page.getByText(/^All \d+ entries are consistent\.$/).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV of these entries' }).click();
    const lines = readFileSync(await (await saved).path(), 'utf8').split('\r\n');
    assert.match(lines[0] ?? '', /^seq,time,/);
    assert.ok(lines.some((line) => line.includes('user.delete')));
    assertClean('all of it', at.problems);
  });
});
