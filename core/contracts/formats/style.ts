/** A style: one format of requests and replies. Core forwards the bytes; a style observes them, and translates if client and vendor use two. */

import type { Readable } from 'node:stream';
import type { Entrant } from '../caller.ts';
import type { Awaitable, Headers, Schema, StyleName } from '../definitions.ts';
import type { GatewayError } from '../gateway-error.ts';
import type { HeaderAbout } from '../route.ts';
import type { Bounds, Call, ToolUse, Upload } from './call.ts';
import type { Conversation, Part, Reply } from './conversation.ts';
import type { Json, JsonBody, JsonObject } from './json.ts';
import type { Quirks, SomeQuirks } from './quirks.ts';
import type { Usage } from './usage.ts';
import type { Uses } from './uses.ts';
import type { Warnings } from './warnings.ts';

export type { Warnings } from './warnings.ts';

/**
 * One format of requests and replies, provided by a plugin: the API of a vendor. A style that clients use has `ingress`, one that vendors use
 * has `relay`. Two styles meet in the common form: requests of one with `client` reach vendors of one with `vendor`.
 */
export interface Style {
  readonly name: StyleName;
  /** How clients reach it; undefined if only vendors use it. */
  readonly ingress?: Ingress;
  /** Client and vendor both use this style: what is observed and changed while bytes are forwarded. */
  readonly relay: Relay;
  /** How errors are written for its clients; each member has a default. */
  readonly errors?: StyleErrors;
  /** Requests of its clients to vendors of another style; undefined if its requests cannot be translated. */
  readonly client?: StyleClient;
  /** Requests to vendors of this style from clients of another style. */
  readonly vendor?: StyleVendor;
}

/** How clients use a style: the path, and how a request is decoded. */
export interface Ingress {
  /**
   * `POST` to this path is a request in this style. Segments that start with `:` are parameters, as in a route:
   * `/v1beta/models/:model` matches one segment, `:rest*` the rest of the path. An exact path wins over one with
   * parameters.
   */
  readonly path: string;
  /** Operations of the vendor below `path` that are charged like a request, and forwarded unchanged: `/compact`. */
  readonly operations?: readonly string[];
  /**
   * Checks a request and returns its options; refuses with 400 and the field's name. `files`: those of a multipart
   * body, whose fields are then `body`; undefined if the body was JSON.
   */
  read(body: JsonBody, request: IngressRequest, files?: readonly Upload[]): CallFacts;
  /** Headers that `read` requires, as a client may send them: for calls that the gateway makes itself, and for tests. */
  readonly headers?: Headers;
  /** Accepts multipart bodies, in addition to JSON or instead of it. Default: JSON only. */
  readonly form?: FormReader;
  /** Bounds that depend on the content of files: the length of a recording. Called after `read`, if there are files. */
  measure?(call: Call): Awaitable<Bounds>;
  /** The maximum number of values in a JSON body. Default: 200,000. */
  readonly maxValues?: number;
  /**
   * Replaces references in the body, such as one to an earlier reply, by their content. Called before `admit`, so that the reservation covers
   * the content. Undefined if there are none; refuses with 404 if the account has no such reply.
   */
  recall?(x: RecallRequest, body: JsonBody): Awaitable<Recalled | undefined>;
  /**
   * Members of its requests that contain texts for the model, if its requests are not conversations: plugins see these
   * texts instead of a conversation. Strings, or any value that contains strings.
   */
  readonly texts?: readonly string[];
  /** The name under which uses of a tool in `tools` are counted, if the vendor runs it and the request can be sent without it. */
  runs?(tool: Json): string | undefined;
  /** The response header in which its clients look for the request id, in addition to `x-request-id`. */
  readonly idHeader?: string;
  /** Response headers under a second name, in which its clients look for them: `{ 'x-ratelimit-limit-tokens': 'vendor-tokens-limit' }`. */
  readonly headerAliases?: Headers;
  /** An event that keeps a stream alive; clients ignore it anywhere in a stream, before the first event as well. Default: an SSE comment. */
  readonly keepAlive?: string;
  /** Documentation for OpenAPI; a style without it is not listed. */
  readonly about?: StyleAbout;
}

