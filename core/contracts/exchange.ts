/** One client request from arrival to end, as the phases of plugins see it. */
import type { Arriving } from './caller.ts';
import type { Headers } from './definitions.ts';
import type { Attempt, Call, Offer, Outcome } from './formats/call.ts';
import type { Channel } from './formats/channel.ts';
import type { JsonObject } from './formats/json.ts';
import type { Style } from './formats/style.ts';
import type { Usage } from './formats/usage.ts';
import type { Holder } from './identity.ts';

export type { Caller, Entrant, Unidentified } from './caller.ts';

/** One client request and its state. */
export interface Exchange extends Arriving {
  readonly startedMs: number;
  /** The requested style; undefined on passthrough routes. */
  readonly style: Style | undefined;
  readonly passthrough: PassthroughRoute | undefined;
  /** Aborts if the client disconnects or the gateway cuts the request off. */
  readonly signal: AbortSignal;
  readonly identity: Holder | undefined;
  /** Readable from `inspect` on; throws in `settle` of a request whose body was not read, because it was refused before. */
  readonly call: Call;
  /** The same; undefined if it was not read. */
  readonly callIfRead: Call | undefined;
  readonly attempts: readonly Attempt[];
  /** The target that serves, once known. */
  readonly served: Offer | undefined;
  /**
   * Usage so far: the vendor's, otherwise our count of what was delivered; undefined if there is none. It is corrected: counts are whole, at
   * most what a call can have, and no part is larger than its total.
   */
  readonly usage: Usage | undefined;
  /** The same as the vendor reported it, to find out what was corrected; absent: `usage` is not corrected. */
  readonly reported?: Usage | undefined;
  /**
   * The part of the price that is charged, in millionths; undefined: all of it. Set before `admit` if a plugin answers in place of a vendor and sets
   * `GivenAnswer.share`; 0 if its answer is free.
   */
  readonly share: number | undefined;
  /** True once a byte of the vendor's answer was sent to the client. */
  readonly delivered: boolean;
  /** Set before `settle`. */
  readonly outcome: Outcome | undefined;
  /**
   * The answer as the client got it, as a whole answer of its style, in `settle` of a call that was served. Undefined for an answer that is not JSON,
   * and for a stream unless `keepAnswer` was called or its style stores answers (responses). Always undefined for streams of images and
   * transcriptions.
   */
  answer(): JsonObject | undefined;
  /** The beginning of an answer whose stream ended early, and with which its vendor goes on: of a background response. */
  pending(): JsonObject | undefined;
  /** Collects the answer of this call if it is streamed, for `answer`: called in `inspect` or `admit`. A stream of several answers (`n`) has none. */
  keepAnswer(): void;
  /** The status the client got, or would have got. */
  readonly status: number;
  /** Counts bytes as held in memory until the request ends, like its body; refuses with 429 or 503 if too many. */
  hold(bytes: number): void;
  /** Adds to the usage record. */
  note(facts: JsonObject): void;
  /** Adds a translation warning for a field that the gateway changes or ignores: `store:dropped`. */
  drop(field: string): void;
  /**
   * Adds headers to its upstream requests, such as a trace context: `make` is called before each attempt. Names are lower case. The headers
   * replace those of the dialect, and those that an earlier plugin adds; the channel's `headers:` replace them. Not for passthrough routes.
   */
  addUpstreamHeaders(make: (attempt: Attempt) => Headers): void;
  readonly notes: JsonObject;
  /**
   * Limits the output tokens of each choice: every vendor tried from now on gets this limit, and the client a warning.
   * A lower limit of the client stays.
   */
  limitOutput(tokens: number): void;
  /** Sends the request without these tools, which are among `Bounds.spare`: the client gets a warning, and in strict mode a refusal. */
  leaveOut(uses: readonly string[]): void;
  /**
   * Calls `look` before a piece of a streamed answer is sent; `textLength`: characters of the answer including the
   * piece. If it returns a promise, the piece and the vendor wait for it; a rejection ends the answer before the piece.
   */
  watch(look: (textLength: number) => Promise<void> | undefined): void;
  /** Cuts off a running answer: an error event in the client's style, no successful end. */
  cut(error: Error): void;
}

/** A request with an authenticated caller. */
export interface Known extends Exchange {
  readonly identity: Holder;
}

/** A path prefix whose requests, WebSockets included, are admitted and logged like calls, and not decoded. */
export interface PassthroughRoute {
  /** `/v1/files`; matches itself and everything below. */
  readonly prefix: string;
  /** The target. Must return the same every time it is called for one request, because the ledger reads the price from it. */
  target(x: Known): PassthroughTarget;
}

/** The target of one request on a passthrough route: address, headers and price. */
export interface PassthroughTarget {
  readonly channel: Channel;
  /** The complete URL, query included. */
  readonly url: URL;
  /** All upstream headers except those of the body. */
  readonly headers: Record<string, string>;
  /** The price per request; 0n is free. */
  readonly price: bigint;
}
