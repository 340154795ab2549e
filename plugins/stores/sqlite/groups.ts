/** Has batches of several processes share a commit: whoever was in the last one is waited for a little, because it sends again at once. */
import type { Sender, Sent } from './batch.ts';

/** The part of the time that the last commit took that is waited for others: what is waited is won several times over if they come. */
const PATIENCE = 1 / 4;
/** A commit that takes no longer than this is not worth waiting: timers count whole milliseconds. */
const QUICK_MS = 2;

export interface Groups {
  take(sent: Sent): void;
  /** Waits for nobody. */
  flush(): void;
}

/** Makes it. `run` runs what has come as one transaction; `mono` is a clock that only grows. */
export function createGroups(
  run: (sent: readonly Sent[]) => void,
  mono: () => number = () => performance.now(),
): Groups {
  let waiting: Sent[] = [];
  /** Those whose batches ran last, and how long that took. */
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
    take(sent) {
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
    flush,
  };
}
