/** The log: one's own, a key's, and everybody's for administrators, in pages and as CSV. */
import type { Person } from '../../../core/contracts/accounts.ts';
import { type LogFilter, Records } from '../../../core/contracts/records.ts';
import { schema } from '../../../core/plugin.ts';
import { csvFile, csvText, reportEnd } from '../csv.ts';
import { type PageSearch, pageAnswer, pageOf, pageProperties } from '../pages.ts';
import { cellsOf, LINE_COLUMNS, lineSchema, shownLines, totalCells, type Viewer } from '../records/log-line.ts';
import {
  createLogSearch,
  type EverybodyAsked,
  everybodyProperties,
  type LogAsked,
  logProperties,
} from '../records/log-search.ts';
import { createNames } from '../records/names.ts';
import { timeText, unitLine } from '../records/usage-range.ts';
import { type ApiRoute, type ConsoleRequest, route, type Tools } from '../route.ts';
import { integer, text } from '../schemas.ts';
import { personWith } from '../subordinate.ts';
import { perUnitOf } from '../units.ts';

const TAG = 'Logs';
/** Lines of one file: what may stand in memory. */
const MOST_EXPORTED = 50_000;
const BITE = 1_000;
/** What a key is told of itself. */
const LINES_OF_KEY = 1_000;

interface Places {
  readonly before?: string;
}
type Paged = PageSearch & Places;
interface Formatted extends Paged {
  readonly format: 'json' | 'csv';
}

const before = {
  description: 'Lines behind the one with this `request_id`: instead of `p`, and as quick however far down it is.',
  type: 'string',
  pattern: '^[0-9a-v]{26}$',
};
const format = { description: 'csv: all lines as a file.', enum: ['json', 'csv'], default: 'json' };
const paged = { ...pageProperties, before };
const formatted = { ...paged, format };
const id26 = /^[0-9a-v]{26}$/;

const pageSchema = {
  title: 'LogPage',
  type: 'object',
  required: ['page', 'page_size', 'total', 'items', 'next'],
  properties: {
    page: integer,
    page_size: integer,
    total: {
      ...integer,
      description:
        'How many lines there are, each of which stands for its `times`; with `before`, from there on. Of everybody (no username, no group) counting ends at 10,000.',
    },
    items: { type: 'array', items: lineSchema },
    next: { type: ['string', 'null'], description: 'The `before` of the next page; null: this is the last.' },
  },
} as const;

/** What a file is asked for. */
type FileAsked = Places & Partial<EverybodyAsked>;
/** Those that name lines. */
const FILTERS = [
  ...(['type', 'outcome', 'username', 'user_id', 'department_id', 'token_name', 'token_id', 'model_name'] as const),
  ...(['group', 'channel', 'request_id'] as const),
];

