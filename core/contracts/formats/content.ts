/** The content of a call for plugins: how they read and change it in the phases `inspect` and `revise`. */

import type { Awaitable } from '../definitions.ts';
import type { GatewayError } from '../gateway-error.ts';
import type { Conversation, Part, Reply } from './conversation.ts';

/** The content of one request. It is decoded when a plugin requests it, once for all plugins. */
export interface Content {
  /**
   * `call`: a vendor will be called. `count`: only the tokens of the request are counted, there is no answer. `explain`: the call is only explained,
   * and a plugin must not store any of its content.
   */
  readonly purpose: 'call' | 'count' | 'explain';
  /**
   * The conversation in the common form, with the turns that the request only refers to, and with the replacements of earlier plugins.
   * Undefined if the style has none: embeddings, images, audio, and completions, whose prompt may be several texts. Refuses with 400 what
   * cannot be decoded. Large media are mostly replaced by placeholders. A promise only if the body is large.
   */
  conversation(): Awaitable<Conversation | undefined>;
  /**
   * The texts of a request that has no conversation: the `input` of embeddings and speech, the `prompt` of images, transcriptions and
   * completions. Empty if it has one. Refuses with 400 token ids, which the gateway cannot read.
   */
  texts(): readonly string[];
  /**
   * Puts each text of the request, of either kind, through `map`: what users, the model and tools said, instructions, tools, labels. Not
   * the bytes of media, their URLs, ids and sealed reasoning. Returns what `inspect` has to return; undefined if no text was changed.
   * `aside`: the text, or the whole request, is large. Then `map` may return a promise, and its work belongs in a thread, because other
   * requests would wait for it.
   */
  mapTexts(map: (text: string, aside: boolean) => Awaitable<string>): Awaitable<Inspection | undefined>;
  /**
   * Why the conversation can be neither replaced nor answered by a plugin, and its answer not revised: several answers
   * were requested, or the vendor answers in the background. Undefined if it can. Known once `conversation` was called;
   * if a plugin does it nevertheless, the call is refused with this error (400).
   */
  refusal(): GatewayError | undefined;
  /**
   * Request fields that the conversation omits, as warnings name them: `messages.image_url.frame:dropped`. Empty if it
   * is complete. Known once `conversation` was called.
   */
  omitted(): readonly string[];
}

/** The result of `inspect`. To refuse the call, it throws (`refuse`). */
export type Inspection =
  /** Replaces the conversation for the rest of the call, its bounds and its reservation included. */
  | { readonly conversation: Conversation }
  /** The same of a request without one: as many texts as `Content.texts` returned. */
  | { readonly texts: readonly string[] }
  | GivenAnswer;

/** An answer in place of a vendor's: no attempt is made, and later plugins are not called. */
export interface GivenAnswer {
  /** A whole answer, or its parts in the order of `Part`; either is sent whole or as a stream, as the client requested it. */
  readonly answer: Reply | AsyncIterable<Part>;
  /** `usage`: the call is charged by the usage in `answer`, at the model's price. `nothing`: it is free, and the usage is only recorded. */
  readonly charge: 'usage' | 'nothing';
  /** For `usage`: the part of the price that is charged, in millionths; by default, the whole price. */
  readonly share?: number;
}

/** A part that plugins see: not a `ping`, which only concerns the connection, and not a vendor's error. */
export type ContentPart = Exclude<Part, { readonly type: 'ping' | 'error' }>;

/** Follows one answer, whole or streamed, part by part. An error that it throws ends the answer for the client. */
export interface Revision {
  /**
   * It only looks: what `part` and `end` return is ignored, and an answer that is revised by no other plugin is forwarded as bytes. It
   * sees nothing of several answers (`n`).
   */
  readonly observes?: boolean;
  /**
   * The next part of the answer; what it returns is sent in its place, in the order of `Part`. If it returns a `finish`
   * before the vendor's, the answer ends there: the rest of the vendor's stream is ignored, and open blocks are ended.
   */
  part(part: ContentPart): readonly ContentPart[];
  /** The answer is complete: returns what is still held back. Called before the `finish` is given to `part`; never for a truncated answer. */
  end(): readonly ContentPart[];
}
