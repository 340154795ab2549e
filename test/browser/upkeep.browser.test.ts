/** What keeps a gateway well, in a browser: scheduled backups, the doctor, and newer list prices that are taken over. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type Provider, waitForUpdate } from '@pydantic/genai-prices';
import type { Browser, Page } from 'playwright-core';
import { Audit } from '../../core/contracts/audit.ts';
import { systemClock } from '../../core/runtime/clock.ts';
import {
  assertClean,
  becomes,
  builtConsole,
  freePort,
  type Onlooker,
  onlooker,
  startBrowser,
} from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, signedIn, type Visitor, verify } from '../kit/console/console.ts';
import { looksRight } from '../kit/console/pages.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { onlyOnSqlite } from '../kit/stand-ins/postgres.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';

/** The fake vendor's answer has 11 input and 7 output tokens; 500,000 units are one dollar. */
const costAt = (input: number, output: number): string => String((11 * input + 7 * output) / 2);
const LEAD_MS = 120_000;

let vendor: FakeVendor;
let list: Server;
let gateway: TestGateway;
let browser: Browser;
let boss: Visitor;
/** How far the gateway's clock is ahead. */
let aheadMs = 0;
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };

/** The shipped list with a dearer and a cheaper model, and one that gateway.yaml has a price for. */
async function publishedList(): Promise<string> {
  const providers = structuredClone((await waitForUpdate()) as Provider[]);
  const models = providers.find(({ id }) => id === 'openai')?.models ?? [];
  for (const [name, rates] of [
    ['gpt-4o', { input_mtok: 5 }],
    ['gpt-4o-mini', { input_mtok: 0.1 }],
    ['gpt-4.1', { input_mtok: 3 }],
    ['gpt-4.1-nano', { input_mtok: 0.2 }],
  ] as const)
    Object.assign(models.find(({ id }) => id === name)?.prices ?? assert.fail(name), rates);
  return JSON.stringify(providers);
}

before(async () => {
  const [port, env, text] = [await freePort(), await builtConsole(), await publishedList()];
  vendor = await fakeVendor();
  list = createServer((_, answer) => void answer.end(text)).listen(0, '127.0.0.1');
  await once(list, 'listening');
  gateway = await startGateway({
    clock,
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: [...CONSOLE_PIPELINE],
      console: { ...PATIENT, url: `http://localhost:${port}` },
      backup: { to: './backups', encrypt: 'master-key' },
      prices: { updates: { from: `http://127.0.0.1:${(list.address() as AddressInfo).port}/list.json` } },
      channels: [{ name: 'list', vendor: 'openai', url: vendor.url, key: VENDOR_KEY }],
      models: {
        'gpt-4o': { from: ['list'] },
        'gpt-4o-mini': { from: ['list'] },
        own: { from: [{ list: 'gpt-4.1' }], price: { input: 1 } },
      },
    },
    env: { ...ROOT_ENV, ...env },
  });
  boss = await verify(await signedIn(gateway, 'root'));
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  list?.close();
  await vendor?.close();
});

