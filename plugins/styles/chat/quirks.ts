/** What servers that speak chat usually take; what is special to one stands with its vendor. */
import type { SomeQuirks } from '../../../core/translation/index.ts';

/** Laid over what any model takes. */
export const chatQuirks: SomeQuirks = {
  roles: { developer: 'system' },
  // The official type allows text only, and most servers keep to it.
  content: { array: true, tool_result_images: 'user_message' },
  image: { url: 'native' },
  // There is no field for a document's address.
  file: { pdf: 'native', url: 'fetch' },
  // Ids come back as the server gave them, and some are full of dots and colons.
  tools: { custom: false, id_pattern: '^[^\\s]+$', id_max: 64 },
  reasoning: { input: 'effort', levels: ['low', 'medium', 'high'], echo: 'none', field: 'reasoning_content' },
  limits: { max_tokens_field: 'max_tokens' },
  sampling: {
    allowed: ['temperature', 'top_p', 'seed', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs'],
  },
  stop: { max: 4, array_only: true },
  cache: { hint: 'none' },
};
