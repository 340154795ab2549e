/** Groups of channels at a real gateway: what the keys of a group reach, what their calls cost, and who may choose a group. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { parse, stringify } from 'yaml';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Departments } from '../../../core/contracts/departments.ts';
import { Explaining } from '../../../core/contracts/explaining.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { packOpaque, unpackOpaque } from '../../../core/translation/index.ts';
import {
  CONSOLE_PIPELINE,
  checked,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import { type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { errorAnswer, hold, jsonAnswer, wholeAnswer } from '../../kit/vendors/script.ts';

const PIPELINE = [...CONSOLE_PIPELINE, 'groups', 'passthrough', 'cache'];
const PRICE = { input: 1, output: 2 };

/** A channel at the vendor; its key tells which one was used. The highest priority is 0. */
const channel = (vendor: FakeVendor, name: string, priority: number, more: object = {}) => ({
  name,
  vendor: 'compatible',
  url: vendor.url,
  key: `key-of-${name}`,
  priority,
  ...more,
});

/** The channel that a request used. */
const channelOf = ({ headers }: VendorRequest): string => String(headers.authorization).replace('Bearer key-of-', '');

const configOf = (vendor: FakeVendor, groups: object | undefined): Record<string, unknown> => ({
  listen: { host: '127.0.0.1', port: 0, attempts: { max: 10 } },
  pipeline: PIPELINE,
  console: PATIENT,
  channels: [
    channel(vendor, 'fast', 0),
    channel(vendor, 'main', 1),
    channel(vendor, 'backup', 2),
    channel(vendor, 'told', 0, { speaks: ['responses'] }),
    channel(vendor, 'plain', 1, { speaks: ['responses'] }),
  ],
  models: {
    'test-model': { from: ['fast', 'main', 'backup'], price: PRICE },
    'only-fast': { from: ['fast'], price: PRICE },
    'with-fallback': { from: ['main'], fallback: ['only-fast', 'dear', 'other'], price: PRICE },
    dear: { from: ['fast'], price: { input: 1_000, output: 2_000 } },
    other: { from: ['backup'], price: PRICE },
    nick: { alias: 'test-model' },
    'star-*': { from: ['fast', 'main'], price: PRICE },
    kept: { from: ['told', 'plain'], price: PRICE },
  },
  passthrough: [
    { prefix: '/v1/files', channel: 'fast', price: 5 },
    { prefix: '/v1/batches', channel: 'main', free: true },
  ],
  cache: { ttl: '0s' },
  ...(groups && { groups }),
});

const GROUPS = {
  default: { channels: ['main', 'backup', 'plain'] },
  vip: { channels: ['main', 'fast', 'told'], factor: 0.8, factors: { svip: 0.7, exact: 0.1234567, free: 0 } },
  auto: { of: ['default', 'vip'], for: ['default'] },
  shut: { channels: [] },
  everything: { factor: 2 },
};

let vendor: FakeVendor;
let gateway: TestGateway;
let boss: Visitor;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({ config: configOf(vendor, GROUPS), env: ROOT_ENV });
  boss = await checked(gateway, await root(gateway));
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

let count = 0;
/** The secret of a new key with this group, of a new account in a group. */
async function keyOf(group: string | undefined, accountGroup?: string, at = gateway) {
  const name = `user-${++count}`;
  const { id } = await at.host.use(Accounts).create({ name, role: 'member', opening: 'unlimited' });
  if (accountGroup !== undefined) await at.host.use(Accounts).change(id, { group: accountGroup });
  const { secret, key } = await at.host.use(Keys).create({ accountId: id, name, allowance: undefined, group });
  return { secret, keyId: key.id, accountId: id, name };
}

async function call(secret: string, model = 'test-model', more: object = {}, at = gateway) {
  const from = vendor.requests.length;
  const response = await at.chat({ model, max_tokens: 10, ...more }, { key: secret });
  const body = (await response.json()) as { error?: { code: string; message: string } };
  return {
    status: response.status,
    code: body.error?.code,
    message: body.error?.message ?? '',
    requestId: response.headers.get('x-request-id')!,
    channels: vendor.requests.slice(from).map(channelOf),
  };
}

/** The record of a call. */
function recordOf(requestId: string, at = gateway) {
  const found = usageRecords(at.storeFile).find(({ id }) => id === requestId);
  assert.ok(found !== undefined, 'the call has a record');
  return found;
}

