/** Converts the table of routes to routes that core serves. */

import type { Actor } from '../../core/contracts/audit.ts';
import type { Account } from '../../core/contracts/identity.ts';
import {
  Answer,
  type ApiRequest,
  answer,
  GatewayError,
  type HeaderAbout,
  type Json,
  type Route,
  type RouteAbout,
  type Schema,
} from '../../core/plugin.ts';
import { guardsOf } from './access/guards.ts';
import { scopeOf } from './access/scopes.ts';
import { errors } from './errors.ts';
import { type Spelling, spell, spellError } from './format/envelope.ts';
import { idNumber, queryOf, text } from './format/schemas.ts';
import { createHeavyWork } from './heavy.ts';
import { OPERATION_NAMES } from './openapi/names.ts';
import { isRepeatable, type Repeats } from './repeats.ts';
import type { Revisions } from './revisions.ts';
import type { ApiRoute, ConsoleRequest } from './route.ts';

/** The maximum body size, unless the route sets one. */
const MAX_BODY = 64 * 1_024;
const NO_QUERY = queryOf({});

/** Every route, at each of its paths. */
export function routesOf(rows: readonly ApiRoute[], repeats: Repeats, revisions: Revisions): readonly Route[] {
  const heavy = createHeavyWork();

  /** Answers a request, and sees to its `If-Match`; a record is answered with its `ETag`. */
  async function handled(row: ApiRoute, request: ConsoleRequest): Promise<unknown> {
    if (row.revised === undefined) return heavy.handle(row, request);
    if (row.method === 'GET') {
      // Before the record is read: a tag must not be newer than what it is sent with.
      const etag = await revisions.tag(await row.revised(request));
      const spelled = spell(row.spelling ?? 'envelope', await heavy.handle(row, request));
      return answer(200, JSON.stringify(spelled), { 'content-type': 'application/json', etag });
    }
    const ifMatch = request.headers['if-match'];
    if (ifMatch === undefined) return heavy.handle(row, request);
    const steps = await revisions.demand(ifMatch, await row.revised(request), request.id);
    try {
      return await heavy.handle(row, { ...request, conditions: [...request.conditions, ...steps] });
    } catch (error) {
      // Another request was faster.
      if (error instanceof GatewayError && error.code === 'conflict') throw errors.precondition_failed();
      throw error;
    }
  }

  return rows.flatMap((row) =>
    [row.path, ...(row.path.endsWith('/') ? [row.path.slice(0, -1)] : []), ...(row.alsoAt ?? [])].map((path, i) =>
      routeOf(row, path, i === 0 && !row.isAbsent, (request) =>
        repeats.answer(row, request, (conditional) => handled(row, conditional)),
      ),
    ),
  );
}

