/** Several processes that lease from one ledger: the last units, what is called back, processes that are killed, frozen, or do not answer. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Host } from '../../../core/plugin.ts';
import { StoreUnavailable } from '../../../core/plugin.ts';
import { recover } from '../../../plugins/quota/recovery.ts';
import { inTime, type Processes, quiet, startProcesses, withProcesses, written } from './processes.ts';
import {
  ACCOUNT,
  callingNow,
  type Exchange,
  ended,
  holder,
  inCurrency,
  KEY,
  offerOf,
  openWorld,
  type Run,
  refusedWith,
  subscribe,
  tokens,
} from './world.ts';

/** Admits calls at once; those that were admitted. */
async function admitAll(calls: readonly (readonly [Run, Exchange])[]): Promise<readonly (readonly [Run, Exchange])[]> {
  const outcomes = await Promise.allSettled(calls.map(([run, x]) => run.admit(x)));
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') refusedWith('QUOTA_USER_INSUFFICIENT')(outcome.reason);
  }
  return calls.filter((_, i) => outcomes[i]?.status === 'fulfilled');
}

/** A process has leased 100, and no call holds any of it: one was given them, and used ten. */
async function leaveFree({ world, runs }: Processes, i: number): Promise<void> {
  const first = callingNow(world, 'metered', 100);
  await runs[i]!.admit(first);
  assert.equal(await runs[i]!.settle(ended(first, 'served', 10)), undefined);
}

/** It has delivered so much, and that was written down. */
async function deliver(processes: Processes, x: Exchange, output: number): Promise<void> {
  Object.assign(x, { delivered: true, usage: tokens(output), served: offerOf('metered') });
  processes.world.clock.advance(1_000);
  await written(processes);
}

describe('the last units of a balance', () => {
  it(
    'for ten calls are given to exactly ten of thirty that three processes get at once',
    withProcesses(3, 100n, async (processes) => {
      const { world, runs } = processes;
      const calls = Array.from({ length: 30 }, (_, i) => [runs[i % 3]!, callingNow(world, 'metered', 10)] as const);
      const reached = await admitAll(calls);
      assert.equal(reached.length, 10);
      for (const [run, x] of reached) assert.equal(await run.settle(ended(x, 'served', 10)), undefined);
      assert.deepEqual(await world.balance(ACCOUNT), { granted: 100n, used: 100n, held: 0n, unlimited: false });
    }),
  );

  it(
    'are looked up once for many calls at a time: calls that are refused send no list of their own',
    withProcesses(2, 100n, async (processes) => {
      const { world, runs, stores } = processes;
      const store = stores[0]!;
      const { atomic } = store;
      let lists = 0;
      store.atomic = (steps) => {
        if (steps.length > 0) lists++;
        return atomic.call(store, steps);
      };
      const calls = Array.from({ length: 60 }, () => [runs[0]!, callingNow(world, 'metered', 10)] as const);
      const reached = await admitAll(calls);
      store.atomic = atomic;
      assert.equal(reached.length, 10);
      assert.ok(lists >= 10 && lists < 30, `${lists} lists`);
      for (const [run, x] of reached) assert.equal(await run.settle(ended(x, 'served', 10)), undefined);
    }),
  );

  it(
    'that no call holds at one process are given to a call at another',
    withProcesses(3, 100n, async (processes) => {
      const { world, runs } = processes;
      await leaveFree(processes, 0);
      assert.equal(await processes.leased(0, ACCOUNT), 90n);
      const all = callingNow(world, 'metered', 90);
      await runs[1]!.admit(all);
      assert.equal(await processes.leased(0, ACCOUNT), 0n);
      assert.equal(await runs[1]!.settle(ended(all, 'served', 90)), undefined);
    }),
  );

  it(
    'are put together where two processes have a part of them each',
    withProcesses(3, 100n, async (processes) => {
      const { world, runs } = processes;
      const halves = [0, 1].map((i) => [runs[i]!, callingNow(world, 'metered', 50)] as const);
      assert.equal((await admitAll(halves)).length, 2);
      for (const [run, x] of halves) assert.equal(await run.settle(ended(x, 'served', 0)), undefined);
      const whole = [0, 1].map((i) => [runs[i]!, callingNow(world, 'metered', 100)] as const);
      const [[run, x] = assert.fail('no call was given all there is'), ...others] = await admitAll(whole);
      assert.deepEqual(others, []);
      assert.equal(await run.settle(ended(x, 'served', 100)), undefined);
    }),
  );
});

