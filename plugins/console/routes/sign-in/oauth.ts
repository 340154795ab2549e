/** OAuth: sign-in with an OAuth account, and linking one to a user's account. */

import { randomInt } from 'node:crypto';
import { Accounts } from '../../../../core/contracts/accounts.ts';
import { coreErrors } from '../../../../core/contracts/errors.ts';
import type { Account } from '../../../../core/contracts/identity.ts';
import { type Identity, OAuth, type OAuthIntent } from '../../../../core/contracts/oauth.ts';
import { SecondFactors } from '../../../../core/contracts/second-factors.ts';
import { Sessions } from '../../../../core/contracts/sessions.ts';
import { type Answer, answer, GatewayError } from '../../../../core/plugin.ts';
import { checkOrigin } from '../../access/guards.ts';
import type { Admission } from '../../access/invite.ts';
import { errors } from '../../errors.ts';
import { done } from '../../format/envelope.ts';
import { bodyOf, nothing, object, openQueryOf, queryOf, text, unixSeconds } from '../../format/schemas.ts';
import { secondsOf } from '../../format/units.ts';
import { type ApiRoute, type ConsoleRequest, tagged } from '../../route.ts';
import type { Tools } from '../../tools.ts';
import { createDoor } from './accept-invitation.ts';
import { halfSignedIn } from './sign-in.ts';

const route = tagged('Sign-in');

interface Return {
  readonly code?: string;
  readonly state?: string;
  readonly iss?: string;
  readonly error?: string;
  readonly intent?: OAuthIntent;
}

const intent = { enum: ['login', 'bind'], default: 'login' } as const;
const word = { type: 'string', maxLength: 2_048 } as const;
const providerName = { description: "The provider's name: `github`.", type: 'string', maxLength: 31 } as const;

/** How often another suffix is tried if a user name is taken. */
const NAMES_TRIED = 5;
const LONGEST_NAME = 30;

