/** Encodes the reasoning options, in the field that the vendor supports. */
import type { JsonObject, Losses } from '../../../core/plugin.ts';
import type { Quirks, Reasoning } from '../../../core/translation/index.ts';
import { dropSummaryLength } from '../../../core/translation/index.ts';

/** The members of the request. Core has chosen an effort or a budget that the model supports. */
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
