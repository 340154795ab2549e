/** Layers beside account and key: windows of a subscription, budgets of departments, and what part of the price is paid. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Layer, MICRO } from '../../../core/contracts/ledger.ts';
import { GatewayError } from '../../../core/plugin.ts';
import { damageRows } from '../../kit/gateway/rows.ts';
import { isOnPostgres } from '../../kit/stand-ins/postgres.ts';
import { LAYERS, openLimited, rushAt } from './limited.ts';
import {
  ACCOUNT,
  callingNow,
  callingWhole,
  department,
  ended,
  inCurrency,
  inWorld,
  KEY,
  openWorld,
  type Run,
  refusedWith,
  settled,
  subscribe,
  type World,
} from './world.ts';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const NEW_YEAR_MS = Date.UTC(2026, 0, 1);

/** What the sentence of a refusal says. */
async function messageOf(refused: Promise<unknown>): Promise<string> {
  try {
    await refused;
  } catch (error) {
    assert.ok(error instanceof GatewayError, `${error}`);
    return error.message;
  }
  return assert.fail('nobody refused');
}

/** Plans that the tests below subscribe to. */
const MONTHLY = { plans: { monthly: { daily: inCurrency(5), weekly: inCurrency(20), monthly: inCurrency(50) } } };

function day(owner: number, startMs: number): Layer {
  return { kind: 'day', owner, windowStart: startMs };
}

describe('each layer', () => {
  for (const { name, code } of LAYERS) {
    it(`of 200 calls at once over a limit of ten lets exactly ten through: ${name} [T-LED-01]`, async () => {
      const limited = await openLimited(name, 10);
      try {
        await rushAt(limited, 200, 10, code);
      } finally {
        await limited.world.close();
      }
    });

    it(`cannot be brought below nothing by SQL, and refuses where it was damaged to be there: ${name} [T-LED-02] [T-LED-03]`, async () => {
      const { world, run, identity, bucket } = await openLimited(name, 10);
      try {
        await run.admit(callingNow(world, 'flat', 1, { identity }));
        const where = `kind = '${bucket.kind}' AND owner = ${bucket.owner}`;
        const changes = ['granted = 0', 'used = granted', 'held = granted + 1', 'used = -1'];
        // Columns of a server hold whole numbers only: it rounds.
        for (const change of [...changes, ...(isOnPostgres() ? [] : ['held = 0.5'])]) {
          const changed = world.store.run(`UPDATE bucket SET ${change} WHERE ${where}`);
          await assert.rejects(changed, /constraint|store/i, change);
        }
        // What is leased goes back, and calls find what is there now.
        await run.parts.stop?.();
        for (const used of [10n * MICRO, 10n * MICRO + 1n, 2n ** 62n]) {
          await settled(world.store);
          const granted = `CASE WHEN granted < ${10n * MICRO} THEN granted ELSE ${10n * MICRO} END`;
          damageRows(world.file, `UPDATE bucket SET used = ${used}, granted = ${granted} WHERE ${where}`);
          await assert.rejects(run.admit(callingNow(world, 'flat', 1, { identity })), refusedWith(code), `${used}`);
        }
      } finally {
        await world.close();
      }
    });
  }

  it(
    'refuses in its turn, and says what is left and when there will be more',
    inWorld(4n * MICRO, 4n * MICRO, async (world) => {
      const run = await world.run('boot-1', MONTHLY);
      await subscribe(world, run, 'monthly');
      const budgets = { budget: 90n * MICRO, monthlyBudget: 80n * MICRO };
      world.departments.set(1, [department(3, { ...budgets, name: 'Research' })]);
      const costing = (quota: number) => run.admit(callingWhole(world, 'metered', quota * 1_000_000));

      await assert.rejects(costing(100), refusedWith('QUOTA_USER_INSUFFICIENT'));
      assert.match(
        await messageOf(costing(100)),
        /needs a reservation of 100 quota, and the account has only 4 quota left\. Credit it/,
      );
      await run.ledger.credit(ACCOUNT, 10_000n * MICRO, 'more for the account', 'test');
      await assert.rejects(costing(100), refusedWith('QUOTA_TOKEN_INSUFFICIENT'));
      await run.ledger.setAvailable(KEY, undefined, 'test');
      await assert.rejects(costing(100), refusedWith('QUOTA_MONTHLY_DAILY_EXCEEDED'));
      assert.match(
        await messageOf(costing(100)),
        /the daily window of the plan "monthly" has only 5 quota left\. It resets at 2026-01-02T00:00:00\.000Z/,
      );

      const limits = { daily: inCurrency(500), weekly: inCurrency(20), monthly: inCurrency(50) };
      const more = async (plan: Record<string, number>): Promise<Run> =>
        world.run('boot-1', { plans: { monthly: plan } });
      const week = await more(limits);
      const x = (quota: number) => callingWhole(world, 'metered', quota * 1_000_000);
      await assert.rejects(week.admit(x(100)), refusedWith('QUOTA_MONTHLY_WEEKLY_EXCEEDED'));
      // The first of January 2026 is a Thursday.
      assert.match(
        await messageOf(week.admit(x(100))),
        /weekly window .* only 20 quota left\. .* resets at 2026-01-05T00:00/,
      );
      const month = await more({ ...limits, weekly: inCurrency(500) });
      await assert.rejects(month.admit(x(100)), refusedWith('QUOTA_MONTHLY_EXCEEDED'));
      assert.match(
        await messageOf(month.admit(x(100))),
        /monthly window .* only 50 quota left\. .* resets at 2026-01-31T00:00/,
      );
      const free = await more({});
      await assert.rejects(free.admit(x(100)), refusedWith('QUOTA_DEPARTMENT_EXCEEDED'));
      assert.match(
        await messageOf(free.admit(x(100))),
        /the budget of the department "Research" has only 90 quota left/,
      );
      world.departments.set(1, [department(3, { monthlyBudget: 80n * MICRO, name: 'Research' })]);
      assert.match(
        await messageOf(free.admit(x(100))),
        /the monthly budget of the department "Research" has only 80 quota left\. It resets at 2026-02-01T00:00/,
      );
      const refusal = await free.admit(x(100)).catch((error: unknown) => error as GatewayError);
      assert.equal((refusal as GatewayError).headers?.['x-should-retry'], 'false');
    }),
  );
});

