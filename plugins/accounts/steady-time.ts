/** The clock of sessions and tickets: setting the system clock back does not extend their lifetime. */
import type { Clock } from '../../core/plugin.ts';

/** Wall time that never goes back while the process runs, and continues at its own pace if the system clock was set back. */
export type SteadyTime = () => number;

/** One per process; a reload would lose its state. */
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