/** The channels that a call may use, in order. */
async function explained(secret: string, model: string, at = gateway, body: object = {}) {
  const decision = await at.host.use(Explaining).explain({
    holder: async () => (await at.host.use(Keys).find(secret))!,
    style: 'chat',
    body: Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }], max_tokens: 5, ...body })),
  });
  return { decision, channels: decision.offers.map((offer) => offer.channel) };
}

const asked = async (path: string, secret: string, init: RequestInit = {}) => {
  const from = vendor.requests.length;
  const response = await fetch(`${gateway.url}${path}`, {
    ...init,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  });
  const text = await response.text();
  const requestId = response.headers.get('x-request-id')!;
  return { status: response.status, text, requestId, channels: vendor.requests.slice(from).map(channelOf) };
};

describe('a key of a group', () => {
  it('uses the channels of its group alone, in the order of their priorities', async () => {
    const usual = await keyOf(undefined);
    const vip = await keyOf('vip');
    assert.deepEqual((await call(usual.secret)).channels, ['main']);
    assert.deepEqual((await call(vip.secret)).channels, ['fast']);
    assert.deepEqual((await call((await keyOf(undefined, 'vip')).secret)).channels, ['fast']);
    assert.deepEqual((await call((await keyOf('default', 'vip')).secret)).channels, ['main']);
    assert.deepEqual((await call((await keyOf('everything')).secret)).channels, ['fast']);
    assert.deepEqual((await call(usual.secret, 'nick')).channels, ['main']);
    assert.deepEqual((await call(usual.secret, 'star-light')).channels, ['main']);
  });

  it('is not served by another channel if all of its group fail, nor by a fallback at another channel', async () => {
    const usual = await keyOf(undefined);
    vendor.next(errorAnswer(500), errorAnswer(500));
    const failed = await call(usual.secret);
    assert.deepEqual([failed.status >= 500, failed.channels], [true, ['main', 'backup']]);
    vendor.next(errorAnswer(500));
    const fallen = await call(usual.secret, 'with-fallback');
    assert.deepEqual([fallen.status, fallen.channels], [200, ['main', 'backup']]);
  });

  it('may not call a model that the group does not reach: 403 in a call, 404 in lists, and without a suggestion', async () => {
    const usual = await keyOf(undefined);
    const { status, code, message, channels } = await call(usual.secret, 'only-fast');
    assert.deepEqual([status, code, channels], [403, 'model_not_allowed', []]);
    assert.match(message, /its group "default" does not reach it/);
    assert.equal((await call((await keyOf('shut')).secret)).status, 403);
    const unknown = await call(usual.secret, 'only-fasd');
    assert.deepEqual([unknown.status, unknown.code], [404, 'model_not_found']);
    assert.doesNotMatch(unknown.message, /only-fast/);
    assert.match((await call((await keyOf('vip')).secret, 'only-fasd')).message, /only-fast/);

    const listed = async (secret: string) =>
      (JSON.parse((await asked('/v1/models', secret)).text).data as { id: string }[]).map(({ id }) => id).sort();
    assert.deepEqual(await listed(usual.secret), ['kept', 'nick', 'other', 'test-model', 'with-fallback']);
    assert.deepEqual(await listed((await keyOf('shut')).secret), []);
    assert.ok((await listed((await keyOf('auto')).secret)).includes('only-fast'));
    assert.equal((await asked('/v1/models/only-fast', usual.secret)).status, 404);
    assert.equal((await asked('/v1/models/test-model', usual.secret)).status, 200);
    const counted = { method: 'POST', body: JSON.stringify({ model: 'only-fast', input: 'x' }) };
    assert.equal((await asked('/v1/responses/input_tokens', usual.secret, counted)).status, 404);
  });

  it('of which nothing is configured is refused, and names the group', async () => {
    const { secret } = await keyOf(undefined, 'gone');
    const { status, code, message } = await call(secret);
    assert.deepEqual([status, code], [403, 'group_not_found']);
    assert.match(message, /"gone"/);
    assert.equal((await asked('/v1/files', secret)).status, 403);
    const { decision } = await explained(secret, 'test-model');
    assert.equal(decision.refusal?.code, 'group_not_found');
  });

  it('reaches passthrough routes of its channels alone', async () => {
    const usual = await keyOf(undefined);
    const refused = await asked('/v1/files', usual.secret);
    assert.deepEqual(
      [refused.status, JSON.parse(refused.text).error.code, refused.channels],
      [403, 'model_not_allowed', []],
    );
    assert.deepEqual((await asked('/v1/batches', usual.secret)).channels, ['main']);
    assert.deepEqual((await asked('/v1/files', (await keyOf('vip')).secret)).channels, ['fast']);
  });

  it('does not follow a conversation to a channel of another group', async () => {
    const usual = await keyOf(undefined);
    const carrier = packOpaque({ style: 'chat', channel: 'fast', kind: 'encrypted', value: 'x' });
    assert.equal(unpackOpaque(carrier)?.channel, 'fast');
    const content = { messages: [{ role: 'user', content: `go on with ${carrier}` }] };
    assert.deepEqual((await call(usual.secret, 'test-model', content)).channels, ['main']);
    assert.deepEqual((await explained(usual.secret, 'test-model', gateway, content)).channels, ['main', 'backup']);
  });

  it('gets no cached answer that another group of the same account paid for', async () => {
    const own = await fakeVendor();
    const config = { ...configOf(own, GROUPS), cache: { ttl: '1h', calls: 'all' } };
    const at = await startGateway({ config, env: ROOT_ENV });
    try {
      const vip = await keyOf('vip', undefined, at);
      const more = { accountId: vip.accountId, name: 'usual', allowance: undefined };
      const { secret: usual } = await at.host.use(Keys).create(more);
      for (const secret of [vip.secret, vip.secret, usual, usual]) await at.chat({}, { key: secret });
      assert.deepEqual(own.requests.map(channelOf), ['fast', 'main']);
    } finally {
      await at.stop();
      await own.close();
    }
  });

  it('follows a change of the group of its account with the next call', async () => {
    const { secret, accountId } = await keyOf(undefined);
    assert.deepEqual((await call(secret)).channels, ['main']);
    await gateway.host.use(Accounts).change(accountId, { group: 'vip' });
    assert.deepEqual((await call(secret)).channels, ['fast']);
  });

  it('continues a stored response of another channel at its own, and asks no other vendor about one', async () => {
    const vip = await keyOf('vip');
    const keys = gateway.host.use(Keys);
    const { secret: usual } = await keys.create({ accountId: vip.accountId, name: 'usual', allowance: undefined });
    const post = (secret: string, body: object) =>
      asked('/v1/responses', secret, { method: 'POST', body: JSON.stringify({ model: 'kept', ...body }) });
    vendor.next(jsonAnswer(200, responseOf('resp_vip', 'in_progress')));
    const begun = await post(vip.secret, { input: 'Hello', background: true });
    assert.deepEqual([begun.status, begun.channels], [200, ['told']], begun.text);
    assert.deepEqual((await asked('/v1/responses/resp_vip', usual)).channels, [], 'its vendor is not asked');
    assert.equal((await asked('/v1/responses/resp_vip/cancel', usual, { method: 'POST', body: '{}' })).status, 502);
    vendor.next(jsonAnswer(200, responseOf('resp_2', 'completed')));
    const next = await post(usual, { input: 'And?', previous_response_id: 'resp_vip' });
    assert.deepEqual([next.status, next.channels], [200, ['plain']], next.text);
    vendor.next(jsonAnswer(200, responseOf('resp_vip', 'completed')));
    assert.deepEqual((await asked('/v1/responses/resp_vip', vip.secret)).channels, ['told']);
    const deleted = await asked('/v1/responses/resp_vip', usual, { method: 'DELETE' });
    assert.deepEqual([deleted.status, deleted.channels], [200, []]);
  });

  it('with `of` uses the first group that has a channel of the model, and pays its factor', async () => {
    const { secret } = await keyOf('auto');
    const first = await call(secret);
    assert.deepEqual(first.channels, ['main']);
    assert.equal(recordOf(first.requestId).charged, 12_500_000n);
    const second = await call(secret, 'only-fast');
    assert.deepEqual(second.channels, ['fast']);
    const { charged, other } = recordOf(second.requestId);
    assert.deepEqual([charged, other.group, other.priceFactor], [10_000_000n, 'vip', 0.8]);
    // Another group is not tried after the first has failed: it has another price.
    vendor.next(errorAnswer(500), errorAnswer(500));
    assert.deepEqual((await call(secret)).channels, ['main', 'backup']);
  });

  it('is explained: the group, its channels, its part of the price', async () => {
    const { secret } = await keyOf('auto');
    const { decision } = await explained(secret, 'only-fast');
    const { says, facts } = decision.plugins.find(({ plugin }) => plugin === 'groups')!;
    assert.deepEqual(says, [
      'the group auto, that of the key',
      'the group vip is the first of it that serves the model',
      'channels: main, fast, told',
      'calls pay 0.8 of the price',
    ]);
    assert.equal(facts?.group, 'vip');
    assert.equal((await explained((await keyOf(undefined)).secret, 'only-fast')).decision.refusal?.status, 403);
  });
});

