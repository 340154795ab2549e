/** How long calls take: one's own, and everybody's for administrators. */
import { type LogFilter, Records } from '../../../core/contracts/records.ts';
import { schema } from '../../../core/plugin.ts';
import { latencyOf, latencySchema } from '../records/latency.ts';
import {
  createLogSearch,
  type EverybodyAsked,
  type LogAsked,
  logProperties,
  peopleProperties,
} from '../records/log-search.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { personWith } from '../subordinate.ts';

const TAG = 'Logs';
/** Calls that are looked at. */
const MOST_CALLS = 5_000;

const { request_id: _, ...own } = logProperties;
const everybodys = { ...own, ...peopleProperties };

/** The rows. */
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
      summary: `How long the newest ${MOST_CALLS} of the own calls took; with filters, of the newest 48 hours that have such calls.`,
      tag: TAG,
      search: schema<Omit<LogAsked, 'request_id'>>({ type: 'object', properties: own }),
      answer: latencySchema,
      handle: async ({ account, asked }) => latency(await search.own(await personWith(host, account.id), asked)),
    }),
    route({
      method: 'GET',
      path: '/api/log/latency',
      who: 'admin',
      errors: ['filter_too_wide'],
      summary: "The same of everybody's calls.",
      tag: TAG,
      search: schema<Omit<EverybodyAsked, 'request_id'>>({ type: 'object', properties: everybodys }),
      answer: latencySchema,
      handle: async ({ asked }) => latency(await search.everybody(asked)),
    }),
  ];
}
