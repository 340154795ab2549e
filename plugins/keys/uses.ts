/** When keys were last used: recorded in memory, written once a minute. Workers report to the owner. */
import type { Host } from '../../core/plugin.ts';

const MINUTE_MS = 60_000;
/** Statements per list. */
const AT_ONCE = 500;

/** Tells the owner that a key was used in a minute. */
const USED = 'keys.used';
type Used = readonly [keyId: number, usedMs: number];

export function createUses({ clock, store, peers }: Pick<Host, 'clock' | 'store' | 'peers'>) {
  const { owner } = peers;
  const noted = new Map<number, number>();
  /** In a worker: the minute of `noted`. */
  let minuteMs = 0;

  /** Once per key and minute. */
  function tell(keyId: number, usedMs: number): void {
    if (usedMs !== minuteMs) noted.clear();
    minuteMs = usedMs;
    if (noted.has(keyId)) return;
    noted.set(keyId, usedMs);
    const used: Used = [keyId, usedMs];
    owner?.tell(USED, used);
  }

  return {
    /** Records that a call used this key. */
    note(keyId: number): void {
      const now = clock.now();
      const usedMs = now - (now % MINUTE_MS);
      if (owner === undefined) noted.set(keyId, usedMs);
      else tell(keyId, usedMs);
    },
    /** The minute of the last use that is not written yet. */
    last: (keyId: number): number | undefined => noted.get(keyId),
    /** Subscribes to the workers' reports. */
    listen(): void {
      peers.on(USED, (message) => {
        const [keyId, usedMs] = message as unknown as Used;
        noted.set(keyId, Math.max(usedMs, noted.get(keyId) ?? 0));
        return undefined;
      });
    },
    /** Writes the uses since the last time. `goesOn` is called before each further list. */
    async write(goesOn: () => boolean): Promise<void> {
      if (owner !== undefined) return;
      const due = [...noted];
      for (let at = 0; at < due.length && goesOn(); at += AT_ONCE) {
        const batch = due.slice(at, at + AT_ONCE);
        // Lost in a crash: then a key's last use is at most a minute too early.
        await store.atomic(
          batch.map(([id, usedMs]) => ({
            sql: 'UPDATE api_key SET used_ms = ? WHERE id = ? AND (used_ms IS NULL OR used_ms < ?)',
            params: [usedMs, id, usedMs],
          })),
          'ran',
        );
        for (const [id, usedMs] of batch) if (noted.get(id) === usedMs) noted.delete(id);
      }
    },
  };
}

/** Records and writes uses. */
export type Uses = ReturnType<typeof createUses>;
