/** Group commit for several processes: waits a little for those that were in the last commit, because they send again at once. */
import type { Sender, Sent } from './batch.ts';

/** The wait for other processes as a share of the last commit's duration; a shared commit saves several times as much. */
const PATIENCE = 1 / 4;
/** Commits that are not longer than this are not delayed: timers have a resolution of whole milliseconds. */
const QUICK_MS = 2;

/** Creates a group. `run` runs the collected batches as one transaction; `mono` is a monotonic clock. */
export function createGroups(run: (sent: readonly Sent[]) => void, mono: () => number = () => performance.now()) {
  let waiting: Sent[] = [];
  /** The senders of the last commit, and its duration. */
  let last: ReadonlySet<Sender> = new Set();
  let lastMs = 0;
  let cancel = (): void => {};

  function flush(): void {
    cancel();
    const sent = waiting;
    waiting = [];
    if (sent.length === 0) return;
    const begunMs = mono();
    run(sent);
    last = new Set(sent.map(({ from }) => from));
    lastMs = mono() - begunMs;
  }

  return {
    take(sent: Sent): void {
      waiting.push(sent);
      const senders = new Set(waiting.map(({ from }) => from));
      const isExpected = [...last].some((sender) => !senders.has(sender));
      const ms = isExpected && lastMs > QUICK_MS ? Math.ceil(lastMs * PATIENCE) : 0;
      if (ms === 0) {
        cancel();
        const immediate = setImmediate(flush);
        cancel = () => clearImmediate(immediate);
      } else if (waiting.length === 1) {
        const timeout = setTimeout(flush, ms);
        cancel = () => clearTimeout(timeout);
      }
    },
    /** A group that never waits. */
    flush,
  };
}

export type Groups = ReturnType<typeof createGroups>;
