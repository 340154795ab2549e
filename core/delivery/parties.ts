/** The participants of one attempt, and its whole answer for the client. */

import type { LiveExchange } from '../call/live-exchange.ts';
import type { Revisions } from '../call/revision.ts';
import type { Known } from '../contracts/exchange.ts';
import type { Offer } from '../contracts/formats/call.ts';
import type { JsonObject } from '../contracts/formats/json.ts';
import type { AnswerFacts, Fetched, Style } from '../contracts/formats/style.ts';
import type { Usage } from '../contracts/formats/usage.ts';
import type { Dialect } from '../contracts/formats/vendor.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import type { Clock } from '../runtime/clock.ts';

/** A whole answer for the client. */
export interface WholeAnswer {
  readonly body: Buffer;
  /** Its content type; undefined: JSON, or events if a stream was requested. */
  readonly type?: string;
  readonly usage: Usage;
  /** The vendor's error in an answer with a success status; then nothing is sent to the client. */
  readonly error: AnswerFacts['error'];
  /** A plugin's refusal of the answer: the vendor generated it, so it is charged, but the client does not get it. */
  readonly refusal?: GatewayError;
  /** The answer as a value, if its style supports that. */
  value(): JsonObject | undefined;
}

/** The participants of one attempt. */
export interface Parties {
  readonly x: LiveExchange & Known;
  readonly offer: Offer;
  /** The client's style. */
  readonly clientStyle: Style;
  /** The style of `offer`. */
  readonly vendorStyle: Style;
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** Fetches a URL in the request; for an explained call, a replacement. */
  readonly fetch?: (url: string, param: string) => Promise<Fetched>;
  /** The plugins' revisions of the answer; undefined if there are none. */
  readonly revisions?: Revisions | undefined;
}
