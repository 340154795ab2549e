/** The records of a model call that phases, styles and vendors exchange. */

import type { StyleName } from '../definitions.ts';
import type { Channel } from './channel.ts';
import type { Conversation } from './conversation.ts';
import type { JsonBody } from './json.ts';
import type { Quirks } from './quirks.ts';
import type { Images } from './usage.ts';
import type { ServedAs, UseBounds } from './uses.ts';

export type { Headers, StyleName } from '../definitions.ts';
export type { Images, Usage } from './usage.ts';

/** A decoded client request. */
export interface Call {
  readonly style: StyleName;
  /** The public name the client sent; empty on passthrough routes. */
  readonly model: string;
  readonly stream: boolean;
  /** The client requested usage in its stream. */
  readonly asksUsage: boolean;
  /** What a request with tools says about reasoning. */
  readonly toolUse?: ToolUse;
  /**
   * An operation below the path of the style (`/compact`), which is at the same place at the vendor. Its answer is none of
   * the style, so it is forwarded to vendors of this style only.
   */
  readonly operation?: string;
  /** The request body; for a multipart body its fields as a JSON object. */
  readonly body: JsonBody;
  /** The conversation that a plugin put in place of that in `body`; it is sent to vendors. */
  readonly conversation?: Conversation;
  /** The files of a multipart body; undefined if the body was JSON. */
  readonly files?: readonly Upload[];
  /**
   * The format of the client's answer if neither JSON nor events: `text` in one piece, or `bytes`, forwarded as they
   * arrive. Undefined: JSON, or events if `stream` is true.
   */
  readonly answers?: 'text' | 'bytes';
  /** Upper bounds of the call's usage, for its reservation. */
  readonly bounds: Bounds;
  /** The earlier answer that the request continues (`previous_response_id`). */
  readonly earlier?: Earlier;
}

/** What a request with tools says about reasoning: it wants it, does not want it, or leaves it to the model. */
export type ToolUse = 'reasoning' | 'silent' | 'unsaid';

/** An uploaded file. It exists until the request has ended. */
export interface Upload {
  /** The multipart field: `file`, `image[]`, `mask`. */
  readonly field: string;
  /** The client's file name without folders; never a local path. */
  readonly fileName: string;
  /** The client's content type in lower case, unverified. */
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
  /** Its bytes from the start; can be read any number of times. Rejects once the request has ended. */
  read(): AsyncIterable<Buffer>;
}

/** An earlier answer that a request refers to. */
export interface Earlier {
  /** The channel, and its key (`keyNameOf`), whose vendor stored it and accepts its id; it is tried first. */
  readonly channel: string | undefined;
  /** The client's original body with the id of the earlier answer; `Call.body` has the full conversation instead. */
  readonly body: JsonBody;
}

/** Upper bounds of a call's usage, derived from the request. */
export interface Bounds {
  /** Bytes of input text (UTF-8). A byte-level tokenizer never makes more tokens than bytes. */
  readonly inputBytes: number;
  /** Number of images, audio clips and files in the input; their bytes are not in `inputBytes`. */
  readonly media: number;
  /** The maximum number of output tokens the client allows, all choices together; undefined if it sets none. */
  readonly outputTokens: number | undefined;
  /** Number of answers (`n`); each has its own limit. */
  readonly choices: number;
  /** The vendor may add input: it runs tools itself, or keeps a part of the conversation. Computed on demand. */
  open?(): boolean;
  /** Billable tools that the vendor may run. Computed on demand. */
  uses?(): UseBounds | undefined;
  /** Those of them that the request can do without: it has other tools, and does not demand these. Computed on demand. */
  spare?(): readonly string[];
  /** The service tier, if the client sets one. */
  readonly service?: ServedAs | undefined;
  /** Characters (code points) to be spoken. */
  readonly characters?: number;
  /** Seconds of audio in the input; its tokens are not in `inputBytes` or `media`. */
  readonly seconds?: number;
  /** Images to be generated. */
  readonly images?: Images;
}

/** A target: a channel and its own name for the model. */
export interface Offer {
  readonly channel: Channel;
  /** The vendor's name for the model. */
  readonly model: string;
  /** The style used upstream: the client's own if the channel supports it, otherwise one it can be translated to. */
  readonly style: StyleName;
  /** The model's quirks at this channel. */
  readonly quirks: Quirks;
  /** A translation with warnings that change the answer is refused. */
  readonly strict: boolean;
  /** The public model whose price applies: the requested one, or its fallback. */
  readonly priced: string;
}

/** Why an attempt failed; health checks and retries distinguish these classes. */
export type FailureKind =
  | 'connect' // no connection: refused, DNS, TLS
  | 'timeout' // no head, no bytes, or no end in time
  | 'status' // a status for which another channel is tried
  | 'busy' // 429 or 529: the credential is rate limited
  | 'credential' // 401, 402 or 403: our key is not accepted
  | 'broken' // the answer was truncated, malformed, or an error with status 200
  | 'refused'; // the vendor says that the request is invalid

/** One upstream attempt at one target. */
export interface Attempt {
  readonly offer: Offer;
  readonly startedMs: number;
  endedMs: number | undefined;
  /** Milliseconds from the start of the attempt to the first byte of the answer's body. */
  firstByteMs: number | undefined;
  status: number | undefined;
  failure: FailureKind | undefined;
  /** The failure, for administrators, without secrets. */
  reason: string | undefined;
  /** `retry-after` of the vendor, in milliseconds. */
  retryAfterMs: number | undefined;
  /** True if the client disconnected or the gateway cancelled it: says nothing about the channel's health. */
  cut: boolean;
}

/**
 * How a request ended. `served`: complete answer. `refused`: by the gateway or the vendor, nothing was delivered.
 * `failed`: no channel could answer, or the answer was truncated. `aborted`: the client disconnected.
 */
export type Outcome = 'served' | 'refused' | 'failed' | 'aborted';
