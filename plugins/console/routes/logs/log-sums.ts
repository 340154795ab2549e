/** Sums of the log, in total and by hour: the user's, and for administrators those of all users. */

import { Accounts, type Person } from '../../../../core/contracts/accounts.ts';
import { type LogFilter, Records, type UsageDimension, type UsageSum } from '../../../../core/contracts/records.ts';
import { personWith, refuseUnknown } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { ignoredParameter, integer, list, listOf, number, queryOf, text } from '../../format/schemas.ts';
import { dateOf, perUnitOf, quotaNumber, secondsOf } from '../../format/units.ts';
import { createNames } from '../../records/people/names.ts';
import {
  createLogSearch,
  everybodyProperties,
  FILTER_ERRORS,
  logProperties,
  type TimesQuery,
  timeProperties,
  timesOf,
} from '../../records/usage/log-search.ts';
import { dearest, shownSums, sumProperties } from '../../records/usage/usage-sums.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Logs');
/** The longest period by hour, in days. */
const MOST_DAYS = 31;
const DAY_S = 86_400;
/** Models, and keys, per response. */
const GROUPS = 100;
/** Rows of an hour and a model per response, those with the highest cost. */
const MOST_ROWS = 20_000;

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

const { type, outcome: _, request_id: __, ...filters } = logProperties;
/** Older clients send the kind of lines, but only calls have sums, and the page of a list. */
const sumFilters = {
  ...filters,
  type: { ...type, description: 'Ignored: only calls are counted.', deprecated: true },
  p: ignoredParameter,
  page_size: ignoredParameter,
};
/** The unit of time that older clients select; it is always an hour. */
const unit = { default_time: { ...text, maxLength: 20, description: 'Ignored.', deprecated: true } } as const;
const everybodyFilters = {
  ...sumFilters,
  username: everybodyProperties.username,
  user_id: everybodyProperties.user_id,
};

/** Deleted users whose names have a part, of which one is looked for. */
const MOST_DELETED = 500;

function isNamed(person: Person, name: string): boolean {
  return person.name.toLowerCase() === name.toLowerCase();
}

export function logSumRoutes({ host, need }: Tools): readonly ApiRoute[] {
  const accounts = host.use(Accounts);
  const search = createLogSearch(host);

  const toItems = (sums: readonly UsageSum[]) => shownSums(sums, perUnitOf(host));

  const personOf = ({ account }: ConsoleRequest): Promise<Person> => personWith(host, account.id);

  async function stat(filter: LogFilter | undefined) {
    if (filter === undefined) return { ...toItems([]), rpm: 0, tpm: 0, by_day: [], by_model: [], by_key: [] };
    const records = need(Records);
    const names = createNames(host);
    const by = async (dimension: UsageDimension, most?: number) => records.sums(filter, [dimension], most);
    // One after the other, so that queries of others do not wait for all of them.
    const days = await by('day');
    const models = await by('model', GROUPS);
    const keys = await by('key', GROUPS);
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

  /** The user of this name, also a deleted one, whose name stays reserved. */
  async function personNamed(name: string): Promise<Person | undefined> {
    const account = await accounts.findByName(name);
    if (account !== undefined) return accounts.person(account.id);
    const { items } = await accounts.search({ text: name, deleted: true, offset: 0, limit: MOST_DELETED });
    return items.find((person) => isNamed(person, name));
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
    const rows = await need(Records).sums(filter, ['hour', 'model'], MOST_ROWS);
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
      errors: FILTER_ERRORS,
      summary: 'Returns the sums of the calls of all users.',
      search: queryOf(everybodyFilters),
      answer: statSchema,
      handle: async ({ query }) => stat(await search.everybody({ ...query, type: 0 })),
    }),
    route('member', 'GET', '/api/data/self', {
      errors: ['range_too_long'],
      summary: `Returns the sums of your calls by hour and model; at most ${MOST_DAYS} days, by default the last seven.`,
      search: queryOf({ ...timeProperties, ...unit }),
      answer: dataSchema,
      handle: async (request) => hours(request.query, await personOf(request)),
    }),
    route('admin', 'GET', '/api/data/', {
      errors: ['account_not_found', 'range_too_long'],
      summary: 'Returns the sums by hour and model of the calls of one user, or of all.',
      search: queryOf({
        ...timeProperties,
        ...unit,
        username: { ...everybodyProperties.username, description: 'The name of the user; deleted users, too.' },
        user_id: everybodyProperties.user_id,
      }),
      answer: dataSchema,
      async handle({ query }) {
        const { username, user_id } = query;
        if (username === undefined && user_id === undefined) return hours(query, undefined);
        await refuseUnknown(host, query);
        const person = user_id === undefined ? await personNamed(username!) : await accounts.person(user_id);
        const isOther = person === undefined || (username !== undefined && !isNamed(person, username));
        return isOther ? [] : hours(query, person);
      },
    }),
  ];
}
