/** Models whose name in gateway.yaml has a `*`: whatever begins like that can be called, priced, scoped and explained. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { describeAssembly } from '../../../core/cli/check.ts';
import { Catalog } from '../../../core/contracts/catalog.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const PRICE = { input: 1, output: 2 };

let vendor: FakeVendor;
let gateway: TestGateway;
before(async () => {
  vendor = await fakeVendor();
  const { pipeline, channels } = defaultConfig([vendor]);
  const official = { name: 'official', vendor: 'openai', url: vendor.url, key: 'official-key-0123' };
  gateway = await startGateway({
    vendor,
    config: {
      pipeline,
      channels: [...(channels as readonly object[]), official],
      models: {
        'big-one': { from: ['main'], price: PRICE },
        'big-*': { from: ['main'], price: PRICE, quirks: { drop_fields: ['seed'] } },
        'big-slow-*': { from: [{ main: 'slow/*' }], free: true },
        'router/*': { from: [{ main: '*' }], free: true },
        'old-*': { alias: 'big-one' },
        favourite: { alias: 'big-seven' },
        'gpt-*': { from: ['official'] },
        'both-*': { from: ['main'], fallback: ['big-two'], price: PRICE },
        'sectioned-*': { from: ['main'] },
      },
      prices: { 'sectioned-*': PRICE },
    },
  });
});
after(async () => {
  await gateway.stop();
  await vendor.close();
});

interface Answer {
  readonly status: number;
  readonly body: JsonObject & { readonly error?: { readonly code: string; readonly message: string } };
}

async function call(model: string, more: object = {}, key?: string): Promise<Answer> {
  const answer = await gateway.chat({ model, max_tokens: 5, ...more }, key === undefined ? {} : { key });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}

/** The name and the fields that the vendor was asked with. */
async function askedWith(model: string, more?: object): Promise<JsonObject> {
  const { status, body } = await call(model, more);
  assert.equal(status, 200, JSON.stringify(body));
  return vendor.requests.at(-1)!.json;
}

describe('a model whose name has a *', () => {
  it('is asked for by the name that the client sent', async () => {
    assert.equal((await askedWith('big-two')).model, 'big-two');
    assert.equal((await askedWith('big-')).model, 'big-');
  });

  it('gives way to a name that is spelled out, and to a longer pattern', async () => {
    assert.equal((await askedWith('big-one', { seed: 7 })).seed, 7);
    assert.equal((await askedWith('big-two', { seed: 7 })).seed, undefined);
    assert.equal((await askedWith('big-slow-three', { seed: 7 })).model, 'slow/three');
  });

  it('hands on what the * stands for', async () => {
    assert.equal((await askedWith('router/maker/model:free')).model, 'maker/model:free');
  });

  it('may be behind an alias, and be one', async () => {
    assert.equal((await askedWith('favourite')).model, 'big-seven');
    assert.equal((await askedWith('old-times')).model, 'big-one');
  });

  it('has its own price, that of its pattern under prices, or that of the name that was asked for', async () => {
    assert.equal((await call('sectioned-x')).status, 200);
    assert.equal((await call('gpt-9-nobody-knows')).body.error?.code, 'model_not_priced');
    const prices = await describeAssembly(gateway.configFile, {});
    assert.match(prices, /price of big-\*: .*gateway\.yaml/);
    assert.match(prices, /price of gpt-\*: that of each name; one without is refused/);
    assert.match(prices, /models gpt-\*: every name like this can be called; model lists do not show them/);
  });

  it('is not called by its own name, nor by one that no vendor could have', async () => {
    for (const name of ['big-*', 'big-two*', 'big-tw o', 'big-ü', 'other', 'Big-two']) {
      assert.deepEqual(
        [(await call(name)).status, (await call(name)).body.error?.code],
        [404, 'model_not_found'],
        name,
      );
    }
  });

  it('is not in lists, and can be read one by one', async () => {
    const get = async (path: string): Promise<JsonObject> => {
      const answer = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${gateway.key}` } });
      return (await answer.json()) as JsonObject;
    };
    const { data } = await get('/v1/models');
    assert.deepEqual(
      (data as readonly JsonObject[]).map(({ id }) => id),
      ['big-one', 'favourite'],
    );
    assert.equal((await get('/v1/models/big-two')).id, 'big-two');
  });

  it('may be in the list of a key, as it is or by a name that it stands for', async () => {
    const wide = await gateway.command('key create --name wide --models big-*');
    const narrow = await gateway.command('key create --name narrow --models big-two');
    const statuses = async (key: string): Promise<readonly number[]> => {
      const found: number[] = [];
      for (const name of ['big-two', 'big-three', 'big-one', 'router/x'])
        found.push((await call(name, {}, key)).status);
      return found;
    };
    assert.deepEqual(await statuses(wide), [200, 200, 200, 403]);
    assert.deepEqual(await statuses(narrow), [200, 403, 403, 403]);
    for (const wrong of ['small-*', 'nothing', 'b*-*']) {
      assert.match((await gateway.tryCommand(`key create --name x --models ${wrong}`)).stderr, /There is no model/);
    }
  });

  it('falls back as any other does', () => {
    const catalog = gateway.host.use(Catalog);
    assert.deepEqual(
      catalog.chain('both-x').map(({ name }) => name),
      ['both-x', 'big-two'],
    );
  });

  it('stays the same model however many names are asked for', () => {
    const catalog = gateway.host.use(Catalog);
    for (let i = 0; i < 3_000; i++) assert.equal(catalog.require(`big-${i}`).name, `big-${i}`);
    assert.equal(catalog.require('big-0').entry, 'big-*');
  });
});

describe('a pattern that is written wrong', () => {
  it('is named by check, with what would be right', async () => {
    const { problems } = await checked({
      'a-*-*': { from: ['main'], free: true },
      plain: { from: [{ main: 'x-*' }], free: true },
      'round-*': { alias: 'round-trip' },
      lost: { alias: 'nowhere-at-all' },
    });
    assert.match(problems, /a name may contain only one '\*'/);
    assert.match(problems, /'\*' is replaced only if the name 'plain' contains one, too/);
    assert.match(problems, /aliases form a cycle: round-\* → round-\*/);
    assert.match(problems, /there is no model 'nowhere-at-all'/);
  });

  async function checked(models: object): Promise<{ readonly problems: string }> {
    const { pipeline, channels } = defaultConfig([vendor]);
    const failed = await startGateway({ config: { pipeline, channels, models } }).then(
      (open) => open.stop().then(() => new Error('it started')),
      (error: unknown) => error as Error,
    );
    return { problems: String(failed.message) + JSON.stringify(failed) };
  }
});
