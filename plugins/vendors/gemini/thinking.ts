/** Encodes reasoning options: a budget or a level, and whether reasoning is returned. */

import type { JsonObject } from '../../../core/plugin.ts';
import type { Effort, Quirks, Reasoning } from '../../../core/translation/index.ts';

/** The vendor's levels. */
const LEVELS: Readonly<Record<Effort, string>> = {
  minimal: 'MINIMAL',
  low: 'LOW',
  medium: 'MEDIUM',
  high: 'HIGH',
  xhigh: 'HIGH',
  max: 'HIGH',
};

/** The budget that leaves the choice to the model. */
const DYNAMIC = -1;

/** `thinkingConfig`; undefined if there are no options. Core has chosen what the model supports. */
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
