/** A thousand calls at once over real sockets, at every layer that has room for ten: ten reach the vendor. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Agent, request } from 'undici';
import { CONSOLE_PIPELINE, member, PATIENT, ROOT_ENV, root, type Visitor, verify } from '../../kit/console/console.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const CALLS = 1_000;
const SOCKETS = 200;
const ROOM = 10;
/** A call costs one quota: two millionths of a currency unit. */
const MODELS = { 'test-model': { from: ['main'], price: { perRequest: 0.000002 } } };
const TEN = 0.00002;

describe('a thousand calls at once', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let boss: Visitor;
  const agent = new Agent({ connections: SOCKETS });
  before(async () => {
    vendor = await fakeVendor();
    gateway = await startGateway({
      vendor,
      config: {
        pipeline: CONSOLE_PIPELINE,
        console: PATIENT,
        models: MODELS,
        plans: { day: { daily: TEN }, week: { weekly: TEN }, month: { monthly: TEN } },
      },
      env: ROOT_ENV,
    });
    boss = await verify(await root(gateway));
  });
  after(async () => {
    await agent.close();
    await gateway.stop();
    await vendor.close();
  });

  /** What becomes of the calls with a key: how often each answer came. */
  async function rush(key: string): Promise<Readonly<Record<string, number>>> {
    const body = JSON.stringify({ model: 'test-model', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 });
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const url = `${gateway.url}/v1/chat/completions`;
    const answers: Record<string, number> = {};
    await Promise.all(
      Array.from({ length: CALLS }, async () => {
        const response = await request(url, { method: 'POST', headers, body, dispatcher: agent });
        const { error } = (await response.body.json()) as { error?: { code: string } };
        const answer = `${response.statusCode} ${error?.code ?? 'ok'}`;
        answers[answer] = (answers[answer] ?? 0) + 1;
      }),
    );
    return answers;
  }

  for (const [layer, code] of [
    ['account', 'QUOTA_USER_INSUFFICIENT'],
    ['key', 'QUOTA_TOKEN_INSUFFICIENT'],
    ['day', 'QUOTA_MONTHLY_DAILY_EXCEEDED'],
    ['week', 'QUOTA_MONTHLY_WEEKLY_EXCEEDED'],
    ['month', 'QUOTA_MONTHLY_EXCEEDED'],
    ['department', 'QUOTA_DEPARTMENT_EXCEEDED'],
  ] as const) {
    it(`over the limit of one ${layer} let ten reach the vendor [T-LED-01]`, async () => {
      const name = `of-${layer}`;
      const me = await member(gateway, name, { units: layer === 'account' ? ROOM : 100_000 });
      const { id } = await me.data('GET', '/api/user/self');
      const key = await gateway.command(
        `key create --name k --user ${name} ${layer === 'key' ? `--quota ${ROOM}` : '--unlimited'}`,
      );
      if (layer === 'day' || layer === 'week' || layer === 'month') {
        await boss.data('POST', '/api/subscription/admin/bind', { user_id: id, plan: layer });
      }
      if (layer === 'department') {
        const { id: department } = await boss.data('POST', '/api/department/', { name, quota: ROOM });
        await boss.data('POST', `/api/department/${department}/members`, { user_ids: [id] });
      }
      const before = vendor.requests.length;
      assert.deepEqual(await rush(key), { '200 ok': ROOM, [`403 ${code}`]: CALLS - ROOM });
      assert.equal(vendor.requests.length - before, ROOM);
      assert.doesNotMatch(await gateway.command('reconcile'), /FAILED/);
    });
  }
});
