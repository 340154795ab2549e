/** A style: one format of requests and replies. Core forwards the bytes; a style observes them, and translates if client and vendor use two. */
import type { Readable } from 'node:stream';
import type { Awaitable, Schema } from '../definitions.ts';
import type { GatewayError } from '../errors.ts';
import type { Bounds, Call, Headers, StyleName, Upload, Usage } from './call.ts';
import type { Conversation, Part, Reply } from './conversation.ts';
import type { Known } from './exchange.ts';
import type { Json, JsonBody, JsonObject } from './json.ts';
import type { Quirks, SomeQuirks } from './quirks.ts';
import type { Uses } from './uses.ts';

/**
 * One format of requests and replies, as a plugin brings it: the API of a vendor. A style that clients use has `ingress`, one that vendors use
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
  /** Its clients, with vendors of another style; undefined if its requests cannot be translated. */
  readonly client?: StyleClient;
  /** Its vendors, with clients of another style. */
  readonly vendor?: StyleVendor;
}

/** How clients reach a style: the path, and what is read of a request. */
export interface Ingress {
  /**
   * `POST` to this path is a request in this style. Segments that begin with `:` are parameters, as in a route: `/v1beta/models/:model` matches
   * one segment, `:rest*` the rest of the path. An exact path wins over one with parameters.
   */
  readonly path: string;
  /**
   * Checks a request and says what it requests; refuses with 400 and the field's name. `files`: those of a multipart body, whose fields are
   * then `body`; undefined if the body was JSON.
   */
  read(body: JsonBody, request: IngressRequest, files?: readonly Upload[]): CallFacts;
  /** Headers that `read` requires, as a client may send them: for calls that the gateway makes itself, and for tests. */
  readonly headers?: Headers;
  /** Accepts multipart bodies, beside JSON or instead of it. Default: JSON only. */
  readonly form?: FormReader;
  /** The bounds that only the content of files tells: the length of a recording. Asked after `read`, if there are files. */
  measure?(call: Call): Awaitable<Bounds>;
  /** The most values that one JSON body may have. Default: 200,000. */
  readonly maxValues?: number;
  /**
   * Replaces references in the body, such as one to an earlier reply, by their content. Called before `admit`, so that the reservation covers
   * the content. Undefined if there are none; refuses with 404 if the account has no such reply.
   */
  recall?(x: Known, body: JsonBody): Awaitable<Recalled | undefined>;
  /**
   * Members of its requests that hold texts for the model, if its requests are no conversation: plugins see these texts, and no
   * conversation. Strings, or anything that has strings in it.
   */
  readonly texts?: readonly string[];
  /** The response header in which its clients look for the request id, beside `x-request-id`. */
  readonly idHeader?: string;
  /** An event that keeps a stream alive; clients ignore it anywhere in a stream, before the first event as well. Default: an SSE comment. */
  readonly keepAlive?: string;
  /** For the description of the interface (OpenAPI); a style without it is not described. */
  readonly about?: StyleAbout;
}

/** What `Ingress.read` sees of a request beside its body. */
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
   * The changes that make the client's body the vendor's: a member's new JSON text, or undefined to remove the member. All other bytes stay
   * as they are. Default: `model` becomes the vendor's name for the model, if the body has this member.
   */
  patch?(body: JsonBody, to: Patch): Readonly<Record<string, string | undefined>>;
  /**
   * The request for a vendor, for a style whose requests may have files: then it is called instead of `patch`. Rejects with a
   * `GatewayError` if the vendor's model cannot do what the client wants.
   */
  outgoing?(call: Call, to: Destination): Awaitable<Outgoing>;
  /** Reads a whole reply, also for clients of other styles. `undefined` if it is no reply of this style. */
  answer(body: JsonBody, call: Call): AnswerFacts | undefined;
  /** Reads a whole reply that is not JSON; for calls whose `answers` is `text`. */
  text?(text: string, call: Call): AnswerFacts | undefined;
  /**
   * Converts a whole reply to what was requested, if the vendor offers something else (numbers for base64, a URL for the bytes) or leaves
   * something out; undefined if it needs no change.
   */
  finish?(body: JsonBody, call: Call, to: Finishing): Awaitable<Buffer | undefined>;
  /** The events for a client that requested a stream, if the vendor sent a whole reply. Default: the reply is refused. */
  streamed?(body: JsonBody, call: Call): string | undefined;
  /** The content type for a client that requested `bytes`, made of the vendor's; undefined: it is no such reply. */
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
  /** The only event of a stream that has not begun, whole. Default: a `data:` line with `body`. */
  event?(error: GatewayError, requestId: string): string;
  /** The status by which its clients recognize an overloaded vendor. Default: 503. */
  readonly overloadedStatus?: number;
}

