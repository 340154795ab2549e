/** Usage by day or hour, grouped. */
import { Departments } from '../../../../core/contracts/departments.ts';
import type { Records, UsageDimension, UsageFilter, UsageSum } from '../../../../core/contracts/records.ts';
import type { Host } from '../../../../core/plugin.ts';
import { integer, record, text } from '../../format/schemas.ts';
import { DAY_MS, perUnitOf, secondsOf } from '../../format/units.ts';
import { createNames, type Names } from '../people/names.ts';
import { dearest, shownSums, sumProperties } from './usage-sums.ts';

/** The dimension to group by. */
export interface TrendQuery {
  readonly granularity: 'day' | 'hour';
  readonly group_by: Grouping;
  /** The maximum number of groups, highest cost first. */
  readonly top: number;
}

/** Groups per response: of all users, and of one, who has fewer to tell apart. */
const MOST_GROUPS = 10_000;
const MOST_OWN_GROUPS = 2_000;
/** Items per trend; long periods have fewer groups. */
const MOST_ITEMS = 20_000;

const HOUR_MS = 3_600_000;

const DIMENSIONS = {
  department: 'department',
  member: 'account',
  account: 'account',
  model: 'model',
  key: 'key',
  channel: 'channel',
  tag: 'tag',
} as const satisfies Record<string, UsageDimension>;

/** Dimensions; `none`: not grouped. */
export type Grouping = keyof typeof DIMENSIONS | 'none';

export const granularities = ['day', 'hour'] as const;
export const teamGroupings = ['department', 'member', 'model', 'key'] as const;
export const ownGroupings = ['none', 'model', 'key', 'tag'] as const;
export const groupings = ['none', 'account', 'key', 'model', 'department', 'channel', 'tag'] as const;

/** The groups with the highest cost by day or hour, and the rest combined; oldest first, then by cost. */
export async function usageTrend(host: Host, records: Records, filter: UsageFilter, query: TrendQuery) {
  const { granularity, group_by: by, top } = query;
  const perUnit = perUnitOf(host);
  const rowOf = ({
    sum,
    ...group
  }: {
    readonly sum: UsageSum;
    readonly group: string | null;
    readonly name: string;
  }) => ({
    ...momentOf(sum.timeMs, granularity),
    ...group,
    ...shownSums([sum], perUnit),
  });
  if (by === 'none') {
    const sums = [...(await records.sums(filter, [granularity]))].sort((a, b) => a.timeMs - b.timeMs);
    return sums.map((sum) => rowOf({ sum, group: '', name: '' }));
  }
  const dimension = DIMENSIONS[by];
  const most = Math.max(1, Math.min(top, Math.floor(MOST_ITEMS / stepsIn(filter, granularity))));
  const groups = await records.sums(filter, [dimension], most + 1);
  const largest = dearest(groups, most);
  const isCut = groups.length > most;
  const sums = await records.sums(
    isCut ? { ...filter, ...only(by, largest) } : filter,
    [granularity, dimension],
    MOST_ITEMS,
  );
  // Calls with several tags count for each, and others for none: the rest is not what is left of all calls.
  const others = !isCut
    ? []
    : by === 'tag'
      ? await records.sums({ ...filter, otherTags: largest.map(({ tag }) => tag) }, [granularity])
      : rest(await records.sums(filter, [granularity]), sums);
  const names = createNames(host);
  const named = await Promise.all(
    dearest(sums, sums.length).map(async (sum) => ({ sum, ...(await groupOf(sum, by, host, names)) })),
  );
  return [...named, ...others.map((sum) => ({ sum, group: null, name: 'others' }))]
    .sort((a, b) => a.sum.timeMs - b.sum.timeMs)
    .map(rowOf);
}

/** The days or hours of a filter. */
function stepsIn({ fromMs = 0, untilMs = 0 }: UsageFilter, granularity: TrendQuery['granularity']): number {
  return Math.max(1, Math.ceil((untilMs - fromMs) / (granularity === 'day' ? DAY_MS : HOUR_MS)));
}

