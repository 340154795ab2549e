/** The last calls of the account; its cost of today, 7 and 30 days, which are UTC days of the ledger. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { LogLine, UsageStatistics } from '../../api/operations.ts';
import { dateOf, rangeFrom, type TimeRange } from '../../parts/range.ts';

/** A usage record. */
export type Line = LogLine;

const SHOWN = 10;
const EVERY_MS = 3_000;
/** The record kinds of calls. */
const SERVED = 2;
const REFUSED = 5;

/** The loaded data about the calls. */
export interface Calls {
  /** Undefined while loading. */
  readonly landed: boolean | undefined;
  /** The first call, if it arrived while the page was open. */
  readonly first: Line | undefined;
  /** The latest refused call, if none was served yet. */
  readonly refused: Line | undefined;
  /** Newest first; undefined while loading. */
  readonly latest: readonly Line[] | undefined;
  readonly error: unknown;
  readAgain(): void;
}

/** Loads the calls. */
export function useCalls(): Calls {
  const queries = useQueryClient();
  const served = useLines(SERVED, undefined);
  const landed = served.data && served.data.total > 0;
  const refused = useLines(REFUSED, landed);
  const [first, setFirst] = useState<Line>();
  const waited = useRef(false);
  const newest = served.data?.items[0];
  useEffect(() => {
    if (landed === false) waited.current = true;
    if (landed !== true || !waited.current) return;
    waited.current = false;
    setFirst(newest);
    // Other data on the page has changed as well.
    for (const operation of [
      'GET /api/user/self',
      'GET /api/log/self/stat',
      'GET /api/usage/self/trend',
      'GET /api/token/',
    ]) {
      void queries.invalidateQueries({ queryKey: [operation] });
    }
  }, [landed, newest, queries]);
  const both = served.data && refused.data && [...served.data.items, ...refused.data.items];
  return {
    landed,
    first,
    refused: landed === false ? refused.data?.items[0] : undefined,
    latest: both?.sort((a, b) => b.id - a.id).slice(0, SHOWN),
    error: served.error ?? refused.error,
    readAgain() {
      void served.refetch();
      void refused.refetch();
    },
  };
}

/** Records of one kind. Not polled once there are calls. */
function useLines(type: number, landed: boolean | undefined) {
  return useApi(
    'GET /api/log/self',
    { search: { type, page_size: SHOWN } },
    {
      refetchOnWindowFocus: false,
      refetchInterval: ({ state }) =>
        landed === true || (type === SERVED && (state.data?.total ?? 1) > 0) ? false : EVERY_MS,
    },
  );
}

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
  /** The same day of the last week, as a whole. */
  readonly weekAgo: Spent;
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
    weekAgo: sumOf(
      data.by_day.filter(({ date }) => date === since(WEEK_DAYS + 1)),
      '',
    ),
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
