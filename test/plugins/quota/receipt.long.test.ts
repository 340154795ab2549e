/** Receipts of calls as they come to their ends, and what calls and money moved, in a ledger on a disk. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LARGEST_GRANT, MICRO, type MoneyEntry, type Receipt } from '../../../core/contracts/ledger.ts';
import type { UsageRecord } from '../../../core/contracts/records.ts';
import { MOST_USED } from '../../../plugins/quota/buckets.ts';
import { usageRecord } from '../../kit/gateway/usage-records.ts';
import { onlyOnSqlite } from '../../kit/stand-ins/postgres.ts';
import { addedUp, kept } from './pencil.ts';
import {
  ACCOUNT,
  callingNow,
  department,
  type Exchange,
  ended,
  inCurrency,
  inWorld,
  KEY,
  type Run,
  settled,
  subscribe,
  tokens,
  type World,
} from './world.ts';

/** The record that the log would write of a settled exchange. */
function recordOf(run: Run, x: Exchange): UsageRecord {
  return usageRecord({
    id: x.id,
    accountId: x.identity.account.id,
    keyId: x.identity.key.id,
    outcome: x.outcome ?? 'failed',
    usage: x.usage,
    charged: run.ledger.charged(x),
    ...(run.ledger.isIncluded(x) && { included: true }),
    other: kept(x.notes),
  });
}

/** What the balance of an account went down by while a call ran, and the receipt of it. */
async function receiptIn(world: World, run: Run, x: Exchange, end: (x: Exchange) => Exchange): Promise<Receipt> {
  const { used } = await world.balance(KEY);
  await run.admit(x);
  assert.equal(await run.settle(end(x)), undefined);
  const receipt = run.ledger.receipt(recordOf(run, x));
  assert.equal((await world.balance(KEY)).used - used, receipt.charged, 'it is what was taken');
  if (receipt.exact) {
    const least = receipt.held !== undefined && receipt.held < receipt.total ? receipt.held : receipt.total;
    assert.deepEqual([addedUp(receipt), receipt.charged], [receipt.total, least]);
  }
  return receipt;
}

const short = ({ exact, total, charged, cappedBy, reason, factor: part }: Receipt) =>
  [exact, total, charged, cappedBy, reason, part] as const;

