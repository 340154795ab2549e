/** Where somebody is signed in, and the personal access token. */
import { Audit } from '../../../core/contracts/audit.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import { refuse } from '../../../core/plugin.ts';
import { done } from '../envelope.ts';
import { sessionProperties, shownSession } from '../records/session.ts';
import { type ApiRoute, type ConsoleRequest, idOf, route, type Tools } from '../route.ts';
import { boolean, integer, text, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';

const TAG = 'Sessions';

const own = { sid: text, current: { ...boolean, description: 'The one that asks.' }, ...sessionProperties };

/** The rows. */
export function sessionRoutes({ host, cookies, audited }: Tools): readonly ApiRoute[] {
  const sessions = host.use(Sessions);
  const object = ({ account }: ConsoleRequest): string => `user ${account.id}`;

  return [
    route({
      method: 'GET',
      path: '/api/user/sessions',
      who: 'member',
      sessionOnly: true,
      summary: 'Where the account is signed in.',
      tag: TAG,
      answer: { type: 'array', items: { type: 'object', required: Object.keys(own), properties: own } },
      async handle({ account, session }) {
        const live = await sessions.list(account.id);
        return live.map((one) => ({ sid: `${one.id}`, current: one.id === session?.id, ...shownSession(one) }));
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/user/sessions/:id',
      who: 'member',
      sessionOnly: true,
      summary: 'Ends one session.',
      tag: TAG,
      answer: {
        type: 'object',
        required: ['revoked_sid', 'current'],
        properties: { revoked_sid: text, current: boolean },
      },
      async handle(request) {
        const { account, actor, session, params } = request;
        const id = idOf(params.id);
        if (!(await sessions.end(account.id, id))) {
          refuse(404, 'session_not_found', 'There is no such session: GET /api/user/sessions lists them.');
        }
        await host.find(Audit)?.note({ actor, action: 'session.end', object: object(request), facts: { sid: id } });
        const current = id === session?.id;
        return done({ revoked_sid: `${id}`, current }, { cookies: current ? [cookies.clear('session')] : [] });
      },
    }),
    route({
      method: 'POST',
      path: '/api/user/sessions/revoke-others',
      who: 'member',
      sessionOnly: true,
      summary: 'Ends all sessions but this one.',
      tag: TAG,
      answer: { type: 'object', required: ['revoked_count'], properties: { revoked_count: integer } },
      async handle(request) {
        const { account, session } = request;
        const others = (await sessions.list(account.id)).filter(({ id }) => id !== session?.id);
        const failed = await host.store.atomic([
          ...sessions.endSteps(account.id, session?.id),
          ...audited(request, 'session.end-others', object(request), { ended: others.length }),
        ]);
        if (failed !== undefined) throw new Error(`sessions could not be ended: ${failed}`);
        return { revoked_count: others.length };
      },
    }),
    route({
      method: 'GET',
      path: '/api/user/token',
      who: 'member',
      sessionOnly: true,
      changes: true,
      summary: 'Makes the personal access token anew; the one before ends.',
      tag: TAG,
      answer: { ...text, description: 'Shown here and never again.' },
      handle: (request) =>
        sessions.renewAccessToken(request.account.id, audited(request, 'access-token.renew', object(request))),
    }),
    route({
      method: 'GET',
      path: '/api/user/token/status',
      who: 'member',
      sessionOnly: true,
      summary: 'Whether there is a personal access token, and since when.',
      tag: TAG,
      answer: { type: 'object', required: ['exists'], properties: { exists: boolean, created_at: unixSeconds } },
      async handle({ account }) {
        const madeMs = await sessions.accessTokenMade(account.id);
        return { exists: madeMs !== undefined, ...(madeMs !== undefined && { created_at: secondsOf(madeMs) }) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/user/token',
      who: 'member',
      sessionOnly: true,
      summary: 'Ends the personal access token, if there is one.',
      tag: TAG,
      answer: {
        type: 'object',
        required: ['revoked'],
        properties: { revoked: { ...boolean, description: 'False: there was none.' } },
      },
      async handle(request) {
        const along = audited(request, 'access-token.revoke', object(request));
        return { revoked: await sessions.revokeAccessToken(request.account.id, along) };
      },
    }),
  ];
}
