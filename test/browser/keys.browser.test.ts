/** The page Keys, in a browser: a key is made, limited, switched off, exchanged, found and ended; each counts for the next call. */
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
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, type Visitor } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';

let vendor: FakeVendor;
let gateway: TestGateway;
let browser: Browser;
before(async () => {
  const [port, env] = [await freePort(), await builtConsole()];
  vendor = await fakeVendor();
  gateway = await startGateway({
    vendor,
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: CONSOLE_PIPELINE,
      console: { ...PATIENT, url: `http://localhost:${port}` },
    },
    env: { ...ROOT_ENV, ...env },
  });
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  await vendor?.close();
});

let at: Onlooker;
let page: Page;
let ann: Visitor;
let people = 0;
/** Somebody with money and without keys. */
beforeEach(async () => {
  ann = await member(gateway, `ann-${++people}`, { units: 5_000_000 });
  at = await onlooker(browser, gateway, ann);
  page = at.page;
});
afterEach(async () => {
  assertClean('in the browser', at.problems);
  await at.close();
});

const dialog = (title: string) => page.getByRole('dialog', { name: title });
const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('button', { name, exact: true }) });
const menu = async (name: string, item: string): Promise<void> => {
  await page.getByRole('button', { name: `More actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
};
const make = (name: string, more: object = {}) => ann.data('POST', '/api/token/', { name, ...more });
const call = async (key: string): Promise<number> => {
  const answer = await gateway.chat({ max_tokens: 10 }, { key });
  await answer.text();
  return answer.status;
};

describe('keys', () => {
  it('are made with limits, refused at the field, and shown whole once', async () => {
    await at.open('/keys');
    await page.getByRole('button', { name: 'Create your first key' }).click();
    const form = dialog('New key');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByText('Enter a name.').waitFor();
    await form.getByLabel('Name').fill('the <b>laptop</b>');
    await form.getByLabel('Limited').check();
    await form.getByRole('textbox', { name: 'Amount' }).fill('1.5');
    await form.getByText('30 days', { exact: true }).click();
    await form.getByText(/Valid until .*\d{4}/).waitFor();
    await form.getByRole('combobox', { name: 'Models' }).click();
    await page.getByRole('option', { name: 'test-model' }).click();
    await page.keyboard.press('Escape');
    await form.getByLabel('Addresses').fill('127.0.0.1\n300.1.1.1');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form
      .getByText(/300\.1\.1\.1/)
      .and(page.locator('.mantine-InputWrapper-error'))
      .waitFor();
    await form.getByLabel('Addresses').fill('127.0.0.1\n::1');
    await form.getByRole('button', { name: 'Create key' }).click();

    const shown = dialog('Your new key');
    const key = (await shown.locator('pre').textContent()) ?? '';
    assert.match(key, /^sk-[0-9A-Za-z]{49}$/);
    assertClean('the key that is shown', await at.violations());
    await page.keyboard.press('Escape');
    assert.equal(await shown.isVisible(), true, 'nothing closes this by accident');
    await shown.getByRole('button', { name: 'I have copied it' }).click();
    await shown.waitFor({ state: 'detached' });
    await becomes(() => page.getByText(key).count(), 0, 'it is nowhere any more');
    await row('the <b>laptop</b>').getByText('Enabled').waitFor();
    await becomes(
      () => row('the <b>laptop</b>').textContent(),
      /\$0\.00 of \$1\.50.*in 30 days.*test-model.*2 networks/,
    );
    assert.equal(await call(key), 200);
    const [stored] = (await ann.data('GET', '/api/token/')).items;
    assert.equal(stored.used_quota + stored.remain_quota, 750_000 - 1, 'what was used has fractions');
  });

  it('are switched off and on, changed in the address that names them, and say what was refused', async () => {
    const { id, key } = await make('script', { model_limits: 'test-model' });
    await at.open('/keys');
    await page.getByRole('switch', { name: 'script is enabled' }).click({ force: true });
    await page.getByText('script is disabled').waitFor();
    await row('script').getByText('Disabled').waitFor();
    assert.equal(await call(key), 401);
    await page.getByRole('switch', { name: 'script is enabled' }).click({ force: true });
    await row('script').getByText('Enabled').waitFor();
    assert.equal(await call(key), 200);

    await page.getByRole('button', { name: 'script', exact: true }).click();
    await becomes(() => new URL(page.url()).searchParams.get('open'), String(id));
    await at.open(`/keys?open=${id}`);
    const form = dialog('Edit key');
    await form.getByLabel('Name').fill('robot');
    await form.getByLabel('Strict translation').check({ force: true });
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('robot saved.').waitFor();
    const stored = await ann.data('GET', `/api/token/${id}`);
    assert.deepEqual(
      [stored.name, stored.strict, stored.unlimited_quota, stored.model_limits, stored.expired_time],
      ['robot', true, true, 'test-model', -1],
    );
  });

  it('get limits of their own, for all models and for some, which calls meet at once', async () => {
    const { id, key } = await make('limited');
    await at.open('/keys');
    await menu('limited', 'Edit');
    const form = dialog('Edit key');
    const limit = (at: number) => form.getByRole('group', { name: `Limit ${at}`, exact: true });
    const choose = async (at: number, kind: string): Promise<void> => {
      await form.getByRole('button', { name: 'Add limit' }).click();
      await limit(at).getByRole('combobox', { name: 'Limit' }).click();
      await page.getByRole('option', { name: kind }).click();
    };
    await choose(1, 'Budget per month (UTC)');
    await choose(2, 'Requests per minute');
    await choose(3, 'Concurrent calls');
    await limit(1).getByLabel('Amount').fill('0.000002');
    await limit(2).getByLabel('Number').fill('1000');
    await limit(2).getByLabel('Model').fill('test-*');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.getByText('Enter a value for every limit, or remove it.').waitFor();
    await form.getByRole('button', { name: 'Remove limit 3' }).click();
    await at.look({ width: 360 });
    assertClean('the form', [...(await at.violations()), ...(await at.overflow())]);
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByText('limited saved.').waitFor();
    const { limits } = await ann.data('GET', `/api/token/${id}`);
    const found = limits.map(({ model, monthly_budget, requests_per_minute }: Record<string, unknown>) => [
      ...[model, monthly_budget, requests_per_minute],
    ]);
    assert.deepEqual(found, [
      ['', 1, null],
      ['test-*', null, 1_000],
    ]);
    assert.equal(await call(key), 403, 'it costs more than the budget');
  });

  it('are exchanged after a check: the new one is shown once, the other works on for its grace', async () => {
    const { secret, backup_codes: codes } = await ann.data('POST', '/api/user/2fa/setup');
    await ann.data('POST', '/api/user/2fa/enable', { code: await generate({ secret }) });
    const { key: before } = await make('server');
    await at.close();
    at = await onlooker(browser, gateway, ann);
    page = at.page;
    await at.open('/keys');
    await menu('server', 'Rotate');
    const asks = dialog('Rotate key');
    await asks.getByLabel('Expires in 1 hour').check();
    await asks.getByRole('button', { name: 'Rotate key' }).click();
    const check = dialog('Confirm it’s you');
    await check.getByLabel('Authenticator code').fill(codes[0]);
    await check.getByRole('button', { name: 'Continue' }).click();
    const shown = dialog('Your new key');
    await shown.getByText(/The old key works until/).waitFor();
    const key = (await shown.locator('pre').textContent()) ?? '';
    assert.notEqual(key, before);
    assert.deepEqual([await call(before), await call(key)], [200, 200]);
    await shown.getByRole('button', { name: 'I have copied it' }).click();
  });

  it('are found by name and state, in the address, and end several at once, by name', async () => {
    for (const name of ['one', 'two', 'three']) await make(name);
    await make('spent', { remain_quota: 0 });
    await at.open('/keys');
    await page.getByLabel('Search by name').fill('t');
    await row('one').waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'State' }).click();
    await page.getByRole('option', { name: 'Used up' }).click();
    await row('spent').waitFor();
    await row('two').waitFor({ state: 'detached' });
    await becomes(() => new URL(page.url()).search, '?q=t&state=spent');
    await page.getByLabel('Search by name').fill('zzz');
    await page.getByRole('button', { name: 'Show all keys' }).click();
    await row('one').waitFor();

    await page.getByLabel('Select all on this page').check();
    await page.getByLabel('Select spent').uncheck();
    await page.getByText('3 selected').waitFor();
    await page.getByRole('button', { name: 'Delete selected' }).click();
    const asks = dialog('Delete 3 keys?');
    await becomes(() => asks.locator('li strong').allTextContents(), ['three', 'two', 'one']);
    await asks.getByRole('button', { name: 'Delete 3 keys' }).click();
    await page.getByText('3 keys deleted.').waitFor();
    await menu('spent', 'Delete');
    await dialog('Delete the key?').getByRole('button', { name: 'Delete key' }).click();
    await page.getByText('No keys yet').waitFor();
    assert.equal((await ann.data('GET', '/api/token/')).total, 0);
  });
});
