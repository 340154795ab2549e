/** The first minutes of a new member who presses nothing but the buttons of Home: an account, a key, a first call that the page notices. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { assertClean, becomes, builtConsole, freePort, onlooker, startBrowser } from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

const run = promisify(execFile);

describe('the first way of a new member', () => {
  let gateway: TestGateway;
  let browser: Browser;
  before(async () => {
    const [port, env] = [await freePort(), await builtConsole()];
    gateway = await startGateway({
      config: {
        listen: { host: '127.0.0.1', port },
        pipeline: [...CONSOLE_PIPELINE],
        channels: [{ name: 'demo', vendor: 'demo' }],
        models: { demo: { from: ['demo'], free: true } },
        console: { ...PATIENT, url: `http://localhost:${port}`, registration: 'open' },
      },
      env: { ...ROOT_ENV, ...env },
    });
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  it('leads from the registration by the buttons of Home to a call that answered', async () => {
    const at = await onlooker(browser, gateway, undefined);
    const { page } = at;
    await at.open('/');
    await page.getByRole('link', { name: 'Create account' }).click();
    await page.getByLabel('Name', { exact: true }).fill('newcomer');
    await page.getByLabel('Password', { exact: true }).fill('a staple for horses 7');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();

    const start = page.locator('section', { has: page.getByRole('heading', { name: 'Getting started' }) });
    const posted = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().endsWith('/api/token/'),
    );
    await start.getByRole('button', { name: 'Create key' }).click();
    assert.deepEqual((await posted).postDataJSON(), { name: 'First key' });
    await start.getByText('It is not shown again after you leave this page').waitFor();
    const shown = start.getByRole('region', { name: 'Make the first call' });
    await becomes(() => shown.innerText(), /sk-[0-9A-Za-z]{20,}/);
    const command = await shown.innerText();
    const { stdout } = await run('sh', ['-c', command]);
    assert.match(stdout, /"content"/);
    await page.getByText('The first call has arrived').waitFor();
    await start.waitFor({ state: 'detached' });
    assertClean('in the browser', at.problems);
    await at.close();
  });
});
