/** The ledger against a real store: holds, charges, credits, recovery, and invariants that find damage. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BalanceLayer, inQuota, LARGEST_GRANT, MICRO } from '../../../core/contracts/ledger.ts';
import type { Bounds, Outcome, PassthroughRoute, Usage } from '../../../core/plugin.ts';
import { UsageError } from '../../../core/plugin.ts';
import { ASSUMED_MAXIMUM } from '../../../plugins/quota/sizes.ts';
import { LARGEST_CALL } from '../../../plugins/quota/tables.ts';
import fc from '../../kit/fast-check.ts';
import { damageRows } from '../../kit/gateway/rows.ts';
import { isOnPostgres } from '../../kit/stand-ins/postgres.ts';
import {
  ACCOUNT,
  admitted,
  CHANNEL,
  calling,
  type Exchange,
  ended,
  holder,
  inWorld,
  KEY,
  MODELS,
  offerOf,
  openWorld,
  refusedWith,
  settled,
  tokens,
} from './world.ts';

describe('holding', () => {
  for (const [who, account, key, code] of [
    ['account', 10n * MICRO, 'unlimited', 'QUOTA_USER_INSUFFICIENT'],
    ['key', 'unlimited', 10n * MICRO, 'QUOTA_TOKEN_INSUFFICIENT'],
  ] as const) {
    it(
      `2,000 calls at once over an ${who}'s balance of ten let exactly ten through`.replace('an key', 'a key'),
      inWorld(account, key, async (world) => {
        const run = await world.run();
        const results = await Promise.allSettled(
          Array.from({ length: 2_000 }, () => admitted(run, () => calling('flat', 1))),
        );
        const refusals = results.filter((result) => result.status === 'rejected');
        assert.equal(refusals.length, 1_990);
        for (const { reason } of refusals) refusedWith(code)(reason);
        assert.equal(refusals[0]!.reason.headers['x-should-retry'], 'false');
        assert.equal((await world.balance(ACCOUNT)).held, 10n * MICRO);
        assert.equal((await world.balance(KEY)).held, 10n * MICRO);
        assert.deepEqual(await world.faults(run), {});
      }),
    );
  }

  it(
    'the account is asked before the key, and gives back what it held where the key refuses',
    inWorld(100n, 50n, async (world) => {
      const run = await world.run();
      await assert.rejects(run.admit(calling('metered', 101)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      await assert.rejects(run.admit(calling('metered', 51)), refusedWith('QUOTA_TOKEN_INSUFFICIENT'));
      assert.equal((await world.balance(ACCOUNT)).held, 0n);
      await run.admit(calling('metered', 50));
      assert.equal((await world.balance(ACCOUNT)).held, 50n);
      assert.equal((await world.balance(KEY)).held, 50n);
      await assert.rejects(run.admit(calling('metered', 1)), refusedWith('QUOTA_TOKEN_INSUFFICIENT'));
    }),
  );

  it(
    'who has nothing, or is not in the ledger at all, is refused',
    inWorld(0n, 'unlimited', async (world) => {
      const run = await world.run();
      await assert.rejects(run.admit(calling('metered', 1)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      const stranger = calling('metered', 1, { identity: holder(404, KEY.owner) });
      await assert.rejects(run.admit(stranger), refusedWith('QUOTA_USER_INSUFFICIENT'));
    }),
  );

  it(
    'a free model needs no quota and costs nothing',
    inWorld(0n, 0n, async (world) => {
      const run = await world.run();
      const x = calling('free', 1_000);
      await run.admit(x);
      assert.equal(await run.settle(ended(x, 'served', 1_000)), undefined);
      assert.equal(x.told['x-turnpike-cost'], '0');
      assert.equal((await world.balance(ACCOUNT)).used, 0n);
    }),
  );

  it(
    'a call holds for the dearest of its model and the fallbacks, and pays for the one that served',
    inWorld(10n * MICRO, 'unlimited', async (world) => {
      const run = await world.run();
      const x = calling('flat-then-metered', 3_000_000);
      await run.admit(x);
      assert.equal((await world.balance(ACCOUNT)).held, 3n * MICRO);
      ended(x, 'served', 70);
      x.served = offerOf('metered');
      await run.settle(x);
      assert.equal((await world.balance(ACCOUNT)).used, 70n);

      const y = calling('flat-then-free', 5);
      await run.admit(y);
      ended(y, 'served', 70);
      y.served = offerOf('free');
      await run.settle(y);
      assert.equal((await world.balance(ACCOUNT)).used, 70n);
    }),
  );

  it(
    'a model without a price is refused with 402, also where it is only a fallback, unless such models are free',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run();
      for (const name of ['unpriced', 'flat-then-unpriced']) {
        await assert.rejects(run.admit(calling(name, 1)), (error: unknown) => {
          assert.match((error as Error).message, /"unpriced" has no price.*prices:.*free: true/);
          return refusedWith('model_not_priced', 402)(error);
        });
      }
      assert.equal((await world.balance(ACCOUNT)).held, 0n);

      const generous = await world.run('boot-2', { unpriced: 'free' });
      const x = calling('unpriced', 1_000);
      await generous.admit(x);
      await generous.settle(ended(x, 'served', 1_000));
      assert.equal((await world.balance(ACCOUNT)).used, 0n);
    }),
  );

  it(
    'an unknown model is refused with 404',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run();
      await assert.rejects(run.admit(calling('nothing', 1)), refusedWith('model_not_found', 404));
    }),
  );

  it(
    'a call beyond all measure is limited to what there is, and held for at the largest amount where there is no limit',
    inWorld(LARGEST_CALL - 1n, 'unlimited', async (world) => {
      const run = await world.run();
      const { ledger } = run;
      const limited = calling('steep', 2 ** 53);
      await run.admit(limited);
      assert.ok(limited.limit !== undefined && limited.limit < 2 ** 53);
      await run.settle(ended(limited, 'refused'));
      await world.store.atomic(ledger.open({ kind: 'account', owner: 2 }, 0n, true));
      await run.admit(calling('steep', 2 ** 53, { identity: holder(2, KEY.owner) }));
      assert.equal((await world.balance(KEY)).held, LARGEST_CALL);
    }),
  );

  it(
    'a passthrough holds and pays its fixed price, and nothing where that is zero or it failed',
    inWorld(10n, 'unlimited', async (world) => {
      const run = await world.run();
      const passing = (price: bigint): Exchange => {
        const target = { channel: CHANNEL, url: new URL(CHANNEL.url), headers: {}, price };
        const passthrough: PassthroughRoute = { prefix: '/v1/files', target: () => target };
        return calling('', 0, { passthrough });
      };
      const [paid, free, failed] = [passing(7n), passing(0n), passing(3n)];
      for (const x of [paid, free, failed]) await run.admit(x);
      assert.equal((await world.balance(ACCOUNT)).held, 10n);
      await assert.rejects(run.admit(passing(1n)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      for (const x of [paid, free]) await run.settle(ended(x, 'served'));
      await run.settle(ended(failed, 'failed'));
      assert.deepEqual(await world.balance(ACCOUNT), { granted: 10n, used: 7n, held: 0n, unlimited: false });
    }),
  );
});

describe('settling', () => {
  it(
    'takes what was used from every layer, frees the rest and tells the client',
    inWorld(5n * MICRO, 4n * MICRO, async (world) => {
      const run = await world.run();
      const x = calling('metered', 3_000_000);
      await run.admit(x);
      assert.equal(run.ledger.charged(x), 0n);
      assert.equal(await run.settle(ended(x, 'served', 1_500_000)), undefined);
      assert.equal(run.ledger.charged(x), 1_500_000n);
      assert.equal(x.told['x-turnpike-cost'], '1.5');
      const amounts = { used: 1_500_000n, held: 0n, unlimited: false };
      assert.deepEqual(await run.ledger.balance(ACCOUNT), { granted: 5n * MICRO, ...amounts });
      assert.deepEqual(await run.ledger.balance(KEY), { granted: 4n * MICRO, ...amounts });
      const debits = 'SELECT kind, owner, day_ms, amount FROM debit ORDER BY kind, day_ms';
      const day = Math.floor(world.clock.now() / 86_400_000) * 86_400_000;
      const first = { day_ms: day, amount: 1_500_000 };
      assert.deepEqual(await world.store.all(debits), [
        { kind: 'account', owner: 1, ...first },
        { kind: 'key', owner: 11, ...first },
      ]);
      world.clock.advance(86_400_000);
      for (const output of [2, 3]) {
        const next = calling('metered', 10);
        await run.admit(next);
        assert.equal(await run.settle(ended(next, 'served', output)), undefined);
      }
      const second = { day_ms: day + 86_400_000, amount: 5 };
      assert.deepEqual(await world.store.all(debits), [
        { kind: 'account', owner: 1, ...first },
        { kind: 'account', owner: 1, ...second },
        { kind: 'key', owner: 11, ...first },
        { kind: 'key', owner: 11, ...second },
      ]);
    }),
  );

  it(
    'twice charges once',
    inWorld(100n, 100n, async (world) => {
      const run = await world.run();
      const x = calling('metered', 40);
      await run.admit(x);
      assert.equal(await run.settle(ended(x, 'served', 30)), undefined);
      for (let again = 0; again < 20; again++) assert.equal(await run.settle(x), undefined);
      assert.deepEqual(await world.balance(ACCOUNT), { granted: 100n, used: 30n, held: 0n, unlimited: false });
    }),
  );

  it(
    'is refused after the recovery of a later run, which has charged already',
    inWorld(100n, 100n, async (world) => {
      const run = await world.run('boot-1');
      const x = calling('metered', 40);
      await run.admit(x);
      await world.run('boot-2');
      assert.equal(await run.settle(ended(x, 'served', 30)), 'lease_lost');
      assert.deepEqual(await world.balance(ACCOUNT), { granted: 100n, used: 0n, held: 0n, unlimited: false });
    }),
  );

  const CASES: readonly [what: string, outcome: Outcome, usage: number | undefined, delivered: boolean, due: bigint][] =
    [
      ['a refusal', 'refused', undefined, false, 0n],
      ['a refusal, whatever usage the vendor claims', 'refused', 30, false, 0n],
      ['a failure before the first byte', 'failed', undefined, false, 0n],
      ['a failure before the first byte, whatever usage the vendor claims', 'failed', 30, false, 0n],
      ['a failure after some of the answer', 'failed', 30, true, 30n],
      ['a client that left before anything came', 'aborted', undefined, false, 0n],
      ['a client that left in the middle', 'aborted', 30, true, 30n],
      ['a client that left a whole answer behind', 'aborted', 30, false, 30n],
      ['an answer without usage', 'served', undefined, true, 0n],
      ['an answer of no tokens', 'served', 0, true, 0n],
      ['a whole answer', 'served', 30, true, 30n],
      ['an answer that used all that was held', 'served', 40, true, 40n],
      ['an answer that used more than was held', 'served', 41, true, 41n],
      ['one that broke off, and used more than was held', 'failed', 41, true, 41n],
    ];
  it(
    'charges by the rules, for every ending',
    inWorld(1_000n, 1_000n, async (world) => {
      const run = await world.run();
      let total = 0n;
      for (const [what, outcome, usage, delivered, amount] of CASES) {
        const x = calling('metered', 40);
        await run.admit(x);
        assert.equal(await run.settle(ended(x, outcome, usage, delivered)), undefined, what);
        assert.equal(run.ledger.charged(x), amount, what);
        assert.equal(x.told['x-turnpike-cost'], outcome === 'served' ? inQuota(amount) : undefined, what);
        total += amount;
        const balance = { granted: 1_000n, used: total, held: 0n, unlimited: false };
        assert.deepEqual(await world.balance(ACCOUNT), balance, what);
        assert.deepEqual(await world.balance(KEY), balance, what);
      }
    }),
  );

  it(
    'never charges below nothing or above the balance, whatever a vendor says it used, and says that it was odd',
    inWorld(1_000n, 'unlimited', async (world) => {
      const run = await world.run();
      let strangers = 100;
      for (const output of [-1, -1e6, 1.5, 1e9, 1e18, 1e30, Number.NaN, Number.POSITIVE_INFINITY, '12', null]) {
        const identity = holder(++strangers, KEY.owner);
        await world.store.atomic(run.ledger.open({ kind: 'account', owner: strangers }, 1_000n, false));
        const x = calling('metered', 40, { identity });
        await run.admit(x);
        assert.equal(await run.settle(ended(x, 'served', tokens(output as number))), undefined);
        const charged = (await world.balance({ kind: 'account', owner: strangers })).used;
        assert.ok(charged >= 0n && charged <= 1_000n, `${output} was charged ${charged}`);
        assert.equal(charged, run.ledger.charged(x));
        assert.ok(Array.isArray(x.notes.usageAnomalies), `${output} went unnoticed`);
        assert.equal(run.warnings.pop(), 'usage anomaly');
      }
    }),
  );

  it(
    'has nothing to do for an exchange that was refused before it held anything',
    inWorld(0n, 0n, async (world) => {
      const run = await world.run();
      const x = calling('metered', 40);
      await assert.rejects(run.admit(x));
      assert.equal(await run.parts.settle?.(ended(x, 'refused')), undefined);
      assert.equal(run.ledger.charged(x), 0n);
    }),
  );
});

describe('what is not sold by the token', () => {
  /** Someone calls a model within these bounds. */
  const within = (name: string, bounds: Partial<Bounds>): Exchange => {
    const x = calling(name, 0);
    x.call = { ...x.call, bounds: { ...x.call.bounds, ...bounds } };
    return x;
  };
  const pictures = (count: number, quality = 'standard') => ({ images: { count, size: '1024x1024', quality } });

  type Case = readonly [
    what: string,
    model: string,
    bounds: Partial<Bounds>,
    outcome: Outcome,
    used: Partial<Usage> | undefined,
    delivered: boolean,
    held: number,
    charged: number,
  ];
  const CASES: readonly Case[] = [
    ['all images that were asked for', 'painter', pictures(4), 'served', pictures(4), true, 4, 4],
    ['fewer than were asked for', 'painter', pictures(4), 'served', pictures(2), true, 4, 2],
    ['more than were asked for', 'painter', pictures(4), 'served', pictures(9), true, 4, 9],
    ['images whose quality was left open', 'painter', pictures(4, ''), 'served', pictures(4, 'hd'), true, 8, 8],
    ['images of the usual kind then', 'painter', pictures(4, ''), 'served', pictures(4, ''), true, 8, 4],
    ['images that the client did not wait for', 'painter', pictures(4), 'aborted', pictures(4), false, 4, 4],
    ['images that a vendor failed to make', 'painter', pictures(4), 'failed', pictures(4), false, 4, 0],
    ['the first of them before it broke off', 'painter', pictures(4), 'failed', pictures(1), true, 4, 1],
    ['a text that was spoken', 'speaker', { characters: 4_000 }, 'served', { characters: 4_000 }, true, 4, 4],
    ['one that the client left', 'speaker', { characters: 4_000 }, 'aborted', { characters: 4_000 }, true, 4, 4],
    ['one that nobody spoke', 'speaker', { characters: 4_000 }, 'failed', undefined, false, 4, 0],
    ['a recording', 'listener', { seconds: 59.25 }, 'served', { seconds: 59.25 }, true, 60, 59.25],
    ['one that is rounded by its vendor', 'listener', { seconds: 59.25 }, 'served', { seconds: 60 }, true, 60, 60],
    ['one that its vendor finds longer', 'listener', { seconds: 59.25 }, 'served', { seconds: 75 }, true, 60, 75],
    ['one that is longer than there is quota', 'listener', { seconds: 20 }, 'served', { seconds: 9e5 }, true, 20, 100],
    ['one that is longer than any', 'listener', { seconds: 20 }, 'served', { seconds: 9e9 }, true, 20, 20],
  ];
  for (const [what, name, bounds, outcome, used, delivered, held, charged] of CASES) {
    it(
      `is held and charged for: ${what}`,
      inWorld(100n * MICRO, 'unlimited', async (world) => {
        const run = await world.run();
        const x = within(name, bounds);
        await run.admit(x);
        assert.equal((await world.balance(ACCOUNT)).held, BigInt(held) * MICRO);
        const usage = used === undefined ? undefined : tokens(0, used);
        assert.equal(await run.settle(ended(x, outcome, usage, delivered)), undefined);
        const micro = BigInt(charged * 1_000_000);
        const balance = { granted: 100n * MICRO, used: micro, held: 0n, unlimited: false };
        assert.deepEqual(await world.balance(ACCOUNT), balance);
        assert.equal(run.ledger.charged(x), micro);
      }),
    );
  }

  it(
    'is explained with what it is held for',
    inWorld(100n * MICRO, 'unlimited', async (world) => {
      const { parts, priced } = await world.run();
      const lines: unknown[] = [];
      for (const plugin of [priced, parts]) {
        for await (const line of plugin.explain?.(within('painter', pictures(2, ''))) ?? []) lines.push(line);
      }
      assert.ok(lines.includes('price of painter: 0.000002, hd 0.000004 per image (gateway.yaml)'), lines.join('\n'));
      assert.ok(
        lines.includes('reserves 4 quota: at most 1124 input and 0 output tokens, images: 2'),
        lines.join('\n'),
      );
    }),
  );
});

