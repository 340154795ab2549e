/**
 * The common form: a conversation, an answer and a stream, independent of styles. Ordered, typed blocks, richer than
 * any single style, so that a translation loses only what the target style cannot express.
 */

import type { StyleName } from '../definitions.ts';
import type { Json, JsonObject } from './json.ts';
import type { Usage } from './usage.ts';

/** A request: the conversation so far, and the options for its answer. */
export interface Conversation {
  /** In the client's order. Instructions outside the messages (`system`, `instructions`) come first. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
  /** False: one tool call at a time. */
  readonly parallelToolCalls: boolean | undefined;
  /** The maximum tokens of the answer, reasoning included. */
  readonly maxTokens: number | undefined;
  readonly sampling: Sampling;
  /** Stop sequences. */
  readonly stop: readonly string[];
  readonly reasoning: Reasoning | undefined;
  readonly output: Output;
  readonly labels: Labels;
  /** How to handle a conversation that is too long for the model. */
  readonly truncation: 'auto' | 'disabled' | undefined;
  /** The number of answers, if there are several. */
  readonly choices?: number;
  /**
   * The client's top-level fields that have no member here, by the client's names. A style takes those it knows under
   * the same name; core reports the rest as dropped.
   */
  readonly extras: JsonObject;
}

/** A turn. `developer` equals `system` unless a model distinguishes them. Tool results are part of a user turn. */
export interface Turn {
  readonly role: 'system' | 'developer' | 'user' | 'assistant';
  readonly blocks: readonly Block[];
  /** The speaker's name, if the style has one. */
  readonly name?: string;
}

/** A part of a turn or of an answer. */
export type Block =
  | TextBlock
  | RefusalBlock
  | ImageBlock
  | AudioBlock
  | FileBlock
  | ThinkingBlock
  | ToolCallBlock
  | ToolResultBlock
  | ForeignBlock;

export interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly citations?: readonly Citation[];
  /** Log probabilities in the format of Chat Completions and Responses: `[{token, logprob, bytes, top_logprobs}]`. */
  readonly logprobs?: readonly Json[];
  readonly cache?: CacheHint;
}

/** The model's refusal text. */
export interface RefusalBlock {
  readonly type: 'refusal';
  readonly text: string;
}

export interface ImageBlock {
  readonly type: 'image';
  readonly source: Source;
  readonly detail?: string;
  readonly cache?: CacheHint;
}

/** Audio: base64 of `format` in a request; in an answer the model's speech. */
export interface AudioBlock {
  readonly type: 'audio';
  /** Base64. */
  readonly data: string;
  /** `wav`, `mp3`, `pcm16`, … */
  readonly format: string;
  readonly transcript?: string;
  /** The vendor's id, which later turns may refer to; if `data` is empty, the block is only this reference. */
  readonly id?: string;
  /** Unix seconds until which `id` is valid. */
  readonly expiresAt?: number;
  readonly cache?: CacheHint;
}

/** A document, a video, or another file that is not text. */
export interface FileBlock {
  readonly type: 'file';
  readonly source: Source;
  /** Its file name. */
  readonly name?: string;
  readonly title?: string;
  readonly context?: string;
  /** The answer should cite it. */
  readonly citable?: boolean;
  readonly cache?: CacheHint;
}

/** The source of an image or a file. */
export type Source =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  /** An upload that only its vendor knows. */
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'text'; readonly text: string };

/** Reasoning of the model. Most vendors refuse reasoning without `opaque` in later turns. */
export interface ThinkingBlock {
  readonly type: 'thinking';
  /** Empty if the vendor does not show it. */
  readonly text: string;
  readonly opaque?: Opaque;
}

/** Opaque data that only its vendor can read and that must be sent back unchanged: a signature, encrypted reasoning. */
export interface Opaque {
  /** The style it was returned in. */
  readonly style: StyleName;
  /** The channel whose credential it is bound to; undefined if unknown. */
  readonly channel?: string;
  /** The vendor's name of the model that made it, and that alone gets it back; undefined if unknown. */
  readonly model?: string;
  /** `signature` belongs to the text; the other kinds contain the reasoning. */
  readonly kind: 'signature' | 'redacted' | 'encrypted' | 'thought';
  readonly value: string;
  /** The id of its item, if the vendor checks it. */
  readonly id?: string;
}

export interface ToolCallBlock {
  readonly type: 'toolCall';
  readonly id: string;
  readonly name: string;
  /** The namespace of its tool. */
  readonly namespace?: string;
  /** `function` is called with JSON, `custom` with free text. */
  readonly kind: 'function' | 'custom';
  /** The arguments as the model wrote them: a JSON object as text, or free text; empty if there are none. */
  readonly input: string;
  readonly opaque?: Opaque;
}

export interface ToolResultBlock {
  readonly type: 'toolResult';
  /** The id of its call. */
  readonly id: string;
  readonly kind: 'function' | 'custom';
  /** Text, images and files. */
  readonly content: readonly Block[];
  readonly isError?: boolean;
  readonly cache?: CacheHint;
}

/** A block that only its own style understands, so no other gets it: a result of a vendor-side tool, a compaction. */
export interface ForeignBlock {
  readonly type: 'foreign';
  readonly style: StyleName;
  /** Its name in warnings: `web_search_call`. */
  readonly what: string;
  readonly raw: Json;
}

/** A citation. Offsets count UTF-16 units of the block's text. */
export interface Citation {
  readonly url?: string;
  readonly title?: string;
  readonly start?: number;
  readonly end?: number;
  /** The quoted words. */
  readonly quote?: string;
  /** The vendor's original object. */
  readonly style: StyleName;
  readonly raw: Json;
}

