/** Subscriptions: given once, made longer, cancelled, and known to every gateway that shares the store. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MICRO } from '../../../core/contracts/ledger.ts';
import {
  ACCOUNT,
  callingNow,
  ended,
  inCurrency,
  inWorld,
  type Run,
  refusedWith,
  subscribe,
  type World,
} from '../quota/world.ts';

const DAY_MS = 86_400_000;
const NEW_YEAR_MS = Date.UTC(2026, 0, 1);
const SECTION = {
  plans: {
    monthly: {
      title: 'A month',
      daily: inCurrency(5),
      weekly: 0.5,
      monthly: 20.25,
      price: 19.99,
      balance: inCurrency(3),
    },
    day: { days: 1, daily: inCurrency(1) },
  },
};

/** Writes what gives a plan; the `must` that failed. */
async function grant(world: World, run: Run, plan: string, ref: string): Promise<string | undefined> {
  return world.store.atomic(await run.subscriptions.grantSteps(ACCOUNT.owner, plan, ref, 'test'));
}

describe('plans', () => {
  it(
    'are what gateway.yaml says, in exact amounts',
    inWorld(0n, 0n, async (world) => {
      const { subscriptions } = await world.run('boot-1', SECTION);
      assert.deepEqual(subscriptions.plan('monthly'), {
        name: 'monthly',
        title: 'A month',
        days: 30,
        daily: 5n * MICRO,
        weekly: 250_000n * MICRO,
        monthly: 10_125_000n * MICRO,
        priceCents: 1_999,
        balance: 3n * MICRO,
        includesBalance: false,
        afterLimits: 'refuse',
        afterExpiry: 'refuse',
      });
      assert.equal(subscriptions.plan('day')?.title, 'day');
      assert.equal(subscriptions.plan('day')?.weekly, undefined);
      assert.equal(subscriptions.plan('day')?.priceCents, undefined);
      assert.equal(subscriptions.plan('toString'), undefined);
      assert.equal(subscriptions.plans.length, 2);
    }),
  );

  it(
    'that say more than can be counted, or give everything away, are mistakes of gateway.yaml',
    inWorld(0n, 0n, async (world) => {
      for (const [plan, problem] of [
        [{ price: 19.999 }, /^plans\.odd\.price: has more decimal places than money can represent/],
        [{ daily: 1e-13 }, /^plans\.odd\.daily: has more decimal places than the ledger can represent/],
        [{ includes: 'balance' }, /^plans\.odd: includes the balance without a limit/],
      ] as const) {
        const { problems } = await world.create('boot-1', { plans: { odd: plan } });
        assert.match(problems.join('\n'), problem);
      }
      const large = await world.create('boot-1', { perUnit: 1_000_000_000, plans: { odd: { balance: 1_000_000 } } });
      assert.match(large.problems.join('\n'), /balance: is more than an account can have/);
    }),
  );
});

describe('a plan with `afterLimits: balance`', () => {
  const SECTION = {
    plans: { small: { daily: inCurrency(10), includes: 'balance', afterLimits: 'balance' } },
  };
  const call = async (world: World, run: Run): Promise<void> => {
    const x = callingNow(world, 'flat', 1);
    await run.admit(x);
    assert.equal(await run.settle(ended(x, 'served', 1)), undefined);
  };
  const left = async (world: World, run: Run): Promise<readonly bigint[]> => {
    const subscription = (await run.subscriptions.of(ACCOUNT.owner))!;
    const { granted, used } = await world.balance(ACCOUNT);
    return [(await run.subscriptions.use(subscription)).daily!.remaining / MICRO, (granted - used) / MICRO];
  };

  it(
    'includes calls while its windows have room, then the balance pays, and refuses what neither can pay',
    inWorld(2n * MICRO, 'unlimited', async (world) => {
      const run = await world.run('boot-1', SECTION);
      await subscribe(world, run, 'small');
      for (let calls = 1; calls <= 12; calls++) {
        await call(world, run);
        assert.deepEqual(await left(world, run), calls < 10 ? [BigInt(10 - calls), 2n] : [0n, BigInt(12 - calls)]);
      }
      await assert.rejects(call(world, run), refusedWith('QUOTA_USER_INSUFFICIENT'));
      world.clock.advance(DAY_MS);
      await call(world, run);
      assert.deepEqual(await left(world, run), [9n, 0n]);
      assert.deepEqual(await world.faults(run), {});
    }),
  );

  it(
    'never charges more than both have, also by calls at the same time',
    inWorld(7n * MICRO, 'unlimited', async (world) => {
      const run = await world.run('boot-1', SECTION);
      await subscribe(world, run, 'small');
      const results = await Promise.allSettled(Array.from({ length: 30 }, () => call(world, run)));
      assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 17);
      assert.deepEqual(await left(world, run), [0n, 0n]);
      assert.deepEqual(await world.faults(run), {});
    }),
  );
});