/** A request whose references `Ingress.recall` replaces. */
export interface RecallRequest extends Entrant {
  readonly call: Call;
  /** Counts bytes as held in memory until the request ends, like its body; refuses with 429 or 503 if too many. */
  hold(bytes: number): void;
  /** Adds a translation warning for a field that the gateway changes or ignores: `store:dropped`. */
  drop(field: string): void;
}

/** The request without its body, for `Ingress.read`. */
export interface IngressRequest {
  /** By their names in lower case. */
  readonly headers: Headers;
  /** The parameters of the path, decoded: `{ model: 'demo:generateContent' }`. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** Replies of a vendor for a client that uses the same style. */
export interface Relay {
  /**
   * The changes from the client's body to the vendor's: a member's new JSON text, or undefined to remove the member.
   * All other bytes stay as they are. Default: `model` becomes the vendor's name for the model, if the body has this
   * member.
   */
  patch?(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>>;
  /**
   * Whether a request needs the common form although the vendor uses the same style, because its model lacks something that only this replaces: it
   * is decoded and encoded again. `isAnother`: another model answers than the client named (an alias, a fallback). Default: never.
   */
  mustTranslate?(body: JsonBody, quirks: Quirks, isAnother: boolean): boolean;
  /**
   * The request for a vendor, for a style whose requests may have files: called instead of `patch`. Rejects with a
   * `GatewayError` if the vendor's model does not support it.
   */
  outgoing?(call: Call, to: Destination): Awaitable<Outgoing>;
  /** Reads a whole reply, also for clients of other styles. `undefined` if it is not a reply of this style. */
  answer(body: JsonBody, call: Call): AnswerFacts | undefined;
  /** Reads a whole reply that is not JSON; for calls whose `answers` is `text`. */
  text?(text: string, call: Call): AnswerFacts | undefined;
  /**
   * Converts a whole reply to the requested format, if the vendor returns another one (numbers for base64, a URL for
   * the bytes) or omits something; undefined if no change is needed.
   */
  finish?(body: JsonBody, call: Call, to: Finishing): Awaitable<Buffer | undefined>;
  /** The events for a client that requested a stream, if the vendor sent a whole reply. Default: it is refused. */
  streamed?(body: JsonBody, call: Call): string | undefined;
  /** The content type for a client that requested `bytes`, derived from the vendor's; undefined: not such a reply. */
  bytesType?(vendors: string, call: Call): string | undefined;
  /** Forwards one stream; called for each attempt. Default: streams are decoded and encoded by `vendor` and `client`. */
  stream?(options: RelayOptions): StreamRelay;
  /** The maximum size of one event, in bytes. Default: 8 MiB. */
  readonly maxEventBytes?: number;
  /** Decodes replies, for a style without `vendor`: for plugins that follow replies. */
  readonly reader?: Pick<StyleVendor, 'decodeReply' | 'createStreamDecoder'>;
}

/** How a style writes errors. */
export interface StyleErrors {
  /** The body of an error: an object with an `error`, whose members are texts. Default: `errorObject`. */
  body?(error: GatewayError, requestId: string): Json;
  /** The complete only event of a stream that has not started. Default: a `data:` line with `body`. */
  event?(error: GatewayError, requestId: string): string;
  /** The status by which its clients recognize an overloaded vendor. Default: 503. */
  readonly overloadedStatus?: number;
  /**
   * If the vendor's connection breaks off in a stream, or falls silent, the client's stream is cut without an error event: its clients repeat a request
   * whose connection was lost, and show an error event to the user.
   */
  readonly cutsWithVendor?: boolean;
}

/** OpenAPI documentation of a style. */
export interface StyleAbout {
  /** One line. */
  readonly summary: string;
  /** The schema of a JSON body; members that it does not name are accepted. Undefined if only multipart is accepted. */
  readonly request?: Schema;
  /** The same for a multipart body; its files are strings of the format `binary`. */
  readonly form?: Schema;
  /** A whole JSON answer. */
  readonly answer: Schema;
  /** Other content types of the answer: `text/event-stream`. */
  readonly mediaTypes: readonly string[];
  /** The name of the operation, from which generators of clients make the names of functions; default: the name of the style. */
  readonly name?: string;
  /** Further requirements, as sentences. */
  readonly notes?: string;
  /** Headers of requests that this style reads. */
  readonly headers?: readonly HeaderAbout[];
  /** The same about each of `Ingress.operations`, by its path. */
  readonly operations?: Readonly<Record<string, Omit<StyleAbout, 'operations'>>>;
}

/** The options of a request. */
export interface CallFacts {
  readonly model: string;
  readonly stream: boolean;
  /** The client requested usage in its stream. */
  readonly asksUsage: boolean;
  readonly answers?: 'text' | 'bytes';
  /** What a request with tools says about reasoning; undefined: it has none, or its style does not tell. */
  readonly toolUse?: ToolUse;
  readonly bounds: Bounds;
}

/** Parses multipart bodies. */
export interface FormReader {
  /** True if JSON is not accepted. */
  readonly only: boolean;
  /** Reads the whole body, with files in `spool`. Refuses with 400 or 413 and the field; the rest may stay unread. */
  read(arrival: FormArrival): Promise<Form>;
}

/** A multipart body that is arriving. */
export interface FormArrival {
  /** Rejects or ends early if the client disconnects; core detects that. */
  readonly body: Readable;
  /** The content-type header with its boundary. */
  readonly contentType: string;
  readonly spool: Spool;
}

/** A parsed multipart body. */
export interface Form {
  /** Text values; those of a name that ends in `[]`, and of a repeated name if that is allowed, are in a list. */
  readonly fields: JsonObject;
  readonly files: readonly Upload[];
}

/** Storage for the files of one request: small ones in memory, larger ones on disk; deleted when it has ended. */
export interface Spool {
  file(about: Pick<Upload, 'field' | 'fileName' | 'mediaType'>): SpoolFile;
}

/** One file that is being stored. */
export interface SpoolFile {
  /** Resolves when the next piece can be added; rejects with a `GatewayError` if it cannot be stored. */
  write(chunk: Buffer): Promise<void>;
  /** The file is complete. */
  end(): Promise<Upload>;
}

/** A request with files, or the fields of one that might have had some. */
export interface Outgoing {
  /** `form`: fields and files as multipart. `json`: the fields only, unless the dialect places the files among them. */
  readonly as: 'json' | 'form';
  readonly fields: JsonObject;
  readonly files: readonly Upload[];
}

/** The context for finishing an answer. */
export interface Finishing {
  /** The usage, for styles that report it in any case. */
  readonly usage: Usage;
  /** The vendor's name for the model. */
  readonly model: string;
  /** Collects warnings. */
  readonly warnings: Warnings;
  /** Fetches a URL in the vendor's answer, from public addresses only. Rejects if that fails. */
  fetch(url: string): Promise<Fetched>;
}

/** A body with its references resolved. */
export interface Recalled {
  readonly body: JsonBody;
  /** The channel that knows the earlier answer by its id in the client's body; it is tried first, with that body. */
  readonly channel: string | undefined;
}

/** Members that the vendor's body must contain in addition to the client's. */
export interface Patch {
  /** The vendor's name for the model. */
  readonly model: string;
  /** Request usage in the stream although the client did not. */
  readonly askUsage: boolean;
  /** The target channel: reasoning sealed for another one is omitted. */
  readonly channel: string;
  /** The model's quirks. */
  readonly quirks: Quirks;
  /** The history may differ from what the model has written: plugins revise answers, or another model answers than the client named. */
  readonly isRevised?: boolean;
  /** The maximum output tokens for each choice that the balance allows; undefined: no limit. */
  readonly maxOutput?: number | undefined;
  /** Collects warnings. */
  readonly warnings: Warnings;
}

/** The target of a request with files. */
export interface Destination extends Patch {
  /** Fetches a URL in the request, from public addresses only; refuses with 400 and `param`. Cached for attempts. */
  fetch(url: string, param: string): Promise<Fetched>;
  /** A placeholder for the base64 of a file in a JSON body: it is replaced by the bytes while the body is sent. */
  base64(file: Upload): string;
}

/** Usage and errors of a whole answer. */
export interface AnswerFacts {
  readonly usage: Usage | undefined;
  /** Output text in characters, for an answer without usage. */
  textLength(): number;
  /**
   * The vendor's error inside an answer with a success status. `refused`: the request itself is invalid, so the client
   * gets this message and no other channel is tried.
   */
  readonly error: { readonly message: string; readonly code: string; readonly refused?: boolean } | undefined;
}

/** How a stream is forwarded. */
export interface RelayOptions {
  /** The gateway requested usage, the client did not: the event that contains only usage is removed. */
  readonly hideUsage: boolean;
  readonly call: Call;
  /** Collects warnings. */
  readonly warnings: Warnings;
}

/**
 * The meaning of an event. `pass`: the vendor has begun to answer; no other channel is tried. `hold`: not yet; the
 * pushed events wait for the first `pass`. `last`: the pushed events complete the stream and wait for settlement; a
 * stream that ends without having begun an answer is not an answer, and its end is `hold`. `error`: the vendor reports
 * an error inside the stream; the pushed events tell the client, or core does if there are none. `broken`: a part of
 * the answer cannot be decoded, and the stream is treated as truncated; nothing was pushed.
 */
export type EventKind = 'hold' | 'pass' | 'last' | 'error' | 'broken';

/**
 * One stream to the client. Receives the vendor's complete events, comments included, in order; for a call that
 * requests `bytes`, these as they arrive.
 */
export interface StreamRelay {
  /** `event` contains the event's bytes with its blank line. Pushes the events for the client. */
  see(event: Buffer, out: (Buffer | string)[]): EventKind;
  /**
   * The vendor closed without a last event. `whole`: normal in this style; the pushed events complete the stream.
   * `untidy`: the same, but a last event is missing. `broken`: the answer is truncated; nothing is pushed.
   */
  close(out: (Buffer | string)[]): 'whole' | 'untidy' | 'broken';
  /** Error events for a stream that has begun. Empty for a byte stream. */
  fail(error: GatewayError, requestId: string): string;
  /** The usage reported by the vendor so far. */
  usage(): Usage | undefined;
  /**
   * The usage of an incomplete answer: the client `left`, while the vendor continues to generate and charge; or the
   * stream is `broken`. Default, and if undefined: the usage reported so far, and our count of `textLength`.
   */
  unfinished?(how: 'left' | 'broken'): Usage | undefined;
  /** The vendor-side tools run so far, according to the events; those in the usage take precedence. */
  uses?(): Uses | undefined;
  /** Characters of text, reasoning and tool arguments delivered so far. */
  textLength(): number;
  /** The vendor's error, after `error`. */
  error(): { readonly message: string; readonly code: string } | undefined;
  /** The complete answer for the client, after `last`, if the style keeps answers. */
  answer?(): JsonObject | undefined;
  /** What the vendor goes on with after a stream that ended early, if its client can come back for it; the beginning of an answer. */
  pending?(): JsonObject | undefined;
  /** After `last`: a plugin ended the answer, and the vendor may still be sending. */
  isCut?(): boolean;
}

// ---- translation between two styles

/** The client side of a style in translation: requests are decoded, replies and streams encoded. */
export interface StyleClient {
  /** This style's names for the fields of `Warnings`; missing ones have the same name. */
  readonly names: Readonly<Record<string, string>>;
  /** The entries of `names` that depend on which of several spellings a request uses. */
  namesIn?(body: JsonBody): Readonly<Record<string, string>>;
  /** Decodes a request. Refuses with 400 and the field's name if it is invalid. */
  decodeRequest(body: JsonObject, warnings: Warnings): Conversation;
  /** Encodes a whole answer for the client. */
  encodeReply(reply: Reply, as: Answering): JsonObject;
  /** Encodes several whole answers as one, for a style whose requests can have `choices`. */
  encodeReplies?(replies: readonly Reply[], as: Answering): JsonObject;
  /** Encodes one stream. */
  createStreamEncoder(as: Answering): PartWriter;
}

/** The vendor side of a style in translation: requests are encoded, replies and streams decoded. */
export interface StyleVendor {
  /** Default quirks of models of this style; they override the general ones. */
  readonly quirks: SomeQuirks;
  /** Encodes a request for the vendor. Adds what the style cannot express to `warnings`, as dropped or refused. */
  encodeRequest(conversation: Conversation, to: Target, warnings: Warnings): JsonObject;
  /** Decodes a whole answer; undefined if it is not one. */
  decodeReply(body: JsonObject, from: Origin, warnings: Warnings): Reply | undefined;
  /** The whole answers of one body, for vendors whose models return several (the quirk `choices`); undefined as for `decodeReply`. */
  decodeReplies?(body: JsonObject, from: Origin, warnings: Warnings): readonly Reply[] | undefined;
  /** Decodes one stream. */
  createStreamDecoder(from: Origin, warnings: Warnings): PartReader;
}

/** The target of a translated request. */
export interface Target extends Origin {
  readonly stream: boolean;
  readonly quirks: Quirks;
  /** Whether usage must be requested in a stream. */
  readonly askUsage: boolean;
}

/** The vendor side of an answer. */
export interface Origin {
  /** The channel's name: opaque values are bound to it. */
  readonly channel: string;
  /** The vendor's name for the model. */
  readonly model: string;
}

/** The client side of an answer. */
export interface Answering {
  /** The request id; ids of the style are derived from it. */
  readonly id: string;
  /** The vendor's name for the model that answers; in a stream known when the answer begins. */
  readonly model: string;
  readonly createdMs: number;
  /** The time, in unix milliseconds. */
  now(): number;
  /** The client's request: some styles repeat parts of it. */
  readonly request: JsonObject;
  /** The client requested usage in the stream. */
  readonly asksUsage: boolean;
  /** Our count of the input, for styles that report it before the vendor does. */
  readonly estimatedInput: number;
  readonly warnings: Warnings;
}

/** Decodes a vendor's stream. */
export interface PartReader {
  /** Decodes one event. `data` is the content of its data lines, `name` its event line. */
  read(event: { readonly name: string | undefined; readonly data: string }): readonly Part[];
  /**
   * The vendor closed its stream. Returns the remaining parts; a `finish` among them if the answer is complete, as in a
   * style whose streams have no last event.
   */
  close(): readonly Part[];
  /** The vendor-side tools run so far, according to the events; those in the usage take precedence. */
  uses?(): Uses | undefined;
}

/** Encodes a client's stream. */
export interface PartWriter {
  /** The events for one part; empty if the style does not show it. */
  write(part: Part): string;
  /** An error event for a stream that has begun. */
  fail(error: GatewayError, requestId: string): string;
  /** The complete answer, after `finish`, if the style keeps answers. */
  answer?(): JsonObject | undefined;
}

/** A fetched file. */
export interface Fetched {
  /** Lower case, without parameters; `application/octet-stream` if the server sends none. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}