describe('the price of a call', () => {
  // 11 tokens of input at 1 and 7 of output at 2: 25 millionths of a unit, 12.5 quota.
  const FULL = 12_500_000n;

  async function costOf(key: { readonly secret: string }, model = 'test-model'): Promise<bigint> {
    const { requestId, status } = await call(key.secret, model);
    assert.equal(status, 200);
    return recordOf(requestId).charged;
  }

  it('is that of the group, or of the group for accounts of another one', async () => {
    assert.equal(await costOf(await keyOf(undefined)), FULL);
    assert.equal(await costOf(await keyOf('vip')), 10_000_000n);
    assert.equal(await costOf(await keyOf('vip', 'svip')), 8_750_000n);
    assert.equal(await costOf(await keyOf('vip', 'free')), 0n);
    assert.equal(await costOf(await keyOf('everything')), 25_000_000n);
    assert.equal(await costOf(await keyOf('auto', 'svip'), 'only-fast'), 8_750_000n);
  });

  it('is multiplied by the factor of the department, and rounded up once', async () => {
    const key = await keyOf('vip', 'exact');
    assert.equal(await costOf(key), (FULL * 1_234_567n) / 10_000_000n + 1n);
    const departments = gateway.host.use(Departments);
    const { id } = await departments.create({ name: 'Half as much again', factorPpm: 1_500_000 });
    await departments.place(key.accountId, id);
    // 0.1234567 * 1.5
    assert.equal(await costOf(key), (FULL * 18_518_505n) / 100_000_000n + 1n);
  });

  it('is reserved for the channels that the group reaches, whatever others cost', async () => {
    const most = async (group: string | undefined) => {
      const { decision } = await explained((await keyOf(group)).secret, 'with-fallback');
      return BigInt(String(decision.plugins.find(({ plugin }) => plugin === 'quota')?.facts?.most));
    };
    const usual = await most(undefined);
    assert.ok(usual > 0n);
    // A fallback at another channel costs a thousand times as much; the group pays twice the price.
    assert.equal(await most('everything'), usual * 2_000n);
  });

  it('is in the receipt, and counts for passthrough requests, too', async () => {
    const vip = await keyOf('vip');
    const { requestId } = await call(vip.secret);
    const [line] = (await boss.data('GET', `/api/log/?request_id=${requestId}`)).items;
    const other = JSON.parse(line.other);
    assert.deepEqual([other.group_ratio, line.quota], [0.8, 10]);
    vendor.next(jsonAnswer(200, { data: [] }));
    const { requestId: carried } = await asked('/v1/files', vip.secret);
    assert.equal(recordOf(carried).charged, 4_000_000n);
  });
});