describe('a subscription', () => {
  it(
    'is given once per payment, with the balance that belongs to it',
    inWorld(0n, 0n, async (world) => {
      const run = await world.run('boot-1', SECTION);
      const results = await Promise.all(Array.from({ length: 20 }, () => grant(world, run, 'monthly', 'pay:1')));
      assert.deepEqual(results, [undefined, ...Array(19).fill('granted_before')]);
      assert.deepEqual(await run.subscriptions.of(1), {
        id: 1,
        accountId: 1,
        plan: 'monthly',
        startsMs: NEW_YEAR_MS,
        expiresMs: NEW_YEAR_MS + 30 * DAY_MS,
        state: 'active',
      });
      assert.equal((await world.balance(ACCOUNT)).granted, 3n * MICRO);
    }),
  );

  it(
    'becomes longer by the same plan, keeps its windows, and begins anew when it had expired',
    inWorld(0n, 0n, async (world) => {
      const run = await world.run('boot-1', SECTION);
      const first = await subscribe(world, run, 'day');
      world.clock.advance(DAY_MS / 2);
      const longer = await subscribe(world, run, 'day');
      assert.deepEqual(longer, { ...first, expiresMs: NEW_YEAR_MS + 2 * DAY_MS });
      world.clock.advance(2 * DAY_MS);
      assert.equal((await run.subscriptions.of(1))?.state, 'expired');
      const next = await subscribe(world, run, 'day');
      assert.equal(next.id, first.id + 1);
      assert.equal(next.startsMs, world.clock.now());
      assert.equal(next.state, 'active');
    }),
  );

  it(
    'is one at a time, and as long as it was given, also where the clock steps back to where the one before it ran',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run('boot-1', SECTION);
      await subscribe(world, run, 'day');
      world.clock.advance(DAY_MS + 1_000);
      const second = await subscribe(world, run, 'day');
      world.clock.advance(-5_000);
      const longer = await subscribe(world, run, 'day');
      assert.deepEqual(longer, { ...second, expiresMs: second.startsMs + 2 * DAY_MS });
      assert.deepEqual(await world.faults(run), {});
      // Nor does one that had expired come back when the one behind it is cancelled.
      assert.equal(await run.subscriptions.cancel(1), true);
      assert.equal(await run.subscriptions.of(1), undefined);
      const third = await subscribe(world, run, 'monthly');
      assert.deepEqual([third.plan, third.startsMs], ['monthly', second.startsMs]);
      const x = callingNow(world, 'flat', 1);
      await run.admit(x);
      assert.equal(await run.settle(ended(x, 'served', 1)), undefined);
    }),
  );

  it(
    'of one plan keeps others from being given, also where both are asked for at once',
    inWorld(0n, 0n, async (world) => {
      const run = await world.run('boot-1', SECTION);
      const { subscriptions } = run;
      await assert.rejects(subscriptions.grantSteps(1, 'nothing', 'a', 'test'), refusedWith('plan_not_found', 404));
      const [one, other] = [
        await subscriptions.grantSteps(1, 'monthly', 'a', 'test'),
        await subscriptions.grantSteps(1, 'day', 'b', 'test'),
      ];
      assert.deepEqual(await Promise.all([world.store.atomic(one), world.store.atomic(other)]), [
        undefined,
        'other_plan_runs',
      ]);
      await assert.rejects(subscriptions.grantSteps(1, 'day', 'c', 'test'), refusedWith('other_plan_runs', 409));
      assert.equal(await subscriptions.cancel(1), true);
      assert.equal(await grant(world, run, 'day', 'b'), undefined);
      assert.equal((await subscriptions.of(1))?.plan, 'day');
    }),
  );

  it(
    'that is cancelled is none any more; what is written along is written with it, or not at all',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run('boot-1', SECTION);
      const note = { sql: `UPDATE bucket SET used = used WHERE kind = 'account'` };
      const late = { sql: `UPDATE bucket SET used = used WHERE kind = 'nothing'`, must: 'too_late' };
      assert.equal(await run.subscriptions.cancel(1, [note]), false);
      await subscribe(world, run, 'day');
      await assert.rejects(run.subscriptions.cancel(1, [late]), refusedWith('conflict', 409));
      assert.equal((await run.subscriptions.of(1))?.state, 'active');
      await assert.rejects(
        run.admit(callingNow(world, 'flat', 1)).then(() => run.admit(callingNow(world, 'flat', 1))),
        {
          code: 'QUOTA_MONTHLY_DAILY_EXCEEDED',
        },
      );
      assert.equal(await run.subscriptions.cancel(1, [note]), true);
      assert.equal(await run.subscriptions.of(1), undefined);
      const x = callingNow(world, 'flat', 1);
      await run.admit(x);
      assert.equal(await run.settle(ended(x, 'served', 1)), undefined);
      assert.equal(await run.subscriptions.cancel(1), false);
    }),
  );

  it(
    'given or cancelled by another gateway is known within five seconds',
    inWorld('unlimited', 'unlimited', async (world) => {
      const here = await world.run('boot-1', SECTION);
      const there = await world.run('boot-2', SECTION);
      const isLimitedThere = async (): Promise<boolean> => {
        const x = callingNow(world, 'metered', 2_000_000);
        // A plan whose window is smaller than the balance makes the vendor's limit smaller.
        await there.admit(x);
        assert.equal(await there.settle(ended(x, 'failed')), undefined);
        return 'limit' in x && x.limit !== undefined;
      };
      const becomes = async (limited: boolean): Promise<void> => {
        world.clock.advance(5_000);
        // They ask the store then; it answers on whichever connection is free, and so one question after theirs may be answered before it.
        for (let questions = 0; questions < 200; questions++) {
          await world.store.one('SELECT 1');
          if ((await isLimitedThere()) === limited) return;
        }
        assert.fail(limited ? 'a plan that was given is not known' : 'a plan that was cancelled is still there');
      };
      assert.equal(await isLimitedThere(), false);
      for (const [change, limited] of [
        [() => subscribe(world, here, 'day'), true],
        [() => here.subscriptions.cancel(1), false],
        [() => subscribe(world, here, 'day'), true],
        // In the same millisecond.
        [() => here.subscriptions.cancel(1).then(() => subscribe(world, here, 'day')), true],
      ] as const) {
        await change();
        await becomes(limited);
      }
    }),
  );
});
