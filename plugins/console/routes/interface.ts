/** `GET /api/openapi.json`: the OpenAPI document. */
import type { Json } from '../../../core/plugin.ts';
import { openApi } from '../openapi.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { version } from './status.ts';

export function interfaceRoutes({ host, site, cookies }: Tools): readonly ApiRoute[] {
  // It is constant while a configuration runs.
  let document: Json | undefined;
  return [
    route({
      method: 'GET',
      path: '/api/openapi.json',
      who: 'visitor',
      spelling: 'bare',
      summary: 'Returns this OpenAPI document.',
      tag: 'Status',
      answer: { type: 'object', required: ['openapi', 'paths'] },
      handle() {
        document ??= openApi({
          title: site.name,
          version,
          url: site.root,
          sessionCookie: cookies.nameOf('session'),
          routes: host.routes(),
          styles: host.styles().values(),
          guards: host.guards(),
          errors: host.errors(),
        });
        return document;
      },
    }),
  ];
}
