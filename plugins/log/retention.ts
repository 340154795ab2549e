/** Forgets what is old enough, in small bites, so that calls never wait long behind a deletion; sums of days stay. */
import { type Chore, createChore, type Host } from '../../core/plugin.ts';
import { dayOf } from './additions.ts';
import { timeOf } from './ids.ts';
import { type Rolled, rolledUntil, rollUp } from './roll-up.ts';
import { HOUR_MS } from './tables.ts';

const EVERY_MS = 3_600_000;
/** Lines per statement. */
const BITE = 500;

/** Rolls up hours that have ended, and deletes what is older than `keepMs`, hourly. */
export function createRetention(host: Host, keepMs: number, rolled: Rolled): Chore {
  const { store, clock } = host;

  async function sweep(goesOn: () => boolean): Promise<void> {
    await rollUp(store, rolled, clock.now(), goesOn);
    const beforeMs = clock.now() - keepMs;
    await sweepLines('usage_record', beforeMs, goesOn);
    await sweepLines('account_event', beforeMs, goesOn);
    await sweepHours(dayOf(beforeMs), goesOn);
  }

  async function sweepLines(
    table: 'usage_record' | 'account_event',
    beforeMs: number,
    goesOn: () => boolean,
  ): Promise<void> {
    const sql = `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE id < ? ORDER BY id LIMIT ${BITE})`;
    for (let deleted = BITE; deleted === BITE && goesOn(); ) deleted = await store.run(sql, timeOf(beforeMs));
  }

  /** Hours of days that are rolled up, from the oldest on. */
  async function sweepHours(beforeMs: number, goesOn: () => boolean): Promise<void> {
    const endMs = Math.min(beforeMs, dayOf(await rolledUntil(store)));
    while (goesOn()) {
      const first = (await store.one<{ ms: number | null }>('SELECT MIN(begin_ms) AS ms FROM usage_hour'))?.ms ?? endMs;
      if (first >= endMs) return;
      await store.run('DELETE FROM usage_hour WHERE begin_ms < ?', first + HOUR_MS);
    }
  }

  return createChore(host, { everyMs: EVERY_MS, work: sweep, failure: 'old lines of the log could not be deleted' });
}
