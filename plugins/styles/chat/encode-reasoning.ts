/** How much a chat vendor is asked to think, in the field that it has for it. */
import type { JsonObject, Losses } from '../../../core/plugin.ts';
import type { Quirks, Reasoning } from '../../../core/translation/index.ts';
import { dropSummaryLength } from '../../../core/translation/index.ts';

/** The members of the request. Core has chosen the effort, or the budget, that the model knows. */
export function writeReasoning(
  reasoning: Reasoning | undefined,
  { input, levels }: Quirks['reasoning'],
  losses: Losses,
): JsonObject {
  if (reasoning === undefined) return {};
  dropSummaryLength(reasoning, losses);
  const { mode, effort, budget } = reasoning;
  const isOff = mode === 'off';
  switch (input) {
    case 'none':
      losses.drop('reasoning_effort', isOff ? 'hint' : undefined);
      return {};
    case 'budget':
      return isOff
        ? { enable_thinking: false }
        : { enable_thinking: true, ...(budget !== undefined && { thinking_budget: budget }) };
    case 'adaptive':
      return isOff
        ? { thinking: { type: 'disabled' } }
        : { thinking: { type: 'enabled' }, ...(effort !== undefined && { reasoning_effort: effort }) };
    default:
      if (isOff) return levels.includes('none') ? { reasoning_effort: 'none' } : {};
      return effort === undefined ? {} : { reasoning_effort: effort };
  }
}
