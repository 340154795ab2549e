/**
 * Leases against a small model: calls, recalls, credits, ends in vain, idle times, stops and kills, many of them at once. What is certain
 * whatever comes first is compared: sums to the unit, nothing beyond a limit, and no refusal while there is enough for all.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { BalanceLayer, Layer } from '../../../core/contracts/ledger.ts';
import { GatewayError } from '../../../core/plugin.ts';
import fc from '../../kit/fast-check.ts';
import {
  callingNow,
  department,
  type Exchange,
  ended,
  holder,
  offerOf,
  openWorld,
  type Run,
  settled,
  tokens,
  type World,
} from './world.ts';

/** What a call makes of itself when it ends: it is written down, or cannot be and is told so. */
interface Ending {
  readonly call: number;
  readonly output: number;
  readonly inVain: boolean;
}
type Change =
  | { readonly kind: 'credit' | 'deduct' | 'takeBack'; readonly account: number; readonly amount: number }
  | { readonly kind: 'setAvailable'; readonly of: number; readonly amount: number };
type Event =
  /** All of it at once, in the order that `order` says. */
  | {
      readonly kind: 'at once';
      readonly admits: readonly { readonly key: number; readonly tokens: number }[];
      readonly ends: readonly Ending[];
      readonly changes: readonly Change[];
      readonly order: number;
    }
  | { readonly kind: 'deliver'; readonly call: number; readonly output: number }
  | { readonly kind: 'idle' | 'restart' | 'kill' };

const number = fc.nat(100);
const amount = fc.integer({ min: 1, max: 60 });
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('credit' as const, 'credit' as const, 'deduct' as const, 'takeBack' as const),
    account: number,
    amount: fc.integer({ min: 1, max: 400 }),
  }),
  fc.record({ kind: fc.constant('setAvailable' as const), of: number, amount: fc.nat(400) }),
);
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    {
      weight: 12,
      arbitrary: fc.record({
        kind: fc.constant('at once' as const),
        admits: fc.array(fc.record({ key: number, tokens: amount }), { maxLength: 6 }),
        ends: fc.array(fc.record({ call: number, output: amount, inVain: fc.nat(5).map((n) => n === 0) }), {
          maxLength: 4,
        }),
        changes: fc.array(change, { maxLength: 1 }),
        order: fc.nat(),
      }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('deliver' as const), call: number, output: amount }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('idle' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('restart' as const, 'kill' as const) }) },
  ),
  { minLength: 15, maxLength: 30 },
);

/** A bucket as arithmetic has it. */
interface Sum {
  granted: bigint;
  used: bigint;
  held: bigint;
  debt: bigint;
}
interface OpenCall {
  readonly x: Exchange;
  /** What it holds: all that it may use. */
  readonly held: bigint;
  readonly from: readonly `${string} ${number}`[];
  /** What it was last written down to have delivered. */
  delivered: bigint;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const name = ({ kind, owner }: Layer): `${string} ${number}` => `${kind as string} ${owner}`;
const left = ({ granted, used, held }: Sum): bigint => granted - used - held;
const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, each) => sum + each, 0n);

/** What the tables say, in one moment. */
async function rowsOf(world: World, layers: readonly Layer[]) {
  await settled(world.store);
  const rows = await world.store.all<
    Record<'kind' | 'granted' | 'used' | 'held' | 'leased' | 'debt', string> & { owner: number }
  >(
    `SELECT kind, owner, CAST(granted AS TEXT) AS granted, CAST(used AS TEXT) AS used, CAST(held AS TEXT) AS held,
        CAST(debt AS TEXT) AS debt, CAST(COALESCE((SELECT SUM(amount) FROM lease l
          WHERE l.kind = b.kind AND l.owner = b.owner AND l.window_start = b.window_start), 0) AS TEXT) AS leased
      FROM bucket b WHERE window_start = 0`,
  );
  const names = new Set(layers.map(name));
  return new Map(
    rows
      .map(({ kind, owner, ...amounts }) => {
        const big = Object.fromEntries(Object.entries(amounts).map(([column, text]) => [column, BigInt(text)]));
        return [`${kind} ${owner}`, big as Record<keyof typeof amounts, bigint>] as const;
      })
      .filter(([place]) => names.has(place)),
  );
}