export function oauthRoutes(tools: Tools): readonly ApiRoute[] {
  const { host, site, cookies, signIn, verification, need, audited } = tools;
  const door = createDoor(tools);
  const accounts = host.use(Accounts);
  const sessions = host.use(Sessions);
  const pages = `${site.root}/console`;

  /** Begins a flow; its cookie binds it to the browser. */
  async function begin(request: ConsoleRequest, provider: string, requestedIntent: OAuthIntent, invitation?: string) {
    const { session, visitor } = request;
    if (requestedIntent === 'bind') {
      if (session === undefined) throw coreErrors.not_signed_in('Sign in first to link an OAuth account.');
      // Another site could make the browser link an account of the attacker.
      checkOrigin(request, site, true);
      await verification.demandOrRecent(request);
    }
    const flow = await need(OAuth).begin(
      provider,
      requestedIntent,
      requestedIntent === 'bind' ? visitor?.id : undefined,
      invitation,
    );
    return { ...flow, cookie: cookies.set('flow', flow.binding, flow.expiresMs - host.clock.now()) };
  }

  /** The provider of a request. Clients that name none mean the only one, or GitHub, which they supported first. */
  function providerOr(provider: string | undefined): string {
    const { providers } = need(OAuth);
    if (provider !== undefined) return provider;
    const usual = providers.length === 1 ? providers[0] : providers.find(({ name }) => name === 'github');
    if (usual !== undefined) return usual.name;
    throw errors.provider_wanted();
  }

  /** Completes a flow: signs in, or links the OAuth account. */
  async function finish(request: ConsoleRequest<unknown, Return>, provider: string): Promise<Answer> {
    const { code, state = '', iss, error } = request.query;
    if (code === undefined) throw errors.oauth_denied(provider, (error ?? '').replace(/[^\w.-]/g, ''));
    const binding = cookies.read(request.headers, 'flow') ?? '';
    const flow = await need(OAuth).finish(provider, { state, code, binding, iss });
    if (flow.intent === 'login') {
      const account = await accountFor(request, flow.identity, flow.invitation);
      return signIn.complete(request, account, provider);
    }
    if (request.session === undefined || request.account.id !== flow.accountId)
      throw coreErrors.oauth_state('The user who started this is no longer signed in. Start again.');
    await connect(request, flow.identity);
    return done({ action: 'bind' }, { message: 'bind', cookies: [cookies.clear('flow')] });
  }

  function connect(request: ConsoleRequest, identity: Identity): Promise<void> {
    const { id } = request.account;
    const along = audited(request, 'user.bind', `user ${id}`, { provider: identity.provider });
    return need(OAuth).bind(id, identity, along);
  }

  /**
   * The account linked to an identity; otherwise a new account, if registration is open or the user is invited. An existing account is never
   * linked because it has the same email address.
   */
  async function accountFor(request: ConsoleRequest, identity: Identity, invitation: string): Promise<Account> {
    const id = await need(OAuth).accountOf(identity);
    const linkedAccount = id === undefined ? undefined : await accounts.find(id);
    if (linkedAccount !== undefined) return linkedAccount;
    const { registration, emailProof } = site;
    const admission = invitation === '' ? undefined : await door.admit(invitation);
    const invited = admission?.email;
    if (invited !== undefined && identity.email?.toLowerCase() !== invited.toLowerCase())
      throw errors.invitation_for_another(invited, identity.email ?? 'an account without a verified address');
    if (registration !== 'open' && admission === undefined)
      throw errors.registration_closed(
        `This ${identity.provider} account is not linked, and registration is closed. If you have an account here, sign in and link it under Security.`,
      );
    const isTaken = identity.email !== undefined && (await accounts.findByEmail(identity.email)) !== undefined;
    const email = isTaken ? undefined : identity.email;
    if (emailProof && isTaken)
      throw coreErrors
        .email_taken(
          'An account with this email address exists. Sign in to it, and link the OAuth account under Security.',
        )
        .with({ param: '' });
    if (emailProof && email === undefined)
      throw errors.email_wanted(`A new account needs an email address that ${identity.provider} has verified.`);
    return register(request, identity, email, admission);
  }

  async function register(
    { ip }: ConsoleRequest,
    identity: Identity,
    email: string | undefined,
    admission: Admission | undefined,
  ): Promise<Account> {
    const { provider } = identity;
    const base = nameFrom(identity);
    for (let tries = 1; ; tries++) {
      const name = tries === 1 ? base : `${base}-${randomInt(1_000, 1_000_000)}`;
      try {
        const made = await accounts.create({ name, role: 'member', email, ...admission?.account }, async (id) => [
          ...((await admission?.steps(id)) ?? []),
          ...need(OAuth).bindSteps(id, identity),
          ...audited({ actor: { accountId: id, name, ip } }, 'user.register', `user ${id}`, {
            provider,
            ...admission?.facts,
          }),
        ]);
        await admission?.created(made.id);
        return made;
      } catch (error) {
        const code = error instanceof GatewayError ? error.code : '';
        // The same user in two windows: the other one was faster.
        const id =
          code === 'identity_taken' || code === 'ticket_used' ? await need(OAuth).accountOf(identity) : undefined;
        const made = id === undefined ? undefined : await accounts.find(id);
        if (made !== undefined) return made;
        if (code !== 'name_taken' || tries === NAMES_TRIED) throw error;
      }
    }
  }

  async function unbind(request: ConsoleRequest): Promise<null> {
    const { account, session, params } = request;
    const { provider = '' } = params;
    const person = await accounts.person(account.id);
    const factors = await host.find(SecondFactors)?.status(account.id);
    const keepOne = person?.hasPassword !== true && factors?.passkey === undefined;
    const along = [
      // Ends other sessions, which may have used it to sign in.
      ...sessions.endSteps(account.id, session?.id),
      ...audited(request, 'user.unbind', `user ${account.id}`, { provider }),
    ];
    if (!(await need(OAuth).unbind(account.id, provider, { keepOne, along })))
      throw errors.binding_not_found('No account of this provider is linked.');
    return null;
  }

  const unbinding = {
    errors: ['binding_not_found', 'last_login_method'],
    sessionOnly: true,
    verified: 'or-recent',
    summary: 'Unlinks an OAuth account.',
    answer: nothing,
    handle: unbind,
  } as const;

  return [
    route('visitor', 'GET', '/api/oauth/state', {
      errors: ['provider_not_found', 'provider_wanted', 'oauth_provider_failed', 'not_signed_in', 'cross_site'],
      summary: 'Begins an OAuth sign-in and returns its state. POST returns the complete URL.',
      search: queryOf({
        provider: providerName,
        // The code of a referral programme, which older clients send.
        aff: { ...text, maxLength: 64, description: 'Ignored.', deprecated: true },
      }),
      answer: text,
      async handle(request) {
        const { state, cookie } = await begin(request, providerOr(request.query.provider), 'login');
        return done(state, { cookies: [cookie] });
      },
    }),
    route('visitor', 'POST', '/api/oauth/state', {
      errors: [
        'verification_required',
        'provider_not_found',
        'provider_wanted',
        'oauth_provider_failed',
        'not_signed_in',
        'cross_site',
      ],
      summary: 'Begins an OAuth sign-in or links an OAuth account; returns the URL to send the browser to.',
      body: bodyOf([], {
        provider: providerName,
        intent,
        invite_code: {
          description: 'An invitation, for `intent: login`: the account that it creates.',
          type: 'string',
          maxLength: 64,
        },
        aff: { description: 'Accepted from tools that send it; it has no effect.', type: 'string' },
      }),
      answer: object({
        flow_token: { description: 'The state.', type: 'string' },
        expires_at: unixSeconds,
        url: text,
      }),
      async handle(request) {
        const { provider, intent: requestedIntent, invite_code: invitation } = request.body;
        const { state, url, expiresMs, cookie } = await begin(
          request,
          providerOr(provider),
          requestedIntent,
          invitation,
        );
        return done({ flow_token: state, expires_at: secondsOf(expiresMs), url }, { cookies: [cookie] });
      },
    }),
    route('visitor', 'GET', '/api/oauth/:provider', {
      consumes: true,
      errors: [
        'verification_required',
        'provider_not_found',
        'not_signed_in',
        'cross_site',
        'oauth_denied',
        'oauth_state',
        'oauth_code',
        'account_disabled',
        'registration_closed',
        'invitation_wanted',
        'invitation_outdated',
        'invitation_for_another',
        'ticket_used',
        'email_wanted',
        'email_taken',
        'identity_taken',
        'provider_bound',
        'oauth_provider_failed',
      ],
      summary:
        'Signs in with an OAuth account. Without a code it redirects to the provider, which redirects back with a code; then it responds like a sign-in and redirects browsers to the console. `intent=bind` links the OAuth account to the signed-in user.',
      // Providers add parameters of their own.
      search: openQueryOf({
        code: word,
        state: word,
        iss: word,
        error: word,
        intent,
      }),
      answer: {
        anyOf: [...halfSignedIn.anyOf, object({ action: { const: 'bind' } })],
      },
      async handle(request) {
        const { provider = '' } = request.params;
        const { code, error, intent: requestedIntent } = request.query;
        try {
          if (code === undefined && error === undefined) {
            const { url, cookie } = await begin(request, provider, requestedIntent);
            return leadTo(url, [cookie]);
          }
          const finished = await finish(request, provider);
          if (!isVisit(request)) return finished;
          return leadTo(pages + pageAfter(finished, provider), [finished.headers['set-cookie'] ?? []].flat());
        } catch (problem) {
          if (!isVisit(request) || !(problem instanceof GatewayError)) throw problem;
          // The sign-in page redirects signed-in users, who would not see the error there.
          const page = request.session === undefined ? 'login' : 'security';
          return leadTo(`${pages}/${page}?error=${encodeURIComponent(problem.code)}`, []);
        }
      },
    }),
    route('member', 'GET', '/api/user/unbind/:provider', { ...unbinding, changes: true }),
    route('member', 'DELETE', '/api/user/unbind/:provider', unbinding),
  ];
}

