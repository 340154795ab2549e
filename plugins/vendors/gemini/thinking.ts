/** How much the model shall think, in tokens or in words, and whether it shows its thoughts. */

import type { JsonObject } from '../../../core/plugin.ts';
import type { Effort, Quirks, Reasoning } from '../../../core/translation/index.ts';

/** The vendor's words for efforts. */
const LEVELS: Readonly<Record<Effort, string>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

/** The model decides how much. */
const DYNAMIC = -1;

/** `thinkingConfig`; undefined where nothing is to be said about thinking. Core has chosen what the model understands. */
export function thinkingConfig(
  reasoning: Reasoning | undefined,
  input: Quirks['reasoning']['input'],
): JsonObject | undefined {
  if (reasoning === undefined || input === 'none') return undefined;
  const { mode, effort, budget, summary } = reasoning;
  const isOff = mode === 'off';
  const level = isOff ? LEVELS.minimal : effort && LEVELS[effort];
  return {
    ...(!isOff && summary !== 'none' && { includeThoughts: true }),
    ...(input === 'budget'
      ? { thinkingBudget: isOff ? 0 : (budget ?? DYNAMIC) }
      : level !== undefined && { thinkingLevel: level }),
  };
}
