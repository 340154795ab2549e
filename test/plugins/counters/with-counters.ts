/** The plugin `counters` without a gateway: in one process, or in an owner and its workers. */

import assert from 'node:assert/strict';
import { LastingStates } from '../../../core/assembly/lasting-state.ts';
import type { Counters } from '../../../core/contracts/counters.ts';
import { aloneOf } from '../../../core/contracts/peers.ts';
import type { Host, Lasting, Peers } from '../../../core/plugin.ts';
import plugin from '../../../plugins/counters/index.ts';
import type { FakeClock } from '../../kit/gateway/clock.ts';
import { createPeers } from '../../kit/gateway/peers.ts';

/** The plugin in one process that keeps `lasting` over reloads. */
export async function generation(lasting: LastingStates, clock: FakeClock, peers: Peers = aloneOf('test')) {
  let provided: Counters | undefined;
  const host = {
    clock,
    peers,
    lasting: <T>(state: Lasting<T>) => lasting.get(state),
    provide(_service: unknown, implementation: unknown) {
      provided = implementation as Counters;
    },
  } as unknown as Host;
  const parts = await plugin.create(host, { counters: { driver: 'memory', url: '', prefix: '' } });
  assert.ok(provided !== undefined);
  return { parts, counters: provided };
}

/** The plugin in an owner and its workers. */
export async function processes(clock: FakeClock, count: number) {
  const kit = createPeers(count, { clock, isOwned: true });
  const lasting: LastingStates[] = [];
  /** Starts or reloads it. */
  const start = async (i: number): Promise<Counters> => {
    lasting[i] ??= new LastingStates();
    const { parts, counters } = await generation(lasting[i], clock, kit.peers[i]!);
    await parts.start?.();
    return counters;
  };
  const counters = await Promise.all(kit.peers.map((_, i) => start(i)));
  return { kit, counters, start };
}
