/** A request before its body is read: where it comes from, and who makes it. */

import type { Awaitable, Headers } from './definitions.ts';
import type { JsonObject } from './formats/json.ts';
import type { Holder } from './identity.ts';

/** A request as guards and authentication see it. */
export interface Caller {
  /** `POST`. */
  readonly method: string;
  /** Without the query, undecoded. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The client's address: the socket's, or the one a trusted proxy reports. */
  readonly ip: string;
}

/** A request whose caller is to be found: of a call, or for a route that needs a key. */
export interface Unidentified extends Caller {
  readonly id: string;
  /** Adds to the usage record, which only calls have. */
  note?(facts: JsonObject): void;
}

/** A request that may still be refused. */
export interface Arriving extends Caller {
  /**
   * 26 characters, generated, the first ten of them the time (milliseconds, base 32), so that ids sort by time. It is
   * the `x-request-id` and the id of the usage record.
   */
  readonly id: string;
  /** Runs `release` at the end of the request, last-in first-out; for a call before `settle`. */
  defer(release: () => Awaitable<void>): void;
  /** Sets a header of the answer, until the head is sent; refusals have it, too. */
  header(name: string, value: string): void;
}

/** An authenticated request in `enter`: its caller and its head. A call, or a request for a route. */
export interface Entrant extends Arriving {
  readonly identity: Holder;
}
