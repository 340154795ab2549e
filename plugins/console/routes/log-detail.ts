/** One call of the log, with all that is known of it: what was tried, what was used, how the charge came about. */
import { type ContentReader, Prompts } from '../../../core/contracts/prompts.ts';
import { type LogFilter, Records } from '../../../core/contracts/records.ts';
import { errors } from '../errors.ts';
import { callSchema, shownCall } from '../records/call-detail.ts';
import { contentSchema, shownContent } from '../records/content.ts';
import type { Viewer } from '../records/log-line.ts';
import { type ApiRoute, type ConsoleRequest, route, type Tools } from '../route.ts';
import { personWith } from '../subordinate.ts';
import { perUnitOf } from '../units.ts';

const TAG = 'Logs';

/** The rows. */
export function logDetailRoutes({ host, need }: Tools): readonly ApiRoute[] {
  async function detail(filter: LogFilter, viewer: Viewer, reader: Omit<ContentReader, 'actor'>) {
    const [entry] = (await need(Records).page(filter, { limit: 1 })).items;
    if (entry?.call === undefined) {
      throw errors.call_not_found();
    }
    const seesContent = (await host.find(Prompts)?.isReadable(entry.id, reader)) ?? false;
    return shownCall(host, entry, entry.call, { ...viewer, seesContent });
  }

  async function content({ account, actor, params }: ConsoleRequest, ownOnly: boolean) {
    return shownContent(await need(Prompts).read(params.request_id ?? '', { account, actor, ownOnly }));
  }

  return [
    route({
      method: 'GET',
      path: '/api/log/self/detail/:request_id',
      who: 'member',
      errors: ['call_not_found', 'account_not_found'],
      summary: 'One of the own calls, with all that is known of it.',
      tag: TAG,
      answer: callSchema,
      async handle({ account, params }) {
        const { settings } = await personWith(host, account.id);
        const viewer = { isAdmin: false, seesIp: settings.record_ip_log === true, perUnit: perUnitOf(host) };
        return detail({ accounts: [account.id], id: params.request_id ?? '' }, viewer, { account, ownOnly: true });
      },
    }),
    route({
      method: 'GET',
      path: '/api/log/detail/:request_id',
      who: 'admin',
      errors: ['call_not_found'],
      summary: "One of anybody's calls, with all that is known of it.",
      tag: TAG,
      answer: callSchema,
      handle: ({ account, params }) =>
        detail(
          { id: params.request_id ?? '' },
          { isAdmin: true, seesIp: true, perUnit: perUnitOf(host) },
          { account, ownOnly: false },
        ),
    }),
    route({
      method: 'GET',
      path: '/api/log/self/content/:request_id',
      who: 'member',
      errors: ['content_not_found', 'content_not_allowed'],
      summary: 'The stored prompt and answer of one of your calls.',
      tag: TAG,
      answer: contentSchema,
      handle: (request) => content(request, true),
    }),
    route({
      method: 'GET',
      path: '/api/log/content/:request_id',
      who: 'admin',
      verified: true,
      errors: ['content_not_found', 'content_not_allowed'],
      summary:
        'The stored prompt and answer of a call of any user, for root and for administrators that `prompts.readers` of gateway.yaml lists. The audit log records it.',
      tag: TAG,
      answer: contentSchema,
      handle: (request) => content(request, false),
    }),
  ];
}
