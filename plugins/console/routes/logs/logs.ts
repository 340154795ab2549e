/** The log in pages and as CSV: a user's, a key's, and for administrators that of all users. */

import type { Person } from '../../../../core/contracts/accounts.ts';
import { type LogFilter, Records } from '../../../../core/contracts/records.ts';
import { personWith } from '../../access/subordinate.ts';
import { csvStream, csvText, reportEnd } from '../../format/csv.ts';
import { pageAnswer, pageOf, pageProperties } from '../../format/paging.ts';
import { ignoredParameter, integer, type Members, queryOf, record, text } from '../../format/schemas.ts';
import { perUnitOf } from '../../format/units.ts';
import { createNames } from '../../records/people/names.ts';
import {
  cellsOf,
  LINE_COLUMNS,
  lineSchema,
  shownLines,
  totalCells,
  type Viewer,
} from '../../records/usage/log-line.ts';
import {
  createLogSearch,
  type EverybodyQuery,
  everybodyProperties,
  FILTER_ERRORS,
  type LogQuery,
  logProperties,
} from '../../records/usage/log-search.ts';
import { timeText, unitLine } from '../../records/usage/usage-range.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Logs');
/** Lines per file: what a spreadsheet can open. */
const MOST_EXPORTED = 1_000_000;
/** Lines per piece of a file: encoding them must not delay other requests. */
const BITE = 500;
/** The log lines that a key can read: its own. */
const LINES_OF_KEY = 1_000;

const before = {
  description: 'Lines older than the one with this `request_id`; use it instead of `p`: equally fast for every page.',
  type: 'string',
  pattern: '^[0-9a-v]{26}$',
} as const;
const format = {
  description:
    'csv: all lines as a file, which ends with the sums and a description. Columns have the names of members; `created_at` is ISO 8601 in UTC.',
  enum: ['json', 'csv'],
  default: 'json',
} as const;
const paged = { ...pageProperties, before };
const formatted = { ...paged, format };
type Paged = Members<typeof paged>;
const id26 = /^[0-9a-v]{26}$/;

const pageSchema = record('LogPage', {
  page: integer,
  page_size: integer,
  total: {
    ...integer,
    description:
      'The number of lines (each stands for `times` requests); with `before`, of those after it. For all users (no username, no group) counting stops at 10,000.',
  },
  items: { type: 'array', items: lineSchema },
  next: { type: ['string', 'null'], description: 'The `before` of the next page; null: this is the last.' },
});

/** The parameters of a file. */
type FileQuery = Pick<Paged, 'before'> & Partial<EverybodyQuery>;
/** The parameters of a filter. */
const FILTERS = [
  ...(['type', 'outcome', 'username', 'user_id', 'department_id', 'token_name', 'token_id', 'model_name'] as const),
  ...(['group', 'channel', 'request_id'] as const),
];

