/** What users of new-api and one-api hold: redemption codes, subscriptions, orders and the usage of days, taken over to the unit. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Accounts } from '../../../core/contracts/accounts.ts';
import { Keys } from '../../../core/contracts/keys.ts';
import { Ledger, MICRO } from '../../../core/contracts/ledger.ts';
import { Payments } from '../../../core/contracts/payments.ts';
import { Records } from '../../../core/contracts/records.ts';
import { Subscriptions } from '../../../core/contracts/subscriptions.ts';
import type { JsonObject } from '../../../core/plugin.ts';
import { openDatabase } from '../../../plugins/import/databases.ts';
import type { Inventory, Note } from '../../../plugins/import/inventory.ts';
import { oneApiSource } from '../../../plugins/import/one-api/index.ts';
import { oneHubSource } from '../../../plugins/import/one-hub/index.ts';
import type { Planned } from '../../../plugins/import/planned.ts';
import { planDays, planHoldings } from '../../../plugins/import/take-over/holdings.ts';
import { CONSOLE_PIPELINE, PATIENT, ROOT_ENV, root, signedIn } from '../../kit/console/console.ts';
import { defaultConfig, startGateway, type TestGateway } from '../../kit/gateway/gateway.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { changeSqlite, makeSqlite, NEW_API_VERSIONS, ONE_API_VERSIONS, type TestRow } from './databases.ts';

const PER_UNIT = 500_000;
const DAY_S = 86_400;
const NOW_S = Math.floor(Date.now() / 1_000);
const TODAY_S = Math.floor(NOW_S / DAY_S) * DAY_S;

/** The tables of newer versions: facts of `model/subscription.go`, `model/topup.go`, `model/usedata.go` and `model/log.go`. */
const NEWER = `
  ALTER TABLE redemptions ADD COLUMN used_user_id integer;
  ALTER TABLE redemptions ADD COLUMN expired_time bigint;
  CREATE TABLE top_ups (id integer PRIMARY KEY, user_id integer, amount bigint, money real, trade_no text UNIQUE,
    payment_method text, payment_provider text DEFAULT '', create_time bigint, complete_time bigint, status text);
  CREATE TABLE subscription_orders (id integer PRIMARY KEY, user_id integer, plan_id integer, money real, trade_no text UNIQUE,
    payment_method text, payment_provider text DEFAULT '', status text, create_time bigint, complete_time bigint);
  CREATE TABLE subscription_plans (id integer PRIMARY KEY, title text, price_amount real, currency text DEFAULT 'USD',
    duration_unit text DEFAULT 'month', duration_value integer DEFAULT 1, custom_seconds bigint DEFAULT 0, enabled numeric DEFAULT 1,
    max_purchase_per_user integer DEFAULT 0, upgrade_group text DEFAULT '', total_amount bigint DEFAULT 0,
    quota_reset_period text DEFAULT 'never', quota_reset_custom_seconds bigint DEFAULT 0);
  CREATE TABLE user_subscriptions (id integer PRIMARY KEY, user_id integer, plan_id integer, amount_total bigint DEFAULT 0,
    amount_used bigint DEFAULT 0, start_time bigint, end_time bigint, status text, source text DEFAULT 'order',
    last_reset_time bigint DEFAULT 0, next_reset_time bigint DEFAULT 0, upgrade_group text DEFAULT '', prev_user_group text DEFAULT '');
  CREATE TABLE quota_data (id integer PRIMARY KEY, user_id integer, username text, model_name text, created_at bigint,
    token_used integer DEFAULT 0, count integer DEFAULT 0, quota integer DEFAULT 0);`;
const LOGS = `
  CREATE TABLE logs (id integer PRIMARY KEY, user_id integer, created_at bigint, type integer, content text, username text,
    token_name text, model_name text, quota integer DEFAULT 0, prompt_tokens integer DEFAULT 0, completion_tokens integer DEFAULT 0,
    channel_id integer);`;
const NEW_API = {
  name: 'new-api',
  sql: `${NEW_API_VERSIONS.at(-1)!.sql}${NEWER}${LOGS} ALTER TABLE logs ADD COLUMN token_id integer DEFAULT 0;`,
};
const ONE_API = { name: 'one-api', sql: `${ONE_API_VERSIONS.at(-1)!.sql}${LOGS}` };

