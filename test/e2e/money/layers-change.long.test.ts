/** What limits a call changes while its stream runs: it ends, and is taken, as it began; the next call goes by what is there then. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import {
  CONSOLE_PIPELINE,
  PATIENT,
  ROOT_ENV,
  root,
  signedIn,
  type Visitor,
  verify,
} from '../../kit/console/console.ts';
import { chatEvents } from '../../kit/gateway/fixtures.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { debitsOf } from '../../kit/gateway/money.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, hold } from '../../kit/vendors/script.ts';

/** A call costs one quota: two millionths of a currency unit. */
const MODELS = { 'test-model': { from: ['main'], price: { perRequest: 0.000002 } } };
const PLANS = { card: { daily: 0.00002 }, prepaid: { daily: 0.00002, includes: 'balance' } };

/** Somebody who calls, in a department below another. */
interface Caller {
  readonly id: number;
  readonly key: string;
  readonly upper: number;
  readonly lower: number;
}

describe('while a stream runs', () => {
  let vendor: FakeVendor;
  let gateway: TestGateway;
  let boss: Visitor;
  let callers = 0;
  before(async () => {
    vendor = await fakeVendor();
    const config = { pipeline: CONSOLE_PIPELINE, console: PATIENT, models: MODELS, plans: PLANS };
    gateway = await startGateway({ vendor, config, env: ROOT_ENV });
    boss = await verify(await root(gateway));
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  const bind = (id: number, plan: string) => boss.data('POST', '/api/subscription/admin/bind', { user_id: id, plan });
  const cancel = (id: number) => boss.data('POST', '/api/subscription/admin/cancel', { user_id: id });
  const change = (id: number, to: object) => boss.data('PUT', `/api/department/${id}`, to);
  const place = (id: number, department: number) =>
    boss.data('POST', `/api/department/${department}/members`, { user_ids: [id] });
  const makeDepartment = async (name: string, more: object = {}): Promise<number> =>
    (await boss.data('POST', '/api/department/', { name, quota: 10, ...more })).id;

  async function caller(plan: string): Promise<Caller> {
    const name = `caller-${++callers}`;
    const { id } = await signedIn(gateway, name);
    await gateway.command(`user credit ${name} 10`);
    const key = await gateway.command(`key create --name k --user ${name} --quota 10`);
    const upper = await makeDepartment(`upper-${name}`);
    const lower = await makeDepartment(`lower-${name}`, { parent_id: upper, monthly_quota: 10 });
    await place(id, lower);
    await bind(id, plan);
    return { id, key, upper, lower };
  }

  /** What it was taken from: the kind and owner of each layer; 1 for each quota. */
  async function takenFrom(callId: string): Promise<Readonly<Record<string, number>>> {
    const debits = await debitsOf(gateway, callId);
    return Object.fromEntries(
      debits.map(({ kind, owner, amount }) => [
        kind.startsWith('department') ? `${kind} ${owner}` : kind,
        Number(amount) / 1e6,
      ]),
    );
  }

  /** Begins a stream, changes something, lets it end; what it was taken from. */
  async function during({ key }: Caller, step: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
    const name = `until ${callers} is changed`;
    const [first, ...rest] = chatEvents();
    vendor.next(eventStream([first!, hold(name), ...rest]));
    const response = await gateway.chat({ stream: true, max_tokens: 5 }, { key });
    assert.equal(response.status, 200);
    try {
      await step();
    } finally {
      vendor.release(name);
    }
    assert.match(await response.text(), /data: \[DONE\]/);
    assert.doesNotMatch(await gateway.command('reconcile'), /FAILED/);
    return takenFrom(response.headers.get('x-request-id')!);
  }
  const next = async ({ key }: Caller): Promise<string> => {
    const response = await gateway.chat({ max_tokens: 5 }, { key });
    const { error } = (await response.json()) as { error?: { code: string } };
    return `${response.status} ${error?.code ?? 'ok'}`;
  };

  /** As a refund of more than is left. */
  async function owe(id: number): Promise<void> {
    const { store } = gateway.host;
    const steps = await gateway.host.use(Ledger).takeBackSteps(id, 100n * MICRO, `refund:${id}`, 'a test');
    assert.equal(await store.atomic(steps), undefined);
  }

  async function withoutPlans(step: () => Promise<void>): Promise<void> {
    const yaml = readFileSync(gateway.configFile, 'utf8');
    writeFileSync(gateway.configFile, yaml.replace(/^quota:\n( .*\n)+/m, 'quota: {}\n'));
    await gateway.gateway.reload();
    await step();
    writeFileSync(gateway.configFile, yaml);
    await gateway.gateway.reload();
  }

  for (const [what, step, after] of [
    ['its department is disabled', ({ lower }: Caller) => change(lower, { status: 0 }), '403 department_disabled'],
    [
      'the department above is disabled',
      ({ upper }: Caller) => change(upper, { status: 0 }),
      '403 department_disabled',
    ],
    ['its budget becomes nothing', ({ upper }: Caller) => change(upper, { quota: 0 }), '403 QUOTA_DEPARTMENT_EXCEEDED'],
    [
      'its monthly budget becomes nothing',
      ({ lower }: Caller) => change(lower, { monthly_quota: 0 }),
      '403 QUOTA_DEPARTMENT_EXCEEDED',
    ],
    ['its budgets go', ({ lower }: Caller) => change(lower, { quota: null, monthly_quota: null }), '200 ok'],
    ['it becomes dear', ({ lower }: Caller) => change(lower, { ratio: 1_000 }), '403 QUOTA_USER_INSUFFICIENT'],
    [
      'its department is moved elsewhere',
      async ({ lower }: Caller) => change(lower, { parent_id: await makeDepartment(`poor-${lower}`, { quota: 0 }) }),
      '403 QUOTA_DEPARTMENT_EXCEEDED',
    ],
    [
      'its person leaves the department, which is deleted',
      async ({ id, upper, lower }: Caller) => {
        await place(id, upper);
        await boss.data('DELETE', `/api/department/${lower}`);
      },
      '200 ok',
    ],
    ['its subscription is cancelled', ({ id }: Caller) => cancel(id), '200 ok'],
    [
      'its subscription is another one',
      async ({ id }: Caller) => {
        await cancel(id);
        await bind(id, 'prepaid');
      },
      '200 ok',
    ],
    ['its person owes something', ({ id }: Caller) => owe(id), '403 QUOTA_USER_INSUFFICIENT'],
  ] as const) {
    it(`and ${what}, it is taken from where it was held`, async () => {
      const one = await caller('card');
      const taken = await during(one, () => step(one));
      const { upper, lower } = one;
      const departments = Object.fromEntries(
        [upper, lower].flatMap((id) => [
          [`department ${id}`, 1],
          [`department-month ${id}`, 1],
        ]),
      );
      assert.deepEqual(taken, { account: 1, key: 1, day: 1, ...departments });
      assert.equal(await next(one), after);
    });
  }

  it('and gateway.yaml has its plan no more, it is still included; what comes then is not', async () => {
    const one = await caller('prepaid');
    await withoutPlans(async () => {
      assert.equal(await next(one), '200 ok');
    });
    const taken = await during(one, () =>
      withoutPlans(async () => {
        assert.equal(await next(one), '200 ok');
      }),
    );
    assert.deepEqual([taken.account, taken.key, taken.day], [undefined, 1, 1]);
  });
});
