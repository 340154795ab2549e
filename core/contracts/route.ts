/** Endpoints that are not model calls: routes, their guards and answers. */

import { sharedByCopies } from '../runtime/shared-classes.ts';
import type { Caller } from './caller.ts';
import type { Awaitable, Schema } from './definitions.ts';
import type { Json, JsonObject } from './formats/json.ts';
import type { GatewayError } from './gateway-error.ts';
import type { AccessToken, Account, Holder, ServiceToken, Session } from './identity.ts';

/** The outcome of a request for a route. */
export interface RouteEnd {
  readonly route: Route;
  readonly status: number;
  /** The error's code; undefined if the route answered. */
  readonly code: string | undefined;
}

/** An endpoint that is not a model call: `GET /v1/models`, the console's, metrics. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'any';
  /** `/v1/models/:id`; `:id` matches one segment, `:id*` the rest. */
  readonly path: string;
  /**
   * `none`: the body is ignored. `bytes`: any content type, as received, in `request.bytes`; for signed webhooks. `scanned`: JSON, as
   * received; for large bodies that are not parsed before the request is admitted. Otherwise JSON.
   */
  readonly takes?: 'none' | 'bytes' | 'scanned';
  /** The maximum body size in bytes; default: a call's. */
  readonly maxBody?: number;
  /** Names of guards; all must pass. */
  readonly access: 'public' | readonly string[];
  /** Requests with a key skip `enter`: limits of the key do not count them. For routes that cost almost nothing. */
  readonly uncounted?: boolean;
  /** A GET that changes something: HEAD is refused (405). */
  readonly changes?: boolean;
  /** CORS is allowed, as for calls: only for routes that accept a key and no cookie. */
  readonly cors?: boolean;
  /** Validated (400), with defaults filled in, before `handle`. Without it any JSON object is accepted. */
  readonly body?: Schema;
  /**
   * The query, for `request.asked`: validated strings, integers and booleans, with defaults. If the schema is closed (`additionalProperties:
   * false`), unknown parameters, duplicates and empty values that do not fit are refused (400); otherwise they are ignored.
   */
  readonly search?: Schema;
  /** Documentation for OpenAPI; a route without it is not listed. */
  readonly about?: RouteAbout;
  /** Formats an error of this route; default: the error object. */
  error?(error: GatewayError, requestId: string): Json;
  /** The result is sent as JSON; `answer(…)` sets status, headers and other bodies. */
  handle(request: ApiRequest): Awaitable<unknown>;
}

/** OpenAPI documentation of a route. */
export interface RouteAbout {
  /** One line. */
  readonly summary: string;
  /** The group it belongs to: `Keys`. */
  readonly tag: string;
  /** The body of a successful answer; a media type if it is not JSON. */
  readonly answer: Schema | string;
  /** The status of a successful answer if not 200. */
  readonly status?: number;
  /** How a caller can authenticate; empty: no authentication is needed. */
  readonly credentials: readonly ('session' | 'accessToken' | 'serviceToken' | 'key')[];
  /** The codes of its own refusals, in addition to those of its guards and those that any request can get. */
  readonly errors?: readonly string[];
  /** Further restrictions and requirements, as sentences. */
  readonly notes?: string;
  /** The name of the operation, from which generators of clients make the names of functions: `listModels`. It never changes. */
  readonly name?: string;
  /** The schemas of the path's parameters, with descriptions; default: any text. */
  readonly params?: Readonly<Record<string, Schema>>;
  /** The query, if the route has no `search`. */
  readonly query?: Schema;
  /** The body, if the route validates it itself, or more of it than `Route.body`. */
  readonly request?: Schema;
  /** The media type of the body if it is not JSON. */
  readonly requestType?: string;
  /** Headers of requests that concern this route. */
  readonly headers?: readonly HeaderAbout[];
  /** Headers of a successful answer, in addition to those of every answer. */
  readonly sends?: readonly string[];
  /** Other media types of a successful answer, by a choice in the query: `text/csv`. */
  readonly mediaTypes?: readonly string[];
  /** Refusals that are not in the error format: by status, the media type. */
  readonly otherRefusals?: Readonly<Record<number, string>>;
  /** Its errors are `{success: false, message, code}`; default: the error object. */
  readonly failures?: 'envelope';
  /** An example of the body, if its schema does not say what is usual. */
  readonly example?: Json;
}

/** A header of requests, for OpenAPI. */
export interface HeaderAbout {
  readonly name: string;
  readonly description: string;
  readonly required?: boolean;
  /** Default: any text. */
  readonly schema?: Schema;
  readonly example?: Json;
}

/** A request for a route, with the results of its guards. */
export interface ApiRequest extends Caller {
  readonly id: string;
  /** The values of the path's `:names`. */
  readonly params: Readonly<Record<string, string>>;
  /** Undefined if there is none. */
  readonly body: Json | undefined;
  /** The raw body, if the route takes `bytes` or `scanned`; otherwise empty. */
  readonly bytes: Buffer;
  /** The parsed query, by the route's `search`; otherwise empty. */
  readonly asked: JsonObject;
  /** The identity from the guards. */
  readonly account: Account | undefined;
  readonly holder: Holder | undefined;
  readonly session: Session | undefined;
  readonly accessToken: AccessToken | undefined;
  readonly serviceToken: ServiceToken | undefined;
}

/** The caller, as guards determined it. */
export interface Found {
  readonly account?: Account;
  readonly holder?: Holder;
  readonly session?: Session;
  readonly accessToken?: AccessToken;
  readonly serviceToken?: ServiceToken;
}

/**
 * Refuses, or returns an identity. `found`: the results of earlier guards. `authenticate` asks the phase of this name, of all plugins, as for a call: a
 * guard that accepts the callers of calls uses it.
 */
export interface Guard {
  (request: Caller, found: Found, authenticate: () => Awaitable<Holder>): Awaitable<Found | undefined>;
  /** The codes of its refusals, for the description of the interface. */
  readonly errors?: readonly string[];
}

/** A guard that says by which errors it refuses. */
export function guard(errors: readonly string[], ask: Guard): Guard {
  return Object.assign(ask, { errors });
}

/** An answer of a route that is not just a JSON body. */
export class Answer {
  readonly status: number;
  readonly body: string | Buffer | AsyncIterable<string> | undefined;
  readonly headers: AnswerHeaders;
  constructor(status: number, body: Answer['body'], headers: AnswerHeaders) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
sharedByCopies(Answer, 'Answer');

/** Headers by lower-case name; a list is sent as several lines, as `set-cookie` needs. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/**
 * Creates one; `body` is sent as it is, without a `content-type` unless `headers` has one. An iterable body is sent piece by piece, as fast as the
 * client reads; if it throws, the answer is truncated.
 */
export function answer(status: number, body?: Answer['body'], headers: AnswerHeaders = {}): Answer {
  return new Answer(status, body, headers);
}
