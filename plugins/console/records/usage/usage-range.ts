/** Usage queries: period and filters, and the response as JSON or as a file. */

import { type Department, Departments } from '../../../../core/contracts/departments.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import type { UsageFilter } from '../../../../core/contracts/records.ts';
import { type Answer, type Clock, refuse } from '../../../../core/plugin.ts';
import { refuseUnknown } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { reportFile } from '../../format/csv.ts';
import { idNumber, integer, type Members, text } from '../../format/schemas.ts';
import { perUnitOf, secondsOf } from '../../format/units.ts';
import type { Tools } from '../../tools.ts';
import { type TimesQuery, timeProperties } from './log-search.ts';
import { SUM_COLUMNS, SUM_COLUMNS_NOTE, type shownSums, sumCells } from './usage-sums.ts';
import { granularities } from './usage-trend.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** The maximum length of a period in days: by hour, and otherwise. */
const MOST_DAYS = { hour: 31, day: 366 };

export const usageProperties = {
  start_timestamp: {
    ...timeProperties.start_timestamp,
    description: `Start (its hour), Unix seconds, not after the end and at most ${MOST_DAYS.day} days before it, by hour ${MOST_DAYS.hour}; default: 30 days before the end.`,
  },
  end_timestamp: {
    ...timeProperties.end_timestamp,
    description: 'End (inclusive, its whole hour), Unix seconds; default: now.',
  },
  department_id: { ...idNumber, description: 'Members of this department and of those below it.' },
  user_id: { ...idNumber, description: 'Calls of this user; also a deleted one.' },
  token_id: { ...idNumber, description: 'Calls with this key.' },
  model: { ...text, maxLength: 256 },
  channel: { ...text, maxLength: 256, description: 'Calls that this channel served, or failed.' },
  tag: { ...text, maxLength: 64, description: 'Calls with this tag. Whole days (UTC) count then.' },
  format: {
    description: `csv: a file, which ends with the sums and a description. Requires a verification (POST /api/verify). ${SUM_COLUMNS_NOTE}`,
    enum: ['json', 'csv'],
    default: 'json',
  },
} as const;

/** The parameters of a query. */
export type UsageQuery = Members<typeof usageProperties>;

/** Parameters that only some queries have. */
export const granularityProperty = {
  description: 'Hours are not available for days older than the retention of records (`log.keep`).',
  enum: granularities,
  default: 'day',
} as const;
export const topProperty = {
  ...integer,
  minimum: 1,
  maximum: 500,
  default: 20,
  description:
    'The number of groups, highest cost first; the rest is combined. Long periods have fewer: at most 20,000 items.',
} as const;

/** The refusals of filters. */
const FILTERED = ['account_not_found', 'key_not_found', 'department_not_found'];
/** The refusals of the usage of others. */
export const USAGE_ERRORS = ['invalid_range', 'range_too_long', 'verification_required', ...FILTERED];

/** The members that begin every response. */
export const rangeProperties = { start_timestamp: integer, end_timestamp: integer } as const;

/** The requested hours, as Unix seconds. Refuses (400) a period that is too long. */
export function rangeOf(
  clock: Clock,
  { start_timestamp, end_timestamp }: TimesQuery,
  granularity: 'day' | 'hour' = 'day',
): Required<TimesQuery> {
  const end = end_timestamp || secondsOf(clock.now());
  const start = start_timestamp || end - 30 * DAY_S;
  const param = 'start_timestamp';
  if (start > end) throw errors.invalid_range().with({ param });
  if (end - start > MOST_DAYS[granularity] * DAY_S) {
    throw errors.range_too_long(MOST_DAYS[granularity]).with({ param });
  }
  return {
    start_timestamp: Math.floor(start / HOUR_S) * HOUR_S,
    end_timestamp: Math.floor(end / HOUR_S) * HOUR_S + HOUR_S,
  };
}

/**
 * The filter of a query within `base`: the own usage, or that of all. Of all, unknown users, keys and departments are refused (404); among the own
 * usage, a key of another user looks like one that there never was.
 */
export async function usageFilter(
  tools: Tools,
  query: UsageQuery,
  { start_timestamp, end_timestamp }: Required<TimesQuery>,
  base: UsageFilter = {},
): Promise<UsageFilter> {
  if (base.accounts === undefined) await refuseUnknown(tools.host, query);
  const { department_id: id, user_id, token_id, model, channel, tag } = query;
  return {
    fromMs: start_timestamp * 1_000,
    untilMs: end_timestamp * 1_000,
    ...(id !== undefined && { departments: branchOf(tools, id).map((department) => department.id) }),
    ...(user_id !== undefined && { accounts: [user_id] }),
    ...(token_id !== undefined && { keys: [token_id] }),
    ...(model !== undefined && { model }),
    ...(channel !== undefined && { channel }),
    ...(tag !== undefined && { tag }),
    ...base,
  };
}

/** A department and all below it. Refuses (404) if there is none. */
export function branchOf({ need }: Tools, id: number): readonly Department[] {
  const departments = need(Departments);
  const top = departments.get(id) ?? refuse(coreErrors.department_not_found(id).with({ param: 'department_id' }));
  return [top, ...departments.below(id)];
}

/** A row of a response that can be a file. */
export type UsageRow = Readonly<Record<string, string | number | null>>;

/** A row with sums in a file: its own columns, then the sums. */
export type SummedRow = UsageRow & ReturnType<typeof shownSums>;

/** The description in a usage file. */
export interface FileFacts {
  readonly name: string;
  readonly times: Required<TimesQuery>;
  readonly query: UsageQuery;
}

/** Rows with sums as a file; `total`: their sum. */
export function sumsFile(
  tools: Tools,
  facts: FileFacts,
  columns: readonly string[],
  rows: readonly SummedRow[],
  total: ReturnType<typeof shownSums>,
): Answer {
  return reportFile({
    name: facts.name,
    head: [...columns, ...SUM_COLUMNS],
    rows: rows.map((row) => [...columns.map((column) => row[column] ?? ''), ...Object.values(sumCells(row))]),
    total: ['total', ...columns.slice(1).map(() => ''), ...Object.values(sumCells(total))],
    about: factsOf(tools, facts),
  });
}

/** Other rows as a file. */
export function usageFile(
  tools: Tools,
  facts: FileFacts,
  columns: readonly string[],
  rows: readonly UsageRow[],
): Answer {
  return reportFile({
    name: facts.name,
    head: columns,
    rows: rows.map((row) => columns.map((column) => row[column] ?? '')),
    total: undefined,
    about: factsOf(tools, facts),
  });
}

/** The filters of a query in a file. */
const FILTERS = ['department_id', 'user_id', 'token_id', 'model', 'channel', 'tag'] as const;

function factsOf({ host }: Tools, { times, query }: FileFacts): readonly (readonly (string | number)[])[] {
  const department = query.department_id && host.find(Departments)?.get(query.department_id)?.name;
  return [
    ['period (UTC)', ...[times.start_timestamp, times.end_timestamp].map(timeText)],
    ...FILTERS.flatMap((name) => {
      const value = query[name];
      if (value === undefined) return [];
      return [[`filter ${name}`, value, ...(name === 'department_id' && department ? [department] : [])]];
    }),
    unitLine(host),
  ];
}

/** A time in a file. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** The units of a file. */
export function unitLine(host: Tools['host']): readonly (string | number)[] {
  return ['unit', `quota: ${perUnitOf(host)} are one currency unit; cost: currency units`];
}