describe('the receipt of a call', () => {
  it(
    'tells what was held, and what of the answer was charged where it broke off',
    inWorld(100n * MICRO, 'unlimited', async (world) => {
      const run = await world.run();
      const served = await receiptIn(world, run, callingNow(world, 'metered', 1_000), (x) => ended(x, 'served', 300));
      assert.deepEqual([short(served), served.held], [[true, 300n, 300n, undefined, undefined, '1'], 1_000n]);
      for (const outcome of ['aborted', 'failed'] as const) {
        const cut = await receiptIn(world, run, callingNow(world, 'metered', 1_000), (x) =>
          ended(x, outcome, tokens(7, { estimated: true })),
        );
        assert.deepEqual(short(cut), [true, 7n, 7n, 'delivery', undefined, '1']);
      }
    }),
  );

  it(
    'tells that no more was held than was charged',
    inWorld(500n, 'unlimited', async (world) => {
      const run = await world.run();
      const x = callingNow(world, 'metered', 400);
      const receipt = await receiptIn(world, run, x, () => ended(x, 'served', 900));
      assert.deepEqual([short(receipt), receipt.held], [[true, 900n, 500n, 'hold', undefined, '1'], 500n]);
    }),
  );

  it(
    'tells the part of the price that a department pays, rounded up once',
    inWorld(100n * MICRO, 'unlimited', async (world) => {
      const run = await world.run();
      world.departments.set(ACCOUNT.owner, [department(3, { factorPpm: 333_333 })]);
      const receipt = await receiptIn(world, run, callingNow(world, 'half', 1_000), (x) => ended(x, 'served', 5));
      assert.deepEqual(short(receipt), [true, 1n, 1n, undefined, undefined, '0.333333']);
    }),
  );

  it(
    'tells why nothing was charged',
    inWorld(100n * MICRO, 'unlimited', async (world) => {
      const run = await world.run('boot-1', { unpriced: 'free' });
      const none = async (model: string, end: (x: Exchange) => Exchange) =>
        (await receiptIn(world, run, callingNow(world, model, 10), end)).reason;
      assert.equal(await none('free', (x) => ended(x, 'served', 10)), 'free');
      assert.equal(await none('unpriced', (x) => ended(x, 'served', 10)), 'unpriced');
      assert.equal(await none('metered', (x) => ended(x, 'failed')), 'failed');
      assert.equal(await none('metered', (x) => ended(x, 'refused')), 'refused');
      assert.equal(await none('metered', (x) => ended(x, 'aborted')), 'unused');
    }),
  );

  it(
    'tells that a subscription included it',
    inWorld(0n, 'unlimited', async (world) => {
      const plans = { all: { days: 30, daily: inCurrency(5), includes: 'balance' } };
      const run = await world.run('boot-1', { plans });
      const { id } = await subscribe(world, run, 'all');
      const x = callingNow(world, 'metered', 100);
      await receiptIn(world, run, x, () => ended(x, 'served', 60));
      assert.equal(recordOf(run, x).included, true);
      const entries = run.ledger.debitsOf(recordOf(run, x));
      assert.deepEqual(
        entries.map(({ op, kind, owner, amount: moved }) => [op, kind, owner, moved]),
        [
          ['debit', 'day', id, 60n],
          ['debit', 'key', KEY.owner, 60n],
        ],
      );
      assert.equal((await world.balance(ACCOUNT)).used, 0n);
    }),
  );

  it(
    'of a request that has a price of its own is that price',
    inWorld(100n * MICRO, 'unlimited', async (world) => {
      const run = await world.run();
      const target = { channel: {} as never, url: new URL('http://127.0.0.1/'), headers: {}, price: 1_500_000n };
      const passthrough = { prefix: '/v1/files', target: () => target };
      world.departments.set(ACCOUNT.owner, [department(3, { factorPpm: 500_001 })]);
      const x = callingNow(world, '', 0, { passthrough });
      const receipt = await receiptIn(world, run, x, () => Object.assign(x, { outcome: 'served', delivered: true }));
      assert.deepEqual(short(receipt), [true, 750_002n, 750_002n, undefined, undefined, '0.500001']);
      assert.deepEqual(
        receipt.items.map(({ bucket, count: n, price: each, quota }) => [bucket, n, each, quota]),
        [['request', 1, '0.000003', '1.5']],
      );
    }),
  );

  it(
    'that was recovered is what had been written down of it',
    inWorld(100n * MICRO, 'unlimited', async (world) => {
      const run = await world.run();
      const x = callingNow(world, 'metered', 1_000);
      await run.admit(x);
      Object.assign(x, {
        served: ended(callingNow(world, 'metered', 1), 'served').served,
        usage: tokens(40),
        delivered: true,
      });
      world.clock.advance(1_000);
      await settled(world.store);
      const later = await world.run('boot-2');
      const call = world.records.find(({ id }) => id === x.id);
      assert.ok(call, 'it was recorded');
      const receipt = later.ledger.receipt(call);
      assert.deepEqual([short(receipt), receipt.held], [[false, 40n, 40n, undefined, 'recovered', '1'], 1_000n]);
      assert.deepEqual(
        later.ledger.debitsOf(call).map(({ kind, amount: moved, actor }) => [kind, moved, actor]),
        [
          ['account', 40n, 'recovery'],
          ['key', 40n, 'recovery'],
        ],
      );
    }),
  );
});

