/** `/v1/responses/:id`: reads, cancels and deletes stored responses, and lists their input items. */
import { coreErrors } from '../../../core/contracts/errors.ts';
import {
  type Answer,
  type ApiRequest,
  answer,
  type JsonObject,
  type Route,
  type RouteAbout,
  type Schema,
  schema,
} from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { type Issuer, isPending } from './issuer.ts';
import { notInList, Page, readPageQuery, withoutPrefix } from './items.ts';
import type { Joiner, Run } from './joiner.ts';
import type { Turn, Turns } from './turns.ts';

const PATH = '/v1/responses/:id';

export function historyRoutes(turns: Turns, issuer: Issuer, joiner: Joiner): readonly Route[] {
  /** The turn that a request names; other accounts' turns are not found. */
  async function foundTurn({ params, account }: ApiRequest): Promise<Turn> {
    const id = params.id ?? '';
    return (account && (await turns.find(account.id, id))) ?? notFound(id);
  }

  /** A page of input items, as JSON: read turn by turn, only as far as needed. */
  async function pageOf(turn: Turn, query: URLSearchParams, run: Run): Promise<Buffer> {
    const { limit, order, after } = readPageQuery(query);
    const links = await turns.links(turn);
    const ids = (order === 'asc' ? links : links.toReversed()).map(({ id }) => id);
    // Most item ids contain the id of their response; otherwise all turns are searched.
    const parts = after?.split('_') ?? [];
    const named = Math.max(
      0,
      ids.findIndex((id) => parts.includes(withoutPrefix(id))),
    );
    for (const from of new Set([named, 0])) {
      const page = new Page();
      let isBehind = after === null;
      for (const id of ids.slice(from)) {
        const texts = await turns.texts(turn.accountId, id);
        if (texts === undefined) continue;
        const { input, response } = texts;
        const items = await run({
          ...{ kind: 'items', id, input, order, after: isBehind ? null : after, most: limit - page.ids.length },
          response: id === turn.id ? undefined : response,
        });
        isBehind ||= items.found;
        page.add(items);
        if (items.more) return page.json(true);
      }
      if (isBehind) return page.json(false);
    }
    notInList();
  }

  /** The turn that a request names, and its response; other accounts' turns are not found. */
  async function load(request: ApiRequest): Promise<{ readonly turn: Turn; readonly response: string }> {
    const turn = await foundTurn(request);
    return { turn, response: (await turns.response(turn)) ?? notFound(turn.id) };
  }

  /** The events of a background response after those that the client has, from the vendor that runs it. */
  async function eventsOf(turn: Turn, response: string, { holder, query }: ApiRequest): Promise<Answer> {
    if (turn.channel === null || !isBackground(response)) {
      throw coreErrors
        .invalid_request_error(
          'Only a background response of a vendor that stores it is streamed again. Omit `stream`.',
        )
        .with({ param: 'stream' });
    }
    const after = query.get('starting_after');
    if (after !== null && !/^\d{1,9}$/.test(after)) {
      throw coreErrors
        .invalid_request_error('`starting_after` must be a whole number: the `sequence_number` of an event.')
        .with({ param: 'starting_after' });
    }
    const events = await issuer.events(
      turn,
      holder,
      new URLSearchParams([...query].filter(([name]) => FORWARDED.has(name))),
    );
    if (events === undefined) throw coreErrors.upstream_error('The vendor did not stream the response.');
    return answer(200, events, { 'content-type': 'text/event-stream' });
  }

  return [
    {
      method: 'GET',
      path: PATH,
      access: ['key'],
      cors: true,
      about: {
        ...about('getResponse', 'Returns a stored response, or the events of one in the background.', 'response'),
        query: GET_QUERY,
      },
      async handle(request) {
        const { turn, response } = await load(request);
        if (request.query.get('stream') === 'true') return eventsOf(turn, response, request);
        return asIs(await issuer.current(turn, request.holder, response));
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      access: ['key'],
      cors: true,
      about: about('deleteResponse', 'Deletes a stored response.', 'response'),
      async handle(request) {
        const turn = await foundTurn(request);
        await issuer.forget(turn, request.holder);
        await turns.remove(turn);
        return { id: turn.id, object: 'response', deleted: true };
      },
    },
    {
      method: 'GET',
      path: `${PATH}/input_items`,
      access: ['key'],
      cors: true,
      about: { ...about('listInputItems', 'Lists the input items of a stored response.', 'list'), query: ITEMS_QUERY },
      async handle(request) {
        const turn = await foundTurn(request);
        return asIs(await joiner.turn(turn.accountId, turn.bytes, (run) => pageOf(turn, request.query, run)));
      },
    },
    {
      method: 'POST',
      path: `${PATH}/cancel`,
      access: ['key'],
      cors: true,
      about: about('cancelResponse', 'Cancels a background response.', 'response'),
      async handle(request) {
        const { turn, response } = await load(request);
        if (turn.channel === null || !isBackground(response)) {
          throw coreErrors.invalid_request_error('Only a background response can be cancelled.').with({ param: 'id' });
        }
        // Cancelling a response that has ended changes nothing.
        if (!isPending(response)) return asIs(response);
        const cancelled = await issuer.cancel(turn, request.holder, response);
        if (cancelled === undefined) throw coreErrors.upstream_error('The vendor did not cancel the response.');
        return asIs(cancelled);
      },
    },
  ];
}

function isBackground(response: string): boolean {
  return (JSON.parse(response) as JsonObject).background === true;
}

/** What a vendor is told of the query for events. */
const FORWARDED: ReadonlySet<string> = new Set([
  'stream',
  'starting_after',
  'include_obfuscation',
  'include',
  'include[]',
]);

/** What a client may ask of a stored response. */
const GET_QUERY: Schema = schema({
  type: 'object',
  properties: {
    stream: { type: 'boolean', default: false, description: 'Whether to send events: only of a background response.' },
    starting_after: {
      type: 'integer',
      minimum: 0,
      description: 'The `sequence_number` of the last event that is known.',
    },
    include_obfuscation: { type: 'boolean', description: 'Whether events are padded to a common length.' },
    include: { type: 'string', description: 'Forwarded to the vendor of a stream.' },
    'include[]': { type: 'string', description: 'Forwarded to the vendor of a stream.' },
  },
});

/** The pages of a list of items. */
const ITEMS_QUERY: Schema = schema({
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20, description: 'Items per page.' },
    order: { enum: ['asc', 'desc'], default: 'desc', description: 'desc: the newest first.' },
    after: { type: 'string', description: 'The id of the item before the page.' },
  },
});

/** The OpenAPI description of a route of this file. */
function about(name: string, summary: string, object: string): RouteAbout {
  const answered = { type: 'object', properties: { object: { const: object } } };
  const errors = ['response_not_found', 'invalid_request_error', 'upstream_error', 'concurrency_limit_exceeded'];
  const params = { id: { type: 'string', description: 'The id of a response.', examples: ['resp_0123456789'] } };
  return { name, summary, tag: 'Models', credentials: ['key'], errors, answer: answered, params };
}

/** Returns the stored JSON as it is, so that it is always the same. */
function asIs(json: string | Buffer): Answer {
  return answer(200, json, { 'content-type': 'application/json' });
}

function notFound(id: string): never {
  throw errors.response_not_found(id.slice(0, 100));
}
