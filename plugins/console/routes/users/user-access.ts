/** How other users sign in, for administrators: second factors, linked accounts, sessions. */

import { Accounts } from '../../../../core/contracts/accounts.ts';
import { Audit } from '../../../../core/contracts/audit.ts';
import type { Session } from '../../../../core/contracts/identity.ts';
import { OAuth } from '../../../../core/contracts/oauth.ts';
import { SecondFactors } from '../../../../core/contracts/second-factors.ts';
import { Sessions } from '../../../../core/contracts/sessions.ts';
import type { JsonObject } from '../../../../core/plugin.ts';
import { subordinate } from '../../access/subordinate.ts';
import { errors } from '../../errors.ts';
import { integer, listOf, nothing } from '../../format/schemas.ts';
import { sessionProperties, shownSession } from '../../records/people/session.ts';
import { type ApiRoute, type ConsoleRequest, idOf, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';

const route = tagged('Users');

const theirSession = { id: integer, ...sessionProperties };

export function userAccessRoutes({ host, need, audited }: Tools): readonly ApiRoute[] {
  const theirs = ({ account, params }: ConsoleRequest) => subordinate(host, account, idOf(params.id));

  // Of tags that service tokens cannot use.
  const reset = (path: string, what: 'totp' | 'passkey', summary: string): ApiRoute =>
    tagged(what === 'totp' ? 'Two-factor sign-in' : 'Passkeys')('admin', 'DELETE', `/api/user/:id/${path}`, {
      verified: true,
      errors: [what === 'totp' ? 'no_second_factor' : 'no_passkey', 'role_insufficient', 'account_not_found'],
      summary,
      answer: nothing,
      async handle(request) {
        const { id } = await theirs(request);
        const action = what === 'totp' ? 'two-factor.reset' : 'passkey.reset';
        await need(SecondFactors).reset(id, what, audited(request, action, `user ${id}`));
      },
    });

  async function endSessions(request: ConsoleRequest, which: (session: Session) => boolean): Promise<number> {
    const { id } = await theirs(request);
    const sessions = need(Sessions);
    let ended = 0;
    for (const session of (await sessions.list(id)).filter(which)) {
      if (await sessions.end(id, session.id)) ended++;
    }
    if (ended > 0) await note(request, 'session.end', id, { ended });
    return ended;
  }

  async function note({ actor }: ConsoleRequest, action: string, id: number, facts: JsonObject): Promise<void> {
    await host.find(Audit)?.note({ actor, action, object: `user ${id}`, facts });
  }

  return [
    reset('2fa', 'totp', 'Removes the authenticator and backup codes of a user who lost them; ends their sessions.'),
    reset('reset_passkey', 'passkey', 'Removes the passkey of a user who lost it; ends their sessions.'),
    route('admin', 'DELETE', '/api/user/:id/bindings/:type', {
      verified: true,
      errors: ['role_insufficient', 'account_not_found', 'binding_not_found'],
      summary: 'Removes a sign-in method of a user: `email`, or the name of an OAuth provider.',
      answer: nothing,
      async handle(request) {
        const { id, email } = await theirs(request);
        const { type = '' } = request.params;
        const along = audited(request, 'user.unbind', `user ${id}`, { provider: type });
        if (type === 'email' ? email === undefined : !(await need(OAuth).unbind(id, type, { along }))) {
          throw errors.binding_not_found('No such OAuth account is linked.').with({ param: 'type' });
        }
        if (type === 'email') await host.use(Accounts).change(id, { email: null }, along);
      },
    }),
    route('admin', 'GET', '/api/user/:id/sessions', {
      errors: ['role_insufficient', 'account_not_found'],
      summary: 'Lists the sessions of a user.',
      answer: listOf('UserSession', theirSession),
      async handle(request) {
        const { id } = await theirs(request);
        return (await need(Sessions).list(id)).map((session) => ({ id: session.id, ...shownSession(session) }));
      },
    }),
    route('admin', 'DELETE', '/api/user/:id/sessions', {
      errors: ['role_insufficient', 'account_not_found'],
      summary: 'Ends all sessions of a user and their access token; returns the number of sessions.',
      answer: integer,
      async handle(request) {
        const ended = await endSessions(request, () => true);
        const { id } = await theirs(request);
        await need(Sessions).revokeAccessToken(id, audited(request, 'access-token.revoke', `user ${id}`));
        return ended;
      },
    }),
    route('admin', 'DELETE', '/api/user/:id/sessions/:session', {
      errors: ['role_insufficient', 'account_not_found', 'session_not_found'],
      summary: 'Ends a session of a user.',
      answer: nothing,
      async handle(request) {
        const sessionId = idOf(request.params.session);
        if ((await endSessions(request, ({ id }) => id === sessionId)) > 0) return;
        throw errors.session_not_found().with({ param: 'session' });
      },
    }),
  ];
}
