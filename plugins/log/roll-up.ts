/** Adds ended hours to their days, which statistics read, and which are kept; deletes old lines in small pieces, so that calls do not wait. */
import type { Host, Reader, Store } from '../../core/plugin.ts';
import { type Chore, createChore } from '../../core/sdk.ts';
import { ADDED, addTo, dayOf, hourOf, SUM_KEY } from './additions.ts';
import { msOf, timeOf } from './ids.ts';
import { CALLS, sqlList } from './kinds.ts';
import { LASTING_MODEL } from './sum-tables.ts';
import { DAY_MS, HOUR_MS } from './tables.ts';
import { tokensOfSum } from './tokens.ts';

/** The state of the roll-up, for writers of lines. */
export interface Rolled {
  /** Hours before this time are rolled up, or are being rolled up: lines of these hours are added to their day as well. */
  beforeMs: number;
}

/** The initial value before the state was read: any hour may be rolled up. */
export const newRolled = (): Rolled => ({ beforeMs: Infinity });

/**
 * Rolls up every hour that ended at least an hour ago, so that a clock that is set back a little does not meet a closed hour. Each hour is
 * one list, so calls do not wait for more.
 */
export async function rollUp(store: Store, rolled: Rolled, nowMs: number, goesOn: () => boolean): Promise<void> {
  const endMs = hourOf(nowMs) - HOUR_MS;
  while (goesOn()) {
    const fromMs = await rolledUntil(store);
    if (fromMs >= endMs) return;
    const next = await store.one<{ ms: number | null }>(
      'SELECT MIN(begin_ms) AS ms FROM usage_hour WHERE begin_ms >= ? AND begin_ms < ?',
      fromMs,
      endMs,
    );
    // If there are no more hours with lines, the last empty hour is marked as rolled up, and with it those before.
    const hourMs = next?.ms ?? endMs - HOUR_MS;
    rolled.beforeMs = hourMs + HOUR_MS;
    await store.atomic([
      // First, so that only one of two gateways adds the hour.
      {
        sql: 'UPDATE usage_rolled SET until_ms = ? WHERE until_ms = ?',
        params: [hourMs + HOUR_MS, fromMs],
        must: 'rolled_before',
      },
      {
        sql: `INSERT INTO usage_day (${SUM_KEY}, ${ADDED.join(', ')})
          SELECT CAST(? AS BIGINT), account_id, kind, key_id, ${LASTING_MODEL}, channel, department_id,
            ${ADDED.map((column) => `SUM(${ofHour(column)})`).join(', ')}
          FROM usage_hour WHERE begin_ms = ? AND kind IN (${sqlList(CALLS)}) GROUP BY 2, 3, 4, 5, 6, 7
          ${addTo('usage_day')}`,
        params: [dayOf(hourMs), hourMs],
      },
    ]);
  }
}

/** A column of an hour, as its day adds it up. */
function ofHour(column: (typeof ADDED)[number]): string {
  return column === 'input' || column === 'output' ? tokensOfSum(column) : column;
}

/** Hours before this time are rolled up. */
export async function rolledUntil(reader: Pick<Reader, 'one'>): Promise<number> {
  return (await reader.one<{ ms: number }>('SELECT until_ms AS ms FROM usage_rolled'))?.ms ?? 0;
}

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
