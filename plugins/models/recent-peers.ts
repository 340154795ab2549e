/** Counts of the last 24 hours over all processes: each counts its own calls, and tells the owner once a second what it has counted. */

import type { Host, Json } from '../../core/plugin.ts';
import { boundedMap } from '../../core/sdk.ts';
import { type Counts, noCounts, type Recent, stepOf } from './recent.ts';

/** How often counts are told. */
const TELL_MS = 1_000;
/** Names that are told at a time. */
const MOST_NAMES = 1_000;

/** Counts that other processes hear of. */
export interface SharedRecent extends Recent {
  /** Listens to the others. */
  listen(): void;
  /** Tells what has not been told. */
  flush(): void;
}

/** Shares `recent` by a topic. A process alone only counts; without an owner, every process hears all others. */
export function shareRecent(
  recent: Recent,
  topic: string,
  { clock, peers }: Pick<Host, 'clock' | 'peers'>,
): SharedRecent {
  const untold = boundedMap<string, Counts>(MOST_NAMES);
  let stop: (() => void) | undefined;

  /** What has not been told of a name; undefined if there is nobody to tell it. */
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
