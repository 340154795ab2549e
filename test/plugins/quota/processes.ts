/** Several runs of the ledger over one store, as the processes of one machine or the gateways of a cluster. */
import assert from 'node:assert/strict';
import type { Peers } from '../../../core/contracts/peers.ts';
import type { OpenStore } from '../../../core/plugin.ts';
import { createPeers, type TestPeers } from '../../kit/gateway/peers.ts';
import { openWorld, type Run, type Section, settled, type World } from './world.ts';

/** Processes and what connects them; they have the same numbers in both. */
export interface Processes {
  readonly world: World;
  readonly net: TestPeers;
  readonly runs: Run[];
  /** The store as each of them has opened it. */
  readonly stores: OpenStore[];
  /** One more; its number. */
  start(): Promise<number>;
  /** What the lease of a process has in the store. */
  leased(i: number, layer: { readonly kind: string; readonly owner: number }): Promise<bigint>;
  /** Closes what each of them has opened for itself. */
  close(): Promise<void>;
  /** Resolves when nothing is left of a process that was killed. */
  recovered(i: number): Promise<void>;
}

/** Starts `count` processes. `change`: what they get in the place of their peers. */
export async function startProcesses(
  world: World,
  count: number,
  section: Section = {},
  change: (peers: Peers, i: number) => Peers = (peers) => peers,
): Promise<Processes> {
  const net = createPeers(0, { clock: world.clock });
  const runs: Run[] = [];
  const stores: OpenStore[] = [];
  const prefix = `world-${++made}`;
  const processes: Processes = {
    world,
    net,
    runs,
    stores,
    async start() {
      const i = net.join(`${prefix}-${runs.length}`);
      stores.push(await world.openAgain());
      runs.push(await world.run(net.epochs[i]!, section, change(net.peers[i]!, i), stores[i]));
      return i;
    },
    async leased(i, { kind, owner }) {
      await written(processes);
      const sql =
        'SELECT CAST(COALESCE(SUM(amount), 0) AS TEXT) AS amount FROM lease WHERE epoch = ? AND kind = ? AND owner = ?';
      return BigInt((await world.store.one<{ amount: string }>(sql, net.epochs[i]!, kind, owner))!.amount);
    },
    async close() {
      for (const store of stores) if (store !== world.store) await store.close();
    },
    async recovered(i) {
      const sql = 'SELECT COUNT(*) AS n FROM ledger_process WHERE epoch IN (?, ?)';
      const epoch = net.epochs[i]!;
      for (let tries = 0; (await world.store.one<{ n: number }>(sql, epoch, `ended ${epoch}`))!.n > 0; tries++) {
        assert.ok(tries < 200, `nobody closes what ${epoch} has left open`);
        await turn(processes);
        // Whoever leads looks again by itself.
        if (tries % 20 === 19) world.clock.advance(5_000);
      }
    },
  };
  for (let i = 0; i < count; i++) await processes.start();
  return processes;
}

let made = 0;

/** Runs a test with some processes over a ledger of one account and one key, which must add up afterwards. */
export function withProcesses(
  count: number,
  account: bigint | 'unlimited',
  test: (processes: Processes) => Promise<void>,
  section: Section = {},
): () => Promise<void> {
  return async () => {
    const world = await openWorld(account, 'unlimited');
    try {
      const processes = await startProcesses(world, count, section);
      await test(processes);
      for (const run of processes.runs) await run.parts.stop?.();
      const last = await world.run('the end', section);
      assert.deepEqual(await world.faults(last), {});
      assert.equal((await world.store.one<{ n: number }>('SELECT COUNT(*) AS n FROM lease'))!.n, 0);
    } finally {
      await world.close();
    }
  };
}

/** Waits for what is on its way between processes, into the store, and out of it. */
async function turn({ stores }: Processes): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  for (const store of new Set(stores)) {
    await settled(store);
    await store.one('SELECT 1 AS one');
  }
}

/** Waits until the store has what every process has sent it. */
export async function written({ stores }: Processes): Promise<void> {
  for (const store of new Set(stores)) await settled(store);
}

/** Waits until what one message leads to has happened. */
export async function quiet(processes: Processes): Promise<void> {
  for (let turns = 0; turns < 4; turns++) await turn(processes);
}

/** Waits for some work that asks processes which do not answer: lets the time pass that it waits for them. */
export async function inTime<T>(processes: Processes, work: Promise<T>): Promise<T> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  done.catch(() => {});
  for (let tries = 0; !isDone; tries++) {
    assert.ok(tries < 500, 'it waits for something that does not come');
    await turn(processes);
    if (!isDone && tries % 5 === 4) processes.world.clock.advance(400);
  }
  return done;
}
