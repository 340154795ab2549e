/** Sessions and the personal access token. */

import { Audit } from '../../../../core/contracts/audit.ts';
import { Sessions } from '../../../../core/contracts/sessions.ts';
import { errors } from '../../errors.ts';
import { done } from '../../format/envelope.ts';
import { boolean, integer, listOf, object, partly, text, unixSeconds } from '../../format/schemas.ts';
import { DAY_MS, secondsOf } from '../../format/units.ts';
import { sessionProperties, shownSession } from '../../records/people/session.ts';
import { type ApiRoute, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Sessions');

const own = { sid: text, current: { ...boolean, description: 'This session.' }, ...sessionProperties };

export function sessionRoutes({ host, site, cookies, audited }: Tools): readonly ApiRoute[] {
  const sessions = host.use(Sessions);

  return [
    route('member', 'GET', '/api/user/sessions', {
      sessionOnly: true,
      summary: 'Lists your sessions.',
      answer: listOf('OwnSession', own),
      async handle({ account, session }) {
        const live = await sessions.list(account.id);
        return live.map((each) => ({ sid: `${each.id}`, current: each.id === session?.id, ...shownSession(each) }));
      },
    }),
    route('member', 'DELETE', '/api/user/sessions/:id', {
      sessionOnly: true,
      errors: ['session_not_found'],
      summary: 'Ends one of your sessions.',
      answer: object({ revoked_sid: text, current: boolean }),
      async handle(request) {
        const { account, actor, session, params } = request;
        const id = idOf(params.id);
        if (!(await sessions.end(account.id, id))) {
          throw errors.session_not_found();
        }
        await host
          .find(Audit)
          ?.note({ actor, action: 'session.end', object: `user ${account.id}`, facts: { sid: id } });
        const current = id === session?.id;
        return done({ revoked_sid: `${id}`, current }, { cookies: current ? [cookies.clear('session')] : [] });
      },
    }),
    route('member', 'POST', '/api/user/sessions/revoke-others', {
      sessionOnly: true,
      summary: 'Ends all your other sessions and the access token.',
      answer: object({ revoked_count: integer }),
      async handle(request) {
        const { account, session } = request;
        const others = (await sessions.list(account.id)).filter(({ id }) => id !== session?.id);
        const failed = await host.store.atomic([
          ...sessions.endSteps(account.id, session?.id),
          ...audited(request, 'session.end-others', undefined, { ended: others.length }),
        ]);
        if (failed !== undefined) throw new Error(`sessions could not be ended: ${failed}`);
        return { revoked_count: others.length };
      },
    }),
    route('member', 'GET', '/api/user/token', {
      sessionOnly: true,
      verified: 'or-recent',
      changes: true,
      summary:
        'Creates a new personal access token and revokes the old one. GET /api/user/token/status returns its expiry.',
      answer: { ...text, description: 'Returned once.' },
      handle: (request) => sessions.renewAccessToken(request.account.id, audited(request, 'access-token.renew')),
    }),
    route('member', 'GET', '/api/user/token/status', {
      sessionOnly: true,
      summary: 'Returns whether you have a personal access token, when it was created and when it expires.',
      answer: partly(['exists', 'valid_days'], {
        exists: boolean,
        created_at: unixSeconds,
        expires_at: unixSeconds,
        valid_days: { ...integer, description: 'Lifetime of a new token in days: `console.accessToken.days`.' },
      }),
      async handle({ account }) {
        const token = await sessions.accessToken(account.id);
        return {
          exists: token !== undefined,
          ...(token !== undefined && {
            created_at: secondsOf(token.createdMs),
            expires_at: secondsOf(token.expiresMs),
          }),
          valid_days: site.accessToken.longestMs / DAY_MS,
        };
      },
    }),
    route('member', 'DELETE', '/api/user/token', {
      sessionOnly: true,
      summary: 'Revokes your personal access token, if there is one.',
      answer: object({ revoked: { ...boolean, description: 'False: there was none.' } }),
      async handle(request) {
        const along = audited(request, 'access-token.revoke');
        return { revoked: await sessions.revokeAccessToken(request.account.id, along) };
      },
    }),
  ];
}
