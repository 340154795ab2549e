/** A department from nothing, as an administrator builds it: a budget, a member, a refusal, more budget, and what it came to. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
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
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, root, signedIn, type Visitor } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';

/** More calls than any of the budgets here has room for. */
const MANY = 500;

describe('departments in a browser', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let browser: Browser;
  /** For what is looked up beside the page: whoever shows a second factor there has another session then. */
  let boss: Visitor;
  let at: Onlooker;
  let page: Page;
  /** Of a customer with a million quota units: two dollars. */
  let key: string;
  /** For checks by a second factor. */
  let codes: readonly string[];
  before(async () => {
    const port = await freePort();
    vendor = await fakeVendor();
    gateway = await startGateway({
      vendor,
      config: {
        listen: { host: '127.0.0.1', port },
        pipeline: [...CONSOLE_PIPELINE],
        console: { ...PATIENT, url: `http://localhost:${port}` },
      },
      env: { ...ROOT_ENV, ...(await builtConsole()) },
    });
    key = await gateway.customer(1_000_000);
    boss = await root(gateway);
    const adam = await member(gateway, 'adam', { role: 'admin' });
    const { secret, backup_codes } = await adam.data('POST', '/api/user/2fa/setup');
    await adam.data('POST', '/api/user/2fa/enable', { code: await generate({ secret }) });
    codes = backup_codes;
    browser = await startBrowser();
    at = await onlooker(browser, gateway, adam);
    page = at.page;
  });
  after(async () => {
    await browser.close();
    await gateway.stop();
    await vendor.close();
  });

  const call = async (): Promise<string> => {
    const response = await gateway.chat({ max_tokens: 10 }, { key });
    const body = (await response.json()) as { error?: { code: string } };
    return `${response.status} ${body.error?.code ?? 'ok'}`;
  };

  it('begin with a template, a second check that is asked for by itself, and a member', async () => {
    await at.open('/departments');
    await page.getByRole('heading', { name: 'No departments yet' }).waitFor();
    await page.getByRole('button', { name: 'Team with a budget' }).click();
    const form = page.getByRole('dialog', { name: 'Team with a budget' });
    await form.getByRole('textbox', { name: 'Name' }).fill('Night shift');
    await form.getByRole('textbox', { name: 'Monthly budget' }).fill('0.002');
    await form.getByText('= 1,000 quota').waitFor();
    await form.getByRole('combobox', { name: 'Members' }).fill('customer');
    await page.getByRole('option', { name: 'customer-1' }).click();
    await page.keyboard.press('Escape');
    await form.getByRole('button', { name: 'Create team' }).click();
    const check = page.getByRole('dialog', { name: 'Confirm it’s you' });
    await check.getByRole('textbox').fill(codes[0]!);
    await check.getByRole('button', { name: 'Continue' }).click();
    const drawer = page.getByRole('dialog', { name: 'Night shift' });
    await drawer.getByText('Its members can spend $0.0020 more before calls are refused.').waitFor();
    await drawer.getByRole('link', { name: 'customer-1' }).waitFor();
    assertClean('the drawer', [...(await at.violations()), ...(await at.overflow())]);
  });

  it('stop the calls of their people when a budget is used up, and let them go on when it is raised', async () => {
    let served = 0;
    let said = await call();
    for (; said === '200 ok' && served < MANY; said = await call()) served++;
    assert.equal(said, '403 QUOTA_DEPARTMENT_EXCEEDED');
    assert.ok(served > 0, 'none was served before');
    // What a call holds is not used: the last of the budget may be too little for another call, and is there still.
    await at.open('/departments');
    const row = page.getByRole('treeitem', { name: /Night shift/ });
    await row.getByText(/of \$0\.0020/).waitFor();
    await row.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Night shift' });
    await drawer.getByRole('button', { name: 'Edit', exact: true }).click();
    const form = page.getByRole('dialog', { name: 'Edit “Night shift”' });
    await form.getByRole('textbox', { name: 'Monthly budget' }).fill('0.5');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'hidden' });
    await drawer.getByText('of $0.50').waitFor();
    assert.equal(await call(), '200 ok');

    const person = await onlooker(browser, gateway, await signedIn(gateway, 'customer-1'));
    await person.open('/wallet');
    const theirs = person.page.locator('section', { hasText: 'Your department: Night shift' });
    await theirs.getByText('Night shift, this month').waitFor();
    await theirs.getByText('of $0.50').waitFor();
    assertClean('the wallet', [...(await person.violations()), ...(await person.overflow())]);
    await person.close();

    const { items } = await boss.data('GET', '/api/team/cost-trend?group_by=department');
    const trend = items.find(({ name }: { name: string }) => name === 'Night shift');
    assert.deepEqual([trend.requests, trend.errors], [served + 1, 1]);
    assert.ok(trend.quota > 0);
    await at.open(`/team?department_id=${trend.group}`);
    const { quota } = await boss.data('GET', `/api/team/overview?department_id=${trend.group}`);
    await page.locator(`[data-quota="${quota}"]`).first().waitFor();
  });

  it('are a tree: by keyboard, collapsed where it is deep, found by name, and say which budget is the tightest', async () => {
    const [top] = await boss.data('GET', '/api/department/tree');
    let below = top;
    for (const name of ['Second level', 'Third level', 'Fourth level']) {
      below = await boss.data('POST', '/api/department/', { name, parent_id: below.id });
    }
    const others = Array.from({ length: 120 }, (_, i) => i + 1);
    await Promise.all(
      others.map((i) => boss.data('POST', '/api/department/', { name: `Other ${i}`, parent_id: top.id })),
    );
    await at.open('/departments');
    const item = (name: string) => page.getByRole('treeitem', { name: new RegExp(`^${name}`) });
    await item('Second level').waitFor();
    assert.equal(await item('Third level').count(), 0);
    await item('Night shift').focus();
    await page.keyboard.press('s');
    const focused = (name: string) => item(name).and(page.locator(':focus')).waitFor();
    const expanded = (name: string, is: boolean) => becomes(() => item(name).getAttribute('aria-expanded'), String(is));
    await focused('Second level');
    await expanded('Second level', false);
    await page.keyboard.press('ArrowRight');
    await expanded('Second level', true);
    await page.keyboard.press('ArrowRight');
    await focused('Third level');
    await page.keyboard.press('ArrowRight');
    await expanded('Third level', true);
    await page.keyboard.press('ArrowRight');
    await focused('Fourth level');
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Fourth level' });
    await drawer.getByText('Night shift, this month').waitFor();
    await drawer.getByText('tightest', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });

    await page.getByRole('searchbox', { name: 'Find a department' }).fill('other 120');
    await item('Second level').waitFor({ state: 'detached' });
    await becomes(
      () => page.getByRole('treeitem').evaluateAll((rows) => rows.map((row) => row.getAttribute('aria-level'))),
      ['1', '2'],
    );
    await page.waitForURL(/q=other\+120|q=other%20120/);
    await item('Other 120').click();
    await page.getByRole('dialog', { name: 'Other 120' }).getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const confirm = page.getByRole('dialog', { name: 'Delete “Other 120”' });
    await confirm.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('“Other 120” was deleted.').waitFor();
    await page.getByRole('heading', { name: 'No matching departments' }).waitFor();
  });

  it('are sorted by what is left, and several of them disabled and enabled at once', async () => {
    await at.open('/departments');
    await page.getByRole('combobox', { name: 'Sort by' }).click();
    await page.getByRole('option', { name: 'Least remaining' }).click();
    await page.waitForURL(/sort=left/);
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    const item = page.getByRole('treeitem', { name: /^Second level/ });
    await item.click();
    await becomes(() => item.getAttribute('aria-selected'), 'true');
    await page.getByText('1 selected').waitFor();
    assertClean('the selection', [...(await at.violations()), ...(await at.overflow())]);
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    const confirm = page.getByRole('dialog', { name: 'Disable 1 department?' });
    await confirm.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('1 department was changed.').waitFor();
    await item.getByText('disabled').waitFor();
    await page.getByRole('button', { name: 'Select', exact: true }).click();
    await item.focus();
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Enable', exact: true }).click();
    await item.getByText('disabled').waitFor({ state: 'detached' });
  });

  it('say why they cannot be deleted', async () => {
    await at.open('/departments');
    await page.getByRole('treeitem', { name: /^Night shift/ }).click();
    await page.getByRole('dialog', { name: 'Night shift' }).getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const blocked = page.getByRole('dialog', { name: 'Delete “Night shift”' });
    await blocked.getByText('It has 1 member: remove or move them first.').waitFor();
    await blocked.getByText('120 departments are below it: move or delete them first.').waitFor();
    assertClean('all of it', at.problems);
  });
});
