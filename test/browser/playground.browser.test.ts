/** The playground and the models, in a browser: one prompt in three styles, tools, pictures, stopping, and what it costs. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
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
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, signedIn, type Visitor } from '../kit/console/console.ts';
import { chatEvents } from '../kit/gateway/fixtures.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../kit/vendors/fake-vendor.ts';
import { errorAnswer, eventStream, hold, streamAnswer } from '../kit/vendors/script.ts';

/** What must stand there as text. */
const MARKUP = '<img src=x onerror="document.title=\'owned\'"><b>bold</b>';
const DOT = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A second of it, as a WAV of 8,000 samples. */
const SILENCE = Buffer.concat([
  Buffer.from(
    'RIFF\xa4\x3e\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x80\x3e\0\0',
    'latin1',
  ),
  Buffer.alloc(16_000),
]);

let vendor: FakeVendor;
let gateway: TestGateway;
let browser: Browser;
let ann: Visitor;
let root: Visitor;
before(async () => {
  const [port, env] = [await freePort(), await builtConsole()];
  vendor = await fakeVendor();
  gateway = await startGateway({
    config: {
      listen: { host: '127.0.0.1', port },
      pipeline: CONSOLE_PIPELINE,
      console: { ...PATIENT, url: `http://localhost:${port}` },
      channels: [
        { name: 'main', vendor: 'compatible', url: vendor.url, key: VENDOR_KEY },
        { name: 'show', vendor: 'demo' },
      ],
      models: {
        talker: { from: ['main'], only: ['chat', 'responses', 'messages'], price: { input: 1, output: 2 } },
        unpriced: { from: ['main'], only: ['chat'] },
        demo: { from: ['show'], free: true },
        twin: { alias: 'demo' },
      },
    },
    env: { ...ROOT_ENV, ...env },
  });
  ann = await member(gateway, 'ann', { units: 1_000_000 });
  await ann.data('POST', '/api/token/', { name: 'laptop', unlimited_quota: true });
  root = await signedIn(gateway, 'root');
  browser = await startBrowser();
});
after(async () => {
  await browser?.close();
  await gateway?.stop();
  await vendor?.close();
});

let at: Onlooker;
let page: Page;
beforeEach(async () => {
  vendor.forget();
  at = await onlooker(browser, gateway, ann);
  page = at.page;
});
afterEach(async () => {
  assertClean('in the browser', at.problems);
  assert.notEqual(await page.title(), 'owned', 'markup ran as a script');
  await at.close();
});

const button = (name: string | RegExp) => page.getByRole('button', { name });
const holds = (field: string, wanted: RegExp) => becomes(() => page.getByLabel(field).inputValue(), wanted);
const column = (name: string) =>
  page.locator('section.section').filter({ has: page.getByRole('heading', { level: 2, name, exact: true }) });
const said = (name: string, words: string) => column(name).locator('.pg-text', { hasText: words });
const ask = (words: string) => page.getByLabel('Turn 1, You').fill(words);
const send = () => button('Send').click();

