/** The default quirks of messages vendors. */
import type { SomeQuirks } from '../../../core/translation/index.ts';

/** Override the defaults for all models; cautious, because other vendors than Anthropic support this style, too. */
export const messagesQuirks: SomeQuirks = {
  roles: { developer: 'system', mid_system: 'user_wrap', merge_same: true, merge_system: false, first_user: true },
  content: { array: true, tool_result_images: 'native' },
  image: { url: 'native', types: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] },
  file: { pdf: 'native', url: 'native' },
  tools: {
    strict: false,
    custom: false,
    empty_array_ok: true,
    root_union: false,
    force_with_thinking: false,
    web_search: false,
  },
  reasoning: {
    input: 'budget',
    levels: ['none', 'low', 'medium', 'high'],
    budget_min: 1_024,
    echo: 'tool_turns',
    // Reasoning is signed.
    echo_filler: '',
  },
  // JSON mode without a schema is not supported.
  output: { json_object: false, json_schema: false },
  sampling: { allowed: ['temperature', 'top_p', 'top_k'], temp_max: 1 },
  stop: { max: 64, array_only: true },
  cache: { hint: 'none' },
  stream: { usage: 'always' },
};