/** What the description of the interface (OpenAPI) says of a style. */
export interface StyleAbout {
  /** One line. */
  readonly summary: string;
  /** What `read` lets through of a JSON body: members that it does not name pass. Undefined where only a form is taken. */
  readonly request?: Schema;
  /** The same of a form; its files are strings of the format `binary`. */
  readonly form?: Schema;
  /** A whole answer that is JSON. */
  readonly answer: Schema;
  /** What else it may be: `text/event-stream`. */
  readonly mediaTypes: readonly string[];
}

/** What a body asks for. */
export interface CallFacts {
  readonly model: string;
  readonly stream: boolean;
  /** The client itself asked for the usage of its stream. */
  readonly asksUsage: boolean;
  readonly answers?: 'text' | 'bytes';
  readonly bounds: Bounds;
}

/** Reads forms. */
export interface FormReader {
  /** True where JSON is not taken. */
  readonly only: boolean;
  /** Reads to the end, keeping files in `spool`. Refuses with 400 or 413 and the field's name; then nothing more need be read. */
  read(arrival: FormArrival): Promise<Form>;
}

/** A form on its way in. */
export interface FormArrival {
  /** Rejects or ends early where the client leaves; core tells that apart. */
  readonly body: Readable;
  /** The header, with its boundary. */
  readonly contentType: string;
  readonly spool: Spool;
}

/** A form that has come. */
export interface Form {
  /** Texts as they came; those of a name that ends in `[]`, and of one that came more than once where that is allowed, in a list. */
  readonly fields: JsonObject;
  readonly files: readonly Upload[];
}

/** Where the files of one request are kept: small ones in memory, larger ones on disk; gone when the exchange has ended. */
export interface Spool {
  file(about: Pick<Upload, 'field' | 'fileName' | 'mediaType'>): SpoolFile;
}

/** One file that is being kept. */
export interface SpoolFile {
  /** Resolves when the next piece may come; rejects with a `GatewayError` where it cannot be kept. */
  write(chunk: Buffer): Promise<void>;
  /** It is complete. */
  end(): Promise<Upload>;
}

/** A request with files, or the fields of one that might have had some. */
export interface Outgoing {
  /** `form`: fields and files as a form. `json`: the fields as a JSON object; it has no files then, or its dialect places them. */
  readonly as: 'json' | 'form';
  readonly fields: JsonObject;
  readonly files: readonly Upload[];
}

/** For whom and by whose leave an answer is finished. */
export interface Finishing {
  /** What was used, for styles that tell it whether or not the vendor does. */
  readonly usage: Usage;
  /** The vendor's name for the model. */
  readonly model: string;
  /** What could not be done is named here. */
  readonly losses: Losses;
  /** Fetches what the vendor's answer only points to, from public addresses alone. Rejects where it cannot be had. */
  fetch(url: string): Promise<Fetched>;
}

/** A body with everything said in it that it only referred to. */
export interface Recalled {
  readonly body: JsonBody;
  /** The channel that knows the earlier answer by the id in the client's own body; it is asked first, with that body. */
  readonly channel: string | undefined;
}

/** What the vendor's body must say that the client's may not. */
export interface Patch {
  /** The vendor's name for the model. */
  readonly model: string;
  /** Ask for the usage of a stream although the client did not. */
  readonly askUsage: boolean;
  /** The channel it goes to: thoughts that were sealed for another one are left out. */
  readonly channel: string;
  /** What the model takes. */
  readonly quirks: Quirks;
  /** The most tokens of output that can be paid, for each choice; undefined: nothing is to be said of it. */
  readonly maxOutput?: number | undefined;
  /** What is said in another way, or left out, is named here. */
  readonly losses: Losses;
}