describe('a call without a limit', () => {
  /** Nobody says how long the answer may get, nor how long the model's answers can be. */
  const unbounded = (): Exchange => {
    const x = calling('metered', 1);
    x.call = { ...x.call, bounds: { ...x.call.bounds, outputTokens: undefined } };
    return x;
  };

  it(
    'holds the longest answer of its model where that is at most half of what is there, and tells the vendor nothing',
    inWorld(2n * BigInt(ASSUMED_MAXIMUM), 'unlimited', async (world) => {
      const run = await world.run();
      const x = unbounded();
      await run.admit(x);
      assert.equal((await world.balance(ACCOUNT)).held, BigInt(ASSUMED_MAXIMUM));
      assert.equal(x.limit, undefined);
    }),
  );

  for (const [balance, limit] of [
    [2n * BigInt(ASSUMED_MAXIMUM) - 1n, 8_192],
    [16_384n, 8_192],
    [16_383n, 4_096],
    [4_096n, 4_096],
    [4_095n, 2_048],
    [256n, 256],
  ] as const) {
    it(
      `is told ${limit} tokens where ${balance} are there, and holds as many`,
      inWorld(balance, 'unlimited', async (world) => {
        const run = await world.run();
        const x = unbounded();
        await run.admit(x);
        assert.equal(x.limit, limit);
        assert.equal((await world.balance(ACCOUNT)).held, BigInt(limit));
      }),
    );
  }

  it(
    'is refused where there are fewer than an answer is worth asking for, by the layer that has fewer',
    inWorld(1_000n, 255n, async (world) => {
      const run = await world.run();
      await assert.rejects(run.admit(unbounded()), refusedWith('QUOTA_TOKEN_INSUFFICIENT'));
      assert.equal((await world.balance(ACCOUNT)).held, 0n);
    }),
  );

  it(
    'shares what is there with those beside it, each with its own limit for each of its answers',
    inWorld(16_384n, 'unlimited', async (world) => {
      const run = await world.run();
      const limits: (number | undefined)[] = [];
      for (let i = 0; i < 5; i++) {
        const x = unbounded();
        x.call = { ...x.call, bounds: { ...x.call.bounds, choices: 2 } };
        const admitted = run.admit(x).then(() => limits.push(x.limit), refusedWith('QUOTA_USER_INSUFFICIENT'));
        await admitted;
        await settled(world.store);
      }
      assert.deepEqual(limits, [4_096, 4_096]);
      assert.equal((await world.balance(ACCOUNT)).held, 16_384n);
    }),
  );

  for (const [balance, used, withheld] of [
    [10_000n, 6_000, false],
    [5_000n, 6_000, true],
  ] as const) {
    it(
      `whose vendor ignores what it is told and uses ${used} is ${withheld ? 'withheld' : 'paid'} with ${balance}`,
      inWorld(balance, 'unlimited', async (world) => {
        const run = await world.run();
        const x = unbounded();
        await run.admit(x);
        await settled(world.store);
        ended(x, 'served', used, false);
        x.outcome = undefined;
        const paying = async () => run.parts.pay?.(x);
        if (withheld) await assert.rejects(paying, refusedWith('QUOTA_HOLD_EXCEEDED'));
        else await paying();
        assert.equal(await run.settle(ended(x, withheld ? 'refused' : 'served', used, false)), undefined);
        assert.equal((await world.balance(ACCOUNT)).used, withheld ? balance : BigInt(used));
        assert.equal((await world.balance(ACCOUNT)).held, 0n);
      }),
    );
  }

  it(
    'holds more before a stream needs it, and lets nothing pass that cannot be paid',
    inWorld(7_000n, 'unlimited', async (world) => {
      const run = await world.run();
      const x = unbounded();
      await run.admit(x);
      const say = async (output: number) => {
        ended(x, 'served', output);
        x.outcome = undefined;
        await x.look?.(output * 4);
        await settled(world.store);
      };
      await say(3_000);
      assert.equal((await world.balance(ACCOUNT)).held, 4_096n);
      await say(4_000);
      await say(5_000);
      assert.ok((await world.balance(ACCOUNT)).held >= 5_000n, 'more is held');
      await assert.rejects(say(7_001), refusedWith('QUOTA_HOLD_EXCEEDED'));
      assert.equal(await run.settle(ended(x, 'failed', 7_001)), undefined);
      const { used, held } = await world.balance(ACCOUNT);
      assert.deepEqual([used, held], [7_000n, 0n]);
    }),
  );

  for (const [balance, withheld] of [
    [10_000n, false],
    [5_000n, true],
  ] as const) {
    it(
      `whose vendor ignores the limit of the client is ${withheld ? 'withheld' : 'paid'} with ${balance}`,
      inWorld(balance, 'unlimited', async (world) => {
        const run = await world.run();
        const x = calling('metered', 40);
        await run.admit(x);
        ended(x, 'served', 6_000, false);
        x.outcome = undefined;
        const paying = async () => run.parts.pay?.(x);
        if (withheld) await assert.rejects(paying, refusedWith('QUOTA_HOLD_EXCEEDED'));
        else await paying();
        assert.equal(await run.settle(ended(x, withheld ? 'refused' : 'served', 6_000, false)), undefined);
        const { used, held } = await world.balance(ACCOUNT);
        assert.deepEqual([used, held], [withheld ? balance : 6_000n, 0n]);
        assert.match(String(x.notes.usageAnomalies), /by the limits of the request at most 0.00004/);
      }),
    );
  }
});