/** The rows. */
export function logRoutes({ host, verification, need }: Tools): readonly ApiRoute[] {
  const search = createLogSearch(host);

  const personOf = ({ account }: ConsoleRequest): Promise<Person> => personWith(host, account.id);

  /** What somebody sees of the own log. */
  const own = ({ settings }: Person): Viewer => ({
    isAdmin: false,
    seesIp: settings.record_ip_log === true,
    perUnit: perUnitOf(host),
  });
  const all = (): Viewer => ({ isAdmin: true, seesIp: true, perUnit: perUnitOf(host) });

  async function page(filter: LogFilter | undefined, asked: Paged, viewer: Viewer) {
    const place = pageOf(asked);
    if (filter === undefined) return { ...pageAnswer(place, 0, []), next: null };
    const { pageSize: limit, offset } = place;
    const of = asked.before === undefined ? { limit, offset } : { limit, before: asked.before };
    const { total, items, next } = await need(Records).page(filter, of);
    return { ...pageAnswer(place, total, await shownLines(items, createNames(host), viewer)), next: next ?? null };
  }

  /** The newest lines, or those behind `before`, as a file. */
  async function file(name: string, filter: LogFilter | undefined, asked: FileAsked, viewer: Viewer) {
    const names = createNames(host);
    // Made bite by bite, so that calls never wait for all of it.
    const texts = [csvText([LINE_COLUMNS])];
    let total = 0n;
    let times = 0;
    let from: string | undefined = asked.before;
    for (let read = 0; filter !== undefined && read < MOST_EXPORTED; read += BITE) {
      const { items, next } = await need(Records).page(filter, { limit: BITE, before: from });
      const lines = await shownLines(items, names, viewer);
      texts.push(csvText(lines.map(cellsOf)));
      total += items.reduce((sum, { amount }) => sum + amount, 0n);
      times += lines.reduce((sum, line) => sum + line.times, 0);
      from = next;
      if (next === undefined) break;
    }
    texts.push(reportEnd(LINE_COLUMNS.length, totalCells(total, times, viewer.perUnit), aboutLines(asked, from)));
    return csvFile(name, texts.join(''));
  }

  /** What a file is of; `next`: where the one that follows it begins. */
  function aboutLines(asked: FileAsked, next: string | undefined): readonly (readonly (string | number)[])[] {
    const { start_timestamp: start, end_timestamp: end } = asked;
    return [
      ['period (UTC)', start ? timeText(start) : 'from the first line', end ? timeText(end) : 'to the last line'],
      ...FILTERS.flatMap((filter) => {
        const value = asked[filter];
        return value === undefined || value === '' || value === 0 ? [] : [[`filter ${filter}`, value]];
      }),
      unitLine(host),
      ...(next === undefined ? [] : [['more lines', `before=${next}`]]),
    ];
  }

  return [
    route({
      method: 'GET',
      path: '/api/log/self',
      alsoAt: ['/api/log/self/'],
      who: 'member',
      errors: ['filter_too_wide'],
      summary: 'The own log, newest first.',
      tag: TAG,
      search: schema<LogAsked & Formatted>({ type: 'object', properties: { ...formatted, ...logProperties } }),
      answer: pageSchema,
      async handle(request) {
        const person = await personOf(request);
        const filter = await search.own(person, request.asked);
        if (request.asked.format === 'csv') return file('log', filter, request.asked, own(person));
        return page(filter, request.asked, own(person));
      },
    }),
    route({
      method: 'GET',
      path: '/api/log/self/search',
      who: 'member',
      errors: ['filter_too_wide'],
      summary: 'The same for a word that is a model, the name of a key or a `request_id`. Older tools ask for it.',
      tag: TAG,
      search: schema<LogAsked & Paged & { readonly keyword: string }>({
        type: 'object',
        properties: { ...paged, ...logProperties, keyword: { ...text, maxLength: 200, default: '' } },
      }),
      answer: pageSchema,
      async handle(request) {
        const { keyword, ...asked } = request.asked;
        const person = await personOf(request);
        const found = async (more: Partial<LogAsked>) => search.own(person, { ...asked, ...more });
        const filter =
          keyword === ''
            ? await found({})
            : id26.test(keyword)
              ? await found({ request_id: keyword })
              : ((await found({ token_name: keyword })) ?? (await found({ model_name: keyword })));
        return page(filter, asked, own(person));
      },
    }),
    route({
      method: 'GET',
      path: '/api/log/self/export',
      who: 'member',
      errors: ['filter_too_wide'],
      summary: `The own log as CSV, at most ${MOST_EXPORTED} lines; for more, ask again with \`before\`.`,
      tag: TAG,
      search: schema<LogAsked & Places>({ type: 'object', properties: { before, ...logProperties } }),
      answer: 'text/csv',
      async handle(request) {
        const person = await personOf(request);
        return file('log', await search.own(person, request.asked), request.asked, own(person));
      },
    }),
    route({
      method: 'GET',
      path: '/api/log/token',
      who: 'key',
      limit: 'usage',
      summary: `The last ${LINES_OF_KEY} lines of the key that asks.`,
      tag: TAG,
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
    route({
      method: 'GET',
      path: '/api/log/',
      alsoAt: ['/api/log'],
      who: 'admin',
      errors: ['verification_required', 'filter_too_wide'],
      summary: "Everybody's log, newest first; as CSV only with a check (POST /api/verify).",
      tag: TAG,
      search: schema<EverybodyAsked & Formatted>({
        type: 'object',
        properties: { ...formatted, ...everybodyProperties },
      }),
      answer: pageSchema,
      async handle(request) {
        const { asked } = request;
        if (asked.format === 'csv') verification.demand(request);
        const filter = await search.everybody(asked);
        return asked.format === 'csv' ? file('log', filter, asked, all()) : page(filter, asked, all());
      },
    }),
    route({
      method: 'GET',
      path: '/api/log/export',
      who: 'admin',
      verified: true,
      errors: ['filter_too_wide', 'verification_required'],
      summary: `Everybody's log as CSV, at most ${MOST_EXPORTED} lines; for more, ask again with \`before\`.`,
      tag: TAG,
      search: schema<EverybodyAsked & Places>({ type: 'object', properties: { before, ...everybodyProperties } }),
      answer: 'text/csv',
      handle: async ({ asked }) => file('log', await search.everybody(asked), asked, all()),
    }),
  ];
}