/** Where a request with files goes. */
export interface Destination extends Patch {
  /** Fetches what the request names by its address, from public addresses alone; refuses with 400 and `param`. Kept for the next attempt. */
  fetch(url: string, param: string): Promise<Fetched>;
  /** Stands for the base64 of a file in a JSON body: its bytes take this place as the body leaves. */
  base64(file: Upload): string;
}

/** What a whole answer tells about itself. */
export interface AnswerFacts {
  readonly usage: Usage | undefined;
  /** Output text in characters, for an answer whose vendor does not count. */
  textLength(): number;
  /**
   * The vendor's error inside an answer whose status said success. `refused`: it is about the request itself, so the client is
   * told these words and no other channel is asked.
   */
  readonly error: { readonly message: string; readonly code: string; readonly refused?: boolean } | undefined;
}

/** How a stream is to be relayed. */
export interface RelayOptions {
  /** We asked for the usage, the client did not: the event that holds nothing else is kept from it. */
  readonly hideUsage: boolean;
  readonly call: Call;
  /** What is changed in the vendor's events is named here. */
  readonly losses: Losses;
}

/**
 * What an event means for the delivery. `pass`: the vendor has begun to answer, there is no way back. `hold`: it has not yet;
 * what was pushed waits for the first `pass`. `last`: what was pushed ends the stream well, and waits until the call is in the
 * books; a stream that ends without having begun an answer is no answer, and its end is `hold`. `error`: the vendor gives up inside the stream; what was pushed tells the client so,
 * or core does where nothing was.
 * `broken`: a part of the answer cannot be read, and the stream ends like one that breaks off; nothing was pushed.
 */
export type EventKind = 'hold' | 'pass' | 'last' | 'error' | 'broken';

/**
 * One stream on its way to the client. Fed with the vendor's whole events, comments among them, in order; where a call asks for
 * `bytes`, with these as they come.
 */
export interface StreamRelay {
  /** `event` holds the event's bytes with its blank line. Pushes what the client gets for it. */
  see(event: Buffer, out: (Buffer | string)[]): EventKind;
  /**
   * The vendor closed without a last event. `whole`: as it does in this style; what was pushed ends the stream well. `untidy`:
   * the same, but it should have said so. `broken`: the answer had not come to its end; nothing is pushed.
   */
  close(out: (Buffer | string)[]): 'whole' | 'untidy' | 'broken';
  /** An error event for a stream that has begun; whole events. Empty where nothing can be told: among bytes. */
  fail(error: GatewayError, requestId: string): string;
  /** What the vendor said it used, so far. */
  usage(): Usage | undefined;
  /**
   * What counts as used where the answer did not come to its end: the client has `left`, while the vendor goes on working and
   * charging; or it has `broken` off. Without it: what the vendor said so far, and our count of `textLength`.
   */
  unfinished?(how: 'left' | 'broken'): Usage;
  /** What the vendor has run so far, as its events show; what the usage says of it counts more. */
  uses?(): Uses | undefined;
  /** Characters of text, reasoning and tool arguments delivered so far. */
  textLength(): number;
  /** The vendor's error, after `error`. */
  error(): { readonly message: string; readonly code: string } | undefined;
  /** The answer as the client would have got it whole, after `last`, where the style keeps answers. */
  answer?(): JsonObject | undefined;
  /** After `last`: a plugin ended the answer, and its vendor may still be writing. */
  isCut?(): boolean;
}

// ---- between two styles

/** The clients of a style, in the common form: requests are decoded, replies and streams encoded. */
export interface StyleClient {
  /** What this style calls the fields of `Losses`; those that are missing are called the same. */
  readonly names: Readonly<Record<string, string>>;
  /** Those of `names` that depend on which of several spellings a request uses. */
  namesIn?(body: JsonBody): Readonly<Record<string, string>>;
  /** A request in the common form. Refuses with 400 and the field's name what nobody could understand. */
  decodeRequest(body: JsonObject, losses: Losses): Conversation;
  /** A whole answer as the client gets it. */
  encodeReply(reply: Reply, as: Answering): JsonObject;
  /** Writes one stream. */
  createStreamEncoder(as: Answering): PartWriter;
}

