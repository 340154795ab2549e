/** Patterns that are a prefix, `openai/*`: what the vendor is asked for, and what the calls cost. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Prices } from '../../../core/contracts/prices.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

describe('a pattern that ends with a slash and a star', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  before(async () => {
    vendor = await fakeVendor();
    const channel = { url: vendor.url, key: 'vendor-canary-5f0c9e7d1b' };
    gateway = await startGateway({
      config: {
        channels: [
          { ...channel, name: 'openai', vendor: 'openai', speaks: ['chat'] },
          { ...channel, name: 'router', vendor: 'compatible' },
        ],
        models: {
          'openai/*': { from: ['openai'], price: 'list' },
          'openai/gpt-5*': { from: [{ openai: 'gpt-5*' }], price: { input: 7, output: 8 } },
          'openai/gpt-4o': { from: [{ openai: 'gpt-4o-2024-08-06' }], free: true },
          'mirror/*': { from: [{ router: 'openai/*' }], price: { input: 1, output: 2 } },
          'bare/*': { from: ['router'] },
          'deals/*': { from: ['openai'] },
        },
        prices: { 'deals/*': { input: 3, output: 4 } },
      },
    });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const asked = async (model: string): Promise<unknown> => {
    const answer = await gateway.chat({ model });
    assert.equal(answer.status, 200, await answer.text());
    return vendor.requests.at(-1)!.json.model;
  };
  const inputOf = (model: string): unknown => gateway.host.use(Prices).of(model)?.input;

  it('asks the vendor for what follows the slash', async () => {
    assert.equal(await asked('openai/gpt-4o-mini'), 'gpt-4o-mini');
    assert.equal(await asked('openai/gpt-4.1'), 'gpt-4.1');
  });

  it('asks for another name if the entry says so', async () => {
    assert.equal(await asked('mirror/gpt-5'), 'openai/gpt-5');
  });

  it('gives way to a longer pattern, and to an exact name', async () => {
    assert.equal(await asked('openai/gpt-5.9'), 'gpt-5.9');
    assert.equal(inputOf('openai/gpt-5.9'), inputOf('openai/gpt-5'));
    assert.equal(await asked('openai/gpt-4o'), 'gpt-4o-2024-08-06');
  });

  it('costs the list price with `price: list`, otherwise its own or that of `prices`', () => {
    const list = inputOf('openai/gpt-4o-mini');
    assert.notEqual(list, undefined);
    assert.notEqual(list, inputOf('deals/gpt-4o-mini'));
    assert.notEqual(list, inputOf('openai/gpt-4.1'));
    assert.notEqual(inputOf('mirror/gpt-4o-mini'), undefined);
  });

  it('refuses a model that has no price', async () => {
    for (const model of ['bare/unheard-of', 'openai/unheard-of']) {
      const answer = await gateway.chat({ model });
      assert.equal(answer.status, 402);
      assert.match(await answer.text(), /model_not_priced/);
    }
  });
});