let at: Onlooker;
let page: Page;
beforeEach(async () => {
  at = await onlooker(browser, gateway, boss);
  page = at.page;
});
afterEach(async () => {
  assertClean('in the browser', at.problems);
  await at.close();
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const see = (text: string | RegExp) => page.getByText(text).first().waitFor();
const costOf = async (model: string): Promise<string | null> => {
  const answer = await gateway.chat({ model });
  assert.equal(answer.status, 200, await answer.text());
  return answer.headers.get('x-turnpike-cost');
};

describe('scheduled backups', onlyOnSqlite('a server has dumps'), () => {
  const runs = () => page.getByRole('table', { name: 'Latest scheduled backups' }).getByRole('row');

  it('are made now, and shown with what their proof found', async () => {
    await at.open('/system');
    await see('Every');
    const before = (await boss.data('GET', '/api/system')).backups.proven?.at ?? 0;
    // The first one is made by the schedule.
    await button('Back up now').click();
    await see('The backup was started. Its result appears here.');
    await becomes(async () => {
      const { running, proven } = (await boss.data('GET', '/api/system')).backups;
      return !running && proven !== null && proven.at >= before;
    }, true);
    await becomes(() => runs().nth(1).innerText(), /Proven[\s\S]*restored, 0 migrations, \d+ invariants hold/);
    await see('It was restored into a scratch database, migrated, and all its invariants hold.');
    assert.ok(readdirSync(join(gateway.dir, 'backups')).some((name) => name.endsWith('.db.enc')));
    const [entry] = await gateway.host.use(Audit).page({ limit: 1, action: 'backup.start' });
    assert.equal(entry?.actor.name, 'root');
    await looksRight(at, 'system-backups');
  });

  it('that fail say why, and what to do', async () => {
    const folder = join(gateway.dir, 'backups');
    rmSync(folder, { recursive: true });
    writeFileSync(folder, '');
    aheadMs += 1_000;
    await at.open('/system');
    await button('Back up now').click();
    const failed = page.getByRole('alert').filter({ hasText: 'The last scheduled backup failed' });
    await failed.getByText(/EEXIST/).waitFor();
    await failed.getByText(/Nothing was stored/).waitFor();
    await becomes(() => runs().nth(1).innerText(), /Failed[\s\S]*EEXIST/);
    await see('This one can be restored. All later ones failed.');
    await looksRight(at, 'system-backup-failed');
    rmSync(folder);
    mkdirSync(folder);
  });

  it('are started by root alone, with a second factor, and only if they are configured', async () => {
    const ada = await member(gateway, 'ada', { role: 'admin' });
    assert.equal((await ada.post('/api/system/backup', {})).status, 403);
    const other = await startGateway({
      vendor,
      config: { pipeline: CONSOLE_PIPELINE, console: PATIENT },
      env: ROOT_ENV,
    });
    try {
      const root = await signedIn(other, 'root');
      assert.equal((await root.post('/api/system/backup', {})).body.code, 'verification_required');
      await verify(root);
      const refused = await root.post('/api/system/backup', {});
      assert.deepEqual([refused.status, refused.body.code], [409, 'no_backups_configured']);
    } finally {
      await other.stop();
    }
  });
});

describe('the doctor', onlyOnSqlite('it has files'), () => {
  it('shows what the command finds, problems first, and no secret', async () => {
    await at.open('/system');
    await see('Nothing was checked since this page was opened.');
    await button('Run checks').click();
    const table = page.getByRole('table', { name: 'Doctor' });
    await table.getByText('configuration', { exact: true }).first().waitFor();
    await table.getByText('channel list').waitFor();
    await see(/^\d+ problems, \d+ warnings, \d+ checks passed$/);
    const found: readonly { level: string; topic: string; text: string }[] = await boss.data(
      'GET',
      '/api/system/doctor',
    );
    for (const topic of ['versions', 'gateway', 'disk', 'proxy', 'backups', 'prices'])
      assert.ok(
        found.some((each) => each.topic === topic),
        topic,
      );
    assert.ok(!JSON.stringify(found).includes(VENDOR_KEY));
    const levels = (await table.getByRole('row').allInnerTexts()).slice(1).map((row) => row.split(/\s/)[0]);
    const rank = levels.map((level) => ['Problem', 'Note', 'Good'].indexOf(level ?? ''));
    assert.deepEqual(rank, rank.toSorted());
    await looksRight(at, 'system-doctor');
  });

  it('is for root', async () => {
    const ada = await member(gateway, 'adele', { role: 'admin' });
    assert.equal((await ada.get('/api/system/doctor')).status, 403);
  });
});

describe('newer list prices', () => {
  it('are compared, chosen and taken over: the next calls cost the new price', async () => {
    assert.equal(await costOf('gpt-4o'), costAt(2.5, 10));
    await at.open('/prices?tab=updates');
    await see('Not compared since this page was opened.');
    await see('No published prices were taken over');
    await button('Compare').click();
    const changes = page.getByRole('table', { name: 'Changed prices' });
    const row = (name: string) => changes.getByRole('row').filter({ hasText: name });
    await becomes(() => row('openai gpt-4o-mini').innerText(), /Input\s+\$0\.15\s+\$0\.10\s+-33\.3%\s+Decrease/);
    await becomes(() => row('charged for gpt-4o').first().innerText(), /\$2\.50\s+\$5\.00\s+\+100%\s+Increase/);
    await becomes(
      () => row('own: price set').innerText(),
      /openai gpt-4\.1\s+own: price set in gateway\.yaml, which stays/,
    );
    assert.equal(await row('openai gpt-4.1-nano').count(), 0);
    await looksRight(at, 'prices-updates');
    await page.getByRole('switch', { name: 'Show also 1 model that is not configured' }).check();
    await row('openai gpt-4.1-nano').waitFor();

    await page.getByRole('checkbox', { name: 'Select openai gpt-4o', exact: true }).check();
    await button('Take over 1 change').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take over' }).click();
    await see(/1 price was taken over, valid from/);
    // What was taken over is no longer a change; what was not still is.
    await row('openai gpt-4o-mini').waitFor();
    await becomes(() => row('charged for gpt-4o').count(), 1);
    const history = page.getByRole('table', { name: 'History' });
    await becomes(() => history.getByRole('row').nth(1).innerText(), /root\s[\s\S]*openai gpt-4o/);

    assert.equal(await costOf('gpt-4o'), costAt(2.5, 10), 'not at once');
    aheadMs += LEAD_MS;
    assert.equal(await costOf('gpt-4o'), costAt(5, 10));
    assert.equal(await costOf('gpt-4o-mini'), costAt(0.15, 0.6));
    await looksRight(at, 'prices-taken');
  });

  it('are compared by administrators, and taken over by root', async () => {
    const ada = await member(gateway, 'agnes', { role: 'admin' });
    const { digest, changes } = await ada.data('GET', '/api/price/update');
    assert.ok(changes.length > 0);
    assert.equal((await ada.post('/api/price/update', { digest })).status, 403);
    const { rule, updates } = await ada.data('GET', '/api/price/update/history');
    assert.deepEqual(rule, { every: null, apply: 'none', max_change: 300 });
    assert.deepEqual(
      updates.map(({ taken_by: by, models }: { taken_by: string; models: string[] }) => [by, models]),
      [['root', ['openai gpt-4o']]],
    );
  });
});
