/** Cost of today, 7 and 30 days. Days are the UTC days of the ledger. */
import { useApi } from '../../api/hooks.ts';
import type { UsageStatistics } from '../../api/operations.ts';
import { dateOf, rangeFrom, type TimeRange } from '../../parts/range.ts';

const DAY_S = 86_400;
const WEEK_DAYS = 7;

/** A sum. */
export interface Spent {
  readonly quota: number;
  readonly requests: number;
}

/** The sums. */
export interface Costs {
  readonly today: Spent;
  readonly week: Spent;
  readonly month: Spent;
}

/** The last 30 days including today. */
export function lastMonth(): TimeRange {
  return rangeFrom({ range: '30d', start: '', end: '' }, '30d', Math.floor(Date.now() / 1_000));
}

/** Loads the sums of the viewer or of all users; undefined while loading. */
export function useCosts(
  of: 'GET /api/log/self/stat' | 'GET /api/log/stat' = 'GET /api/log/self/stat',
  enabled = true,
): Costs | undefined {
  const { start, end } = lastMonth();
  const { data } = useApi(of, { search: { start_timestamp: start, end_timestamp: end } }, { enabled });
  if (data === undefined) return undefined;
  const since = (days: number): string => dateOf(end - days * DAY_S + 1);
  return {
    today: sumOf(data.by_day, since(1)),
    week: sumOf(data.by_day, since(WEEK_DAYS)),
    month: sumOf(data.by_day, since(30)),
  };
}

function sumOf(days: UsageStatistics['by_day'], since: string): Spent {
  let [quota, requests] = [0, 0];
  for (const day of days) {
    if (day.date < since) continue;
    quota += day.quota;
    requests += day.requests + day.errors;
  }
  return { quota, requests };
}

/** How many days the balance lasts at the rate of the last week; undefined without spending. */
export function daysLeft(units: number, costs: Costs | undefined): number | undefined {
  if (costs === undefined || costs.week.quota <= 0) return undefined;
  return units / (costs.week.quota / WEEK_DAYS);
}
