/** Watches the disk of the store, so that what calls can do without is given up before they are refused for want of room. */
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { OpenStore, StoreRoom } from './plugin.ts';

/** Looks at the room that is left. */
export interface DiskWatch {
  start(): void;
  stop(): void;
  /** Looks now. */
  look(): Promise<StoreRoom | undefined>;
  /** Whether so many more bytes can be written for what calls can do without. True where the store does not tell. */
  hasRoom(bytes: number): boolean;
}

const LOOK_MS = 1_000;
/** Kept free for what calls need: a tenth of the disk, at most this. */
const MOST_RESERVED = 1_024 ** 3;
/** What is written stands in the store's log first, and then in its file. */
const COPIES = 2;

/** Makes it. Nothing is known of the disk before `start` or `look`. */
export function createDiskWatch(store: Pick<OpenStore, 'room'>, clock: Clock, log: Log): DiskWatch {
  let cancel: (() => void) | undefined;
  let last: StoreRoom | undefined;
  let wasScarce = false;
  let looking = false;

  function hasRoom(bytes: number): boolean {
    return last === undefined || last.free - COPIES * bytes > Math.min(MOST_RESERVED, last.disk / 10);
  }

  async function look(): Promise<StoreRoom | undefined> {
    last = await store.room?.();
    const isScarce = !hasRoom(0);
    if (isScarce && !wasScarce)
      log.warn('the disk of the store is nearly full: what calls can do without is not written', { ...last });
    if (!isScarce && wasScarce) log.info('the disk of the store has room again', { ...last });
    wasScarce = isScarce;
    return last;
  }

  /** A disk that does not answer is not asked a second time. */
  function lookAgain(): void {
    if (looking) return;
    looking = true;
    look()
      .catch((error: unknown) => log.warn('the room on the disk of the store is not known', { error }))
      .finally(() => {
        looking = false;
      });
  }

  return {
    start() {
      lookAgain();
      cancel = clock.every(LOOK_MS, lookAgain);
    },
    stop: () => cancel?.(),
    look,
    hasRoom,
  };
}