const USERS: readonly TestRow[] = ['ann', 'bob', 'carl', 'dora'].map((username, i) => ({
  ...{
    id: i + 1,
    username,
    password: '$2a$10$x',
    role: 1,
    status: 1,
    quota: 1_000,
    group: 'default',
    aff_code: `aff${i}`,
  },
}));
const TOKENS: readonly TestRow[] = [
  { id: 1, user_id: 1, key: 'a'.repeat(48), name: 'laptop', status: 1, expired_time: -1, unlimited_quota: 1 },
  { id: 2, user_id: 1, key: 'b'.repeat(48), name: 'server', status: 1, expired_time: -1, unlimited_quota: 1 },
  { id: 3, user_id: 2, key: 'c'.repeat(48), name: 'laptop', status: 1, expired_time: -1, unlimited_quota: 1 },
];

interface Imported {
  readonly inventory: Inventory;
  readonly planned: readonly Planned[];
  readonly notes: readonly Note[];
}

/** A gateway into which files are imported, by the parts of the plugin that this test is about. */
class Door {
  readonly gateway: TestGateway;
  readonly file: string;
  readonly accounts = new Map<string, number>();
  readonly keys = new Map<string, number>();
  readonly seen = new Map<string, JsonObject>();

  constructor(gateway: TestGateway) {
    this.gateway = gateway;
    this.file = join(gateway.dir, 'old.db');
  }

  async open(program: 'new-api' | 'one-api' = 'new-api') {
    return oneApiSource(program, await openDatabase(this.file), PER_UNIT);
  }

  /** Accounts and keys as the rest of the import makes them. */
  async people(): Promise<void> {
    const source = await this.open();
    const { users, keys } = await source.inventory().finally(() => source.close());
    const { host } = this.gateway;
    for (const { id, name } of users) {
      const account = await host.use(Accounts).create({ name, role: 'member', opening: 'empty' });
      this.accounts.set(id, account.id);
    }
    for (const { id, user, name, secret } of keys) {
      const key = await host
        .use(Keys)
        .adopt({ accountId: this.accounts.get(user)!, name, allowance: undefined }, secret!);
      this.keys.set(id, key!.id);
    }
  }

  async holdings(): Promise<Imported> {
    const source = await this.open();
    const inventory = await source.inventory().finally(() => source.close());
    const { host } = this.gateway;
    const { planned, notes } = await planHoldings(host, inventory, (user) => this.accounts.get(user), {
      ...{ family: 'one-api', program: 'new-api', seenOf: (kind, id) => this.seen.get(`${kind} ${id}`) },
    });
    for (const { kind, id, name, steps, seen } of planned) {
      assert.equal(await host.store.atomic(steps), undefined, `${kind} ${name}`);
      this.seen.set(`${kind} ${id}`, seen ?? {});
    }
    for (const accountId of this.accounts.values()) host.use(Subscriptions).changed(accountId);
    return { inventory, planned, notes: [...inventory.notes, ...notes] };
  }

  async days(program: 'new-api' | 'one-api' = 'new-api'): Promise<readonly Planned[]> {
    const source = await this.open(program);
    const { host } = this.gateway;
    const written: Planned[] = [];
    for await (const day of planDays(
      host,
      source,
      (user) => this.accounts.get(user),
      (key) => this.keys.get(key),
      (date) => this.seen.get(date),
    )) {
      assert.equal(await host.store.atomic(day.steps), undefined, day.name);
      if (day.seen !== undefined) this.seen.set(day.id, day.seen);
      written.push(day);
    }
    await source.close();
    return written;
  }

  /** What is left of an account's balance, in quota units. */
  async balance(user: string): Promise<bigint> {
    const owner = this.accounts.get(user)!;
    const { granted, used, held } = (await this.gateway.host.use(Ledger).balance({ kind: 'account', owner }))!;
    return (granted - used - held) / MICRO;
  }

  async reconciles(): Promise<void> {
    assert.match(await this.gateway.command('reconcile'), /^(ok .*\n?)+$/);
  }
}

function whyOf(notes: readonly Note[], what: RegExp): string {
  return notes
    .filter((note) => what.test(note.what))
    .map(({ kind, why }) => `${kind}: ${why}`)
    .join('\n');
}

let vendor: FakeVendor;
const gateways: TestGateway[] = [];

async function door(
  tables: Readonly<Record<string, readonly TestRow[]>>,
  more: { readonly config?: Record<string, unknown>; readonly version?: typeof NEW_API } = {},
): Promise<Door> {
  const usual = defaultConfig([vendor]);
  const gateway = await startGateway({
    vendor,
    env: ROOT_ENV,
    config: { ...usual, pipeline: [...CONSOLE_PIPELINE, 'import'], console: PATIENT, ...more.config },
  });
  gateways.push(gateway);
  const opened = new Door(gateway);
  makeSqlite(opened.file, more.version ?? NEW_API, { users: USERS, tokens: TOKENS, ...tables });
  await opened.people();
  return opened;
}

