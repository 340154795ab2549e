/** The guard `my-plugin`, as a client sees it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fakeVendor, startGateway } from 'turnpike/kit';
import plugin from './index.ts';

it('refuses a request with a forbidden word before the vendor gets it', async () => {
  const vendor = await fakeVendor();
  const gateway = await startGateway({ vendor, plugins: [plugin], config: { 'my-plugin': { words: ['secret'] } } });
  const ask = (content: string) => gateway.chat({ messages: [{ role: 'user', content }] });
  assert.equal((await ask('Tell me a story.')).status, 200);
  const refused = await ask('Tell me the secret.');
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /content_refused/);
  assert.equal(vendor.requests.length, 1);
  await gateway.stop();
  await vendor.close();
});
