/** What is known of models that many servers offer, by their names. */
import type { ModelQuirks } from '../../../core/plugin.ts';

/** Later ones win. */
export const compatibleQuirks: readonly ModelQuirks[] = [
  // While they think, they refuse a history whose tool calls come without the reasoning that led to them.
  { models: ['*kimi*', '*deepseek*'], quirks: { reasoning: { echo: 'tool_turns' } } },
  // Those of them that do not think, or that think without tools: servers of these may know no such member.
  {
    models: ['*kimi-k2-instruct*', '*kimi-k2-0*', '*kimi-vl*', '*deepseek-r1*'],
    quirks: { reasoning: { echo: 'none' } },
  },
];
