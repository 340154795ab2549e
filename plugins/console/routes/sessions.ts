/** Where somebody is signed in, and the personal access token. */
import { Audit } from '../../../core/contracts/audit.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import { done } from '../envelope.ts';
import { errors } from '../errors.ts';
import { sessionProperties, shownSession } from '../records/session.ts';
import { type ApiRoute, type ConsoleRequest, idOf, route, type Tools } from '../route.ts';
import { boolean, integer, listOf, text, unixSeconds } from '../schemas.ts';
import { secondsOf } from '../units.ts';

const TAG = 'Sessions';
const DAY_MS = 86_400_000;

const own = { sid: text, current: { ...boolean, description: 'The one that asks.' }, ...sessionProperties };

/** The rows. */
export function sessionRoutes({ host, site, cookies, audited }: Tools): readonly ApiRoute[] {
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
      answer: listOf('OwnSession', own),
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
      errors: ['session_not_found'],
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
          throw errors.session_not_found();
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
      summary: 'Signs out everywhere else: ends all sessions but this one, and the access token.',
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
      verified: 'or-recent',
      changes: true,
      summary:
        'Makes a new personal access token; the one before ends. It expires: GET /api/user/token/status says when.',
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
      summary: 'Whether there is a personal access token, since when, and when it expires.',
      tag: TAG,
      answer: {
        type: 'object',
        required: ['exists', 'valid_days'],
        properties: {
          exists: boolean,
          created_at: unixSeconds,
          expires_at: unixSeconds,
          valid_days: { ...integer, description: 'How long a new one works: `console.accessToken.days`.' },
        },
      },
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
