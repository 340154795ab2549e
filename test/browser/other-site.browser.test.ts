/** A page of another site in a real browser: it calls with a key, and learns nothing by the cookies of who is signed in. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../kit/console/browser.ts';
import { CONSOLE_PIPELINE, signedIn } from '../kit/console/console.ts';
import { startGateway, type TestGateway } from '../kit/gateway/gateway.ts';

let gateway: TestGateway;
let site: Server;
let browser: Browser;
let page: Page;
before(async () => {
  gateway = await startGateway({ config: { pipeline: [...CONSOLE_PIPELINE] } });
  site = createServer((_, answer) => {
    answer.writeHead(200, { 'content-type': 'text/html' });
    answer.end('<title>Another site</title>');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => site.once('listening', resolve));
  browser = await startBrowser();
  // The same host at another port is the hardest case: browsers send its cookies along.
  page = await browser.newPage();
  const { cookies } = await signedIn(gateway, 'ann');
  await page.context().addCookies([...cookies].map(([name, value]) => ({ name, value, url: gateway.url })));
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
});
after(async () => {
  await browser?.close();
  site?.close();
  await gateway?.stop();
});

/** What `fetch` brings the page: status, one of our headers and the text; `nothing` where the browser shows it nothing. */
function fetched(path: string, init: RequestInit): Promise<unknown> {
  return page.evaluate(
    ([address, asked]) =>
      fetch(address, asked).then(
        async (answer) => ({
          status: answer.status,
          id: typeof answer.headers.get('x-request-id'),
          text: await answer.text(),
        }),
        () => 'nothing',
      ),
    [`${gateway.url}${path}`, init] as const,
  );
}
const call = (headers: Record<string, string>): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify({ model: 'demo', stream: true, messages: [{ role: 'user', content: 'Hello!' }] }),
});

it('streams an answer to a page of another site that has a key, and tells it why a call was refused', async () => {
  const answer = await fetched(
    '/v1/chat/completions',
    call({ authorization: `Bearer ${gateway.key}`, 'x-of-mine': '1' }),
  );
  const { status, id, text } = answer as { status: number; id: string; text: string };
  assert.deepEqual([status, id], [200, 'string']);
  assert.match(text, /data: \[DONE\]/);
  const refused = (await fetched('/v1/chat/completions', call({ authorization: 'Bearer sk-nobody' }))) as {
    text: string;
  };
  assert.match(refused.text, /invalid_api_key/);
});

it('shows it nothing of what it has cookies for', async () => {
  for (const credentials of ['include', 'omit'] as const) {
    assert.equal(await fetched('/api/user/self', { credentials }), 'nothing');
    assert.equal(await fetched('/api/token/', { ...call({}), credentials }), 'nothing');
  }
  assert.equal(
    await fetched('/v1/chat/completions', { ...call({ 'x-turnpike-key': '1' }), credentials: 'include' }),
    'nothing',
  );
  assert.equal(await fetched('/v1/models', { credentials: 'include' }), 'nothing');
  assert.equal((await page.context().cookies()).length, 1, 'there was a cookie to send');
});
