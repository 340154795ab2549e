/** `/v1/responses/:id`: responses that are kept, read, listed by what they were made from, stopped and deleted. */
import { coreErrors } from '../../../core/contracts/errors.ts';
import {
  type Answer,
  type ApiRequest,
  answer,
  type JsonObject,
  type Route,
  type RouteAbout,
} from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { type Issuer, isPending } from './issuer.ts';
import { bare, notInList, Page, readPageQuery } from './items.ts';
import type { Joiner, Run } from './joiner.ts';
import type { Turn, Turns } from './turns.ts';

const PATH = '/v1/responses/:id';

export function historyRoutes(turns: Turns, issuer: Issuer, joiner: Joiner): readonly Route[] {
  /** The turn a request names; only its own account finds it. */
  async function foundTurn({ params, account }: ApiRequest): Promise<Turn> {
    const id = params.id ?? '';
    return (account && (await turns.find(account.id, id))) ?? notFound(id);
  }

  /** A page of what a response was made from, as JSON: read turn by turn, from where it begins and no further than it ends. */
  async function pageOf(turn: Turn, query: URLSearchParams, run: Run): Promise<Buffer> {
    const { limit, order, after } = readPageQuery(query);
    const links = await turns.links(turn);
    const ids = (order === 'asc' ? links : links.toReversed()).map(({ id }) => id);
    // Most ids of items tell of which response they are; where one does not, all are looked at.
    const parts = after?.split('_') ?? [];
    const named = Math.max(
      0,
      ids.findIndex((id) => parts.includes(bare(id))),
    );
    for (const from of new Set([named, 0])) {
      const page = new Page();
      let isBehind = after === null;
      for (const id of ids.slice(from)) {
        const texts = await turns.texts(turn.accountId, id);
        if (texts === undefined) continue;
        const { input, response } = texts;
        const found = await run({
          ...{ kind: 'items', id, input, order, after: isBehind ? null : after, most: limit - page.ids.length },
          response: id === turn.id ? undefined : response,
        });
        isBehind ||= found.found;
        page.add(found);
        if (found.more) return page.json(true);
      }
      if (isBehind) return page.json(false);
    }
    notInList();
  }

  /** The turn a request names, and its response; only its own account finds it. */
  async function found(request: ApiRequest): Promise<{ readonly turn: Turn; readonly response: string }> {
    const turn = await foundTurn(request);
    return { turn, response: (await turns.response(turn)) ?? notFound(turn.id) };
  }

  return [
    {
      method: 'GET',
      path: PATH,
      access: ['key'],
      cors: true,
      about: about('Reads a response that is kept.', 'response'),
      async handle(request) {
        if (request.query.get('stream') === 'true') {
          throw coreErrors
            .invalid_request_error('A kept response is not streamed again. Leave `stream` out.')
            .with({ param: 'stream' });
        }
        const { turn, response } = await found(request);
        return asIs(await issuer.current(turn, response));
      },
    },
    {
      method: 'DELETE',
      path: PATH,
      access: ['key'],
      cors: true,
      about: about('Deletes a response that is kept.', 'response'),
      async handle(request) {
        const turn = await foundTurn(request);
        await issuer.forget(turn);
        await turns.remove(turn);
        return { id: turn.id, object: 'response', deleted: true };
      },
    },
    {
      method: 'GET',
      path: `${PATH}/input_items`,
      access: ['key'],
      cors: true,
      about: about('Lists what a response was made from.', 'list'),
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
      about: about('Cancels a response that a vendor makes in the background.', 'response'),
      async handle(request) {
        const { turn, response } = await found(request);
        const { background } = JSON.parse(response) as JsonObject;
        if (turn.channel === null || background !== true) {
          throw coreErrors
            .invalid_request_error('Only a response that a vendor makes in the background can be cancelled.')
            .with({ param: 'id' });
        }
        // Cancelling what has ended changes nothing.
        if (!isPending(response)) return asIs(response);
        const cancelled = await issuer.cancel(turn, response);
        if (cancelled === undefined) throw coreErrors.upstream_error('The vendor did not cancel the response.');
        return asIs(cancelled);
      },
    },
  ];
}

/** What the description of the interface says of a route of this file. */
function about(summary: string, object: string): RouteAbout {
  const answered = { type: 'object', properties: { object: { const: object } } };
  const errors = ['response_not_found', 'invalid_request_error', 'upstream_error'];
  return { summary, tag: 'Models', credentials: ['key'], errors, answer: answered };
}

/** JSON as it is kept, so that it reads the same every time. */
function asIs(json: string | Buffer): Answer {
  return answer(200, json, { 'content-type': 'application/json' });
}

function notFound(id: string): never {
  throw errors.response_not_found(id.slice(0, 100));
}
