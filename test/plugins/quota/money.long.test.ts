/** Money that comes, goes back and is set by hand: credits, debts, deductions and allowances, each exact and once. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BalanceLayer, LARGEST_GRANT, type Layer, MICRO } from '../../../core/contracts/ledger.ts';
import { GatewayError } from '../../../core/plugin.ts';
import fc from '../../kit/fast-check.ts';
import {
  ACCOUNT,
  calling,
  ended,
  inWorld,
  KEY,
  openWorld,
  type Run,
  refusedWith,
  settled,
  type World,
} from './world.ts';

async function available(world: World, layer: Layer = ACCOUNT): Promise<bigint> {
  const { granted, used, held } = await world.balance(layer);
  return granted - used - held;
}

async function takeBack(world: World, run: Run, amount: bigint, ref: string): Promise<string | undefined> {
  return world.store.atomic(await run.ledger.takeBackSteps(ACCOUNT.owner, amount, ref, 'acme'));
}

/** A step that does nothing, or (`must`) fails. */
const along = (must?: string) => [
  {
    sql: `UPDATE bucket SET held = held WHERE kind = '${must === undefined ? 'account' : 'nothing'}'`,
    ...(must && { must }),
  },
];

describe('money that is taken back', () => {
  it(
    'is taken out of what is there, once per payment',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run();
      const results = await Promise.all(Array.from({ length: 50 }, () => takeBack(world, run, 30n, 'pay:1')));
      assert.deepEqual(results, [undefined, ...Array(49).fill('taken_back_before')]);
      assert.equal(await available(world), 70n);
      assert.equal(await run.ledger.debt(1), 0n);
      // The same payment may have been credited under this name.
      assert.equal(await run.ledger.credit(ACCOUNT, 5n, 'pay:1', 'acme'), true);
    }),
  );

  it(
    'becomes a debt as far as it was spent; calls are refused till a credit has paid it [T-PAY-06]',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run();
      const spent = calling('metered', 60);
      await run.admit(spent);
      assert.equal(await run.settle(ended(spent, 'served', 60)), undefined);
      assert.equal(await takeBack(world, run, 100n, 'pay:1'), undefined);
      assert.equal(await run.ledger.debt(1), 60n);
      assert.deepEqual(await world.balance(ACCOUNT), {
        granted: 60n,
        used: 60n,
        held: 0n,
        unlimited: false,
        debt: 60n,
      });

      const refused = run.admit(calling('metered', 1));
      await assert.rejects(refused, refusedWith('QUOTA_USER_INSUFFICIENT'));
      await assert.rejects(
        refused,
        /owes 0\.00006 quota because a payment that was already spent was refunded\. Credit it first/,
      );
      assert.equal(await run.ledger.credit(ACCOUNT, 40n, 'pay:2', 'acme'), true);
      assert.equal(await run.ledger.debt(1), 20n);
      assert.equal(await available(world), 0n);
      await assert.rejects(run.admit(calling('metered', 1)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      assert.equal(await run.ledger.credit(ACCOUNT, 50n, 'pay:3', 'acme'), true);
      assert.equal(await run.ledger.debt(1), 0n);
      assert.equal(await available(world), 30n);
      const next = calling('metered', 30);
      await run.admit(next);
      assert.equal(await run.settle(ended(next, 'served', 30)), undefined);
    }),
  );

  it(
    'leaves what running calls hold to them; what they give back pays with the next credit',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run();
      const x = calling('metered', 70);
      await run.admit(x);
      assert.equal(await takeBack(world, run, 100n, 'pay:1'), undefined);
      assert.equal(await run.ledger.debt(1), 70n);
      assert.equal(await run.settle(ended(x, 'served', 10)), undefined);
      // Sixty are free, and owed: nobody gets at them.
      await assert.rejects(run.admit(calling('metered', 1)), /owes/);
      assert.equal(await run.ledger.credit(ACCOUNT, 15n, 'pay:2', 'acme'), true);
      assert.equal(await run.ledger.debt(1), 0n);
      assert.equal(await available(world), 5n);
    }),
  );

  it(
    'goes out of what an account without a limit was given, and becomes a debt beyond that',
    inWorld('unlimited', 'unlimited', async (world) => {
      const run = await world.run();
      assert.equal(await run.ledger.credit(ACCOUNT, 50n, 'pay:1', 'acme'), true);
      const spent = calling('metered', 500);
      await run.admit(spent);
      assert.equal(await run.settle(ended(spent, 'served', 500)), undefined);
      assert.equal(await takeBack(world, run, 50n, 'pay:1'), undefined);
      assert.equal(await run.ledger.debt(1), 0n);
      assert.equal((await world.balance(ACCOUNT)).granted, 0n);
      assert.equal(await takeBack(world, run, 1n, 'pay:2'), undefined);
      await assert.rejects(run.admit(calling('metered', 1)), /owes/);
      assert.equal(await run.ledger.credit(ACCOUNT, 1n, 'pay:3', 'acme'), true);
    }),
  );

  it(
    'belongs to the list it is written in',
    inWorld(100n, 'unlimited', async (world) => {
      const { ledger } = await world.run();
      const failed = await world.store.atomic([
        ...(await ledger.takeBackSteps(1, 150n, 'pay:1', 'acme')),
        ...along('too_late'),
      ]);
      assert.equal(failed, 'too_late');
      assert.equal(await available(world), 100n);
      assert.equal(await ledger.debt(1), 0n);
    }),
  );
});

