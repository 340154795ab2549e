/** The guards of `/api`: authentication, roles, and protection against cross-site requests. */

import { coreErrors } from '../../../core/contracts/errors.ts';
import type { Role, Session } from '../../../core/contracts/identity.ts';
import {
  includesScope,
  SERVICE_SCOPES,
  SERVICE_TOKEN_PREFIX,
  ServiceTokens,
} from '../../../core/contracts/service-tokens.ts';
import { Sessions } from '../../../core/contracts/sessions.ts';
import { ROLE_NUMBERS } from '../../../core/contracts/shown.ts';
import type { Site } from '../../../core/contracts/site.ts';
import { type Caller, type Found, GatewayError, type Guard, guard, type Host, refuse } from '../../../core/plugin.ts';
import { errors } from '../errors.ts';
import type { ApiRoute } from '../route.ts';
import type { Cookies } from './cookies.ts';
import type { Limiter, LimitName } from './limiter.ts';
import { scopeOf } from './scopes.ts';
import type { Verification } from './verification.ts';

const RANK: Readonly<Record<Role, number>> = ROLE_NUMBERS;

/** The numbers that API clients know the roles by. */
export function roleNumber(role: Role): number {
  return RANK[role];
}

/** Returns whether one role has at least the rights of another. */
export function reaches(role: Role, required: Role): boolean {
  return RANK[role] >= RANK[required];
}

/** Returns whether a user may change an account: its role must be lower, or the user must be root. */
export function outranks(role: Role, other: Role): boolean {
  return role === 'root' || RANK[role] > RANK[other];
}

/** The names of a route's guards, in the order in which they run. */
export function guardsOf(row: ApiRoute): readonly string[] {
  const guards = ['console.limit'];
  if (row.limit !== undefined) guards.push(`console.limit.${row.limit}`);
  // API keys are checked by the plugin `auth`, as for calls. Browsers never send one by themselves, so the origin does not matter.
  if (row.who === 'key') return [...guards, 'key.lenient'];
  const scope = scopeOf(row);
  if (row.who === 'visitor') guards.push('console.visitor');
  else guards.push(scope === undefined ? 'console.session' : `console.scope.${scope}`);
  if (row.method !== 'GET' || row.changes === true) guards.push('console.same-site');
  if (row.sessionOnly === true) guards.push('console.browser');
  if (row.who === 'admin' || row.who === 'root') guards.push(`console.${row.who}`);
  if (row.verified !== undefined)
    guards.push(row.verified === true ? 'console.verified' : 'console.verified-or-recent');
  return guards;
}

