/** Endpoints that are no model calls: routes, their guards and answers. */
import { sharedByCopies } from '../copies.ts';
import type { Awaitable, Schema } from '../definitions.ts';
import type { GatewayError } from '../errors.ts';
import type { Account } from './accounts.ts';
import type { Caller } from './exchange.ts';
import type { Json, JsonObject } from './json.ts';
import type { Holder } from './keys.ts';
import type { AccessToken, Session } from './sessions.ts';

/** How a request for a route ended. */
export interface RouteEnd {
  readonly route: Route;
  readonly status: number;
  /** Of a refusal, as its answer had it; undefined where the route answered. */
  readonly code: string | undefined;
}

/** An endpoint that is not a model call: `GET /v1/models`, the console's, metrics. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'any';
  /** `/v1/models/:id`; `:id` matches one segment, `:id*` the rest. */
  readonly path: string;
  /**
   * `none`: whatever comes is not looked at. `bytes`: of any type, exactly as it came, in `request.bytes`; for signed
   * notifications. Else JSON.
   */
  readonly takes?: 'none' | 'bytes';
  /** The largest body it takes, in bytes; else as large as a call's. */
  readonly maxBody?: number;
  /** Names of guards; all must agree. */
  readonly access: 'public' | readonly string[];
  /** A key's requests for it do not pass `enter`, so that no limit of the key counts them: for what costs next to nothing. */
  readonly uncounted?: boolean;
  /** Pages of other sites may call it from a browser, as they may make calls: only where a key counts and no cookie does. */
  readonly cors?: boolean;
  /** Checked, and defaults filled in, before `handle`; a wrong body is refused with 400. Without it any JSON object is taken. */
  readonly body?: Schema;
  /**
   * What the query may say: an object of strings, integers and booleans. Read, checked and with defaults in `request.asked`;
   * what it does not name is not looked at.
   */
  readonly search?: Schema;
  /** For the description of the interface; a route without is not described. */
  readonly about?: RouteAbout;
  /** A refusal as this route spells it; else the error object. */
  error?(error: GatewayError, requestId: string): Json;
  /** A value becomes JSON; `answer(…)` sets status, headers and other bodies. */
  handle(request: ApiRequest): Awaitable<unknown>;
}

/** What the description of the interface (OpenAPI) says of a route. */
export interface RouteAbout {
  /** One line. */
  readonly summary: string;
  /** The group it belongs to: `Keys`. */
  readonly tag: string;
  /** The body of the answer where all went well; a media type where that is not JSON. */
  readonly answer: Schema | string;
  /** Its status where that is not 200. */
  readonly status?: number;
  /** How a caller can authenticate; empty: no authentication is needed. */
  readonly credentials: readonly ('session' | 'accessToken' | 'key')[];
  /** The codes of its own refusals, beside those of its guards and those that any request can get. */
  readonly errors?: readonly string[];
  /** Who else may not, and what else it wants, in sentences. */
  readonly notes?: string;
}

/** A request for a route, with what its guards found out. */
export interface ApiRequest extends Caller {
  readonly id: string;
  /** What the path's `:names` matched. */
  readonly params: Readonly<Record<string, string>>;
  /** Undefined where none was sent. */
  readonly body: Json | undefined;
  /** The body as it came, where the route takes `bytes`; else empty. */
  readonly bytes: Buffer;
  /** What the query says by the route's `search`; else empty. */
  readonly asked: JsonObject;
  /** Who the guards say it is. */
  readonly account: Account | undefined;
  readonly holder: Holder | undefined;
  readonly session: Session | undefined;
  readonly accessToken: AccessToken | undefined;
}

/** What guards find out about a caller. */
export interface Found {
  readonly account?: Account;
  readonly holder?: Holder;
  readonly session?: Session;
  readonly accessToken?: AccessToken;
}

/** Refuses, or says who it is. `found`: what the guards before it found out. */
export interface Guard {
  (request: Caller, found: Found): Awaitable<Found | undefined>;
  /** The codes of its refusals, for the description of the interface. */
  readonly errors?: readonly string[];
}

/** A guard that says by which errors it refuses. */
export function guard(errors: readonly string[], ask: Guard): Guard {
  return Object.assign(ask, { errors });
}

/** An answer of a route with more than a JSON body. */
export class Answer {
  readonly status: number;
  readonly body: string | Buffer | undefined;
  readonly headers: AnswerHeaders;
  constructor(status: number, body: string | Buffer | undefined, headers: AnswerHeaders) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}
sharedByCopies(Answer, 'Answer');

/** Headers by lower-case name; a list is sent as several lines, as `set-cookie` needs. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[]>>;

/** Makes one; `body` goes out as it is, without a `content-type` unless `headers` names it. */
export function answer(status: number, body?: string | Buffer, headers: AnswerHeaders = {}): Answer {
  return new Answer(status, body, headers);
}
