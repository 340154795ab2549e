/** Groups of channels, in a browser: users choose those that are for them, administrators any; without a choice there is no field. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { Accounts } from '../../core/contracts/accounts.ts';
import { assertClean, becomes, builtConsole, freePort, onlooker, startBrowser } from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, checked, member, PATIENT, ROOT_ENV, root, type Visitor } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';

let vendors: readonly FakeVendor[];
let gateway: TestGateway;
let browser: Browser;
before(async () => {
  const [port, env] = [await freePort(), await builtConsole()];
  vendors = [await fakeVendor(), await fakeVendor()];
  gateway = await startGateway({
    vendor: vendors,
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: [...CONSOLE_PIPELINE, 'groups'],
      console: { ...PATIENT, url: `http://localhost:${port}` },
      groups: { default: { channels: ['main'] }, vip: { channels: ['spare'], factor: 0.8, for: ['default'] }, own: {} },
    },
    env: { ...ROOT_ENV, ...env },
  });
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  for (const vendor of vendors ?? []) await vendor.close();
});

/** The console as somebody sees it; fails for whatever is wrong in the browser. */
async function seenBy(person: Visitor, look: (at: Awaited<ReturnType<typeof onlooker>>) => Promise<void>) {
  const at = await onlooker(browser, gateway, person);
  try {
    await look(at);
    assertClean('in the browser', [...at.problems, ...(await at.violations())]);
  } finally {
    await at.close();
  }
}

const keysOf = async (person: Visitor) =>
  ((await person.data('GET', '/api/token/')).items as { name: string; group: string }[]).map(({ name, group }) => ({
    name,
    group,
  }));

describe('the group of a key', () => {
  it('is chosen by its user with the factor in view, is in the list, and is removed again', async () => {
    const ann = await member(gateway, 'ann', { units: 5_000_000 });
    await seenBy(ann, async ({ open, page }) => {
      await open('/keys?open=new');
      const form = page.getByRole('dialog', { name: 'New key' });
      await form.getByLabel('Name').fill('laptop');
      await form.getByRole('combobox', { name: 'Group' }).click();
      await becomes(() => page.getByRole('option').allTextContents(), ['default (×1)', 'vip (×0.8)']);
      await page.getByRole('option', { name: 'vip (×0.8)' }).click();
      await form.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'I have copied it' }).click();
      assert.deepEqual(await keysOf(ann), [{ name: 'laptop', group: 'vip' }]);
      await page.getByRole('row').filter({ hasText: 'laptop' }).getByText('vip', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'laptop', exact: true }).click();
      const changed = page.getByRole('dialog', { name: 'Edit key' });
      await becomes(() => changed.getByRole('combobox', { name: 'Group' }).inputValue(), 'vip (×0.8)');
      await changed.getByRole('combobox', { name: 'Group' }).click();
      await page.getByRole('option', { name: 'default (×1)' }).click();
      await changed.getByRole('button', { name: 'Save' }).click();
      await changed.waitFor({ state: 'detached' });
      assert.deepEqual(await keysOf(ann), [{ name: 'laptop', group: '' }]);
    });
  });

  it('is no question to users who have no choice', async () => {
    const bob = await member(gateway, 'bob');
    const account = (await gateway.host.use(Accounts).findByName('bob'))!;
    await gateway.host.use(Accounts).change(account.id, { group: 'own' });
    await seenBy(bob, async ({ open, page }) => {
      await open('/keys?open=new');
      await page.getByRole('combobox', { name: 'Models' }).waitFor();
      assert.equal(await page.getByRole('combobox', { name: 'Group' }).count(), 0);
    });
  });

  it('is set by administrators, and that of an account is offered', async () => {
    const carl = await member(gateway, 'carl');
    await carl.data('POST', '/api/token/', { name: 'script' });
    const { id } = (await gateway.host.use(Accounts).findByName('carl'))!;
    await seenBy(await checked(gateway, await root(gateway)), async ({ open, page }) => {
      await open(`/users?user=${id}`);
      await page.getByRole('button', { name: 'Limit script' }).click();
      const form = page.getByRole('dialog', { name: 'Limit of script' });
      await form.getByRole('combobox', { name: 'Group' }).click();
      await page.getByRole('option', { name: 'own (×1)' }).click();
      await form.getByRole('button', { name: 'Save' }).click();
      await form.waitFor({ state: 'detached' });
      assert.deepEqual(await keysOf(carl), [{ name: 'script', group: 'own' }]);
      const group = page.getByRole('combobox', { name: 'Group' });
      await group.fill('vi');
      await page.getByRole('option', { name: 'vip' }).click();
      await becomes(() => group.inputValue(), 'vip');
    });
  });
});
