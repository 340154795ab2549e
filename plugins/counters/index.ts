/** Provides `Counters` in memory: right for one gateway; two that share limits need counters they share. */
import { Counters } from '../../core/contracts/counters.ts';
import { definePlugin } from '../../core/plugin.ts';
import { createMemoryCounters } from './memory.ts';

/** How often windows that nobody uses any more are forgotten. */
const SWEEP_MS = 60_000;

export default definePlugin({
  name: 'counters',
  api: 1,
  provides: [Counters],
  create(host) {
    // A reload must not hand out every limit anew.
    const counters = host.lasting('counters.memory', () => createMemoryCounters(host.clock));
    host.provide(Counters, counters);
    let stop: (() => void) | undefined;
    return {
      start() {
        stop = host.clock.every(SWEEP_MS, () => counters.sweep());
      },
      stop() {
        stop?.();
      },
    };
  },
});
