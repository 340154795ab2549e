/** `/v1/responses/:id`: responses that are kept, read, listed by what they were made from, stopped and deleted. */
import {
  type Answer,
  type ApiRequest,
  answer,
  type JsonObject,
  type Route,
  type RouteAbout,
  refuse,
} from '../../../core/plugin.ts';
import { type Issuer, isPending } from './issuer.ts';
import { inputItems, pageOf } from './items.ts';
import type { Turn, Turns } from './turns.ts';

const PATH = '/v1/responses/:id';

export function historyRoutes(turns: Turns, issuer: Issuer): readonly Route[] {
  /** The turn a request names, and its response; only its own account finds it. */
  async function found({ params, account }: ApiRequest): Promise<{ readonly turn: Turn; readonly response: string }> {
    const id = params.id ?? '';
    const turn = account && (await turns.find(account.id, id));
    const response = turn && (await turns.response(turn));
    return turn === undefined || response === undefined ? notFound(id) : { turn, response };
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
          refuse(400, 'invalid_request_error', 'A kept response is not streamed again. Leave `stream` out.', {
            param: 'stream',
          });
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
        const { turn } = await found(request);
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
        const { turn } = await found(request);
        return pageOf(inputItems(await turns.chain(turn)), request.query);
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
          const message = 'Only a response that a vendor makes in the background can be cancelled.';
          refuse(400, 'invalid_request_error', message, { param: 'id' });
        }
        // Cancelling what has ended changes nothing.
        if (!isPending(response)) return asIs(response);
        const cancelled = await issuer.cancel(turn);
        if (cancelled === undefined) refuse(502, 'upstream_error', 'The vendor did not cancel the response.');
        return asIs(cancelled);
      },
    },
  ];
}

/** What the description of the interface says of a route of this file. */
function about(summary: string, object: string): RouteAbout {
  const answered = { type: 'object', properties: { object: { const: object } } };
  return { summary, tag: 'Models', credentials: ['key'], answer: answered };
}

/** JSON text as it is kept, so that it reads the same every time. */
function asIs(json: string): Answer {
  return answer(200, json, { 'content-type': 'application/json' });
}

function notFound(id: string): never {
  refuse(404, 'response_not_found', `There is no response '${id.slice(0, 100)}'.`, { param: 'id' });
}