function routeOf(
  row: ApiRoute,
  path: string,
  described: boolean,
  work: (request: ConsoleRequest) => Promise<unknown>,
): Route {
  const { spelling = 'envelope' } = row;
  return {
    method: row.method,
    path,
    access: guardsOf(row),
    ...((row.changes === true || row.consumes === true) && { changes: true }),
    // Limited like the rest of the console, not by the key's limits: a key at its limit can still query its usage.
    uncounted: true,
    cors: row.who === 'key',
    maxBody: row.maxBody ?? MAX_BODY,
    ...(row.body === undefined ? { takes: 'none' as const } : { body: row.body }),
    // Without a schema there are no parameters; a route of an absent feature says that it is absent, whatever is asked.
    ...(row.isAbsent !== true && { search: row.search ?? NO_QUERY }),
    ...(described && { about: aboutOf(row, spelling) }),
    error: (error) => spellError(spelling, error),
    async handle(request) {
      const given = await work(requestOf(request));
      return given instanceof Answer ? given : spell(spelling, given);
    },
  };
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
    conditions: [],
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
  const { alsoAt = [] } = row;
  const notes = [
    row.who === 'admin' && 'For administrators.',
    row.who === 'root' && 'For root.',
    row.verified === true &&
      'Requires a verification (POST /api/verify) within the last five minutes: by a second factor or, if the account has none, by its password.',
    row.verified === 'or-recent' &&
      'Requires a verification (POST /api/verify) within the last five minutes; an account without a second factor may have signed in within the last five minutes instead.',
    row.sessionOnly === true && 'Requires a session; an access token is not enough.',
    row.who !== 'visitor' && row.who !== 'key' && scope !== undefined && `Scope of service tokens: \`${scope}\`.`,
    alsoAt.length > 0 && `Also at ${alsoAt.map((path) => `\`${path}\``).join(' and ')}.`,
  ].filter((note) => note !== false);
  const name = OPERATION_NAMES[`${row.method} ${row.path}`];
  const isRepeated = isRepeatable(row);
  const isConditional = row.revised !== undefined && row.method !== 'GET';
  const headers = [
    ...(row.headers ?? []),
    ...(isRepeated ? [IDEMPOTENCY_KEY] : []),
    ...(isConditional ? [IF_MATCH] : []),
  ];
  const sends = [
    ...(isRepeated ? ['idempotent-replayed'] : []),
    ...(row.revised !== undefined && !isConditional ? ['etag'] : []),
  ];
  return {
    summary: row.summary,
    tag: row.tag,
    ...(name !== undefined && { name }),
    params: { ...PARAMETERS, ...row.params },
    ...(headers.length > 0 && { headers }),
    ...(sends.length > 0 && { sends }),
    ...(row.request !== undefined && { request: row.request }),
    ...(row.example !== undefined && { example: row.example as Json }),
    ...(hasCsv(row) && { mediaTypes: ['text/csv'] }),
    ...(spelling !== 'error-object' && { failures: 'envelope' }),
    answer: typeof row.answer === 'string' ? row.answer : wrapped(row, spelling, row.answer),
    credentials: credentialsOf(row),
    errors: [
      ...['unknown_parameter', 'not_available'],
      ...(isRepeated ? REPEATED : []),
      ...(isConditional ? ['precondition_failed'] : []),
      ...(row.errors ?? []),
    ],
    ...(notes.length > 0 && { notes: notes.join(' ') }),
  };
}

const IDEMPOTENCY_KEY: HeaderAbout = {
  name: 'idempotency-key',
  description:
    'A text of your own choice, new for each request: if the request is sent again with it within 24 hours, nothing is done twice, and the answer is the first one.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]+$' },
  example: '5f0c2a1e-7d1b-4d3a-9a53-0c1d1f0e2b77',
};
/** The refusals by it. */
const REPEATED = ['invalid_idempotency_key', 'idempotency_key_reused', 'request_running', 'answer_not_kept'];

const IF_MATCH: HeaderAbout = {
  name: 'if-match',
  description: 'The `ETag` of the record as it was read: the request is refused (412) if the record was changed since.',
  example: '"dGhlIHRhZyBvZiBhIHJl"',
};

/** Parameters of paths. */
const PARAMETERS: Readonly<Record<string, Schema>> = {
  id: { ...idNumber, description: 'The id.' },
  user_id: { ...idNumber, description: 'The id of the user.' },
  session: { ...idNumber, description: 'The id of the session.' },
  request_id: { ...text, pattern: '^[0-9a-v]{26}$', description: 'The `x-request-id` of the answer.' },
  provider: { ...text, pattern: '^[a-z][a-z0-9-]{0,30}$', description: 'The name of the OAuth provider.' },
  type: { ...text, pattern: '^[a-z][a-z0-9-]{0,30}$', description: '`email`, or the name of an OAuth provider.' },
};

/** Whether the query can choose CSV. */
function hasCsv({ search }: ApiRoute): boolean {
  const { format } =
    (search as { readonly properties?: Readonly<Record<string, Schema>> } | undefined)?.properties ?? {};
  return (format as { readonly enum?: readonly string[] } | undefined)?.enum?.includes('csv') === true;
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
    properties: { success: { const: true }, message: { ...text, examples: [''] }, data, ...url },
  };
}
