/** Converts the table of routes to routes that core serves. */

import type { Account } from '../../core/contracts/accounts.ts';
import type { Actor } from '../../core/contracts/audit.ts';
import { Answer, type ApiRequest, type Route, type RouteAbout, type Schema } from '../../core/plugin.ts';
import { guardsOf } from './access.ts';
import { spell, spellError } from './envelope.ts';
import { errors } from './errors.ts';
import type { ApiRoute, ConsoleRequest, Spelling } from './route.ts';
import { text } from './schemas.ts';
import { scopeOf } from './scopes.ts';

/** The maximum body size, unless the route sets one. */
const MAX_BODY = 64 * 1_024;

/** Every route, at each of its paths. */
export function routesOf(rows: readonly ApiRoute[]): readonly Route[] {
  return rows.flatMap((row) =>
    [row.path, ...(row.path.endsWith('/') ? [row.path.slice(0, -1)] : []), ...(row.alsoAt ?? [])].map((path, i) =>
      routeOf(row, path, i === 0 && !row.isAbsent),
    ),
  );
}

function routeOf(row: ApiRoute, path: string, described: boolean): Route {
  const { spelling = 'envelope' } = row;
  return {
    method: row.method,
    path,
    access: guardsOf(row),
    // Limited like the rest of the console, not by the key's limits: a key at its limit can still query its usage.
    uncounted: true,
    cors: row.who === 'key',
    maxBody: row.maxBody ?? MAX_BODY,
    ...(row.body === undefined ? { takes: 'none' as const } : { body: row.body }),
    ...(row.search !== undefined && { search: row.search }),
    ...(described && { about: aboutOf(row, spelling) }),
    error: (error) => spellError(spelling, error),
    async handle(request) {
      refuseOthersOf(row, request.query);
      const given = await row.handle(requestOf(request));
      return given instanceof Answer ? given : spell(spelling, given);
    },
  };
}

/** Parameters that select a user's data. */
const WHOSE = ['user_id', 'username', 'account_id', 'token_id', 'department_id'];

/**
 * Refuses (400) a parameter that selects another user's data if the route only has the caller's: the response would be for the wrong user.
 */
function refuseOthersOf({ search }: ApiRoute, query: URLSearchParams): void {
  const parameters = (search as { readonly properties?: object } | undefined)?.properties ?? {};
  const name = WHOSE.find((each) => !(each in parameters) && query.get(each));
  if (name === undefined) return;
  throw errors.unknown_parameter(name).with({ param: name });
}

function requestOf(request: ApiRequest): ConsoleRequest {
  const { serviceToken } = request;
  const account = accountOf(request);
  const name = serviceToken === undefined ? account?.name : `${account?.name} (service token ${serviceToken.name})`;
  const actor: Actor = { accountId: account?.id, name: name ?? '', ip: request.ip };
  return {
    id: request.id,
    method: request.method,
    path: request.path,
    headers: request.headers,
    ip: request.ip,
    params: request.params,
    body: request.body,
    query: request.asked,
    // The guards of every route that is not for visitors have authenticated an account.
    account: account as ConsoleRequest['account'],
    visitor: account,
    holder: request.holder,
    session: request.session,
    accessToken: request.accessToken,
    serviceToken,
    actor,
  };
}

/** The account of a request. With a service token of root it is an administrator, whom handlers do not let change other administrators. */
function accountOf({ account, serviceToken }: ApiRequest): Account | undefined {
  return account === undefined || serviceToken === undefined || account.role !== 'root'
    ? account
    : { ...account, role: 'admin' };
}

function aboutOf(row: ApiRoute, spelling: Spelling): RouteAbout {
  const scope = scopeOf(row);
  const notes = [
    row.who === 'admin' && 'For administrators.',
    row.who === 'root' && 'For root.',
    row.verified === true &&
      'Requires a verification (POST /api/verify) within the last five minutes: by a second factor or, if the account has none, by its password.',
    row.verified === 'or-recent' &&
      'Requires a verification (POST /api/verify) within the last five minutes; an account without a second factor may have signed in within the last five minutes instead.',
    row.sessionOnly === true && 'Requires a session; an access token is not enough.',
    row.who !== 'visitor' && row.who !== 'key' && scope !== undefined && `Scope of service tokens: \`${scope}\`.`,
  ].filter((note) => note !== false);
  return {
    summary: row.summary,
    tag: row.tag,
    answer: typeof row.answer === 'string' ? row.answer : wrapped(row, spelling, row.answer),
    credentials: credentialsOf(row),
    errors: ['unknown_parameter', 'not_available', ...(row.errors ?? [])],
    ...(notes.length > 0 && { notes: notes.join(' ') }),
  };
}

function credentialsOf(row: ApiRoute): RouteAbout['credentials'] {
  if (row.who === 'visitor') return [];
  if (row.who === 'key') return ['key'];
  return [
    'session',
    ...(row.sessionOnly === true ? [] : (['accessToken'] as const)),
    ...(scopeOf(row) === undefined ? [] : (['serviceToken'] as const)),
  ];
}

/** The schema of the whole response around its data. */
function wrapped({ leadsTo }: ApiRoute, spelling: Spelling, data: Schema): Schema {
  if (spelling === 'bare' || spelling === 'error-object') return data;
  const url = leadsTo === true ? { url: text } : {};
  return {
    type: 'object',
    required: ['success', 'message', 'data'],
    properties: { success: { const: true }, message: text, data, ...url },
  };
}
