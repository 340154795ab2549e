/** What was used by day or hour, and by whom or of what. */
import { Departments } from '../../../core/contracts/departments.ts';
import type { Records, UsageDimension, UsageFilter, UsageSum } from '../../../core/contracts/records.ts';
import type { Host } from '../../../core/plugin.ts';
import { integer, named, object, text } from '../schemas.ts';
import { perUnitOf, secondsOf } from '../units.ts';
import { createNames, type Names } from './names.ts';
import { dearest, shownSums, sumProperties } from './usage-sums.ts';

/** By what it is told apart. */
export interface TrendAsked {
  readonly granularity: 'day' | 'hour';
  readonly group_by: Grouping;
  /** So many groups are told, those that cost most. */
  readonly top: number;
}

/** Groups of one answer. */
const MOST_GROUPS = 10_000;

const DIMENSIONS = {
  department: 'department',
  member: 'account',
  account: 'account',
  model: 'model',
  key: 'key',
  channel: 'channel',
} as const satisfies Record<string, UsageDimension>;

/** What usage is told apart by; `none`: it is not. */
export type Grouping = keyof typeof DIMENSIONS | 'none';

/** Their schemas. */
export const granularities = ['day', 'hour'] as const;
export const teamGroupings = ['department', 'member', 'model', 'key'] as const;
export const ownGroupings = ['none', 'model', 'key'] as const;
export const groupings = ['none', 'account', 'key', 'model', 'department', 'channel'] as const;

/** The dearest groups by day or hour, and all others as one; the oldest first, and of one time the dearest. */
export async function usageTrend(host: Host, records: Records, filter: UsageFilter, asked: TrendAsked) {
  const { granularity, group_by: by, top } = asked;
  const perUnit = perUnitOf(host);
  if (by === 'none') {
    const sums = [...(await records.sums(filter, [granularity]))].sort((a, b) => a.timeMs - b.timeMs);
    return sums.map((sum) => ({
      ...momentOf(sum.timeMs, granularity),
      group: '',
      name: '',
      ...shownSums([sum], perUnit),
    }));
  }
  const dimension = DIMENSIONS[by];
  const groups = await records.sums(filter, [dimension]);
  const shown = dearest(groups, top);
  const kept = new Set(shown.map(nameOf));
  const own = groups.length > top ? { ...filter, ...only(by, shown) } : filter;
  const sums = (await records.sums(own, [granularity, dimension])).filter((sum) => kept.has(nameOf(sum)));
  const others = groups.length > top ? rest(await records.sums(filter, [granularity]), sums) : [];
  const names = createNames(host);
  const named = await Promise.all(
    dearest(sums, sums.length).map(async (sum) => ({ sum, ...(await groupOf(sum, by, host, names)) })),
  );
  return [...named, ...others.map((sum) => ({ sum, group: null, name: 'others' }))]
    .sort((a, b) => a.sum.timeMs - b.sum.timeMs)
    .map(({ sum, group, name }) => ({
      ...momentOf(sum.timeMs, granularity),
      group,
      name,
      ...shownSums([sum], perUnit),
    }));
}

/** What tells groups apart. */
const nameOf = ({ accountId, keyId, model, channel, departmentId }: UsageSum): string =>
  JSON.stringify([accountId, keyId, departmentId, channel, model]);

/** The dearest groups of a filter, each added up. */
export async function usageSums(host: Host, records: Records, filter: UsageFilter, by: TrendAsked['group_by']) {
  if (by === 'none') return [];
  const perUnit = perUnitOf(host);
  const names = createNames(host);
  const sums = dearest(await records.sums(filter, [DIMENSIONS[by]]), MOST_GROUPS);
  return Promise.all(
    sums.map(async (sum) => ({ ...(await groupOf(sum, by, host, names)), ...shownSums([sum], perUnit) })),
  );
}

/** What a filter has to say so that only these groups are left; of models and channels there are few enough. */
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
    case 'channel':
      return {};
  }
}

/** What is left of sums by time without some of them. */
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
    case 'key':
      return { group: `${sum.keyId}`, name: await names.key(sum.keyId) };
  }
}

function momentOf(timeMs: number, granularity: TrendAsked['granularity']) {
  const date = new Date(timeMs).toISOString();
  return { date: granularity === 'day' ? date.slice(0, 10) : date.replace('.000Z', 'Z'), timestamp: secondsOf(timeMs) };
}

/** The columns of a file that stand before its sums. */
export const TREND_COLUMNS = ['date', 'timestamp', 'group', 'name'] as const;

/** A row. */
export const trendItem = named(
  'UsageTrendItem',
  object({
    date: { ...text, description: '`2026-09-20`, or `2026-09-20T13:00:00Z`; UTC.' },
    timestamp: { ...integer, description: 'When it begins, unix seconds.' },
    group: {
      type: ['string', 'null'],
      description: 'The id of the department, member or key, or the model; null: all others.',
    },
    name: text,
    ...sumProperties,
  }),
);

/** The sum of a group. */
export const groupItem = named(
  'UsageGroup',
  object({
    group: { ...text, description: 'The id of the department, account or key; or the model, or the channel.' },
    name: text,
    ...sumProperties,
  }),
);