describe('windows', () => {
  it(
    'are taken from together, in one list with account and key, and closed by what was used',
    inWorld(100n * MICRO, 'unlimited', async (world) => {
      const run = await world.run('boot-1', MONTHLY);
      const { id } = await subscribe(world, run, 'monthly');
      const x = callingNow(world, 'metered', 3_000_000);
      await run.admit(x);
      const layers: readonly Layer[] = [
        day(id, NEW_YEAR_MS),
        { kind: 'week', owner: id, windowStart: Date.UTC(2025, 11, 29) },
        { kind: 'month', owner: id, windowStart: NEW_YEAR_MS },
      ];
      for (const layer of [ACCOUNT, KEY, ...layers]) assert.equal((await world.balance(layer)).held, 3n * MICRO);
      assert.deepEqual(await world.faults(run), {});
      assert.equal(await run.settle(ended(x, 'served', 1_000_000)), undefined);
      for (const layer of [ACCOUNT, KEY, ...layers]) {
        const { used, held } = await world.balance(layer);
        assert.deepEqual([used, held], [MICRO, 0n], layer.kind);
      }
      const subscription = await run.subscriptions.of(1);
      assert.deepEqual(await run.subscriptions.use(subscription!), {
        daily: { limit: 5n * MICRO, used: MICRO, remaining: 4n * MICRO, resetsMs: NEW_YEAR_MS + DAY_MS },
        weekly: { limit: 20n * MICRO, used: MICRO, remaining: 19n * MICRO, resetsMs: Date.UTC(2026, 0, 5) },
        monthly: { limit: 50n * MICRO, used: MICRO, remaining: 49n * MICRO, resetsMs: NEW_YEAR_MS + 30 * DAY_MS },
      });
    }),
  );

  it(
    'begin anew at midnight, on Monday and after thirty days; a call is closed in the window it was held in',
    inWorld('unlimited', 'unlimited', async (world) => {
      const plan = { days: 365, daily: inCurrency(5), weekly: inCurrency(8), monthly: inCurrency(10) };
      const run = await world.run('boot-1', { plans: { monthly: plan } });
      world.clock.advance(23 * HOUR_MS);
      const { id, startsMs } = await subscribe(world, run, 'monthly');
      world.clock.advance(HOUR_MS - 1);
      const late = callingNow(world, 'metered', 5_000_000);
      await run.admit(late);
      await assert.rejects(run.admit(callingNow(world, 'metered', 1)), refusedWith('QUOTA_MONTHLY_DAILY_EXCEEDED'));
      world.clock.advance(1);
      // The second of January, a Friday: the day is new, the week and the month are not.
      const early = callingNow(world, 'metered', 3_000_000);
      await run.admit(early);
      await assert.rejects(run.admit(callingNow(world, 'metered', 1)), refusedWith('QUOTA_MONTHLY_WEEKLY_EXCEEDED'));
      assert.equal(await run.settle(ended(late, 'served', 5_000_000)), undefined);
      assert.equal((await world.balance(day(id, NEW_YEAR_MS))).used, 5n * MICRO);
      assert.equal((await world.balance(day(id, NEW_YEAR_MS + DAY_MS))).held, 3n * MICRO);
      assert.equal(await run.settle(ended(early, 'served', 3_000_000)), undefined);

      world.clock.advance(3 * DAY_MS);
      // Monday.
      const monday = callingNow(world, 'metered', 2_000_000);
      await run.admit(monday);
      await assert.rejects(run.admit(callingNow(world, 'metered', 1)), refusedWith('QUOTA_MONTHLY_EXCEEDED'));
      assert.equal(await run.settle(ended(monday, 'served', 2_000_000)), undefined);

      world.clock.advance(startsMs + 30 * DAY_MS - world.clock.now() - 1);
      await assert.rejects(run.admit(callingNow(world, 'metered', 1)), refusedWith('QUOTA_MONTHLY_EXCEEDED'));
      world.clock.advance(1);
      const next = callingNow(world, 'metered', 1);
      await run.admit(next);
      assert.equal(await run.settle(ended(next, 'served', 1)), undefined);
      assert.equal((await world.balance({ kind: 'month', owner: id, windowStart: startsMs + 30 * DAY_MS })).used, 1n);
    }),
  );

  it(
    'follow gateway.yaml when its plan changes, but not below what is used already; running calls end as they began',
    inWorld('unlimited', 'unlimited', async (world) => {
      const withDaily = (daily: number | undefined): Promise<Run> =>
        world.run('boot-1', { plans: { monthly: daily === undefined ? {} : { daily: inCurrency(daily) } } });
      const before = await withDaily(5);
      const { id } = await subscribe(world, before, 'monthly');
      const window = day(id, NEW_YEAR_MS);
      const [first, second] = [callingNow(world, 'metered', 2_000_000), callingNow(world, 'metered', 2_000_000)];
      for (const x of [first, second]) await before.admit(x);
      assert.equal((await world.balance(window)).granted, 5n * MICRO);

      const less = await withDaily(1);
      await assert.rejects(less.admit(callingNow(world, 'metered', 1)), refusedWith('QUOTA_MONTHLY_DAILY_EXCEEDED'));
      assert.equal(await before.settle(ended(first, 'served', 500_000)), undefined);
      assert.equal(await before.settle(ended(second, 'failed')), undefined);
      // Half a quota is used of the one that there is now.
      const third = callingNow(world, 'metered', 500_000);
      await assert.rejects(
        less.admit(callingWhole(world, 'metered', 500_001)),
        refusedWith('QUOTA_MONTHLY_DAILY_EXCEEDED'),
      );
      await less.admit(third);
      assert.deepEqual(await world.balance(window), {
        granted: MICRO,
        used: 500_000n,
        held: 500_000n,
        unlimited: false,
      });

      const more = await withDaily(9);
      const fourth = callingNow(world, 'metered', 8_000_000);
      await more.admit(fourth);
      assert.equal((await world.balance(window)).granted, 9n * MICRO);

      const none = await withDaily(undefined);
      const fifth = callingNow(world, 'metered', 80_000_000);
      await none.admit(fifth);
      for (const [run, x] of [
        [less, third],
        [more, fourth],
        [none, fifth],
      ] as const) {
        assert.equal(await run.settle(ended(x, 'served', 100)), undefined);
      }
      assert.equal((await world.balance(window)).used, 500_200n);
    }),
  );

  it(
    'are outgrown by a call whose hold was a guess only as far as the least of them goes',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run('boot-1', { plans: { monthly: { daily: Number('0.00000001'), weekly: 1 } } });
      const { id } = await subscribe(world, run, 'monthly');
      const x = callingNow(world, 'metered', 1);
      x.call = { ...x.call, bounds: { ...x.call.bounds, outputTokens: undefined } };
      await run.admit(x);
      await settled(world.store);
      // 4,096 are held, 5,000 are there, 6,000 are due.
      assert.equal(await run.settle(ended(x, 'served', 6_000)), undefined);
      assert.deepEqual(await world.balance(day(id, NEW_YEAR_MS)), {
        granted: 5_000n,
        used: 5_000n,
        held: 0n,
        unlimited: false,
      });
      assert.equal((await world.balance(ACCOUNT)).used, 5_000n);
    }),
  );

  it(
    'are outgrown as far as they went when the call began, whatever they are now',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run();
      const x = callingNow(world, 'metered', 1);
      x.call = { ...x.call, bounds: { ...x.call.bounds, outputTokens: undefined } };
      world.departments.set(1, [department(3, { budget: 20_000n })]);
      await run.admit(x);
      world.departments.set(1, [department(3, { budget: 10_000n })]);
      const other = callingNow(world, 'metered', 10);
      await run.admit(other);
      assert.equal(await run.settle(ended(other, 'served', 10)), undefined);
      // 4,096 are held, 15,000 are due.
      assert.equal(await run.settle(ended(x, 'served', 15_000)), undefined);
      assert.equal(run.ledger.charged(x), 15_000n);
      await assert.rejects(run.admit(callingNow(world, 'metered', 1)), refusedWith('QUOTA_DEPARTMENT_EXCEEDED'));
    }),
  );

  it(
    'that a dead run had held from are closed by the next one, where they were held and for what was delivered',
    inWorld(1_000n, 1_000n, async (world) => {
      const plans = { monthly: { daily: inCurrency(5), weekly: inCurrency(5) } };
      const run = await world.run('boot-1', { plans });
      const { id } = await subscribe(world, run, 'monthly');
      world.departments.set(1, [department(3, { budget: MICRO }), department(2, { monthlyBudget: MICRO })]);
      world.clock.advance(DAY_MS - 1);
      const [streaming, waiting] = [callingNow(world, 'metered', 100), callingNow(world, 'metered', 100)];
      for (const x of [streaming, waiting]) await run.admit(x);
      ended(streaming, 'served', 25);
      streaming.outcome = undefined;
      world.clock.advance(1_000);
      await run.parts.stop?.();
      // By now it is another day, and nobody is in a department or has a plan.
      world.departments.clear();

      const next = await world.run('boot-2', { plans: {} });
      const budget: Layer = { kind: 'department', owner: 3 };
      const month: Layer = { kind: 'department-month', owner: 2, windowStart: NEW_YEAR_MS };
      for (const layer of [ACCOUNT, KEY, day(id, NEW_YEAR_MS), budget, month]) {
        const { used, held } = await world.balance(layer);
        assert.deepEqual([used, held], [25n, 0n], layer.kind);
      }
      assert.deepEqual(await world.store.all('SELECT * FROM running_layer'), []);
      assert.deepEqual(await world.faults(next), {});
      assert.equal(await run.settle(ended(waiting, 'served', 1)), 'lease_lost');
    }),
  );
});

