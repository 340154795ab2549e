/** `GET /v1/models`: the models that a key may call, all or one, in the format that the client's headers select. */

import { coreErrors } from '../../core/contracts/errors.ts';
import type { Holder } from '../../core/contracts/identity.ts';
import { type ApiRequest, type Caller, type Json, type Route, type Schema, schema } from '../../core/plugin.ts';
import type { ModelCatalog, ServedModel } from './catalog.ts';
import { smallest } from './facts.ts';
import { geminiList, type Listed, type ListStyle, messagesList, plainList } from './list-styles.ts';

/** The pages of the second and of the third format; the first has none. */
const LIST_QUERY: Schema = schema({
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 1_000, description: 'Models per page, with `anthropic-version`.' },
    after_id: { type: 'string', description: 'The model before the page, with `anthropic-version`.' },
    before_id: { type: 'string', description: 'The model after the page, with `anthropic-version`.' },
    pageSize: { type: 'integer', minimum: 0, description: 'Models per page, with `x-goog-api-key`.' },
    pageToken: { type: 'string', description: 'The `nextPageToken` of the page before, with `x-goog-api-key`.' },
  },
});

/** The routes. `visible` returns a model as a key may call it (undefined: it may not), `sells` whether it can be called, which needs a price, `matched` the known names of patterns. */
export function listRoutes(
  catalog: () => ModelCatalog,
  visible: (holder: Holder | undefined, name: string) => ServedModel | undefined,
  sells: (name: string) => boolean,
  matched: () => readonly string[],
): readonly Route[] {
  function all(request: ApiRequest, style: ListStyle): Json {
    const names = [...catalog().names(), ...matched()].filter(sells);
    return style.list(
      names.flatMap((name) => {
        const model = visible(request.holder, name);
        return model === undefined ? [] : [listed(name, model)];
      }),
      request.query,
    );
  }
  function one(request: ApiRequest, style: ListStyle): Json {
    const name = request.params.id ?? '';
    catalog().require(name, request.holder);
    const model = visible(request.holder, name);
    // The same error as for a missing model, so that it does not reveal models that the key may not call.
    if (model === undefined) throw coreErrors.model_not_found(`There is no model '${name}'.`);
    return style.one(listed(name, model));
  }
  const route = (path: string, name: string, summary: string, handle: Route['handle']): Route => ({
    method: 'GET',
    path,
    access: ['key'],
    // Clients list models on every start or when a menu opens; lists are served from memory.
    uncounted: true,
    cors: true,
    about: {
      summary,
      name,
      params: { id: { type: 'string', description: 'The name of a model.', examples: ['example-model'] } },
      ...(!path.includes(':') && { query: LIST_QUERY }),
      tag: 'Models',
      credentials: ['key'],
      errors: ['model_not_found', 'invalid_request_error'],
      answer: { type: 'object' },
    },
    handle,
  });
  const [every, single] = ['Lists the models that the key may call.', 'Returns a model.'] as const;
  return [
    route('/v1/models', 'listModels', every, (request) => all(request, styleFor(request))),
    route('/v1/models/:id*', 'getModel', single, (request) => one(request, styleFor(request))),
    // The path of older clients of the third format.
    route('/v1beta/models', 'listModelsInPages', every, (request) => all(request, geminiList)),
    route('/v1beta/models/:id*', 'getModelInPages', single, (request) => one(request, geminiList)),
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
