/** Times in the console: one zone on every page, always named, the viewer's own or UTC. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { assertClean, builtConsole, freePort, onlooker, startBrowser } from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, type Visitor } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';

const ZONE = 'Asia/Tokyo';

let vendor: FakeVendor;
let gateway: TestGateway;
let browser: Browser;
let ann: Visitor;
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
  ann = await member(gateway, 'ann', { units: 5_000_000 });
  const { key } = await ann.data('POST', '/api/token/', { name: 'server' });
  await (await gateway.chat({ max_tokens: 10 }, { key })).text();
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  await vendor?.close();
});

describe('times', () => {
  it('are in one zone on every page, which is named, and in UTC once that is chosen', async () => {
    const at = await onlooker(browser, gateway, ann, { zone: ZONE });
    const { page } = at;
    const [call] = (await ann.data('GET', '/api/log/self?type=2')).items;
    const clockIn = (timeZone: string): string =>
      new Intl.DateTimeFormat('en-US', { timeZone, hour: 'numeric', minute: '2-digit', second: '2-digit' }).format(
        call.created_at * 1_000,
      );
    /** The page of logs and the drawer of the call. */
    const looks = async (zone: string, offset: string): Promise<void> => {
      await at.open('/logs');
      const row = page.getByRole('row').filter({ hasText: 'test-model' });
      await page.getByRole('columnheader', { name: `Time (${zone})` }).waitFor();
      await row.getByText(clockIn(zone)).waitFor();
      await row.getByRole('link').first().click();
      await page
        .getByRole('dialog', { name: 'Call' })
        .getByText(`${clockIn(zone)} ${offset}`)
        .first()
        .waitFor();
      await at.open('/usage?range=today');
      await page.getByText(`Times are ${zone}`).first().waitFor();
      await page.getByText('(UTC day)').first().waitFor();
      await at.open('/keys?open=new');
      await page.getByText('Custom date', { exact: true }).click();
      await page.getByLabel(`(${zone})`).waitFor();
    };
    await looks(ZONE, 'GMT+9');
    await at.open('/');
    await page.getByRole('button', { name: 'Account: ann' }).click();
    await page.getByRole('menuitem', { name: 'UTC' }).click();
    await looks('UTC', 'UTC');
    assertClean('in the browser', at.problems);
    await at.close();
  });

  it('typed in a form are of the zone that stands beside', async () => {
    const at = await onlooker(browser, gateway, ann, { zone: ZONE });
    const { page } = at;
    const make = async (name: string): Promise<void> => {
      await at.open('/keys?open=new');
      await page.getByRole('textbox', { name: 'Name' }).fill(name);
      await page.getByText('Custom date', { exact: true }).click();
      await page.locator('input[type="datetime-local"]').fill('2099-03-01T06:00');
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog', { name: 'Your new key' }).waitFor();
    };
    await make('local');
    await page.evaluate(`localStorage.setItem('turnpike.zone', 'utc')`);
    await make('universal');
    const { items } = await ann.data('GET', '/api/token/');
    const endOf = (name: string): number =>
      items.find((key: { readonly name: string }) => key.name === name).expired_time;
    assert.equal(endOf('local') * 1_000, Date.parse('2099-02-28T21:00:00Z'));
    assert.equal(endOf('universal') * 1_000, Date.parse('2099-03-01T06:00:00Z'));
    await at.close();
  });
});