describe('a plan that includes the balance', () => {
  const INCLUDING = { plans: { card: { daily: inCurrency(5), includes: 'balance' } } };

  it(
    'leaves the account alone, and refuses when its windows are used up, whatever the balance',
    inWorld(100n * MICRO, 50n * MICRO, async (world) => {
      const run = await world.run('boot-1', INCLUDING);
      const { id } = await subscribe(world, run, 'card');
      const x = callingNow(world, 'metered', 4_000_000);
      await run.admit(x);
      assert.equal((await world.balance(ACCOUNT)).held, 0n);
      assert.equal((await world.balance(KEY)).held, 4n * MICRO);
      assert.deepEqual(await world.faults(run), {});
      await assert.rejects(
        run.admit(callingWhole(world, 'metered', 1_000_001)),
        refusedWith('QUOTA_MONTHLY_DAILY_EXCEEDED'),
      );
      assert.equal(await run.settle(ended(x, 'served', 3_000_000)), undefined);
      assert.equal((await world.balance(ACCOUNT)).used, 0n);
      assert.equal((await world.balance(KEY)).used, 3n * MICRO);
      assert.equal((await world.balance(day(id, NEW_YEAR_MS))).used, 3n * MICRO);
      assert.equal(run.ledger.charged(x), 3n * MICRO);
      assert.deepEqual(await world.faults(run), {});

      const lost = callingNow(world, 'metered', 1_000_000);
      await run.admit(lost);
      const next = await world.run('boot-2', INCLUDING);
      assert.equal((await world.balance(day(id, NEW_YEAR_MS))).held, 0n);
      assert.deepEqual(await world.faults(next), {});
    }),
  );

  it(
    'needs no balance, but no debt either',
    inWorld(0n, 'unlimited', async (world) => {
      const run = await world.run('boot-1', INCLUDING);
      await subscribe(world, run, 'card');
      const x = callingNow(world, 'metered', 10);
      await run.admit(x);
      assert.equal(await run.settle(ended(x, 'served', 10)), undefined);
      await world.store.atomic(await run.ledger.takeBackSteps(1, MICRO, 'pay:1', 'acme'));
      await assert.rejects(run.admit(callingNow(world, 'metered', 1)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      assert.match(await messageOf(run.admit(callingNow(world, 'metered', 1))), /owes 1 quota/);
      await run.ledger.credit(ACCOUNT, MICRO, 'pay:2', 'acme');
      const y = callingNow(world, 'metered', 10);
      await run.admit(y);
      assert.equal(await run.settle(ended(y, 'served', 10)), undefined);
    }),
  );
});

describe('a subscription that has expired', () => {
  const plans = {
    strict: { days: 1, daily: inCurrency(5) },
    kind: { days: 1, daily: inCurrency(5), afterExpiry: 'balance' },
  };

  it(
    'refuses until it is renewed or cancelled',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run('boot-1', { plans });
      await subscribe(world, run, 'strict');
      world.clock.advance(DAY_MS);
      const x = () => callingNow(world, 'metered', 1);
      await assert.rejects(run.admit(x()), refusedWith('QUOTA_SUBSCRIPTION_EXPIRED'));
      assert.match(await messageOf(run.admit(x())), /"strict" expired at 2026-01-02T00:00:00\.000Z\. Renew it/);
      // What costs nothing needs no subscription.
      await run.admit(callingNow(world, 'free', 1));
      await subscribe(world, run, 'strict');
      const renewed = x();
      await run.admit(renewed);
      assert.equal(await run.settle(ended(renewed, 'served', 1)), undefined);
      world.clock.advance(DAY_MS);
      await assert.rejects(run.admit(x()), refusedWith('QUOTA_SUBSCRIPTION_EXPIRED'));
      assert.equal(await run.subscriptions.cancel(1), true);
      const cancelled = x();
      await run.admit(cancelled);
      assert.equal(await run.settle(ended(cancelled, 'served', 1)), undefined);
    }),
  );

  it(
    'leaves calls to the balance where its plan says so, or gateway.yaml has the plan no more',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run('boot-1', { plans });
      await subscribe(world, run, 'kind');
      world.clock.advance(DAY_MS);
      const x = callingNow(world, 'metered', 100_000_000);
      await run.admit(x);
      assert.equal(await run.settle(ended(x, 'served', 1)), undefined);
      await subscribe(world, run, 'strict');
      world.clock.advance(DAY_MS);
      await subscribe(world, run, 'strict');
      const without = await world.run('boot-1', { plans: {} });
      assert.deepEqual(without.warnings, ['subscriptions have plans that are not in gateway.yaml: they limit nothing']);
      world.clock.advance(DAY_MS);
      const y = callingNow(world, 'metered', 100_000_000);
      await without.admit(y);
      assert.equal(await without.settle(ended(y, 'served', 1)), undefined);
    }),
  );
});

