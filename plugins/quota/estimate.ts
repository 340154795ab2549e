/** The most tokens a call may use: what a reservation is computed from. */
import type { Bounds } from '../../core/contracts/call.ts';
import { saneImages, saneSeconds, wholeTokens } from './usage-sanity.ts';

/** How carefully a call is reserved for. */
export interface EstimateOptions {
  /**
   * `strict`: as many input tokens as bytes, which no byte-level tokenizer exceeds. `estimate`: two tokens for five bytes
   * (three bytes each, and a fifth more): smaller, right for nearly all text, not a proof.
   */
  readonly reserve: 'strict' | 'estimate';
  /** Output tokens assumed for each answer, or image, where the client sets no maximum. */
  readonly assumeOutput: number;
  /**
   * Input tokens set aside for each image, clip or file. The request does not tell their size, so this is no bound: 3,000 cover
   * an image at most vendors and about 90 seconds of audio. Raise it where long documents are usual.
   */
  readonly mediaTokens: number;
}

/** What holds where gateway.yaml says nothing. */
export const ESTIMATE_DEFAULTS: EstimateOptions = { reserve: 'strict', assumeOutput: 4096, mediaTokens: 3000 };

/**
 * Input tokens that vendors add to the client's text: frames around messages, and the preamble for tools, which is several
 * hundred tokens long.
 */
const ADDED = { strict: 1024, estimate: 64 };

/** The most tokens that a second of sound is; vendors count from ten to thirty-two. */
const TOKENS_PER_SECOND = 32;

/** The most tokens of a call, in whole numbers. */
export interface TokenBounds {
  readonly input: number;
  readonly output: number;
  /** Whether any of the input may be sound or images: only a call with media can have some. */
  readonly media: boolean;
}

/** The tokens a call may use within its bounds, as far as `options` go. */
export function tokenBounds(bounds: Bounds, options: EstimateOptions): TokenBounds {
  const bytes = wholeTokens(bounds.inputBytes);
  const media = wholeTokens(bounds.media);
  const text = options.reserve === 'strict' ? bytes : Math.ceil((bytes * 2) / 5);
  const sound = Math.ceil(saneSeconds(bounds.seconds)) * TOKENS_PER_SECOND;
  // An image is an answer, too: whoever sells it by tokens makes thousands of them for one.
  const answers = Math.max(1, wholeTokens(bounds.choices), saneImages(bounds.images)?.count ?? 0);
  return {
    input: wholeTokens(text + media * options.mediaTokens + sound + ADDED[options.reserve]),
    output: wholeTokens(bounds.outputTokens ?? options.assumeOutput * answers),
    media: media > 0 || sound > 0,
  };
}