before(async () => {
  vendor = await fakeVendor();
});
after(async () => {
  for (const gateway of gateways) await gateway.stop();
  await vendor.close();
});

describe('redemption codes of new-api', () => {
  const [SOLD, DISABLED, USED, MIXED] = ['5'.repeat(32), '6'.repeat(32), '7'.repeat(32), 'Gift-CODE_77'];
  let own: Door;
  let imported: Imported;

  before(async () => {
    own = await door({
      redemptions: [
        { id: 1, key: SOLD, status: 1, name: 'gift', quota: 500_000 },
        { id: 2, key: DISABLED, status: 2, name: 'gift', quota: 500_000 },
        { id: 3, key: USED, status: 3, name: 'gift', quota: 500_000, used_user_id: 2 },
        { id: 4, key: MIXED, status: 1, name: '礼品', quota: 7, expired_time: NOW_S + DAY_S },
        { id: 5, key: 'old', status: 1, name: 'expired', quota: 7, expired_time: NOW_S - DAY_S },
        { id: 6, key: 'gone', status: 1, name: 'deleted', quota: 7, deleted_at: '2026-01-01 00:00:00' },
        { id: 7, key: 'nothing', status: 1, name: 'nothing', quota: 0 },
      ],
    });
    imported = await own.holdings();
  });

  const redeem = async (who: string, key: string): Promise<string> => {
    const { status, body } = await (await signedIn(own.gateway, who)).post('/api/user/topup', { key });
    return status === 200 ? `${body.data}` : `${status} ${body.error?.code ?? body.code}`;
  };

  it('are redeemed by their buyers for the same amount, once', async () => {
    const before = await own.balance('1');
    assert.equal(await redeem('ann', SOLD), '500000');
    assert.equal(await own.balance('1'), before + 500_000n);
    assert.equal(await redeem('ann', SOLD), '400 invalid_code');
    assert.equal(await redeem('bob', SOLD), '400 invalid_code');
    await own.reconciles();
  });

  it('are redeemed by any text, as it was sold', async () => {
    assert.equal(await redeem('bob', MIXED.toLowerCase()), '400 invalid_code');
    assert.equal(await redeem('bob', ` ${MIXED} `), '7');
    assert.equal(await own.balance('2'), 7n);
  });

  it('are disabled, expired, or not here, as they were there', async () => {
    for (const code of [DISABLED, USED, 'old', 'gone'])
      assert.equal(await redeem('bob', code), '400 invalid_code', code);
    const { items } = await own.gateway.host.use(Payments).codes.search({ offset: 0, limit: 10 });
    assert.deepEqual(
      items.map(({ name, code, enabled }) => `${name} ${code} ${enabled}`).sort(),
      [`expired old true`, `gift ${DISABLED} false`, `gift ${SOLD} true`, `礼品 ${MIXED} true`].sort(),
    );
    assert.equal(whyOf(imported.notes, /used codes/), 'left: they were redeemed there');
    assert.equal(whyOf(imported.notes, /deleted codes/), 'left: they were deleted there');
    assert.equal(whyOf(imported.notes, /^code 7$/), 'left: its amount cannot be credited here');
  });

  it('are not written a second time', async () => {
    assert.deepEqual((await own.holdings()).planned, []);
  });

  it('are disabled if they are redeemed there after the import', async () => {
    const other = await door({ redemptions: [{ id: 1, key: SOLD, status: 1, name: 'gift', quota: 500_000 }] });
    await other.holdings();
    changeSqlite(other.file, 'UPDATE redemptions SET status = 3');
    const { planned } = await other.holdings();
    assert.deepEqual(
      planned.map(({ to }) => to),
      ['redemption code of 500000 quota, disabled because it was redeemed there'],
    );
    const bob = await signedIn(other.gateway, 'bob');
    assert.equal((await bob.post('/api/user/topup', { key: SOLD })).status, 400);
    assert.deepEqual((await other.holdings()).planned, []);
  });
});

describe('invitation codes', () => {
  it('are named: an invitation here is for one user', async () => {
    const { inventory } = await (await door({})).holdings();
    const [note] = inventory.notes.filter(({ what }) => /aff_code/.test(what));
    assert.equal(note?.count, 4);
    assert.match(note!.why, /an invitation here is for one user/);
  });
});

