/** Who holds which key, from memory where it can be told: a lookup that every call makes. */
import { LRUCache } from 'lru-cache';
import type { Holder } from '../../core/contracts/keys.ts';
import type { Clock } from '../../core/plugin.ts';

/** Hashes remembered, and how long another gateway's change may go unnoticed. */
const REMEMBERED = 10_000;
const FRESH_MS = 5_000;

/** Holders by the full hash of their secret. */
export interface Holders {
  find(hash: string): Holder | undefined | Promise<Holder | undefined>;
  /** Forgets a hash, so that the next `find` asks the store; what is being asked now is not remembered either. */
  forget(hash: string): void;
}

/** `load` asks the store; of callers that miss at the same time, one does. */
export function createHolders(clock: Clock, load: (hash: string) => Promise<Holder | undefined>): Holders {
  // Any resolution but zero would be measured with a timer of the cache's own.
  const options = { max: REMEMBERED, ttl: FRESH_MS, ttlResolution: 0, perf: { now: () => clock.mono() } };
  const known = new LRUCache<string, Holder>(options);
  // A second cache: a flood of invented keys must not push out those that work.
  const unknown = new LRUCache<string, true>(options);
  const asking = new Map<string, Promise<Holder | undefined>>();

  function ask(hash: string): Promise<Holder | undefined> {
    const answer = load(hash).then(
      (holder) => {
        // Where it was forgotten meanwhile, this answer may be from before the change.
        if (asking.get(hash) === answer) {
          asking.delete(hash);
          if (holder === undefined) unknown.set(hash, true);
          else known.set(hash, holder);
        }
        return holder;
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
    find(hash) {
      const holder = known.get(hash);
      if (holder !== undefined) return holder;
      if (unknown.has(hash)) return undefined;
      return asking.get(hash) ?? ask(hash);
    },
    forget(hash) {
      known.delete(hash);
      unknown.delete(hash);
      asking.delete(hash);
    },
  };
}
