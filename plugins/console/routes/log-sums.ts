/** Sums of the log, in total and by hour: the user's, and for administrators those of all users. */
import { Accounts, type Person } from '../../../core/contracts/accounts.ts';
import { type LogFilter, Records, type UsageDimension, type UsageSum } from '../../../core/contracts/records.ts';
import { errors } from '../errors.ts';
import {
  createLogSearch,
  everybodyProperties,
  logProperties,
  type TimesQuery,
  timeProperties,
  timesOf,
} from '../records/log-search.ts';
import { createNames } from '../records/names.ts';
import { dearest, shownSums, sumProperties } from '../records/usage-sums.ts';
import { type ApiRoute, type ConsoleRequest, type Tools, tagged } from '../route.ts';
import { integer, list, listOf, number, queryOf, text } from '../schemas.ts';
import { personWith } from '../subordinate.ts';
import { dateOf, perUnitOf, quotaNumber, secondsOf } from '../units.ts';

const route = tagged('Logs');
/** The longest period by hour, in days. */
const MOST_DAYS = 31;
const DAY_S = 86_400;
/** Models, and keys, per response. */
const GROUPS = 100;

const mostOf = `The ${GROUPS} with the highest cost.`;
const statSchema = {
  title: 'UsageStatistics',
  type: 'object',
  required: ['rpm', 'tpm', ...Object.keys(sumProperties), 'by_day', 'by_model', 'by_key'],
  properties: {
    ...sumProperties,
    rpm: {
      ...integer,
      description: 'Calls that began within the last 60 seconds and have ended, whatever the period.',
    },
    tpm: { ...integer, description: 'The tokens of these calls.' },
    by_day: { ...list({ date: { ...text, description: 'UTC.' }, ...sumProperties }), description: 'Oldest first.' },
    by_model: { ...list({ model_name: text, ...sumProperties }), description: mostOf },
    by_key: { ...list({ token_id: integer, token_name: text, ...sumProperties }), description: mostOf },
  },
} as const;
const dataSchema = listOf('HourlyUsage', {
  user_id: { ...integer, description: '0: all users.' },
  username: text,
  model_name: text,
  created_at: { ...integer, description: 'Start of the hour, Unix seconds.' },
  token_used: integer,
  count: integer,
  quota: { ...number, description: 'Quota units, with a fraction if there is one.' },
});

const { type: _, outcome: __, request_id: ___, ...sumFilters } = logProperties;
const everybodyFilters = { ...sumFilters, username: everybodyProperties.username };

export function logSumRoutes({ host, need }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);
  const search = createLogSearch(host);

  const toItems = (sums: readonly UsageSum[]) => shownSums(sums, perUnitOf(host));

  const personOf = ({ account }: ConsoleRequest): Promise<Person> => personWith(host, account.id);

  async function stat(filter: LogFilter | undefined) {
    if (filter === undefined) return { ...toItems([]), rpm: 0, tpm: 0, by_day: [], by_model: [], by_key: [] };
    const records = need(Records);
    const names = createNames(host);
    const by = async (dimension: UsageDimension) => records.sums(filter, [dimension]);
    // One after the other, so that queries of others do not wait for all of them.
    const days = await by('day');
    const models = await by('model');
    const keys = await by('key');
    const { calls, tokens } = await records.rate(filter);
    return {
      ...toItems(days),
      rpm: calls,
      tpm: tokens,
      by_day: [...days]
        .sort((a, b) => a.timeMs - b.timeMs)
        .map((sum) => ({ date: dateOf(sum.timeMs), ...toItems([sum]) })),
      by_model: dearest(models, GROUPS).map((sum) => ({ model_name: sum.model, ...toItems([sum]) })),
      by_key: await Promise.all(
        dearest(keys, GROUPS).map(async (sum) => ({
          token_id: sum.keyId,
          token_name: await names.key(sum.keyId),
          ...toItems([sum]),
        })),
      ),
    };
  }

  /** Every hour of a period, by model. */
  async function hours(query: TimesQuery, of: Person | undefined) {
    const end = query.end_timestamp || secondsOf(host.clock.now());
    const start = query.start_timestamp || end - 7 * DAY_S;
    if (end - start > MOST_DAYS * DAY_S) {
      throw errors.range_too_long(MOST_DAYS).with({ param: 'start_timestamp' });
    }
    const times = timesOf({ start_timestamp: start, end_timestamp: end });
    const filter = { ...times, ...(of !== undefined && { accounts: [of.id] }) };
    const rows = await need(Records).sums(filter, ['hour', 'model']);
    return rows
      .filter(({ calls }) => calls > 0)
      .sort((a, b) => a.timeMs - b.timeMs || (a.model < b.model ? -1 : 1))
      .map(({ timeMs, model, calls, charged, input, output }) => ({
        user_id: of?.id ?? 0,
        username: of?.name ?? '',
        model_name: model,
        created_at: secondsOf(timeMs),
        token_used: input + output,
        count: calls,
        quota: quotaNumber(charged),
      }));
  }

  return [
    route('member', 'GET', '/api/log/self/stat', {
      errors: ['filter_too_wide'],
      summary: 'Returns the sums of your calls; calls whose lines are deleted are included.',
      search: queryOf(sumFilters),
      answer: statSchema,
      handle: async (request) => stat(await search.own(await personOf(request), { ...request.query, type: 0 })),
    }),
    route('admin', 'GET', '/api/log/stat', {
      errors: ['filter_too_wide'],
      summary: 'Returns the sums of the calls of all users.',
      search: queryOf(everybodyFilters),
      answer: statSchema,
      handle: async ({ query }) => stat(await search.everybody({ ...query, type: 0 })),
    }),
    route('member', 'GET', '/api/data/self', {
      errors: ['range_too_long'],
      summary: `Returns the sums of your calls by hour and model; at most ${MOST_DAYS} days, by default the last seven.`,
      search: queryOf(timeProperties),
      answer: dataSchema,
      handle: async (request) => hours(request.query, await personOf(request)),
    }),
    route('admin', 'GET', '/api/data/', {
      summary: 'Returns the sums by hour and model of the calls of one user, or of all.',
      search: queryOf({
        ...timeProperties,
        username: everybodyProperties.username,
      }),
      answer: dataSchema,
      async handle({ query }) {
        const { username } = query;
        if (username === undefined) return hours(query, undefined);
        const account = await accounts.findByName(username);
        const person = account && (await accounts.person(account.id));
        return person === undefined ? [] : hours(query, person);
      },
    }),
  ];
}
