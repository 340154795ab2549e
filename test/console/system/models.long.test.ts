import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, type Visitor, visitor } from '../../kit/console/console.ts';
import { startGateway, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({
    vendor,
    config: {
      pipeline: CONSOLE_PIPELINE,
      console: PATIENT,
      models: {
        talker: { from: ['main'], price: { input: 2.5, output: 10, cacheRead: 0.25, cacheWrite: 3.125 } },
        alias: { alias: 'talker' },
        embedder: { from: ['main'], only: ['embeddings'], price: { input: 0.02 } },
        painter: { from: ['main'], price: { perImage: { default: 0.04, hd: 0.08 } } },
        each: { from: ['main'], price: { perRequest: 0.003 } },
        gift: { from: ['main'], free: true },
        unpriced: { from: ['main'] },
        demo: { from: ['demo'], free: true },
      },
    },
    env: ROOT_ENV,
  });
  ann = await member(gateway, 'ann');
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

interface Row {
  readonly model_name: string;
  readonly supported_endpoint_types: readonly string[];
  readonly [member: string]: unknown;
}

async function pricing(who: Visitor): Promise<Readonly<Record<string, Row>>> {
  const { status, body } = await who.get('/api/pricing');
  assert.equal(status, 200);
  assert.equal(body.success, true);
  return Object.fromEntries(body.data.map((row: Row) => [row.model_name, row]));
}

const names = async (who: Visitor): Promise<readonly string[]> => Object.keys(await pricing(who));
const bearing = (credential: string): Visitor => visitor(gateway, { authorization: `Bearer ${credential}` });

describe('prices', () => {
  it('are told in the ratios that tools compute with: 1 is 2 currency units per million input tokens', async () => {
    const rows = await pricing(ann);
    const ratios = Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [
        name,
        [row.quota_type, row.model_ratio, row.model_price, row.completion_ratio],
      ]),
    );
    assert.deepEqual(ratios, {
      talker: [0, 1.25, 0, 4],
      alias: [0, 1.25, 0, 4],
      embedder: [0, 0.01, 0, 0],
      painter: [1, 0, 0.04, 0],
      each: [1, 0, 0.003, 0],
      gift: [0, 0, 0, 0],
      demo: [0, 0, 0, 0],
    });
    assert.deepEqual([rows.talker?.cache_ratio, rows.talker?.create_cache_ratio], [0.1, 1.25]);
    assert.deepEqual(rows.talker?.price, {
      free: false,
      input: '2.5',
      cacheRead: '0.25',
      cacheWrite: '3.125',
      output: '10',
      text: 'input 2.5, cache read 0.25, cache write 3.125, output 10 per million tokens',
    });
  });

  it('come with what tools look for beside the data', async () => {
    const { body, text } = await ann.get('/api/pricing');
    const { success, message, data, supported_endpoint: endpoints, ...rest } = body;
    assert.deepEqual([success, message, data.length], [true, '', 7]);
    assert.deepEqual(rest, {
      vendors: [],
      group_ratio: { default: 1 },
      usable_group: { default: 'Default' },
      auto_groups: [],
    });
    assert.deepEqual(endpoints.anthropic, { path: '/v1/messages', method: 'POST' });
    const rows = await pricing(ann);
    assert.deepEqual(rows.embedder?.supported_endpoint_types, ['embeddings']);
    assert.ok(rows.talker?.supported_endpoint_types.includes('openai'), 'it can be talked to');
    for (const type of data.flatMap((row: Row) => row.supported_endpoint_types)) {
      assert.ok(type in endpoints, `${type} is somewhere`);
    }
    for (const secret of [VENDOR_KEY, vendor.url, '127.0.0.1']) assert.ok(!text.includes(secret), secret);
  });

  it('are told to a key for what it may call, and to strangers where they may make an account [T-AUTHZ-09]', async () => {
    const scoped = await ann.data('POST', '/api/token/', { name: 'k', model_limits: 'talker' });
    const off = await ann.data('POST', '/api/token/', { name: 'k' });
    await ann.data('PUT', '/api/token/', { id: off.id, status: 2 });
    assert.deepEqual(await names(bearing(gateway.key)), await names(ann));
    assert.deepEqual(await names(bearing(scoped.key)), ['talker', 'alias']);
    for (const stranger of [visitor(gateway), bearing('anything'), bearing('sk-anything'), bearing(off.key)]) {
      assert.deepEqual(await names(stranger), []);
    }
    const open = await startGateway({
      config: { pipeline: CONSOLE_PIPELINE, console: { ...PATIENT, registration: 'open' } },
      env: ROOT_ENV,
    });
    try {
      const { body } = await visitor(open, { authorization: 'Bearer sk-anything' }).get('/api/pricing');
      assert.deepEqual(
        body.data.map((row: Row) => row.model_name),
        ['demo'],
      );
    } finally {
      await open.stop();
    }
  });
});

describe('models and groups', () => {
  it('are told to whoever is signed in', async () => {
    const models = await ann.data('GET', '/api/user/models');
    assert.deepEqual(models, ['talker', 'alias', 'embedder', 'painter', 'each', 'gift', 'unpriced', 'demo']);
    assert.deepEqual(await ann.data('GET', '/api/user/self/groups'), { default: { ratio: 1, desc: 'Default' } });
    for (const path of ['/api/user/models', '/api/user/self/groups', '/api/group/']) {
      assert.equal((await visitor(gateway).get(path)).status, 401, path);
      assert.equal((await bearing(gateway.key).get(path)).status, 401, path);
    }
    assert.equal((await visitor(gateway).get('/api/user/groups')).status, 200);
  });

  it('are named to administrators', async () => {
    assert.equal((await ann.get('/api/group/')).status, 403);
    const adam = await member(gateway, 'adam', { role: 'admin' });
    assert.deepEqual(await adam.data('GET', '/api/group/'), ['default']);
    assert.deepEqual(await adam.data('GET', '/api/group'), ['default']);
  });
});
