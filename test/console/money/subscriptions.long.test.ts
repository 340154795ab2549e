/** Subscriptions at the console: given and ended by administrators, seen by their owners, felt by calls. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import {
  type ApiAnswer,
  advanced,
  CONSOLE_PIPELINE,
  member,
  PATIENT,
  ROOT_ENV,
  root,
  said,
  type Visitor,
  verify,
  visitor,
} from '../../kit/console/console.ts';
import { type FakeClock, fakeClock } from '../../kit/gateway/clock.ts';
import { startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';

const DAY_MS = 86_400_000;

/** A call costs one quota: two millionths of a currency unit. */
const MODELS = { 'test-model': { from: ['main'], price: { perRequest: 0.000002 } } };
const PLANS = {
  monthly: { title: 'A month', daily: 0.000006, monthly: 0.00002, price: 20, balance: 0.00002 },
  card: { days: 2, daily: 0.000004, includes: 'balance' },
};
const BIND = '/api/subscription/admin/bind';
const CANCEL = '/api/subscription/admin/cancel';

describe('subscriptions at the console', () => {
  let vendor: FakeVendor;
  let clock: FakeClock;
  let gateway: TestGateway;
  let boss: Visitor;
  let adam: Visitor;
  let people = 0;
  before(async () => {
    vendor = await fakeVendor();
    // The codes of an authenticator go by the time of day.
    clock = fakeClock(Date.now());
    gateway = await startGateway({
      vendor,
      clock,
      config: { pipeline: CONSOLE_PIPELINE, console: PATIENT, models: MODELS, plans: PLANS },
      env: ROOT_ENV,
    });
    boss = await verify(await root(gateway));
    adam = await member(gateway, 'adam', { role: 'admin' });
  });
  after(async () => {
    await gateway.stop();
    await vendor.close();
  });

  /** A member with a key and so many quota units. */
  async function somebody(
    units = 0,
  ): Promise<{ readonly me: Visitor; readonly id: number; readonly key: string; readonly name: string }> {
    const name = `member-${++people}`;
    const me = await member(gateway, name, { units });
    const { id } = await me.data('GET', '/api/user/self');
    const key = await gateway.command(`key create --name k --user ${name} --unlimited`);
    return { me, id, key, name };
  }
  const call = async (key: string): Promise<string> => {
    const response = await gateway.chat({ max_tokens: 10 }, { key });
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    return `${response.status} ${error?.code ?? 'ok'}`;
  };
  const rowsOf = (id: number): readonly unknown[] =>
    gateway.rows(`SELECT * FROM subscription WHERE account_id = ${id} ORDER BY id`);

  it('are shown as plans, with what they limit and cost', async () => {
    const { me } = await somebody();
    const plans = await me.data('GET', '/api/subscription/plans');
    assert.deepEqual(plans, [
      {
        plan: {
          id: 'monthly',
          title: 'A month',
          price_amount: 20,
          duration_unit: 'day',
          duration_value: 30,
          enabled: true,
          daily_amount: 3,
          weekly_amount: null,
          monthly_amount: 10,
          balance_amount: 10,
          includes_balance: false,
        },
      },
      {
        plan: {
          id: 'card',
          title: 'card',
          price_amount: null,
          duration_unit: 'day',
          duration_value: 2,
          enabled: true,
          daily_amount: 2,
          weekly_amount: null,
          monthly_amount: null,
          balance_amount: 0,
          includes_balance: true,
        },
      },
    ]);
  });

  it('are given by an administrator, and then limit calls and tell how they stand', async () => {
    const { me, id, key } = await somebody();
    const none = await me.data('GET', '/api/user/subscription/stats');
    assert.deepEqual(none, {
      plan: null,
      plan_name: '',
      status: 'none',
      starts_at: 0,
      expires_at: 0,
      windows: {},
      has_subscription: false,
      start_time: 0,
      end_time: 0,
      daily: null,
      weekly: null,
      monthly: null,
    });
    assert.deepEqual(await me.data('GET', '/api/subscription/self'), {
      billing_preference: 'subscription_first',
      subscriptions: [],
      all_subscriptions: [],
    });
    assert.equal(await call(key), '403 QUOTA_USER_INSUFFICIENT');

    const given = await boss.data('POST', BIND, { user_id: id, plan: 'monthly' });
    const startsAt = Math.floor(clock.now() / 1_000);
    assert.deepEqual([given.plan, given.status, given.starts_at], ['monthly', 'active', startsAt]);
    assert.equal(given.expires_at, startsAt + 30 * 86_400);
    const { items } = await me.data('GET', '/api/log/self?type=3');
    assert.deepEqual([items[0].content, items[0].quota], ['An administrator granted the plan monthly.', 10]);
    // Ten quota came with it, three of which may be used on one day.
    for (let i = 0; i < 3; i++) assert.equal(await call(key), '200 ok');
    assert.equal(await call(key), '403 QUOTA_MONTHLY_DAILY_EXCEEDED');
    assert.equal((await me.data('GET', '/api/user/self')).quota, 7);

    const midnight = (Math.floor(clock.now() / DAY_MS) + 1) * 86_400;
    const stats = await me.data('GET', '/api/user/subscription/stats');
    assert.deepEqual(stats.windows, {
      daily: { limit: 3, used: 3, remaining: 0, resets_at: midnight },
      monthly: { limit: 10, used: 3, remaining: 7, resets_at: startsAt + 30 * 86_400 },
    });
    assert.deepEqual(stats.daily, { limit: 3, used: 3, remaining: 0, reset_at: midnight });
    assert.equal(stats.weekly, null);
    assert.deepEqual(await adam.data('GET', `/api/subscription/admin/users/${id}`), stats);
    const { subscriptions, all_subscriptions: all } = await me.data('GET', '/api/subscription/self');
    assert.deepEqual(subscriptions, all);
    const { subscription } = subscriptions[0];
    assert.deepEqual(
      [
        subscription.user_id,
        subscription.plan_id,
        subscription.amount_total,
        subscription.amount_used,
        subscription.status,
      ],
      [id, 'monthly', 10, 3, 'active'],
    );

    const longer = await boss.data('POST', BIND, { user_id: id, plan: 'monthly' });
    assert.equal(longer.expires_at, startsAt + 60 * 86_400);
    assert.equal(said(await boss.post(BIND, { user_id: id, plan: 'card' })), '409 other_plan_runs');

    const ended = await boss.data('POST', CANCEL, { user_id: id });
    assert.equal(ended.status, 'none');
    assert.equal(await call(key), '200 ok');
    assert.equal(said(await boss.post(CANCEL, { user_id: id })), '404 subscription_not_found');
    const log = JSON.stringify((await boss.data('GET', '/api/audit?action=subscription')).items ?? []);
    for (const action of ['subscription.grant', 'subscription.cancel']) assert.match(log, new RegExp(action));
  });

  it('are nobody else’s business: strangers, members, administrators without a check, and whom they may change', async () => {
    const { me, id } = await somebody();
    const rows = [
      ['GET', '/api/user/subscription/stats'],
      ['GET', '/api/subscription/plans'],
      ['GET', '/api/subscription/self'],
      ['GET', `/api/subscription/admin/users/${id}`],
      ['POST', BIND],
      ['POST', CANCEL],
    ] as const;
    const ask = (who: Visitor, [method, path]: (typeof rows)[number]): Promise<ApiAnswer> =>
      method === 'GET' ? who.get(path) : who.post(path, { user_id: id, plan: 'monthly' });
    for (const row of rows) assert.equal(said(await ask(visitor(gateway), row)), '401 not_signed_in', row[1]);
    for (const row of rows.slice(3)) assert.equal(said(await ask(me, row)), '403 role_insufficient', row[1]);
    assert.equal(said(await adam.post(BIND, { user_id: id, plan: 'monthly' })), '403 verification_required');
    assert.equal(said(await adam.post(CANCEL, { user_id: id })), '403 verification_required');
    // Nobody has to know who is there.
    assert.equal(said(await me.get('/api/subscription/admin/users/999999')), '403 role_insufficient');
    for (const other of ['999999', '0', 'x', '-1']) {
      assert.equal(said(await adam.get(`/api/subscription/admin/users/${other}`)), '404 account_not_found', other);
    }
    assert.equal(said(await boss.post(BIND, { user_id: 999_999, plan: 'monthly' })), '404 account_not_found');
    assert.equal(said(await boss.post(BIND, { user_id: id, plan: 'nothing' })), '404 plan_not_found');
    assert.equal(said(await boss.post(CANCEL, { user_id: 999_999 })), '404 account_not_found');
    assert.deepEqual(rowsOf(id), []);
  });

  it('take no other column, and no form that is not theirs', async () => {
    const { id } = await somebody();
    await boss.data('POST', BIND, { user_id: id, plan: 'monthly' });
    const before = rowsOf(id);
    const columns = ['id', 'account_id', 'starts_ms', 'expires_ms', 'cancelled_ms', 'changed_ms', 'ref', 'length_ms'];
    for (const column of columns) {
      for (const [path, form] of [
        [BIND, { user_id: id, plan: 'monthly' }],
        [CANCEL, { user_id: id }],
      ] as const) {
        const { status, body } = await boss.post(path, { ...form, [column]: 9 });
        assert.deepEqual([status, body.param], [400, column], `${path} ${column}`);
      }
    }
    for (const [form, param] of [
      [{ plan: 'monthly' }, 'user_id'],
      [{ user_id: id }, 'plan'],
      [{ user_id: `${id}`, plan: 'monthly' }, 'user_id'],
      [{ user_id: 0, plan: 'monthly' }, 'user_id'],
      [{ user_id: 1.5, plan: 'monthly' }, 'user_id'],
      [{ user_id: id, plan: '' }, 'plan'],
      [{ user_id: id, plan: 7 }, 'plan'],
    ] as const) {
      const { status, body } = await boss.post(BIND, form);
      assert.deepEqual([status, body.param], [400, param], JSON.stringify(form));
    }
    assert.deepEqual(rowsOf(id), before);
  });

  it('follow gateway.yaml, begin anew at midnight, and end: then they refuse, or were cancelled', async () => {
    const { id, key, name } = await somebody();
    await boss.data('POST', BIND, { user_id: id, plan: 'card' });
    // It includes the balance, and there is none.
    for (let i = 0; i < 2; i++) assert.equal(await call(key), '200 ok');
    assert.equal(await call(key), '403 QUOTA_MONTHLY_DAILY_EXCEEDED');

    const yaml = readFileSync(gateway.configFile, 'utf8');
    writeFileSync(gateway.configFile, yaml.replace('daily: 0.000004', 'daily: 0.000006'));
    await gateway.gateway.reload();
    assert.equal(await call(key), '200 ok');
    assert.equal(await call(key), '403 QUOTA_MONTHLY_DAILY_EXCEEDED');
    writeFileSync(gateway.configFile, yaml);
    await gateway.gateway.reload();

    await advanced(gateway, clock, DAY_MS - (clock.now() % DAY_MS));
    for (let i = 0; i < 2; i++) assert.equal(await call(key), '200 ok');
    assert.equal(await call(key), '403 QUOTA_MONTHLY_DAILY_EXCEEDED');
    await advanced(gateway, clock, 2 * DAY_MS);
    assert.equal(await call(key), '403 QUOTA_SUBSCRIPTION_EXPIRED');
    const again = await visitor(gateway).signIn(name, 'correct horse battery');
    const stats = await again.data('GET', '/api/user/subscription/stats');
    assert.deepEqual([stats.plan, stats.status, stats.has_subscription], ['card', 'expired', false]);
    const { subscriptions, all_subscriptions: all } = await again.data('GET', '/api/subscription/self');
    assert.deepEqual([subscriptions.length, all.length], [0, 1]);
    const books = await gateway.command('reconcile');
    assert.doesNotMatch(books, /FAILED/);
    assert.match(books, /ok {6}subscriptions-are-what-was-granted/);
  });
});
