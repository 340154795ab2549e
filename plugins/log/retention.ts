/** Forgets usage records that are old enough, in small bites, so that calls never wait long behind a deletion. */
import type { Host } from '../../core/plugin.ts';

const EVERY_MS = 3_600_000;
/** Rows per statement. */
const BITE = 500;

export interface Retention {
  start(): void;
  /** Resolves when the bite under way is through. */
  stop(): Promise<void>;
}

/** Deletes what is older than `keepMs`, hourly. */
export function createRetention({ store, clock, log }: Host, keepMs: number): Retention {
  let cancel: (() => void) | undefined;
  let sweeping: Promise<void> | undefined;

  async function sweep(): Promise<void> {
    const beforeMs = clock.now() - keepMs;
    let account = await nextAccount(-1);
    while (account !== undefined && cancel !== undefined) {
      // Ids are ordered by time, so the oldest rows of an account are its first ones, and looking at one bite suffices.
      const deleted = await store.run(
        `DELETE FROM usage_record WHERE account_id = ? AND id IN (
          SELECT id FROM (SELECT id, at_ms FROM usage_record WHERE account_id = ? ORDER BY id LIMIT ${BITE}) AS oldest
          WHERE at_ms < ?)`,
        account,
        account,
        beforeMs,
      );
      if (deleted < BITE) account = await nextAccount(account);
    }
  }

  /** Jumps from account to account along the primary key, without reading the rows between. */
  async function nextAccount(after: number): Promise<number | undefined> {
    const sql = 'SELECT MIN(account_id) AS id FROM usage_record WHERE account_id > ?';
    return (await store.one<{ id: number | null }>(sql, after))?.id ?? undefined;
  }

  return {
    start() {
      cancel = clock.every(EVERY_MS, () => {
        sweeping ??= sweep()
          .catch((error: unknown) => log.warn('old usage records could not be deleted', { error }))
          .finally(() => {
            sweeping = undefined;
          });
      });
    },
    async stop() {
      cancel?.();
      cancel = undefined;
      await sweeping;
    },
  };
}
