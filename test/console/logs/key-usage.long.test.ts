import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, type Visitor, visitor } from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const USAGE = '/api/usage/token/';
const PAGES = [
  USAGE,
  '/api/usage/token',
  '/v1/dashboard/billing/subscription',
  '/dashboard/billing/subscription',
  '/v1/dashboard/billing/usage',
  '/dashboard/billing/usage',
];

let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;

before(async () => {
  vendor = await fakeVendor();
  gateway = await startGateway({
    vendor,
    config: { pipeline: CONSOLE_PIPELINE, console: PATIENT },
    env: ROOT_ENV,
  });
  ann = await member(gateway, 'ann', { units: 1_000_000 });
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

const asking = (key: string): Visitor => visitor(gateway, { authorization: `Bearer ${key}` });
const make = (body: object = {}) => ann.data('POST', '/api/token/', { name: 'cli', ...body });

describe('a key that asks about itself', () => {
  it('is told what it has used and has left, in the shape that tools know', async () => {
    const { key } = await make({ remain_quota: 250_000, model_limits: 'test-model' });
    const call = await gateway.chat({ max_tokens: 10 }, { key });
    await call.text();
    const { status, body } = await asking(key).get(USAGE);
    assert.equal(status, 200);
    const used = body.data.total_used;
    assert.ok(used > 0, 'the call cost something');
    assert.deepEqual(body, {
      code: true,
      message: 'ok',
      data: {
        object: 'token_usage',
        name: 'cli',
        total_granted: 250_000,
        total_used: used,
        total_available: body.data.total_available,
        unlimited_quota: false,
        model_limits: { 'test-model': true },
        model_limits_enabled: true,
        expires_at: 0,
      },
    });
    assert.equal(body.data.total_available + used, 250_000);
    assert.deepEqual((await asking(key).get('/api/usage/token')).body, body);

    const paid = (await asking(key).get('/v1/dashboard/billing/subscription')).body;
    assert.deepEqual(paid, {
      object: 'billing_subscription',
      has_payment_method: true,
      soft_limit_usd: 0.5,
      hard_limit_usd: 0.5,
      system_hard_limit_usd: 0.5,
      access_until: 0,
    });
    const spent = (await asking(key).get('/dashboard/billing/usage?start_date=2020-01-01')).body;
    assert.equal(spent.object, 'list');
    assert.ok(Math.abs(spent.total_usage - (used / 500_000) * 100) < 0.001, `${spent.total_usage} hundredths`);
  });

  it('without a limit is told so', async () => {
    const expires = Math.floor(Date.now() / 1_000) + 3_600;
    const { key } = await make({ expired_time: expires });
    const { data } = (await asking(key).get(USAGE)).body;
    assert.deepEqual(
      [data.unlimited_quota, data.total_available, data.expires_at, data.model_limits, data.model_limits_enabled],
      [true, 0, expires, {}, false],
    );
    const { hard_limit_usd: limit, access_until: until } = (await asking(key).get(PAGES[2]!)).body;
    assert.deepEqual([limit, until], [100_000_000, expires]);
  });

  it('gets its answer also when it has expired or is exhausted', async () => {
    const exhausted = await make({ remain_quota: 0 });
    const expired = await make({ expired_time: Math.floor(Date.now() / 1_000) + 3_600 });
    await gateway.host.store.run('UPDATE api_key SET expires_ms = 1000 WHERE id = ?', expired.id);
    for (const { key } of [exhausted, expired]) {
      assert.notEqual((await gateway.chat({}, { key })).status, 200);
      for (const page of PAGES) assert.equal((await asking(key).get(page)).status, 200, page);
    }
    assert.equal((await asking(expired.key).get(USAGE)).body.data.expires_at, 1);
    assert.equal((await ann.data('GET', `/api/token/${expired.id}`)).status, 3);
  });

  it('gets none when it is disabled, revoked, invented or elsewhere', async () => {
    const disabled = await make();
    await ann.data('PUT', '/api/token/', { id: disabled.id, status: 2 });
    const revoked = await make();
    await ann.data('DELETE', `/api/token/${revoked.id}`);
    const elsewhere = await make({ allow_ips: '192.0.2.1' });
    for (const page of PAGES) {
      for (const { key } of [disabled, revoked, { key: 'sk-invented' }]) {
        assert.equal((await asking(key).get(page)).status, 401, page);
      }
      assert.equal((await asking(elsewhere.key).get(page)).status, 403, page);
    }
  });

  it('is the only one who does: neither a sign-in nor an access token counts', async () => {
    const token = await ann.data('GET', '/api/user/token');
    for (const page of PAGES) {
      for (const who of [visitor(gateway), ann, asking(token)]) assert.equal((await who.get(page)).status, 401, page);
    }
  });

  it('is refused in the words of the page, without being repeated [T-SEC-03]', async () => {
    const usage = await asking('sk-canary-0123456789').get(USAGE);
    assert.deepEqual([usage.body.success, usage.body.code], [false, 'invalid_api_key']);
    const billing = await asking('sk-canary-0123456789').get('/v1/dashboard/billing/usage');
    assert.deepEqual(Object.keys(billing.body), ['error']);
    assert.equal(billing.body.error.code, 'invalid_api_key');
    for (const { text } of [usage, billing]) assert.ok(!text.includes('canary'), text);
  });
});

describe('whoever asks too often', () => {
  it('is told when to come back, and calls go on', async () => {
    const strict = await startGateway({
      config: { pipeline: CONSOLE_PIPELINE, console: { limits: { requests: 3 } } },
      env: ROOT_ENV,
    });
    try {
      const asks = visitor(strict, { authorization: `Bearer ${strict.key}` });
      const answers = [];
      for (let i = 0; i < 4; i++) answers.push(await asks.get(USAGE));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200, 429],
      );
      assert.match(answers[3]!.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
      assert.equal((await strict.chat({ model: 'demo' })).status, 200);
    } finally {
      await strict.stop();
    }
  });
});