describe('departments', () => {
  it(
    'lend their budgets to all below them; a call is taken from each on the path up',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run();
      const top = department(1, { budget: 10n * MICRO });
      world.departments.set(1, [department(2, { monthlyBudget: 4n * MICRO }), top]);
      await world.store.atomic(run.ledger.open({ kind: 'account', owner: 2 }, 0n, true));
      world.departments.set(2, [top]);
      const other = {
        ...callingNow(world, 'flat', 1).identity,
        account: { ...callingNow(world, 'flat', 1).identity.account, id: 2 },
      };
      const calls = Array.from({ length: 4 }, () => callingNow(world, 'flat', 1));
      for (const x of calls) await run.admit(x);
      await assert.rejects(run.admit(callingNow(world, 'flat', 1)), refusedWith('QUOTA_DEPARTMENT_EXCEEDED'));
      const others = Array.from({ length: 6 }, () => callingNow(world, 'flat', 1, { identity: other }));
      for (const x of others) await run.admit(x);
      await assert.rejects(
        run.admit(callingNow(world, 'flat', 1, { identity: other })),
        refusedWith('QUOTA_DEPARTMENT_EXCEEDED'),
      );
      for (const x of [...calls, ...others]) assert.equal(await run.settle(ended(x, 'served', 1)), undefined);
      assert.equal((await world.balance({ kind: 'department', owner: 1 })).used, 10n * MICRO);
      assert.equal(
        (await world.balance({ kind: 'department-month', owner: 2, windowStart: NEW_YEAR_MS })).used,
        4n * MICRO,
      );
      // A budget that is raised holds from the next call on; so does a new month.
      world.departments.set(1, [department(2, { monthlyBudget: 4n * MICRO }), { ...top, budget: 12n * MICRO }]);
      await assert.rejects(run.admit(callingNow(world, 'flat', 1)), refusedWith('QUOTA_DEPARTMENT_EXCEEDED'));
      world.clock.advance(31 * DAY_MS);
      const next = callingNow(world, 'flat', 1);
      await run.admit(next);
      assert.equal(await run.settle(ended(next, 'served', 1)), undefined);
      assert.equal((await world.balance({ kind: 'department', owner: 1 })).used, 11n * MICRO);
    }),
  );

  it(
    'that are disabled, or lie below one that is, call nothing',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run();
      world.departments.set(1, [department(2), department(1, { enabled: false, name: 'Closed' })]);
      for (const name of ['metered', 'free']) {
        await assert.rejects(run.admit(callingNow(world, name, 1)), refusedWith('department_disabled'));
      }
      assert.match(await messageOf(run.admit(callingNow(world, 'metered', 1))), /"Closed" is disabled/);
    }),
  );

  it(
    'pay their part of the price, rounded up once at the end; what changes meanwhile is no matter of a call that runs',
    inWorld(1_000n, 'unlimited', async (world) => {
      const run = await world.run();
      let used = 0n;
      for (const [factorPpm, model, tokens, amount] of [
        [1_000_000, 'metered', 7, 7n],
        [800_000, 'metered', 10, 8n],
        [800_000, 'metered', 1, 1n],
        [333_333, 'metered', 3, 1n],
        [333_334, 'metered', 3, 2n],
        [1_500_000, 'metered', 3, 5n],
        // Rounded up once: half a micro-quota and a half more are three quarters, not two.
        [1_500_000, 'half', 1, 1n],
        [500_000, 'half', 3, 1n],
        [500_000, 'half', 5, 2n],
        [1, 'metered', 1, 1n],
        [0, 'metered', 1_000, 0n],
        [100_000_000, 'metered', 7, 700n],
      ] as const) {
        const budget: Layer = { kind: 'department', owner: Number(factorPpm) + 1 };
        world.departments.set(1, [
          department(budget.owner, { factorPpm, budget: MICRO }),
          department(1, { factorPpm: 7 }),
        ]);
        const before = (await run.ledger.balance(budget))?.used ?? 0n;
        const x = callingNow(world, model, tokens);
        await run.admit(x);
        assert.equal((await world.balance(ACCOUNT)).held, amount, `${factorPpm} of ${tokens} ${model}`);
        world.departments.set(1, [department(3, { factorPpm: 9_000_000 })]);
        await run.settle(ended(x, 'served', tokens));
        used += amount;
        assert.equal((await world.balance(ACCOUNT)).used, used);
        assert.equal(run.ledger.charged(x), amount);
        if (amount > 0n) assert.equal((await world.balance(budget)).used - before, amount);
      }
    }),
  );
});

