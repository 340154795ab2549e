/** The holders of keys, cached: every call looks one up. */

import { LRUCache } from 'lru-cache';
import type { Holder } from '../../core/contracts/identity.ts';
import type { Host } from '../../core/plugin.ts';

/** The maximum number of cached hashes. */
const REMEMBERED = 10_000;
/** How long a change by another process may go unnoticed if its message is lost. */
const FRESH_MS = 5_000;
/** The same if this process runs alone and receives every message: for changes made directly in the database. */
const FRESH_ALONE_MS = 60_000;

/** The store's result for a hash. */
export interface Loaded {
  readonly holder: Holder;
  /** How long the result is valid, at most; above zero. */
  readonly forMs?: number;
}

/** A cached result. Both times are milliseconds of the monotonic clock. */
interface Remembered {
  readonly holder: Holder;
  readonly loadedMs: number;
  /** The latest time at which it may be used, however recently it was loaded. */
  readonly untilMs: number;
}

/** `load` queries the store, once for concurrent callers. */
export function createHolders(
  { clock, peers }: Pick<Host, 'clock' | 'peers'>,
  load: (hash: string) => Promise<Loaded | undefined>,
) {
  // Bounded by size, so that memory is used only as the cache fills; with `max` it is allocated at once.
  const options = { maxSize: REMEMBERED, sizeCalculation: () => 1 };
  const cachedHolders = new LRUCache<string, Remembered>(options);
  // A second cache, so that a flood of invalid keys does not displace valid ones.
  const unknown = new LRUCache<string, true>({
    ...options,
    ttl: FRESH_MS,
    // Any other resolution would need a timer of the cache's own.
    ttlResolution: 0,
    perf: { now: () => clock.mono() },
  });
  const asking = new Map<string, Promise<Holder | undefined>>();

  function remember(hash: string, { holder, forMs = Number.POSITIVE_INFINITY }: Loaded): void {
    const loadedMs = clock.mono();
    cachedHolders.set(hash, { holder, loadedMs, untilMs: loadedMs + forMs });
  }

  function remembered(hash: string): Holder | undefined {
    const cached = cachedHolders.get(hash);
    if (cached === undefined) return undefined;
    const nowMs = clock.mono();
    // Evaluated each time: other processes may have started.
    const freshMs = peers.count === 1 ? FRESH_ALONE_MS : FRESH_MS;
    return nowMs - cached.loadedMs <= freshMs && nowMs < cached.untilMs ? cached.holder : undefined;
  }

  function ask(hash: string): Promise<Holder | undefined> {
    const answer = load(hash).then(
      (loaded) => {
        // If it was removed in the meantime, this result may be outdated.
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
    /** The cached holder. */
    remembered,
    find(hash: string): Holder | undefined | Promise<Holder | undefined> {
      const holder = remembered(hash);
      if (holder !== undefined) return holder;
      if (unknown.has(hash)) return undefined;
      return asking.get(hash) ?? ask(hash);
    },
    /** Removes a hash, so that the next `find` queries the store; the result of a running query is not cached either. */
    forget(hash: string): void {
      cachedHolders.delete(hash);
      unknown.delete(hash);
      asking.delete(hash);
    },
    /** The same for every hash whose holder matches. */
    forgetThose(test: (holder: Holder) => boolean): void {
      for (const [hash, { holder }] of [...cachedHolders.entries()]) if (test(holder)) cachedHolders.delete(hash);
      // The holders of these hashes are not known yet.
      asking.clear();
    },
  };
}
