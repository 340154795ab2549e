/** Which usage a query asks for: from when to when, and of whom; and how that is answered, as JSON or as a file. */
import { type Department, Departments } from '../../../core/contracts/departments.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import type { UsageFilter } from '../../../core/contracts/records.ts';
import { type Answer, type Clock, refuse } from '../../../core/plugin.ts';
import { reportFile } from '../csv.ts';
import { errors } from '../errors.ts';
import type { Tools } from '../route.ts';
import { idNumber, integer, text } from '../schemas.ts';
import { perUnitOf, secondsOf } from '../units.ts';
import { type TimesAsked, timeProperties } from './log-search.ts';
import { SUM_COLUMNS, type shownSums, sumCells } from './usage-sums.ts';
import { granularities } from './usage-trend.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** The longest ranges, in days: of which every hour is told, and all others. */
const MOST_DAYS = { hour: 31, day: 366 };

/** What a query may say. */
export interface UsageAsked extends TimesAsked {
  readonly department_id?: number;
  readonly user_id?: number;
  readonly token_id?: number;
  readonly model?: string;
  readonly channel?: string;
  readonly format: 'json' | 'csv';
}

/** The members of its schema. */
export const usageProperties = {
  start_timestamp: {
    ...timeProperties.start_timestamp,
    description: 'From the hour of then, unix seconds; else 30 days before the end.',
  },
  end_timestamp: {
    ...timeProperties.end_timestamp,
    description: 'Up to the end of the hour of then, unix seconds; else now.',
  },
  department_id: { ...idNumber, description: 'People of it, and of those below it.' },
  user_id: idNumber,
  token_id: { ...idNumber, description: 'Calls with that key.' },
  model: { ...text, maxLength: 256 },
  channel: { ...text, maxLength: 256, description: 'Calls that it served, or failed at.' },
  format: {
    description: 'csv: a file. Needs a check (POST /api/verify).',
    enum: ['json', 'csv'],
    default: 'json',
  },
} as const;

/** Those that only some queries have. */
export const granularityProperty = {
  description: 'Of days that are older than records are kept (`log.keep`), hours are not known any more.',
  enum: granularities,
  default: 'day',
} as const;
export const topProperty = {
  ...integer,
  minimum: 1,
  maximum: 500,
  default: 20,
  description: 'So many groups, those that cost most; all others are one.',
} as const;

/** What every answer begins with. */
export const rangeProperties = { start_timestamp: integer, end_timestamp: integer } as const;

/** The hours that are asked for, as unix seconds. Refuses (400) what is too long for one answer. */
export function rangeOf(
  clock: Clock,
  { start_timestamp, end_timestamp }: TimesAsked,
  granularity: 'day' | 'hour' = 'day',
): Required<TimesAsked> {
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

/** The calls that are asked for. */
export function usageFilter(
  tools: Tools,
  asked: UsageAsked,
  { start_timestamp, end_timestamp }: Required<TimesAsked>,
): UsageFilter {
  const { department_id: id, user_id, token_id, model, channel } = asked;
  return {
    fromMs: start_timestamp * 1_000,
    untilMs: end_timestamp * 1_000,
    ...(id !== undefined && { departments: branchOf(tools, id).map((department) => department.id) }),
    ...(user_id !== undefined && { accounts: [user_id] }),
    ...(token_id !== undefined && { keys: [token_id] }),
    ...(model !== undefined && { model }),
    ...(channel !== undefined && { channel }),
  };
}

/** A department and all below it. Refuses (404) where there is none. */
export function branchOf({ need }: Tools, id: number): readonly Department[] {
  const departments = need(Departments);
  const top = departments.get(id) ?? refuse(coreErrors.department_not_found(id));
  return [top, ...departments.below(id)];
}

/** A line of an answer that can be a file. */
export type UsageRow = Readonly<Record<string, string | number | null>>;

/** A line with sums as it stands in a file: its own columns, then those of the sums. */
export type SummedRow = UsageRow & ReturnType<typeof shownSums>;

/** What a file of usage is of. */
export interface FileFacts {
  readonly name: string;
  readonly times: Required<TimesAsked>;
  readonly asked: UsageAsked;
}

/** Lines with sums as a file; `total`: what they add up to. */
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

/** Other lines as a file. */
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

/** Filters of a query, as a file names them. */
const FILTERS = ['department_id', 'user_id', 'token_id', 'model', 'channel'] as const;

function factsOf({ host }: Tools, { times, asked }: FileFacts): readonly (readonly (string | number)[])[] {
  const department = asked.department_id && host.find(Departments)?.get(asked.department_id)?.name;
  return [
    ['period (UTC)', ...[times.start_timestamp, times.end_timestamp].map(timeText)],
    ...FILTERS.flatMap((name) => {
      const value = asked[name];
      if (value === undefined) return [];
      return [[`filter ${name}`, value, ...(name === 'department_id' && department ? [department] : [])]];
    }),
    unitLine(host),
  ];
}

/** A second, as files say it. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** What the amounts of a file are in. */
export function unitLine(host: Tools['host']): readonly (string | number)[] {
  return ['unit', `quota: ${perUnitOf(host)} are one currency unit; cost: currency units`];
}