describe('a deduction by hand', () => {
  it(
    'takes what is there and no more, once, and says how much it was',
    inWorld(100n, 'unlimited', async (world) => {
      const { ledger } = await world.run();
      assert.equal(await ledger.deduct(1, 30n, 'a', 'root', along()), 30n);
      assert.equal(await ledger.deduct(1, 30n, 'a', 'root'), 30n);
      assert.equal(await available(world), 70n);
      assert.equal(await ledger.deduct(1, 1_000n, 'b', 'root'), 70n);
      assert.equal(await available(world), 0n);
      assert.equal(await ledger.deduct(1, 1n, 'c', 'root', along()), 0n);
      assert.equal(await ledger.deduct(404, 1n, 'd', 'root'), 0n);
      await assert.rejects(ledger.deduct(1, 0n, 'e', 'root'), refusedWith('invalid_amount', 400));
      await ledger.credit(ACCOUNT, 5n, 'more', 'root');
      await assert.rejects(ledger.deduct(1, 1n, 'f', 'root', along('too_late')), refusedWith('conflict', 409));
      assert.equal(await available(world), 5n);
    }),
  );

  it(
    'leaves alone what running calls hold',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run();
      const x = calling('metered', 60);
      await run.admit(x);
      assert.equal(await run.ledger.deduct(1, 100n, 'a', 'root'), 40n);
      assert.equal(await run.settle(ended(x, 'served', 60)), undefined);
      assert.equal(await available(world), 0n);
    }),
  );
});

