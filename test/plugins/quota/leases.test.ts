/** What leases must not do in the moments between: hold twice, keep what no call holds, or be of a bucket that another lease is of. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreUnavailable } from '../../../core/plugin.ts';
import {
  ACCOUNT,
  callingNow,
  ended,
  holder,
  inCurrency,
  inWorld,
  KEY,
  refusedWith,
  settled,
  subscribe,
  type World,
} from './world.ts';

/** Fails every list that it is in. */
const NEVER = { sql: 'DELETE FROM bucket WHERE kind IS NULL', must: 'never' };

async function leased({ store }: World, { kind, owner }: { kind: string; owner: number }): Promise<number> {
  await settled(store);
  const sql = 'SELECT COALESCE(SUM(amount), 0) AS amount FROM lease WHERE kind = ? AND owner = ?';
  return (await store.one<{ amount: number }>(sql, kind, owner))!.amount;
}

describe('a call whose end cannot be written down', () => {
  it(
    'keeps what it cost, and not what another call was given while it was being written',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run();
      const [first, second] = [callingNow(world, 'metered', 60), callingNow(world, 'metered', 90)];
      await run.admit(first);
      const steps = (await run.parts.settle?.(ended(first, 'served', 10))) ?? [];
      await run.admit(second);
      assert.equal(await world.store.atomic([...steps, NEVER]), 'never');
      run.parts.unsettled?.(first);
      assert.equal((await world.balance(ACCOUNT)).held, 100n);
      assert.equal(await leased(world, ACCOUNT), 100);
      assert.equal(await run.ledger.deduct(ACCOUNT.owner, 50n, 'all is held', 'a test'), 0n);
      assert.equal(await run.settle(ended(second, 'served', 90)), undefined);
      assert.deepEqual(await world.faults(run), {});
    }),
  );

  it(
    'can always be recovered with what it had delivered, though it cost less in the end, and the rest was spent',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run('boot-1');
      const [first, second] = [callingNow(world, 'metered', 60), callingNow(world, 'metered', 40)];
      await run.admit(first);
      Object.assign(ended(first, 'served', 50), { outcome: undefined });
      world.clock.advance(1_000);
      const steps = (await run.parts.settle?.(ended(first, 'served', 10))) ?? [];
      await run.admit(second);
      await assert.rejects(run.admit(callingNow(world, 'metered', 50)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      assert.equal(await world.store.atomic([...steps, NEVER]), 'never');
      run.parts.unsettled?.(first);
      assert.equal(await run.settle(ended(second, 'served', 40)), undefined);
      assert.deepEqual(await world.faults(run), {});
      await world.run('boot-2');
      assert.deepEqual(await world.balance(ACCOUNT), { granted: 100n, used: 90n, held: 0n, unlimited: false });
    }),
  );
});

describe('a lease that was recalled', () => {
  it(
    'has what a call gave back that another bucket refused',
    inWorld(101n, 'unlimited', async (world) => {
      const run = await world.run();
      await world.store.atomic(run.ledger.open({ kind: 'key', owner: 12 }, 10n, false));
      assert.equal(await run.ledger.deduct(ACCOUNT.owner, 1n, 'a recall', 'a test'), 1n);
      const poor = callingNow(world, 'metered', 50, { identity: holder(ACCOUNT.owner, 12) });
      await assert.rejects(run.admit(poor), refusedWith('QUOTA_TOKEN_INSUFFICIENT'));
      const [all, more] = [callingNow(world, 'metered', 100), callingNow(world, 'metered', 1)];
      await run.admit(all);
      await assert.rejects(run.admit(more), refusedWith('QUOTA_USER_INSUFFICIENT'));
      assert.equal(await run.settle(ended(all, 'served', 100)), undefined);
      assert.deepEqual(await world.faults(run), {});
    }),
  );
});

describe('a lease that goes back since no call was taken from it', () => {
  const plans = { card: { days: 30, daily: inCurrency(1), includes: 'balance' } };

  it(
    'of an account is asked for again by a call that a subscription includes, and stays within reach of those it does not',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run('boot-1', { plans });
      await subscribe(world, run, 'card');
      const included = callingNow(world, 'metered', 10);
      await run.admit(included);
      for (let tries = 0; tries < 100 && (await leased(world, ACCOUNT)) > 0; tries++) world.clock.advance(71_000);
      assert.equal(await leased(world, ACCOUNT), 0);
      assert.ok((await leased(world, KEY)) > 0);
      // It outgrows what it holds.
      assert.equal(await run.settle(ended(included, 'served', 20)), undefined);
      assert.equal(run.ledger.charged(included), 20n);
      assert.equal(await run.subscriptions.cancel(ACCOUNT.owner), true);
      const paid = callingNow(world, 'metered', 100);
      await run.admit(paid);
      assert.equal(await run.settle(ended(paid, 'served', 100)), undefined);
      assert.deepEqual(await world.balance(ACCOUNT), { granted: 100n, used: 100n, held: 0n, unlimited: false });
    }),
  );
});

describe('a store that cannot be written, or is far behind', () => {
  it(
    'keeps calls from being begun that their lease covers; a free one needs no store',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run();
      const first = callingNow(world, 'metered', 10);
      await run.admit(first);
      const pressure = world.store.pressure;
      for (const oldestMs of [Infinity, 2_001]) {
        Object.assign(world.store, { pressure: () => ({ waiting: 1, oldestMs }) });
        await assert.rejects(run.admit(callingNow(world, 'metered', 10)), StoreUnavailable);
        await run.admit(callingNow(world, 'free', 10));
        assert.equal((await world.balance(ACCOUNT)).held, 10n);
      }
      Object.assign(world.store, { pressure });
      assert.equal(await run.settle(ended(first, 'served', 10)), undefined);
      const next = callingNow(world, 'metered', 90);
      await run.admit(next);
      assert.equal(await run.settle(ended(next, 'served', 90)), undefined);
    }),
  );
});