describe('the playground', () => {
  it('sends one prompt in three styles at once, and tells what came and what it cost', async () => {
    const answer = { deltas: ['The bridge ', 'opens at six. ', MARKUP], usage: { prompt: 20, completion: 6 } };
    vendor.next(...[1, 2, 3].map(() => streamAnswer(answer)));
    await at.open('/playground?model=talker&styles=chat,responses,messages');
    await page.getByLabel('Max tokens').fill('100');
    await ask('When does the bridge open?');
    await page.getByText('At most, for 3 calls').waitFor();
    await send();
    for (const name of ['Chat completions', 'Responses', 'Messages']) {
      await column(name).getByText('Done', { exact: true }).waitFor();
      await becomes(() => column(name).locator('.pg-text').textContent(), `The bridge opens at six. ${MARKUP}`);
      await column(name).getByText('20 in, 6 out').waitFor();
      // 20 at 1 and 6 at 2 currency units per million.
      await column(name).locator('[data-quota="16"]').waitFor();
      assert.equal(await column(name).getByText('main', { exact: true }).count(), 0, 'channels are not for members');
      const request = column(name).locator('a[href*="/logs?open="]');
      await becomes(() => request.getAttribute('href'), /open=\w{20,}/);
    }
    assertClean('axe', [...(await at.violations()), ...(await at.overflow())]);
    await column('Messages').getByRole('tab', { name: 'Raw answer' }).click();
    const shows = (name: string, text: RegExp) => column(name).locator('.pg-raw', { hasText: text }).waitFor();
    await shows('Messages', /event: message_start/);
    await shows('Chat completions', /data: \[DONE\]/);
    await column('Responses').getByRole('tab', { name: 'Request' }).click();
    await shows('Responses', /"max_output_tokens": 100/);
    await shows('Messages', /^curl '.*Bearer sk-…/s);
    assertClean('axe', await at.violations());
    // Where there is no room they stand behind each other.
    await at.look({ width: 360, height: 740, scheme: 'dark' });
    await page.getByRole('radiogroup', { name: 'API to show' }).getByText('Messages').click();
    await column('Messages').waitFor();
    await column('Responses').waitFor({ state: 'detached' });
    assertClean('narrow', [...(await at.violations()), ...(await at.overflow())]);
  });

  it('shows an answer as it comes, and stops one without the others', async () => {
    const events = chatEvents({ deltas: ['One ', 'two'] });
    vendor.next(...[1, 2].map(() => eventStream([...events.slice(0, 2), hold('rest'), ...events.slice(2)])));
    await at.open('/playground?model=talker&styles=chat,messages');
    await ask('Count');
    await page.keyboard.press('Control+Enter');
    for (const name of ['Chat completions', 'Messages']) await column(name).getByText('One').waitFor();
    await button('Stop Messages').click();
    await column('Messages').getByText('Stopped', { exact: true }).waitFor();
    await column('Chat completions').getByText('Answering').waitFor();
    vendor.release('rest');
    await said('Chat completions', 'One two').waitFor();
    await column('Chat completions').getByText('Done', { exact: true }).waitFor();
    await column('Messages')
      .getByText(/Stopped\./)
      .waitFor();
  });

  it('gives back what a tool found, and goes on with the conversation', async () => {
    await at.open('/playground?model=demo&styles=chat,responses,messages');
    await button('Tools: Insert an example').click();
    await ask('Please get weather in Oslo');
    await send();
    for (const name of ['Chat completions', 'Responses', 'Messages']) {
      await column(name).getByLabel('Result of get_weather').fill('{"degrees": 4}');
      await column(name).getByRole('button', { name: 'Send results' }).click();
      await said(name, 'The tool answered "{"degrees": 4}".').waitFor();
      await column(name).getByText('get_weather was called').waitFor();
    }
    await column('Messages').getByRole('button', { name: 'Continue this conversation' }).click();
    await holds('Turn 2, Model', /The tool answered/);
    await page.getByLabel('Turn 3, You').fill('And tomorrow?');
    await page.getByRole('textbox', { name: 'Tools' }).fill('{');
    await page.getByText(/Invalid JSON/).waitFor();
    await becomes(() => button(/^Send/).getAttribute('aria-disabled'), 'true');
  });

  it('takes pictures along, and keeps what was typed but for them', async () => {
    await at.open('/playground?model=demo&styles=chat');
    await ask('What is this?');
    const chooser = page.waitForEvent('filechooser');
    await button('Add images to turn 1').click();
    await (await chooser).setFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: DOT },
      { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('a') },
    ]);
    await page.getByText(/notes.txt is not a supported image/).waitFor();
    await page.getByRole('img', { name: 'dot.png' }).waitFor();
    await send();
    await said('Chat completions', 'I received 1 image').waitFor();
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
    await page.goBack();
    await holds('Turn 1, You', /^What is this\?$/);
    await becomes(() => page.getByRole('img', { name: 'dot.png' }).count(), 0);
    await button('Clear').click();
    await holds('Turn 1, You', /^$/);
    await button('Undo clearing').click();
    await holds('Turn 1, You', /^What is this\?$/);
  });

  it('says why a call would be refused, and why one was', async () => {
    await at.open('/playground?model=unpriced');
    await ask('Hello');
    await column('Chat completions').getByText('The call would be refused').waitFor();
    await column('Chat completions').getByText('The model has no price, so it cannot be called.').waitFor();
    await column('Messages').waitFor({ state: 'detached' });
    vendor.next(errorAnswer(400, `Not like this. ${MARKUP}`));
    await at.open('/playground?model=talker&styles=chat');
    await send();
    await column('Chat completions').getByText('The call failed').waitFor();
    await column('Chat completions')
      .getByText(/Message from the vendor: Not like this. <img/)
      .waitFor();
    assertClean('axe', await at.violations());
  });

  it('draws, speaks, listens and makes vectors', async () => {
    await at.open('/playground?model=demo&kind=embeddings');
    await page.getByLabel('Text', { exact: true }).fill('a gate\na gate\na toll');
    await send();
    await column('Embeddings').getByText('3 with 256 dimensions').waitFor();
    await column('Embeddings')
      .getByRole('row', { name: /Line 1 1\.00 1\.00/ })
      .waitFor();
    await page.getByText('Images', { exact: true }).first().click();
    await page.getByLabel('Image prompt').fill('a bridge');
    await send();
    await page.getByRole('img', { name: 'Image 1 of the answer' }).waitFor();
    await page.getByText('Speech', { exact: true }).first().click();
    await page.getByRole('combobox', { name: 'Format' }).click();
    await page.getByRole('option', { name: 'wav' }).click();
    await send();
    await page.locator('audio[aria-label="Audio answer"]').waitFor();
    assertClean('axe', await at.violations());
    await page.waitForFunction('document.querySelector("audio").duration > 0');
    await page.getByText('Transcription', { exact: true }).first().click();
    const chooser = page.waitForEvent('filechooser');
    await button('Choose a file').click();
    await (await chooser).setFiles({ name: 'a.wav', mimeType: 'audio/wav', buffer: SILENCE });
    await send();
    await column('Transcription').getByText('Done', { exact: true }).waitFor();
    await becomes(() => column('Transcription').locator('.pg-text').textContent(), /\S/);
  });

  it('makes a key for whoever has none', async () => {
    const bob = await member(gateway, 'bob');
    const his = await onlooker(browser, gateway, bob);
    await his.open('/playground?model=demo&styles=responses');
    await his.page.getByRole('button', { name: 'Create a key called “playground”' }).click();
    await his.page.getByLabel('Turn 1, You').fill('Hello');
    await his.page.getByText('Free', { exact: true }).waitFor();
    await his.page.getByRole('button', { name: 'Send', exact: true }).click();
    await his.page.locator('.pg-text', { hasText: 'You said: "Hello"' }).waitFor();
    assertClean('in his browser', his.problems);
    await his.close();
  });
});

