/** `GET /v1/models`: the models a key may call, all of them or one. */

import type { Model } from '../../core/contracts/catalog.ts';
import type { Holder } from '../../core/contracts/keys.ts';
import { type ApiRequest, type Json, type Route, refuse } from '../../core/plugin.ts';
import type { ModelCatalog } from './catalog.ts';

/** The routes. `allows` tells whether a key may call a public name. */
export function listRoutes(
  catalog: () => ModelCatalog,
  allows: (holder: Holder | undefined, name: string) => boolean,
): readonly Route[] {
  const visible = (request: ApiRequest): readonly string[] =>
    catalog()
      .names()
      .filter((name) => allows(request.holder, name));
  return [
    {
      method: 'GET',
      path: '/v1/models',
      access: ['key'],
      handle: (request) => ({
        object: 'list',
        data: visible(request).map((name) => listed(name, catalog().require(name))),
      }),
    },
    {
      method: 'GET',
      path: '/v1/models/:id*',
      access: ['key'],
      handle(request) {
        const name = request.params.id ?? '';
        const model = catalog().require(name, request.holder);
        // The same words as for a model that does not exist: the key learns nothing about the others.
        if (!allows(request.holder, name))
          refuse(404, 'model_not_found', `There is no model '${name}'.`, { param: 'model' });
        return listed(name, model);
      },
    },
  ];
}

/** One model as the list shows it. */
function listed(name: string, model: Model): Json {
  return { id: name, object: 'model', created: model.created, owned_by: model.from[0]!.channel.vendor };
}