describe('the money of an account', () => {
  const DAY_MS = 86_400_000;

  /** Two days of money: credits, a deduction, a setting, a payment that went back with a debt, and its payment. */
  async function move(world: World, run: Run): Promise<void> {
    const { ledger } = run;
    const write = async (steps: Parameters<typeof world.store.atomic>[0]) =>
      assert.equal(await world.store.atomic(steps), undefined);
    await ledger.credit(ACCOUNT, 50n, 'top-up:1', 'acme');
    await ledger.deduct(ACCOUNT.owner, 20n, 'manage:a', 'root');
    world.clock.advance(DAY_MS);
    await ledger.setAvailable(ACCOUNT, 25n, 'root');
    await write(await ledger.takeBackSteps(ACCOUNT.owner, 60n, 'top-up:1:back', 'acme'));
    world.clock.advance(1);
    await ledger.credit(ACCOUNT, 40n, 'code:x', 'redemption code');
    const x = callingNow(world, 'metered', 5);
    await run.admit(x);
    assert.equal(await run.settle(ended(x, 'served', 5)), undefined);
    await settled(world.store);
  }

  const told = ({ ref, side, amount: moved }: MoneyEntry) => [ref.replace(/^set:.*/, 'set'), side, moved] as const;

  it(
    'is told newest first, without calls, in pages',
    inWorld(10n, 'unlimited', async (world) => {
      const run = await world.run();
      await move(world, run);
      const all = await run.ledger.money(ACCOUNT.owner, { limit: 100, fromMs: 0 });
      assert.deepEqual(all.items.map(told), [
        ['code:x', 'credit', 40n],
        ['code:x', 'refund', -35n],
        ['taken-back:top-up:1:back', 'refund', -25n],
        ['set', 'debit', -15n],
        ['top-up:1', 'credit', 50n],
        ['open:account:1', 'credit', 10n],
        ['deducted:manage:a', 'debit', -20n],
      ]);
      assert.equal(all.next, undefined);
      const walked: MoneyEntry[] = [];
      for (let before: string | undefined, pages = 0; pages < 10; pages++) {
        const { items, next } = await run.ledger.money(ACCOUNT.owner, { limit: 2, fromMs: 0, before });
        walked.push(...items);
        before = next;
        if (before === undefined) break;
      }
      assert.deepEqual(walked, all.items);
      for (const before of ['nonsense', '', 'W10', Buffer.from('[1,2,3]').toString('base64url')]) {
        assert.deepEqual((await run.ledger.money(ACCOUNT.owner, { limit: 2, fromMs: 0, before })).items, [], before);
      }
      assert.deepEqual((await run.ledger.money(2, { limit: 2, fromMs: 0 })).items, [], 'nobody else');
    }),
  );

  it(
    'comes to what the days come to, and they to the balance',
    inWorld(10n, 'unlimited', async (world) => {
      const run = await world.run();
      const day = Math.floor(world.clock.now() / DAY_MS) * DAY_MS;
      await move(world, run);
      assert.deepEqual(await run.ledger.moneyByDay(ACCOUNT.owner, 0), [
        { timeMs: day, credit: 60n, debit: 20n, refund: 0n },
        { timeMs: day + DAY_MS, credit: 40n, debit: 15n, refund: 60n },
      ]);
      assert.equal((await world.balance(ACCOUNT)).granted, 60n + 40n - 20n - 15n - 60n);
      assert.deepEqual(await run.ledger.moneyByDay(ACCOUNT.owner, day + 2 * DAY_MS), []);
    }),
  );

  it(
    'comes to what the days come to beyond 64 bits, and the books balance',
    inWorld(0n, 'unlimited', async (world) => {
      const run = await world.run();
      const { owner } = ACCOUNT;
      for (let i = 0; i < 5; i++) {
        assert.ok(await run.ledger.credit(ACCOUNT, LARGEST_GRANT, `all ${i}`, 'a test'));
        assert.equal(await run.ledger.deduct(owner, LARGEST_GRANT, `all ${i}`, 'a test'), LARGEST_GRANT);
      }
      const [day] = await run.ledger.moneyByDay(owner, 0);
      assert.deepEqual([day?.credit, day?.debit], [5n * LARGEST_GRANT, 5n * LARGEST_GRANT]);
      assert.deepEqual(await world.faults(run), {});
      for (let i = 0; i < 4; i++) {
        for (const kind of ['account', 'key'] as const) {
          await world.store.run(
            'INSERT INTO bucket (kind, owner, window_start, used, unlimited) VALUES (?, ?, 0, ?, 1)',
            ...[kind, 100 + i, LARGEST_GRANT],
          );
          await world.store.run('INSERT INTO debit VALUES (?, ?, 0, 0, ?)', kind, 100 + i, LARGEST_GRANT);
        }
      }
      assert.deepEqual(await world.faults(run), {});
    }),
  );

  it(
    'refuses a call when a balance without a limit has used nearly all that a store can count',
    inWorld(0n, 'unlimited', async (world) => {
      const run = await world.run();
      for (const { kind, owner } of [ACCOUNT, KEY]) {
        const used = MOST_USED - 10n;
        await world.store.run(
          'UPDATE bucket SET used = ?, unlimited = 1 WHERE kind = ? AND owner = ?',
          used,
          kind,
          owner,
        );
        await world.store.run('INSERT INTO debit VALUES (?, ?, 0, 0, ?)', kind, owner, used);
      }
      await assert.rejects(run.admit(callingNow(world, 'metered', 1_000)), { code: 'QUOTA_USER_INSUFFICIENT' });
    }),
  );

  it(
    'is found by an index in which there are no calls',
    onlyOnSqlite('it reads its query plans'),
    inWorld(10n, 'unlimited', async (world) => {
      const run = await world.run();
      const { all } = world.store;
      const asked: string[] = [];
      Object.assign(world.store, {
        all(sql: string, ...params: never[]) {
          asked.push(sql);
          return all.call(world.store, sql, ...params);
        },
      });
      await run.ledger.money(1, { limit: 2, fromMs: 5 });
      await run.ledger.money(1, { limit: 2, fromMs: 5, before: Buffer.from('[9,"a","b"]').toString('base64url') });
      await run.ledger.moneyByDay(1, 5);
      await run.ledger.entriesOf('x');
      Object.assign(world.store, { all });
      assert.equal(asked.length, 4);
      for (const sql of asked) {
        const params = Array(sql.split('?').length - 1).fill(1);
        const plan = (await world.store.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...params)).map(
          ({ detail }) => detail,
        );
        assert.match(
          plan[0] ?? '',
          sql.includes('ref = ?') ? /USING PRIMARY KEY \(ref=\?/ : /entry_of_money \(owner=\? AND/,
          sql,
        );
        if (sql.includes('LIMIT')) assert.equal(plan.length, 1, `nothing is sorted: ${plan}`);
      }
    }),
  );
});
