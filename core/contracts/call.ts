/** What one model call is made of: the records that phases, styles and vendors hand to each other. */
import type { JsonBody } from '../json.ts';
import type { Channel } from './vendor.ts';

/** A value that JSON can say. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };
/** Its objects. */
export type JsonObject = { readonly [member: string]: Json };

/** Header names in lower case. A header that came twice was refused or joined by core before anybody reads this. */
export type Headers = Readonly<Record<string, string>>;

/** The shape of a request and its answer: `chat`, `responses`, `messages`, … Each is a `Style` that a plugin brings. */
export type StyleName = string;

/** What the client asks for, understood. */
export interface Call {
  readonly style: StyleName;
  /** The public name the client sent; empty where the style has no model (a passage). */
  readonly model: string;
  readonly stream: boolean;
  /** The client itself asked for the usage of its stream. */
  readonly asksUsage: boolean;
  readonly body: JsonBody;
  /** Upper bounds of what the call can use; a reservation is computed from them. */
  readonly bounds: Bounds;
}

/** Upper bounds of what a call can use, as far as the request itself tells. */
export interface Bounds {
  /** Bytes of text that a vendor counts as input (UTF-8). A byte-level tokenizer never makes more tokens than bytes. */
  readonly inputBytes: number;
  /** Images, audio clips and files inside the input; their own bytes are not in `inputBytes`. */
  readonly media: number;
  /** The highest number of output tokens the client allows, all choices together; undefined where it sets none. */
  readonly outputTokens: number | undefined;
  /** How many answers were asked for (`n`). */
  readonly choices: number;
}

/**
 * What was used, in tokens. `input` includes `cacheRead`, `cacheWrite` and `inputAudio`; `output` includes `reasoning`
 * and `outputAudio`. Vendors that count caches beside the input are added up by their style before this record is made.
 */
export interface Usage {
  readonly input: number;
  readonly cacheRead: number;
  /** Written to a cache that lives for five minutes (or for as long as the vendor's only kind does). */
  readonly cacheWrite: number;
  /** Written to a cache that lives for an hour. */
  readonly cacheWriteLong: number;
  readonly inputAudio: number;
  readonly output: number;
  readonly reasoning: number;
  readonly outputAudio: number;
  /** True where the vendor did not say and we counted. */
  readonly estimated: boolean;
}

/** A channel plus that channel's own name for the model. */
export interface Offer {
  readonly channel: Channel;
  /** The vendor's name for the model. */
  readonly model: string;
  /** The public model whose price applies: the one asked for, or the fallback that serves in its place. */
  readonly priced: string;
}

/** Why an attempt failed; the classes that health and retries tell apart. */
export type FailureKind =
  | 'connect' // no connection: refused, DNS, TLS
  | 'timeout' // no head, no bytes, or no end in time
  | 'status' // the vendor answered with a status that asks for another channel
  | 'busy' // 429 or 529: this credential has to cool down
  | 'credential' // 401, 402 or 403: our key is not good there
  | 'broken' // the answer was cut, malformed, or an error in the clothes of a success
  | 'refused'; // the vendor says that the request itself is wrong

/** One try at one offer. */
export interface Attempt {
  readonly offer: Offer;
  readonly startedMs: number;
  endedMs: number | undefined;
  /** Milliseconds from the start of the attempt to the first byte of the answer's body. */
  firstByteMs: number | undefined;
  status: number | undefined;
  failure: FailureKind | undefined;
  /** For people: what went wrong, without secrets. */
  reason: string | undefined;
  /** How long the vendor asked to be left alone, in milliseconds. */
  retryAfterMs: number | undefined;
  /** True where the client left or the gateway broke it off: it says nothing about the channel. */
  cut: boolean;
}

/**
 * How an exchange ended. `served`: the whole answer. `refused`: we or the vendor said no, nothing was delivered.
 * `failed`: no channel could answer, or the answer broke off. `aborted`: the client left.
 */
export type Outcome = 'served' | 'refused' | 'failed' | 'aborted';
