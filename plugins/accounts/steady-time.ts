/** Time that sessions and tickets go by: setting the clock back makes nothing last longer. */
import type { Clock } from '../../core/plugin.ts';

/** Wall time that never goes back while the process runs, and goes on at its own pace where the clock was set back. */
export type SteadyTime = () => number;

/** One for the whole process, or it would forget what it was at every reload. */
export function createSteadyTime(clock: Clock): SteadyTime {
  let reached = clock.now();
  let mono = clock.mono();
  return () => {
    const passed = clock.mono() - mono;
    mono += passed;
    reached = Math.max(clock.now(), reached + passed);
    return Math.floor(reached);
  };
}
