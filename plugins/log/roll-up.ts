/** Adds ended hours to their days, which statistics read, and which are kept when the hours are deleted. */
import type { Reader, Store } from '../../core/plugin.ts';
import { ADDED, addTo, dayOf, hourOf, SUM_KEY } from './additions.ts';
import { CALLS, sqlList } from './kinds.ts';
import { LASTING_MODEL } from './sum-tables.ts';
import { HOUR_MS } from './tables.ts';

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
            ${ADDED.map((column) => `SUM(${column})`).join(', ')}
          FROM usage_hour WHERE begin_ms = ? AND kind IN (${sqlList(CALLS)}) GROUP BY 2, 3, 4, 5, 6, 7
          ${addTo('usage_day')}`,
        params: [dayOf(hourMs), hourMs],
      },
    ]);
  }
}

/** Hours before this time are rolled up. */
export async function rolledUntil(reader: Pick<Reader, 'one'>): Promise<number> {
  return (await reader.one<{ ms: number }>('SELECT until_ms AS ms FROM usage_rolled'))?.ms ?? 0;
}
