/** The configuration is changed in the browser: a vendor is added and called, two people save at once, versions return, secrets rotate. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: gateway.yaml has them
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { parse } from 'yaml';
import { startReceiver } from '../kit/clients/receiver.ts';
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
import { allLookRight } from '../kit/console/pages.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../kit/vendors/fake-vendor.ts';
import { errorAnswer, jsonAnswer, wholeAnswer } from '../kit/vendors/script.ts';
import { makeSqlite, NEW_API_VERSIONS } from '../plugins/import/databases.ts';

const NEW_KEY = 'sk-a-new-key-of-a-vendor';
const SECOND_KEY = 'sk-a-second-key-of-a-vendor';
const LISTED = ['deep-1', 'deep-2', 'vendor/deep:3'];

let vendor: FakeVendor;
let gateway: TestGateway;
let browser: Browser;
let port: number;
before(async () => {
  const env = await builtConsole();
  port = await freePort();
  const isKnown = ({ headers }: VendorRequest): boolean =>
    [NEW_KEY, SECOND_KEY].some((key) => headers.authorization === `Bearer ${key}`);
  vendor = await fakeVendor((request) => {
    if (!isKnown(request)) return errorAnswer(401);
    return request.path === '/v1/models'
      ? jsonAnswer(200, { object: 'list', data: LISTED.map((id) => ({ id, object: 'model' })) })
      : wholeAnswer({ deltas: ['Served.'] });
  });
  gateway = await startGateway({
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: [...CONSOLE_PIPELINE, 'groups', 'import'],
      console: { ...PATIENT, url: `http://localhost:${port}` },
      channels: [
        { name: 'first', vendor: 'compatible', url: vendor.url, key: VENDOR_KEY },
        { name: 'turns', vendor: 'compatible', url: vendor.url, key: '${TURNS_KEY}' },
      ],
      models: {
        talker: { from: ['first'], price: { input: 1, output: 2 } },
        turner: { from: ['turns'], free: true },
        quick: { alias: 'talker' },
      },
    },
    env: { ...ROOT_ENV, ...env, TURNS_KEY: NEW_KEY },
  });
  writeFileSync(gateway.configFile, written().replace('models:', '# The public names.\nmodels:'));
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  await vendor?.close();
});

let boss: Visitor;
let at: Onlooker;
let page: Page;
beforeEach(async () => {
  boss = await checked(gateway, await signedIn(gateway, 'root'));
  at = await onlooker(browser, gateway, boss);
  page = at.page;
});
afterEach(async () => {
  assertClean('in the browser', at.problems);
  await at.close();
});

const written = (): string => readFileSync(gateway.configFile, 'utf8');
const button = (name: string, within: Pick<Locator, 'getByRole'> = page): Locator =>
  within.getByRole('button', { name, exact: true });
const dialog = (name: string | RegExp): Locator => page.getByRole('dialog', { name, exact: true });
const section = (name: string): Promise<void> =>
  page.getByRole('radiogroup', { name: 'Section' }).getByText(name, { exact: true }).click();
const see = (text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

/** Changes the price of `talker` in its form; it is not saved yet. */
async function price(of: Page, output: string): Promise<void> {
  await of.getByRole('button', { name: /^talker/ }).click();
  const drawer = of.getByRole('dialog', { name: 'talker' });
  await drawer.getByLabel('Output', { exact: true }).fill(output);
  await button('Apply', drawer).click();
  await drawer.waitFor({ state: 'hidden' });
}

/** Reviews and saves what was changed. */
async function save(of: Page, note: string): Promise<void> {
  await button('Review and save', of).click();
  const drawer = of.getByRole('dialog', { name: 'Review and save' });
  await drawer.getByLabel('Note').fill(note);
  await button('Save and load', drawer).click();
  await drawer.waitFor({ state: 'hidden' });
}

