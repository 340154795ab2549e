/** The pages about the machine, in a browser: vendors, prices, the configuration, and how the process does. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: gateway.yaml has them
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Browser, Locator, Page } from 'playwright-core';
import { parse, stringify } from 'yaml';
import {
  assertClean,
  becomes,
  builtConsole,
  freePort,
  type Onlooker,
  onlooker,
  startBrowser,
} from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, signedIn, type Visitor, verify } from '../kit/console/console.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { errorAnswer, hold, wholeAnswer } from '../kit/vendors/script.ts';

let vendor: FakeVendor;
let sick: FakeVendor;
let gateway: TestGateway;
let browser: Browser;
let boss: Visitor;
before(async () => {
  const [port, env] = [await freePort(), await builtConsole()];
  [vendor, sick] = await Promise.all([fakeVendor(), fakeVendor()]);
  sick.always(errorAnswer(401));
  const upstream = { vendor: 'compatible', key: VENDOR_KEY };
  gateway = await startGateway({
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: [...CONSOLE_PIPELINE],
      console: { ...PATIENT, url: `http://localhost:${port}` },
      channels: [
        { ...upstream, name: 'well', url: vendor.url },
        { ...upstream, name: 'ill', url: sick.url },
        { ...upstream, name: 'silent', url: vendor.url, key: '${SILENT_KEY:-}' },
      ],
      models: {
        talker: { from: ['well'], price: { input: 1, cacheRead: 0.125, output: 2.5 } },
        patient: { from: ['ill'], fallback: ['talker'], price: [{ input: 1 }, { input: 2, from: '2099-01-01' }] },
        unnamed: { from: ['well'] },
        quick: { alias: 'talker' },
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
  await Promise.all([vendor?.close(), sick?.close()]);
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
const row = (name: string): Locator =>
  page.getByRole('row').filter({ has: page.getByRole('button', { name: new RegExp(`^${name}`) }) });
const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click();
const see = (text: string | RegExp) => page.getByText(text).first().waitFor();

describe('vendors', () => {
  it('are tested with a word, and say what is wrong and how to mend it', async () => {
    await at.open('/vendors');
    await button('Test well').click();
    await row('well').getByText('Works').waitFor();
    await button('Test ill').click();
    await row('ill').getByText('The vendor rejected the key.').waitFor();
    await row('silent').getByText('Off', { exact: true }).waitFor();

    await button('silent compatible').click();
    const drawer = page.getByRole('dialog', { name: 'silent' });
    await drawer.getByText('SILENT_KEY').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await page.waitForURL((url) => !url.search.includes('channel'));
  });

  it('that rest are seen in the routes, with what answers in their place', async () => {
    assert.equal((await gateway.chat({ model: 'patient' })).status, 200);
    await at.open('/vendors');
    await row('ill').getByText('Circuit open').waitFor();
    await tab('Routes');
    const patient = page.getByRole('row', { name: /^patient/ });
    await patient.getByText('On fallback').waitFor();
    await becomes(() => patient.innerText(), /ill\s+Circuit open\s+then\s+fallback\s+talker/);
    await page.getByRole('row', { name: /^quick alias of talker/ }).waitFor();
    await page.getByText('Needs attention (2)').click();
    await page.getByRole('row', { name: /^quick/ }).waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('unnamed');
    await patient.waitFor({ state: 'detached' });
    await page.waitForURL(/show=attention/);
    await page.getByRole('link', { name: 'Price unnamed' }).click();
    await page.getByRole('dialog', { name: 'unnamed' }).getByText('No price: unnamed.').waitFor();
  });

  it('are added with lines that the gateway takes', async () => {
    await at.open('/vendors?add=1');
    const drawer = page.getByRole('dialog', { name: 'Add a vendor' });
    await drawer.getByText('Compatible', { exact: true }).click();
    await drawer.getByLabel('Base URL').fill('example.com');
    await see('Enter a URL such as');
    await drawer.getByLabel('Base URL').fill('https://llm.example.com/v1');
    await drawer.getByLabel('Channel name').fill('well');
    await see('A channel of this name exists');
    await drawer.getByLabel('Channel name').fill('far');
    await drawer.getByLabel('Models').fill('deep-1, vendor/deep:2');
    const shown = drawer.getByRole('region', { name: 'Lines for gateway.yaml' });
    await becomes(() => shown.innerText(), /vendor\/deep:2/);
    const lines = parse(await shown.innerText());
    assert.equal(lines.channels[0].key, '${FAR_API_KEY:-}');
    await drawer.getByRole('region', { name: 'Command for the shell' }).getByText("export FAR_API_KEY='…'").waitFor();

    const before = readFileSync(gateway.configFile, 'utf8');
    const whole = parse(before);
    writeFileSync(
      gateway.configFile,
      stringify({
        ...whole,
        channels: [...whole.channels, ...lines.channels],
        models: { ...whole.models, ...lines.models },
      }),
    );
    const { problems } = await boss.data('GET', '/api/config');
    writeFileSync(gateway.configFile, before);
    assert.deepEqual(problems, []);
  });
});

describe('prices', () => {
  it('say what is lost without one, and how to set it', async () => {
    await at.open('/prices');
    await see('Calls for one model are refused');
    await becomes(() => page.getByRole('row').nth(1).innerText(), /^unnamed/);
    const rows = async (): Promise<string> => (await page.getByRole('row').allInnerTexts()).join('\n');
    await becomes(rows, /talker\s+also quick\s+fallback for patient\s+\$1\.00\s+\$2\.50\s+\$0\.125/);
    // What is free and what is refused are told apart on a phone, too, where further columns are out of sight.
    await at.look({ width: 360 });
    const note = page
      .getByRole('row', { name: /^unnamed/ })
      .getByText('No price')
      .filter({ visible: true });
    const right = async (): Promise<number> => {
      const { x, width } = (await note.boundingBox()) ?? { x: 360, width: 0 };
      return x + width;
    };
    await becomes(async () => (await right()) < 360, true, 'the note is in sight');
    await at.look({ width: 1_440 });
    await page.getByText('Changes soon (1)').click();
    await page.waitForURL(/show=upcoming/);
    await button('patient').click();
    const drawer = page.getByRole('dialog', { name: 'patient' });
    await drawer.getByRole('region', { name: 'from Jan 1, 2099' }).getByText('$2.00').waitFor();
    await drawer.getByText('Images', { exact: true }).click();
    const lines = () => drawer.getByRole('region', { name: 'Lines for gateway.yaml' }).innerText();
    await becomes(async () => parse(await lines()), {
      models: { patient: { from: ['ill'], price: { perImage: 0.04 } } },
    });
  });
});

describe('the configuration', () => {
  let before: string;
  beforeEach(() => {
    before = written();
  });
  // Whatever becomes of one of them, the next begins with a file that is taken.
  afterEach(() => writeFileSync(gateway.configFile, before));
  const written = (): string => readFileSync(gateway.configFile, 'utf8');
  const selected = () =>
    page.evaluate<string>(
      '(({ value = "", selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)',
    );

  it('explains the key that one points at, with the keyboard and the pointer', async () => {
    await at.open('/config?tab=disk');
    const field = page.getByLabel('gateway.yaml on disk, read-only');
    await see(/secrets are masked/);
    assert.doesNotMatch(await field.inputValue(), new RegExp(VENDOR_KEY));
    await field.focus();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('ArrowDown');
    const panel = page.locator('section').filter({ has: page.getByRole('heading', { name: 'What is this?' }) });
    await panel.getByText('host', { exact: true }).waitFor();
    await panel.getByText('127.0.0.1').waitFor();
    const text = await field.inputValue();
    for (const key of ['x', 'Enter', 'Backspace', 'Delete']) await page.keyboard.press(key);
    assert.equal(await field.inputValue(), text, 'it can only be read');
    const fallback = page.locator('.code-key', { hasText: 'fallback' }).first();
    await fallback.scrollIntoViewIfNeeded();
    // The field lies above what is pointed at.
    await fallback.hover({ force: true });
    await panel.getByText('Models to try, in order, if all channels have failed.').waitFor();
  });

  it('is taken over with a word, and mistakes are found in their lines', async () => {
    await at.open('/config?tab=disk');
    const reload = page.getByRole('button', { name: /^Reload/ });
    await becomes(() => reload.getAttribute('aria-disabled'), 'true');
    writeFileSync(gateway.configFile, before.replace('models:', 'modells:'));
    await button('Refresh').click();
    await see('Invalid');
    await button('Reload').click();
    await see('Reload failed');
    const line = before.split('\n').indexOf('models:') + 1;
    await button(`Line ${line}`).click();
    await becomes(selected, 'modells:');
    // From another tab as well, though the browser has to go back for it.
    await tab('Running');
    await page.getByLabel('gateway.yaml as running').waitFor();
    await button(`Line ${line}`).click();
    await becomes(selected, 'modells:');
    await page.locator('.code-problem', { hasText: 'modells' }).waitFor();

    writeFileSync(gateway.configFile, before.replace('quick:', 'swift:'));
    await button('Refresh').click();
    await see('The file differs from the running configuration');
    await tab('Difference');
    await page.getByRole('row', { name: /− quick:$/ }).waitFor();
    await page.getByRole('row', { name: /\+ swift:$/ }).waitFor();
    await button('Reload').click();
    await see('Reloaded. This configuration is now running.');
    await see('No difference');
    assert.equal((await gateway.chat({ model: 'swift' })).status, 200);
    await tab('Report');
    await see(/3 models, 1 alias/);
  });

  it('is tried out in a draft that is written nowhere', async () => {
    await at.open('/config?tab=draft');
    const field = page.getByLabel('Draft of gateway.yaml');
    const text = await field.inputValue();
    await field.fill(text.replace('listen:', 'listen:\n  prot: 1'));
    await button('Check').click();
    await see('Invalid.');
    await page.getByRole('list', { name: 'Errors and warnings' }).getByText('listen.prot').waitFor();
    await page.locator('.code-problem', { hasText: 'prot' }).waitFor();
    await tab('Running');
    await page.getByLabel('gateway.yaml as running').waitFor();
    await tab('Edit file');
    await field.waitFor();
    await page.getByText('Difference', { exact: true }).last().click();
    await page.getByRole('row', { name: /\+ prot: 1$/ }).waitFor();
    await page.getByText('Edit', { exact: true }).click();
    await field.fill(text.replace('listen:', '# a comment\nlisten:'));
    await button('Check').click();
    await see('Valid.');
    await see('Report on the draft');
    await button('Discard').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await becomes(() => field.inputValue(), text);
    assert.equal(written(), before);
  });
});

describe('the system', () => {
  it('tells of calls that run, of backups, and of what is normal', async () => {
    vendor.next([hold(), ...wholeAnswer()]);
    const asked = gateway.chat({ model: 'talker' });
    await vendor.waitFor(() => vendor.inFlight === 1);
    await at.open('/system');
    await page.getByRole('row', { name: /^talker.*waiting for the vendor/ }).waitFor();
    await see('No backup yet');
    await page.getByRole('switch', { name: 'Refresh automatically' }).uncheck();
    vendor.release();
    await asked;
    await gateway.command(`backup ${join(gateway.dir, 'copy.db')}`);
    await page.reload();
    await at.settled();
    await see('No calls are running.');
    await see(/copy\.db, .* made in/);
    await page.getByRole('heading', { name: 'Disk', level: 3 }).waitFor();
  });
});