describe('a crash', () => {
  it(
    'costs what the last checkpoint says was delivered, and leaves a usage record',
    inWorld(1_000n, 1_000n, async (world) => {
      const run = await world.run('boot-1');
      const [streaming, waiting] = [calling('metered', 100), calling('metered', 100)];
      for (const x of [streaming, waiting]) await run.admit(x);
      for (const output of [10, 25]) {
        ended(streaming, 'served', output);
        streaming.outcome = undefined;
        world.clock.advance(1_000);
        await run.parts.stop?.();
        await run.parts.start?.();
      }
      // Delivered after the last checkpoint: nobody can know.
      streaming.usage = tokens(60);

      const next = await world.run('boot-2');
      assert.deepEqual(await world.balance(ACCOUNT), { granted: 1_000n, used: 25n, held: 0n, unlimited: false });
      assert.deepEqual(await world.balance(KEY), { granted: 1_000n, used: 25n, held: 0n, unlimited: false });
      assert.deepEqual(
        world.records.map(({ id, outcome, charged, model, style, stream, ip, accountId, keyId }) => {
          return { id, outcome, charged, model, style, stream, ip, accountId, keyId };
        }),
        [
          {
            id: streaming.id,
            outcome: 'recovered',
            charged: 25n,
            model: 'metered',
            style: 'chat',
            stream: true,
            ip: '192.0.2.7',
            accountId: 1,
            keyId: 11,
          },
        ],
      );
      assert.deepEqual(await world.faults(next), {});
    }),
  );

  it(
    'is recovered from once, over any number of calls, and leaves the calls of this run alone',
    inWorld('unlimited', 'unlimited', async (world) => {
      const first = await world.run('boot-1');
      await Promise.all(
        Array.from({ length: 1_201 }, async () => {
          const x = await admitted(first, () => calling('flat', 1));
          ended(x, 'served', 1);
          x.outcome = undefined;
        }),
      );
      world.clock.advance(1_000);
      await first.parts.stop?.();
      const second = await world.run('boot-2');
      assert.equal(world.records.length, 1_201);
      assert.equal((await world.balance(ACCOUNT)).held, 0n);
      await second.admit(calling('flat', 1));
      await world.run('boot-2');
      assert.equal(world.records.length, 1_201);
      assert.equal((await world.balance(ACCOUNT)).held, MICRO);
    }),
  );

  it(
    'of the store alone leaves a call that the same run closes for what it had delivered by the last checkpoint',
    inWorld(1_000n, 1_000n, async (world) => {
      const run = await world.run('boot-of-its-own');
      const [lost, running] = [calling('metered', 100), calling('metered', 100)];
      for (const x of [lost, running]) await run.admit(x);
      ended(lost, 'failed', 7);
      lost.outcome = undefined;
      world.clock.advance(1_000);
      await run.parts.stop?.();
      // The call ends, and what it comes to cannot be written.
      await run.parts.settle?.(ended(lost, 'failed', 10));
      run.parts.unsettled?.(lost);
      assert.equal((await world.balance(ACCOUNT)).held, 110n);
      for (let times = 0; times < 2; times++) {
        await run.parts.start?.();
        world.clock.advance(10_000);
        await run.parts.stop?.();
        assert.deepEqual(await world.balance(ACCOUNT), { granted: 1_000n, used: 7n, held: 100n, unlimited: false });
      }
      assert.deepEqual(
        world.records.map(({ id, outcome, charged }) => ({ id, outcome, charged })),
        [{ id: lost.id, outcome: 'recovered', charged: 7n }],
      );
      assert.deepEqual(await world.faults(run), {});
      assert.equal(await run.settle(ended(running, 'served', 30)), undefined);
      assert.equal((await world.balance(ACCOUNT)).used, 37n);
    }),
  );

  it('stops the next start where the ledger is damaged', async () => {
    const world = await openWorld(100n, 100n);
    const run = await world.run('boot-1');
    await run.admit(calling('metered', 40));
    await world.store.run(`DELETE FROM bucket WHERE kind = 'key'`);
    await assert.rejects(world.run('boot-2'), /bucket_missing.*turnpike reconcile/);
    assert.deepEqual(await world.store.all('SELECT owner, held FROM bucket'), [{ owner: 1, held: 100 }]);
    await world.close();
  });

  it(
    'a stream that outruns the limit of its client is paid, and cut off where there is no more',
    inWorld(100n, 100n, async (world) => {
      const run = await world.run();
      const x = calling('metered', 40);
      await run.admit(x);
      ended(x, 'served', 40);
      x.outcome = undefined;
      assert.equal(x.look?.(160), undefined);
      ended(x, 'served', 41);
      x.outcome = undefined;
      await x.look?.(1_000);
      ended(x, 'served', 101);
      x.outcome = undefined;
      await assert.rejects(async () => x.look?.(2_000), refusedWith('QUOTA_HOLD_EXCEEDED'));
      await run.settle(ended(x, 'failed', 101));
      assert.equal((await world.balance(ACCOUNT)).used, 100n);
    }),
  );
});