describe('a vendor', () => {
  it('is added, tried, saved and called, and its key is in no text', async () => {
    await at.close();
    // Not verified yet: the first change asks for it.
    at = await onlooker(browser, gateway, await signedIn(gateway, 'root'));
    page = at.page;
    await at.open('/config?add=1');
    const drawer = dialog('Add a vendor');
    await drawer.getByRole('combobox', { name: 'Vendor', exact: true }).click();
    await page.getByRole('option', { name: 'Compatible' }).click();
    await drawer.getByLabel('Channel name').fill('first');
    await button('Connect', drawer).click();
    await see('A channel of this name exists');
    await drawer.getByLabel('Channel name').fill('deep');
    await drawer.getByLabel('Base URL').fill(vendor.url);
    await drawer.getByLabel('API key', { exact: true }).fill('sk-wrong');
    await button('Connect', drawer).click();
    const verifying = dialog(/^Confirm it/);
    await verifying.getByLabel('Password', { exact: true }).fill(ROOT_ENV.TURNPIKE_ROOT_PASSWORD);
    await button('Continue', verifying).click();
    await drawer.getByText('The vendor rejected the key (status 401).').waitFor();
    await drawer.getByLabel('API key', { exact: true }).fill(NEW_KEY);
    await button('Connect', drawer).click();

    await drawer.getByText('3 models of the vendor').waitFor();
    await drawer.getByLabel('deep-1').check();
    await drawer.getByLabel('vendor/deep:3').check();
    await drawer.getByText('One price for all of them').click();
    await drawer.getByLabel('Input', { exact: true }).fill('1.5');
    await drawer.getByLabel('Output', { exact: true }).fill('4');
    await button('Test deep-1', drawer).click();
    await drawer.getByText('The vendor answered.').waitFor();
    assertClean('with the models', await at.violations(drawer));
    await button('Review and save', drawer).click();
    await drawer.getByRole('row', { name: /\+ .*\$\{secret:deep\}/ }).waitFor();
    assert.doesNotMatch(written(), /deep/, 'nothing is saved yet');
    assertClean('with the difference', await at.violations(drawer));
    await button('Save and load', drawer).click();
    await drawer.getByText('deep is serving').waitFor();

    const { channels, models } = parse(written());
    assert.deepEqual(channels.at(-1), { name: 'deep', vendor: 'compatible', url: vendor.url, key: '${secret:deep}' });
    assert.deepEqual(models['vendor/deep:3'], { from: ['deep'], price: { input: 1.5, output: 4 } });
    assert.match(written(), /# The public names\./);
    assert.doesNotMatch(written(), new RegExp(NEW_KEY));
    for (const model of ['deep-1', 'vendor/deep:3']) assert.equal((await gateway.chat({ model })).status, 200);
    assert.equal((await gateway.chat({ model: 'deep-2' })).status, 404);
    await button('Done', drawer).click();
    await drawer.waitFor({ state: 'hidden' });
    await page.getByRole('row', { name: /^deep .*stored secret/ }).waitFor();
  });

  it('that is given up leaves no secret', async () => {
    await at.open('/config?add=1');
    const drawer = dialog('Add a vendor');
    await drawer.getByRole('combobox', { name: 'Vendor', exact: true }).click();
    await page.getByRole('option', { name: 'Compatible' }).click();
    await drawer.getByLabel('Base URL').fill(vendor.url);
    await drawer.getByLabel('API key', { exact: true }).fill('sk-unused');
    await drawer.getByLabel('Channel name').fill('unused');
    await button('Connect', drawer).click();
    await drawer.getByText('The vendor does not answer as expected').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await becomes(async () => {
      const { secrets } = await boss.data('GET', '/api/config');
      return secrets.map(({ name }: { readonly name: string }) => name);
    }, ['deep']);
  });
});

describe('a form', () => {
  it('changes its lines only, collects changes, and shows the errors of the gateway at its fields', async () => {
    const before = written();
    await at.open('/config');
    await page.getByRole('button', { name: 'first', exact: true }).click();
    const channel = dialog('first');
    await channel.getByLabel('Base URL').fill('nonsense');
    await button('Apply', channel).click();
    await channel.getByRole('alert').getByText('channels[0].url').waitFor();
    await channel.getByLabel('Base URL').fill(vendor.url);
    await channel.getByLabel('Headers').fill('x-team: search');
    await button('More settings', channel).click();
    await channel.getByLabel('Scheme').fill('Token');
    await button('Apply', channel).click();
    await channel.waitFor({ state: 'hidden' });
    await section('Models');
    await price(page, '3');
    await section('Aliases');
    await button('Add an alias').click();
    const alias = dialog('Add an alias');
    await alias.getByLabel('Alias', { exact: true }).fill('talker');
    await alias.getByRole('combobox', { name: 'Model', exact: true }).click();
    await page.getByRole('option', { name: 'talker', exact: true }).click();
    await button('Apply', alias).click();
    await alias.getByText('This name is taken.').waitFor();
    await alias.getByLabel('Alias', { exact: true }).fill('slow');
    await button('Apply', alias).click();
    await alias.waitFor({ state: 'hidden' });
    assert.equal(written(), before, 'nothing is saved yet');
    await page.getByRole('tab', { name: 'Edit file' }).click();
    await becomes(
      () => page.getByLabel('Draft of gateway.yaml').inputValue(),
      /x-team: search[\s\S]*output: 3[\s\S]*slow:/,
    );
    await save(page, 'by forms');
    await see(/Saved as version/);
    const after = parse(written());
    assert.deepEqual(
      [after.channels[0].headers, after.channels[0].auth, after.models.talker.price, after.models.slow],
      [{ 'x-team': 'search' }, { scheme: 'Token' }, { input: 1, output: 3 }, { alias: 'talker' }],
    );
    assert.match(written(), new RegExp(VENDOR_KEY), 'a masked secret is kept');
    // Lines that are the same in both, in their order.
    const kept = before.split('\n').filter((line) => !/output: 2$/.test(line));
    const lines = written().split('\n');
    assert.deepEqual(
      kept.filter((line) => !lines.includes(line)),
      [],
    );
  });

  it('gives a channel one more key, which conversations share, and takes it away again', async () => {
    const keysOf = () => {
      const { name, key, keys } = parse(written()).channels[1];
      return { name, key, keys };
    };
    await at.open('/config?item=turns');
    const channel = dialog('turns');
    await channel.getByText('${TURNS_KEY}', { exact: true }).waitFor();
    await channel.getByText('Add one more', { exact: true }).click();
    await channel.getByLabel('New API key', { exact: true }).fill(SECOND_KEY);
    await channel.getByText('It is stored as the secret “turns”.').waitFor();
    await button('Apply', channel).click();
    await channel.waitFor({ state: 'hidden' });
    await save(page, 'one more key');
    await becomes(() => keysOf(), {
      name: 'turns',
      key: undefined,
      keys: ['${TURNS_KEY}', '${secret:turns}'],
    });
    const used = new Set<string>();
    for (let call = 0; call < 20; call++) {
      // Another conversation each time: one stays at its key.
      const messages = [{ role: 'user', content: `Hello ${call}` }];
      assert.equal((await gateway.chat({ model: 'turner', messages })).status, 200);
      used.add(String(vendor.requests.at(-1)?.headers.authorization));
    }
    assert.deepEqual([...used].sort(), [`Bearer ${NEW_KEY}`, `Bearer ${SECOND_KEY}`]);

    await at.open('/config?item=turns');
    await button('Remove ${secret:turns}', channel).click();
    await button('Apply', channel).click();
    await channel.waitFor({ state: 'hidden' });
    await save(page, 'one key');
    await becomes(() => keysOf(), { name: 'turns', key: '${TURNS_KEY}', keys: undefined });
    await boss.data('DELETE', '/api/config/secrets/turns');
  });

  it('removes a channel with the models that only it serves', async () => {
    await at.open('/config');
    await page.getByRole('button', { name: 'deep', exact: true }).click();
    await button('Remove', dialog('deep')).click();
    const asked = dialog('Remove deep?');
    await asked.getByText(/deep-1, vendor\/deep:3/).waitFor();
    await button('Remove', asked).click();
    await dialog('deep').waitFor({ state: 'hidden' });
    await button('Review and save').click();
    const drawer = dialog('Review and save');
    await drawer.getByRole('row', { name: /− .*vendor\/deep:3/ }).waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await button('Discard').click();
    await button('Discard', dialog('Discard the unsaved changes?')).click();
    await page.getByRole('button', { name: 'deep', exact: true }).waitFor();
    await becomes(() => page.getByText('Unsaved changes').count(), 0);
  });
});

describe('the text', () => {
  it('is not saved with errors, which lead to their lines', async () => {
    const before = written();
    await at.open('/config?tab=draft');
    const field = page.getByLabel('Draft of gateway.yaml');
    await field.fill(before.replace('listen:', 'listen:\n  prot: 1'));
    await button('Review and save').click();
    const drawer = dialog('Review and save');
    await drawer.getByText('It cannot be saved yet').waitFor();
    assert.equal(await button('Save and load', drawer).isDisabled(), true);
    await button('Line 2', drawer).click();
    await drawer.waitFor({ state: 'hidden' });
    await becomes(
      () =>
        page.evaluate<string>(
          '(({ value = "", selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)',
        ),
      /prot: 1/,
    );
    await field.fill('channels: [');
    await page.getByRole('tab', { name: 'Settings' }).click();
    await see('The text is not valid YAML');
    assert.equal(written(), before);
  });
});

describe('two people at once', () => {
  it('are told of each other: one wins, the other keeps both changes or chooses', async () => {
    await at.open('/config?section=models');
    await price(page, '5');
    const other = await onlooker(browser, gateway, boss);
    try {
      await other.open('/config?tab=draft');
      const field = other.page.getByLabel('Draft of gateway.yaml');
      await field.fill(`# From elsewhere.\n${await field.inputValue()}`);
      await save(other.page, 'a comment');
      await other.page.getByText(/Saved as version/).waitFor();

      await button('Review and save').click();
      await button('Save and load', dialog('Review and save')).click();
      const conflict = page.getByRole('alert').filter({ hasText: 'The configuration was saved in the meantime' });
      await conflict.getByText(/root saved it at .*“a comment”/).waitFor();
      await becomes(async () => parse(written()).models.talker.price.output, 3, 'the first one wins');
      assertClean('with a conflict', [...(await at.violations()), ...(await at.overflow())]);
      await button('Keep both', conflict).click();
      await conflict.waitFor({ state: 'detached' });
      await save(page, 'both');
      await becomes(() => written(), /^# From elsewhere\.\n[\s\S]*output: 5/);

      // On the same line there is a choice.
      await price(page, '6');
      await button('Refresh', other.page).click();
      await becomes(() => field.inputValue(), /output: 5/);
      await field.fill((await field.inputValue()).replace('output: 5', 'output: 7'));
      await save(other.page, '');
      await button('Refresh').click();
      await conflict.getByText(/same lines/).waitFor();
      await button('Compare', conflict).click();
      await conflict.getByRole('row', { name: /\+ .*output: 7/ }).waitFor();
      await conflict.getByRole('row', { name: /\+ .*output: 6/ }).waitFor();
      await button('Load theirs, discard mine', conflict).click();
      await becomes(() => page.getByText('Unsaved changes').count(), 0);
      await becomes(async () => parse(written()).models.talker.price.output, 7);
      assertClean('in the other browser', other.problems);
    } finally {
      await other.close();
    }
  });
});

describe('versions', () => {
  it('show what has changed since, and return in one step', async () => {
    const last = written();
    writeFileSync(gateway.configFile, last.replace('output: 7', 'output: 8'));
    await boss.data('POST', '/api/config/reload');
    await at.open('/config?tab=versions');
    await page.getByRole('row', { name: /current .*changed outside the console/ }).waitFor();
    const rows = page.getByRole('table', { name: 'Versions' }).getByRole('row');
    await rows.nth(2).getByRole('button').click();
    const drawer = dialog(/^Version \d+$/);
    await drawer.getByRole('row', { name: /− .*output: 7/ }).waitFor();
    await drawer.getByRole('row', { name: /\+ .*output: 8/ }).waitFor();
    assertClean('with a version', await at.violations(drawer));
    await button('Restore this version', drawer).click();
    await button('Restore this version', dialog(/^Restore version \d+\?$/)).click();
    await drawer.waitFor({ state: 'hidden' });
    await see(/is restored, as version/);
    assert.equal(written(), last);
    await page.getByRole('row', { name: /current .*root Restored version/ }).waitFor();
  });
});

describe('secrets', () => {
  const names = (): Promise<readonly string[]> =>
    page
      .getByRole('table', { name: 'Secrets' })
      .getByRole('row')
      .evaluateAll((rows) => rows.slice(1).map((row) => row.textContent?.match(/^[\w-]+/)?.[0] ?? ''));

  it('are set, rotated without a restart, and deleted unless they are used', async () => {
    await at.open('/config?tab=secrets');
    await page.getByRole('row', { name: /^deep .*channels\[2\]\.key/ }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Delete deep' }).count(), 0, 'it is used');
    await button('Add a secret').click();
    const adding = dialog('Add a secret');
    await adding.getByLabel('Name').fill('9');
    await adding.getByLabel('Value', { exact: true }).fill('something');
    await button('Store', adding).click();
    await adding.getByText('Begin with a letter.').waitFor();
    await adding.getByLabel('Name').fill('spare');
    await button('Store', adding).click();
    await adding.waitFor({ state: 'hidden' });
    await becomes(names, ['deep', 'spare']);

    await button('New value for deep').click();
    const rotating = dialog('New value for deep');
    await rotating.getByLabel('Value', { exact: true }).fill('sk-revoked');
    await button('Store', rotating).click();
    await rotating.waitFor({ state: 'hidden' });
    await becomes(async () => (await gateway.chat({ model: 'deep-1' })).status !== 200, true);
    await button('New value for deep').click();
    await rotating.getByLabel('Value', { exact: true }).fill(NEW_KEY);
    await button('Store', rotating).click();
    await rotating.waitFor({ state: 'hidden' });
    await becomes(async () => String(vendor.requests.at(-1)?.headers.authorization).endsWith('sk-revoked'), true);

    await button('Delete spare').click();
    await button('Delete', dialog('Delete the secret spare?')).click();
    await becomes(names, ['deep']);
    assert.doesNotMatch(await page.content(), new RegExp(NEW_KEY));
  });
});

describe('alerts', () => {
  it('get rules, a target and a quiet time in the text, and a test message arrives during the quiet time', async () => {
    const receiver = await startReceiver();
    try {
      await at.open('/alerts');
      await see('No targets');
      await page.getByRole('link', { name: 'Edit rules' }).click();
      const field = page.getByLabel('Draft of gateway.yaml');
      const to = `[{ name: ops, webhook: '${receiver.url}/hook' }]`;
      await field.fill(
        `alerts: { to: ${to}, budget: { gateway: 5 }, quiet: '00:00-23:59' }\n${await field.inputValue()}`,
      );
      await save(page, 'alerts');
      await see(/Saved as version/);
      await at.go('/alerts');
      await see(/Quiet time.*00:00-23:59/);
      await button('Send test message').click();
      await see('ops: accepted');
      await page.getByRole('row', { name: /^ops .*Works/ }).waitFor();
      const [{ path, body } = assert.fail('nothing arrived')] = receiver.received;
      assert.equal(path, '/hook');
      assert.match(body.toString(), /"alerts":\[/);
    } finally {
      await receiver.close();
    }
  });
});

describe('an import', () => {
  it('is tried, shown and done, of an uploaded file', async () => {
    const file = join(gateway.dir, 'old.db');
    makeSqlite(file, NEW_API_VERSIONS[2]!, {
      users: [{ id: 2, username: 'mover', password: 'x', role: 1, status: 1, quota: 5, group: 'default' }],
      options: [{ key: 'ModelRatio', value: '{"house":1.25}' }],
      channels: [
        {
          id: 1,
          type: 1,
          key: NEW_KEY,
          status: 1,
          name: 'old',
          base_url: vendor.url.replace(/\/v1$/, ''),
          models: 'house',
          group: 'default',
        },
      ],
    });
    await at.open('/config?tab=import');
    await page.getByText('SQLite file', { exact: true }).click();
    await page.locator('input[type=file]').setInputFiles(file);
    await see(/old\.db \(/);
    await button('Dry run').click();
    await see(/dry run, nothing was changed/);
    await page.getByRole('row', { name: /^Accounts 1 1 0 0 0$/ }).waitFor();
    assert.ok(!written().includes('house'));
    await button('Import').click();
    await button('Import', dialog('Import now?')).click();
    await see(/^Imported$/);
    await becomes(() => written().includes('house'), true);
    const { items } = await boss.data('GET', '/api/user/search?keyword=mover');
    assert.deepEqual(
      items.map(({ username }: { readonly username: string }) => username),
      ['mover'],
    );
  });
});

describe('the editor', () => {
  it('looks as it should, in every section', async () => {
    const forms = ['?item=first', '?section=models&item=talker', '?add=1'];
    const others = ['models', 'aliases', 'prices', 'plans', 'passthrough', 'limits'].map((name) => `?section=${name}`);
    const added = ['prices', 'plans', 'passthrough'].map((name) => `?section=${name}&item=:new`);
    const tabs = ['draft', 'versions', 'secrets', 'import'].map((name) => `?tab=${name}`);
    await allLookRight(
      at,
      [...forms, ...others, ...added, ...tabs].map((search) => `/config${search}`),
    );
  });

  it('that is off says why, and saves nothing', async () => {
    const before = written();
    writeFileSync(gateway.configFile, `configuration: { editor: false }\n${before}`);
    await boss.data('POST', '/api/config/reload');
    await at.open('/config');
    await see('The editor is off');
    await see(/sets configuration\.editor to false/);
    await becomes(() => button('Add a vendor').count(), 0);
    await page.getByRole('button', { name: 'first', exact: true }).click();
    await becomes(
      () =>
        dialog('first')
          .getByRole('button', { name: /^Apply/ })
          .getAttribute('aria-disabled'),
      'true',
    );
    await at.open('/vendors');
    await button('Add a vendor').click();
    await dialog('Add a vendor').getByRole('region', { name: 'Lines for gateway.yaml' }).waitFor();
    writeFileSync(gateway.configFile, before);
    await boss.data('POST', '/api/config/reload');
  });

  it('is for root alone', async () => {
    await at.close();
    at = await onlooker(browser, gateway, await signedIn(gateway, 'adam', { role: 'admin' }));
    page = at.page;
    await at.open('/vendors');
    await becomes(() => page.getByRole('link', { name: 'Config', exact: true }).count(), 0);
    await button('Add a vendor').click();
    await dialog('Add a vendor').getByRole('region', { name: 'Lines for gateway.yaml' }).waitFor();
    await at.open('/config?tab=secrets');
    await becomes(() => page.getByRole('table', { name: 'Secrets' }).count(), 0);
  });
});
