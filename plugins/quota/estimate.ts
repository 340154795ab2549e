/** The most tokens a call may use: what a reservation is computed from. */
import type { Bounds } from '../../core/contracts/call.ts';
import type { Uses } from '../../core/plugin.ts';
import { countedUsage } from '../../core/translation/index.ts';
import { saneImages, saneSeconds, wholeTokens } from './usage-sanity.ts';
import { boundedUses } from './use-prices.ts';

/**
 * How carefully the input is estimated. `strict`: as many tokens as bytes, which no byte-level tokenizer exceeds. `estimate`: two
 * tokens for five bytes (three bytes each, and a fifth more): smaller, right for nearly all text, not a proof. `count`: as the gateway
 * counts where a vendor does not say, about four bytes each, all of it at the plain rate: what the call will probably cost.
 */
export type Care = 'strict' | 'estimate' | 'count';

/** How carefully a call is reserved for. */
export interface EstimateOptions {
  /** The care that is taken where the balance allows it. */
  readonly reserve: Exclude<Care, 'count'>;
  /**
   * Output tokens of each answer that are set aside before anything else is spared, where neither the client nor the model sets a lower
   * maximum; and the output assumed for each image.
   */
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
  /** All input is charged at the plain rate; else any of it may be of the dearest kind. */
  readonly plain: boolean;
  /** What the vendor may run, and how often. */
  readonly uses?: Uses | undefined;
}

/** The tokens a call may use within its bounds; `output`: of all its answers, where that is not what the bounds say. */
export function tokenBounds(
  bounds: Bounds,
  options: EstimateOptions,
  care: Care = options.reserve,
  output = bounds.outputTokens ?? options.assumeOutput * answersOf(bounds),
): TokenBounds {
  const media = wholeTokens(bounds.media);
  const sound = Math.ceil(saneSeconds(bounds.seconds)) * TOKENS_PER_SECOND;
  return {
    input: care === 'count' ? wholeTokens(countedUsage(bounds, 0).input) : inputTokens(bounds, options, care, sound),
    output: wholeTokens(output),
    media: media > 0 || sound > 0,
    plain: care === 'count',
    uses: boundedUses(bounds.uses?.(), care === 'count'),
  };
}

function inputTokens(bounds: Bounds, { mediaTokens }: EstimateOptions, care: 'strict' | 'estimate', sound: number) {
  const bytes = wholeTokens(bounds.inputBytes);
  const text = care === 'strict' ? bytes : Math.ceil((bytes * 2) / 5);
  return wholeTokens(text + wholeTokens(bounds.media) * mediaTokens + sound + ADDED[care]);
}

/** An image is an answer, too: whoever sells it by tokens makes thousands of them for one. */
function answersOf({ choices, images }: Bounds): number {
  return Math.max(1, wholeTokens(choices), saneImages(images)?.count ?? 0);
}