describe('credit', () => {
  it(
    'repeated at once counts once, for whomever it is repeated',
    inWorld(0n, 0n, async (world) => {
      const { ledger } = await world.run();
      const results = await Promise.all([
        ...Array.from({ length: 50 }, () => ledger.credit(ACCOUNT, 7n, 'pay:acme:1', 'acme')),
        ledger.credit(KEY, 7n, 'pay:acme:1', 'acme'),
      ]);
      assert.deepEqual(results, [true, ...Array(50).fill(false)]);
      assert.equal((await world.balance(ACCOUNT)).granted, 7n);
      assert.equal((await world.balance(KEY)).granted, 0n);
      assert.equal(await ledger.credit(ACCOUNT, 7n, 'pay:acme:2', 'acme'), true);
      assert.equal((await world.balance(ACCOUNT)).granted, 14n);
    }),
  );

  it(
    'is exact to the unit at every border, or refused',
    inWorld(0n, 0n, async (world) => {
      const { ledger } = await world.run();
      const small = [1n, 2n ** 31n - 1n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n];
      let granted = 0n;
      for (const amount of small) {
        assert.equal(await ledger.credit(ACCOUNT, amount, `border:${amount}`, 'test'), true);
        granted += amount;
        assert.equal((await ledger.balance(ACCOUNT))?.granted, granted);
      }
      const over = [0n, -1n, -(2n ** 62n), LARGEST_GRANT - granted + 1n, LARGEST_GRANT + 1n, 2n ** 63n - 1n, 2n ** 64n];
      for (const amount of over) {
        const credit = ledger.credit(ACCOUNT, amount, `border:${amount}`, 'test');
        await assert.rejects(credit, refusedWith('invalid_amount', 400));
        assert.equal((await ledger.balance(ACCOUNT))?.granted, granted);
      }
      assert.equal(await ledger.credit(ACCOUNT, LARGEST_GRANT - granted, 'border:last', 'test'), true);
      assert.equal((await ledger.balance(ACCOUNT))?.granted, LARGEST_GRANT);
    }),
  );

  it(
    'opens a layer with an amount at the borders, or not at all',
    inWorld(0n, 0n, async (world) => {
      const { ledger } = await world.run();
      let owner = 100;
      for (const amount of [0n, 1n, 2n ** 53n + 1n, LARGEST_GRANT]) {
        const layer = { kind: 'key', owner: owner++ } as const;
        await world.store.atomic(ledger.open(layer, amount, false));
        assert.deepEqual(await ledger.balance(layer), { granted: amount, used: 0n, held: 0n, unlimited: false });
      }
      for (const amount of [-1n, LARGEST_GRANT + 1n]) {
        assert.throws(() => ledger.open({ kind: 'key', owner }, amount, false), refusedWith('invalid_amount', 400));
      }
      assert.equal(await ledger.balance({ kind: 'key', owner }), undefined);
    }),
  );

  it(
    'to a layer that does not exist is refused and leaves nothing behind',
    inWorld(0n, 0n, async (world) => {
      const { ledger } = await world.run();
      const nobody = { kind: 'account', owner: 404 } as const;
      await assert.rejects(ledger.credit(nobody, 5n, 'pay:acme:3', 'acme'), refusedWith('layer_not_found', 404));
      assert.equal(await ledger.credit(ACCOUNT, 5n, 'pay:acme:3', 'acme'), true);
    }),
  );

  it(
    'is given by `user credit NAME UNITS` in whole units',
    inWorld(0n, 'unlimited', async (world) => {
      const run = await world.run();
      const command = run.parts.commands?.find(({ name }) => name === 'user credit');
      assert.ok(command);
      const give = async (...positionals: string[]): Promise<unknown> =>
        Object(await command.run({ values: {}, positionals, stdin: '', cwd: '/', remark() {} })).text;
      assert.equal(await give('ann', '250'), 'credited 250 to ann: 250 quota available\n');
      assert.equal(await give('ann', '250'), 'credited 250 to ann: 500 quota available\n');
      for (const words of [
        [],
        ['ann'],
        ...['0', '-1', '0.5', '1e3', '0x10', '1,000', 'NaN', '', '4000000000001'].map((n) => ['ann', n]),
      ]) {
        await assert.rejects(give(...words), UsageError, words.join(' '));
      }
      await assert.rejects(give('bob', '1'), refusedWith('account_not_found', 404));
      await assert.rejects(give('ann', '4000000000000'), refusedWith('invalid_amount', 400));
      assert.equal((await world.balance(ACCOUNT)).granted, 500n * MICRO);
    }),
  );
});

