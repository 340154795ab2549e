/** Lists in a browser: headings sort them, selected rows change together, and the address keeps all of it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { assertClean, becomes, builtConsole, freePort, type Onlooker, onlooker, startBrowser } from '../kit/browser.ts';
import { CONSOLE_PIPELINE, checked, PATIENT, ROOT_ENV, signedIn, type Visitor } from '../kit/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway.ts';

let gateway: TestGateway;
let browser: Browser;
let boss: Visitor;
let at: Onlooker;
let page: Page;
before(async () => {
  const [port, env] = [await freePort(), await builtConsole()];
  gateway = await startGateway({
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: CONSOLE_PIPELINE,
      console: { ...PATIENT, url: `http://localhost:${port}` },
    },
    env: { ...ROOT_ENV, ...env },
  });
  for (const [i, name] of ['cleo', 'abel', 'bert'].entries()) {
    await signedIn(gateway, name);
    await gateway.command(`user credit ${name} ${(i + 1) * 1_000_000}`);
  }
  boss = await checked(gateway, await signedIn(gateway, 'root'));
  browser = await startBrowser();
  at = await onlooker(browser, gateway, boss);
  page = at.page;
});
after(async () => {
  await at?.close();
  await browser?.close();
  await gateway?.stop();
});

const names = async (): Promise<readonly string[]> =>
  (await page.getByRole('region', { name: 'Accounts' }).locator('.row-opener').allTextContents()).filter(
    (name) => name !== 'root',
  );
const sortBy = (title: string) => page.getByRole('columnheader', { name: title }).getByRole('button').click();

describe('the list of users', () => {
  it('is sorted by its headings, ascending, descending, and as before', async () => {
    await at.open('/users');
    await becomes(names, ['bert', 'abel', 'cleo']);
    await sortBy('User');
    await becomes(names, ['abel', 'bert', 'cleo']);
    await becomes(() => page.getByRole('columnheader', { name: 'User' }).getAttribute('aria-sort'), 'ascending');
    await sortBy('User');
    await becomes(names, ['cleo', 'bert', 'abel']);
    await becomes(() => new URL(page.url()).searchParams.get('sort'), '-username');
    await sortBy('User');
    await becomes(names, ['bert', 'abel', 'cleo']);
    await sortBy('Balance');
    await becomes(names, ['bert', 'abel', 'cleo']);
    await sortBy('Balance');
    await becomes(names, ['cleo', 'abel', 'bert']);
    await at.open('/users?sort=username');
    await becomes(names, ['abel', 'bert', 'cleo']);
    assertClean('the list', [...at.problems, ...(await at.violations())]);
  });

  it('changes the selected users together', async () => {
    await at.open('/users');
    await page.getByLabel('Select abel').check();
    await page.getByLabel('Select cleo').check();
    await page.getByText('2 selected').waitFor();
    await page.getByRole('button', { name: 'Set group' }).click();
    const group = page.getByRole('dialog', { name: 'Set group' });
    await group.getByLabel('Group').fill('night shift');
    await group.getByRole('button', { name: 'Set group' }).click();
    await group.getByLabel('Group').fill('night');
    await group.getByRole('button', { name: 'Set group' }).click();
    await page.getByText('2 users were changed.').waitFor();
    const { total } = await boss.data('GET', '/api/user/?group=night');
    assert.equal(total, 2);
    await page.getByLabel('Select abel').check();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('dialog', { name: 'Disable 1 user?' }).getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('row', { name: /abel/ }).getByText('disabled').waitFor();
  });

  it('is saved as it is filtered and sorted', async () => {
    await at.open('/users?sort=-username&q=e');
    await becomes(names, ['cleo', 'bert', 'abel']);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const file = await saving;
    assert.match(file.suggestedFilename(), /^users-\d{4}-\d\d-\d\d\.csv$/);
    const [, ...lines] = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
    assert.deepEqual(
      lines.map((line) => line.split(',')[1]),
      ['cleo', 'bert', 'abel'],
    );
  });
});
