/** Counts of the last 24 hours over all processes: each counts its own calls, and sends its counts to the owner once a second. */

import type { Host, Json } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import { type Counts, noCounts, type Recent, stepOf } from './recent.ts';

/** The interval between messages. */
const TELL_MS = 1_000;
/** Names per message. */
const MOST_NAMES = 1_000;

/** Counts that are shared with other processes. */
export interface SharedRecent extends Recent {
  /** Subscribes to the counts of others. */
  listen(): void;
  /** Sends the remaining counts. */
  flush(): void;
}

/** Shares `recent` by a topic. A single process only counts; without an owner, every process receives the counts of all others. */
export function shareRecent(
  recent: Recent,
  topic: string,
  { clock, peers }: Pick<Host, 'clock' | 'peers'>,
): SharedRecent {
  const untold = boundedMap<string, Counts>(MOST_NAMES);
  let stop: (() => void) | undefined;

  /** Unsent counts of a name; undefined if there is no receiver. */
  function untoldOf(name: string): Counts | undefined {
    if (peers.count === 1) return undefined;
    stop ??= clock.after(TELL_MS, flush);
    let counts = untold.get(name);
    if (counts === undefined) {
      counts = noCounts();
      untold.set(name, counts);
    }
    return counts;
  }

  function flush(): void {
    stop?.();
    stop = undefined;
    if (untold.size === 0) return;
    (peers.owner ?? peers).tell(topic, [...untold] as unknown as Json);
    untold.clear();
  }

  return {
    served(name, firstByteMs) {
      recent.served(name, firstByteMs);
      const counts = untoldOf(name);
      if (counts === undefined) return;
      counts.served++;
      counts.lastServedMs = clock.now();
      if (firstByteMs === undefined) return;
      const step = stepOf(firstByteMs);
      counts.steps[step] = (counts.steps[step] ?? 0) + 1;
    },
    failed(name) {
      recent.failed(name);
      const counts = untoldOf(name);
      if (counts !== undefined) counts.failed++;
    },
    add: recent.add,
    look: recent.look,
    listen() {
      peers.on(topic, (message) => {
        for (const [name, counts] of message as unknown as readonly [string, Counts][]) recent.add(name, counts);
        return undefined;
      });
    },
    flush,
  };
}
