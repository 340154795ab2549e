/** The limits of a key at a real gateway: set by the API and by commands, enforced by every call, reset with their period. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import {
  advanced,
  CONSOLE_PIPELINE,
  checked,
  fieldOf,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  signedIn,
  type Visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const DAY_MS = 86_400_000;
/** A Wednesday, the last day of a month, at noon. */
const NOON_MS = Date.UTC(2026, 8, 30, 12);

let clock: FakeClock;
let vendor: FakeVendor;
let gateway: TestGateway;
let ann: Visitor;

before(async () => {
  clock = fakeClock(NOON_MS);
  vendor = await fakeVendor();
  const config = { pipeline: CONSOLE_PIPELINE, console: PATIENT };
  gateway = await startGateway({ vendor, clock, config, env: ROOT_ENV });
  await member(gateway, 'ann', { units: 100_000_000 });
});
// Sessions expire when the time moves.
beforeEach(async () => {
  ann = await signedIn(gateway, 'ann');
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

/** A key of ann with these limits. */
const keyWith = (limits: readonly object[]) => ann.data('POST', '/api/token/', { name: 'k', limits });

async function call(key: string, model = 'test-model') {
  const response = await gateway.chat({ model, max_tokens: 10 }, { key });
  const { error } = (await response.json()) as { readonly error?: { readonly code: string; readonly message: string } };
  return { status: response.status, code: error?.code, message: error?.message ?? '', headers: response.headers };
}

/** The answer to the first call that is refused, and the number of calls before it. */
async function callUntilRefused(key: string, model?: string) {
  for (let count = 0; count < 200; count++) {
    const answer = await call(key, model);
    if (answer.status !== 200) return { ...answer, count };
  }
  return assert.fail('no call was refused');
}

const NONE = { requests_per_minute: null, tokens_per_minute: null, concurrent: null };
const NO_BUDGETS = { daily_budget: null, weekly_budget: null, monthly_budget: null };

describe('limits of a key', () => {
  it('are shown as they were set, stay if a change omits them, and are removed by an empty list', async () => {
    const limits = [
      { daily_budget: 5_000, requests_per_minute: 9 },
      { model: 'test-*', tokens_per_minute: 1_000 },
    ];
    const { id, limits: shown } = await keyWith(limits);
    const expected = [
      { model: '', ...NONE, ...NO_BUDGETS, requests_per_minute: 9, daily_budget: 5_000 },
      { model: 'test-*', ...NONE, ...NO_BUDGETS, tokens_per_minute: 1_000 },
    ];
    assert.deepEqual(shown, expected);
    assert.deepEqual((await ann.data('PUT', '/api/token/', { id, name: 'renamed' })).limits, expected);
    assert.deepEqual((await ann.data('GET', `/api/token/${id}`)).limits, expected);
    assert.deepEqual((await ann.data('PUT', '/api/token/', { id, limits: [] })).limits, []);
  });

  it('are refused if they limit nothing, are for the same models twice, or name no model', async () => {
    for (const limits of [[{}], [{ concurrent: 1 }, { model: ' ', daily_budget: 1 }]]) {
      assert.equal(fieldOf(await ann.post('/api/token/', { name: 'k', limits })), '400 limits');
    }
    assert.equal(
      fieldOf(await ann.post('/api/token/', { name: 'k', limits: [{ concurrent: 0 }] })),
      '400 limits.0.concurrent',
    );
    const unknown = await ann.post('/api/token/', { name: 'k', limits: [{ model: 'test-modle', concurrent: 1 }] });
    assert.match(unknown.text, /Did you mean \\"test-model\\"/);
  });

  it('refuse a request beyond the rate with 429, the limit, and when to try again', async () => {
    const { key, id } = await keyWith([{ model: 'test-*', requests_per_minute: 2 }]);
    assert.equal((await call(key)).status, 200);
    const second = await call(key);
    assert.equal(second.headers.get('x-ratelimit-limit-requests'), '2');
    assert.equal(second.headers.get('x-ratelimit-remaining-requests'), '0');
    const { status, code, message, headers } = await call(key);
    assert.deepEqual([status, code], [429, 'rate_limit_exceeded']);
    assert.match(message, /own requests_per_minute for "test-\*"/);
    assert.equal(headers.get('retry-after'), '60');
    assert.equal((await call(key, 'free-model')).status, 200, 'another model');
    const usage = { model: 'test-*', kind: 'requests_per_minute', limit: 2, used: 2, resets_at: 0 };
    assert.deepEqual(await ann.data('GET', `/api/token/${id}/limits`), [usage]);
    await advanced(gateway, clock, 60_000);
    assert.equal((await call(key)).status, 200);
  });

  // From a Wednesday, the last of its month, to Thursday, Friday and Monday.
  for (const [period, days] of [
    ['monthly', 1],
    ['daily', 1],
    ['weekly', 3],
  ] as const) {
    it(`spend no more than the ${period} budget, which resets at the end of its period in UTC`, async () => {
      const { key, id } = await keyWith([{ [`${period}_budget`]: 100 }]);
      const { status, code, message, count } = await callUntilRefused(key);
      assert.deepEqual([status, code], [403, 'QUOTA_TOKEN_PERIOD_EXCEEDED']);
      const [{ used, limit, resets_at: resetsS }] = await ann.data('GET', `/api/token/${id}/limits`);
      assert.ok(count > 0 && used > 0 && used <= limit, `${count} calls, ${used} used`);
      assert.match(
        message,
        new RegExp(`the ${period} budget of the key .* resets at ${new Date(resetsS * 1_000).toISOString()}`),
      );
      const waitMs = resetsS * 1_000 - clock.now();
      assert.ok(waitMs > 0 && waitMs <= days * DAY_MS);
      await advanced(gateway, clock, waitMs - 60_000);
      assert.equal((await call(key)).status, 403, 'a minute before');
      await advanced(gateway, clock, 60_000);
      assert.equal((await call(key)).status, 200);
    });
  }

  it('let a key with a budget for one model call every other model', async () => {
    const { key } = await keyWith([{ model: 'test-model', monthly_budget: 0 }]);
    const { status, message } = await call(key);
    assert.equal(status, 403);
    assert.match(message, /the monthly budget of the key for "test-model"/);
    assert.equal((await call(key, 'free-model')).status, 200);
  });

  it('do not lose the spending of a period if they are removed and set again', async () => {
    const limits = [{ daily_budget: 100 }];
    const { key, id } = await keyWith(limits);
    await callUntilRefused(key);
    await ann.data('PUT', '/api/token/', { id, limits: [] });
    assert.equal((await call(key)).status, 200);
    await ann.data('PUT', '/api/token/', { id, limits });
    assert.equal((await call(key)).status, 403);
  });

  it('of a user can be changed by an administrator, after a verification', async () => {
    const { key, id } = await keyWith([]);
    const boss = await root(gateway);
    assert.equal(
      said(await boss.put('/api/token/', { id, limits: [{ daily_budget: 0 }] })),
      '403 verification_required',
    );
    await (await checked(gateway, boss)).data('PUT', '/api/token/', { id, limits: [{ daily_budget: 0 }] });
    assert.equal((await call(key)).status, 403);
    const other = await signedIn(gateway, 'bob');
    assert.equal(said(await other.get(`/api/token/${id}/limits`)), '404 key_not_found');
  });

  it('are set by `key create` and `key edit`, and listed by `key list`', async () => {
    const limits = 'requests=60,tokens=100000,concurrent=5,day=500,week=2000,month=5000; test-*: requests=1';
    const words = limits.replaceAll(' ', '');
    const secret = (await gateway.command(`key create --name cli --user ann --limits ${words}`)).trim();
    assert.equal((await call(secret)).status, 200);
    assert.equal((await call(secret)).status, 429);
    assert.ok((await gateway.command('key list')).includes(limits));
    const list = JSON.parse(await gateway.command('key list --json --user ann')) as { id: number; name: string }[];
    const listed = list.find(({ name }) => name === 'cli')!;
    const { id } = listed;
    // The same record as in `/api`, but for what the use of the key has changed meanwhile.
    assert.deepEqual(
      { ...(await ann.data('GET', `/api/token/${id}`)), accessed_time: 0 },
      { ...listed, accessed_time: 0 },
    );
    const changed = await gateway.command(`key edit ${id} --limits none --models free-model --expires 1d`);
    assert.match(changed, /limits: none/);
    assert.deepEqual(
      [(await call(secret)).code, (await call(secret, 'free-model')).status],
      ['model_not_allowed', 200],
    );
    const { code, stderr } = await gateway.tryCommand(`key edit ${id} --limits speed=1`);
    assert.notEqual(code, 0);
    assert.match(stderr, /--limits is a list such as .*, not "speed=1"/);
  });
});
