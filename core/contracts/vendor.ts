/** A vendor: what core must know to talk to one kind of upstream. Data, and two or three small functions. */
import type { Awaitable, Schema } from '../definitions.ts';
import type { Call, Headers, Offer, StyleName, Upload } from './call.ts';
import type { Caller } from './exchange.ts';
import type { Json, JsonObject } from './json.ts';
import type { SomeQuirks } from './quirks.ts';
import type { Losses } from './style.ts';

/** One configured upstream. */
export interface Channel {
  readonly name: string;
  /** The name of a `Vendor`. */
  readonly vendor: string;
  /** Without a trailing slash: `https://api.example.com/v1`. `{model}` in its path stands for the vendor's name for the model. */
  readonly url: string;
  /** Headers of every request to it, by lower-case name; they replace those of the vendor. Undefined if there are none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Query parameters of every request to it; they replace those of the vendor. Undefined if there are none. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** The credential; empty where the vendor needs none. Never logged, never sent anywhere but to `url`. */
  readonly key: string;
  readonly weight: number;
  /** Channels of the lowest number are tried first. */
  readonly priority: number;
  readonly timeout: Timeouts;
  /** The styles this channel may be used for; undefined: the usual ones of its vendor (`Vendor.defaultStyles`). */
  readonly speaks: readonly StyleName[] | undefined;
  /** How its streams tell their usage: only when asked to, always, or never. */
  readonly streamUsage: 'include_usage' | 'always' | 'never';
  /** What its models take that is not usual at its vendor. */
  readonly quirks: SomeQuirks;
  /** The vendor's own fields (`Vendor.options`). */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Limits of waiting, in milliseconds. */
export interface Timeouts {
  /** Until the connection stands. */
  readonly connectMs: number;
  /** Until the head of the answer; undefined: 60 s for a stream, 600 s for a whole answer. */
  readonly headMs: number | undefined;
  /** Between two pieces of the answer. */
  readonly idleMs: number;
  /** From the request to the end of the answer, all attempts together. */
  readonly totalMs: number;
}

/** One kind of upstream, as a plugin brings it. */
export interface Vendor {
  readonly name: string;
  /** Fields a channel of this vendor may have beside the usual ones. */
  readonly options?: Schema;
  /** Where a channel without `url` goes; asked when a call is made, so a vendor may learn it in `start`. */
  url?(): string;
  /** True where a channel needs no key. Otherwise a channel whose key is empty is off. */
  readonly keyless?: boolean;
  /** Where a client's style is not among them, the first that it can be translated to is spoken. */
  readonly speaks: Readonly<Partial<Record<StyleName, Dialect>>>;
  /** What its models take that is not usual in their style; all that match a model's name apply, later ones win. */
  readonly quirks?: readonly ModelQuirks[];
  /** The styles a channel speaks that does not list any; undefined: all of `speaks`. */
  readonly defaultStyles?: readonly StyleName[];
  /**
   * What becomes of an answer that is no success, where this vendor means something else by its status than most do: it is the
   * client's business (`relay`), another channel is asked (`next`), or this credential has to cool down and another channel is
   * asked (`busy`). Undefined: the usual rule, by which 401, 402, 403, 404, 408 and 5xx ask the next and 429 and 529 are busy.
   */
  judge?(status: number, headers: Headers, body: Buffer): 'relay' | 'next' | 'busy' | undefined;
  /**
   * The headers with the credential, for what is no call of a style: paths that are only carried (`passthrough`; undefined: not
   * offered), and questions of plugins (`Host.ask`).
   */
  credentials?(channel: Channel): Record<string, string>;
  /**
   * Signs a request, last before it is sent: calls, passthrough routes and `Host.ask` alike. Gives the headers to add or to
   * replace. If it throws, or takes longer than 15 s, the attempt fails like one with a wrong credential, and the next channel is tried.
   */
  sign?(request: RequestToSign, channel: Channel): Awaitable<Readonly<Record<string, string>>>;
}

/** A request as it is about to be sent. */
export interface RequestToSign {
  readonly method: string;
  /** The whole address, query included. */
  readonly url: URL;
  /** By lower-case name; all but `host` and those that frame the body (`content-length`, `transfer-encoding`). */
  readonly headers: Headers;
  /**
   * The bytes of the body, from the first one each time; none if there is no body. Throws a `GatewayError` on a passthrough route with a
   * body: it is forwarded while it arrives.
   */
  body(): AsyncIterable<Buffer>;
  /** The SHA-256 of `body()` as 64 hexadecimal digits. Rejects like it. */
  sha256(): Promise<string>;
}

/** Quirks of the models whose names match. */
export interface ModelQuirks {
  /** Of the vendor's name for the model; `*` stands for any characters. */
  readonly models: readonly string[];
  readonly quirks: SomeQuirks;
}

/** How one vendor spells one style. */
export interface Dialect {
  /** Below the channel's url: `/chat/completions`. */
  readonly path: string | ((call: Call, offer: Offer, caller: Caller) => string);
  /**
   * All headers but those of the body; nothing of the client's is sent unless it stands here. `caller` is undefined where the
   * client speaks another style: its headers mean nothing then; `call` where only tokens are to be counted.
   */
  headers(channel: Channel, call: Call | undefined, caller: Caller | undefined): Record<string, string>;
  /**
   * Changes the body, last before sending. Without it the client's bytes go out with only the model's name exchanged;
   * with it the body is parsed and written anew. What it cannot say goes to `losses`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: a vendor reads fields of a body that core does not describe
  request?(body: Record<string, any>, offer: Offer, files: Attachments, losses: Losses): Record<string, unknown>;
  /** Makes the vendor's whole answer one of the style. Undefined where it is none; without it, it is one already. */
  answer?(body: JsonObject, offer: Offer, call: Call): JsonObject | undefined;
  /**
   * The models that can be asked in this style, by the vendor's names for them; `*` stands for any characters. Undefined: all.
   * The others are asked in another style.
   */
  readonly models?: readonly string[];
  /** How its streams are cut into events; `sse` by default. An answer of the type `text/event-stream` is always read as `sse`. */
  readonly frames?: Frames;
  /** How many tokens a request of this style has: where it is asked, and how that is answered. Undefined: it cannot say. */
  readonly count?: TokenCount;
}

/** `sse`: server-sent events. `ndjson`: a JSON value in each line. Otherwise frames of another format. */
export type Frames = 'sse' | 'ndjson' | FrameFormat;

/** A format of streams whose frames have a length that their first bytes tell. Core collects the bytes and limits their number. */
export interface FrameFormat {
  /** Of such a stream: what `accept` asks for, and what `content-type` must begin with. */
  readonly mediaType: string;
  /** The length of the frame that `bytes` begin with, in bytes and all parts of it included; undefined if it takes more bytes to tell. */
  lengthOf(bytes: Buffer): number | undefined;
  /** The event in a complete frame; undefined if it has none. Throws if the frame is invalid: the answer then counts as broken off. */
  read(frame: Buffer): StreamEvent | undefined;
}

/** An event as a style's decoder gets it. */
export interface StreamEvent {
  readonly name?: string | undefined;
  readonly data: string;
}

/** The files of a request, for a dialect that says them in JSON. */
export interface Attachments {
  readonly list: readonly Upload[];
  /** A text that stands for the file's bytes in base64: they take its place as the body goes out, without being held in memory. */
  base64(file: Upload): string;
}

/** A question how many tokens a request has. `model` is the vendor's name for it. */
export interface TokenCount {
  /** Below the channel's url; `POST`, with the style's headers. */
  path(model: string): string;
  /** What is sent, made of the request; undefined: the request itself. */
  body?(body: JsonObject, model: string): JsonObject;
  /** The number in what it answers; undefined where there is none. */
  read(answer: Json): number | undefined;
}
