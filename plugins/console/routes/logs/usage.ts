/** Usage for charts and tables: the user's, by key, and for administrators that of all users. */

import { Keys } from '../../../../core/contracts/keys.ts';
import { Records, type UsageFilter } from '../../../../core/contracts/records.ts';
import { integer, listOf, number, object, queryOf, text } from '../../format/schemas.ts';
import { DAY_MS, dateOf, perUnitOf, quotaNumber, secondsOf } from '../../format/units.ts';
import {
  granularityProperty,
  rangeOf,
  rangeProperties,
  sumsFile,
  topProperty,
  USAGE_ERRORS,
  type UsageQuery,
  usageFilter,
  usageProperties,
} from '../../records/usage/usage-range.ts';
import { SUM_COLUMNS_NOTE, shownSums, sumsSchema } from '../../records/usage/usage-sums.ts';
import {
  type Grouping,
  granularities,
  groupItem,
  groupings,
  ownGroupings,
  TREND_COLUMNS,
  type TrendQuery,
  trendItem,
  usageSums,
  usageTrend,
} from '../../records/usage/usage-trend.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Usage');

interface SumsQuery extends UsageQuery {
  readonly group_by: Grouping;
}

const { department_id: _, user_id: __, channel: ___, ...ownProperties } = usageProperties;
const own = {
  ...ownProperties,
  format: {
    ...ownProperties.format,
    description: `csv: a file, which ends with the sums and a description. ${SUM_COLUMNS_NOTE}`,
  },
};
const trendOnly = { granularity: granularityProperty, top: topProperty };

const trendAnswer = (by: readonly string[]) =>
  object({
    ...rangeProperties,
    granularity: { enum: granularities },
    group_by: { enum: by },
    items: {
      type: 'array',
      items: trendItem,
      description: 'Oldest first; times without calls, and groups without calls at a time, are left out.',
    },
  });
const sumsAnswer = (by: readonly string[]) =>
  object({
    ...rangeProperties,
    group_by: { enum: by },
    total: sumsSchema,
    items: {
      type: 'array',
      items: groupItem,
      description: 'Highest cost first; empty with `group_by=none`.',
    },
  });
const perDay = (description: string, items = integer as { readonly type: string }) => ({
  type: 'array',
  items,
  description,
});

export function usageRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, verification, need } = tools;

  async function trend(query: UsageQuery & TrendQuery, base: UsageFilter) {
    const { granularity, group_by } = query;
    const times = rangeOf(host.clock, query, granularity);
    const filter = await usageFilter(tools, query, times, base);
    const items = await usageTrend(host, need(Records), filter, query);
    if (query.format === 'csv') {
      const total = shownSums(await need(Records).sums(filter, []), perUnitOf(host));
      return sumsFile(tools, { name: 'usage-trend', times, query }, TREND_COLUMNS, items, total);
    }
    return { ...times, granularity, group_by, items };
  }

  async function sums(query: SumsQuery, base: UsageFilter) {
    const times = rangeOf(host.clock, query);
    const filter = await usageFilter(tools, query, times, base);
    const items = await usageSums(host, need(Records), filter, query.group_by);
    const total = shownSums(await need(Records).sums(filter, []), perUnitOf(host));
    if (query.format === 'csv') {
      return sumsFile(tools, { name: 'usage', times, query }, ['group', 'name'], items, total);
    }
    return { ...times, group_by: query.group_by, total, items };
  }

  /** The usage of all users; files require a verification. */
  const ofAll =
    <Q extends UsageQuery>(read: (query: Q, base: UsageFilter) => unknown) =>
    (request: ConsoleRequest<unknown, Q>) => {
      if (request.query.format === 'csv') verification.demand(request);
      return read(request.query, {});
    };

  return [
    route('member', 'GET', '/api/usage/self/trend', {
      errors: ['invalid_range', 'range_too_long'],
      summary: 'Returns your usage by day or hour, grouped by model, key or tag.',
      search: queryOf({
        ...own,
        ...trendOnly,
        group_by: { enum: ownGroupings, default: 'model' },
      }),
      answer: trendAnswer(ownGroupings),
      handle: ({ account, query }) => trend(query, { accounts: [account.id] }),
    }),
    route('member', 'GET', '/api/usage/self/sums', {
      errors: ['invalid_range', 'range_too_long'],
      summary: 'Returns your usage grouped by model, key or tag.',
      search: queryOf({ ...own, group_by: { enum: ownGroupings, default: 'model' } }),
      answer: sumsAnswer(ownGroupings),
      handle: ({ account, query }) => sums(query, { accounts: [account.id] }),
    }),
    route('admin', 'GET', '/api/usage/trend', {
      errors: USAGE_ERRORS,
      summary: 'Returns the usage of all users by day or hour, grouped.',
      search: queryOf({
        ...usageProperties,
        ...trendOnly,
        group_by: { enum: groupings, default: 'model' },
      }),
      answer: trendAnswer(groupings),
      handle: ofAll(trend),
    }),
    route('admin', 'GET', '/api/usage/sums', {
      errors: USAGE_ERRORS,
      summary: 'Returns the usage of all users, grouped.',
      search: queryOf({ ...usageProperties, group_by: { enum: groupings, default: 'account' } }),
      answer: sumsAnswer(groupings),
      handle: ofAll(sums),
    }),
    route('member', 'GET', '/api/token/usage', {
      summary: 'Returns the usage of each of your keys on each of the last days (UTC), today included.',
      search: queryOf({
        days: { ...integer, minimum: 1, maximum: 90, default: 14 },
        token_id: {
          ...text,
          pattern: '^[1-9][0-9]{0,14}(,[1-9][0-9]{0,14}){0,99}$',
          description: 'Only these keys: up to a hundred ids, separated by commas.',
        },
      }),
      answer: object({
        dates: { type: 'array', items: text, description: 'The days of the lists, oldest first.' },
        items: listOf('KeyUsage', {
          token_id: integer,
          name: text,
          quota: perDay('Quota units, with a fraction if there is one.', number),
          calls: perDay('Calls that were served, or cost something.'),
          errors: perDay('Calls that were refused or failed, and cost nothing.'),
          last_used_at: { type: ['integer', 'null'], description: 'To the minute, Unix seconds; null: never.' },
        }),
      }),
      async handle({ account, query: { days, token_id } }) {
        const ids = token_id === undefined ? undefined : new Set(token_id.split(',').map(Number));
        const keys = (await host.use(Keys).list(account.id)).filter(({ id }) => ids?.has(id) !== false);
        const today = Math.floor(host.clock.now() / DAY_MS) * DAY_MS;
        const times = Array.from({ length: days }, (_, i) => today - (days - 1 - i) * DAY_MS);
        const filter = {
          accounts: [account.id],
          fromMs: times[0]!,
          ...(ids !== undefined && { keys: [...ids] }),
        };
        const stats = new Map(
          (await need(Records).sums(filter, ['day', 'key'])).map((sum) => [`${sum.keyId} ${sum.timeMs}`, sum]),
        );
        return {
          dates: times.map((ms) => dateOf(ms)),
          items: keys.map(({ id, name, usedMs }) => {
            const sums = times.map((ms) => stats.get(`${id} ${ms}`));
            return {
              token_id: id,
              name,
              quota: sums.map((sum) => quotaNumber(sum?.charged ?? 0n)),
              calls: sums.map((sum) => sum?.calls ?? 0),
              errors: sums.map((sum) => sum?.errors ?? 0),
              last_used_at: usedMs === undefined ? null : secondsOf(usedMs),
            };
          }),
        };
      },
    }),
  ];
}
