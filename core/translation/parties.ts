/** Who takes part in one attempt, and what its whole answer becomes. */
import type { Clock } from '../clock.ts';
import type { Offer, Usage } from '../contracts/call.ts';
import type { Known } from '../contracts/exchange.ts';
import type { JsonObject } from '../contracts/json.ts';
import type { AnswerFacts, Fetched, Style } from '../contracts/style.ts';
import type { Dialect } from '../contracts/vendor.ts';
import type { GatewayError } from '../errors.ts';
import type { LiveExchange } from '../exchange.ts';
import type { Revisions } from '../revising.ts';

/** A whole answer on its way to the client. */
export interface WholeAnswer {
  readonly body: Buffer;
  /** Its content type; undefined: JSON, or events where a stream was asked for. */
  readonly type?: string;
  readonly usage: Usage;
  /** The vendor's error in an answer whose status said success; nothing goes to the client then. */
  readonly error: AnswerFacts['error'];
  /** What a plugin refuses the answer with; the vendor made it and it has to be paid, and nothing of it goes to the client. */
  readonly refusal?: GatewayError;
  /** The answer as a value, where its style can say. */
  value(): JsonObject | undefined;
}

/** Who takes part in one attempt. */
export interface Parties {
  readonly x: LiveExchange & Known;
  readonly offer: Offer;
  /** The client's style. */
  readonly clientStyle: Style;
  /** The style of `offer`. */
  readonly vendorStyle: Style;
  readonly dialect: Dialect;
  readonly clock: Clock;
  /** Fetches what the request names by its address; for a call that is only explained, a replacement. */
  readonly fetch?: (url: string, param: string) => Promise<Fetched>;
  /** What plugins do with the answer; undefined if that is nothing. */
  readonly revisions?: Revisions | undefined;
}
