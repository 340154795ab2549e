/** Latency of calls: the user's, and for administrators those of all users. */
import { type LogFilter, Records } from '../../../core/contracts/records.ts';
import { schema } from '../../../core/plugin.ts';
import { latencyOf, latencySchema } from '../records/latency.ts';
import {
  createLogSearch,
  type EverybodyQuery,
  type LogQuery,
  logProperties,
  peopleProperties,
} from '../records/log-search.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { personWith } from '../subordinate.ts';

const TAG = 'Logs';
/** Calls that are examined. */
const MOST_CALLS = 5_000;

const { request_id: _, ...own } = logProperties;
const everybodys = { ...own, ...peopleProperties };

export function latencyRoutes({ host, need }: Tools): readonly ApiRoute[] {
  const search = createLogSearch(host);

  const latency = async (filter: LogFilter | undefined) =>
    latencyOf(filter === undefined ? [] : await need(Records).timings(filter, MOST_CALLS));

  return [
    route({
      method: 'GET',
      path: '/api/log/self/latency',
      who: 'member',
      errors: ['account_not_found', 'filter_too_wide'],
      summary: `Returns the latency of your newest ${MOST_CALLS} calls; with filters, of the newest 48 hours that have matching calls.`,
      tag: TAG,
      search: schema<Omit<LogQuery, 'request_id'>>({ type: 'object', properties: own }),
      answer: latencySchema,
      handle: async ({ account, query }) => latency(await search.own(await personWith(host, account.id), query)),
    }),
    route({
      method: 'GET',
      path: '/api/log/latency',
      who: 'admin',
      errors: ['filter_too_wide'],
      summary: `Returns the latency of the newest ${MOST_CALLS} calls of all users.`,
      tag: TAG,
      search: schema<Omit<EverybodyQuery, 'request_id'>>({ type: 'object', properties: everybodys }),
      answer: latencySchema,
      handle: async ({ query }) => latency(await search.everybody(query)),
    }),
  ];
}
