/** The entry of the process that finishes a backup: it needs CPU time that calls must not wait for. */
import '../../bytes/json-parse.ts';
import { constants, setPriority } from 'node:os';
import { type FinishOrder, finishBackup } from './finish.ts';
import type { FinishReport } from './finisher.ts';

process.once('message', (order) => {
  finishBackup(order as FinishOrder)
    .then(
      (finished): FinishReport => ({ finished }),
      (error: unknown): FinishReport => ({ failure: error instanceof Error ? error.message : String(error) }),
    )
    // Exit even if a plugin has left a timer or a connection open.
    .then((report) => process.send?.(report, () => process.exit(0)));
});
// The gateway has ended.
process.once('disconnect', () => process.exit(1));
try {
  // Not the lowest one: a machine that is busy for long would never prove a backup.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
} catch {
  // Not every container allows it.
}
