/** Two gateways on one database, in a browser at one of them: the page of the system and the list of running calls show both. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { stringify } from 'yaml';
import { CHAOS_PIPELINE } from '../../scripts/chaos/pipeline.ts';
import { type Cluster, type Member, missingForCluster, openCluster } from '../../scripts/cluster/cluster.ts';
import {
  assertClean,
  becomes,
  builtConsole,
  type Looks,
  type Onlooker,
  onlooker,
  startBrowser,
} from '../kit/console/browser.ts';
import { PATIENT, type Visitor, visitor } from '../kit/console/console.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { hold, wholeAnswer } from '../kit/vendors/script.ts';

const PASSWORD = 'a long password';

const missing = missingForCluster();
describe('two gateways on one database', { skip: missing.length > 0 && missing.join('; ') }, () => {
  let folder: string;
  let vendor: FakeVendor;
  let cluster: Cluster;
  let browser: Browser;
  let root: Visitor;
  let here: Member;
  let there: Member;
  let answer: Promise<Response>;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-two-'));
    vendor = await fakeVendor();
    cluster = await openCluster({
      gateways: 2,
      folder,
      config: stringify({
        /* biome-ignore-start lint/suspicious/noTemplateCurlyInString: the gateway fills them in */
        listen: { host: '${LISTEN_HOST}', port: '${PORT}' },
        store: { driver: 'postgres', url: '${DATABASE_URL}', data: '${TURNPIKE_DATA}' },
        counters: { driver: 'valkey', url: '${VALKEY_URL}' },
        console: { ...PATIENT, url: 'http://localhost:${PORT}' },
        /* biome-ignore-end lint/suspicious/noTemplateCurlyInString: see above */
        pipeline: CHAOS_PIPELINE,
        channels: [{ name: 'main', vendor: 'compatible', url: vendor.url, key: 'vendor-key', speaks: ['chat'] }],
        models: { talker: { from: ['main'], price: { input: 1, output: 2 } } },
      }),
      env: { TURNPIKE_ROOT_PASSWORD: PASSWORD, ...(await builtConsole()) },
    });
    [here, there] = cluster.gateways as [Member, Member];
    await here.start();
    await there.start();
    root = await visitor(here).signIn('root', PASSWORD);
    const key = await here.command('key create --name cli --user root --unlimited');
    browser = await startBrowser();
    vendor.always([hold(), ...wholeAnswer()]);
    answer = fetch(`${there.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'talker', messages: [{ role: 'user', content: 'Hello?' }] }),
    });
    await vendor.waitFor(() => vendor.inFlight === 1);
  });
  after(async () => {
    vendor?.release();
    await (await answer).text();
    await browser?.close();
    await cluster?.stop();
    await vendor?.close();
    rmSync(folder, { recursive: true });
  });

  /** Looks at a page of the first gateway. */
  async function look(path: string, looks: Looks, see: (at: Onlooker) => Promise<void>): Promise<void> {
    const at = await onlooker(browser, here, root, looks);
    try {
      await at.open(path);
      await see(at);
      assert.deepEqual([...(await at.violations()), ...(await at.overflow())], []);
      assertClean('in the browser', at.problems);
    } finally {
      await at.close();
    }
  }

  it('are both in the page of the system, with what runs in either, and the one that does not answer is named', async () => {
    await look('/system', {}, async ({ page, settled }) => {
      const gateways = page.getByRole('table', { name: 'Gateways' });
      const rowOf = ({ port }: Member) => gateways.getByRole('row', { name: new RegExp(`:${port}\\b`) });
      await becomes(() => rowOf(here).innerText(), /this gateway\s+Ready/i);
      await becomes(() => rowOf(there).innerText(), /Ready[\s\S]*1 in 5 min/i);
      await page.getByText('now, in all gateways').waitFor();
      const call = page.getByRole('table', { name: 'Running calls' }).getByRole('row', { name: /talker/ });
      await becomes(() => call.innerText(), new RegExp(`:${there.port}\\b`));

      there.process.signal('SIGSTOP');
      try {
        await page.reload();
        await settled();
        await becomes(() => rowOf(there).innerText(), /Not answering/i);
      } finally {
        there.process.signal('SIGCONT');
      }
    });
  });

  it('are in the list of running calls of the log, and on a phone in Chinese', async () => {
    await look('/logs', {}, async ({ page }) => {
      const call = page.getByRole('table', { name: 'Running calls' }).getByRole('row', { name: /talker/ });
      await becomes(() => call.innerText(), new RegExp(`:${there.port}\\b`));
    });
    await look('/system', { language: 'zh', width: 360, scheme: 'dark' }, async ({ page }) => {
      const rows = page.getByRole('table', { name: '网关' }).getByRole('row');
      await rows.filter({ hasText: '当前网关' }).getByText('就绪').waitFor();
      await becomes(() => rows.count(), 3);
    });
  });
});
