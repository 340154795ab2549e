/** One client request, from its arrival to its end: what the phases of a plugin are given. */
import type { Awaitable } from '../definitions.ts';
import type { Attempt, Call, Headers, Offer, Outcome, Usage } from './call.ts';
import type { JsonObject } from './json.ts';
import type { Holder } from './keys.ts';
import type { Style } from './style.ts';
import type { Channel } from './vendor.ts';

/** A request as guards and authentication see it. */
export interface Caller {
  /** `POST`. */
  readonly method: string;
  /** Without the query; exactly as it came. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** The client's address: the socket's, or what a trusted proxy says. */
  readonly ip: string;
}

/** A request whose sender may still be taken in or not. */
interface Arriving extends Caller {
  /**
   * 26 characters, made by us, the first ten of them the time (milliseconds, base 32), so that ids are in its order. It is the
   * `x-request-id` and the id of the usage record.
   */
  readonly id: string;
  /** Undone last-in first-out at its end; of a call before `settle`. */
  defer(release: () => Awaitable<void>): void;
  /** A header of the answer, as long as the head has not left; refusals carry it, too. */
  header(name: string, value: string): void;
}

/** A request at the door: who sends it, and what its head says. A call, or a request for a route. */
export interface Entrant extends Arriving {
  readonly identity: Holder;
}

/** One client request and everything that became of it. */
export interface Exchange extends Arriving {
  readonly startedMs: number;
  /** The style asked for; undefined for a passage. */
  readonly style: Style | undefined;
  readonly passage: Passage | undefined;
  /** Fires when the client goes away or the gateway cuts the exchange off. */
  readonly signal: AbortSignal;
  readonly identity: Holder | undefined;
  /** Readable from `admit` on. */
  readonly call: Call;
  readonly attempts: readonly Attempt[];
  /** The offer that serves, once one does. */
  readonly served: Offer | undefined;
  /** What was used so far: the vendor's word, else our own count of what was delivered; undefined where nothing was. */
  readonly usage: Usage | undefined;
  /**
   * What part of the price is charged, in millionths; undefined: all of it. Set before `admit` if a plugin answers in place of a vendor and
   * said so (`GivenAnswer`); 0 if its answer is free.
   */
  readonly share: number | undefined;
  /** True once a byte of the vendor's answer has gone to the client. */
  readonly delivered: boolean;
  /** Set before `settle`. */
  readonly outcome: Outcome | undefined;
  /**
   * The answer as the client got it, as a whole answer of its style, in `settle` of a call that was served. Undefined of an answer that is
   * no JSON, and of a stream unless `keepAnswer` was called or its style keeps answers anyway (responses); streams of images and of
   * transcriptions have none.
   */
  answer(): JsonObject | undefined;
  /** Collects the answer of this call if it is streamed, for `answer`: called in `inspect` or `admit`. A stream of several answers (`n`) has none. */
  keepAnswer(): void;
  /** The status the client got, or would have got. */
  readonly status: number;
  /** Counts so many bytes as held in memory until its end, as its body is; refuses with 429 or 503 where that is too much. */
  hold(bytes: number): void;
  /** For the usage record. */
  note(facts: JsonObject): void;
  /** Names a field of the request that the gateway does not do as asked: the client finds it among the warnings, `store:dropped`. */
  drop(field: string): void;
  readonly notes: JsonObject;
  /**
   * Limits the answer to so many tokens, for each of its choices: every vendor that is asked from now on is told so, and the client
   * finds it among the warnings. A limit of the client's that is lower stays.
   */
  limitOutput(tokens: number): void;
  /**
   * Asks `look` before a piece of a stream leaves that answers something; `textLength`: the characters of the answer with it. Where it
   * makes a promise the piece waits for that, and so does the vendor; a rejection cuts the answer off before the piece.
   */
  watch(look: (textLength: number) => Promise<void> | undefined): void;
  /** Cuts a running answer off: an error event in the client's style, no good ending. */
  cut(error: Error): void;
}

/** An exchange whose sender has been identified. */
export interface Known extends Exchange {
  readonly identity: Holder;
}

/**
 * A path prefix whose bytes core only carries, websockets included: authenticated, admitted and logged like a call, never
 * understood.
 */
export interface Passage {
  /** `/v1/files`; matches itself and everything below. */
  readonly prefix: string;
  /** Where it goes. The same answer however often it is asked for one exchange: the ledger reads the price of it. */
  target(x: Known): PassageTarget;
}

/** Where one request of a passage goes, with what, and for how much. */
export interface PassageTarget {
  readonly channel: Channel;
  /** The whole address, query included. */
  readonly url: URL;
  /** Everything that goes upstream beside the headers of the body. */
  readonly headers: Record<string, string>;
  /** Takes part in the ledger as this much per request; 0n is free. */
  readonly price: bigint;
}
