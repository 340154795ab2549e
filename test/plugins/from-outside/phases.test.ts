/** Plugins of others in a whole gateway: callers of their own, the order of targets, and mistakes that are named in the log. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Holder } from '../../../core/contracts/identity.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

/** What the plugin does in this test. */
interface Wishes {
  holder?: Holder;
  /** Names of channels, in the order in which they are to be tried; others are not. */
  order?: readonly string[];
  /** The part that has a mistake. */
  mistake?: string;
}

const PLUGIN = `
const wishes = () => globalThis.wishes ?? {};
export default {
  name: 'outside',
  api: 2,
  create: () => ({
    authenticate({ headers }) {
      if (wishes().mistake === 'authenticate') return { account: 7 };
      return headers.authorization === 'Bearer badge-7' ? wishes().holder : undefined;
    },
    order(_, offers) {
      const { order, mistake } = wishes();
      if (mistake === 'order') return offers.map((offer) => ({ ...offer }));
      const at = (offer) => order.indexOf(offer.channel.name);
      return order && offers.filter((offer) => at(offer) >= 0).sort((a, b) => at(a) - at(b));
    },
    inspect: () => (wishes().mistake === 'inspect' ? { answer: 'hello', charge: 'nothing' } : undefined),
    route: () => (wishes().mistake === 'route' ? { channel: 'main' } : undefined),
    admit(x) {
      if (wishes().mistake !== 'headers') return;
      let attempts = 0;
      x.addUpstreamHeaders(() => {
        if (attempts++ === 0) throw new Error('oops in headers');
        return {};
      });
    },
    routes: [
      { method: 'GET', path: '/broken', access: 'public', handle() { throw new Error('oops in a route'); } },
    ],
  }),
};
`;

describe('a plugin of others', () => {
  let vendors: readonly FakeVendor[];
  let dir: string;
  let gateway: TestGateway;
  const wishes = (its: Wishes): void => void Object.assign(globalThis, { wishes: its });
  before(async () => {
    vendors = [await fakeVendor(), await fakeVendor(), await fakeVendor()];
    dir = mkdtempSync(join(tmpdir(), 'turnpike-outside-'));
    writeFileSync(join(dir, 'outside.mjs'), PLUGIN);
    // Before `auth`, which refuses keys that it does not know.
    const pipeline = ['./outside.mjs', ...(defaultConfig([]).pipeline as readonly string[])];
    gateway = await startGateway({ vendor: vendors, dir, config: { pipeline } });
  });
  beforeEach(() => {
    wishes({});
    for (const vendor of vendors) vendor.always(wholeAnswer());
  });
  after(async () => {
    wishes({});
    await gateway.stop();
    for (const vendor of vendors) await vendor.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const channelOf = ({ headers }: Response): string | null => headers.get('x-turnpike-channel');
  /** The lines of errors since `from`. */
  const errorsSince = (from: number) =>
    gateway.log
      .slice(from)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ level }) => level === 'error');

  it('that knows callers is asked for calls, and for every route that needs a key', async () => {
    const holder = await gateway.host.use(Keys).find(gateway.key);
    wishes({ holder: holder! });
    const headers = { authorization: 'Bearer badge-7', 'content-type': 'application/json' };
    assert.equal((await gateway.chat({}, { key: 'badge-7' })).status, 200);
    const models = await fetch(`${gateway.url}/v1/models`, { headers });
    assert.equal(models.status, 200);
    assert.match(await models.text(), /test-model/);
    const counted = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { ...headers, 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    assert.equal(counted.status, 200, await counted.text());
    const stored = await fetch(`${gateway.url}/v1/responses/resp_unknown`, { headers });
    assert.equal(stored.status, 404);
    wishes({});
    for (const path of ['/v1/models', '/v1/responses/resp_unknown'])
      assert.equal((await fetch(gateway.url + path, { headers })).status, 401, path);
  });

  it('chooses the order of targets, and leaves some out; `explain` shows what it chose', async () => {
    assert.equal(channelOf(await gateway.chat({})), 'main');
    wishes({ order: ['third', 'main'] });
    assert.equal(channelOf(await gateway.chat({})), 'third');
    const body = '{"model":"test-model","messages":[{"role":"user","content":"Hello"}]}';
    const told = JSON.parse(
      await gateway.command(`explain --json --key ${gateway.key} --style chat --body -`, body),
    ) as { readonly offers: readonly { readonly channel: string }[] };
    assert.deepEqual(
      told.offers.map(({ channel }) => channel),
      ['third', 'main'],
    );
    vendors[2]!.always(errorAnswer(500));
    assert.equal(channelOf(await gateway.chat({})), 'main');
    wishes({ order: [] });
    const { status } = await gateway.chat({});
    assert.equal(status, 503);
  });

  for (const [mistake, says] of [
    ['authenticate', /`authenticate` must return a Holder/],
    ['inspect', /`inspect` returned an `answer` that is neither a reply nor/],
    ['route', /`route` must return a list of targets/],
    ['order', /`order` must return targets that it was given/],
  ] as const) {
    it(`whose \`${mistake}\` returns something else is named in the log, and the client gets 500`, async () => {
      const from = gateway.log.length;
      wishes({ mistake });
      assert.equal((await gateway.chat({})).status, 500);
      const [line] = errorsSince(from);
      assert.deepEqual([line?.phase, line?.plugin], [mistake, 'outside']);
      assert.match(JSON.stringify(line?.error), says);
    });
  }

  it('that throws while the request to a vendor is made is named, and the next channel is tried', async () => {
    const from = gateway.log.length;
    wishes({ mistake: 'headers' });
    const answer = await gateway.chat({});
    assert.deepEqual([answer.status, channelOf(answer)], [200, 'spare']);
    const [line] = errorsSince(from);
    assert.deepEqual([line?.plugin, line?.channel], ['outside', 'main']);
    assert.match(JSON.stringify(line?.error), /oops in headers/);
  });

  it('that throws in a route is named', async () => {
    const from = gateway.log.length;
    assert.equal((await fetch(`${gateway.url}/broken`)).status, 500);
    const [line] = errorsSince(from);
    assert.equal(line?.plugin, 'outside');
    assert.match(String(line?.at), /outside\.mjs:\d+$/);
  });
});
