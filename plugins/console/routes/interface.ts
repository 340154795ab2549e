/** `GET /api/openapi.json`: the whole interface, described. */
import type { Json } from '../../../core/plugin.ts';
import { openApi } from '../openapi.ts';
import { type ApiRoute, route, type Tools } from '../route.ts';
import { version } from './status.ts';

/** The rows. */
export function interfaceRoutes({ host, site, cookies }: Tools): readonly ApiRoute[] {
  // Nothing in it changes while this configuration runs.
  let document: Json | undefined;
  return [
    route({
      method: 'GET',
      path: '/api/openapi.json',
      who: 'visitor',
      spelling: 'bare',
      summary: 'This description of the interface.',
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