describe('explaining a call', () => {
  async function linesOf(run: Run, world: World, quota: number): Promise<readonly string[]> {
    const lines: string[] = [];
    for await (const line of run.parts.explain?.(callingWhole(world, 'metered', quota * 1_000_000)) ?? []) {
      lines.push(String(line));
    }
    return lines;
  }

  it(
    'tells of every layer, opened or not, and of the part of the price',
    inWorld(100n * MICRO, 'unlimited', async (world) => {
      const run = await world.run('boot-1', MONTHLY);
      await subscribe(world, run, 'monthly');
      world.departments.set(1, [department(2, { name: 'Research', budget: 30n * MICRO, factorPpm: 500_000 })]);
      const lines = await linesOf(run, world, 8);
      for (const line of [
        'the department pays 0.5 of the price',
        'the account has 100 quota left: enough',
        'the key is not limited',
        'the daily window of the plan "monthly" has 5 quota left: enough',
        'the budget of the department "Research" has 30 quota left: enough',
      ]) {
        assert.ok(lines.includes(line), `${line} is not among\n${lines.join('\n')}`);
      }
      assert.ok(
        lines.some((line) => line.startsWith('reserves 4 quota')),
        lines.join('\n'),
      );
      await assert.rejects(linesOf(run, world, 11), refusedWith('QUOTA_MONTHLY_DAILY_EXCEEDED'));
      assert.deepEqual(await world.store.all(`SELECT kind FROM bucket WHERE kind NOT IN ('account', 'key')`), []);
      world.clock.advance(30 * DAY_MS);
      await assert.rejects(linesOf(run, world, 1), refusedWith('QUOTA_SUBSCRIPTION_EXPIRED'));
    }),
  );
});

