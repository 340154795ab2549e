/** What calls came to, for charts: one's own, everybody's, key by key; and what the month will come to. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Records } from '../../../core/contracts/records.ts';
import {
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  signedIn,
  type Visitor,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { idAt, usageRecord } from '../../kit/gateway/usage-records.ts';
import { codeOf, nextCodeOf } from '../../kit/stand-ins/factors.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 8, 16, 12);
const MICRO = 1_000_000n;

let vendor: FakeVendor;
let gateway: TestGateway;
let clock: FakeClock;
let ann: Visitor;
let bob: Visitor;
let adam: Visitor;
/** An administrator who was just checked by a second factor, and what their codes are made of. */
let eve: Visitor;
let secret: string;
let ids: Readonly<Record<'ann' | 'bob' | 'works' | 'lab', number>>;
let keys: Readonly<Record<'cli' | 'web', { readonly id: number; readonly key: string }>>;

before(async () => {
  vendor = await fakeVendor();
  // It is noon once somebody has shown a second factor.
  clock = fakeClock(NOW_MS - 30_000);
  gateway = await startGateway({
    vendor,
    clock,
    config: {
      pipeline: CONSOLE_PIPELINE,
      console: PATIENT,
    },
    env: ROOT_ENV,
    // The log is told of calls that were never made.
    mustReconcile: false,
  });
  ann = await member(gateway, 'ann', { units: 1_000_000 });
  bob = await member(gateway, 'bob', { units: 1_000_000 });
  adam = await member(gateway, 'adam', { role: 'admin' });
  eve = await signedIn(gateway, 'eve', { role: 'admin' });
  ({ secret } = await eve.data('POST', '/api/user/2fa/setup'));
  await eve.data('POST', '/api/user/2fa/enable', { code: codeOf(secret, clock) });
  await eve.data('POST', '/api/verify', { method: '2fa', code: nextCodeOf(secret, clock) });
  const idOf = async (who: Visitor): Promise<number> => (await who.data('GET', '/api/user/self')).id;
  const department = async (body: object): Promise<number> => (await eve.data('POST', '/api/department/', body)).id;
  const works = await department({ name: 'Works', monthly_quota: 1_000, quota: 1_000_000 });
  const lab = await department({ name: 'Lab', parent_id: works });
  ids = { ann: await idOf(ann), bob: await idOf(bob), works, lab };
  await eve.data('POST', `/api/department/${lab}/members`, { user_ids: [ids.ann] });
  const key = (name: string) => ann.data('POST', '/api/token/', { name, unlimited_quota: true });
  keys = { cli: await key('cli'), web: await key('web') };
});
after(async () => {
  await gateway?.stop();
  await vendor?.close();
});

/** Records that nobody was charged for: only the log knows of them. */
async function write(
  ...calls: readonly { readonly agoDays: number; readonly units: number; readonly more?: object }[]
) {
  const { steps } = gateway.host.use(Records);
  const records = calls.map(({ agoDays, units, more }) => {
    const atMs = clock.now() - agoDays * DAY_MS;
    const usage = { ...NOTHING, input: 100, output: 10 };
    return usageRecord({
      id: idAt(atMs),
      atMs,
      accountId: ids.ann,
      keyId: keys.cli.id,
      model: 'm',
      charged: BigInt(units) * MICRO,
      usage,
      ...more,
    });
  });
  assert.equal(await gateway.host.store.atomic(records.flatMap((record) => steps(record))), undefined);
}
const NOTHING = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteLong: 0,
  inputAudio: 0,
  output: 0,
  reasoning: 0,
  outputAudio: 0,
  estimated: false,
};

