/** The faults of a cluster, one per round: a process, server or connection that stops, temporarily or permanently. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Member } from '../cluster/cluster.ts';
import type { Random } from './random.ts';

/** A process that has not renewed its membership for this long is declared dead: the code's limit and a margin. */
const BEYOND_TERM_MS = 14_000;

/** A fault. */
export interface Fault {
  readonly name: string;
  /** Calls to these gateways may fail; undefined: to all of them. */
  readonly hurts: readonly Member[] | undefined;
  /** Causes the fault, and restores everything that it has stopped. */
  strike(): Promise<void>;
}

/** Draws the fault of a round: each kind comes once per cycle, in random order. */
export function drawFault(round: number, cluster: Cluster, random: Random): Fault {
  const { postgres, valkey, gateways } = cluster;
  const victim = gateways[random.between(0, gateways.length - 1)]!;
  const alone = (name: string, strike: () => Promise<void>): Fault => ({
    name: `${name} of ${victim.name}`,
    hurts: [victim],
    strike,
  });
  const restarted = (how: 'fast' | 'immediate'): Fault => ({
    name: `restart of PostgreSQL (${how})`,
    hurts: undefined,
    strike: () => postgres.restart(how),
  });
  const kinds: readonly (() => Fault)[] = [
    () =>
      alone('kill', async () => {
        await victim.process.kill();
        await sleep(random.between(0, 2_000));
        await victim.start();
      }),
    () =>
      alone('freeze', async () => {
        victim.process.signal('SIGSTOP');
        await sleep(BEYOND_TERM_MS);
        victim.process.signal('SIGCONT');
        await startedAgain(victim);
      }),
    () => restarted('fast'),
    () =>
      alone('short freeze', async () => {
        victim.process.signal('SIGSTOP');
        await sleep(random.between(500, 3_000));
        victim.process.signal('SIGCONT');
      }),
    () => ({
      name: 'restart of Valkey',
      hurts: [],
      async strike() {
        await valkey.kill();
        await sleep(random.between(0, 2_000));
        await valkey.start();
      },
    }),
    () =>
      alone('short cut', async () => {
        victim.way!.close();
        await sleep(random.between(100, 3_000));
        victim.way!.open();
      }),
    () => restarted('immediate'),
    () =>
      alone('long cut', async () => {
        victim.way!.close();
        await sleep(BEYOND_TERM_MS);
        victim.way!.open();
        await startedAgain(victim);
      }),
  ];
  return kinds[round % kinds.length]!();
}

/** A process that was declared dead ends itself, and its supervisor restarts it. */
async function startedAgain({ process, start }: Member): Promise<void> {
  const { code } = await Promise.race([
    process.ended,
    once(AbortSignal.timeout(30_000), 'abort').then(() =>
      Promise.reject(new Error('a process that was declared dead keeps running')),
    ),
  ]);
  if (code !== 1) throw new Error(`a process that was declared dead ended with ${code}`);
  await start();
}
