/** A vendor: the data and the few functions that core needs to use one kind of upstream. */
import type { Caller } from '../caller.ts';
import type { Awaitable, Headers, Schema, StyleName } from '../definitions.ts';
import type { Call, Offer, Upload } from './call.ts';
import type { Channel } from './channel.ts';
import type { Json, JsonObject } from './json.ts';
import type { Quirks, SomeQuirks } from './quirks.ts';
import type { Warnings } from './warnings.ts';

export type { Channel, Timeouts } from './channel.ts';
export { keyNameOf } from './channel.ts';

/** One kind of upstream, provided by a plugin. */
export interface Vendor {
  readonly name: string;
  /** Additional fields of a channel of this vendor. */
  readonly options?: Schema;
  /** The default `url` of a channel; called when a call is made, so that a vendor may determine it in `start`. */
  url?(): string;
  /** True if a channel needs no key. Otherwise a channel with an empty key is disabled. */
  readonly keyless?: boolean;
  /** If a client's style is missing, the first that it can be translated to is used. */
  readonly speaks: Readonly<Partial<Record<StyleName, Dialect>>>;
  /** Quirks of its models that differ from those of the style; all that match a model's name apply, later ones win. */
  readonly quirks?: readonly ModelQuirks[];
  /** The styles of a channel that does not list any; default: all of `speaks`. */
  readonly defaultStyles?: readonly StyleName[];
  /**
   * How to handle an answer without a success status, if this vendor uses its status in an unusual way: send it to the
   * client (`relay`), try another channel (`next`), or treat the credential as rate limited and try another channel
   * (`busy`). Undefined: the usual rule: 401, 402, 403, 404, 408 and 5xx are `next`, 429 and 529 are `busy`.
   */
  judge?(status: number, headers: Headers, body: Buffer): 'relay' | 'next' | 'busy' | undefined;
  /**
   * The headers with the credential, for requests that are not in a style: passthrough routes (undefined: not
   * supported), and small requests of plugins (`Host.ask`).
   */
  credentials?(channel: Channel): Record<string, string>;
  /** Its list of models; default: `GET /models`, which returns `{data: [{id}]}`. */
  readonly models?: ModelListing;
  /**
   * Signs a request, as the last step before it is sent: calls, passthrough routes and `Host.ask` alike. Returns
   * headers to add or replace. If it throws, or takes longer than 15 s, the attempt fails like one with a wrong
   * credential, and the next channel is tried. If the vendor answers a call or `Host.ask` with 401, it is signed again, once, with
   * `request.refused`, and repeated if the headers differ.
   */
  sign?(request: RequestToSign, channel: Channel): Awaitable<Readonly<Record<string, string>>>;
}

/** How a vendor lists its models, in pages. */
export interface ModelListing {
  /** Below the channel's url, query included. `after`: `next` of the page before; undefined for the first one. */
  path(after: string | undefined): string;
  /** The names of one page, and how the next one is requested, if there is one; undefined if it is not a list. */
  read(answer: Json): { readonly names: readonly string[]; readonly next?: string | undefined } | undefined;
}

/** A request as it is about to be sent. */
export interface RequestToSign {
  readonly method: string;
  /** The complete URL, query included. */
  readonly url: URL;
  /** By lower-case name; all except `host` and those that frame the body (`content-length`, `transfer-encoding`). */
  readonly headers: Headers;
  /**
   * The bytes of the body, from the first one each time; none if there is no body. Throws a `GatewayError` on a passthrough route with a
   * body: it is forwarded while it arrives.
   */
  body(): AsyncIterable<Buffer>;
  /** The SHA-256 of `body()` as 64 hexadecimal digits. Rejects like it. */
  sha256(): Promise<string>;
  /** The vendor has answered this request with 401 as it was signed before: a cached token must be fetched again. */
  readonly refused: boolean;
}

/** Quirks of the models whose names match. */
export interface ModelQuirks {
  /** Matches the vendor's name for the model; `*` matches any characters. */
  readonly models: readonly string[];
  /** The styles of requests to which they apply; undefined: all. */
  readonly styles?: readonly StyleName[];
  readonly quirks: SomeQuirks;
}

/** How one vendor implements one style. */
export interface Dialect {
  /** Below the channel's url: `/chat/completions`. */
  readonly path: string | ((call: Call, offer: Offer, caller: Caller) => string);
  /**
   * All headers but those of the body; client headers are sent only if they are returned here. `caller` is undefined if
   * the client uses another style, because its headers have no meaning then; `call` is undefined if only tokens are
   * counted. `quirks`: the model's at this channel.
   */
  headers(
    channel: Channel,
    call: Call | undefined,
    caller: Caller | undefined,
    quirks?: Quirks,
  ): Record<string, string>;
  /**
   * Changes the body, last before sending. Without it the client's bytes are forwarded with only the model's name
   * replaced; with it the body is parsed and encoded again. Adds what it cannot express to `warnings`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a vendor reads fields of a body that core does not describe
  request?(body: Record<string, any>, offer: Offer, files: Attachments, warnings: Warnings): Record<string, unknown>;
  /** Converts the vendor's whole answer to one of the style; undefined if it is not one. Default: it is one already. */
  answer?(body: JsonObject, offer: Offer, call: Call): JsonObject | undefined;
  /** The vendor's names of models with this style; `*` matches any characters. Undefined: all. */
  readonly models?: readonly string[];
  /** The stream format; default `sse`. An answer of the type `text/event-stream` is always read as `sse`. */
  readonly frames?: Frames;
  /** Token counting for a request of this style. Undefined: not supported. */
  readonly count?: TokenCount;
}

/** `sse`: server-sent events. `ndjson`: a JSON value in each line. Otherwise frames of another format. */
export type Frames = 'sse' | 'ndjson' | FrameFormat;

/** A stream format with frames whose first bytes give their length. Core collects the bytes and limits their number. */
export interface FrameFormat {
  /** The value of `accept`, and the prefix of `content-type`. */
  readonly mediaType: string;
  /** The length in bytes of the frame that `bytes` start with, all its parts included; undefined: more are needed. */
  lengthOf(bytes: Buffer): number | undefined;
  /** The event in a complete frame; undefined if it has none. Throws if it is invalid: the answer is truncated then. */
  read(frame: Buffer): StreamEvent | undefined;
}

/** An event for a style's decoder. */
export interface StreamEvent {
  readonly name?: string | undefined;
  readonly data: string;
}

/** The files of a request, for a dialect that sends them in JSON. */
export interface Attachments {
  readonly list: readonly Upload[];
  /** A placeholder for the file's bytes in base64, which are inserted while the body is sent, never held in memory. */
  base64(file: Upload): string;
}

/** The token counting endpoint. `model` is the vendor's name for it. */
export interface TokenCount {
  /** Below the channel's url; `POST`, with the style's headers. */
  path(model: string): string;
  /** The body, derived from the request; default: the request itself. */
  body?(body: JsonObject, model: string): JsonObject;
  /** The number in its answer; undefined if there is none. */
  read(answer: Json): number | undefined;
}