/** The groups with the highest cost, each with its sum. */
export async function usageSums(host: Host, records: Records, filter: UsageFilter, by: TrendQuery['group_by']) {
  if (by === 'none') return [];
  const perUnit = perUnitOf(host);
  const names = createNames(host);
  const most = filter.accounts?.length === 1 ? MOST_OWN_GROUPS : MOST_GROUPS;
  const sums = dearest(await records.sums(filter, [DIMENSIONS[by]], most), most);
  return Promise.all(
    sums.map(async (sum) => ({ ...(await groupOf(sum, by, host, names)), ...shownSums([sum], perUnit) })),
  );
}

/** The filter for these groups only. */
function only(by: keyof typeof DIMENSIONS, groups: readonly UsageSum[]): UsageFilter {
  switch (by) {
    case 'department':
      return { departments: groups.map(({ departmentId }) => departmentId) };
    case 'member':
    case 'account':
      return { accounts: groups.map(({ accountId }) => accountId) };
    case 'key':
      return { keys: groups.map(({ keyId }) => keyId) };
    case 'model':
      return { models: groups.map(({ model }) => model) };
    case 'channel':
      return { channels: groups.map(({ channel }) => channel) };
    case 'tag':
      return { tags: groups.map(({ tag }) => tag) };
  }
}

/** Sums by time, less those of some groups. */
function rest(all: readonly UsageSum[], without: readonly UsageSum[]): readonly UsageSum[] {
  const left = new Map(all.map((sum) => [sum.timeMs, sum]));
  for (const { timeMs, calls, errors, charged, included, input, output } of without) {
    const sum = left.get(timeMs);
    if (sum === undefined) continue;
    left.set(timeMs, {
      ...sum,
      calls: sum.calls - calls,
      errors: sum.errors - errors,
      charged: sum.charged - charged,
      included: sum.included - included,
      input: sum.input - input,
      output: sum.output - output,
    });
  }
  return [...left.values()].filter(({ calls, errors }) => calls > 0 || errors > 0);
}

async function groupOf(sum: UsageSum, by: keyof typeof DIMENSIONS, host: Host, names: Names) {
  switch (by) {
    case 'department':
      return { group: `${sum.departmentId}`, name: host.find(Departments)?.get(sum.departmentId)?.name ?? '' };
    case 'member':
    case 'account':
      return { group: `${sum.accountId}`, name: (await names.person(sum.accountId))?.name ?? '' };
    case 'model':
      return { group: sum.model, name: sum.model };
    case 'channel':
      return { group: sum.channel, name: sum.channel };
    case 'tag':
      return { group: sum.tag, name: sum.tag };
    case 'key':
      return { group: `${sum.keyId}`, name: await names.key(sum.keyId) };
  }
}

function momentOf(timeMs: number, granularity: TrendQuery['granularity']) {
  const date = new Date(timeMs).toISOString();
  return { date: granularity === 'day' ? date.slice(0, 10) : date.replace('.000Z', 'Z'), timestamp: secondsOf(timeMs) };
}

/** The columns of a file before its sums. */
export const TREND_COLUMNS = ['date', 'timestamp', 'group', 'name'] as const;

export const trendItem = record('UsageTrendItem', {
  date: { ...text, description: '`2026-09-20`, or `2026-09-20T13:00:00Z`; UTC.' },
  timestamp: { ...integer, description: 'Start of the day or hour, Unix seconds.' },
  group: {
    type: ['string', 'null'],
    description: 'The id of the department, user or key, or the name of the model; null: the rest.',
  },
  name: text,
  ...sumProperties,
});

/** The sum of a group. */
export const groupItem = record('UsageGroup', {
  group: { ...text, description: 'The id of the department, user or key, or the name of the model or channel.' },
  name: text,
  ...sumProperties,
});