describe('the tables', () => {
  it(
    'refuse a balance below zero and amounts that are not whole, even to a person with SQL',
    inWorld(100n, 100n, async (world) => {
      for (const change of [
        'granted = -1',
        `granted = ${-(2n ** 62n)}`,
        `granted = ${LARGEST_GRANT + 1n}`,
        'granted = 0, used = 1',
        'held = 101',
        'held = -1',
        'used = -1',
        'used = 60, held = 60',
        // Columns of a server hold whole numbers only: it rounds.
        ...(isOnPostgres() ? [] : ['used = 0.5']),
        "used = 'much'",
        'used = NULL',
        'used = 9223372036854775807 + 1',
        'unlimited = 2',
      ]) {
        await assert.rejects(
          world.store.run(`UPDATE bucket SET ${change} WHERE kind = 'account'`),
          /constraint|store|invalid input|out of range/i,
        );
      }
      assert.deepEqual(await world.balance(ACCOUNT), { granted: 100n, used: 0n, held: 0n, unlimited: false });
    }),
  );

  it(
    'keep entries as they were written',
    inWorld(100n, 100n, async (world) => {
      await assert.rejects(world.store.run('UPDATE entry SET amount = 1'), /append-only/);
      await assert.rejects(world.store.run('DELETE FROM entry'), /append-only/);
    }),
  );
});