describe('the group of a key', () => {
  it('is chosen by users only among those that are for them, and by administrators among all', async () => {
    const ann = await member(gateway, 'ann', { units: 1_000 });
    const made = await ann.data('POST', '/api/token/', { name: 'k', group: 'auto' });
    assert.equal(made.group, 'auto');
    for (const group of ['vip', 'everything', 'gone']) {
      assert.equal(said(await ann.post('/api/token/', { name: 'k', group })), '403 group_not_allowed');
      assert.equal(said(await ann.put('/api/token/', { id: made.id, group })), '403 group_not_allowed');
    }
    // What clients send that mean nothing by it.
    for (const group of ['', 'default', null]) {
      assert.equal((await ann.data('POST', '/api/token/', { name: 'k', group })).group, '');
    }
    assert.equal((await ann.data('PUT', '/api/token/', { id: made.id, group: '' })).group, '');
    assert.equal(said(await boss.put('/api/token/', { id: made.id, group: 'gone' })), '400 invalid_group');
    assert.equal((await boss.data('PUT', '/api/token/', { id: made.id, group: 'shut' })).group, 'shut');
    // The key would become more powerful.
    for (const group of ['', 'default', 'auto']) {
      assert.equal(said(await ann.put('/api/token/', { id: made.id, group })), '403 group_not_allowed');
    }
    const { id, name, group } = await ann.data('PUT', '/api/token/', { id: made.id, name: 'renamed', group: 'shut' });
    assert.deepEqual([id, name, group], [made.id, 'renamed', 'shut']);
    assert.equal((await call(made.key)).status, 403);
    assert.equal((await boss.data('PUT', '/api/token/', { id: made.id, group: 'vip' })).group, 'vip');
    assert.deepEqual((await call(made.key)).channels, ['fast'], 'the next call knows it');
  });

  it('and that of an account are shown with their factors, and model lists have what they serve', async () => {
    const bob = await member(gateway, 'bob');
    assert.deepEqual(await bob.data('GET', '/api/user/self/groups'), {
      default: { ratio: 1, desc: 'default' },
      auto: { ratio: 'auto', desc: 'auto' },
    });
    assert.deepEqual(await boss.data('GET', '/api/group/'), Object.keys(GROUPS));
    const dora = await member(gateway, 'dora');
    const found = (await gateway.host.use(Accounts).findByName('dora'))!;
    await boss.data('PUT', '/api/user/', { id: found.id, group: 'vip' });
    assert.deepEqual(await dora.data('GET', '/api/user/self/groups'), { vip: { ratio: 0.8, desc: 'vip' } });
    assert.ok((await dora.data('GET', '/api/user/models')).includes('only-fast'));
    const catalog = (await dora.data('GET', '/api/models/catalog')) as { name: string; groups: unknown }[];
    assert.deepEqual(catalog.map(({ name }) => name).sort(), [
      'dear',
      'kept',
      'nick',
      'only-fast',
      'test-model',
      'with-fallback',
    ]);
    assert.deepEqual(catalog.find(({ name }) => name === 'only-fast')?.groups, [{ name: 'vip', factor: '0.8' }]);
    const { body: pricing } = await dora.get('/api/pricing');
    assert.deepEqual([pricing.group_ratio, pricing.usable_group], [{ vip: 0.8 }, { vip: 'vip' }]);
    assert.ok(!(pricing.data as JsonObject[]).some(({ model_name: name }) => name === 'other'));
    const { secret } = await keyOf('auto', 'svip');
    const { body: ofKey } = await visitor(gateway).get('/api/pricing', { authorization: `Bearer ${secret}` });
    assert.deepEqual(Object.keys(ofKey.usable_group), ['auto']);
    assert.ok((ofKey.data as JsonObject[]).some(({ model_name: name }) => name === 'only-fast'));
    const { body: ofVisitor } = await visitor(gateway).get('/api/pricing');
    assert.deepEqual([ofVisitor.data, ofVisitor.usable_group], [[], {}], 'nobody can register');
  });

  it('can be set and is shown by commands', async () => {
    await gateway.command('key create --name told --group vip');
    const [key] = JSON.parse(await gateway.command('key list --json')).filter(
      (each: JsonObject) => each.name === 'told',
    );
    assert.equal(key.group, 'vip');
    assert.match(await gateway.command(`key show ${key.id}`), /GROUP +vip/);
    await gateway.command(`key edit ${key.id} --group account`);
    assert.match(await gateway.command(`key show ${key.id}`), /GROUP +that of its user/);
    const { code, stderr } = await gateway.tryCommand(`key edit ${key.id} --group vib`);
    assert.equal(code, 1);
    assert.match(stderr, /There is no group "vib"; did you mean vip\?/);
  });
});

