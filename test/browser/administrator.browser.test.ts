/** An administrator who has made no call: what Home, Logs and Usage show of everybody, from the first view on. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
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
import { CONSOLE_PIPELINE, checked, member, PATIENT, ROOT_ENV, signedIn } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { wholeAnswer } from '../kit/vendors/script.ts';

/** How much of the page moved by itself since it was opened, as browsers count it. */
const SHIFTS = `new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) globalThis.shifted = (globalThis.shifted ?? 0) + entry.value;
}).observe({ type: 'layout-shift', buffered: true })`;

let vendor: FakeVendor;
let gateway: TestGateway;
let browser: Browser;
let poorCall: string;
before(async () => {
  const [port, env] = [await freePort(), await builtConsole()];
  vendor = await fakeVendor(() => wholeAnswer({ deltas: ['Yes.'], usage: { prompt: 1_000, completion: 9 } }));
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
  const ann = await member(gateway, 'ann', { units: 5_000_000 });
  const bo = await member(gateway, 'bo');
  const keyOf = async (who: typeof ann) => (await who.data('POST', '/api/token/', { name: 'server' })).key;
  const key = await keyOf(ann);
  for (const model of ['test-model', 'free-model'])
    await (await gateway.chat({ model, max_tokens: 10 }, { key })).text();
  const refused = await gateway.chat({ max_tokens: 10 }, { key: await keyOf(bo) });
  poorCall = refused.headers.get('x-request-id') ?? '';
  assert.equal(refused.status, 403, await refused.text());
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  await vendor?.close();
});

let at: Onlooker;
let page: Page;
beforeEach(async () => {
  at = await onlooker(browser, gateway, await signedIn(gateway, 'root'));
  page = at.page;
});
afterEach(async () => {
  assertClean('in the browser', at.problems);
  await at.close();
});

describe('the first view of an administrator', () => {
  it('is what everybody spent; the first steps need no own call, and are dismissed for good', async () => {
    await page.addInitScript(SHIFTS);
    await at.open('/');
    const everybody = page.locator('.figure').filter({ hasText: 'All users, today' });
    await everybody.getByText(/^3 calls/).waitFor();
    await becomes(() => everybody.innerText(), /\$0\.00\d+/);
    await page.getByText('The last 30 days of all users, by model').waitFor();
    await at.settled();
    assert.ok(Number(await page.evaluate('globalThis.shifted ?? 0')) < 0.1, 'nothing jumps while it loads');

    const start = page.locator('section', { has: page.getByRole('heading', { name: 'Getting started' }) });
    for (const step of ['key', 'call']) await start.locator(`[data-step="${step}"][data-done="true"]`).waitFor();
    await start.getByRole('button', { name: 'Dismiss' }).click();
    await start.waitFor({ state: 'detached' });
    await at.open('/');
    await everybody.waitFor();
    await becomes(() => start.count(), 0);
  });

  it('of Logs and Usage is everybody’s, until their own is chosen: that is remembered', async () => {
    await at.open('/logs');
    await page.getByText('3 entries').waitFor();
    await at.open('/usage');
    await page.getByRole('link', { name: 'test-model', exact: true }).waitFor();
    await page.getByRole('radiogroup', { name: 'Scope' }).getByText('Mine', { exact: true }).click();
    await page.getByText('What your calls cost.').waitFor();
    await at.open('/logs');
    await page.getByRole('heading', { level: 1, name: 'Logs' }).waitFor();
    await becomes(() => page.getByText('3 entries').count(), 0);
    await at.open('/usage?whose=all');
    await page
      .getByText('Cost of all users’ calls.')
      .or(page.getByRole('link', { name: 'test-model', exact: true }))
      .first()
      .waitFor();
  });
});

describe('the log of everybody', () => {
  it('finds a model by a part of its name, and asks which one is meant where several have it', async () => {
    await at.open('/logs?whose=all');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    const model = page.getByRole('combobox', { name: 'Model' });
    await model.fill('MODEL');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('Several names match. Select one.').waitFor();
    await model.fill('st-mo');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByRole('button', { name: 'Remove the filter Model: test-model' }).waitFor();
    await page.getByRole('combobox', { name: 'Department' }).waitFor();
  });

  it('leads from a call that nobody could pay to where quota is given', async () => {
    await at.open(`/logs?whose=all&open=${poorCall}`);
    await page.getByRole('dialog').getByRole('link', { name: 'Change the quota of this user' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change balance' }).waitFor();
  });

  it('has lines that are links, and amounts with their points below each other', async () => {
    await at.open('/usage?whose=all');
    const amounts = page.locator('td.number:nth-child(2) [data-decimals]');
    await amounts.nth(1).waitFor();
    const digits = (): Promise<readonly number[]> =>
      amounts.evaluateAll((all) => all.map(({ dataset }) => Number(dataset.decimals) + (dataset.room ?? '').length));
    await becomes(async () => new Set(await digits()).size, 1, 'the points stand below each other');
    await at.open('/logs?whose=all');
    const line = page.getByRole('row').filter({ hasText: 'test-model' }).first().getByRole('link').first();
    const opened = page.context().waitForEvent('page');
    await line.click({ modifiers: ['Control'] });
    const other = await opened;
    await other.getByRole('dialog', { name: 'Call' }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0);
    await other.close();
  });
});

describe('Home of an administrator', () => {
  it('names the models and users with the highest cost, and what needs attention', async () => {
    const boss = await checked(gateway, await signedIn(gateway, 'root'));
    const dana = await member(gateway, 'dana', { units: 5_000_000 });
    const { id: danasId } = await dana.data('GET', '/api/user/self');
    const { key } = await dana.data('POST', '/api/token/', { name: 'server' });
    const { id } = await boss.data('POST', '/api/department/', { name: 'Lab', quota: 1_000_000 });
    await boss.data('POST', `/api/department/${id}/members`, { user_ids: [danasId] });
    const answer = await gateway.chat({ max_tokens: 10 }, { key });
    assert.equal(answer.status, 200, await answer.text());
    const { items } = await boss.data('GET', '/api/team/budgets');
    await boss.data('PUT', `/api/department/${id}`, { quota: Math.round(items[0].used / 0.95) });
    await at.open('/');
    await page.getByText(/^The department Lab has used 9[45](\.\d)?% of its budget\./).waitFor();
    const users = page.getByRole('region', { name: 'Users with the highest cost' });
    await becomes(async () => (await users.getByRole('link').allTextContents()).toSorted(), ['ann', 'bo', 'dana']);
    await page.getByText('$0.00 on the same day last week').waitFor();
    assertClean('Home', await at.violations());
    await page
      .getByRole('region', { name: 'Models with the highest cost' })
      .getByRole('link', { name: 'test-model' })
      .click();
    await page.getByRole('button', { name: 'Remove the filter Model: test-model' }).waitFor();
  });
});
