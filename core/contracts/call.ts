/** What one model call is made of: the records that phases, styles and vendors hand to each other. */
import type { Conversation } from './conversation.ts';
import type { JsonBody } from './json.ts';
import type { Quirks } from './quirks.ts';
import type { ServedAs, UseBounds, Uses } from './uses.ts';
import type { Channel } from './vendor.ts';

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
  /** What was sent; of a form its fields, as a JSON object. */
  readonly body: JsonBody;
  /** What a plugin put in the place of the conversation in `body`; vendors get this one. */
  readonly conversation?: Conversation;
  /** The files that a form brought; undefined where the body was JSON. */
  readonly files?: readonly Upload[];
  /**
   * What the client gets where that is neither JSON nor events: `text` in one piece, or `bytes`, passed on as they come.
   * Undefined: JSON, or events where `stream` is true.
   */
  readonly answers?: 'text' | 'bytes';
  /** Upper bounds of what the call can use; a reservation is computed from them. */
  readonly bounds: Bounds;
  /** The earlier answer that it goes on from, where the request names one (`previous_response_id`). */
  readonly earlier?: Earlier;
}

/** A file that came with a request. It is there until the exchange has ended. */
export interface Upload {
  /** The field of the form that it came in: `file`, `image[]`, `mask`. */
  readonly field: string;
  /** As the client called it, without folders; never a path of ours. */
  readonly fileName: string;
  /** As the client said, in lower case; nobody has looked inside. */
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** Its bytes from the beginning, in pieces; as often as anybody asks. Rejects once the exchange has ended. */
  read(): AsyncIterable<Buffer>;
}

/** An answer that a request refers to. */
export interface Earlier {
  /** The channel whose vendor knows it, and can be told its id; it is asked first. */
  readonly channel: string | undefined;
  /** The client's body as it came, naming the earlier answer; `Call.body` holds everything that was said instead. */
  readonly body: JsonBody;
}

/** Upper bounds of what a call can use, as far as the request itself tells. */
export interface Bounds {
  /** Bytes of text that a vendor counts as input (UTF-8). A byte-level tokenizer never makes more tokens than bytes. */
  readonly inputBytes: number;
  /** Images, audio clips and files inside the input; their own bytes are not in `inputBytes`. */
  readonly media: number;
  /** The highest number of output tokens the client allows, all choices together; undefined where it sets none. */
  readonly outputTokens: number | undefined;
  /** How many answers are made (`n`); each has a limit of its own. */
  readonly choices: number;
  /** The vendor may add input of its own: it has tools that it runs itself, or keeps a part of the conversation. Computed on demand. */
  open?(): boolean;
  /** What the vendor may run for the answer, and sells by the use. Computed on demand. */
  uses?(): UseBounds | undefined;
  /** How it is to be served, where that is not left to the vendor. */
  readonly service?: ServedAs | undefined;
  /** Characters (code points) that are to be spoken. */
  readonly characters?: number;
  /** Seconds of audio in the input; its tokens are not in `inputBytes` or `media`. */
  readonly seconds?: number;
  /** Images that are to be made. */
  readonly images?: Images;
}

/** Images of one kind; what they cost depends on it. */
export interface Images {
  readonly count: number;
  /** `1024x1024`; empty where the request leaves it to the vendor. */
  readonly size: string;
  /** `standard`, `hd`, `low`, `high`; empty where the request leaves it to the vendor. */
  readonly quality: string;
}

/**
 * What was used, in tokens. `input` includes `cacheRead`, `cacheWrite`, `inputAudio` and `inputImage`; `output` includes
 * `reasoning`, `outputAudio` and `outputImage`. Vendors that count caches beside the input are added up by their style before this
 * record is made. What is sold by other units than tokens is counted beside them; the price says what is charged.
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
  readonly inputImage?: number;
  readonly outputImage?: number;
  /** Characters that were spoken. */
  readonly characters?: number;
  /** Seconds of audio that were heard; fractions are the vendor's. */
  readonly seconds?: number;
  /** Images that were made. */
  readonly images?: Images;
  /** What the vendor ran for the answer, as far as it tells; one that is missing or 0 was not run. */
  readonly uses?: Uses | undefined;
  /** How it was served, as far as the vendor tells. */
  readonly service?: ServedAs | undefined;
  /** True where the vendor did not say and we counted. */
  readonly estimated: boolean;
}

/** A channel plus that channel's own name for the model. */
export interface Offer {
  readonly channel: Channel;
  /** The vendor's name for the model. */
  readonly model: string;
  /** The style to be spoken there: the client's own where the channel has it, else one that it can be translated to. */
  readonly style: StyleName;
  /** What this model takes there. */
  readonly quirks: Quirks;
  /** A translation that loses something is refused. */
  readonly strict: boolean;
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
