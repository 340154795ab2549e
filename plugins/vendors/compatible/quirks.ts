/** The quirks of models that many servers offer, by model name. */
import type { ModelQuirks } from '../../../core/plugin.ts';

/** Later ones win. */
export const compatibleQuirks: readonly ModelQuirks[] = [
  // With reasoning on, they refuse a history whose tool calls have no reasoning.
  { models: ['*kimi*', '*deepseek*'], quirks: { reasoning: { echo: 'tool_turns' } } },
  // Variants without reasoning, or without reasoning in tool calls: their servers may not support the member.
  {
    models: ['*kimi-k2-instruct*', '*kimi-k2-0*', '*kimi-vl*', '*deepseek-r1*'],
    quirks: { reasoning: { echo: 'none' } },
  },
];
