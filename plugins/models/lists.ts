/** `GET /v1/models`: the models that a key may call, all or one, in the format that the client's headers select. */

import { coreErrors } from '../../core/contracts/errors.ts';
import type { Holder } from '../../core/contracts/keys.ts';
import type { ApiRequest, Caller, Json, Route } from '../../core/plugin.ts';
import type { ModelCatalog, ServedModel } from './catalog.ts';
import { smallest } from './facts.ts';
import { geminiList, type Listed, type ListStyle, messagesList, plainList } from './list-styles.ts';

/** The routes. `allows` returns whether a key may call a public name, `sells` whether it can be called, which needs a price, `matched` the known names of patterns. */
export function listRoutes(
  catalog: () => ModelCatalog,
  allows: (holder: Holder | undefined, name: string) => boolean,
  sells: (name: string) => boolean,
  matched: () => readonly string[],
): readonly Route[] {
  function all(request: ApiRequest, style: ListStyle): Json {
    const visible = [...catalog().names(), ...matched()].filter((name) => allows(request.holder, name) && sells(name));
    return style.list(
      visible.map((name) => listed(name, catalog().require(name))),
      request.query,
    );
  }
  function one(request: ApiRequest, style: ListStyle): Json {
    const name = request.params.id ?? '';
    const model = catalog().require(name, request.holder);
    // The same error as for a missing model, so that it does not reveal models that the key may not call.
    if (!allows(request.holder, name)) throw coreErrors.model_not_found(`There is no model '${name}'.`);
    return style.one(listed(name, model));
  }
  const route = (path: string, summary: string, handle: Route['handle']): Route => ({
    method: 'GET',
    path,
    access: ['key'],
    // Clients list models on every start or when a menu opens; lists are served from memory.
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
  const [every, single] = ['Lists the models that the key may call.', 'Returns a model.'] as const;
  return [
    route('/v1/models', every, (request) => all(request, styleFor(request))),
    route('/v1/models/:id*', single, (request) => one(request, styleFor(request))),
    // The path of older clients of the third format.
    route('/v1beta/models', every, (request) => all(request, geminiList)),
    route('/v1beta/models/:id*', single, (request) => one(request, geminiList)),
  ];
}

/**
 * Three kinds of clients read this path. Clients of the second format are recognized only by its version header: newer ones send their key in
 * `authorization`.
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
