/** How much the model may think, as a vendor of this style is asked, and what that means for the length of the answer. */

import type { JsonObject, Losses } from '../../../core/plugin.ts';
import type { Conversation, Effort, Quirks, Reasoning } from '../../../core/translation/index.ts';
import { dropSummaryLength } from '../../../core/translation/index.ts';

/** What a body says about thinking. */
export interface EncodedThinking {
  /** `thinking`, where anything is said. */
  readonly thinking: JsonObject | undefined;
  /** For `output_config`. */
  readonly effort: Effort | undefined;
  /** The limit of the answer, which this style demands. */
  readonly maxTokens: number;
}

/** What a client gets that sets no limit, where nobody knows the model's. */
const USUAL_OUTPUT = 4_096;

/** What is thought with where no number is named; core names one for every effort. */
const USUAL_BUDGET = 8_192;

/** What the model may think; core has chosen what it can be asked for. */
export function encodeThinking(
  { reasoning, maxTokens }: Conversation,
  quirks: Quirks,
  losses: Losses,
): EncodedThinking {
  const limit = maxTokens ?? quirks.limits.max_output ?? USUAL_OUTPUT;
  const silent: EncodedThinking = { thinking: undefined, effort: undefined, maxTokens: limit };
  if (reasoning === undefined) return silent;
  dropSummaryLength(reasoning, losses);
  const { input } = quirks.reasoning;
  if (input === 'none') {
    losses.drop('reasoning_effort', reasoning.mode === 'off' ? 'hint' : undefined);
    return silent;
  }
  if (reasoning.mode === 'off') return { ...silent, thinking: { type: 'disabled' } };
  if (input !== 'budget') {
    const thinking = input === 'adaptive' ? { thinking: { type: 'adaptive', ...displayOf(reasoning) } } : {};
    return { ...silent, ...thinking, effort: effortOf(reasoning) };
  }
  if (reasoning.mode === 'auto' && (reasoning.budget ?? reasoning.effort) === undefined) return silent;
  const { budget_min: least, budget_max: most } = quirks.reasoning;
  // The thoughts and the answer share the limit. One that is only our guess grows with them.
  const isGuess = maxTokens === undefined && quirks.limits.max_output === undefined;
  const room = isGuess ? Number.POSITIVE_INFINITY : limit - 1;
  const budget = Math.max(least, Math.min(reasoning.budget ?? USUAL_BUDGET, most, room));
  if (budget > room) losses.change('max_tokens');
  return {
    thinking: {
      type: 'enabled',
      budget_tokens: budget,
      // The text is there unless it is left out.
      ...(reasoning.summary === 'none' && { display: 'omitted' }),
    },
    effort: undefined,
    maxTokens: isGuess || budget > room ? budget + limit : limit,
  };
}

/** Newer models leave the text out unless it is asked for. */
function displayOf({ summary }: Reasoning): JsonObject {
  return summary === 'none' ? {} : { display: 'summarized' };
}

/** `minimal` has no word here. */
function effortOf({ effort }: Reasoning): Effort | undefined {
  return effort === 'minimal' ? 'low' : effort;
}