describe('what a call gives back that its key cannot pay', () => {
  it(
    'is there for a call at another process at once',
    withProcesses(2, 100n, async ({ world, runs }) => {
      await world.store.atomic(runs[0]!.ledger.open({ kind: 'key', owner: 12 }, 10n, false));
      // Both have been asked for all they have, and are not asked again for now.
      await assert.rejects(runs[1]!.admit(callingNow(world, 'metered', 101)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      const poor = callingNow(world, 'metered', 50, { identity: holder(ACCOUNT.owner, 12) });
      await assert.rejects(runs[0]!.admit(poor), refusedWith('QUOTA_TOKEN_INSUFFICIENT'));
      const all = callingNow(world, 'metered', 100);
      await runs[1]!.admit(all);
      assert.equal(await runs[1]!.settle(ended(all, 'served', 100)), undefined);
    }),
  );
});

describe('a lease of one of several processes', () => {
  it(
    'is what its call asks for at first, then what was spent in two seconds, and never more than a fair part of the half of what is left',
    withProcesses(2, 10_000n, async (processes) => {
      const { world, runs } = processes;
      const [run] = runs as [Run];
      const spend = async (amount: number): Promise<void> => {
        const x = callingNow(world, 'metered', amount);
        await run.admit(x);
        assert.equal(await run.settle(ended(x, 'served', amount)), undefined);
      };
      const first = callingNow(world, 'metered', 100);
      await run.admit(first);
      assert.equal(await processes.leased(0, ACCOUNT), 100n);
      await run.settle(ended(first, 'served', 100));
      await spend(10);
      assert.equal(await processes.leased(0, ACCOUNT), 90n, 'as much as was spent, less what was spent of that');
      world.clock.advance(60_000);
      await spend(91);
      assert.equal(await processes.leased(0, ACCOUNT), 0n, 'what was spent long ago does not count');
      await spend(6_000);
      await spend(1);
      const left = 10_000n - 100n - 10n - 91n - 6_000n;
      assert.equal(await processes.leased(0, ACCOUNT), left / 4n - 1n);
    }),
  );

  it('is asked back once for however many calls that are refused at the same time, and not again for a tenth of a second', async () => {
    const world = await openWorld(100n, 'unlimited');
    let asked = 0;
    const { runs } = await startProcesses(world, 2, {}, (peers) =>
      Object.create(peers, {
        ask: {
          value(topic: string, message: never) {
            if (topic === 'quota.recall') asked++;
            return peers.ask(topic, message);
          },
        },
      }),
    );
    const refuse = async (count: number): Promise<void> => {
      const calls = Array.from({ length: count }, () => [runs[1]!, callingNow(world, 'metered', 101)] as const);
      assert.equal((await admitAll(calls)).length, 0);
    };
    await refuse(50);
    assert.equal(asked, 1);
    world.clock.advance(99);
    await refuse(50);
    assert.equal(asked, 1);
    world.clock.advance(1);
    await refuse(50);
    assert.equal(asked, 2);
    await world.close();
  });

  it(
    'is not shown as held by the others, nor as spent',
    withProcesses(2, 1_000n, async (processes) => {
      const { world, runs } = processes;
      await leaveFree(processes, 0);
      const held = callingNow(world, 'metered', 20);
      await runs[0]!.admit(held);
      const shown = { granted: 1_000n, used: 10n, held: 20n, unlimited: false };
      for (const { ledger } of runs) {
        assert.deepEqual(await ledger.balance(ACCOUNT), shown);
        assert.deepEqual((await ledger.balances('account', [ACCOUNT.owner])).get(ACCOUNT.owner), shown);
      }
      assert.equal(await runs[0]!.settle(ended(held, 'served', 20)), undefined);
    }),
  );

  it(
    'goes back after a minute without a call',
    withProcesses(2, 1_000n, async (processes) => {
      await leaveFree(processes, 0);
      assert.equal(await processes.leased(0, ACCOUNT), 90n);
      processes.world.clock.advance(71_000);
      await quiet(processes);
      assert.equal(await processes.leased(0, ACCOUNT), 0n);
    }),
  );
});

describe('money that is taken away', () => {
  it(
    'is called back from every process first',
    withProcesses(3, 100n, async (processes) => {
      await leaveFree(processes, 1);
      assert.equal(await processes.runs[0]!.ledger.deduct(ACCOUNT.owner, 500n, 'all', 'a test'), 90n);
    }),
  );

  it(
    'is what is there without a process that does not answer within two seconds; the rest is owed',
    withProcesses(3, 200n, async (processes) => {
      const { world, net, runs } = processes;
      const [{ ledger }] = runs as [Run];
      await leaveFree(processes, 1);
      net.hold(1);
      assert.equal(await inTime(processes, ledger.deduct(ACCOUNT.owner, 60n, 'a part', 'a test')), 60n);
      const steps = await inTime(processes, ledger.takeBackSteps(ACCOUNT.owner, 100n, 'a dispute', 'a test'));
      assert.equal(await world.store.atomic(steps), undefined);
      assert.equal(await ledger.debt(ACCOUNT.owner), 60n);
      // It gives out what it has, and gets no more.
      const call = callingNow(world, 'metered', 40);
      await runs[1]!.admit(call);
      assert.equal(await runs[1]!.settle(ended(call, 'served', 40)), undefined);
      net.release(1);
      await quiet(processes);
      await assert.rejects(runs[1]!.admit(callingNow(world, 'metered', 1)), refusedWith('QUOTA_USER_INSUFFICIENT'));
    }),
  );

  it(
    'cannot be limited at a bucket without a limit while a process has some of it and does not answer',
    withProcesses(2, 'unlimited', async (processes) => {
      const { net, runs } = processes;
      const [{ ledger }] = runs as [Run];
      await leaveFree(processes, 1);
      net.hold(1);
      const limiting = ledger.setAvailable(ACCOUNT, 50n, 'a test');
      await assert.rejects(inTime(processes, limiting), refusedWith('lease_not_returned', 409));
      net.release(1);
      await quiet(processes);
      await ledger.setAvailable(ACCOUNT, 50n, 'a test');
      const { granted, used, held } = await processes.world.balance(ACCOUNT);
      assert.equal(granted - used - held, 50n);
    }),
  );

  it(
    'stops calls that a subscription includes at every process, though one did not hear of it',
    withProcesses(
      2,
      100n,
      async (processes) => {
        const { world, net, runs } = processes;
        const [{ ledger }, other] = runs as [Run, Run];
        await subscribe(world, runs[0]!, 'card');
        await quiet(processes);
        const included = callingNow(world, 'metered', 10);
        await other.admit(included);
        assert.equal(await other.settle(ended(included, 'served', 10)), undefined);
        net.hold(1);
        const steps = await inTime(processes, ledger.takeBackSteps(ACCOUNT.owner, 500n, 'a dispute', 'a test'));
        net.lose(1);
        net.release(1);
        assert.equal(await world.store.atomic(steps), undefined);
        world.clock.advance(4_000);
        await assert.rejects(other.admit(callingNow(world, 'metered', 10)), refusedWith('QUOTA_USER_INSUFFICIENT'));
      },
      { plans: { card: { days: 30, daily: inCurrency(1), includes: 'balance' } } },
    ),
  );
});

describe('a subscription that changes at one process', () => {
  it(
    'is known to the others at once',
    withProcesses(
      2,
      100n,
      async (processes) => {
        const { world, runs } = processes;
        await subscribe(world, runs[0]!, 'card');
        await quiet(processes);
        const included = callingNow(world, 'metered', 10);
        await runs[1]!.admit(included);
        assert.equal(await runs[1]!.settle(ended(included, 'served', 10)), undefined);
        assert.equal((await world.balance(ACCOUNT)).used, 0n);
        assert.equal(await runs[0]!.subscriptions.cancel(ACCOUNT.owner), true);
        await quiet(processes);
        const paid = callingNow(world, 'metered', 10);
        await runs[1]!.admit(paid);
        assert.equal(await runs[1]!.settle(ended(paid, 'served', 10)), undefined);
        assert.equal((await world.balance(ACCOUNT)).used, 10n);
      },
      { plans: { card: { days: 30, daily: inCurrency(1), includes: 'balance' } } },
    ),
  );
});

describe('a process that is killed', () => {
  it(
    'has what it delivered charged with a record and the rest freed, and calls of the others go on',
    withProcesses(3, 1_000n, async (processes) => {
      const { world, net, runs } = processes;
      const [dead, alive] = [callingNow(world, 'metered', 80), callingNow(world, 'metered', 70)];
      await runs[1]!.admit(dead);
      await runs[2]!.admit(alive);
      await deliver(processes, dead, 30);
      await deliver(processes, alive, 20);
      net.kill(1);
      await processes.recovered(1);
      assert.deepEqual(
        world.records.filter(({ outcome }) => outcome === 'recovered').map(({ id, charged }) => [id, charged]),
        [[dead.id, 30n]],
      );
      assert.deepEqual(await runs[0]!.ledger.balance(ACCOUNT), {
        ...{ granted: 1_000n, used: 30n, held: 70n, unlimited: false },
      });
      assert.equal(await runs[2]!.settle(ended(alive, 'served', 50)), undefined);
      assert.equal((await world.balance(ACCOUNT)).used, 80n);
    }),
  );

  it(
    'is recovered by the next one that leads where it was the one that led',
    withProcesses(2, 1_000n, async (processes) => {
      const { world, net, runs } = processes;
      const dead = callingNow(world, 'metered', 80);
      await runs[0]!.admit(dead);
      await deliver(processes, dead, 30);
      net.kill(0);
      await processes.recovered(0);
      assert.equal((await world.balance(ACCOUNT)).used, 30n);
    }),
  );

  it(
    'leaves alone what others have when another starts',
    withProcesses(2, 1_000n, async (processes) => {
      const { world, runs } = processes;
      const call = callingNow(world, 'metered', 80);
      await runs[0]!.admit(call);
      await deliver(processes, call, 30);
      await processes.start();
      assert.equal(await runs[0]!.settle(ended(call, 'served', 80)), undefined);
      assert.equal((await world.balance(ACCOUNT)).used, 80n);
    }),
  );
});

/** What `recover` gets of one process that believes just some of them to be alive; `read` is called after each look into a table. */
function recoverer(
  { world, net, stores }: Processes,
  i: number,
  alive: readonly number[],
  read: (sql: string) => Promise<void>,
): Host {
  const epochs = new Set(alive.map((each) => net.epochs[each]!));
  const all = async (sql: string, ...params: never[]): Promise<unknown> => {
    const rows = await stores[i]!.all(sql, ...params);
    await read(sql);
    return rows;
  };
  return {
    store: Object.create(stores[i]!, { all: { value: all } }),
    peers: Object.create(net.peers[i]!, { alive: { value: async () => epochs } }),
    clock: world.clock,
    boot: net.epochs[i]!,
  } as unknown as Host;
}

describe('two that recover at once', () => {
  it(
    'charge a call once, and free a lease once',
    withProcesses(3, 1_000n, async (processes) => {
      const { world, runs } = processes;
      const calls = [callingNow(world, 'metered', 80), callingNow(world, 'metered', 90)];
      for (const x of calls) await runs[2]!.admit(x);
      for (const x of calls) await deliver(processes, x, 30);
      // As long as the other is in step, both have read before one of them writes.
      let waiting: (() => void) | undefined;
      let isOver = false;
      const inStep = async (): Promise<void> => {
        if (isOver) return;
        if (waiting === undefined) {
          return new Promise<void>((resolve) => {
            waiting = resolve;
          });
        }
        waiting();
        waiting = undefined;
      };
      const recovering = [0, 1].map((i) =>
        recover(recoverer(processes, i, [0, 1], inStep), undefined).finally(() => {
          isOver = true;
          waiting?.();
        }),
      );
      const counts = await Promise.all(recovering);
      assert.equal(counts[0]! + counts[1]!, 2);
      assert.deepEqual(await runs[0]!.ledger.balance(ACCOUNT), {
        ...{ granted: 1_000n, used: 60n, held: 0n, unlimited: false },
      });
      assert.equal(await processes.leased(2, ACCOUNT), 0n);
    }),
  );
});

describe('a process that is given up for dead and comes back', () => {
  it(
    'gets no good ending for its calls, stops admitting, and leases nothing more',
    withProcesses(2, 1_000n, async (processes) => {
      const { world, net, runs } = processes;
      const [, late] = runs as [Run, Run];
      await leaveFree(processes, 1);
      const running = callingNow(world, 'metered', 40);
      await late.admit(running);
      await deliver(processes, running, 15);
      net.kill(1);
      await processes.recovered(1);
      // It does not know yet, and its lease covers one more.
      const another = callingNow(world, 'metered', 40);
      await late.admit(another);
      for (const x of [running, another]) {
        assert.equal(await late.settle(ended(x, 'served', 40)), 'lease_lost');
        late.parts.unsettled?.(x);
      }
      await written(processes);
      await assert.rejects(late.admit(callingNow(world, 'metered', 1)), StoreUnavailable);
      await assert.rejects(late.admit(callingNow(world, 'metered', 900)), StoreUnavailable);
      world.clock.advance(120_000);
      await quiet(processes);
      assert.equal(await processes.leased(1, ACCOUNT), 0n);
      assert.deepEqual(await world.balance(ACCOUNT), { granted: 1_000n, used: 25n, held: 0n, unlimited: false });
    }),
  );

  it(
    'notices by what it leases, what it notes and what it gives back',
    withProcesses(4, 1_000n, async (processes) => {
      const { world, net, runs } = processes;
      const streams = [1, 2, 3].map((i) => [runs[i]!, callingNow(world, 'metered', 40)] as const);
      for (const [run, x] of streams) await run.admit(x);
      for (const i of [1, 2, 3]) net.kill(i);
      for (const i of [1, 2, 3]) await processes.recovered(i);
      const [, byLease, byNote, byReturn] = runs as [Run, Run, Run, Run];
      await assert.rejects(byLease.admit(callingNow(world, 'metered', 500)), StoreUnavailable);
      Object.assign(streams[1]![1], { delivered: true, usage: tokens(9), served: offerOf('metered') });
      world.clock.advance(1_000);
      await quiet(processes);
      await byReturn.parts.stop?.();
      for (const run of [byLease, byNote, byReturn]) {
        await assert.rejects(run.admit(callingNow(world, 'metered', 1)), (error) => error instanceof StoreUnavailable);
      }
      assert.equal((await world.store.one<{ n: number }>('SELECT COUNT(*) AS n FROM running'))!.n, 0);
    }),
  );

  it(
    'closes nothing that others have left open, whatever it believes of them',
    withProcesses(2, 1_000n, async (processes) => {
      const { world, net, runs } = processes;
      const call = callingNow(world, 'metered', 80);
      await runs[1]!.admit(call);
      net.kill(0);
      await processes.recovered(0);
      const host = recoverer(processes, 0, [0], async () => {});
      await assert.rejects(recover(host, undefined), /presumed dead/);
      assert.equal(await runs[1]!.settle(ended(call, 'served', 80)), undefined);
    }),
  );

  for (const [moment, table, settled, used] of [
    ['before its leases are taken over', 'ledger_process', undefined, 50n],
    ['after that', 'running', 'lease_lost', 30n],
  ] as const) {
    it(
      `and settles a call ${moment} has it charged once`,
      withProcesses(2, 1_000n, async (processes) => {
        const { world, runs } = processes;
        const call = callingNow(world, 'metered', 80);
        await runs[1]!.admit(call);
        await deliver(processes, call, 30);
        const said: (string | undefined)[] = [];
        const settle = async (sql: string): Promise<void> => {
          if (said.length === 0 && sql.includes(`FROM ${table}`))
            said.push(await runs[1]!.settle(ended(call, 'served', 50)));
        };
        await recover(recoverer(processes, 0, [0], settle), undefined);
        assert.deepEqual(said, [settled]);
        assert.deepEqual(await world.balance(ACCOUNT), { granted: 1_000n, used, held: 0n, unlimited: false });
      }),
    );
  }
});

describe('a key', () => {
  it(
    'without a limit is leased from by all processes at once',
    withProcesses(3, 1_000n, async (processes) => {
      const { world, runs } = processes;
      const calls = runs.map((run) => [run, callingNow(world, 'metered', 10)] as const);
      assert.equal((await admitAll(calls)).length, 3);
      for (const [run, x] of calls) assert.equal(await run.settle(ended(x, 'served', 10)), undefined);
      assert.equal((await world.balance(KEY)).used, 30n);
    }),
  );
});