export function logRoutes({ host, verification, need }: Tools): readonly ApiRoute[] {
  const search = createLogSearch(host);

  const personOf = ({ account }: ConsoleRequest): Promise<Person> => personWith(host, account.id);

  /** Lines as their user sees them. */
  const own = ({ settings }: Person): Viewer => ({
    isAdmin: false,
    seesIp: settings.record_ip_log === true,
    perUnit: perUnitOf(host),
  });
  const all = (): Viewer => ({ isAdmin: true, seesIp: true, perUnit: perUnitOf(host) });

  async function page(filter: LogFilter | undefined, query: Paged, viewer: Viewer) {
    const place = pageOf(query);
    if (filter === undefined) return { ...pageAnswer(place, 0, []), next: null };
    const { pageSize: limit, offset } = place;
    const of = query.before === undefined ? { limit, offset } : { limit, before: query.before };
    const { total, items, next } = await need(Records).page(filter, of);
    return { ...pageAnswer(place, total, await shownLines(items, createNames(host), viewer)), next: next ?? null };
  }

  /** The newest lines, or those after `before`, as a file. */
  function file(name: string, filter: LogFilter | undefined, query: FileQuery, viewer: Viewer) {
    return csvStream(name, pieces(filter, query, viewer));
  }

  async function* pieces(
    filter: LogFilter | undefined,
    query: FileQuery,
    viewer: Viewer,
  ): AsyncGenerator<string, void> {
    const names = createNames(host);
    let head: Parameters<typeof csvText>[0] = [LINE_COLUMNS];
    let total = 0n;
    let times = 0;
    let from: string | undefined = query.before;
    for (let read = 0; filter !== undefined && read < MOST_EXPORTED; read += BITE) {
      const { items, next } = await need(Records).page(filter, { limit: BITE, before: from });
      const lines = await shownLines(items, names, viewer);
      yield csvText([...head, ...lines.map(cellsOf)]);
      head = [];
      total += items.reduce((sum, { amount }) => sum + amount, 0n);
      times += lines.reduce((sum, line) => sum + line.times, 0);
      from = next;
      if (next === undefined) break;
    }
    yield csvText(head) +
      reportEnd(LINE_COLUMNS.length, totalCells(total, times, viewer.perUnit), aboutLines(query, from));
  }

  /** The description of a file; `next`: the `before` of the file that follows it. */
  function aboutLines(query: FileQuery, next: string | undefined): readonly (readonly (string | number)[])[] {
    const { start_timestamp: start, end_timestamp: end } = query;
    return [
      ['period (UTC)', start ? timeText(start) : 'from the first line', end ? timeText(end) : 'to the last line'],
      ...FILTERS.flatMap((filter) => {
        const value = query[filter];
        return value === undefined || value === '' || value === 0 ? [] : [[`filter ${filter}`, value]];
      }),
      unitLine(host),
      ...(next === undefined ? [] : [['more lines', `before=${next}`]]),
    ];
  }

  return [
    route('member', 'GET', '/api/log/self', {
      alsoAt: ['/api/log/self/'],
      errors: ['filter_too_wide'],
      summary: 'Lists your usage records, newest first.',
      search: queryOf({ ...formatted, ...logProperties }),
      answer: pageSchema,
      async handle(request) {
        const person = await personOf(request);
        const filter = await search.own(person, request.query);
        if (request.query.format === 'csv') return file('log', filter, request.query, own(person));
        return page(filter, request.query, own(person));
      },
    }),
    route('member', 'GET', '/api/log/self/search', {
      errors: ['filter_too_wide'],
      summary: 'Lists your usage records that match a model, a key name or a `request_id`; for older clients.',
      search: queryOf({
        ...paged,
        ...logProperties,
        keyword: { ...text, maxLength: 200, default: '' },
      }),
      answer: pageSchema,
      async handle(request) {
        const { keyword, ...query } = request.query;
        const person = await personOf(request);
        const matching = async (more: Partial<LogQuery>) => search.own(person, { ...query, ...more });
        const filter =
          keyword === ''
            ? await matching({})
            : id26.test(keyword)
              ? await matching({ request_id: keyword })
              : ((await matching({ token_name: keyword })) ?? (await matching({ model_name: keyword })));
        return page(filter, query, own(person));
      },
    }),
    route('member', 'GET', '/api/log/self/export', {
      errors: ['filter_too_wide'],
      summary: `Exports your usage records as CSV, at most ${MOST_EXPORTED} lines; for more, continue with \`before\`.`,
      search: queryOf({ before, ...logProperties }),
      answer: 'text/csv',
      async handle(request) {
        const person = await personOf(request);
        return file('log', await search.own(person, request.query), request.query, own(person));
      },
    }),
    route('key', 'GET', '/api/log/token', {
      limit: 'usage',
      summary: `Lists the last ${LINES_OF_KEY} usage records of the key that authenticates the request.`,
      // Older clients have the key here, too.
      search: queryOf({ key: ignoredParameter }),
      answer: { type: 'array', items: lineSchema },
      async handle({ holder }) {
        const { key, account } = holder!;
        const { items } = await need(Records).page({ accounts: [account.id], keys: [key.id] }, { limit: LINES_OF_KEY });
        return shownLines(items, createNames(host), {
          isAdmin: false,
          seesIp: false,
          perUnit: perUnitOf(host),
        });
      },
    }),
    route('admin', 'GET', '/api/log/', {
      errors: [...FILTER_ERRORS, 'verification_required'],
      summary: 'Lists the usage records of all users, newest first; CSV requires a verification (POST /api/verify).',
      search: queryOf({ ...formatted, ...everybodyProperties }),
      answer: pageSchema,
      async handle(request) {
        const { query } = request;
        if (query.format === 'csv') verification.demand(request);
        const filter = await search.everybody(query);
        return query.format === 'csv' ? file('log', filter, query, all()) : page(filter, query, all());
      },
    }),
    route('admin', 'GET', '/api/log/export', {
      verified: true,
      errors: [...FILTER_ERRORS, 'verification_required'],
      summary: `Exports the usage records of all users as CSV, at most ${MOST_EXPORTED} lines; for more, continue with \`before\`.`,
      search: queryOf({ before, ...everybodyProperties }),
      answer: 'text/csv',
      handle: async ({ query }) => file('log', await search.everybody(query), query, all()),
    }),
  ];
}