describe('subscriptions of new-api', () => {
  const START_S = NOW_S - 40 * DAY_S;
  const PLANS: readonly TestRow[] = [
    {
      id: 1,
      title: 'Pro',
      price_amount: 20,
      total_amount: 15_000_000,
      quota_reset_period: 'monthly',
      upgrade_group: 'vip',
    },
    {
      id: 2,
      title: '日卡',
      price_amount: 1.5,
      duration_unit: 'day',
      duration_value: 7,
      total_amount: 500_000,
      quota_reset_period: 'daily',
    },
    {
      id: 3,
      title: 'Pack',
      price_amount: 9.99,
      duration_unit: 'year',
      total_amount: 1_234_567,
      quota_reset_period: 'never',
    },
    { id: 4, title: 'Odd', total_amount: 1_000, quota_reset_period: 'custom', quota_reset_custom_seconds: 18_000 },
    { id: 5, title: 'All', total_amount: 0 },
  ];
  const PLANS_HERE = {
    Pro: {
      title: 'Pro',
      days: 30,
      monthly: 30,
      includes: 'balance',
      afterLimits: 'balance',
      price: 20,
      afterExpiry: 'balance',
    },
    'plan-2': {
      title: '日卡',
      days: 7,
      daily: 1,
      includes: 'balance',
      afterLimits: 'balance',
      price: 1.5,
      afterExpiry: 'balance',
    },
    Pack: { title: 'Pack', days: 365, balance: 2.469134, price: 9.99, afterExpiry: 'balance' },
    All: {
      title: 'All',
      days: 30,
      monthly: 1_000_000,
      includes: 'balance',
      afterLimits: 'balance',
      afterExpiry: 'balance',
    },
    'Pro-2': {
      title: 'Pro',
      days: 30,
      monthly: 20,
      includes: 'balance',
      afterLimits: 'balance',
      afterExpiry: 'balance',
    },
  };
  const active = { status: 'active', start_time: START_S, end_time: NOW_S + 400 * DAY_S };
  let own: Door;
  let imported: Imported;

  before(async () => {
    const subscriptions: readonly TestRow[] = [
      {
        id: 1,
        user_id: 1,
        plan_id: 1,
        amount_total: 15_000_000,
        amount_used: 1_000_000,
        ...active,
        upgrade_group: 'vip',
        prev_user_group: 'default',
      },
      { id: 2, user_id: 2, plan_id: 3, amount_total: 1_234_567, amount_used: 1, ...active },
      {
        id: 3,
        user_id: 3,
        plan_id: 1,
        amount_total: 10_000_000,
        amount_used: 3,
        ...active,
        next_reset_time: NOW_S + 9 * DAY_S,
      },
      {
        id: 4,
        user_id: 3,
        plan_id: 1,
        amount_total: 15_000_000,
        amount_used: 15_000_000 - 8,
        ...active,
        end_time: NOW_S + 9 * DAY_S,
      },
      {
        id: 5,
        user_id: 4,
        plan_id: 2,
        amount_total: 500_000,
        amount_used: 499_999,
        ...active,
        next_reset_time: NOW_S - 5,
      },
      { id: 6, user_id: 4, plan_id: 4, amount_total: 1_000, amount_used: 400, ...active },
      { id: 7, user_id: 4, plan_id: 1, amount_total: 15_000_000, amount_used: 0, ...active, status: 'expired' },
      { id: 8, user_id: 4, plan_id: 1, amount_total: 15_000_000, amount_used: 0, ...active, end_time: NOW_S - 5 },
    ];
    own = await door(
      { subscription_plans: PLANS, user_subscriptions: subscriptions },
      { config: { plans: PLANS_HERE } },
    );
    imported = await own.holdings();
  });

  async function left(user: string): Promise<string> {
    const service = own.gateway.host.use(Subscriptions);
    const subscription = (await service.of(own.accounts.get(user)!))!;
    const uses = Object.entries(await service.use(subscription)).map(
      ([name, { remaining }]) => `${name} ${remaining / MICRO}`,
    );
    return `${subscription.plan}: ${uses}`;
  }

  it('have plans in gateway.yaml, with which the gateway starts', () => {
    assert.deepEqual(imported.inventory.sections.plans, PLANS_HERE);
    assert.match(whyOf(imported.notes, /^plan Odd$/), /^decide: its amount is renewed every 18000 seconds/);
    assert.match(whyOf(imported.notes, /^plan Pro$/), /moves its buyer to the group vip/);
  });

  it('go on with what was left of the current period, to the unit', async () => {
    assert.equal(await left('1'), 'Pro: monthly 14000000');
    assert.equal(await left('3'), 'Pro-2: monthly 9999997');
    assert.match(whyOf(imported.notes, /^subscription 1 /), /in the group vip until .*, and then in default/);
    await own.reconciles();
  });

  it('begin again when they did there, also if that time has passed since', async () => {
    const service = own.gateway.host.use(Subscriptions);
    const use = await service.use((await service.of(own.accounts.get('3')!))!);
    assert.equal(use.monthly?.resetsMs, (NOW_S + 9 * DAY_S) * 1_000);
    assert.equal(await left('4'), 'plan-2: daily 500000');
  });

  it('are credited to the balance where plans here cannot be the same, to the unit', async () => {
    assert.equal(await own.balance('2'), 1_234_566n);
    assert.equal(await own.balance('3'), 8n);
    assert.equal(await own.balance('4'), 600n);
    assert.match(whyOf(imported.notes, /^subscription 2 /), /decide: what was left of it, 1234566 quota, is credited/);
    assert.match(whyOf(imported.notes, /^subscription 4 /), /decide: its account has another plan: .* 8 quota/);
    assert.match(whyOf(imported.notes, /^subscription 6 /), /every 18000 seconds until/);
  });

  it('pay calls, and the balance does not', async () => {
    const before = await own.balance('1');
    const { status } = await own.gateway.chat({ model: 'test-model' }, { key: `sk-${'a'.repeat(48)}` });
    assert.equal(status, 200);
    assert.equal(await own.balance('1'), before);
    const [, used] = /monthly (\d+)/.exec(await left('1'))!;
    assert.ok(BigInt(used!) < 14_000_000n && BigInt(used!) > 13_000_000n, used);
    await own.reconciles();
  });

  it('are not written a second time, and follow what was spent there since', async () => {
    assert.deepEqual((await own.holdings()).planned, []);
    const [, before] = /monthly (\d+)/.exec(await left('1'))!;
    changeSqlite(own.file, 'UPDATE user_subscriptions SET amount_used = amount_used + 500 WHERE id IN (1, 2)');
    assert.equal((await own.holdings()).planned.length, 2);
    assert.equal(await left('1'), `Pro: monthly ${BigInt(before!) - 500n}`);
    assert.equal(await own.balance('2'), 1_234_066n);
    assert.deepEqual((await own.holdings()).planned, []);
    await own.reconciles();
  });
});

