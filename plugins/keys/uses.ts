/** When keys were used last: noted in memory by every call, written down together once a minute. */
import type { Clock, Store } from '../../core/plugin.ts';

const MINUTE_MS = 60_000;
/** Statements in one list. */
const AT_ONCE = 500;

/** Notes uses, and writes them down. */
export interface Uses {
  /** A call came with this key. */
  note(keyId: number): void;
  /** The minute of the last use that is noted and not written yet. */
  last(keyId: number): number | undefined;
  /** Writes down what was noted since the last time. `goesOn`: asked before each further list. */
  write(goesOn: () => boolean): Promise<void>;
}

export function createUses(clock: Clock, store: Store): Uses {
  const noted = new Map<number, number>();

  return {
    note(keyId) {
      const now = clock.now();
      noted.set(keyId, now - (now % MINUTE_MS));
    },
    last: (keyId) => noted.get(keyId),
    async write(goesOn) {
      const due = [...noted];
      for (let at = 0; at < due.length && goesOn(); at += AT_ONCE) {
        const some = due.slice(at, at + AT_ONCE);
        // Forgotten by a crash: then a key looks unused for a minute too long.
        await store.atomic(
          some.map(([id, usedMs]) => ({
            sql: 'UPDATE api_key SET used_ms = ? WHERE id = ? AND (used_ms IS NULL OR used_ms < ?)',
            params: [usedMs, id, usedMs],
          })),
          'ran',
        );
        for (const [id, usedMs] of some) if (noted.get(id) === usedMs) noted.delete(id);
      }
    },
  };
}