/** A cache breakpoint: everything up to here will be sent again. */
export interface CacheHint {
  /** Its lifetime in seconds; undefined: the default. */
  readonly ttlSeconds?: number;
}

export type Tool = FunctionTool | CustomTool | HostedTool;

export interface FunctionTool {
  readonly type: 'function';
  readonly name: string;
  readonly namespace?: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject;
  readonly strict?: boolean;
  readonly cache?: CacheHint;
  /** Fields of the client's style that have no member here (`defer_loading`, `input_examples`). */
  readonly extras?: JsonObject;
}

/** A tool that is called with free text. */
export interface CustomTool {
  readonly type: 'custom';
  readonly name: string;
  readonly namespace?: string;
  readonly description?: string;
  /** `{type: 'text'}`, or a grammar. */
  readonly format?: JsonObject;
  readonly extras?: JsonObject;
}

/** A vendor-side tool. */
export interface HostedTool {
  readonly type: 'hosted';
  /** `web_search` is common to several vendors; others have their style's name. */
  readonly name: string;
  readonly style: StyleName;
  /** The client's original object. */
  readonly raw: JsonObject;
  /** The options of `web_search`, for translation. */
  readonly search?: WebSearch;
}

export interface WebSearch {
  readonly contextSize?: 'low' | 'medium' | 'high';
  readonly maxUses?: number;
  readonly allowedDomains?: readonly string[];
  readonly blockedDomains?: readonly string[];
  /** `{type: 'approximate', city, region, country, timezone}`. */
  readonly location?: JsonObject;
  /** Fields of the client's style that have no member here. */
  readonly extras?: JsonObject;
}

/** `only`: names of the allowed tools; one name with `required` forces this tool. */
export interface ToolChoice {
  readonly mode: 'auto' | 'none' | 'required';
  /** With `auto`: calls must match their schemas. Few vendors have such a mode; it is `auto` for the others. */
  readonly validated?: boolean;
  readonly only?: readonly string[];
}

export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly logitBias?: JsonObject;
  /** Number of alternatives per token; 0: only the tokens themselves. Undefined: no log probabilities. */
  readonly logprobs?: number;
}

export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** The amount of reasoning. `auto`: the model decides. */
export interface Reasoning {
  readonly mode: 'off' | 'on' | 'auto';
  readonly effort?: Effort;
  /** In tokens. */
  readonly budget?: number;
  /** The part that is shown; undefined: the default of the client's style. */
  readonly summary?: 'none' | 'auto' | 'concise' | 'detailed';
}

/** The format of the answer. */
export interface Output {
  readonly format?:
    | { readonly type: 'text' }
    | { readonly type: 'json' }
    | {
        readonly type: 'schema';
        readonly name?: string;
        readonly description?: string;
        readonly schema: JsonObject;
        readonly strict?: boolean;
      };
  readonly verbosity?: string;
  /** `text`, `audio`, `image`; undefined: text. */
  readonly modalities?: readonly string[];
  readonly audio?: { readonly voice?: Json; readonly format?: string };
}

/** Metadata of a request. */
export interface Labels {
  /** The end user, for the vendor's abuse monitoring. */
  readonly user?: string;
  readonly metadata?: JsonObject;
  /** Requests with the same key share a cached prompt. */
  readonly cacheKey?: string;
  readonly serviceTier?: string;
  /** The client wants the answer stored (true) or not (false). */
  readonly store?: boolean;
}

/** An answer. */
export interface Reply {
  /** The vendor's id; may be empty. */
  readonly id: string;
  /** The vendor's name for the model. */
  readonly model: string;
  readonly blocks: readonly Block[];
  readonly finish: Finish;
  readonly usage: Usage | undefined;
  readonly serviceTier?: string;
}

/** The finish reason. `pause`: the vendor must be called again to continue. `error`: it failed with status 200. */
export type FinishReason =
  | 'stop'
  | 'stop_sequence'
  | 'length'
  | 'context_full'
  | 'tool_calls'
  | 'refusal'
  | 'content_filter'
  | 'pause';

export interface Finish {
  readonly reason: FinishReason;
  /** The matched text, after `stop_sequence`. */
  readonly stopSequence?: string;
  /** The reason of a refusal. */
  readonly explanation?: string;
}

/**
 * One part of a stream. `start` comes first, also before a `ping` or a `usage`, and `finish` last, once; the deltas of
 * a block come between its `blockStart` and `blockEnd`; several blocks may be open at the same time and are
 * distinguished by `key`. `usage` is the total so far, not an increment. An error of the vendor is `error` and ends the
 * stream instead of `finish`; blocks may be open by then, and if the answer has not begun, it is the only part.
 */
export type Part =
  | { readonly type: 'start'; readonly id: string; readonly model: string; readonly serviceTier?: string }
  | { readonly type: 'blockStart'; readonly key: number; readonly block: BlockStart }
  | { readonly type: 'delta'; readonly key: number; readonly text: string; readonly logprobs?: readonly Json[] }
  | { readonly type: 'citation'; readonly key: number; readonly citation: Citation }
  /** For a reasoning block or a tool call. */
  | { readonly type: 'opaque'; readonly key: number; readonly opaque: Opaque }
  /** The transcript of audio whose `delta`s are base64. */
  | { readonly type: 'transcript'; readonly key: number; readonly text: string }
  | { readonly type: 'blockEnd'; readonly key: number }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly finish: Finish }
  | { readonly type: 'error'; readonly message: string; readonly code: string }
  /** A keep-alive of the vendor. */
  | { readonly type: 'ping' };

/**
 * The initial block. Text, refusals, reasoning and the input of tool calls are empty here and grow by deltas; images,
 * files and foreign blocks are complete.
 */
export type BlockStart = Block;
