/** One person's way through the console, from nothing: an account, money, a key, a first call and what it cost, second factors, a new key. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { generate } from 'otplib';
import type { Browser, Locator, Page } from 'playwright-core';
import {
  assertClean,
  becomes,
  builtConsole,
  eventually,
  freePort,
  type Onlooker,
  onlooker,
  startBrowser,
} from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, root, verify } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { debitsOf } from '../kit/gateway/money.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { wholeAnswer } from '../kit/vendors/script.ts';

const run = promisify(execFile);
const NAME = 'newcomer';
const PASSWORD = 'a staple for horses 7';
/** 1,000 × $1.25 and 400 × $10 per million: half a cent and a bit, at 500,000 quota a dollar. */
const USAGE = { prompt: 1_000, completion: 400 };
const COST_UNITS = 2_625;
const COST_SHOWN = '$0.00525';

describe('from nothing to everything', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let browser: Browser;
  let at: Onlooker;
  let page: Page;
  let code: string;
  /** What Connect shows, and what it costs to run that. */
  let command: string;
  let requestId: string;

  before(async () => {
    const [port, env] = [await freePort(), await builtConsole()];
    vendor = await fakeVendor(() => wholeAnswer({ deltas: ['The bridge opens at six.'], usage: USAGE }));
    gateway = await startGateway({
      vendor,
      config: {
        listen: { host: '127.0.0.1', port },
        pipeline: [...CONSOLE_PIPELINE],
        models: { 'gpt-5': { from: ['main'], price: { input: 1.25, output: 10 } } },
        console: { ...PATIENT, url: `http://localhost:${port}`, registration: 'open' },
      },
      env: { ...ROOT_ENV, ...env },
    });
    browser = await startBrowser();
    const admin = await verify(await root(gateway));
    [code] = await admin.data('POST', '/api/redemption/', { name: 'welcome', quota: 500_000, count: 1 });
    at = await onlooker(browser, gateway, undefined);
    page = at.page;
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
  });
  after(async () => {
    await at?.close();
    await browser?.close();
    await gateway?.stop();
    await vendor?.close();
  });

  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true });
  const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });
  const dialog = (name: string) => page.getByRole('dialog', { name });
  const region = (name: string, within: Page | Locator = page) => within.getByRole('region', { name, exact: true });
  async function go(name: string): Promise<void> {
    await page.getByRole('navigation').getByRole('link', { name, exact: true }).first().click();
    await heading(name).waitFor();
  }
  /** The cells of a row, by how it begins. */
  async function cellsOf(table: Locator, name: string): Promise<readonly string[]> {
    const row = table.getByRole('row').filter({ hasText: name }).first();
    await row.waitFor();
    return row.locator('th, td').allInnerTexts();
  }
  const numberOf = (text: string | undefined): number => Number((text ?? '').replaceAll(',', ''));

  it('makes an account', async () => {
    await at.open('/');
    await page.getByRole('link', { name: 'Create account' }).click();
    await page.getByLabel('Name', { exact: true }).fill(NAME);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await button('Create account').click();
    await heading('Home').waitFor();
    await page.getByRole('button', { name: `Account: ${NAME}` }).waitFor();
  });

  it('redeems a code', async () => {
    await go('Wallet');
    await page.getByLabel('Code', { exact: true }).fill(code);
    await button('Redeem').click();
    await page.getByText('$1.00 was added to your balance.').waitFor();
  });

  it('makes a key on Connect, and runs what is shown there', async () => {
    await go('Connect');
    await page.getByText('curl, chat', { exact: true }).click();
    await button('Create key').click();
    await page.getByText('it is not shown again after you leave this page').waitFor();
    await becomes(() => region('Run it in a terminal').innerText(), /sk-[0-9A-Za-z]{20,}/);
    command = await region('Run it in a terminal').innerText();
    const { stdout } = await run('sh', ['-c', command]);
    assert.equal(JSON.parse(stdout).choices[0].message.content, 'The bridge opens at six.');
  });

  it('sees the request in the log, with what it cost and a receipt that adds up', async () => {
    await go('Logs');
    const lines = region('Calls and events');
    const row = lines.getByRole('row').filter({ hasText: 'gpt-5' });
    await row.getByText(COST_SHOWN).waitFor();
    await row.getByText('Served').first().waitFor();
    await row.getByText('1,000 / 400').waitFor();
    await row.getByRole('link').first().click();
    const call = dialog('Call');
    await call.getByText(/^gpt-5 answered in .+ for \$0\.00525\.$/).waitFor();
    requestId = new URL(page.url()).searchParams.get('open') ?? '';
    const entries = await debitsOf(gateway, requestId);
    assert.deepEqual(
      entries.map(({ op, kind, amount }) => [op, kind, Number(amount)]),
      [
        ['debit', 'account', COST_UNITS * 1_000_000],
        ['debit', 'key', COST_UNITS * 1_000_000],
      ],
    );
    const receipt = region('Receipt', call);
    const [, inputs, inputPrice, inputQuota] = await cellsOf(receipt, 'Input');
    const [, outputs, outputPrice, outputQuota] = await cellsOf(receipt, 'Output');
    assert.deepEqual(
      [inputs, inputPrice, outputs, outputPrice],
      ['1,000', '$1.25 per million', '400', '$10 per million'],
    );
    assert.equal(numberOf(inputQuota) + numberOf(outputQuota), COST_UNITS);
    for (const total of ['Total', 'Charged']) assert.equal(numberOf((await cellsOf(receipt, total))[1]), COST_UNITS);
    assert.equal((await cellsOf(receipt, 'In US dollars'))[1], COST_SHOWN);
    const ledger = region('Ledger entries', call);
    for (const layer of [`Balance of ${NAME}`, 'Limit of key']) {
      const [, held, taken, freed] = await cellsOf(ledger, layer);
      assert.equal(numberOf(taken), COST_UNITS);
      assert.equal(numberOf(taken) + numberOf(freed), numberOf(held));
    }
    assert.deepEqual(await at.violations(), []);
    await page.keyboard.press('Escape');
    await call.waitFor({ state: 'detached' });
  });

  it('turns on a second factor, and adds a passkey', async () => {
    await go('Security');
    await button('Set up').click();
    const setup = dialog('Set up an authenticator app');
    const secret = ((await setup.locator('code').textContent()) ?? '').replaceAll(' ', '');
    await setup.getByLabel('Current code from the app').fill(await generate({ secret }));
    await button('Enable', setup).click();
    const kept = dialog('Keep your backup codes');
    const [backup = ''] = ((await kept.locator('pre').textContent()) ?? '').split('\n');
    await kept.getByLabel('I have saved them').check();
    await button('Done', kept).click();
    await page.getByText('10 backup codes left.').waitFor();

    // Each code of the app is good once: a backup code stands in for the next.
    await button('Add passkey').click();
    const check = dialog('Confirm it’s you');
    await check.getByLabel('Authenticator code').fill(backup);
    await check.getByLabel('Authenticator code').press('Enter');
    await page.getByText('The passkey was added.').waitFor();
  });

  it('signs in with it, and exchanges the key after a check', async () => {
    await page.getByRole('button', { name: `Account: ${NAME}` }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await button('Sign in with a passkey').click();
    await page.getByRole('button', { name: `Account: ${NAME}` }).waitFor();
    await go('Keys');
    await page.getByRole('button', { name: /^More actions for / }).click();
    await page.getByRole('menuitem', { name: 'Rotate' }).click();
    const exchange = dialog('Rotate key');
    await exchange.getByLabel('Expires at once').check();
    await button('Rotate key', exchange).click();
    await button('Use passkey', dialog('Confirm it’s you')).click();
    const made = dialog('Your new key');
    const key = ((await made.getByLabel('Key', { exact: true }).textContent()) ?? '').trim();
    await button('I have copied it', made).click();
    await made.waitFor({ state: 'detached' });

    const old = await run('sh', ['-c', command]).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    );
    assert.match(old, /invalid_api_key|key_disabled|key_expired/);
    const { stdout } = await run('sh', ['-c', command.replace(/sk-[0-9A-Za-z]{20,}/, key)]);
    assert.equal(JSON.parse(stdout).choices[0].message.content, 'The bridge opens at six.');
  });

  it('reads what all of it came to', async () => {
    await go('Usage');
    await eventually(async () => {
      const cells = await cellsOf(region('Models'), 'gpt-5');
      assert.match(cells.join(' | '), /\$0\.0105/);
      assert.ok(cells.includes('2'), cells.join(' | '));
    });
    await go('Wallet');
    await page.getByText('$0.99').first().waitFor();
    assertClean('all the way', at.problems);
  });
});
