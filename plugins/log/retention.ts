/** Deletes old lines in small pieces, so that calls do not wait for a deletion; daily sums are kept. */

import type { Host } from '../../core/plugin.ts';
import { type Chore, createChore } from '../../core/sdk.ts';
import { dayOf } from './additions.ts';
import { msOf, timeOf } from './ids.ts';
import { type Rolled, rolledUntil, rollUp } from './roll-up.ts';
import { DAY_MS, HOUR_MS } from './tables.ts';

const EVERY_MS = 3_600_000;
/** Lines per statement. */
const BITE = 500;
/** The tables of lines and their keys. */
const LINES = [
  ['usage_row', 'place'],
  ['usage_detail', 'place'],
  ['account_event', 'id'],
] as const;
/** How long a label or run must be unused: a list created at the end of a day is written on the next. */
const UNUSED_MS = 2 * DAY_MS;

/** Rolls up ended hours, and deletes what is older than `keepMs`, every hour. */
export function createRetention(host: Host, keepMs: number, rolled: Rolled): Chore {
  const { store, clock } = host;

  async function sweep(goesOn: () => boolean): Promise<void> {
    await rollUp(store, rolled, clock.now(), goesOn);
    const beforeMs = clock.now() - keepMs;
    for (const [table, id] of LINES) await sweepLines(table, id, beforeMs, goesOn);
    await sweepHours(dayOf(beforeMs), goesOn);
    if (goesOn()) await sweepReferred();
  }

  async function sweepLines(table: string, id: string, beforeMs: number, goesOn: () => boolean): Promise<void> {
    const sql = `DELETE FROM ${table} WHERE ${id} IN (SELECT ${id} FROM ${table} WHERE ${id} < ? ORDER BY ${id} LIMIT ${BITE})`;
    for (let deleted = BITE; deleted >= BITE && goesOn(); ) deleted = await store.run(sql, timeOf(beforeMs));
  }

  /** Deletes labels and runs that were last used before the oldest record, except those in use. */
  async function sweepReferred(): Promise<void> {
    const first = (await store.one<{ place: string | null }>('SELECT MIN(place) AS place FROM usage_row'))?.place;
    const firstMs = first == null ? Infinity : msOf(first);
    const usedMs = dayOf(Math.min(clock.now(), firstMs)) - UNUSED_MS;
    for (const table of ['usage_label', 'usage_run']) {
      await store.run(`DELETE FROM ${table} WHERE last_day_ms < ?`, usedMs);
    }
  }

  /** Deletes the hours of days that are rolled up, oldest first. */
  async function sweepHours(beforeMs: number, goesOn: () => boolean): Promise<void> {
    const endMs = Math.min(beforeMs, dayOf(await rolledUntil(store)));
    while (goesOn()) {
      const first = (await store.one<{ ms: number | null }>('SELECT MIN(begin_ms) AS ms FROM usage_hour'))?.ms ?? endMs;
      if (first >= endMs) return;
      await store.run('DELETE FROM usage_hour WHERE begin_ms < ?', first + HOUR_MS);
    }
  }

  return createChore(host, { everyMs: EVERY_MS, work: sweep, failure: 'could not delete old usage records' });
}
