/** Hours that have ended are added to their days: that is what statistics read, and what stays when the hours are deleted. */
import type { Reader, Store } from '../../core/plugin.ts';
import { ADDED, addTo, dayOf, hourOf, SUM_KEY } from './additions.ts';
import { CALLS, sqlList } from './kinds.ts';
import { LASTING_MODEL } from './sum-tables.ts';
import { HOUR_MS } from './tables.ts';

/** What is known of it to those who write lines. */
export interface Rolled {
  /** Hours before this moment are rolled up, or are just being: whatever is added to them is added to their day as well. */
  beforeMs: number;
}

/** Of a gateway that has not looked yet: it may be any. */
export const newRolled = (): Rolled => ({ beforeMs: Infinity });

/**
 * Rolls up every hour that had ended an hour ago: a clock that steps back a little finds none closed that still goes on. One hour is
 * one list: calls never wait for more.
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
    // Where there is nothing left to add, the last of them is rolled up: it is as empty as those before it.
    const hourMs = next?.ms ?? endMs - HOUR_MS;
    rolled.beforeMs = hourMs + HOUR_MS;
    await store.atomic([
      // First, so that of two gateways only one does it.
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

/** Hours before this moment are rolled up. */
export async function rolledUntil(reader: Pick<Reader, 'one'>): Promise<number> {
  return (await reader.one<{ ms: number }>('SELECT until_ms AS ms FROM usage_rolled'))?.ms ?? 0;
}
