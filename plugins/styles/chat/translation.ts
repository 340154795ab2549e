/** The translation of the style `chat` to and from the common form. */
import type { StyleClient, StyleVendor } from '../../../core/plugin.ts';
import type { SomeQuirks } from '../../../core/translation/index.ts';
import { decodeRequest } from './client/decode-request.ts';
import { encodeReplies, encodeReply } from './client/encode-reply.ts';
import { createStreamEncoder } from './client/stream-encoder.ts';
import { decodeReply } from './vendor/decode-reply.ts';
import { encodeRequest } from './vendor/encode-request.ts';
import { createStreamDecoder } from './vendor/stream-decoder.ts';

/** Override the defaults for all models. */
const chatQuirks: SomeQuirks = {
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

/** `max_tokens` has two names; the newer one wins. */
const NEWER_LIMIT = { max_tokens: 'max_completion_tokens' } as const;

/** Chat clients with vendors of another style. */
export const client: StyleClient = {
  // `Warnings` uses chat's field names, except for the web search, which is not a tool in chat.
  names: { 'tools.web_search': 'web_search_options' },
  namesIn: (body) => (body.has('max_completion_tokens') ? NEWER_LIMIT : {}),
  decodeRequest,
  encodeReply,
  encodeReplies,
  createStreamEncoder,
};

/** Chat vendors with clients of another style. */
export const vendor: StyleVendor = {
  quirks: chatQuirks,
  encodeRequest,
  decodeReply,
  createStreamDecoder,
};