const said = async (who: Visitor, path: string) => {
  const { status, body } = await who.get(path);
  return [status, body?.code];
};
describe('sums of usage', () => {
  before(() =>
    write(
      { agoDays: 0, units: 40, more: { model: 'a' } },
      { agoDays: 0, units: 10, more: { model: 'b', keyId: keys.web.id, channel: 'spare' } },
      { agoDays: 1, units: 5, more: { model: 'c' } },
      { agoDays: 1, units: 3, more: { accountId: ids.bob, keyId: 99, model: 'a' } },
      { agoDays: 2, units: 0, more: { model: 'a', outcome: 'refused', status: 429 } },
    ),
  );

  it('by day are of the own calls, by model, key or none', async () => {
    const told = async (query: string) =>
      (await ann.data('GET', `/api/usage/self/trend?${query}`)).items.map((item: Any) => [
        item.date,
        item.name,
        item.requests,
        item.quota,
      ]);
    assert.deepEqual(await told('group_by=none'), [
      ['2026-09-14', '', 0, 0],
      ['2026-09-15', '', 1, 5],
      ['2026-09-16', '', 2, 50],
    ]);
    assert.deepEqual(await told('top=1'), [
      ['2026-09-14', 'a', 0, 0],
      ['2026-09-15', 'others', 1, 5],
      ['2026-09-16', 'a', 1, 40],
      ['2026-09-16', 'others', 1, 10],
    ]);
    assert.deepEqual(await told('group_by=key&model=b'), [['2026-09-16', 'web', 1, 10]]);
    assert.deepEqual(await told(`granularity=hour&group_by=none&token_id=${keys.web.id}`), [
      ['2026-09-16T12:00:00Z', '', 1, 10],
    ]);
    assert.deepEqual(await told('group_by=none&end_timestamp=1000000000'), []);
    assert.deepEqual(await told('token_id=99'), [], "somebody else's key");
  });

  it('are added up, in all and by group', async () => {
    const { total, items, group_by } = await ann.data('GET', '/api/usage/self/sums?group_by=key');
    assert.deepEqual(
      [group_by, items.map(({ group, name, quota, errors }: Any) => [group, name, quota, errors])],
      [
        'key',
        [
          [`${keys.cli.id}`, 'cli', 45, 1],
          [`${keys.web.id}`, 'web', 10, 0],
        ],
      ],
    );
    assert.deepEqual(total, {
      requests: 3,
      errors: 1,
      quota: 55,
      cost: '0.00011',
      prompt_tokens: 400,
      completion_tokens: 40,
    });
  });

  it('of everybody are told apart by people, keys, models, departments and channels', async () => {
    const told = async (query: string) =>
      (await adam.data('GET', `/api/usage/sums?${query}`)).items.map(({ name, quota }: Any) => [name, quota]);
    assert.deepEqual(await told(''), [
      ['ann', 55],
      ['bob', 3],
    ]);
    assert.deepEqual(await told('group_by=channel'), [
      ['c', 48],
      ['spare', 10],
    ]);
    assert.deepEqual(await told('group_by=department'), [
      ['Lab', 55],
      ['', 3],
    ]);
    assert.deepEqual(await told(`group_by=model&department_id=${ids.works}`), [
      ['a', 40],
      ['b', 10],
      ['c', 5],
    ]);
    assert.deepEqual(await told(`group_by=model&user_id=${ids.bob}`), [['a', 3]]);
    assert.deepEqual(await told(`group_by=account&token_id=${keys.web.id}`), [['ann', 10]]);
    assert.deepEqual(await told('group_by=model&channel=spare'), [['b', 10]]);
    const { items } = await adam.data('GET', '/api/usage/trend?group_by=channel&top=1');
    assert.deepEqual(
      items.map(({ date, name, quota }: Any) => [date, name, quota]),
      [
        ['2026-09-14', 'c', 0],
        ['2026-09-15', 'c', 8],
        ['2026-09-16', 'c', 40],
        ['2026-09-16', 'others', 10],
      ],
    );
  });

  it('are files: the own at once, those of everybody only with a check by a second factor', async () => {
    const { headers, text } = await ann.get('/api/usage/self/sums?format=csv');
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.match(text, /^group,name,calls,errors,quota,cost,prompt_tokens,completion_tokens\r\na,a,2,1,40,0.00008,/);
    const trend = await ann.get('/api/usage/self/trend?format=csv');
    assert.match(trend.text, /^date,timestamp,group,name,calls,errors,quota,cost,/);
    for (const path of ['sums', 'trend']) {
      assert.deepEqual(await said(adam, `/api/usage/${path}?format=csv`), [403, 'verification_required']);
      const { status, headers: its } = await eve.get(`/api/usage/${path}?format=csv`);
      assert.deepEqual([status, its.get('content-type')], [200, 'text/csv; charset=utf-8']);
    }
  });
  it('are for members their own, for administrators those of everybody', async () => {
    for (const path of ['self/trend', 'self/sums', 'trend', 'sums']) {
      assert.equal((await said(visitor(gateway), `/api/usage/${path}`))[0], 401, path);
    }
    for (const path of ['trend', 'sums']) {
      assert.deepEqual(await said(ann, `/api/usage/${path}`), [403, 'role_insufficient'], path);
    }
    for (const query of [
      `user_id=${ids.bob}`,
      `department_id=${ids.works}`,
      'group_by=model&user_id=x',
      'channel=spare',
    ]) {
      assert.deepEqual(await said(ann, `/api/usage/self/sums?${query}`), [400, 'unknown_parameter'], query);
    }
  });

  it('refuse what they cannot read', async () => {
    for (const [path, query, param] of [
      ['self/trend', 'group_by=account', 'group_by'],
      ['self/sums', 'group_by=channel', 'group_by'],
      ['self/trend', 'top=0', 'top'],
      ['self/trend', 'granularity=hour&start_timestamp=1700000000', 'start_timestamp'],
      ['self/sums', 'start_timestamp=1800000000&end_timestamp=1700000000', 'start_timestamp'],
      ['self/sums', 'token_id=0', 'token_id'],
      ['trend', 'group_by=member', 'group_by'],
      ['sums', 'department_id=x', 'department_id'],
    ]) {
      const { status, body } = await adam.get(`/api/usage/${path}?${query}`);
      assert.deepEqual([status, body.param], [400, param], `${path}?${query}`);
    }
    assert.deepEqual(await said(adam, '/api/usage/sums?department_id=999999'), [404, 'department_not_found']);
  });
});