export function createGuards(
  host: Host,
  site: Site,
  cookies: Cookies,
  limiter: Limiter,
  verification: Verification,
): Readonly<Record<string, Guard>> {
  const sessions = host.use(Sessions);
  const serviceTokens = host.use(ServiceTokens);

  async function identify(caller: Caller): Promise<Found | undefined> {
    const { authorization } = caller.headers;
    if (authorization !== undefined) return byToken(authorization, caller.ip);
    const secret = cookies.read(caller.headers, 'session');
    return secret === undefined ? undefined : sessions.find(secret);
  }

  async function byToken(authorization: string, ip: string): Promise<Found> {
    const token = authorization.replace(/^bearer +/i, '').trim();
    if (token.startsWith('sk-')) {
      throw errors.access_token_wanted();
    }
    if (token.startsWith(SERVICE_TOKEN_PREFIX)) {
      const service =
        (await serviceTokens.find(token, ip)) ??
        refuse(coreErrors.invalid_access_token('This service token is unknown, has expired or was revoked.'));
      return { account: service.account, serviceToken: service.token };
    }
    const found = await sessions.findByAccessToken(token);
    return (
      found ?? refuse(coreErrors.invalid_access_token('This access token is unknown, has expired or was revoked.'))
    );
  }

  const atLeast = (role: Role): Guard =>
    guard(['role_insufficient'], (_, { account }) => {
      if (account !== undefined && reaches(account.role, role)) return undefined;
      throw errors.role_insufficient(role === 'root' ? 'Only root may do that.' : 'Only administrators may do that.');
    });

  const limit = (name: LimitName | 'requests'): Guard =>
    guard(['rate_limit_exceeded'], (caller) => limiter.takeOf(name, caller.ip).then(() => undefined));
  const limits = (['sign-in', 'mail', 'codes', 'usage'] as const satisfies readonly LimitName[]).map(
    (name) => [`console.limit.${name}`, limit(name)] as const,
  );
  const unidentified = ['not_signed_in', 'invalid_access_token', 'access_token_wanted', 'address_not_allowed'];
  const signedIn = async (caller: Caller): Promise<Found> =>
    (await identify(caller)) ?? refuse(coreErrors.not_signed_in());
  const scopes = SERVICE_SCOPES.map((scope) => {
    const check = guard([...unidentified, 'scope_insufficient'], async (caller) => {
      const found = await signedIn(caller);
      const { serviceToken } = found;
      if (serviceToken === undefined || includesScope(serviceToken.scopes, scope)) return found;
      throw errors.scope_insufficient(scope);
    });
    return [`console.scope.${scope}`, check] as const;
  });
  return {
    ...Object.fromEntries([...limits, ...scopes]),
    'console.limit': limit('requests'),
    'console.visitor': async (caller) => {
      try {
        const found = await identify(caller);
        // To public pages, a service token is no user.
        return found?.serviceToken === undefined ? found : undefined;
      } catch (error) {
        // Invalid credentials count as none: public pages need no sign-in.
        if (error instanceof GatewayError && (error.status === 401 || error.code === 'address_not_allowed'))
          return undefined;
        throw error;
      }
    },
    'console.session': guard([...unidentified, 'person_wanted'], async (caller) => {
      const found = await signedIn(caller);
      if (found.serviceToken !== undefined) throw errors.person_wanted();
      return found;
    }),
    'console.same-site': guard(['cross_site'], (caller, { session }) =>
      checkOrigin(caller, site, session !== undefined),
    ),
    'console.browser': guard(['session_wanted'], (_, found) => {
      // The scope of a service token was checked before.
      if (found.serviceToken === undefined) sessionOf(found);
      return undefined;
    }),
    'console.admin': atLeast('admin'),
    'console.root': atLeast('root'),
    'console.verified': guard(['verification_required'], (_, found) => void verification.demand(found)),
    'console.verified-or-recent': guard(['verification_required'], (_, found) =>
      verification.demandOrRecent(found).then(() => undefined),
    ),
  };
}

/** Returns the session of the request. Refuses (401) an access token. */
export function sessionOf({ session }: { readonly session?: Session | undefined }): Session {
  return session ?? refuse(errors.session_wanted());
}

/**
 * Refuses (403) cross-site requests. Browsers name the origin in one of two headers. If both are missing, a cookie counts only together
 * with a header that pages of other sites cannot send.
 */
export function checkOrigin(caller: Omit<Caller, 'query'>, site: Site, byCookie: boolean): undefined {
  const { 'sec-fetch-site': from, origin, host = '' } = caller.headers;
  const strange = (): never => refuse(errors.cross_site('This request comes from another site.'));
  if (from !== undefined) return from === 'same-origin' || from === 'none' ? undefined : strange();
  if (origin !== undefined) return origin === site.origin || sameHost(origin, host, site) ? undefined : strange();
  if (!byCookie) return undefined;
  // API clients send the second one with every request.
  if ('x-requested-with' in caller.headers || 'new-api-user' in caller.headers) return undefined;
  throw errors.cross_site(
    'The origin of this request is unknown: send the header X-Requested-With, or an access token.',
  );
}

/**
 * Returns whether a page has the same origin as the request. If the page uses https, so must the request (no on-path attacker). With http,
 * any name can be made to resolve to this gateway (DNS rebinding), so only IP addresses, names of this machine and the host of
 * `console.url` are accepted.
 */
function sameHost(origin: string, host: string, site: Site): boolean {
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  if (page.host !== host.toLowerCase()) return false;
  if (page.protocol === 'https:') return true;
  return !site.secure && (NO_NAME.test(page.hostname) || page.hostname === new URL(site.origin).hostname);
}

/** Returns whether a host is an IP address, or a name that browsers resolve without DNS. */
const NO_NAME = /^(\d+(\.\d+){3}|\[.*\]|localhost|.+\.localhost)$/;
