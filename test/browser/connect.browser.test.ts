/** From nothing to a first call, as a person goes: a key on Connect, its snippet in a terminal, and Home that turns green. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { becomes, builtConsole, freePort, type Onlooker, onlooker, startBrowser } from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, signedIn, type Visitor } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

const run = promisify(execFile);
const KEY = /sk-[0-9A-Za-z]{20,}/;

describe('Home and Connect in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let ann: Visitor;
  let at: Onlooker;
  let home: Page;
  before(async () => {
    const port = await freePort();
    gateway = await startGateway({
      config: {
        listen: { host: '127.0.0.1', port },
        pipeline: [...CONSOLE_PIPELINE],
        console: { ...PATIENT, url: `http://localhost:${port}` },
      },
      env: { ...ROOT_ENV, ...(await builtConsole()) },
    });
    browser = await startBrowser();
    ann = await signedIn(gateway, 'ann');
    at = await onlooker(browser, gateway, ann);
    home = await at.page.context().newPage();
  });
  after(async () => {
    await browser.close();
    await gateway.stop();
  });

  const snippet = (): Promise<string> =>
    at.page.getByRole('region', { name: 'Run it in a terminal', exact: true }).innerText();
  const test = (): Promise<void> => at.page.getByRole('button', { name: 'Test now' }).click();

  it('turns green when the first call lands', async () => {
    await home.goto(`http://localhost:${gateway.port}/console/`);
    await home.getByRole('heading', { name: 'Make the first call' }).waitFor();

    await at.open('/connect?client=curl-chat');
    await at.page.getByRole('button', { name: 'Create key' }).click();
    await at.page.getByText('it is not shown again after you leave this page').waitFor();
    await becomes(snippet, KEY);
    const command = await snippet();
    const { stdout } = await run('sh', ['-c', command]);
    assert.notEqual(JSON.parse(stdout).choices[0].message.content, '');

    await home.getByText('The first call has arrived').waitFor();
    await home.getByText('demo answered. It was free.').waitFor();
    const [line] = (await ann.data('GET', '/api/log/self?type=2')).items;
    assert.deepEqual([line.model_name, line.token_name], ['demo', 'curl, chat']);
    const link = home.getByRole('link', { name: 'Open in Logs' });
    assert.match((await link.getAttribute('href')) ?? '', new RegExp(`/console/logs\\?open=${line.request_id}$`));
    // Nothing is left to do, and what was done is listed.
    await home.getByRole('heading', { name: 'Getting started' }).waitFor({ state: 'detached' });
    await home.getByRole('region', { name: 'Latest calls' }).getByText('demo').waitFor();
    await home.close();
  });

  it('tests with the key that was made, and shows what came back', async () => {
    await test();
    await at.page.getByText('It works').waitFor();
    await at.page.getByText('free', { exact: true }).waitFor();
    await becomes(async () => (await ann.data('GET', '/api/log/self?type=2')).total, 2);
    const { items } = await ann.data('GET', '/api/log/self?type=2');
    await at.page.getByRole('link', { name: items[0].request_id }).waitFor();
  });

  it('forgets the key when the page is left, and tests it by its number', async () => {
    const secret = KEY.exec(await snippet())?.[0] ?? '';
    const kept = JSON.stringify(
      await at.page.evaluate(`[location.href, { ...localStorage }, { ...sessionStorage }, document.cookie]`),
    );
    assert.ok(!kept.includes(secret), 'the key lies in the browser');
    await at.page.reload();
    await at.page.getByText('Replace sk-… with your key').waitFor();
    await becomes(snippet, /sk-…/);
    assert.doesNotMatch(await snippet(), KEY);
    await test();
    await at.page.getByText('It works').waitFor();
  });

  it('says the one cause where it fails, and what to do', async () => {
    await at.page.getByLabel('Paste the key', { exact: true }).fill('sk-thisKeyIsOfNobodyAtAll');
    await becomes(snippet, /Bearer sk-thisKeyIsOfNobodyAtAll'/);
    await test();
    const told = at.page.getByRole('alert').filter({ hasText: 'Test failed' });
    await told.getByText('The API key is invalid. ').waitFor();
    await told.getByText('Check that the key is complete, or choose another key.').waitFor();
    await told.getByText('Message from the gateway: This API key is unknown.').waitFor();

    const [key] = (await ann.data('GET', '/api/token/')).items;
    await ann.data('PUT', '/api/token/', { id: key.id, status: 2 });
    await at.page.reload();
    await at.settled();
    await test();
    await at.page.getByText('The key is disabled.').waitFor();
    await at.page.getByText('Enable it, or choose another key. Keys').waitFor();
    assert.deepEqual(at.problems, []);
  });
});