describe('a balance that is set while calls hold it', () => {
  it(
    'loses what is free at once and owes the rest, which is paid when the calls end',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run();
      const x = calling('metered', 90);
      await run.admit(x);
      const change = await run.ledger.setBalance(
        1,
        (balance) => balance - 60n,
        'a',
        'root',
        () => along(),
      );
      assert.deepEqual(change, { was: 100n, is: 40n, taken: 10n, held: 90n, owed: 50n });
      await assert.rejects(run.admit(calling('metered', 1)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      assert.equal(await run.settle(ended(x, 'served', 15)), undefined);
      // 100 less 60 less the 15 of the call.
      await run.admit(calling('metered', 25));
      await assert.rejects(run.admit(calling('metered', 1)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      assert.equal(await run.ledger.debt(1), 0n);
      assert.deepEqual(await world.faults(run), {});
    }),
  );
});

describe('what an account buys', () => {
  const buy = async (world: World, { ledger }: Run, amount: bigint, ref: string) =>
    world.store.atomic(await ledger.deductSteps(ACCOUNT.owner, amount, ref, 'shop'));

  it(
    'is paid exactly or not at all, once, and never with what is not there',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run();
      assert.equal(await buy(world, run, 101n, 'a'), 'insufficient');
      const results = await Promise.all(Array.from({ length: 50 }, () => buy(world, run, 30n, 'b')));
      assert.deepEqual(results, [undefined, ...Array(49).fill('deducted_before')]);
      const others = await Promise.all(Array.from({ length: 50 }, (_, i) => buy(world, run, 30n, `c:${i}`)));
      assert.deepEqual(others, [undefined, undefined, ...Array(48).fill('insufficient')]);
      assert.equal(await available(world), 10n);
      assert.equal(await buy(world, run, 10n, 'd'), undefined);
      assert.equal(await available(world), 0n);
      for (const amount of [0n, -1n, LARGEST_GRANT + 1n]) {
        await assert.rejects(run.ledger.deductSteps(1, amount, 'e', 'shop'), refusedWith('invalid_amount', 400));
      }
    }),
  );

  it(
    'is paid neither with what running calls hold, nor by whoever owes something, nor out of no limit',
    inWorld(100n, 'unlimited', async (world) => {
      const run = await world.run();
      const x = calling('metered', 60);
      await run.admit(x);
      assert.equal(await buy(world, run, 41n, 'a'), 'insufficient');
      assert.equal(await takeBack(world, run, 50n, 'pay:1'), undefined);
      assert.equal(await run.settle(ended(x, 'served', 10)), undefined);
      assert.equal(await run.ledger.debt(1), 10n);
      assert.equal(await available(world), 50n);
      assert.equal(await buy(world, run, 1n, 'b'), 'insufficient');
      await run.ledger.credit(ACCOUNT, 1n, 'pay:2', 'acme');
      assert.equal(await buy(world, run, 41n, 'c'), undefined);

      await run.ledger.credit(ACCOUNT, 5n, 'pay:3', 'acme');
      const given = (await world.balance(ACCOUNT)).granted;
      await run.ledger.setAvailable(ACCOUNT, undefined, 'root');
      assert.equal(await buy(world, run, given + 1n, 'd'), 'insufficient');
    }),
  );

  it(
    'belongs to the list it is written in',
    inWorld(100n, 'unlimited', async (world) => {
      const { ledger } = await world.run();
      const steps = await ledger.deductSteps(1, 60n, 'a', 'shop');
      assert.equal(await world.store.atomic([...steps, ...along('too_late')]), 'too_late');
      assert.equal(await available(world), 100n);
      assert.equal(await world.store.atomic(steps), undefined);
    }),
  );
});