describe('the section `groups`', () => {
  it('may change while calls run: they end as they began, and the next ones follow the new section', async () => {
    const own = await fakeVendor();
    const at = await startGateway({ config: configOf(own, GROUPS), env: ROOT_ENV });
    try {
      const { secret } = await keyOf('vip', undefined, at);
      own.next([hold(), ...wholeAnswer()]);
      const running = at.chat({ max_tokens: 10 }, { key: secret });
      await own.waitFor(1);
      const config = parse(readFileSync(at.configFile, 'utf8')) as JsonObject;
      writeFileSync(
        at.configFile,
        stringify({ ...config, groups: { ...GROUPS, vip: { channels: ['backup'], factor: 3 } } }),
      );
      await at.gateway.reload();
      const later = await at.chat({ max_tokens: 10 }, { key: secret });
      assert.equal(later.status, 200);
      own.release();
      const first = await running;
      await first.text();
      const records = [first, later].map((each) => recordOf(each.headers.get('x-request-id')!, at));
      assert.deepEqual(
        records.map(({ channel: used, charged }) => [used, charged]),
        [
          ['fast', 10_000_000n],
          ['backup', 37_500_000n],
        ],
      );
      writeFileSync(at.configFile, stringify({ ...config, groups: undefined }));
      await at.gateway.reload();
      assert.equal((await at.chat({ model: 'only-fast', max_tokens: 10 }, { key: secret })).status, 200);
    } finally {
      await at.stop();
      await own.close();
    }
  });

  it('reports unknown channels and groups, cycles and what excludes each other, and warns without `default`', async () => {
    const refusal = async (groups: object): Promise<string> => {
      const error = await startGateway({ config: configOf(vendor, groups) }).then(
        async (started) => {
          const said = started.log.join('\n');
          await started.stop();
          return said;
        },
        (thrown: Error) => thrown.message,
      );
      return error;
    };
    assert.match(await refusal({ default: { channels: ['mian'] } }), /there is no channel 'mian'/);
    assert.match(
      await refusal({ default: {}, a: { of: ['defualt'] } }),
      /there is no group 'defualt'; did you mean default/,
    );
    assert.match(await refusal({ default: {}, a: { of: ['b'] }, b: { of: ['a'] } }), /groups form a cycle: a → b → a/);
    assert.match(await refusal({ default: {}, a: { of: ['default'], factor: 2 } }), /has the factor of the groups/);
    assert.match(await refusal({ default: { factor: -1 } }), /factor/);
  });
});