describe('the models', () => {
  it('are found, looked at, and tried', async () => {
    await at.open('/models');
    await page.getByRole('searchbox', { name: 'Search by name' }).fill('t');
    await page.getByLabel('Free only').check();
    await page.getByRole('button', { name: /^twin/ }).waitFor();
    await page.getByRole('heading', { name: '1 of 4 models' }).waitFor();
    await page.waitForURL(/q=t/);
    await page.waitForURL(/free=yes/);
    await page.getByRole('button', { name: /^twin/ }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('alias of demo').waitFor();
    await drawer.getByText('/v1/chat/completions').waitFor();
    assert.equal(await drawer.getByText('show', { exact: true }).count(), 0, 'members see no channels');
    assertClean('axe', await at.violations());
    await drawer.getByRole('link', { name: 'Try it' }).click();
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    await becomes(() => page.getByRole('combobox', { name: 'Model' }).inputValue(), 'twin');
  });

  it('name their channels to administrators, and are cards where there is no room', async () => {
    const hers = await onlooker(browser, gateway, root, { width: 360, height: 740 });
    await hers.open('/models');
    await hers.page.getByRole('list', { name: 'Models' }).getByRole('button', { name: 'talker', exact: true }).click();
    await hers.page.getByRole('dialog').getByText('main', { exact: true }).waitFor();
    assertClean('narrow', [...(await hers.violations()), ...(await hers.overflow()), ...hers.problems]);
    await hers.close();
  });
});
