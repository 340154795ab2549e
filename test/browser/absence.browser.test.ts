/** Parts of the console that do not come, what stands before the gateway, a gateway that takes its time, somebody else who comes, and an address where nobody can sign in. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { builtConsole, freePort, onlooker, startBrowser } from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, signedIn, type Visitor } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

const AWAY = /\/assets\/|\/api\/status$/;
const PARTS = /\/assets\/(page|palette)-.*\.(js|css)$/;

async function start(url: (port: number) => string): Promise<TestGateway> {
  const port = await freePort();
  return startGateway({
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: [...CONSOLE_PIPELINE],
      console: { ...PATIENT, url: url(port) },
    },
    env: { ...ROOT_ENV, ...(await builtConsole()) },
  });
}

let gateway: TestGateway;
let browser: Browser;
let root: Visitor;
let ann: Visitor;
before(async () => {
  gateway = await start((port) => `http://localhost:${port}`);
  root = await signedIn(gateway, 'root');
  ann = await signedIn(gateway, 'ann');
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
});

describe('the console, where something does not come', () => {
  it('says so of a page, and loads anew by itself as soon as the gateway answers', async () => {
    const { page, open, close } = await onlooker(browser, gateway, root);
    await open('/keys');
    await page.route(AWAY, (route) => route.abort());
    await page.getByRole('link', { name: 'System', exact: true }).click();
    await page.getByRole('alert').getByText('This page could not be loaded').waitFor();
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await page.getByRole('link', { name: 'System', exact: true }).click();
    await page.getByRole('alert').getByText('This page could not be loaded').waitFor();
    await page.unroute(AWAY);
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    await close();
  });

  it('does not load anew for ever where a part is gone', async () => {
    const { page, open, close } = await onlooker(browser, gateway, root);
    await open('/keys');
    await page.route(PARTS, (route) => route.abort());
    let loaded = 0;
    page.on('load', () => loaded++);
    const again = page.waitForEvent('load');
    await page.getByRole('link', { name: 'System', exact: true }).click();
    await again;
    const reload = page.getByRole('button', { name: 'Reload' });
    await reload.waitFor();
    await page.clock.install();
    await page.clock.runFor(20_000);
    assert.equal(loaded, 1, 'it was loaded once');
    await page.unroute(PARTS);
    await reload.click();
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    await close();
  });

  it('loses the search alone where that does not come', async () => {
    const { page, open, close } = await onlooker(browser, gateway, root);
    await open('/keys');
    // Before the page is there, nothing hears the keyboard.
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await page.route(PARTS, (route) => route.abort());
    await page.keyboard.press('Control+K');
    await page.getByText('The search could not be loaded').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await close();
  });

  it('says so of the sign-in', async () => {
    const { page, open, close } = await onlooker(browser, gateway, undefined);
    await page.route(PARTS, (route) => route.abort());
    await open('/keys');
    await page.getByText('This page could not be loaded').waitFor();
    await close();
  });
});

describe('something before the gateway', () => {
  it('that answers in its place is told of, and leaves no empty page', async () => {
    const { page, open, close } = await onlooker(browser, gateway, root);
    await page.route('**/api/**', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<h1>Sign in here</h1>' }),
    );
    await open('/keys');
    await page.getByText('you may have to sign in to the proxy').waitFor();
    await page.unroute('**/api/**');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await close();
  });

  it('that answers nonsense breaks the page, and says so', async () => {
    const { page, open, close } = await onlooker(browser, gateway, root);
    await page.route('**/api/user/self', (route) => route.fulfill({ json: { success: true, data: {} } }));
    await open('/keys');
    await page.getByText('This page crashed').waitFor();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    await close();
  });
});

describe('a gateway that takes its time', () => {
  it('is asked once, however often somebody presses', async () => {
    const { page, open, close } = await onlooker(browser, gateway, root);
    let asked = 0;
    let goOn = (): void => {};
    const waits = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route('**/api/token/', async (route) => {
      if (route.request().method() === 'POST') asked++;
      if (route.request().method() === 'POST') await waits;
      await route.continue();
    });
    await open('/connect');
    await page.getByRole('button', { name: 'Create key' }).focus();
    for (let i = 0; i < 5; i++) await page.keyboard.press('Enter');
    goOn();
    await page.getByText('Key created.').waitFor();
    assert.equal(asked, 1);
    await close();
  });
});

describe('a tab where somebody else has signed in meanwhile', () => {
  it('shows nothing of whoever was there', async () => {
    const { page, open, settled, close } = await onlooker(browser, gateway, root);
    await open('/users');
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    const url = `http://localhost:${gateway.port}`;
    await page.context().clearCookies();
    await page.context().addCookies([...ann.cookies].map(([name, value]) => ({ name, value, url })));
    await page.clock.install();
    await page.clock.fastForward(60_000);
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`);
    await page.getByRole('button', { name: 'Account: ann' }).waitFor();
    await settled();
    await page.getByText('Page not found').waitFor();
    assert.equal(await page.getByText('root', { exact: true }).count(), 0, 'nobody of the list is shown');
    await close();
  });
});

describe('an address without https, where https is wanted', () => {
  it('says where to sign in', async () => {
    const secure = await start(() => 'https://gateway.example/toll');
    after(() => secure.stop());
    const { page, open, close } = await onlooker(browser, secure, undefined);
    await open('/');
    await page.getByText('You cannot sign in at this address').waitFor();
    const link = page.getByRole('link', { name: 'https://gateway.example/toll/console/' }).first();
    assert.equal(await link.getAttribute('href'), 'https://gateway.example/toll/console/');
    await close();
  });
});
