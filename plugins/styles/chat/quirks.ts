/** The default quirks of chat vendors; the quirks of one vendor are in its plugin. */
import type { SomeQuirks } from '../../../core/translation/index.ts';

/** Override the defaults for all models. */
export const chatQuirks: SomeQuirks = {
  roles: { developer: 'system' },
  // The official type allows text only, and most servers enforce it.
  content: { array: true, tool_result_images: 'user_message' },
  image: { url: 'native' },
  // Chat has no field for the URL of a document.
  file: { pdf: 'native', url: 'fetch' },
  // Ids return as the server sent them, and some contain dots and colons.
  tools: { custom: false, id_pattern: '^[^\\s]+$', id_max: 64 },
  reasoning: { input: 'effort', levels: ['low', 'medium', 'high'], echo: 'none', field: 'reasoning_content' },
  limits: { max_tokens_field: 'max_tokens' },
  sampling: {
    allowed: ['temperature', 'top_p', 'seed', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs'],
  },
  stop: { max: 4, array_only: true },
  cache: { hint: 'none' },
};
