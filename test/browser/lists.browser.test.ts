/** Lists in a browser: headings sort them, selected rows change together, and the address keeps all of it. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
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
import { CONSOLE_PIPELINE, checked, PATIENT, ROOT_ENV, signedIn, type Visitor } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

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

describe('the palette', () => {
  const find = async (typed: string) => {
    await at.open('/');
    await page.keyboard.press('Control+K');
    await page.getByRole('textbox', { name: /^Search pages/ }).fill(typed);
  };
  const option = (name: string | RegExp) => page.getByRole('button', { name });

  it('finds users, keys with their owners, models, and calls by their id', async () => {
    const { id: abel } = await boss.data('GET', '/api/user/search?keyword=abel').then(({ items }) => items[0]);
    await boss.data('POST', '/api/token/', { name: 'nightly build', user_id: abel, unlimited_quota: true });
    await find('ABE');
    await option('abel').click();
    await becomes(() => new URL(page.url()).pathname + new URL(page.url()).search, `/console/users?user=${abel}`);
    await find('nightly');
    assertClean('the palette', await at.violations());
    await option(/nightly build/).click();
    await becomes(() => new URL(page.url()).searchParams.get('user'), `${abel}`);
    await find('dem');
    await option('demo').click();
    await becomes(() => new URL(page.url()).searchParams.get('open'), 'demo');
    const called = await gateway.chat({ model: 'demo', messages: [{ role: 'user', content: 'Hi' }] });
    const id = called.headers.get('x-request-id')!;
    await find(id);
    await option(`Call ${id}`).click();
    await becomes(() => new URL(page.url()).searchParams.get('open'), id);
    await find('wall');
    await option('Wallet').waitFor();
    await find('zzzz');
    await page.getByText('No matches').first().waitFor();
  });

  it('has what is typed before it is loaded, and nothing of what was typed before it was closed', async () => {
    const field = page.getByRole('textbox', { name: /^Search pages/ });
    let load = (): void => {};
    const wanted = new Promise<void>((done) => {
      load = done;
    });
    await page.route(/\/palette-.*\.js/, async (route) => {
      await wanted;
      await route.continue();
    });
    await at.open('/');
    await page.keyboard.press('Control+K');
    await page.keyboard.type('usaxx');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    load();
    await becomes(() => field.inputValue(), 'usa');
    await page.keyboard.type('ge');
    await becomes(() => field.inputValue(), 'usage');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+K');
    await page.keyboard.type('wallet');
    await becomes(() => field.inputValue(), 'wallet');
    await page.unroute(/\/palette-.*\.js/);
  });
});

describe('tables', () => {
  it('keep names in one piece, on a phone and on a wide screen', async () => {
    await signedIn(gateway, 'fatma-oezdemir');
    await gateway.command('key create --name nightly-build-of-the-site --user fatma-oezdemir');
    await gateway.command('user invite fatma.oezdemir@example.com');
    const called = await gateway.chat({ model: 'demo', messages: [{ role: 'user', content: 'Hi' }] });
    assert.equal(called.status, 200);
    /** The words in cells of tables that are on more than one line. */
    const broken = () =>
      page.evaluate(`[...document.querySelectorAll('.table-frame td')].flatMap((cell) => {
        const found = [];
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
          for (const { 0: word, index } of texts.currentNode.data.matchAll(/\\S+/g)) {
            const range = document.createRange();
            range.setStart(texts.currentNode, index);
            range.setEnd(texts.currentNode, index + word.length);
            if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(word);
          }
        }
        return found;
      })`);
    for (const path of ['/users', '/users?tab=invitations', '/logs?scope=all', '/audit']) {
      await at.open(path);
      for (const width of [360, 1_024, 1_440]) {
        await at.look({ width });
        await page.locator('.table-frame td').first().waitFor();
        assert.deepEqual([path, width, await broken()], [path, width, []]);
        assert.deepEqual(await at.overflow(), []);
      }
    }
  });
});

describe('the audit log', () => {
  it('says that a key was disabled, and names no owner among what was changed', async () => {
    const { id: abel } = await boss.data('GET', '/api/user/search?keyword=abel').then(({ items }) => items[0]);
    const { id } = await boss.data('POST', '/api/token/', { name: 'runaway', user_id: abel, unlimited_quota: true });
    await boss.data('PUT', '/api/token/', { id, strict: true });
    await boss.data('PUT', '/api/token/?status_only=1', { id, status: 2 });
    await gateway.command(`key enable ${id}`);
    await at.open('/audit');
    for (const words of [
      'root changed the key runaway (strict)',
      'root disabled the key runaway',
      'The command line enabled the key runaway',
    ]) {
      await page.getByText(words, { exact: true }).first().waitFor();
    }
  });
});
