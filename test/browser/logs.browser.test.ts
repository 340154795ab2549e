/** Logs in a browser: what is shown is what `/api` says, filters live in the address, nothing moves by itself, and each line opens. */
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
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, signedIn } from '../kit/console/console.ts';
import { startWorld, type World } from '../kit/console/world.ts';
import { startGateway } from '../kit/gateway/gateway.ts';
import { fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { hold, wholeAnswer } from '../kit/vendors/script.ts';

describe('the page Logs', () => {
  let world: World;
  let browser: Browser;
  let key: string;
  /** Everybody keeps their browser, and what it has in its cache. */
  const lookers = new Map<string, Onlooker>();
  before(async () => {
    const env = await builtConsole();
    [world, browser] = await Promise.all([startWorld('normal', { port: await freePort(), env }), startBrowser()]);
    key = (await world.people.ann.data('POST', '/api/token/', { name: 'of the test', unlimited_quota: true })).key;
  });
  after(async () => {
    await browser?.close();
    await world?.stop();
  });

  async function as(
    name: 'root' | 'ann',
    path: string,
    look: (page: Page, at: Onlooker) => Promise<void>,
  ): Promise<void> {
    const at = lookers.get(name) ?? (await onlooker(browser, world.gateway, world.people[name]));
    lookers.set(name, at);
    await at.open(path);
    await look(at.page, at);
    assertClean(`${name} at ${path}`, at.problems);
  }
  const addressOf = (page: Page): URLSearchParams => new URL(page.url()).searchParams;
  const linesOf = (page: Page) => page.getByRole('region', { name: 'Calls and events', exact: true });
  const rowsOf = (page: Page) => linesOf(page).locator('tbody tr');
  /** What stands in the second column, each once. */
  const secondOf = async (page: Page): Promise<readonly string[]> => [
    ...new Set(await rowsOf(page).locator('td:nth-child(2)').allInnerTexts()),
  ];
  const drawerOf = (page: Page) => page.getByRole('dialog');

  async function call(model = 'demo'): Promise<string> {
    const answer = await fetch(`${world.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 }),
    });
    await answer.text();
    return answer.headers.get('x-request-id') ?? '';
  }

  it('filters by what the address says, shows chips, and says why it is empty', async () => {
    await as('ann', '/logs?model=gpt-5&kind=use&range=30d', async (page) => {
      const { total } = await world.people.ann.data('GET', '/api/log/self?model_name=gpt-5&type=2');
      await page.getByText(`${total} entries`).waitFor();
      await page.getByRole('button', { name: 'Remove the filter Kind: Calls' }).click();
      await becomes(() => addressOf(page).get('kind'), null);
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.getByRole('combobox', { name: 'Model' }).fill('no-such-model');
      await page.getByRole('button', { name: 'Apply' }).click();
      await page.getByRole('heading', { name: 'No matching entries' }).waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await rowsOf(page).first().waitFor();
      await becomes(() => addressOf(page).get('model'), null);
    });
  });

  it('shows administrators everybody, by whatever other pages send', async () => {
    const { root } = world.people;
    const { items } = await root.data('GET', '/api/user/search?keyword=emil');
    for (const asked of ['whose=all&username=emil', `whose=all&user_id=${items[0].id}`]) {
      await as('root', `/logs?${asked}&range=30d`, async (page) => {
        await page.getByRole('button', { name: 'Remove the filter User: emil' }).waitFor();
        await page.getByText('The balance of the account is too low for this call.').first().waitFor();
        await becomes(() => secondOf(page), ['emil']);
      });
    }
    const { items: groups } = await world.people.ann.data('GET', '/api/usage/self/sums?group_by=key');
    const laptop = groups.find(({ name }: { name: string }) => name === 'laptop');
    await as('ann', `/logs?token_id=${laptop.group}`, async (page) => {
      await page.getByRole('button', { name: 'Remove the filter Key: laptop' }).waitFor();
    });
  });

  it('opens a call from its address alone, and goes on with the arrow keys', async () => {
    const detail = await world.people.ann.data('GET', `/api/log/self/detail/${world.aCall}`);
    await as('ann', `/logs?range=last-month&open=${world.aCall}`, async (page, at) => {
      const drawer = drawerOf(page);
      await drawer.getByText(new RegExp(`^${detail.model_name} answered in`)).waitFor();
      await drawer.getByText(world.aCall).first().waitFor();
      assert.deepEqual(await at.violations(), []);
    });
    // On a phone every name leaves room for its value.
    await as('ann', `/logs?open=${world.aCall}`, async (page, at) => {
      await at.look({ width: 360 });
      const values = drawerOf(page).locator('dd');
      await values.first().waitFor();
      const widths = (): Promise<readonly number[]> =>
        values.evaluateAll((all) => all.map((value) => value.getBoundingClientRect().width));
      await becomes(async () => (await widths()).every((width) => width > 80), true);
      await at.look({ width: 1_440 });
    });
    // Administrators open anybody's.
    await as('root', `/logs?open=${world.aCall}`, async (page) => {
      await drawerOf(page).getByText('Balance of ann').waitFor();
    });
    await as('ann', '/logs?kind=use', async (page) => {
      await rowsOf(page).nth(1).getByRole('link').first().click();
      const second = addressOf(page).get('open');
      await page.keyboard.press('ArrowLeft');
      await page.waitForURL((url) => url.searchParams.get('open') !== second);
      await page.keyboard.press('ArrowRight');
      await page.waitForURL((url) => url.searchParams.get('open') === second);
      await page.keyboard.press('Escape');
      await drawerOf(page).waitFor({ state: 'detached' });
      assert.equal(addressOf(page).get('open'), null);
    });
    await as('ann', '/logs?open=nothing-like-that', async (page) => {
      await drawerOf(page).getByText('Entry not found').waitFor();
    });
  });

  it('explains what a translation lost, and what was refused; events have a drawer, too', async () => {
    const { items } = await world.people.ann.data('GET', '/api/log/self?type=2&page_size=100');
    const details = await Promise.all(
      items.map(({ request_id }: { request_id: string }) =>
        world.people.ann.data('GET', `/api/log/self/detail/${request_id}`),
      ),
    );
    const lossy = details.find(({ translation }) => translation.includes('top_k:dropped'));
    await as('ann', `/logs?open=${lossy.request_id}`, async (page) => {
      const drawer = drawerOf(page);
      await drawer.getByText('dropped: the vendor’s API does not support it.').waitFor();
      await drawer.getByText('enable strict translation for the key').waitFor();
    });
    const refused = await call('gpt-4');
    await as('ann', `/logs?open=${refused}`, async (page) => {
      const drawer = drawerOf(page);
      await drawer.getByText('GET /v1/models lists the models. Nothing was charged.').waitFor();
      await drawer.getByText('The call was refused, so nothing was charged.').waitFor();
    });
    await as('ann', '/logs?kind=top-up', async (page) => {
      await rowsOf(page).first().getByRole('link').first().click();
      await drawerOf(page).getByText('Redeemed the code "<b>A fair</b>".').waitFor();
      await drawerOf(page).getByText('+$0.50').waitFor();
    });
  });

  it('says that there are new lines, and shows them when asked', async () => {
    await as('ann', '/logs', async (page) => {
      await rowsOf(page).first().waitFor();
      const before = await rowsOf(page).count();
      await call();
      await page.getByRole('button', { name: '1 new' }).waitFor();
      assert.equal(await rowsOf(page).count(), before, 'nothing moves by itself');
      await page.getByRole('button', { name: '1 new' }).click();
      await rowsOf(page).nth(before).waitFor();
      await page.getByRole('button', { name: '1 new' }).waitFor({ state: 'detached' });
    });
  });

  it('tells how long calls take, and saves what is shown as a file', async () => {
    await as('ann', '/logs?kind=use&range=30d', async (page) => {
      await page.getByRole('button', { name: 'Show the latency distribution' }).click();
      const { served, duration } = await world.people.ann.data('GET', '/api/log/self/latency?type=2');
      await page.getByText(`the newest ${served} served`).waitFor();
      await page.getByText('Show as a table').first().click();
      const counts = page.getByRole('table', { name: 'Whole answer' }).locator('tbody td:nth-child(2)');
      await becomes(
        async () => (await counts.allInnerTexts()).map(Number),
        duration.histogram.map(({ count }: { count: number }) => count),
      );
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download CSV' }).click(),
      ]);
      const lines = (await readFile(await file.path(), 'utf8')).trim().split('\n');
      const { total } = await world.people.ann.data('GET', '/api/log/self?type=2');
      // Behind the lines stand their total and what the file is of.
      assert.equal(lines.filter((line) => /^\d{4}-/.test(line)).length, total);
    });
  });

  it('filters by how calls ended, in the address, the pages and the file', async () => {
    const { ann } = world.people;
    await as('ann', '/logs?range=30d&kind=use', async (page) => {
      await page.getByRole('combobox', { name: 'State' }).selectOption({ label: 'Refused' });
      await page.getByRole('button', { name: 'Remove the filter State: Refused' }).waitFor();
      await becomes(() => [addressOf(page).get('outcome'), addressOf(page).get('kind')], ['refused', null]);
      const { total } = await ann.data('GET', '/api/log/self?outcome=refused');
      assert.ok(total > 0 && total < 50, `${total}`);
      await page.getByText(total === 1 ? '1 entry' : `${total} entries`).waitFor();
      await becomes(() => rowsOf(page).count(), total);
      await becomes(() => secondOf(page), ['Refused']);
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Download CSV' }).click(),
      ]);
      const text = await readFile(await file.path(), 'utf8');
      assert.equal(text.match(/,Refused with status \d+\./g)?.length, total);
      assert.match(text, /^filter outcome,refused,/m);
    });
    await as('ann', '/logs?range=30d&outcome=served', async (page) => {
      const { total } = await ann.data('GET', '/api/log/self?outcome=served');
      await page.getByText(`${total} entries`).waitFor();
      await page.getByRole('button', { name: 'Older' }).click();
      await page.waitForURL((url) => url.searchParams.get('before') !== null);
      assert.equal(addressOf(page).get('outcome'), 'served');
      await page.getByText(`${total - 50} entries`).waitFor();
      await becomes(() => secondOf(page), ['Served']);
    });
  });

  it('shows as one line what was refused again and again, and how often', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) ids.push(await call('never-heard-of'));
    const { items } = await world.people.ann.data('GET', '/api/log/self?model_name=never-heard-of');
    const times: readonly number[] = items.map((line: { readonly times: number }) => line.times);
    assert.equal(
      times.reduce((sum, each) => sum + each, 0),
      6,
    );
    assert.ok(times.length <= 2, 'a minute may have ended in between');
    await as('ann', '/logs?model=never-heard-of', async (page) => {
      await rowsOf(page)
        .getByText(`×${Math.max(...times)}`)
        .first()
        .waitFor();
      await rowsOf(page).first().getByRole('link').first().click();
      if (times[0]! > 1) await drawerOf(page).getByText(`${times[0]} identical requests within one minute`).waitFor();
    });
    // The id of a later one leads to no line, and the page says why.
    const later = ids.find((id) => !items.some((line: { readonly request_id: string }) => line.request_id === id));
    await as('ann', `/logs?request_id=${later}`, async (page) => {
      await page.getByText('are counted in the first entry').waitFor();
    });
  });

  it('asks for the second check before everybody is saved', async () => {
    const at = await onlooker(browser, world.gateway, await signedIn(world.gateway, 'root'));
    await at.open('/logs?whose=all');
    await at.page.getByRole('button', { name: 'Download CSV' }).click();
    await at.page.getByRole('dialog', { name: 'Confirm it’s you' }).waitFor();
    await at.close();
  });
});

describe('the calls that run now', () => {
  it('are counted and shown while they run, and are new lines then', async () => {
    const port = await freePort();
    const vendor = await fakeVendor();
    const gateway = await startGateway({
      vendor,
      config: {
        listen: { host: '127.0.0.1', port },
        pipeline: [...CONSOLE_PIPELINE],
        console: { ...PATIENT, url: `http://localhost:${port}` },
      },
      env: { ...ROOT_ENV, ...(await builtConsole()) },
    });
    const browser = await startBrowser();
    const at = await onlooker(browser, gateway, await signedIn(gateway, 'root'));
    try {
      vendor.next([hold(), ...wholeAnswer()]);
      const running = gateway.chat({ model: 'free-model' }, { key: gateway.key });
      await at.open('/logs?whose=all');
      const { page } = at;
      await page.getByRole('heading', { name: '1 running' }).waitFor();
      const strip = page.getByRole('region', { name: 'Running calls' });
      await strip.getByText('free-model').waitFor();
      await strip.getByText('root', { exact: true }).waitFor();
      await strip.getByText('Waiting for the vendor').waitFor();
      vendor.release('hold');
      await (await running).text();
      await page.getByRole('heading', { name: '0 running' }).waitFor();
      await page.getByText('No calls are running.').waitFor();
      await page.getByRole('button', { name: '1 new' }).click();
      await page.getByRole('region', { name: 'Calls and events' }).getByText('free-model').waitFor();
      assertClean('the strip', [...at.problems, ...(await at.violations())]);
    } finally {
      await at.close();
      await browser.close();
      await gateway.stop();
      await vendor.close();
    }
  });
});
