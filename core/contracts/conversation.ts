/**
 * The common form: what a conversation, an answer and a stream are between two styles. Ordered, typed blocks, richer than any one
 * style, so that translating loses as little as the other side can say.
 */

import type { StyleName, Usage } from './call.ts';
import type { Json, JsonObject } from './json.ts';

/** A request: everything that is said so far, and how the answer is wanted. */
export interface Conversation {
  /** In the order of the client. Instructions that stand outside the messages (`system`, `instructions`) come first. */
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | undefined;
  /** False: one tool call at a time. */
  readonly parallelToolCalls: boolean | undefined;
  /** The most tokens of the answer, reasoning included. */
  readonly maxTokens: number | undefined;
  readonly sampling: Sampling;
  /** Texts that end the answer. */
  readonly stop: readonly string[];
  readonly reasoning: Reasoning | undefined;
  readonly output: Output;
  readonly labels: Labels;
  /** What becomes of a conversation that is too long for the model. */
  readonly truncation: 'auto' | 'disabled' | undefined;
  /**
   * Top-level fields of the client that have no place here, by the client's name. A style takes those that it spells the same
   * way; core names the rest as dropped.
   */
  readonly extras: JsonObject;
}

/** What one side says. `developer` is `system` for models that tell the two apart. Tool results stand in a turn of the user's. */
export interface Turn {
  readonly role: 'system' | 'developer' | 'user' | 'assistant';
  readonly blocks: readonly Block[];
  /** The speaker's name, where the style has one. */
  readonly name?: string;
}

/** One piece of a turn or of an answer. */
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
  /** Log probabilities as chat completions and responses spell them: `[{token, logprob, bytes, top_logprobs}]`. */
  readonly logprobs?: readonly Json[];
  readonly cache?: CacheHint;
}

/** The model declines to answer, in its own words. */
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

/** Sound: in a request base64 of `format`; in an answer what the model says aloud. */
export interface AudioBlock {
  readonly type: 'audio';
  /** Base64. */
  readonly data: string;
  /** `wav`, `mp3`, `pcm16`, … */
  readonly format: string;
  readonly transcript?: string;
  /** The vendor's name for it, by which a later turn may refer to it; with `data` empty it is nothing but that reference. */
  readonly id?: string;
  /** Unix seconds until which `id` is good. */
  readonly expiresAt?: number;
  readonly cache?: CacheHint;
}

/** A document, a video, anything else that is not text. */
export interface FileBlock {
  readonly type: 'file';
  readonly source: Source;
  /** Its file name. */
  readonly name?: string;
  readonly title?: string;
  readonly context?: string;
  /** The answer shall cite it. */
  readonly citable?: boolean;
  readonly cache?: CacheHint;
}

/** Where the bytes of an image or a file are. */
export type Source =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  /** Uploaded to one vendor, and known only there. */
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'text'; readonly text: string };

/** What the model thought. Without `opaque` most vendors refuse to hear it again. */
export interface ThinkingBlock {
  readonly type: 'thinking';
  /** Empty where the vendor shows none. */
  readonly text: string;
  readonly opaque?: Opaque;
}

/** Bytes that only their maker can read, and that it wants back unchanged: a signature, an encrypted thought. */
export interface Opaque {
  /** The style in which it was said. */
  readonly style: StyleName;
  /** The channel whose credential it is bound to; undefined where that is not known. */
  readonly channel?: string;
  /** `signature` belongs to the text beside it; the others are the thought itself. */
  readonly kind: 'signature' | 'redacted' | 'encrypted' | 'thought';
  readonly value: string;
  /** The id of the item it stood in, where the vendor checks that. */
  readonly id?: string;
}

