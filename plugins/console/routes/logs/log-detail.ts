/** All details of one call: upstream attempts, usage, charge. */

import { type ContentReader, Prompts } from '../../../../core/contracts/prompts.ts';
import { type LogFilter, Records } from '../../../../core/contracts/records.ts';
import { personWith } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { perUnitOf } from '../../format/units.ts';
import { callSchema, contentSchema, shownCall, shownContent } from '../../records/usage/call-detail.ts';
import type { Viewer } from '../../records/usage/log-line.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Logs');

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
    route('member', 'GET', '/api/log/self/detail/:request_id', {
      errors: ['call_not_found', 'account_not_found'],
      summary: 'Returns one of your calls with all details.',
      answer: callSchema,
      async handle({ account, params }) {
        const { settings } = await personWith(host, account.id);
        const viewer = { isAdmin: false, seesIp: settings.record_ip_log === true, perUnit: perUnitOf(host) };
        return detail({ accounts: [account.id], id: params.request_id ?? '' }, viewer, { account, ownOnly: true });
      },
    }),
    route('admin', 'GET', '/api/log/detail/:request_id', {
      errors: ['call_not_found'],
      summary: 'Returns a call of any user with all details.',
      answer: callSchema,
      handle: ({ account, params }) =>
        detail(
          { id: params.request_id ?? '' },
          { isAdmin: true, seesIp: true, perUnit: perUnitOf(host) },
          { account, ownOnly: false },
        ),
    }),
    route('member', 'GET', '/api/log/self/content/:request_id', {
      scope: 'prompts',
      errors: ['content_not_found', 'content_not_allowed'],
      summary: 'Returns the stored prompt and answer of one of your calls.',
      answer: contentSchema,
      handle: (request) => content(request, true),
    }),
    route('admin', 'GET', '/api/log/content/:request_id', {
      verified: true,
      scope: 'prompts',
      errors: ['content_not_found', 'content_not_allowed'],
      summary:
        'Returns the stored prompt and answer of a call of any user. Requires root, or an administrator listed in `prompts.readers` of gateway.yaml. The audit log records each reading.',
      answer: contentSchema,
      handle: (request) => content(request, false),
    }),
  ];
}
