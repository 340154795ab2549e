/** Encodes reasoning options, and the output limit that follows from them. */

import type { JsonObject, Losses } from '../../../core/plugin.ts';
import type { Conversation, Effort, Quirks, Reasoning } from '../../../core/translation/index.ts';
import { dropSummaryLength } from '../../../core/translation/index.ts';

/** The members of a body about reasoning. */
export interface EncodedThinking {
  /** `thinking`, if the request has any. */
  readonly thinking: JsonObject | undefined;
  /** For `output_config`. */
  readonly effort: Effort | undefined;
  /** The output limit, which this style requires. */
  readonly maxTokens: number;
}

/** The output limit if neither the client nor the model's quirks have one. */
const USUAL_OUTPUT = 4_096;

/** The reasoning budget if none is set; core sets one for every effort. */
const USUAL_BUDGET = 8_192;

/** Encodes the options; core has chosen what the model supports. */
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
    return { ...silent, ...thinking, effort: reasoning.effort === 'minimal' ? 'low' : reasoning.effort };
  }
  if (reasoning.mode === 'auto' && (reasoning.budget ?? reasoning.effort) === undefined) return silent;
  const { budget_min: least, budget_max: most } = quirks.reasoning;
  // Reasoning and answer share the limit. A default limit is raised by the budget.
  const isGuess = maxTokens === undefined && quirks.limits.max_output === undefined;
  const room = isGuess ? Number.POSITIVE_INFINITY : limit - 1;
  const budget = Math.max(least, Math.min(reasoning.budget ?? USUAL_BUDGET, most, room));
  if (budget > room) losses.change('max_tokens');
  return {
    thinking: {
      type: 'enabled',
      budget_tokens: budget,
      // The text is sent unless the request omits it.
      ...(reasoning.summary === 'none' && { display: 'omitted' }),
    },
    effort: undefined,
    maxTokens: isGuess || budget > room ? budget + limit : limit,
  };
}

/** Newer models omit the text unless it is requested. */
function displayOf({ summary }: Reasoning): JsonObject {
  return summary === 'none' ? {} : { display: 'summarized' };
}