describe('what keys do', () => {
  it('is told day by day, of every own key', async () => {
    await (await gateway.chat({ model: 'free-model' }, { key: keys.web.key })).text();
    const { dates, items } = await ann.data('GET', '/api/token/usage?days=3');
    assert.deepEqual(dates, ['2026-09-14', '2026-09-15', '2026-09-16']);
    const by = Object.fromEntries(items.map((item: Any) => [item.name, item]));
    const { cli, web } = by;
    assert.deepEqual([cli.token_id, cli.quota, cli.calls, cli.errors], [keys.cli.id, [0, 5, 40], [0, 1, 1], [1, 0, 0]]);
    assert.deepEqual(
      [web.quota, web.calls],
      [
        [0, 0, 10],
        [0, 0, 2],
      ],
    );
    assert.deepEqual([cli.last_used_at, web.last_used_at], [null, Math.floor(NOW_MS / 60_000) * 60]);
    assert.equal((await ann.data('GET', '/api/token/usage')).dates.length, 14);
    const one = await ann.data('GET', `/api/token/usage?days=1&token_id=${keys.web.id}`);
    assert.deepEqual(
      one.items.map(({ name }: Any) => name),
      ['web'],
    );
    const some = await ann.data('GET', `/api/token/usage?days=3&token_id=${keys.web.id},${keys.cli.id},999999`);
    assert.deepEqual(
      some.items.map(({ name, quota }: Any) => [name, quota]),
      [cli, web].map(({ name, quota }) => [name, quota]),
    );
    const foreign = await bob.data('GET', `/api/token/usage?days=1&token_id=${keys.web.id}`);
    assert.deepEqual(foreign.items, []);
    for (const query of [
      'days=0',
      'days=91',
      'days=x',
      'token_id=x',
      'token_id=1,',
      `token_id=${Array(101).fill(7)}`,
    ]) {
      const { status, body } = await ann.get(`/api/token/usage?${query}`);
      assert.deepEqual([status, body.param], [400, query.split('=')[0]]);
    }
    assert.equal((await said(visitor(gateway), '/api/token/usage'))[0], 401);
  });
});

describe('the forecast', () => {
  it('is for administrators', async () => {
    assert.equal((await said(visitor(gateway), '/api/team/forecast'))[0], 401);
    assert.deepEqual(await said(ann, '/api/team/forecast'), [403, 'role_insufficient']);
  });

  it('is what was spent and the mean of the last days for what is left of the month', async () => {
    // Every whole day of the last ten had 70 quota units in all, since the second before.
    await write(...Array.from({ length: 10 }, (_, i) => ({ agoDays: i + 1, units: i === 0 ? 62 : 70 })));
    const { total, departments, month_start, month_end } = await adam.data('GET', '/api/team/forecast');
    assert.deepEqual([month_start, month_end], [Date.UTC(2026, 8, 1) / 1_000, Date.UTC(2026, 9, 1) / 1_000]);
    const spent = 10 * 70 + 50;
    // Half of today is left, and 14 days behind it.
    assert.deepEqual(total, {
      spent,
      daily_mean_7: 70,
      daily_mean_28: 70,
      projected: spent + 70 * 14.5,
      confidence: 'usual',
    });
    const [works, lab] = [ids.works, ids.lab].map((id) =>
      departments.find((row: Any) => row.department_id === id),
    ) as readonly Any[];
    assert.deepEqual([works.spent, lab.spent, lab.parent_id, lab.budgets], [spent - 3, spent - 3, ids.works, []]);
    // The ledger knows of none of these calls. At 487 in seven days, 1,000 last for 14.37 days.
    assert.equal(works.daily_mean_7, 69);
    assert.deepEqual(works.budgets, [
      { period: 'total', budget: 1_000_000, used: 0, remaining: 1_000_000, used_up_on: null },
      { period: 'month', budget: 1_000, used: 0, remaining: 1_000, used_up_on: '2026-09-30' },
    ]);
  });

  it('is a guess where less than seven days are known', async () => {
    const only = await eve.data('POST', '/api/department/', { name: 'New', monthly_quota: 10 });
    const { departments } = await adam.data('GET', '/api/team/forecast');
    const row = departments.find(({ department_id }: Any) => department_id === only.id);
    assert.deepEqual([row.spent, row.projected, row.confidence, row.budgets[0].used_up_on], [0, 0, 'low', null]);
  });
});