describe('orders of new-api', () => {
  const paid = { create_time: 1_790_000_000, complete_time: 1_790_000_060, status: 'success' };
  let own: Door;
  let imported: Imported;

  before(async () => {
    own = await door({
      subscription_plans: [{ id: 1, title: 'Pro', price_amount: 20, total_amount: 1, quota_reset_period: 'monthly' }],
      top_ups: [
        {
          id: 1,
          user_id: 1,
          amount: 10,
          money: 73.1,
          trade_no: 'T1',
          payment_method: 'alipay',
          payment_provider: 'epay',
          ...paid,
        },
        { id: 2, user_id: 1, amount: 5, money: 36.5, trade_no: 'T2', ...paid, status: 'pending' },
        { id: 3, user_id: 1, amount: 5, money: 4.5, trade_no: 'T3', payment_provider: 'stripe', ...paid },
        { id: 4, user_id: 1, amount: 1_000_000, money: 9.99, trade_no: 'T4', payment_provider: 'creem', ...paid },
        { id: 5, user_id: 1, amount: 5, money: 36.5, trade_no: 'T5', ...paid, status: 'expired' },
        { id: 6, user_id: 1, amount: 0, money: 20, trade_no: 'S1', payment_method: 'stripe', ...paid },
      ],
      subscription_orders: [
        { id: 1, user_id: 1, plan_id: 1, money: 20, trade_no: 'S1', payment_method: 'stripe', ...paid },
      ],
    });
    imported = await own.holdings();
  });

  it('are history in the console, and credit nothing', async () => {
    assert.equal(await own.balance('1'), 0n);
    const administrator = await root(own.gateway);
    const { items } = await administrator.data('GET', '/api/user/topup?page_size=20');
    const lines = items.map((order: Record<string, unknown>) =>
      ['trade_no', 'payment_provider', 'kind', 'plan', 'quota', 'money_text', 'currency', 'status', 'note']
        .map((name) => order[name])
        .join(' '),
    );
    assert.deepEqual(lines.sort(), [
      'S1 imported plan Pro 0 20.00 USD success imported from new-api',
      'T1 imported quota  5000000 73.10 CNY success imported from new-api',
      'T3 imported quota  2250000 4.50 USD success imported from new-api',
      'T4 imported quota  1000000 9.99 USD success imported from new-api',
    ]);
    await own.reconciles();
  });

  it('are never completed again, and have no invoices here', async () => {
    const administrator = await root(own.gateway);
    const { status } = await administrator.post('/api/user/topup/complete', { trade_no: 'T1', reason: 'a test' });
    assert.notEqual(status, 200);
    assert.equal(await own.balance('1'), 0n);
    assert.deepEqual(await own.gateway.host.use(Payments).documents('T1'), []);
  });

  it('are named if they are open', () => {
    assert.match(whyOf(imported.notes, /^order T2$/), /^decide: it is open/);
    assert.equal(whyOf(imported.notes, /^order T5$/), 'left: it was not paid');
  });

  it('are not written a second time', async () => {
    assert.deepEqual((await own.holdings()).planned, []);
  });
});

