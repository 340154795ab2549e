/** `GET /v1/models`: the models a key may call, all of them or one, in the style that the client's headers ask for. */

import { coreErrors } from '../../core/contracts/errors.ts';
import type { Holder } from '../../core/contracts/keys.ts';
import type { ApiRequest, Caller, Json, Route } from '../../core/plugin.ts';
import type { ModelCatalog, ServedModel } from './catalog.ts';
import { smallest } from './facts.ts';
import { geminiList, type Listed, type ListStyle, messagesList, plainList } from './list-styles.ts';

/** The routes. `allows` tells whether a key may call a public name, `sells` whether calls of it are not refused for want of a price. */
export function listRoutes(
  catalog: () => ModelCatalog,
  allows: (holder: Holder | undefined, name: string) => boolean,
  sells: (name: string) => boolean,
): readonly Route[] {
  function all(request: ApiRequest, style: ListStyle): Json {
    const visible = catalog()
      .names()
      .filter((name) => allows(request.holder, name) && sells(name));
    return style.list(
      visible.map((name) => listed(name, catalog().require(name))),
      request.query,
    );
  }
  function one(request: ApiRequest, style: ListStyle): Json {
    const name = request.params.id ?? '';
    const model = catalog().require(name, request.holder);
    // The same words as for a model that does not exist: the key learns nothing about the others.
    if (!allows(request.holder, name)) throw coreErrors.model_not_found(`There is no model '${name}'.`);
    return style.one(listed(name, model));
  }
  const route = (path: string, summary: string, handle: Route['handle']): Route => ({
    method: 'GET',
    path,
    access: ['key'],
    // Clients list models whenever they start or open a menu; it is read from memory, and no vendor is asked.
    uncounted: true,
    cors: true,
    about: {
      summary,
      tag: 'Models',
      credentials: ['key'],
      errors: ['model_not_found', 'invalid_request_error'],
      answer: { type: 'object' },
    },
    handle,
  });
  const [every, single] = ['Lists the models that the key may call.', 'One model.'] as const;
  return [
    route('/v1/models', every, (request) => all(request, styleFor(request))),
    route('/v1/models/:id*', single, (request) => one(request, styleFor(request))),
    // Where older clients of the third style look.
    route('/v1beta/models', every, (request) => all(request, geminiList)),
    route('/v1beta/models/:id*', single, (request) => one(request, geminiList)),
  ];
}

/**
 * Three kinds of client read this path. Those of the second style know it by its version header alone: the newer ones send their
 * key as everybody does.
 */
function styleFor({ headers, query }: Caller): ListStyle {
  if (headers['x-goog-api-key'] !== undefined || query.has('key')) return geminiList;
  return headers['anthropic-version'] === undefined ? plainList : messagesList;
}

function listed(id: string, { created, from }: ServedModel): Listed {
  return {
    id,
    created,
    owner: from[0]!.channel.vendor,
    context: smallest(from.map(({ limits }) => limits.context)),
    maxOutput: smallest(from.map(({ limits }) => limits.max_output)),
  };
}
