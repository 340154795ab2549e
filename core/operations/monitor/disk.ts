/** Watches the disk of the store: optional data stops being written before calls are refused for lack of space. */

import type { OpenStore, StoreRoom } from '../../plugin.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';

const LOOK_MS = 1_000;
/** Reserved for what calls need: a tenth of the disk, at most this. */
const MOST_RESERVED = 1_024 ** 3;
/** Data is written to the store's log first, and then to its file. */
const COPIES = 2;

/** Measures the free space, which is unknown before `start` or `look`. */
export function createDiskWatch(store: Pick<OpenStore, 'room'>, clock: Clock, log: Log) {
  let cancel: (() => void) | undefined;
  let last: StoreRoom | undefined;
  let wasScarce = false;
  let looking = false;

  /** Whether this many more bytes of optional data can be written. True if the store does not report its space. */
  function hasRoom(bytes: number): boolean {
    return last === undefined || last.free - COPIES * bytes > Math.min(MOST_RESERVED, last.disk / 10);
  }

  async function look(): Promise<StoreRoom | undefined> {
    last = await store.room?.();
    const isScarce = !hasRoom(0);
    if (isScarce && !wasScarce)
      log.warn('the disk of the store is nearly full: optional data is not written', { ...last });
    if (!isScarce && wasScarce) log.info('the disk of the store has enough space again', { ...last });
    wasScarce = isScarce;
    return last;
  }

  /** A disk that does not respond is not queried a second time. */
  function lookAgain(): void {
    if (looking) return;
    looking = true;
    look()
      .catch((error: unknown) => log.warn('the free space on the disk of the store is unknown', { error }))
      .finally(() => {
        looking = false;
      });
  }

  return {
    start(): void {
      lookAgain();
      cancel = clock.every(LOOK_MS, lookAgain);
    },
    stop: (): void => cancel?.(),
    look,
    hasRoom,
  };
}