describe('the usage of days', () => {
  const call = (id: number, user: number, token: number, model: string, at: number, quota: number): TestRow => ({
    ...{
      id,
      user_id: user,
      token_id: token,
      token_name: TOKENS[token - 1]?.name ?? '',
      model_name: model,
      created_at: at,
      quota,
    },
    ...{ type: 2, prompt_tokens: 10 * quota, completion_tokens: quota, username: 'x' },
  });
  const AGO = (days: number): number => TODAY_S - days * DAY_S;
  const CALLS: readonly TestRow[] = [
    call(1, 1, 1, 'm', AGO(400), 7),
    call(2, 1, 1, 'm', AGO(3) + 5, 11),
    call(3, 1, 2, 'm', AGO(3) + DAY_S - 1, 13),
    call(4, 1, 1, 'n', AGO(2), 17),
    // Written late: its day is not the last one.
    call(5, 1, 1, 'm', AGO(3) + 9, 19),
    call(6, 2, 3, 'm', AGO(2) + 1, 23),
    call(7, 2, 3, 'm', TODAY_S, 29),
    { ...call(8, 2, 3, '', TODAY_S, 0), type: 1 },
    call(9, 9, 0, 'm', TODAY_S, 31),
  ];

  /** Sums by day, user, key and model, as statistics show them. */
  async function sums(own: Door): Promise<readonly string[]> {
    const rows = await own.gateway.host.use(Records).sums({}, ['day', 'account', 'key', 'model']);
    const users = new Map([...own.accounts].map(([user, id]) => [id, user]));
    return rows
      .filter(({ accountId }) => users.has(accountId))
      .map(
        ({ timeMs, accountId, keyId, model, calls, input, output, charged }) =>
          `${new Date(timeMs).toISOString().slice(0, 10)} ${users.get(accountId)} ${keyId} ${model}: ${calls} calls, ${input} ${output}, ${charged / MICRO}`,
      )
      .sort();
  }

  function expected(own: Door, rows: readonly TestRow[], hasKeys = true): readonly string[] {
    const groups = new Map<string, [number, number]>();
    for (const { created_at, user_id, token_id, model_name, quota, type } of rows) {
      if (type !== 2 || !own.accounts.has(String(user_id))) continue;
      const key = hasKeys && token_id ? [...own.keys.values()][Number(token_id) - 1] : 0;
      const name = `${new Date(Number(created_at) * 1_000).toISOString().slice(0, 10)} ${user_id} ${key} ${model_name}`;
      const [calls, sum] = groups.get(name) ?? [0, 0];
      groups.set(name, [calls + 1, sum + Number(quota)]);
    }
    return [...groups].map(([name, [calls, sum]]) => `${name}: ${calls} calls, ${10 * sum} ${sum}, ${sum}`).sort();
  }

  it('has the same sums by user, key, model and day, once, also when it is imported again', async () => {
    const own = await door({ logs: CALLS });
    const days = await own.days();
    assert.deepEqual(
      days.map(({ to }) => to),
      ['1 calls, 7 quota', '3 calls, 43 quota', '2 calls, 40 quota', '1 calls, 29 quota'],
    );
    assert.equal(days.at(-1)?.notes?.[0]?.count, 1);
    assert.deepEqual(await sums(own), expected(own, CALLS));
    assert.deepEqual(await own.days(), []);
    assert.deepEqual(await sums(own), expected(own, CALLS));
  });

  it('follows a day that goes on, and adds what is called here', async () => {
    const own = await door({ logs: CALLS });
    await own.days();
    const late = call(10, 2, 3, 'm', TODAY_S + 3, 100);
    changeSqlite(
      own.file,
      `INSERT INTO logs (id, user_id, token_id, token_name, model_name, created_at, quota, type, prompt_tokens, completion_tokens)
      VALUES (10, 2, 3, 'laptop', 'm', ${TODAY_S + 3}, 100, 2, 1000, 100)`,
    );
    assert.deepEqual(
      (await own.days()).map(({ to }) => to),
      ['2 calls, 129 quota'],
    );
    assert.deepEqual(await sums(own), expected(own, [...CALLS, late]));
    await own.gateway.host
      .use(Ledger)
      .credit({ kind: 'account', owner: own.accounts.get('2')! }, 9_000_000n * MICRO, 'a test', 'a test');
    assert.equal((await own.gateway.chat({ model: 'test-model' }, { key: `sk-${'c'.repeat(48)}` })).status, 200);
    assert.deepEqual(await own.days(), []);
    const [today] = await own.gateway.host
      .use(Records)
      .sums({ accounts: [own.accounts.get('2')!], fromMs: TODAY_S * 1_000 }, []);
    assert.equal(today?.calls, 3);
    const page = await own.gateway.host.use(Records).page({}, { limit: 10 });
    assert.equal(page.items.filter(({ call: record }) => record !== undefined).length, 1);
    assert.equal(page.total, page.items.length);
  });

  it('takes what hourly sums have more, without a key', async () => {
    const own = await door({
      logs: CALLS.filter(({ id }) => Number(id) > 3),
      quota_data: [
        { id: 1, user_id: 1, model_name: 'm', created_at: AGO(3), count: 3, quota: 43, token_used: 473 },
        { id: 2, user_id: 1, model_name: 'm', created_at: AGO(400), count: 1, quota: 7, token_used: 77 },
        { id: 3, user_id: 2, model_name: 'm', created_at: AGO(2), count: 0, quota: 0, token_used: 0 },
      ],
    });
    await own.days();
    const date = (days: number): string => new Date(AGO(days) * 1_000).toISOString().slice(0, 10);
    const key = own.keys.get([...own.keys.keys()][0]!);
    const shown = await sums(own);
    assert.deepEqual(
      shown.filter((line) => line.startsWith(date(3))),
      [`${date(3)} 1 0 m: 2 calls, 264 0, 24`, `${date(3)} 1 ${key} m: 1 calls, 190 19, 19`],
    );
    assert.deepEqual(
      shown.filter((line) => line.startsWith(date(400))),
      [`${date(400)} 1 0 m: 1 calls, 77 0, 7`],
    );
    assert.equal(shown.filter((line) => line.startsWith(date(2))).length, 2);
  });

  it('keeps days at the QuotaPerUnit that they were imported with, and names one that goes on', async () => {
    const own = await door({ logs: CALLS, options: [{ key: 'QuotaPerUnit', value: '500000' }] });
    await own.days();
    changeSqlite(own.file, "UPDATE options SET value = '250000' WHERE key = 'QuotaPerUnit'");
    assert.deepEqual(await own.days(), []);
    assert.deepEqual(await sums(own), expected(own, CALLS));
    changeSqlite(
      own.file,
      `INSERT INTO logs (id, user_id, token_id, model_name, created_at, quota, type) VALUES
        (10, 2, 3, 'm', ${TODAY_S + 3}, 100, 2), (11, 2, 3, 'm', ${AGO(1)}, 100, 2)`,
    );
    const days = await own.days();
    assert.deepEqual(
      days.map(({ to }) => to),
      ['1 calls, 200 quota', '2 calls, 129 quota'],
    );
    assert.deepEqual(
      days.map(({ notes }) => notes?.find(({ why }) => why.startsWith('QuotaPerUnit'))?.why),
      [
        undefined,
        'QuotaPerUnit is 250000 there now, and was 500000 when the day was imported: all of its calls are counted at 500000',
      ],
    );
  });

  it('reads numbers in texts and fractions, and counts what is no number, or below zero, as nothing', async () => {
    const own = await door({
      logs: [
        { ...call(1, 1, 1, 'm', AGO(2), 5), type: ' 2.0 ' },
        { ...call(2, 1, 1, 'm', AGO(2), 7), prompt_tokens: '3.9', completion_tokens: 'many' },
        { ...call(3, 1, 1, ' m ', AGO(2), 0), quota: -8, prompt_tokens: -1 },
        { ...call(4, 1, 1, 'm', AGO(2), 11), type: '2x' },
        { ...call(5, 1, 1, 'm', AGO(1), 0), quota: '9007199254740991' },
        { ...call(6, 1, 1, 'm', AGO(1), 0), quota: '9007199254740991.0', created_at: `${AGO(1)}.5` },
      ],
    });
    const found: string[] = [];
    const source = await own.open();
    for await (const { user, model, calls, input, output, charged } of source.history())
      found.push([user, model, calls, input, output, charged / MICRO].join(' '));
    assert.deepEqual(found, ['1 m 3 53 5 12', '1 m 2 0 0 18014398509481982']);
    await source.close();
    changeSqlite(own.file, `UPDATE logs SET quota = '9007199254740992' WHERE id = 5`);
    const other = await own.open();
    await assert.rejects(
      other.history()[Symbol.asyncIterator]().next(),
      /logs, id 5, quota: "9007199254740992" is not/,
    );
    await other.close();
  });

  it('finds keys of one-api by their names', async () => {
    const own = await door({ logs: CALLS }, { version: ONE_API });
    await own.days('one-api');
    assert.deepEqual(await sums(own), expected(own, CALLS));
  });
});