describe('what is available in a limit', () => {
  it(
    'is set exactly, and the next call goes by it [T-LED-10]',
    inWorld('unlimited', 0n, async (world) => {
      const run = await world.run();
      const { ledger } = run;
      await assert.rejects(run.admit(calling('metered', 1)), refusedWith('QUOTA_TOKEN_INSUFFICIENT'));
      await ledger.setAvailable(KEY, 50n, 'root', along());
      const x = calling('metered', 50);
      await run.admit(x);
      // The call keeps what it holds; what that is more than the key may spend is owed.
      await ledger.setAvailable(KEY, 20n, 'root');
      assert.deepEqual(await ledger.balance(KEY), { granted: 50n, used: 0n, held: 50n, unlimited: false, debt: 30n });
      assert.equal(await run.settle(ended(x, 'served', 5)), undefined);
      const z = calling('metered', 15);
      await run.admit(z);
      await assert.rejects(run.admit(calling('metered', 1)), refusedWith('QUOTA_TOKEN_INSUFFICIENT'));
      assert.deepEqual(await ledger.balance(KEY), { granted: 20n, used: 5n, held: 15n, unlimited: false });
      assert.equal(await run.settle(ended(z, 'served', 15)), undefined);
      await ledger.setAvailable(KEY, 0n, 'root');
      await assert.rejects(run.admit(calling('metered', 1)), refusedWith('QUOTA_TOKEN_INSUFFICIENT'));
      await ledger.setAvailable(KEY, undefined, 'root');
      const y = calling('metered', 5_000);
      await run.admit(y);
      assert.equal(await run.settle(ended(y, 'served', 5_000)), undefined);
      await ledger.setAvailable(KEY, 7n, 'root');
      assert.deepEqual(await world.balance(KEY), { granted: 5_027n, used: 5_020n, held: 0n, unlimited: false });
      await ledger.setAvailable(KEY, 7n, 'root');
      assert.equal(await available(world, KEY), 7n);
    }),
  );

  it(
    'is refused beyond the borders, and where there is no such layer',
    inWorld(1n, 1n, async (world) => {
      const { ledger } = await world.run();
      for (const amount of [-1n, LARGEST_GRANT + 1n, -(2n ** 62n), 2n ** 64n]) {
        await assert.rejects(ledger.setAvailable(KEY, amount, 'root'), refusedWith('invalid_amount', 400));
      }
      await assert.rejects(
        ledger.setAvailable({ kind: 'key', owner: 404 }, 5n, 'root'),
        refusedWith('layer_not_found', 404),
      );
      await assert.rejects(
        ledger.setAvailable({ kind: 'key', owner: 404 }, undefined, 'root'),
        refusedWith('layer_not_found', 404),
      );
      await assert.rejects(ledger.setAvailable(KEY, 5n, 'root', along('too_late')), refusedWith('conflict', 409));
      assert.equal(await available(world, KEY), 1n);
    }),
  );
});

describe('many balances', () => {
  it(
    'are read at once; who has none is left out',
    inWorld(100n, 50n, async (world) => {
      const { ledger } = await world.run();
      const owners = Array.from({ length: 1_200 }, (_, i) => i + 1);
      for (const owner of [600, 1_200])
        await world.store.atomic(ledger.open({ kind: 'key', owner }, 7n, owner === 600));
      const found = await ledger.balances('key', owners);
      assert.deepEqual(
        [...found.keys()].sort((a, b) => a - b),
        [11, 600, 1_200],
      );
      assert.equal(found.get(600)?.unlimited, true);
      assert.equal(found.get(11)?.granted, 50n);
      assert.deepEqual(await ledger.balances('key', []), new Map());
      assert.deepEqual(await ledger.balances('department-month', owners, 5), new Map());
    }),
  );
});

describe('a new account', () => {
  it(
    'is welcomed with what gateway.yaml says',
    inWorld(0n, 0n, async (world) => {
      const { ledger } = await world.run('boot-1', { welcome: 25 });
      assert.equal(ledger.welcome, 25n * MICRO);
      assert.equal(ledger.perUnit, 500_000);
      await world.store.atomic(ledger.open({ kind: 'account', owner: 2 }, ledger.welcome, false));
      assert.equal(await available(world, { kind: 'account', owner: 2 }), 25n * MICRO);
    }),
  );
});

/** What may be done to the money of an account. */
type Deed = readonly [
  what: 'credit' | 'takeBack' | 'deduct' | 'buy' | 'set' | 'hold' | 'close',
  amount: bigint,
  ref: number,
];

const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.tuple(
    fc.constantFrom('credit', 'takeBack', 'takeBack', 'deduct', 'buy', 'set', 'hold', 'hold', 'close'),
    fc.bigInt(1n, 90n),
    fc.nat(6),
  ) as fc.Arbitrary<Deed>,
  { minLength: 15, maxLength: 40 },
);
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);