describe('whatever the groups, channels and models are', () => {
  it('a key reaches exactly the channels of its group', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const some = fc.subarray(names, { minLength: 1 });
    const world = fc.record({
      priorities: fc.array(fc.nat({ max: 2 }), { minLength: 5, maxLength: 5 }),
      models: fc.array(some, { minLength: 3, maxLength: 3 }),
      groups: fc.array(fc.option(fc.subarray(names)), { minLength: 3, maxLength: 3 }),
      failing: fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }),
    });
    await fc.assert(
      fc.asyncProperty(world, async ({ priorities, models, groups, failing }) => {
        const [first, second, third] = models.map((from) => ({ from, price: PRICE }));
        const section: Record<string, object> = Object.fromEntries(
          groups.map((channels, i) => [`g${i}`, channels === null ? {} : { channels }]),
        );
        const config = {
          ...configOf(vendor, { default: {}, ...section, either: { of: ['g0', 'g1'] } }),
          channels: names.map((name, i) => channel(vendor, name, priorities[i]!)),
          models: {
            m0: { ...first, fallback: ['m1'] },
            m1: { ...second, fallback: ['m2'] },
            m2: third,
            n0: { alias: 'm0' },
          },
          passthrough: [],
        };
        const at = await startGateway({ config, env: ROOT_ENV });
        try {
          const within = (i: number, from: readonly string[]) =>
            from.filter((name) => groups[i]?.includes(name) ?? true);
          for (const name of ['g0', 'g1', 'g2', 'either']) {
            const { secret } = await keyOf(name, undefined, at);
            const used = name !== 'either' ? Number(name[1]) : within(0, models[0]!).length > 0 ? 0 : 1;
            const [own, ...others] = models.map((from) => within(used, from));
            const { channels, decision } = await explained(secret, 'n0', at);
            if (own!.length === 0) {
              assert.deepEqual([decision.refusal?.status, decision.refusal?.code], [403, 'model_not_allowed']);
              assert.deepEqual((await call(secret, 'm0', {}, at)).channels, []);
              continue;
            }
            assert.deepEqual(channels.toSorted(), [...own!, ...others.flat()].toSorted());
            const ranks = channels.slice(0, own!.length).map((each) => priorities[names.indexOf(each)]!);
            assert.deepEqual(ranks, ranks.toSorted(), 'in the order of the priorities');
            vendor.next(...failing.map((fails) => (fails ? errorAnswer(500) : wholeAnswer())));
            const done = await call(secret, 'm0', {}, at);
            vendor.forget();
            assert.ok(done.channels.length > 0);
            for (const each of done.channels) assert.ok(channels.includes(each), `${each} is of the group`);
          }
        } finally {
          await at.stop();
        }
      }),
      { numRuns: 12 },
    );
  });
});

function responseOf(id: string, status: string): JsonObject {
  const content = [{ type: 'output_text', text: 'Hi', annotations: [] }];
  const message = { type: 'message', id: `msg_${id}`, role: 'assistant', status: 'completed', content };
  return {
    ...{ id, object: 'response', created_at: 1, model: 'kept', status, background: true, store: true },
    output: status === 'completed' ? [message] : [],
    usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  };
}
