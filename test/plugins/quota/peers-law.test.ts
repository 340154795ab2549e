/**
 * Leases of several processes against a small model: calls, credits, deductions, messages that are late or lost, processes that are killed, or
 * given up for dead and come back, recovered by two at once. Not a unit is given out twice, whatever happens; and nothing is refused that there
 * is room for, as long as all processes answer.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Host, OpenStore } from '../../../core/plugin.ts';
import { GatewayError, StoreUnavailable } from '../../../core/plugin.ts';
import { recover } from '../../../plugins/quota/recovery.ts';
import fc from '../../kit/fast-check.ts';
import { inTime, type Processes, quiet, startProcesses, written } from './processes.ts';
import { callingNow, type Exchange, ended, holder, offerOf, openWorld, tokens } from './world.ts';

/** Processes that live, of whatever number they are. */
const LIVING = 3;

type Event =
  /** All of it at once, in the order that `order` says. */
  | {
      readonly kind: 'at once';
      readonly admits: readonly { readonly process: number; readonly account: number; readonly tokens: number }[];
      readonly ends: readonly { readonly call: number; readonly output: number }[];
      readonly change: Change | undefined;
      readonly order: number;
    }
  | { readonly kind: 'deliver'; readonly call: number; readonly output: number }
  | { readonly kind: 'hold' | 'lose' | 'kill'; readonly process: number; readonly twice: boolean }
  | { readonly kind: 'pass'; readonly ms: number };
interface Change {
  readonly kind: 'credit' | 'deduct' | 'takeBack';
  readonly process: number;
  readonly account: number;
  readonly amount: number;
}

const number = fc.nat(100);
const amount = fc.integer({ min: 1, max: 60 });
const changes: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('credit' as const, 'credit' as const, 'deduct' as const, 'takeBack' as const),
  process: number,
  account: number,
  amount: fc.integer({ min: 1, max: 200 }),
});
const events: fc.Arbitrary<Event[]> = fc.array(
  fc.oneof(
    {
      weight: 14,
      arbitrary: fc.record({
        kind: fc.constant('at once' as const),
        admits: fc.array(fc.record({ process: number, account: number, tokens: amount }), { maxLength: 6 }),
        ends: fc.array(fc.record({ call: number, output: amount }), { maxLength: 4 }),
        change: fc.option(changes, { freq: 3, nil: undefined }),
        order: fc.nat(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('deliver' as const), call: number, output: amount }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constantFrom('hold' as const, 'lose' as const, 'kill' as const),
        process: number,
        twice: fc.boolean(),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(50, 700, 2_100, 70_000) }),
    },
  ),
  { minLength: 15, maxLength: 30 },
);

/** The model: what an account has, and what calls hold of it. */
interface Sum {
  granted: bigint;
  used: bigint;
  debt: bigint;
}
interface OpenCall {
  readonly x: Exchange;
  readonly process: number;
  readonly account: number;
  readonly held: bigint;
  delivered: bigint;
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const total = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, each) => sum + each, 0n);

/** Looks at every commit whether a bucket is overdrawn, or holds what nobody leases; those that are go to `broken`. */
function watch({ stores, world }: Processes, broken: string[]): void {
  const law = `SELECT b.kind || ' ' || b.owner AS bucket FROM bucket b WHERE
    (b.unlimited = 0 AND b.granted - b.used - b.held < 0) OR b.used <> COALESCE((SELECT SUM(amount) FROM debit d
      WHERE d.kind = b.kind AND d.owner = b.owner AND d.window_start = b.window_start), 0)
    OR b.held <> COALESCE((SELECT SUM(amount) FROM lease l
      WHERE l.kind = b.kind AND l.owner = b.owner AND l.window_start = b.window_start), 0)`;
  for (const store of new Set([world.store, ...stores])) {
    if (WATCHED.has(store)) continue;
    WATCHED.add(store);
    const { atomic, all } = store;
    Object.assign(store, {
      async atomic(...list: Parameters<typeof atomic>) {
        const failed = await atomic(...list);
        for (const { bucket } of await all<{ bucket: string }>(law)) broken.push(bucket);
        return failed;
      },
    });
  }
}
const WATCHED = new WeakSet<OpenStore>();