describe('one-hub', () => {
  /** Facts of `model/redemption.go`, `model/order.go`, `model/payment.go`, `model/statistics.go` and `model/log.go` (387f8bf1). */
  const SQL = `${ONE_API_VERSIONS.at(-1)!.sql}${LOGS}
    CREATE TABLE payments (id integer PRIMARY KEY, type text, name text);
    CREATE TABLE orders (id integer PRIMARY KEY, user_id integer, gateway_id integer, trade_no text, gateway_no text, amount integer,
      order_amount real, order_currency text, quota integer, status text, created_at integer, updated_at integer, deleted_at datetime);
    CREATE TABLE statistics (date date, user_id integer, channel_id integer, model_name text, request_count integer, quota integer,
      prompt_tokens integer, completion_tokens integer, request_time integer, PRIMARY KEY (date, user_id, channel_id, model_name));`;
  const paid = { created_at: 1_790_000_000, updated_at: 1_790_000_060, status: 'success', gateway_id: 1 };
  const dayBefore = new Date((TODAY_S - DAY_S) * 1_000).toISOString().slice(0, 10);
  let file: string;

  before(async () => {
    file = join((await door({})).gateway.dir, 'hub.db');
    makeSqlite(
      file,
      { name: 'one-hub', sql: SQL },
      {
        users: USERS,
        tokens: TOKENS,
        redemptions: [{ id: 1, key: '9'.repeat(32), status: 1, name: 'gift', quota: 5 }],
        payments: [{ id: 1, type: 'alipay', name: 'Alipay' }],
        orders: [
          { id: 1, user_id: 1, trade_no: 'H1', order_amount: 7.3, order_currency: 'CNY', quota: 500_000, ...paid },
          {
            id: 2,
            user_id: 1,
            trade_no: 'H2',
            order_amount: 1,
            order_currency: 'USD',
            quota: 500_000,
            ...paid,
            status: 'closed',
          },
        ],
        statistics: [
          {
            date: dayBefore,
            user_id: 1,
            channel_id: 1,
            model_name: 'm',
            request_count: 2,
            quota: 10,
            prompt_tokens: 3,
            completion_tokens: 4,
          },
          {
            date: dayBefore,
            user_id: 1,
            channel_id: 2,
            model_name: 'm',
            request_count: 1,
            quota: 1,
            prompt_tokens: 1,
            completion_tokens: 1,
          },
          {
            date: new Date(TODAY_S * 1_000).toISOString().slice(0, 10),
            user_id: 1,
            channel_id: 1,
            model_name: 'm',
            request_count: 1,
            quota: 99,
          },
        ],
        logs: [{ id: 1, user_id: 1, token_name: 'laptop', model_name: 'm', type: 2, created_at: TODAY_S, quota: 6 }],
      },
    );
  });

  it('has codes and orders', async () => {
    const source = oneHubSource(await openDatabase(file), PER_UNIT);
    const { codes, orders } = await source.inventory().finally(() => source.close());
    assert.deepEqual(
      codes.map(({ code, amount }) => [code, amount]),
      [['9'.repeat(32), 5n * MICRO]],
    );
    assert.deepEqual(
      orders.map(({ tradeNumber, amount, money, currency, method, state }) =>
        [tradeNumber, amount / MICRO, money, currency, method, state].join(' '),
      ),
      ['H1 500000 7.3 CNY alipay paid', 'H2 500000 1 USD alipay failed'],
    );
  });

  it('has sums of days before its first recorded call, and calls from then on', async () => {
    const source = oneHubSource(await openDatabase(file), PER_UNIT);
    const days: string[] = [];
    for await (const { dayMs, user, key, calls, input, output, charged } of source.history())
      days.push(
        [
          new Date(dayMs).toISOString().slice(0, 10),
          user,
          key?.length ?? 0,
          calls,
          input,
          output,
          charged / MICRO,
        ].join(' '),
      );
    await source.close();
    assert.deepEqual(days, [
      `${dayBefore} 1 0 3 4 5 11`,
      `${new Date(TODAY_S * 1_000).toISOString().slice(0, 10)} 1 64 1 0 0 6`,
    ]);
  });
});