/** Whether the request is a navigation of a browser and not of a script. */
function isVisit({ headers }: ConsoleRequest): boolean {
  const { 'sec-fetch-mode': mode, accept = '' } = headers;
  return mode === undefined ? accept.includes('text/html') : mode === 'navigate';
}

function leadTo(url: string, setCookies: readonly string[]): Answer {
  return answer(302, undefined, {
    location: url,
    'cache-control': 'no-store',
    ...(setCookies.length > 0 && { 'set-cookie': setCookies }),
  });
}

/** The page of the console after a successful flow: a sign-in may wait for its second step. */
function pageAfter({ body }: Answer, provider: string): string {
  const { data } = JSON.parse(String(body)) as {
    readonly data?: { readonly require_2fa?: boolean; readonly action?: 'bind' } | null;
  };
  if (data?.require_2fa === true) return '/login?step=2fa';
  return data?.action === 'bind' ? `/security?connected=${encodeURIComponent(provider)}` : '/';
}

/** Base64Ranges, digits and separators of the name at the provider. */
function nameFrom({ name, provider }: Identity): string {
  const plain = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{N}._]+/gu, '-')
    .replace(/^[-._]+|[-._]+$/g, '');
  return [...plain].slice(0, LONGEST_NAME).join('') || provider;
}