describe('check', () => {
  it(
    'tells the price of every model and warns of those without',
    inWorld(0n, 0n, async (world) => {
      const { priced, remarks } = await world.run();
      const lines = priced.report?.() ?? [];
      assert.equal(lines.length + remarks.length, MODELS.length);
      assert.ok(lines.includes('price of free: free'));
      assert.ok(lines.some((line) => /^price of metered: .*output 0\.000002/.test(line)));
      assert.deepEqual(remarks, [
        'models.unpriced: has no price and is not free: calls are refused (model_not_priced)',
      ]);
      const generous = await world.run('boot-2', { unpriced: 'free' });
      assert.deepEqual(generous.remarks, ['models.unpriced: has no price: calls are free']);
    }),
  );
});

/** What may happen to the ledger. Indices point into what is there at the moment, around the end. */
type Event =
  | { readonly kind: 'credit'; readonly to: number; readonly amount: bigint; readonly ref: number }
  | { readonly kind: 'admit'; readonly key: number; readonly amount: number }
  | { readonly kind: 'deliver'; readonly call: number; readonly output: number }
  | { readonly kind: 'settle'; readonly call: number; readonly output: number; readonly outcome: Outcome }
  | { readonly kind: 'again'; readonly call: number }
  | { readonly kind: 'crash' };

