/** What calls came to, for charts and tables: one's own, and everybody's for administrators; and what each of one's keys does. */
import { Keys } from '../../../core/contracts/keys.ts';
import { Records, type UsageFilter } from '../../../core/contracts/records.ts';
import { schema } from '../../../core/plugin.ts';
import {
  granularityProperty,
  rangeOf,
  rangeProperties,
  sumsFile,
  topProperty,
  type UsageAsked,
  usageFilter,
  usageProperties,
} from '../records/usage-range.ts';
import { shownSums, sumsSchema } from '../records/usage-sums.ts';
import {
  type Grouping,
  granularities,
  groupItem,
  groupings,
  ownGroupings,
  TREND_COLUMNS,
  type TrendAsked,
  trendItem,
  usageSums,
  usageTrend,
} from '../records/usage-trend.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { integer, listOf, number, object, text } from '../schemas.ts';
import { perUnitOf, quotaNumber, secondsOf } from '../units.ts';

const TAG = 'Usage';
const DAY_MS = 86_400_000;

interface SumsAsked extends UsageAsked {
  readonly group_by: Grouping;
}
interface KeysAsked {
  readonly days: number;
  readonly token_id?: string;
}

const { department_id: _, user_id: __, channel: ___, ...ownProperties } = usageProperties;
const own = { ...ownProperties, format: { ...ownProperties.format, description: 'csv: a file.' } };
const trendOnly = { granularity: granularityProperty, top: topProperty };

const trendAnswer = (by: readonly string[]) =>
  object({
    ...rangeProperties,
    granularity: { enum: granularities },
    group_by: { enum: by },
    items: {
      type: 'array',
      items: trendItem,
      description: 'The oldest first; times without any calls, and groups without any then, are left out.',
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
      description: 'Those that cost most come first; none with `group_by=none`.',
    },
  });
const perDay = (description: string, items = integer as { readonly type: string }) => ({
  type: 'array',
  items,
  description,
});

/** The rows. */
export function usageRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, verification, need } = tools;

  async function trend(asked: UsageAsked & TrendAsked, whose: UsageFilter) {
    const { granularity, group_by } = asked;
    const times = rangeOf(host.clock, asked, granularity);
    const filter = { ...usageFilter(tools, asked, times), ...whose };
    const items = await usageTrend(host, need(Records), filter, asked);
    if (asked.format === 'csv') {
      const total = shownSums(await need(Records).sums(filter, []), perUnitOf(host));
      return sumsFile(tools, { name: 'usage-trend', times, asked }, TREND_COLUMNS, items, total);
    }
    return { ...times, granularity, group_by, items };
  }

  async function sums(asked: SumsAsked, whose: UsageFilter) {
    const times = rangeOf(host.clock, asked);
    const filter = { ...usageFilter(tools, asked, times), ...whose };
    const items = await usageSums(host, need(Records), filter, asked.group_by);
    const total = shownSums(await need(Records).sums(filter, []), perUnitOf(host));
    if (asked.format === 'csv') {
      return sumsFile(tools, { name: 'usage', times, asked }, ['group', 'name'], items, total);
    }
    return { ...times, group_by: asked.group_by, total, items };
  }

  return [
    route({
      method: 'GET',
      path: '/api/usage/self/trend',
      who: 'member',
      errors: ['invalid_range', 'range_too_long'],
      summary: 'What the own calls came to on every day, or in every hour, by model or key.',
      tag: TAG,
      search: schema<UsageAsked & TrendAsked>({
        type: 'object',
        properties: { ...own, ...trendOnly, group_by: { enum: ownGroupings, default: 'model' } },
      }),
      answer: trendAnswer(ownGroupings),
      handle: ({ account, asked }) => trend(asked, { accounts: [account.id] }),
    }),
    route({
      method: 'GET',
      path: '/api/usage/self/sums',
      who: 'member',
      errors: ['invalid_range', 'range_too_long'],
      summary: 'What the own calls came to, by model or key.',
      tag: TAG,
      search: schema<SumsAsked>({
        type: 'object',
        properties: { ...own, group_by: { enum: ownGroupings, default: 'model' } },
      }),
      answer: sumsAnswer(ownGroupings),
      handle: ({ account, asked }) => sums(asked, { accounts: [account.id] }),
    }),
    route({
      method: 'GET',
      path: '/api/usage/trend',
      who: 'admin',
      errors: ['invalid_range', 'range_too_long', 'department_not_found', 'verification_required'],
      summary: "What everybody's calls came to on every day, or in every hour, by whom or of what.",
      tag: TAG,
      search: schema<UsageAsked & TrendAsked>({
        type: 'object',
        properties: { ...usageProperties, ...trendOnly, group_by: { enum: groupings, default: 'model' } },
      }),
      answer: trendAnswer(groupings),
      handle(request) {
        const { asked } = request;
        if (asked.format === 'csv') verification.demand(request);
        return trend(asked, {});
      },
    }),
    route({
      method: 'GET',
      path: '/api/usage/sums',
      who: 'admin',
      errors: ['invalid_range', 'range_too_long', 'department_not_found', 'verification_required'],
      summary: "What everybody's calls came to, by whom or of what.",
      tag: TAG,
      search: schema<SumsAsked>({
        type: 'object',
        properties: { ...usageProperties, group_by: { enum: groupings, default: 'account' } },
      }),
      answer: sumsAnswer(groupings),
      handle(request) {
        const { asked } = request;
        if (asked.format === 'csv') verification.demand(request);
        return sums(asked, {});
      },
    }),
    route({
      method: 'GET',
      path: '/api/token/usage',
      who: 'member',
      summary: 'What each of the own keys did on each of the last days (UTC), today with them.',
      tag: TAG,
      search: schema<KeysAsked>({
        type: 'object',
        properties: {
          days: { ...integer, minimum: 1, maximum: 90, default: 14 },
          token_id: {
            ...text,
            pattern: '^[1-9][0-9]{0,14}(,[1-9][0-9]{0,14}){0,99}$',
            description: 'Of these keys only: one, or up to a hundred with commas between them.',
          },
        },
      }),
      answer: object({
        dates: { type: 'array', items: text, description: 'The days that the lists are of, the oldest first.' },
        items: listOf('KeyUsage', {
          token_id: integer,
          name: text,
          quota: perDay('Quota units, with a fraction if there is one.', number),
          calls: perDay('Calls that were served, or cost something.'),
          errors: perDay('Calls that were refused or failed, and cost nothing.'),
          last_used_at: { type: ['integer', 'null'], description: 'To the minute, unix seconds; null: never.' },
        }),
      }),
      async handle({ account, asked: { days, token_id } }) {
        const wanted = token_id === undefined ? undefined : new Set(token_id.split(',').map(Number));
        const keys = (await host.use(Keys).list(account.id)).filter(({ id }) => wanted?.has(id) !== false);
        const today = Math.floor(host.clock.now() / DAY_MS) * DAY_MS;
        const times = Array.from({ length: days }, (_, i) => today - (days - 1 - i) * DAY_MS);
        const filter = {
          accounts: [account.id],
          fromMs: times[0]!,
          ...(wanted !== undefined && { keys: [...wanted] }),
        };
        const found = new Map(
          (await need(Records).sums(filter, ['day', 'key'])).map((sum) => [`${sum.keyId} ${sum.timeMs}`, sum]),
        );
        return {
          dates: times.map((ms) => new Date(ms).toISOString().slice(0, 10)),
          items: keys.map(({ id, name, usedMs }) => {
            const sums = times.map((ms) => found.get(`${id} ${ms}`));
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