describe('leases of several processes, whatever happens to them and however much of it at once', () => {
  it('never give out a unit twice, keep every sum, and refuse nothing that there is room for once all have answered', async () => {
    const world = await openWorld('unlimited', 'unlimited');
    const broken: string[] = [];
    let round = 0;
    const seen = new Map<string, number>();
    const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

    await fc.assert(
      fc.asyncProperty(events, async (history) => {
        round++;
        const owners = [round * 100 + 1, round * 100 + 2];
        const accounts = owners.map((owner) => ({ kind: 'account', owner }) as const);
        const processes: Processes = await startProcesses(world, LIVING);
        watch(processes, broken);
        const { net, runs } = processes;
        const sums: Sum[] = [];
        for (const [i, account] of accounts.entries()) {
          const granted = [2_000n, 150n][i]!;
          await world.store.atomic([
            ...runs[0]!.ledger.open(account, granted, false),
            ...runs[0]!.ledger.open({ kind: 'key', owner: account.owner }, 0n, true),
          ]);
          sums.push({ granted, used: 0n, debt: 0n });
        }
        let living = [...runs.keys()];
        const dead: number[] = [];
        const heldBack = new Set<number>();
        let open: OpenCall[] = [];
        /** Calls of those who are dead and do not know it. */
        let late: OpenCall[] = [];
        let refs = 0;

        const held = (account: number): bigint =>
          total(open.filter((call) => call.account === account).map((call) => call.held));
        const left = (account: number): bigint => sums[account]!.granted - sums[account]!.used - held(account);

        /** The law, where nothing is under way. */
        const check = async (what: string): Promise<void> => {
          await quiet(processes);
          assert.deepEqual(broken, [], what);
          for (const [i, account] of accounts.entries()) {
            const row = await world.store.one<Record<'granted' | 'used' | 'debt', string>>(
              `SELECT CAST(granted AS TEXT) AS granted, CAST(used AS TEXT) AS used, CAST(debt AS TEXT) AS debt FROM bucket
                WHERE kind = 'account' AND owner = ?`,
              account.owner,
            );
            const amounts = Object.fromEntries(Object.entries(row!).map(([column, text]) => [column, BigInt(text)]));
            // A refused call pays a debt from what others have returned: as much less is granted as is owed.
            const { granted, used, debt } = sums[i]!;
            assert.ok(amounts.debt! <= debt, `${what}: account ${i}`);
            assert.deepEqual(
              [amounts.granted! - amounts.debt!, amounts.used],
              [granted - debt, used],
              `${what}: account ${i}`,
            );
            Object.assign(sums[i]!, amounts);
            for (const process of living) {
              const calls = open.filter((call) => call.account === i && call.process === process);
              const leased = await processes.leased(process, account);
              const ofCalls = total(calls.map((call) => call.held));
              assert.ok(
                ofCalls <= leased,
                `${what}: calls hold ${ofCalls} of account ${i}, ${process} has leased ${leased}`,
              );
            }
            for (const process of dead)
              assert.equal(await processes.leased(process, account), 0n, `${what}: of a dead one`);
            if (heldBack.size === 0)
              assert.equal((await runs[living[0]!]!.ledger.balance(account))?.held, held(i), what);
          }
          assert.deepEqual(await world.faults(runs[living[0]!]!), {}, what);
        };

        const admit = async (process: number, account: number, size: number, isEnough: boolean): Promise<void> => {
          const owner = owners[account]!;
          const x = callingNow(world, 'metered', size, { identity: holder(owner, owner) });
          const call = { x, process, account, held: BigInt(size), delivered: 0n };
          try {
            await runs[process]!.admit(x);
          } catch (error) {
            if (dead.includes(process) && error instanceof StoreUnavailable) return count('refused by a dead one');
            assert.ok(error instanceof GatewayError && error.status === 403, `${error}`);
            count('refused');
            // A dead one knows only what it once had.
            assert.ok(
              !isEnough || dead.includes(process),
              `refused although there is enough for all: ${error.message}`,
            );
            return;
          }
          count(dead.includes(process) ? 'admitted by a dead one' : 'admitted');
          (dead.includes(process) ? late : open).push(call);
        };

        const end = async ({ x, process, account, held: most }: OpenCall, output: number): Promise<void> => {
          const cost = least(BigInt(output), most);
          assert.equal(await runs[process]!.settle(ended(x, 'served', Number(cost))), undefined);
          sums[account]!.used += cost;
          count('settled');
        };

        /** Credits or takes away; what was taken is what the ledger says. */
        const apply = async ({ kind, process, account, amount: size }: Change): Promise<void> => {
          const { ledger } = runs[living[process % living.length]!]!;
          const { owner } = accounts[account % accounts.length]!;
          const ref = `${round}:${refs++}`;
          count(kind);
          if (kind === 'credit') await ledger.credit({ kind: 'account', owner }, BigInt(size), ref, 'a test');
          else if (kind === 'deduct') await ledger.deduct(owner, BigInt(size), ref, 'a test');
          else await world.store.atomic(await ledger.takeBackSteps(owner, BigInt(size), ref, 'a test'));
        };

        /** What of a change was paid at once depends on what came first; what is granted and not owed does not. */
        const follow = async ({ kind, account, amount: size }: Change, certain: bigint): Promise<void> => {
          await written(processes);
          const sum = sums[account % sums.length]!;
          const [row] = await world.store.all<Record<'granted' | 'debt', string>>(
            `SELECT CAST(granted AS TEXT) AS granted, CAST(debt AS TEXT) AS debt FROM bucket WHERE kind = 'account' AND owner = ?`,
            owners[account % sums.length]!,
          );
          const [granted, debt] = [BigInt(row!.granted), BigInt(row!.debt)];
          const moved = granted - debt - (sum.granted - sum.debt);
          const asked = BigInt(size);
          if (kind === 'credit') assert.equal(moved, asked);
          else if (kind === 'takeBack') assert.equal(moved, -asked);
          else assert.ok(-moved >= 0n && -moved <= asked, `${-moved} were taken of ${asked}`);
          // Where all answer, what no call can have taken is there to be taken.
          // A debt may be paid from it first, by a call that is refused.
          if (kind === 'deduct' && heldBack.size === 0)
            assert.ok(-moved >= least(asked, certain - sum.debt), `${-moved} of ${certain}, ${sum.debt} were owed`);
          if (kind === 'takeBack' && heldBack.size === 0) {
            assert.ok(
              sum.debt + asked - debt >= least(sum.debt + asked, certain),
              `${debt} is owed, ${certain} were there`,
            );
          }
          Object.assign(sum, { granted, debt });
        };

        const atOnce = async ({ admits, ends, change, order }: Extract<Event, { kind: 'at once' }>): Promise<void> => {
          // The dead ones that do not know it are asked, too.
          const all = [...living, ...dead.slice(-1)];
          const wanted = admits.map(({ process, account, tokens: size }) => ({
            process: all[process % all.length]!,
            account: account % accounts.length,
            size,
          }));
          const counted = wanted.filter(({ process }) => living.includes(process));
          const ending = ends.flatMap(({ call, output }) => {
            const [found] = open.splice(call % Math.max(open.length, 1), 1);
            return found === undefined ? [] : [{ call: found, output }];
          });
          // What there is for certain whatever comes first: what is left and no call of these can take.
          const certain = accounts.map((_, i) => {
            const asked = total(counted.filter(({ account }) => account === i).map(({ size }) => BigInt(size)));
            const stillHeld = total(ending.filter(({ call }) => call.account === i).map(({ call }) => call.held));
            const rest = left(i) - stillHeld - asked;
            return rest > 0n ? rest : 0n;
          });
          const isEnoughOf = (i: number): boolean => {
            const asked = total(counted.filter(({ account }) => account === i).map(({ size }) => BigInt(size)));
            const stillHeld = total(ending.filter(({ call }) => call.account === i).map(({ call }) => call.held));
            const isOurs = change !== undefined && change.account % accounts.length === i;
            const taken = isOurs && change.kind !== 'credit' ? BigInt(change.amount) : 0n;
            return heldBack.size === 0 && sums[i]!.debt === 0n && left(i) - stillHeld - taken >= asked;
          };
          const enough = accounts.map((_, i) => isEnoughOf(i));
          const work = [
            ...wanted.map(
              ({ process, account, size }) =>
                () =>
                  admit(process, account, size, enough[account]!),
            ),
            ...ending.map(
              ({ call, output }) =>
                () =>
                  end(call, output),
            ),
            ...(change === undefined ? [] : [() => apply(change)]),
          ];
          const turn = work.length === 0 ? 0 : order % work.length;
          const done = Promise.allSettled([...work.slice(turn), ...work.slice(0, turn)].map((each) => each()));
          // Only who waits for an answer that does not come needs time.
          const outcomes = await (heldBack.size === 0 ? done : inTime(processes, done));
          for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
          if (counted.length > 1 && enough.every(Boolean)) count('enough for all');
          if (change !== undefined) await follow(change, certain[change.account % accounts.length]!);
          await endLate();
        };

        const endLate = async (): Promise<void> => {
          for (const { x, process } of late.splice(0)) {
            assert.equal(await runs[process]!.settle(ended(x, 'served', 1)), 'lease_lost');
            runs[process]!.parts.unsettled?.(x);
          }
        };

        const release = (): void => {
          for (const i of heldBack) net.release(i);
          heldBack.clear();
          // What it did not give back while it did not answer is asked for again after a while.
          world.clock.advance(100);
        };

        const kill = async (process: number, isRecoveredTwice: boolean): Promise<void> => {
          release();
          // It has something left that no call holds.
          await admit(process, 0, 10, false);
          const last = open.at(-1);
          if (last?.process === process) await end(open.pop()!, 1);
          await quiet(processes);
          net.kill(process);
          living = living.filter((each) => each !== process);
          dead.push(process);
          if (isRecoveredTwice) {
            const hosts = living.map(
              (i) =>
                ({
                  store: processes.stores[i],
                  clock: world.clock,
                  boot: net.epochs[i],
                  peers: net.peers[i],
                }) as unknown as Host,
            );
            await Promise.all(hosts.map((host) => recover(host, undefined)));
            count('recovered by two');
          }
          await processes.recovered(process);
          for (const call of open.filter((each) => each.process === process))
            sums[call.account]!.used += call.delivered;
          late = open.filter((each) => each.process === process);
          open = open.filter((each) => each.process !== process);
          living.push(await processes.start());
          watch(processes, broken);
          count('killed');
          // It comes back before it knows, and what it had leased covers this.
          await admit(process, 0, 1, false);
          if (isRecoveredTwice) await endLate();
        };

        for (const event of history) {
          switch (event.kind) {
            case 'at once':
              await atOnce(event);
              break;
            case 'deliver': {
              const call = open[event.call % Math.max(open.length, 1)];
              if (call === undefined) break;
              const output = Math.min(event.output, Number(call.held));
              Object.assign(call.x, { delivered: true, usage: tokens(output), served: offerOf('metered') });
              world.clock.advance(1_000);
              await written(processes);
              if (BigInt(output) > call.delivered) call.delivered = BigInt(output);
              count('delivered');
              break;
            }
            case 'hold': {
              if (heldBack.size > 0) {
                release();
                break;
              }
              const process = living[event.process % living.length]!;
              heldBack.add(process);
              net.hold(process);
              count('held back');
              break;
            }
            case 'lose':
              for (const process of heldBack) net.lose(process);
              release();
              break;
            case 'kill':
              await kill(living[event.process % living.length]!, event.twice);
              break;
            case 'pass':
              world.clock.advance(event.ms);
          }
          await check(JSON.stringify(event));
        }
        release();
        await quiet(processes);
        for (const { process, x } of open) assert.equal(await runs[process]!.settle(ended(x, 'failed')), undefined);
        open = [];
        for (const run of runs) await run.parts.stop?.();
        for (const account of accounts) {
          for (const process of runs.keys())
            assert.equal(await processes.leased(process, account), 0n, 'a lease is left');
        }
        await processes.close();
      }),
      { numRuns: 15, endOnFailure: true },
    );
    const kinds = [
      'admitted',
      'refused',
      'settled',
      'delivered',
      'enough for all',
      'killed',
      'recovered by two',
      'held back',
    ];
    const fewest = Math.min(
      ...[...kinds, 'admitted by a dead one', 'credit', 'deduct', 'takeBack'].map((what) => seen.get(what) ?? 0),
    );
    assert.ok(fewest > 2, `too quiet to prove anything: ${JSON.stringify([...seen])}`);
    await world.close();
  });
});
