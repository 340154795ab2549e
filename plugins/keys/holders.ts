/** Who holds which key, from memory where it can be told: a lookup that every call makes. */
import { LRUCache } from 'lru-cache';
import type { Holder } from '../../core/contracts/keys.ts';
import type { Host } from '../../core/plugin.ts';

/** Hashes remembered. */
const REMEMBERED = 10_000;
/** How long another process's change may go unnoticed if its message is lost. */
const FRESH_MS = 5_000;
/** The same where this process serves alone, and hears of every change: of one that somebody makes in the database by hand. */
const FRESH_ALONE_MS = 60_000;

/** Holders by the full hash of their secret. */
export interface Holders {
  find(hash: string): Holder | undefined | Promise<Holder | undefined>;
  /** The same, where it is in memory. */
  remembered(hash: string): Holder | undefined;
  /** Forgets a hash, so that the next `find` asks the store; what is being asked now is not remembered either. */
  forget(hash: string): void;
  /** The same for every hash whose holder is one of these. */
  forgetThose(test: (holder: Holder) => boolean): void;
}

/** What the store knows of a hash. */
export interface Loaded {
  readonly holder: Holder;
  /** How long that may be believed, at the longest; above zero. */
  readonly forMs?: number;
}

/** What is remembered. Both times are milliseconds of the clock that only grows. */
interface Remembered {
  readonly holder: Holder;
  readonly loadedMs: number;
  /** It may not be believed any longer, however fresh it is. */
  readonly untilMs: number;
}

/** `load` asks the store; of callers that miss at the same time, one does. */
export function createHolders(
  { clock, peers }: Pick<Host, 'clock' | 'peers'>,
  load: (hash: string) => Promise<Loaded | undefined>,
): Holders {
  // Counted by size, a cache takes memory as it fills; one with a `max` takes all of it at once.
  const options = { maxSize: REMEMBERED, sizeCalculation: () => 1 };
  const known = new LRUCache<string, Remembered>(options);
  // A second cache: a flood of invented keys must not push out those that work.
  const unknown = new LRUCache<string, true>({
    ...options,
    ttl: FRESH_MS,
    // Any other resolution would be measured with a timer of the cache's own.
    ttlResolution: 0,
    perf: { now: () => clock.mono() },
  });
  const asking = new Map<string, Promise<Holder | undefined>>();

  function remember(hash: string, { holder, forMs = Number.POSITIVE_INFINITY }: Loaded): void {
    const loadedMs = clock.mono();
    known.set(hash, { holder, loadedMs, untilMs: loadedMs + forMs });
  }

  function remembered(hash: string): Holder | undefined {
    const found = known.get(hash);
    if (found === undefined) return undefined;
    const nowMs = clock.mono();
    // Asked each time: a process that was alone may have got company.
    const freshMs = peers.count === 1 ? FRESH_ALONE_MS : FRESH_MS;
    return nowMs - found.loadedMs <= freshMs && nowMs < found.untilMs ? found.holder : undefined;
  }

  function ask(hash: string): Promise<Holder | undefined> {
    const answer = load(hash).then(
      (loaded) => {
        // Where it was forgotten meanwhile, this answer may be from before the change.
        if (asking.get(hash) === answer) {
          asking.delete(hash);
          if (loaded === undefined) unknown.set(hash, true);
          else remember(hash, loaded);
        }
        return loaded?.holder;
      },
      (error: unknown) => {
        if (asking.get(hash) === answer) asking.delete(hash);
        throw error;
      },
    );
    asking.set(hash, answer);
    return answer;
  }

  return {
    remembered,
    find(hash) {
      const holder = remembered(hash);
      if (holder !== undefined) return holder;
      if (unknown.has(hash)) return undefined;
      return asking.get(hash) ?? ask(hash);
    },
    forget(hash) {
      known.delete(hash);
      unknown.delete(hash);
      asking.delete(hash);
    },
    forgetThose(test) {
      for (const [hash, { holder }] of [...known.entries()]) if (test(holder)) known.delete(hash);
      // Nobody knows yet whose these are.
      asking.clear();
    },
  };
}
