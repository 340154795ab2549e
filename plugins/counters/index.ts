/** Provides `Counters` in memory: of this process, or in a worker of the owner's. */
import { Counters } from '../../core/contracts/counters.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createMemoryCounters } from './memory.ts';
import { type Guests, serveWorkers } from './owner.ts';
import { createWorkerCounters } from './worker.ts';

/** How often windows that nobody uses any more are forgotten. */
const SWEEP_MS = 60_000;

export default definePlugin({
  name: 'counters',
  api: 1,
  provides: [Counters],
  create(host) {
    const { owner } = host.peers;
    if (owner !== undefined) {
      host.provide(Counters, createWorkerCounters(owner, host.clock));
      return {};
    }
    // A reload must not hand out every limit anew.
    const counters = host.lasting('counters.memory', () => createMemoryCounters(host.clock));
    const guests = host.lasting<Guests>('counters.guests', () => new Map());
    host.provide(Counters, counters);
    let stops: readonly (() => void)[] = [];
    return {
      start() {
        stops = [host.clock.every(SWEEP_MS, () => counters.sweep()), serveWorkers(host.peers, counters, guests)];
      },
      stop() {
        for (const stop of stops) stop();
      },
    };
  },
});
