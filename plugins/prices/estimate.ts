/** The maximum usage of a call, from which its reservation is computed. */
import type { Bounds } from '../../core/contracts/formats/call.ts';
import type { UseBounds, Uses } from '../../core/contracts/formats/uses.ts';
import type { Care, EstimateOptions, TokenBounds } from '../../core/contracts/prices.ts';
import { saneImages, saneSeconds, wholeTokens } from '../../core/sdk.ts';
import { countedUsage } from '../../core/translation/index.ts';

/** Input tokens that vendors add to the client's text: for each message, and a preamble for tools of several hundred tokens. */
const ADDED = { strict: 1024, estimate: 64 };

/** The most tokens of a second of audio; vendors count from ten to thirty-two. */
const TOKENS_PER_SECOND = 32;

/** The maximum usage of a call within its bounds; `output`: tokens of all its answers, if they differ from the bounds. */
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

/** An image counts as an answer: vendors that bill it in tokens make thousands of them for one. */
function answersOf({ choices, images }: Bounds): number {
  return Math.max(1, wholeTokens(choices), saneImages(images)?.count ?? 0);
}

/** Uses to reserve of each tool if the request does not limit them. */
const ASSUMED_USES = 4;
/** More uses than any call makes. */
const MOST_USES = 100;

/** How many uses to reserve; `likely`: at most one of each, which most calls do not even make. */
function boundedUses(bounds: UseBounds | undefined, likely: boolean): Uses | undefined {
  if (bounds === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(bounds).map(([name, most]) => {
      const count = Math.min(wholeTokens(most ?? ASSUMED_USES), MOST_USES);
      return [name, likely ? Math.min(count, 1) : count];
    }),
  );
}
