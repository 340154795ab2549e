/** A route of `/api`: who may use it, what it takes and what it returns. Router, OpenAPI document and tests use the same table. */

import type { Actor } from '../../core/contracts/audit.ts';
import type { AccessToken, Account, Holder, ScopeGroup, ServiceToken, Session } from '../../core/contracts/identity.ts';
import type { Awaitable, Caller, JsonObject, RouteAbout, Schema, Step } from '../../core/plugin.ts';
import type { LimitName } from './access/limiter.ts';
import type { Tag } from './access/tags.ts';
import type { Spelling } from './format/envelope.ts';
import type { Revised } from './revisions.ts';

/**
 * Who may use a route. `visitor`: any client; a signed-in user is identified. `key`: callers with an API key, which is in `holder`; the key
 * may be expired or exhausted.
 */
export type Who = 'visitor' | 'key' | 'member' | 'admin' | 'root';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** A route. A path with a trailing slash is also served without it. */
export interface ApiRoute<Body = unknown, Query = unknown> extends RouteRow<Body, Query> {
  readonly who: Who;
  readonly method: Method;
  readonly path: string;
  /** For OpenAPI, and the scope of service tokens. */
  readonly tag: Tag;
}

/** The rest of a route. `Body` and `Query` are the types that the schemas accept. */
export interface RouteRow<Body = unknown, Query = unknown> {
  /** Other paths of the same route. */
  readonly alsoAt?: readonly string[];
  /** It only reports that a feature does not exist; not part of the OpenAPI document. */
  readonly isAbsent?: true;
  /**
   * Requires a verification (`POST /api/verify`) within the last five minutes. `or-recent`: an account without a second factor may have
   * signed in within the last five minutes instead.
   */
  readonly verified?: true | 'or-recent';
  /** Requires a session, not an access token: the route concerns the session or how the user signs in. */
  readonly sessionOnly?: true;
  /** The group of its scope for service tokens, if it is not that of its tag. */
  readonly scope?: ScopeGroup;
  /** A GET that changes something: the cross-site check treats it like a POST. */
  readonly changes?: true;
  /** It reads many rows: of one account, requests for such routes are answered one at a time. Also of the tags in `heavy.ts`. */
  readonly heavy?: true;
  /** A GET that uses up what it is sent, such as a ticket of another site, so that the cross-site check cannot apply. */
  readonly consumes?: true;
  /** A limit in addition to the one that every route has. */
  readonly limit?: LimitName;
  readonly spelling?: Spelling;
  /** In addition to its data, the response has a `url` to which a browser posts the data. */
  readonly leadsTo?: true;
  /** For OpenAPI: one line. */
  readonly summary: string;
  /** The codes of its refusals, in addition to those of its guards and of the validation of its body and query. */
  readonly errors?: readonly string[];
  readonly body?: Schema<Body>;
  /** The maximum size of the body in bytes, if it is larger than usual. */
  readonly maxBody?: number;
  /** For OpenAPI: the body with rules that `body` does not check, because their refusals have codes of their own. See `withRules`. */
  readonly request?: Schema;
  readonly search?: Schema<Query>;
  /** The schema of `data` if the format has it, otherwise of the whole response; or a media type other than JSON. */
  readonly answer: Schema | string;
  /** For OpenAPI: the schemas of the path's parameters that are no ids, and headers of requests. */
  readonly params?: RouteAbout['params'];
  readonly headers?: RouteAbout['headers'];
  /** For OpenAPI: an example of the body, if its schema does not say what is usual. */
  readonly example?: Body;
  /**
   * The record that it reads or changes: a GET answers with its `ETag`, the others obey `If-Match`. Refuses like `handle` what the caller may
   * not see.
   */
  revised?(request: ConsoleRequest<NoInfer<Body>, NoInfer<Query>>): Awaitable<Revised>;
  handle(request: ConsoleRequest<Body, Query>): Awaitable<unknown>;
}

/** A request for a route. */
export interface ConsoleRequest<Body = unknown, Query = unknown> extends Omit<Caller, 'query'> {
  readonly id: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  /** The validated query. */
  readonly query: Query;
  /** The authenticated account. Routes for visitors must use `visitor`. */
  readonly account: Account;
  readonly visitor: Account | undefined;
  /** The key of the request and its owner; only in routes for `key`. */
  readonly holder: Holder | undefined;
  /** Only if the request has a session. */
  readonly session: Session | undefined;
  /** Only if the request has an access token. */
  readonly accessToken: AccessToken | undefined;
  /** Only if the request has a service token. Its role is at most that of an administrator, so it cannot change administrators. */
  readonly serviceToken: ServiceToken | undefined;
  /** The actor, for the audit log. */
  readonly actor: Actor;
  /** Steps of the list that makes the change, by `Idempotency-Key` and `If-Match`; `audited` has them. */
  readonly conditions: readonly Step[];
}

/** What the list of a change needs of its request. */
export type Changing = Pick<ConsoleRequest, 'id' | 'conditions'>;

/** Makes the routes of a tag; each infers its types from its schemas. */
export function tagged(tag: Tag) {
  return <Body, Query>(who: Who, method: Method, path: string, row: RouteRow<Body, Query>): ApiRoute =>
    ({ ...row, who, method, path, tag }) as unknown as ApiRoute;
}

/** The id in the path; 0, which no object has, if the path has none. */
export function idOf(text: string | undefined): number {
  return /^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : 0;
}

/** Writes an audit entry: action, object such as `user 7` (default: the actor), facts. */
export type Audited = (
  who: Pick<ConsoleRequest, 'actor'> & Partial<Changing>,
  action: string,
  object?: string,
  facts?: JsonObject,
) => readonly Step[];