const index = fc.nat(100);
const amount = fc.nat(60);
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('credit'), to: index, amount: fc.bigInt(1n, 150n), ref: fc.nat(8) }),
    },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('admit'), key: index, amount }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('deliver'), call: index, output: amount }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('settle'),
        call: index,
        output: amount,
        outcome: fc.constantFrom<Outcome>('served', 'refused', 'failed', 'aborted'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('again'), call: index }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash') }) },
  ),
  { minLength: 20, maxLength: 50 },
);

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

describe('any sequence of events', () => {
  it('leaves exactly what plain arithmetic says, and every invariant whole', async () => {
    const world = await openWorld(0n, 0n);
    let round = 0;
    let refusals = 0;
    let charges = 0;
    await fc.assert(
      fc.asyncProperty(events, async (history) => {
        round++;
        // Two accounts with two keys each; one account and one key have no limit.
        const layer = (kind: 'account' | 'key', n: number): BalanceLayer => ({ kind, owner: round * 1_000 + n });
        const accounts = [layer('account', 1), layer('account', 2)];
        const keys = [layer('key', 1), layer('key', 2), layer('key', 3), layer('key', 4)];
        const layers = [...accounts, ...keys];
        const grants = [200n, 0n, 0n, 120n, 300n, 0n];
        const expected = grants.map((granted, i) => ({ granted, used: 0n, held: 0n, unlimited: i === 1 || i === 2 }));
        const refs = new Set<number>();
        let open: { x: Exchange; amount: bigint; touched: number[]; checkpoint: bigint }[] = [];
        let closed: Exchange[] = [];
        let run = await world.run(`boot-${round}-0`);
        for (const [i, at] of layers.entries()) {
          await world.store.atomic(run.ledger.open(at, grants[i]!, expected[i]!.unlimited));
        }

        for (const [step, event] of history.entries()) {
          switch (event.kind) {
            case 'credit': {
              const to = event.to % layers.length;
              const given = await run.ledger.credit(layers[to]!, event.amount, `${round}:${event.ref}`, 'test');
              assert.equal(given, !refs.has(event.ref));
              if (given) expected[to]!.granted += event.amount;
              refs.add(event.ref);
              break;
            }
            case 'admit': {
              const n = event.key % keys.length;
              const touched = [n < 2 ? 0 : 1, accounts.length + n];
              const size = BigInt(event.amount);
              const short = touched.findIndex((i) => {
                const { granted, used, held, unlimited } = expected[i]!;
                return !unlimited && granted - used - held < size;
              });
              const identity = holder(accounts[touched[0]!]!.owner, keys[n]!.owner);
              const x = calling('metered', event.amount, { identity });
              if (size > 0n && short >= 0) {
                refusals++;
                const code = ['QUOTA_USER_INSUFFICIENT', 'QUOTA_TOKEN_INSUFFICIENT'][short]!;
                await assert.rejects(run.admit(x), refusedWith(code));
                break;
              }
              await run.admit(x);
              if (size === 0n) break;
              for (const i of touched) expected[i]!.held += size;
              open.push({ x, amount: size, touched, checkpoint: 0n });
              break;
            }
            case 'deliver': {
              const call = open[event.call % open.length];
              if (call === undefined) break;
              call.x.delivered = true;
              call.x.usage = tokens(event.output);
              call.x.served = offerOf('metered');
              world.clock.advance(1_000);
              await run.parts.stop?.();
              await run.parts.start?.();
              const delivered = least(BigInt(event.output), call.amount);
              if (delivered > call.checkpoint) call.checkpoint = delivered;
              break;
            }
            case 'settle': {
              const [call] = open.splice(event.call % Math.max(open.length, 1), 1);
              if (call === undefined) break;
              assert.equal(await run.settle(ended(call.x, event.outcome, event.output)), undefined);
              // What it used more than was held is taken of what there still is.
              const room = call.touched.reduce((lowest, i) => {
                const { granted, used, held, unlimited } = expected[i]!;
                return unlimited ? lowest : least(lowest, granted - used - held);
              }, BigInt(event.output));
              const charge = event.outcome === 'refused' ? 0n : least(BigInt(event.output), call.amount + room);
              if (charge > 0n) charges++;
              for (const i of call.touched) {
                expected[i]!.held -= call.amount;
                expected[i]!.used += charge;
              }
              closed.push(call.x);
              break;
            }
            case 'again': {
              const x = closed[event.call % closed.length];
              if (x !== undefined) assert.equal(await run.settle(x), undefined);
              break;
            }
            case 'crash': {
              const dead = run;
              run = await world.run(`boot-${round}-${step + 1}`);
              for (const call of open) {
                assert.equal(await dead.settle(ended(call.x, 'served', 1)), 'lease_lost');
                for (const i of call.touched) {
                  expected[i]!.held -= call.amount;
                  expected[i]!.used += call.checkpoint;
                }
              }
              open = [];
              closed = [];
            }
          }
          for (const [i, at] of layers.entries()) assert.deepEqual(await world.balance(at), expected[i], event.kind);
          assert.deepEqual(await world.faults(run), {}, event.kind);
        }
        // The next round begins with nothing open.
        await world.run(`boot-${round}-end`);
      }),
      // Shrinking runs the store a thousand times over; with the seed of the report it can be asked for.
      { numRuns: 30, endOnFailure: true },
    );
    assert.ok(refusals > 20 && charges > 20, `too quiet to prove anything: ${refusals} refusals, ${charges} charges`);
    await world.close();
  });
});

