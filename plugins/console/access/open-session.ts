/**
 * Completes sign-ins, whatever the first step was: asks for a second factor if the account has one, then creates a session and its cookie.
 */

import { Accounts } from '../../../core/contracts/accounts.ts';
import { Audit } from '../../../core/contracts/audit.ts';
import { coreErrors } from '../../../core/contracts/errors.ts';
import type { Account } from '../../../core/contracts/identity.ts';
import { Records } from '../../../core/contracts/records.ts';
import { SecondFactors } from '../../../core/contracts/second-factors.ts';
import { Sessions, Tickets } from '../../../core/contracts/sessions.ts';
import type { Site } from '../../../core/contracts/site.ts';
import { type Answer, type Host, refuse } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import { done } from '../format/envelope.ts';
import { secondsOf } from '../format/units.ts';
import type { Audited, ConsoleRequest } from '../route.ts';
import { type Cookies, createBrowsers } from './cookies.ts';
import { roleNumber } from './guards.ts';

/** The lifetime of the second step's ticket. */
const SECOND_STEP_MS = 5 * 60_000;

export function createSignIn(host: Host, site: Site, cookies: Cookies, audited: Audited) {
  const accounts = host.use(Accounts);
  const sessions = host.use(Sessions);
  const tickets = host.use(Tickets);
  const browsers = createBrowsers(host, cookies);

  async function open(request: ConsoleRequest, account: Account, method: string): Promise<Answer> {
    const { ip, headers, session: before } = request;
    const actor = { accountId: account.id, name: account.name, ip };
    const text = `Signed in (${method}).`;
    const { secret } = await sessions.open(
      { accountId: account.id, method, ip, userAgent: headers['user-agent'] ?? '' },
      [
        ...audited({ actor }, 'sign-in.ok', `user ${account.id}`, { method }),
        ...(host.find(Records)?.eventSteps({ accountId: account.id, kind: 'login', amount: 0n, text, ip }) ?? []),
      ],
    );
    // The old cookie is overwritten, so its session could not be ended any more: it is ended here.
    if (before !== undefined) await sessions.end(before.accountId, before.id);
    const person = await accounts.person(account.id);
    return done(
      {
        id: account.id,
        username: account.name,
        display_name: person?.displayName ?? account.name,
        role: roleNumber(account.role),
        status: 1,
        group: person?.group ?? 'default',
      },
      {
        cookies: [
          cookies.set('session', secret, site.session.longestMs),
          cookies.clear('flow'),
          browsers.remember(account.id),
        ],
      },
    );
  }

  async function askForCode(account: Account, method: string): Promise<Answer> {
    const token = await tickets.issue('sign-in', { accountId: account.id, data: { method }, forMs: SECOND_STEP_MS });
    return done(
      {
        require_2fa: true,
        flow_token: token,
        expires_at: secondsOf(host.clock.now() + SECOND_STEP_MS),
      },
      {
        message: 'Enter the code of your authenticator, or a backup code.',
        cookies: [cookies.set('flow', token, SECOND_STEP_MS)],
      },
    );
  }

  const expired = (): never => refuse(errors.sign_in_expired());

  async function failed(request: ConsoleRequest, account: Account | undefined, method: string): Promise<void> {
    await host.find(Audit)?.note({
      actor: { accountId: undefined, name: '', ip: request.ip },
      action: 'sign-in.failed',
      // The typed name is not stored: it may be a password in the wrong field.
      object: account === undefined ? '' : `user ${account.id}`,
      facts: { method },
    });
  }

  return {
    /**
     * The response after `account` was authenticated. `method`: `password`, `passkey`, or the OAuth provider. A passkey needs no second
     * factor; after any other method the second factor is requested if there is one (`require_2fa`). Refuses (403) a disabled account.
     */
    async complete(request: ConsoleRequest, account: Account, method: string): Promise<Answer> {
      if (!account.enabled) throw coreErrors.account_disabled();
      const factors = method === 'passkey' ? undefined : await host.find(SecondFactors)?.status(account.id);
      return factors?.totp === true ? askForCode(account, method) : open(request, account, method);
    },

    /** The second step: a code, with the ticket of the first step in the body or the cookie. Refuses (401) an invalid ticket. */
    async second(request: ConsoleRequest, code: string, ticket: string | undefined): Promise<Answer> {
      const secret = ticket ?? cookies.read(request.headers, 'flow') ?? expired();
      const pending = (await tickets.look('sign-in', secret)) ?? expired();
      const account = (await accounts.find(pending.accountId ?? -1)) ?? expired();
      const factors = host.find(SecondFactors) ?? expired();
      try {
        await factors.check(account.id, code);
      } catch (error) {
        await failed(request, account, 'code');
        throw error;
      }
      // If two right codes arrive at the same moment, one creates a session.
      if ((await tickets.take('sign-in', secret)) === undefined) expired();
      return open(request, account, String(pending.data.method));
    },

    /** Writes a failed sign-in to the audit log; `account` is undefined if there is no account of that name. */
    failed,
  };
}

export type SignIn = ReturnType<typeof createSignIn>;