describe('leases, whatever happens to them and however much of it at once', () => {
  it('never give out a unit twice, keep every sum, and refuse nothing that there is room for', async () => {
    const world = await openWorld('unlimited', 'unlimited');
    let round = 0;
    const seen = new Map<string, number>();
    const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

    await fc.assert(
      fc.asyncProperty(events, async (history) => {
        round++;
        // Two accounts in one department; the first has two keys.
        const owner = (n: number): number => round * 100 + n;
        const accounts: readonly BalanceLayer[] = [1, 2].map((n) => ({ kind: 'account', owner: owner(n) }));
        const keys: readonly BalanceLayer[] = [1, 2, 3].map((n) => ({ kind: 'key', owner: owner(n) }));
        const purses = [...accounts, ...keys];
        const common: Layer = { kind: 'department', owner: owner(1) };
        const layers: readonly Layer[] = [...purses, common];
        for (const account of accounts) {
          world.departments.set(account.owner, [department(common.owner, { budget: 2_000n })]);
        }
        const sums = new Map<string, Sum>([[name(common), { granted: 2_000n, used: 0n, held: 0n, debt: 0n }]]);
        let open: OpenCall[] = [];
        /** Those that have ended in vain. */
        let unsettled: OpenCall[] = [];
        let boots = 0;
        let refs = 0;

        const start = (): Promise<Run> => world.run(`boot-${round}-${boots++}`);
        let run = await start();
        for (const [i, purse] of purses.entries()) {
          const granted = [300n, 200n, 400n, 150n, 400n][i]!;
          await world.store.atomic(run.ledger.open(purse, granted, false));
          sums.set(name(purse), { granted, used: 0n, held: 0n, debt: 0n });
        }
        const sumOf = (layer: Layer): Sum => sums.get(name(layer))!;
        const free = ({ from, held }: OpenCall, charge: bigint): void => {
          for (const place of from) {
            const sum = sums.get(place)!;
            sum.held -= held;
            sum.used += charge;
          }
        };

        /** The law. */
        const check = async (what: string): Promise<void> => {
          const rows = await rowsOf(world, layers);
          for (const layer of layers) {
            const place = name(layer);
            const row = rows.get(place);
            const { granted, used, held, debt } = sumOf(layer);
            // The department's bucket opens with the first call.
            if (row === undefined) {
              assert.deepEqual([used, held], [0n, 0n], place);
              continue;
            }
            assert.ok(row.granted - row.used - row.held >= 0n, `${what}: ${place} is overdrawn`);
            assert.equal(row.held, row.leased, `${what}: what is held of ${place} is what is leased`);
            assert.ok(held <= row.leased, `${what}: calls hold ${held} of ${place}, ${row.leased} are leased`);
            // A refused call pays a debt from what others have returned: as much less is granted as is owed.
            assert.ok(row.debt <= debt, `${what}: ${place}`);
            assert.deepEqual([row.granted - row.debt, row.used], [granted - debt, used], `${what}: ${place}`);
            Object.assign(sumOf(layer), { granted: row.granted, debt: row.debt });
            assert.equal((await run.ledger.balance(layer))?.held, held, `${what}: held of ${place}`);
          }
          assert.deepEqual(await world.faults(run), {}, what);
        };

        /** Ends calls: what each was charged. Those that are told to fail stay held. */
        const end = async (call: OpenCall, { output, inVain }: Ending): Promise<void> => {
          const cost = least(BigInt(output), call.held);
          ended(call.x, 'served', Number(cost));
          const steps = (await run.parts.settle?.(call.x)) ?? [];
          if (inVain) {
            const never = { sql: 'DELETE FROM bucket WHERE kind IS NULL', must: 'in vain' };
            assert.equal(await world.store.atomic([...steps, never]), 'in vain');
            run.parts.unsettled?.(call.x);
            // It holds what it cost, or what it was written down to have delivered; the rest is free.
            const kept = cost > call.delivered ? cost : call.delivered;
            for (const place of call.from) sums.get(place)!.held -= call.held - kept;
            unsettled.push({ ...call, held: kept });
            count('in vain');
            return;
          }
          assert.equal(await world.store.atomic(steps), undefined);
          free(call, cost);
          count('settled');
        };

        /** Changes what there is. What was taken of it is what the ledger says, within what can have been there. */
        const apply = async (each: Change, atLeast: (layer: Layer) => bigint): Promise<void> => {
          const ref = `${round}:${refs++}`;
          count(each.kind);
          if (each.kind === 'setAvailable') {
            const purse = purses[each.of % purses.length]!;
            await run.ledger.setAvailable(purse, BigInt(each.amount), 'a test');
            return;
          }
          const purse = accounts[each.account % accounts.length]!;
          const size = BigInt(each.amount);
          const sum = sumOf(purse);
          if (each.kind === 'credit') {
            assert.equal(await run.ledger.credit(purse, size, ref, 'a test'), true);
            return;
          }
          const least_ = least(size, atLeast(purse));
          if (each.kind === 'deduct') {
            const taken = await run.ledger.deduct(purse.owner, size, ref, 'a test');
            assert.ok(taken <= size && taken >= least_, `${taken} of ${size} were taken, and ${least_} were there`);
            sum.granted -= taken;
            return;
          }
          const owed = sum.debt;
          const steps = await run.ledger.takeBackSteps(purse.owner, size, ref, 'a test');
          assert.equal(await world.store.atomic(steps), undefined);
          const paid = owed + size - (await run.ledger.debt(purse.owner));
          assert.ok(paid <= owed + size && paid >= least_, `${paid} of ${size} were paid, and ${least_} were there`);
        };

        /** What cannot be foreseen of calls and changes at once is read; the sum of what was granted and what is owed is certain. */
        const follow = async (each: Change): Promise<void> => {
          const rows = await rowsOf(world, layers);
          if (each.kind === 'setAvailable') {
            const purse = purses[each.of % purses.length]!;
            const { granted, debt } = rows.get(name(purse))!;
            Object.assign(sumOf(purse), { granted, debt });
            return;
          }
          const purse = accounts[each.account % accounts.length]!;
          const sum = sumOf(purse);
          const { granted, debt } = rows.get(name(purse))!;
          const moved =
            each.kind === 'credit' ? BigInt(each.amount) : each.kind === 'takeBack' ? -BigInt(each.amount) : 0n;
          assert.equal(granted - debt, sum.granted - sum.debt + moved, `${each.kind}: ${name(purse)}`);
          Object.assign(sum, { granted, debt });
        };

        const atOnce = async ({ admits, ends, changes, order }: Extract<Event, { kind: 'at once' }>): Promise<void> => {
          const wanted = admits.map(({ key, tokens: size }) => {
            const k = key % keys.length;
            const account = accounts[k < 2 ? 0 : 1]!;
            const from = [account, keys[k]!, common];
            return { from, size, identity: holder(account.owner, keys[k]!.owner) };
          });
          const ending = ends.flatMap((it) => {
            const [call] = open.splice(it.call % Math.max(open.length, 1), 1);
            return call === undefined ? [] : [{ call, it }];
          });
          // What there is for certain whatever comes first: what is left, less what all together can take.
          const before = new Map(layers.map((layer) => [name(layer), { ...sumOf(layer) }]));
          const needed = (layer: Layer): bigint =>
            total(wanted.filter(({ from }) => from.includes(layer)).map(({ size }) => BigInt(size)));
          const certain = (layer: Layer): bigint => {
            const sum = before.get(name(layer))!;
            let there = left(sum);
            for (const each of changes) {
              if (each.kind === 'setAvailable') {
                if (purses[each.of % purses.length] === layer) there = least(there, BigInt(each.amount));
              } else if (accounts[each.account % accounts.length] === layer && each.kind !== 'credit') {
                there -= BigInt(each.amount);
              }
            }
            return sum.debt > 0n ? -1n : there;
          };
          const isEnough = layers.every((layer) => certain(layer) >= needed(layer));
          const isAlone = ending.length === 0 && changes.length === 0 && wanted.length === 1;
          const atLeast = (layer: Layer): bigint => {
            const there = left(before.get(name(layer))!) - needed(layer);
            return there > 0n ? there : 0n;
          };

          const work = [
            ...wanted.map(({ from, size, identity }) => async () => {
              const x = callingNow(world, 'metered', size, { identity });
              try {
                await run.admit(x);
              } catch (error) {
                assert.ok(error instanceof GatewayError && error.status === 403, `${error}`);
                count('refused');
                assert.ok(!isEnough, `refused although there is enough for all: ${error.message}`);
                return;
              }
              count('admitted');
              const lacking = from.some((layer) => left(before.get(name(layer))!) < BigInt(size));
              if (isAlone) assert.ok(!lacking && sumOf(from[0]!).debt === 0n, 'admitted without room');
              for (const layer of from) sumOf(layer).held += BigInt(size);
              open.push({ x, held: BigInt(size), from: from.map(name), delivered: 0n });
            }),
            ...ending.map(
              ({ call, it }) =>
                () =>
                  end(call, it),
            ),
            ...changes.map((each) => () => apply(each, atLeast)),
          ];
          const turn = work.length === 0 ? 0 : order % work.length;
          const outcomes = await Promise.allSettled(
            [...work.slice(turn), ...work.slice(0, turn)].map((each) => each()),
          );
          for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
          if (isEnough && wanted.length > 1) count('enough for all');
          for (const each of changes) await follow(each);
        };

        /** Lets time pass until what could not be settled is closed. */
        const sweep = async (): Promise<void> => {
          const isClosed = ({ x }: OpenCall): boolean => world.records.some(({ id }) => id === x.id);
          for (let tries = 0; !unsettled.every(isClosed); tries++) {
            assert.ok(tries < 100, 'what could not be settled is closed by a sweep');
            world.clock.advance(10_000);
            await settled(world.store);
          }
          for (const call of unsettled) free(call, call.delivered);
          unsettled = [];
        };

        /** Another run takes over what this one has left open; what it then says comes too late. */
        const takeOver = async (late: Run): Promise<void> => {
          run = await start();
          for (const call of [...open, ...unsettled]) free(call, call.delivered);
          for (const { x } of open) {
            assert.equal(await late.settle(ended(x, 'served', 1)), 'lease_lost');
            late.parts.unsettled?.(x);
          }
          open = [];
          unsettled = [];
        };

        for (const event of history) {
          switch (event.kind) {
            case 'at once':
              await atOnce(event);
              break;
            case 'deliver': {
              const call = open[event.call % Math.max(open.length, 1)];
              if (call === undefined) break;
              // It may come with the second that passes.
              await sweep();
              const delivered = Math.min(event.output, Number(call.held));
              Object.assign(call.x, { delivered: true, usage: tokens(delivered), served: offerOf('metered') });
              world.clock.advance(1_000);
              call.delivered = BigInt(delivered) > call.delivered ? BigInt(delivered) : call.delivered;
              count('delivered');
              break;
            }
            case 'idle':
              world.clock.advance(61_000);
              await sweep();
              break;
            case 'restart':
              await run.parts.stop?.();
              await takeOver(run);
              break;
            case 'kill': {
              const late = run;
              await takeOver(late);
              // It cannot give back either what is no longer its own.
              await late.parts.stop?.();
              count('killed');
            }
          }
          await check(JSON.stringify(event));
        }
        await run.parts.stop?.();
        for (const [place, { held, leased }] of await rowsOf(world, layers)) {
          const ofCalls = total(
            [...open, ...unsettled].filter(({ from }) => from.includes(place)).map((call) => call.held),
          );
          assert.deepEqual(
            [held, leased],
            [ofCalls, ofCalls],
            `${place}: what no call holds is given back by a run that stops`,
          );
        }
      }),
      { numRuns: 15, endOnFailure: true },
    );
    const kinds = ['admitted', 'refused', 'settled', 'in vain', 'delivered', 'enough for all', 'killed'];
    const fewest = Math.min(
      ...[...kinds, 'credit', 'deduct', 'takeBack', 'setAvailable'].map((what) => seen.get(what) ?? 0),
    );
    assert.ok(fewest > 3, `too quiet to prove anything: ${JSON.stringify([...seen])}`);
    await world.close();
  });
});
