/** Usage and Team in a browser: what is shown is what `/api` says, everything leads on, and charts speak to the keyboard. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { Records } from '../../core/contracts/records.ts';
import {
  assertClean,
  becomes,
  builtConsole,
  eventually,
  freePort,
  type Onlooker,
  onlooker,
  startBrowser,
} from '../kit/console/browser.ts';
import { startWorld, type World } from '../kit/console/world.ts';
import { usageRecord } from '../kit/gateway/usage-records.ts';

describe('usage and team', () => {
  let world: World;
  let browser: Browser;
  before(async () => {
    const env = await builtConsole();
    [world, browser] = await Promise.all([startWorld('normal', { port: await freePort(), env }), startBrowser()]);
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
    const at = await onlooker(browser, world.gateway, world.people[name]);
    try {
      await at.open(path);
      await look(at.page, at);
      assertClean(`${name} at ${path}`, at.problems);
    } finally {
      await at.close();
    }
  }
  const addressOf = (page: Page): URLSearchParams => new URL(page.url()).searchParams;
  /** The cells of the row of that name. */
  const rowOf = async (page: Page, table: string, name: string): Promise<readonly string[]> =>
    page
      .getByRole('region', { name: table, exact: true })
      .getByRole('row')
      .filter({ hasText: name })
      .getByRole('cell')
      .allInnerTexts();
  // As the console writes it: of less than a dollar three digits that say something, whatever the made-up world came to.
  const dollars = (units: number): string =>
    (units / 500_000).toLocaleString('en-US', {
      style: 'currency',
      currency: 'USD',
      minimumFractionDigits: 2,
      ...(units < 500_000 && units !== 0 ? { minimumSignificantDigits: 2, maximumSignificantDigits: 3 } : {}),
    });

  it('shows what one calls came to, by model', async () => {
    const { start_timestamp, total, items } = await world.people.ann.data(
      'GET',
      `/api/usage/self/sums?group_by=model&start_timestamp=${daysAgo(29)}`,
    );
    assert.ok(start_timestamp > 0 && items.length > 2);
    await as('ann', '/usage?range=30d', async (page) => {
      await page.getByText(dollars(total.quota), { exact: true }).first().waitFor();
      for (const { name, requests, errors } of items.filter(({ name }: { name: string }) => name !== '')) {
        await eventually(async () => {
          const cells = await rowOf(page, 'Models', name);
          assert.ok(cells.includes(`${requests + errors}`), `${name}: ${cells.join(' | ')}`);
        });
      }
      // Whose channels or people they are is nothing a member tells apart.
      await becomes(
        () => page.getByRole('combobox', { name: 'By' }).locator('option').allInnerTexts(),
        ['Model', 'Key', 'Tag'],
      );
      assert.equal(await page.getByText('All users').count(), 0);
    });
  });

  it('is read along by the keyboard, and as a table', async () => {
    const { items } = await world.people.ann.data(
      'GET',
      `/api/usage/self/trend?group_by=none&granularity=day&start_timestamp=${daysAgo(29)}`,
    );
    await as('ann', '/usage?range=30d', async (page) => {
      const reader = page.getByRole('slider', { name: /^Cost by day and model/ });
      await reader.focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Home');
      await becomes(() => reader.getAttribute('aria-valuenow'), '0');
      await page.keyboard.press('ArrowRight');
      await becomes(() => reader.getAttribute('aria-valuenow'), '1');
      await becomes(() => reader.getAttribute('aria-valuetext'), /^\w+, \w+ \d+, /);
      await becomes(() => page.locator('.chart-tip').innerText(), /^\w+, \w+ \d+\n/);
      await page.getByText('Show as a table').click();
      const table = page.getByRole('region', { name: 'Cost by day and model' }).getByRole('row');
      await becomes(() => table.count(), 31, 'a head and 30 days');
      const last = items.at(-1);
      const day = new Date(last.timestamp * 1_000).toLocaleDateString('en-US', {
        timeZone: 'UTC',
        month: 'short',
        day: 'numeric',
      });
      await table.filter({ hasText: day }).first().waitFor();
    });
  });

  it('leads from a model to its keys, to the log, to a day, and back', async () => {
    await as('ann', '/usage?range=30d', async (page, at) => {
      await page.getByRole('link', { name: 'gpt-5', exact: true }).click();
      await page.getByRole('heading', { name: 'Cost by day and key' }).waitFor();
      await becomes(() => [addressOf(page).get('model'), addressOf(page).get('group')], ['gpt-5', 'key']);
      await eventually(async () => {
        const href = await page.getByRole('link', { name: 'Logs of laptop' }).getAttribute('href');
        const { pathname, searchParams } = new URL(href ?? '', page.url());
        assert.match(pathname, /\/logs$/);
        assert.equal(searchParams.get('model'), 'gpt-5');
        assert.ok(Number(searchParams.get('token_id')) > 0 && Number(searchParams.get('start')) > 0);
      });

      await page.getByRole('slider', { name: /^Cost by day and key/ }).focus();
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Cost by hour and key' }).waitFor();
      await at.settled();
      await eventually(async () => {
        const day = addressOf(page).get('start');
        assert.equal(addressOf(page).get('end'), day);
        assert.equal(await page.getByLabel('First day').inputValue(), day);
      });

      await page.getByRole('button', { name: 'Remove the filter Model: gpt-5' }).click();
      await page.getByRole('heading', { name: 'Cost by hour and model' }).waitFor();
      await becomes(() => addressOf(page).get('model'), null);
    });
  });

  it('finds nothing under filters that nothing matches, and says what to do', async () => {
    await as('ann', '/usage?range=30d&model=nobody-has-it', async (page) => {
      await page.getByText('No matching calls').waitFor();
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.getByRole('link', { name: 'gpt-5', exact: true }).waitFor();
    });
  });

  it('shows administrators everybody, by person, and as a file', async () => {
    await as('root', '/usage?range=30d', async (page) => {
      await page.getByText('All users', { exact: true }).click();
      await page.getByRole('combobox', { name: 'By' }).selectOption('account');
      await page.getByRole('link', { name: 'fatma', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Download CSV' }).click();
      const saving = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: 'Table: by user' }).click();
      const lines = (await readFile(await (await saving).path(), 'utf8')).trim().split('\r\n');
      assert.match(lines[0] ?? '', /^group,name,calls,errors,quota/);
      // A head and a line for each row of the page; after them the total, the period and the unit.
      await becomes(
        () => page.getByRole('region', { name: 'Users' }).getByRole('row').count(),
        lines.findIndex((line) => line.startsWith('total,')),
      );
      assert.ok(lines.some((line) => line.startsWith('unit,quota: ')));

      // Of one channel alone.
      await page.getByRole('combobox', { name: 'By' }).selectOption('channel');
      await page.getByRole('link', { name: 'openai-us', exact: true }).click();
      await page.getByRole('button', { name: 'Remove the filter Channel: openai-us' }).waitFor();
      const total = await world.people.root.data(
        'GET',
        `/api/usage/sums?group_by=none&channel=openai-us&start_timestamp=${daysAgo(29)}`,
      );
      await page.getByText(dollars(total.total.quota), { exact: true }).first().waitFor();
    });
  });

  it('says how long budgets last, and shows one going down', async () => {
    const { departments } = await world.people.root.data('GET', '/api/team/forecast');
    await as('root', '/team?tab=forecast', async (page) => {
      await eventually(async () => {
        const cells = await rowOf(page, 'This month by department', 'Engineering / Platform');
        assert.ok(cells.includes('within budget'), cells.join(' | '));
      });
      assert.ok(departments.length === 4);
      await page.getByRole('button', { name: 'Engineering / Platform' }).click();
      await page.getByRole('heading', { name: 'Budget forecast: Engineering / Platform' }).waitFor();
      const reader = page.getByRole('slider', { name: /^Budget forecast/ });
      await reader.focus();
      await page.keyboard.press('End');
      await becomes(() => reader.getAttribute('aria-valuetext'), /Forecast \$/);
      await becomes(() => addressOf(page).get('of'), /^\d+ month$/);
    });
  });

  it('shows spending by tag, and leads from a tag to its models and from a call to its tags', async () => {
    const { host } = world.gateway;
    const { id: accountId } = await world.people.ann.data('GET', '/api/user/self');
    const atMs = host.clock.now();
    const record = usageRecord({
      atMs,
      accountId,
      model: 'gpt-5',
      other: { tags: ['team=search'] },
    });
    assert.equal(await host.store.atomic(host.use(Records).steps(record)), undefined);
    await as('root', '/usage?whose=all', async (page, at) => {
      await page.getByRole('combobox', { name: 'By' }).selectOption('tag');
      const tag = page.getByRole('link', { name: 'team=search' });
      await tag.waitFor();
      assertClean('tags', await at.violations());
      await tag.click();
      await page.getByRole('button', { name: 'Remove the filter Tag: team=search' }).waitFor();
      await becomes(async () => (await rowOf(page, 'Models', 'gpt-5')).some((cell) => cell.trim() === '1'), true);
    });
    await as('ann', `/logs?open=${record.id}`, async (page) => {
      await page.getByRole('link', { name: 'team=search' }).click();
      await page.getByRole('button', { name: 'Remove the filter Tag: team=search' }).waitFor();
    });
  });

  it('leads from the team to a person and to a model', async () => {
    await as('root', '/team', async (page) => {
      await page.getByRole('tab', { name: 'Members' }).click();
      await page.getByRole('button', { name: 'Ann Ahrens' }).click();
      await page.getByRole('button', { name: 'Remove the filter User: ann' }).waitFor();
      await page.goBack();
      await page.getByRole('tab', { name: 'Models' }).click();
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Download CSV: Models' }).click();
      assert.match((await saving).suggestedFilename(), /^team-models-.*\.csv$/);
      await page.getByRole('button', { name: 'claude-sonnet-5' }).click();
      await page.getByRole('button', { name: 'Remove the filter Model: claude-sonnet-5' }).waitFor();
      await becomes(() => addressOf(page).get('whose'), 'all');
    });
  });
});

/** The first second of the UTC day so many days ago. */
function daysAgo(days: number): number {
  return (Math.floor(Date.now() / 86_400_000) - days) * 86_400;
}