export interface ToolCallBlock {
  readonly type: 'toolCall';
  readonly id: string;
  readonly name: string;
  /** The group its tool was declared in. */
  readonly namespace?: string;
  /** `function` is called with JSON, `custom` with free text. */
  readonly kind: 'function' | 'custom';
  /** The arguments: JSON text of an object, or free text. As the model wrote it; may be empty, for no arguments. */
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

/** Something only its own style understands: what a tool of the vendor's did, a compaction. Passes where that style is spoken. */
export interface ForeignBlock {
  readonly type: 'foreign';
  readonly style: StyleName;
  /** What it is, for the list of losses: `web_search_call`. */
  readonly what: string;
  readonly raw: Json;
}

/** Where a statement of the answer comes from. Offsets count UTF-16 units of the block's text. */
export interface Citation {
  readonly url?: string;
  readonly title?: string;
  readonly start?: number;
  readonly end?: number;
  /** The words cited. */
  readonly quote?: string;
  /** As the vendor spelt it. */
  readonly style: StyleName;
  readonly raw: Json;
}

/** Everything up to here will come again: worth a place in the vendor's cache. */
export interface CacheHint {
  /** How long, in seconds; undefined: as long as is usual there. */
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
  /** Fields of the client's style that have no place here (`defer_loading`, `input_examples`). */
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

/** A tool that the vendor itself runs. */
export interface HostedTool {
  readonly type: 'hosted';
  /** `web_search` is the one that several vendors have; any other is what its style calls it. */
  readonly name: string;
  readonly style: StyleName;
  /** As the client spelt it. */
  readonly raw: JsonObject;
  /** What `web_search` means, so that another style can spell it. */
  readonly search?: WebSearch;
}

export interface WebSearch {
  readonly contextSize?: 'low' | 'medium' | 'high';
  readonly maxUses?: number;
  readonly allowedDomains?: readonly string[];
  readonly blockedDomains?: readonly string[];
  /** `{type: 'approximate', city, region, country, timezone}`. */
  readonly location?: JsonObject;
  /** Fields of the client's style that have no place here. */
  readonly extras?: JsonObject;
}

/** `only`: the tools that may be called, by name; one name with `required` is a tool that must be called. */
export interface ToolChoice {
  readonly mode: 'auto' | 'none' | 'required';
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
  /** How many alternatives to show for each token; 0: only the tokens' own. Undefined: no log probabilities. */
  readonly logprobs?: number;
}

export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** How much the model may think. `auto`: it decides. */
export interface Reasoning {
  readonly mode: 'off' | 'on' | 'auto';
  readonly effort?: Effort;
  /** In tokens. */
  readonly budget?: number;
  /** What of it is shown; undefined: as the client's style does it when nothing is said. */
  readonly summary?: 'none' | 'auto' | 'concise' | 'detailed';
}

/** The shape of the answer. */
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

/** What a request says about itself. */
export interface Labels {
  /** Who is behind the client, for the vendor's watch over abuse. */
  readonly user?: string;
  readonly metadata?: JsonObject;
  /** Requests with the same one share a prompt. */
  readonly cacheKey?: string;
  readonly serviceTier?: string;
  /** The client wants the answer kept (true) or not (false). */
  readonly store?: boolean;
}

/** An answer. */
export interface Reply {
  /** The vendor's name for it; may be empty. */
  readonly id: string;
  /** The vendor's name for the model. */
  readonly model: string;
  readonly blocks: readonly Block[];
  readonly finish: Finish;
  readonly usage: Usage | undefined;
  readonly serviceTier?: string;
}

/** Why an answer ends. `pause`: the vendor asks to be called again to go on. `error`: it went wrong, and says so in a success. */
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
  /** The text that ended it, after `stop_sequence`. */
  readonly stopSequence?: string;
  /** Why it refuses, in words. */
  readonly explanation?: string;
}

/**
 * One step of a stream. `start` comes first, before a `ping` or a `usage` as well, and `finish` last, once; a block's deltas
 * stand between its `blockStart` and its `blockEnd`; blocks may be open side by side and are kept apart by `key`. `usage` is what
 * was used so far, not what came on top. An error of the vendor's is `error`, and ends the stream in place of `finish`; blocks may
 * be open by then, and where the answer never began it stands alone.
 */
export type Part =
  | { readonly type: 'start'; readonly id: string; readonly model: string; readonly serviceTier?: string }
  | { readonly type: 'blockStart'; readonly key: number; readonly block: BlockStart }
  | { readonly type: 'delta'; readonly key: number; readonly text: string; readonly logprobs?: readonly Json[] }
  | { readonly type: 'citation'; readonly key: number; readonly citation: Citation }
  /** Of a thinking block, or of a tool call. */
  | { readonly type: 'opaque'; readonly key: number; readonly opaque: Opaque }
  /** The transcript of audio whose `delta`s are its base64. */
  | { readonly type: 'transcript'; readonly key: number; readonly text: string }
  | { readonly type: 'blockEnd'; readonly key: number }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly finish: Finish }
  | { readonly type: 'error'; readonly message: string; readonly code: string }
  /** The vendor shows that it lives. */
  | { readonly type: 'ping' };

/**
 * What is known of a block when it begins. Text, refusals, thoughts and the input of tool calls are empty here and grow by
 * deltas; images, files and foreign blocks come whole.
 */
export type BlockStart = Block;