describe('any sequence of deeds', () => {
  it('moves exactly what plain arithmetic says, and never twice [T-LED-06]', async () => {
    const world = await openWorld(0n, 'unlimited');
    const run = await world.run();
    let round = 0;
    let indebted = 0;
    await fc.assert(
      fc.asyncProperty(deeds, async (history) => {
        const account: BalanceLayer = { kind: 'account', owner: 1_000 + ++round };
        const identity = { ...calling('metered', 1).identity };
        const payer = { ...identity, account: { ...identity.account, id: account.owner } };
        await world.store.atomic(run.ledger.open(account, 0n, false));
        let [free, debt, held, used] = [0n, 0n, 0n, 0n];
        const done = new Map<string, bigint>();
        const open: { x: ReturnType<typeof calling>; amount: bigint }[] = [];
        const pay = (): void => {
          const paid = least(free, debt);
          free -= paid;
          debt -= paid;
        };
        for (const [what, amount, n] of history) {
          const ref = `${round}:${n}`;
          const before = done.get(`${what} ${ref}`);
          switch (what) {
            case 'credit': {
              const steps = run.ledger.creditSteps(account.owner, amount, ref, 'test');
              assert.equal(await world.store.atomic(steps), before === undefined ? undefined : 'credited_before');
              if (before === undefined) {
                free += amount;
                pay();
              }
              break;
            }
            case 'takeBack': {
              const steps = await run.ledger.takeBackSteps(account.owner, amount, ref, 'test');
              assert.equal(await world.store.atomic(steps), before === undefined ? undefined : 'taken_back_before');
              if (before === undefined) {
                debt += amount;
                pay();
              }
              break;
            }
            case 'deduct': {
              const taken = before === undefined ? least(amount, free) : before;
              assert.equal(await run.ledger.deduct(account.owner, amount, ref, 'test'), taken);
              if (before === undefined) free -= taken;
              if (taken > 0n) done.set(`${what} ${ref}`, taken);
              continue;
            }
            case 'buy': {
              // Under names of its own: one name is one deduction, whoever asks for it.
              const steps = await run.ledger.deductSteps(account.owner, amount, `buy:${ref}`, 'test');
              const enough = debt === 0n && free >= amount;
              const refused = before !== undefined ? 'deducted_before' : enough ? undefined : 'insufficient';
              assert.equal(await world.store.atomic(steps), refused);
              if (refused !== undefined) continue;
              free -= amount;
              break;
            }
            case 'set':
              await run.ledger.setAvailable(account, amount, 'test');
              free = amount > held ? amount - held : 0n;
              debt = held > amount ? held - amount : 0n;
              break;
            case 'hold': {
              const x = calling('metered', Number(amount), { identity: payer });
              // A call pays the debt first, from what others have returned.
              pay();
              if (debt > 0n) indebted++;
              if (debt > 0n || free < amount) {
                await assert.rejects(run.admit(x), (error) => error instanceof GatewayError);
              } else {
                await run.admit(x);
                free -= amount;
                held += amount;
                open.push({ x, amount });
              }
              break;
            }
            case 'close': {
              const call = open.pop();
              if (call === undefined) break;
              const charge = least(amount, call.amount);
              assert.equal(await run.settle(ended(call.x, 'served', Number(charge))), undefined);
              held -= call.amount;
              used += charge;
              free += call.amount - charge;
            }
          }
          done.set(`${what} ${ref}`, amount);
          const balance = await world.balance(account);
          assert.deepEqual(
            [balance.granted - balance.used - balance.held, balance.held, balance.used],
            [free, held, used],
            what,
          );
          assert.equal(await run.ledger.debt(account.owner), debt, what);
        }
        assert.deepEqual(await world.faults(run), {});
        for (const { x } of open) await run.settle(ended(x, 'failed'));
      }),
      { numRuns: 20, endOnFailure: true },
    );
    assert.ok(indebted > 20, `too quiet to prove anything: ${indebted} calls of somebody in debt`);
    await settled(world.store);
    await world.close();
  });
});
