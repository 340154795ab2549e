/** One row of the table of `/api`: who may, what it takes, what it answers. The table drives router, description and tests. */
import type { Account } from '../../core/contracts/accounts.ts';
import type { Actor } from '../../core/contracts/audit.ts';
import type { Holder } from '../../core/contracts/keys.ts';
import type { AccessToken, Session } from '../../core/contracts/sessions.ts';
import type { Site } from '../../core/contracts/site.ts';
import type { Awaitable, Caller, Host, JsonObject, Schema, Service, Step } from '../../core/plugin.ts';
import type { Cookies } from './cookies.ts';
import type { Guesses } from './guesses.ts';
import type { Limiter, LimitName } from './limiter.ts';
import type { SignIn } from './sign-in.ts';
import type { Verification } from './verification.ts';

/**
 * Who may use a route. `visitor`: anybody, and whoever is signed in is known. `key`: whoever sends a key, which is in `holder`; it
 * may have expired or have nothing left.
 */
export type Who = 'visitor' | 'key' | 'member' | 'admin' | 'root';

/** How answers and refusals are spelled; tools test for it. */
export type Spelling =
  /** `{success, message, data}` */
  | 'envelope'
  /** `{message: "success" | "error", data, url?}`: the handler gives `{data, url?}` */
  | 'payment'
  /** Whatever the handler gives; refusals in the envelope. */
  | 'bare'
  /** The same with refusals as calls get them: what tools ask for with a key. */
  | 'error-object';

/** A row. `Body` and `Asked` are what the schemas let through. */
export interface ApiRoute<Body = unknown, Asked = unknown> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  /** Other paths of the same thing: without the slash at its end. */
  readonly alsoAt?: readonly string[];
  /** It only says that something is not here: no part of the described interface. */
  readonly isAbsent?: true;
  readonly who: Who;
  /**
   * Only with a check (`POST /api/verify`) that is not older than five minutes. `or-recent`: an account without a second factor may
   * have signed in within them instead.
   */
  readonly verified?: true | 'or-recent';
  /** Only from a browser that is signed in, not with an access token: it is about the session, or about how one signs in. */
  readonly sessionOnly?: true;
  /** A GET that changes something: as far as strange sites are concerned, it is like a POST. */
  readonly changes?: true;
  /** Beside the limit that every route has. */
  readonly limit?: LimitName;
  readonly spelling?: Spelling;
  /** The answer has a `url` beside its data: where a browser posts them. */
  readonly leadsTo?: true;
  /** For the description: one line, and the group it belongs to. */
  readonly summary: string;
  readonly tag: string;
  /** The codes of its refusals, beside those that its guards and the checks of its body and query give. */
  readonly errors?: readonly string[];
  readonly body?: Schema<Body>;
  /** The largest body it takes, in bytes, where that is more than usual. */
  readonly maxBody?: number;
  readonly search?: Schema<Asked>;
  /** Of `data` where the spelling has one, else of the whole; a media type where it is not JSON. */
  readonly answer: Schema | string;
  handle(request: ConsoleRequest<Body, Asked>): Awaitable<unknown>;
}

/** A request for a row. */
export interface ConsoleRequest<Body = unknown, Asked = unknown> extends Caller {
  readonly id: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly asked: Asked;
  /** Who is signed in. Of a visitor it may be nobody: look at `visitor`. */
  readonly account: Account;
  readonly visitor: Account | undefined;
  /** The key that was sent, and whose it is; there where a row is for `key`. */
  readonly holder: Holder | undefined;
  /** Undefined with an access token. */
  readonly session: Session | undefined;
  /** Undefined with a session. */
  readonly accessToken: AccessToken | undefined;
  /** Who it is, for the audit. */
  readonly actor: Actor;
}

/** What the routes of a file are made with. */
export interface Tools {
  readonly host: Host;
  /** What gateway.yaml says of the console. */
  readonly site: Site;
  readonly cookies: Cookies;
  readonly limiter: Limiter;
  readonly guesses: Guesses;
  readonly signIn: SignIn;
  readonly verification: Verification;
  /** A service whose plugin may not be in the pipeline: then the request is refused (404 `not_available`). */
  need<T>(service: Service<T>): T;
  /** The steps that tell the audit who did what to what (`user 7`), for the list that does it; none where nobody keeps one. */
  audited(who: Pick<ConsoleRequest, 'actor'>, action: string, object: string, facts?: JsonObject): readonly Step[];
}

/** Lets the compiler find out what a row's schemas let through. */
export function route<Body, Asked>(row: ApiRoute<Body, Asked>): ApiRoute {
  return row as unknown as ApiRoute;
}

/** The id that a path names; 0, which nothing has, where it names none. */
export function idOf(text: string | undefined): number {
  return /^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : 0;
}