/** The vendors of a style, in the common form: requests are encoded, replies and streams decoded. */
export interface StyleVendor {
  /** What models of this style usually take; laid over what all models take. */
  readonly quirks: SomeQuirks;
  /** A request as the vendor gets it. What it cannot say goes to `losses`, as dropped or refused. */
  encodeRequest(conversation: Conversation, to: Target, losses: Losses): JsonObject;
  /** A whole answer in the common form; undefined where it is none. */
  decodeReply(body: JsonObject, from: Origin, losses: Losses): Reply | undefined;
  /** Reads one stream. */
  createStreamDecoder(from: Origin, losses: Losses): PartReader;
}

/** Where a translated request goes. */
export interface Target extends Origin {
  readonly stream: boolean;
  readonly quirks: Quirks;
  /** Whether a stream has to be asked for its usage. */
  readonly askUsage: boolean;
}

/** Who answers. */
export interface Origin {
  /** The channel's name: opaque values are bound to it. */
  readonly channel: string;
  /** The vendor's name for the model. */
  readonly model: string;
}

/** For whom an answer is written. */
export interface Answering {
  /** The exchange's id; ids of the style are made of it. */
  readonly id: string;
  /** The model that answers, as its vendor calls it; in a stream known when the answer begins. */
  readonly model: string;
  readonly createdMs: number;
  /** The time, in unix milliseconds. */
  now(): number;
  /** The client's request: some styles repeat parts of it. */
  readonly request: JsonObject;
  /** The client asked for the usage of its stream. */
  readonly asksUsage: boolean;
  /** Our count of the input, for styles that tell it before the vendor does. */
  readonly estimatedInput: number;
  readonly losses: Losses;
}

/** Reads a vendor's stream. */
export interface PartReader {
  /** What one event says. `data` is what stands in its data lines, `name` its event line. */
  read(event: { readonly name: string | undefined; readonly data: string }): readonly Part[];
  /**
   * The vendor closed its stream. What was still owed; a `finish` among it where the answer is whole all the same, as in a
   * style whose streams have no last event.
   */
  close(): readonly Part[];
  /** What the vendor has run so far, as its events show; what the usage says of it counts more. */
  uses?(): Uses | undefined;
}

/** Writes a client's stream. */
export interface PartWriter {
  /** The events for one part; empty where it shows nowhere. */
  write(part: Part): string;
  /** An error event for a stream that has begun. */
  fail(error: GatewayError, requestId: string): string;
  /** The whole answer, after `finish`, where the style keeps answers. */
  answer?(): JsonObject | undefined;
}

/**
 * What a translation could not carry over. Fields are called by the names that the chat style has for them (`max_tokens`,
 * `stop`, `top_k`, `response_format`, `reasoning_effort`, `messages`, `tools`, `tool_choice`, `user`, …; parts of them with a dot:
 * `image.detail`, `tools.strict`); core tells the client its own names.
 */
export interface Losses {
  /** Left out. `hint`: it would not have changed the answer (labels, cache hints), so not even `strict` minds. */
  drop(field: string, kind?: 'hint'): void;
  /** Left out: a top-level field of the client's that the vendor's style has no place for, by the name it came with. */
  leave(name: string, kind?: 'hint'): void;
  /** Said in another way than the client said it: clamped, emulated, wrapped. */
  change(field: string, kind?: 'hint'): void;
  /** What the vendor's answer held and the client's style cannot show (`web_search_call`, `citations`). */
  omit(what: string): void;
  /** What the client calls a field, for an error that is told elsewhere. */
  nameOf(field: string): string;
  /** Refuses the call with 400; the message names the field by the client's name, `why` ends the sentence that begins with it. */
  refuse(field: string, why: string): never;
  /** The same for what can be decoded but not translated: if a plugin only looks at the request, decoding goes on. */
  bar(field: string, why: string): void;
}

/** What was fetched. */
export interface Fetched {
  /** Lower case, without parameters; `application/octet-stream` where the server does not say. */
  readonly mediaType: string;
  readonly bytes: Buffer;
}