describe('invariants of the further layers', () => {
  for (const [invariant, line, ...damage] of [
    [
      'no-layer-without-its-call',
      /call lost: a layer of the kind day/,
      `INSERT INTO running_layer VALUES ('lost', 'day', 1, 0)`,
    ],
    ['held-is-leases', /day 1 from \d+: held 4999970, should be 0/, 'DELETE FROM lease'],
    [
      'used-is-debits-less-refunds',
      /day 1 from \d+: used 31, should be 30/,
      `UPDATE bucket SET used = 31 WHERE kind = 'day'`,
    ],
    ['everything-has-a-bucket', /day 1 from \d+: a lease, should be a bucket/, `DELETE FROM bucket WHERE kind = 'day'`],
    ['every-window-is-of-a-subscription', /subscription 1: has a window, should exist/, 'DELETE FROM subscription'],
    [
      'subscriptions-are-what-was-granted',
      /subscription 1: begins at \d+ and lasts 2592000001 ms, should be begun with a grant, and lasting 2592000000 ms/,
      'UPDATE subscription SET expires_ms = expires_ms + 1',
    ],
    [
      'subscriptions-are-what-was-granted',
      /subscription 1: begins at 1767225600001/,
      'UPDATE subscription SET starts_ms = starts_ms + 1, expires_ms = expires_ms + 1',
    ],
    [
      'subscriptions-are-what-was-granted',
      /grant test:\d+: of no subscription/,
      'UPDATE subscription_grant SET subscription_id = NULL',
    ],
    [
      'one-subscription-at-a-time',
      /account 1: subscriptions 1 and 9/,
      `INSERT INTO subscription VALUES (9, 1, 'monthly', 1767225600001, 1767225600002, NULL, 0)`,
    ],
    [
      'keys-pay-what-accounts-pay-and-no-less',
      /the day 0: accounts 0, keys 5/,
      `INSERT INTO debit VALUES ('key', 11, 0, 0, 5)`,
    ],
  ] as const) {
    it(`find the damage: ${invariant}, ${line.source}`, async () => {
      const world = await openWorld(1_000n, 1_000n);
      try {
        const run = await world.run('boot-1', MONTHLY);
        await subscribe(world, run, 'monthly');
        const [closed, open] = [callingNow(world, 'metered', 50), callingNow(world, 'metered', 60)];
        for (const x of [closed, open]) await run.admit(x);
        await run.settle(ended(closed, 'served', 30));
        assert.deepEqual(await world.faults(run), {});
        damageRows(world.file, ...damage);
        assert.match((await world.faults(run))[invariant]?.join('\n') ?? 'nothing was found', line);
      } finally {
        await world.close();
      }
    });
  }
});