describe('each invariant finds the damage it is there for', () => {
  /** A ledger with one settled call and one open, damaged by SQL that no CHECK or trigger stops. */
  function finds(invariant: string, line: RegExp, ...damage: readonly string[]): () => Promise<void> {
    return async () => {
      const world = await openWorld(1_000n, 1_000n);
      try {
        const run = await world.run();
        const [settledCall, openCall] = [calling('metered', 50), calling('metered', 60)];
        for (const x of [settledCall, openCall]) await run.admit(x);
        await run.settle(ended(settledCall, 'served', 30));
        assert.deepEqual(await world.faults(run), {});

        damageRows(world.file, ...damage);
        const lines = (await world.faults(run))[invariant];
        assert.ok(lines, `${invariant} found nothing`);
        assert.match(lines.join('\n'), line);
      } finally {
        await world.close();
      }
    };
  }

  it(
    'used is the sum of debits less refunds',
    finds(
      'used-is-debits-less-refunds',
      /account 1: used 31, should be 30/,
      `UPDATE bucket SET used = 31 WHERE owner = 1`,
    ),
  );
  it(
    'a refund counts against what was used',
    finds(
      'used-is-debits-less-refunds',
      /key 11: used 30, should be 20/,
      `INSERT INTO entry SELECT 'r', 'refund', kind, owner, 0, 10, 0, 'test' FROM bucket WHERE kind = 'key'`,
    ),
  );
  it(
    'held is the sum of leases',
    finds('held-is-leases', /account 1: held 970, should be 0\nkey 11: held 970, should be 0/, 'DELETE FROM lease'),
  );
  it(
    'granted is the sum of credits and adjustments',
    finds(
      'granted-is-credits-and-adjustments',
      /account 1: granted 9007199254740993, should be 1000/,
      `UPDATE bucket SET granted = 9007199254740993 WHERE owner = 1`,
    ),
  );
  it(
    'nothing is overdrawn',
    finds(
      'nothing-is-overdrawn',
      /key 11: available -1, should be at least 0/,
      `UPDATE bucket SET granted = 999 WHERE owner = 11`,
    ),
  );
  it(
    'keys are charged what accounts are',
    finds(
      'keys-pay-what-accounts-pay-and-no-less',
      /the day 0: accounts 5, keys 0, should be no more .*\nthe day 86400000: accounts 5, keys 6, should be/,
      `INSERT INTO debit VALUES ('account', 1, 0, 0, 5)`,
      `INSERT INTO debit VALUES ('account', 1, 0, 86400000, 5)`,
      `INSERT INTO debit VALUES ('key', 11, 0, 86400000, 6)`,
    ),
  );
  it(
    'an account owes what was taken back and not paid',
    finds(
      'debt-is-what-was-taken-back-and-not-paid',
      /account 1: debt 3, should be 0/,
      `UPDATE bucket SET debt = 3 WHERE owner = 1`,
    ),
  );
  it(
    'what a running call has delivered is leased',
    finds(
      'running-calls-are-inside-leases',
      /account 1: delivered 971, should be at most what is leased: 970\nkey 11: delivered 971/,
      `INSERT INTO running (id, epoch, account_id, key_id, amount, delivered, style, model, stream, ip, created_ms)
        VALUES ('x', 'boot-1', 1, 11, 971, 971, 'chat', 'metered', 1, '', 0)`,
    ),
  );
  it(
    'every lease is of a process',
    finds(
      'every-lease-is-of-a-process',
      /a lease of account 1: of the process long-dead, should be of one that is known/,
      `UPDATE lease SET epoch = 'long-dead'`,
    ),
  );
  it(
    'every entry, debit and lease has a bucket',
    finds(
      'everything-has-a-bucket',
      /account 9: an entry, .*\nkey 11: a debit, should be a bucket\nkey 11: a lease, should be a bucket/s,
      `INSERT INTO entry VALUES ('lost', 'credit', 'account', 9, 0, 5, 0, 'test')`,
      `DELETE FROM bucket WHERE kind = 'key'`,
    ),
  );

  it('leases of a dead run are no damage before this process has recovered', async () => {
    const world = await openWorld(100n, 100n);
    const run = await world.run('boot-1');
    await run.admit(calling('metered', 40));
    const asked = await world.create('boot-2');
    assert.deepEqual(await world.faults(asked), {});
    await asked.parts.start?.();
    assert.deepEqual(await world.faults(asked), {});
    await world.close();
  });

  it(
    'all of them can be asked of one snapshot',
    inWorld(100n, 100n, async (world) => {
      const { parts, planned } = await world.run();
      const invariants = [...(parts.invariants ?? []), ...(planned.invariants ?? [])];
      const names = await world.store.snapshot(async (reader) => {
        for (const { check } of invariants) assert.deepEqual(await check(reader), []);
        return invariants.map(({ name }) => name);
      });
      assert.equal(new Set(names).size, 13);
    }),
  );
});
