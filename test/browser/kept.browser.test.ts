/** What stays with the person who typed or opened it: without a connection, after Cancel, through Back, and when the session ends. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser, Page, Request } from 'playwright-core';
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
  signedIn,
  type Visitor,
} from '../kit/console/console.ts';
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
beforeEach(async () => {
  ann = await member(gateway, `ann-${++people}`, { units: 5_000_000 });
  at = await onlooker(browser, gateway, ann);
  page = at.page;
});
afterEach(async () => {
  await at.close();
});

const dialog = (title: string) => page.getByRole('dialog', { name: title });
/** Requests that would change something, from now on. */
function changes(): readonly Request[] {
  const seen: Request[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') seen.push(request);
  });
  return seen;
}

describe('without a connection', () => {
  it('a form says at once that the gateway does not answer, keeps what was typed, and sends nothing after Cancel', async () => {
    await at.open('/keys');
    await page.getByRole('button', { name: 'New key' }).first().click();
    const form = dialog('New key');
    await form.getByLabel('Name').fill('ghost');
    await page.context().setOffline(true);
    await form.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('The gateway does not answer. Is it running, and are you online?').first().waitFor();
    await becomes(() => form.getByLabel('Name').inputValue(), 'ghost');
    await form.getByRole('button', { name: 'Cancel' }).click();
    await form.waitFor({ state: 'detached' });
    const sent = changes();
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.context().setOffline(false);
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await at.settled();
    assert.deepEqual(sent, []);
    assert.equal((await ann.data('GET', '/api/token/')).total, 0);
  });

  it('an amount of money is not sent later, and a page says that it could not be read', async () => {
    const root = await signedIn(gateway, 'root');
    const looks = await onlooker(browser, gateway, root);
    ({ page } = looks);
    const sent = changes();
    await looks.open(`/users?q=ann-${people}`);
    await page.getByRole('button', { name: `ann-${people}`, exact: true }).click();
    await page.getByRole('button', { name: 'Change balance' }).click();
    const form = dialog(`Quota of ann-${people}`);
    await form.getByRole('textbox', { name: /^Amount/ }).fill('7');
    await page.context().setOffline(true);
    await form.getByRole('button', { name: 'Add', exact: true }).click();
    await form.getByText('The gateway does not answer. Is it running, and are you online?').waitFor();
    await form.getByRole('button', { name: 'Cancel' }).click();
    await form.waitFor({ state: 'detached' });
    const tried = sent.length;
    await page.context().setOffline(false);
    await looks.open('/keys');
    assert.equal(sent.length, tried, 'nothing was sent after Cancel');
    await looks.close();
  });
});

describe('Cancel', () => {
  it('ends a request that the gateway has not answered, and says that it may have been done', async () => {
    let arrived = (): void => {};
    const waits = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    await page.route('**/api/token/', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      arrived();
      // It is never let through.
    });
    await at.open('/keys');
    await page.getByRole('button', { name: 'New key' }).first().click();
    const form = dialog('New key');
    await form.getByLabel('Name').fill('ghost');
    const failed = page.waitForEvent('requestfailed', (request) => request.method() === 'POST');
    await form.getByRole('button', { name: 'Create key' }).click();
    await waits;
    await form.getByRole('button', { name: 'Cancel' }).click();
    assert.match((await failed).failure()?.errorText ?? '', /ABORTED/);
    await page.getByText('Cancelled before the gateway answered. Check whether it was done already.').waitFor();
    await page.unroute('**/api/token/');
    // The same action can be begun again.
    await page.getByRole('button', { name: 'New key' }).first().click();
    await dialog('New key').getByLabel('Name').fill('ghost');
    await dialog('New key').getByRole('button', { name: 'Create key' }).click();
    await dialog('Your new key').waitFor();
    assert.equal((await ann.data('GET', '/api/token/')).total, 1);
    assertClean('in the browser', at.problems);
  });
});

describe('a session that ends while a form is open', () => {
  it('asks for a sign-in and then shows the form with what was typed, also in the dialog above it', async () => {
    await ann.data('POST', '/api/token/', { name: 'server' });
    await at.open('/keys?open=new');
    const form = dialog('New key');
    await form.getByLabel('Name').fill('half typed');
    await form.getByLabel('Addresses').fill('10.1.0.0/16');
    await page.context().clearCookies();
    await form.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    await becomes(() => form.isVisible(), false, 'nothing of the form is shown to a stranger');
    assertClean('the sign-in', await at.violations());
    const sent = changes();
    await page.getByLabel('Name or email address').fill(`ann-${people}`);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await form.waitFor();
    await becomes(() => form.getByLabel('Name').inputValue(), 'half typed');
    await becomes(() => form.getByLabel('Addresses').inputValue(), '10.1.0.0/16');
    assert.deepEqual(
      sent.map((request) => new URL(request.url()).pathname),
      ['/api/user/login'],
      'what was refused is not sent again by itself',
    );
    await form.getByRole('button', { name: 'Create key' }).click();
    await dialog('Your new key').waitFor();
    assertClean('in the browser', at.problems);
  });

  it('shows nothing of it to another person', async () => {
    const bob = `bob-${people}`;
    await member(gateway, bob);
    await at.open('/keys?open=new');
    await dialog('New key').getByLabel('Name').fill('of ann');
    await page.context().clearCookies();
    await dialog('New key').getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('Name or email address').fill(bob);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: `Account: ${bob}` }).waitFor();
    await becomes(() => dialog('New key').getByLabel('Name').inputValue(), '');
  });
});

describe('Back', () => {
  const back = async (): Promise<void> => {
    await page.goBack();
    await at.settled();
  };
  const search = () => new URL(page.url()).search;

  it('closes a drawer, and closing a drawer leaves nothing to go back through', async () => {
    const { id } = await ann.data('POST', '/api/token/', { name: 'server' });
    await at.open('/');
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click();
    await page.getByRole('button', { name: 'server', exact: true }).click();
    await dialog('Edit key').waitFor();
    await becomes(search, `?open=${id}`);
    await back();
    await dialog('Edit key').waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();

    await page.getByRole('button', { name: 'server', exact: true }).click();
    await dialog('Edit key').getByRole('button', { name: 'Cancel' }).click();
    await dialog('Edit key').waitFor({ state: 'detached' });
    await back();
    await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  });

  it('undoes filters and drill-downs one by one, and what was typed in one step', async () => {
    await gateway.chat({ max_tokens: 10 }, { key: (await ann.data('POST', '/api/token/', { name: 'server' })).key });
    await at.open('/usage?range=30d');
    const steps = [search()];
    const step = async (press: () => Promise<void>): Promise<void> => {
      await press();
      await page.waitForURL((url) => url.search !== steps.at(-1));
      steps.push(search());
      await at.settled();
    };
    await step(() => page.getByRole('link', { name: 'test-model', exact: true }).click());
    await step(() => page.getByRole('link', { name: 'server', exact: true }).click());
    await step(() => page.getByRole('radiogroup', { name: 'Range' }).getByText('Today', { exact: true }).click());
    for (const before of steps.slice(0, -1).reverse()) {
      await back();
      await becomes(search, before);
    }

    await at.open('/keys');
    await page.getByRole('searchbox').pressSequentially('serv', { delay: 400 });
    await page.waitForURL(/q=serv$/);
    await back();
    await becomes(() => new URL(page.url()).pathname, '/console/usage');
  });
});
