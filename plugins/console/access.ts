/** The guards of `/api`: who is signed in, whether their role suffices, where the request comes from. */
import type { Role } from '../../core/contracts/accounts.ts';
import { coreErrors } from '../../core/contracts/errors.ts';
import { type Session, Sessions } from '../../core/contracts/sessions.ts';
import type { Site } from '../../core/contracts/site.ts';
import { type Caller, type Found, GatewayError, type Guard, guard, type Host, refuse } from '../../core/plugin.ts';
import type { Cookies } from './cookies.ts';
import { errors } from './errors.ts';
import type { Limiter, LimitName } from './limiter.ts';
import type { ApiRoute } from './route.ts';
import type { Verification } from './verification.ts';

const RANK: Readonly<Record<Role, number>> = { member: 1, admin: 10, root: 100 };

/** The number that tools know a role by. */
export function roleNumber(role: Role): number {
  return RANK[role];
}

/** True where a role is as much as another. */
export function reaches(role: Role, wanted: Role): boolean {
  return RANK[role] >= RANK[wanted];
}

/** True where somebody may change an account: it has a lower role, or they are root. */
export function outranks(role: Role, other: Role): boolean {
  return role === 'root' || RANK[role] > RANK[other];
}

/** The names of the guards of a row, in the order in which they ask. */
export function guardsOf(row: ApiRoute): readonly string[] {
  const guards = ['console.limit'];
  if (row.limit !== undefined) guards.push(`console.limit.${row.limit}`);
  // A key is judged where calls are: by the plugin `auth`. No browser sends one by itself, so it matters not where it comes from.
  if (row.who === 'key') return [...guards, 'key.lenient'];
  guards.push(row.who === 'visitor' ? 'console.visitor' : 'console.session');
  if (row.method !== 'GET' || row.changes === true) guards.push('console.same-site');
  if (row.sessionOnly === true) guards.push('console.browser');
  if (row.who === 'admin' || row.who === 'root') guards.push(`console.${row.who}`);
  if (row.verified !== undefined)
    guards.push(row.verified === true ? 'console.verified' : 'console.verified-or-recent');
  return guards;
}

/** All of them. */
export function createGuards(
  host: Host,
  site: Site,
  cookies: Cookies,
  limiter: Limiter,
  verification: Verification,
): Readonly<Record<string, Guard>> {
  const sessions = host.use(Sessions);

  async function identify(caller: Caller): Promise<Found | undefined> {
    const { authorization } = caller.headers;
    if (authorization !== undefined) return byAccessToken(authorization);
    const secret = cookies.read(caller.headers, 'session');
    return secret === undefined ? undefined : sessions.find(secret);
  }

  async function byAccessToken(authorization: string): Promise<Found> {
    const token = authorization.replace(/^bearer +/i, '').trim();
    if (token.startsWith('sk-')) {
      throw errors.access_token_wanted();
    }
    const found = await sessions.findByAccessToken(token);
    return found ?? refuse(coreErrors.invalid_access_token('This access token is unknown, has expired or was ended.'));
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
  return {
    ...Object.fromEntries(limits),
    'console.limit': limit('requests'),
    'console.visitor': (caller) =>
      identify(caller).catch((error: unknown) => {
        // Whoever presents something that is no good is a stranger: a page that anybody may see needs no sign-in.
        if (error instanceof GatewayError && error.status === 401) return undefined;
        throw error;
      }),
    'console.session': guard(
      ['not_signed_in', 'invalid_access_token', 'access_token_wanted'],
      async (caller) => (await identify(caller)) ?? refuse(coreErrors.not_signed_in()),
    ),
    'console.same-site': guard(['cross_site'], (caller, { session }) =>
      checkOrigin(caller, site, session !== undefined),
    ),
    'console.browser': guard(['session_wanted'], (_, found) => void sessionOf(found)),
    'console.admin': atLeast('admin'),
    'console.root': atLeast('root'),
    'console.verified': guard(['verification_required'], (_, found) => void verification.demand(found)),
    'console.verified-or-recent': guard(['verification_required'], (_, found) =>
      verification.demandOrRecent(found).then(() => undefined),
    ),
  };
}

/** The session of whoever asks. Refuses (401) an access token. */
export function sessionOf({ session }: { readonly session?: Session | undefined }): Session {
  return session ?? refuse(errors.session_wanted());
}

/**
 * Refuses (403) what another site has a browser do. Browsers say where a request comes from, in one header or the other; without
 * either, a cookie counts only with a header that no strange page can send.
 */
export function checkOrigin(caller: Caller, site: Site, byCookie: boolean): undefined {
  const { 'sec-fetch-site': from, origin, host = '' } = caller.headers;
  const strange = (): never => refuse(errors.cross_site('This request comes from another site.'));
  if (from !== undefined) return from === 'same-origin' || from === 'none' ? undefined : strange();
  if (origin !== undefined) return origin === site.origin || sameHost(origin, host, site) ? undefined : strange();
  if (!byCookie) return undefined;
  // Tools of this family send the second one with everything.
  if ('x-requested-with' in caller.headers || 'new-api-user' in caller.headers) return undefined;
  throw errors.cross_site(
    'Where this request comes from is not said: send the header X-Requested-With, or an access token.',
  );
}

/**
 * A page of the very address that the request came to; of a site with https none that somebody on the way can have made. With http, any
 * name can be made to lead here (DNS rebinding): only addresses, names of this machine, and that of `console.url` are believed.
 */
function sameHost(origin: string, host: string, site: Site): boolean {
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  if (page.host !== host.toLowerCase()) return false;
  if (page.protocol === 'https:') return true;
  return !site.secure && (NO_NAME.test(page.hostname) || page.hostname === new URL(site.origin).hostname);
}

/** An address, or a name that browsers never ask anybody about. */
const NO_NAME = /^(\d+(\.\d+){3}|\[.*\]|localhost|.+\.localhost)$/;
