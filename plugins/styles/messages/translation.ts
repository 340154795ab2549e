/** The translation of the style `messages`: its clients with vendors of another style, and the reverse. */
import type { StyleClient, StyleVendor } from '../../../core/plugin.ts';
import type { SomeQuirks } from '../../../core/translation/index.ts';
import { decodeRequest } from './client/decode-request.ts';
import { encodeReply } from './client/encode-reply.ts';
import { createStreamEncoder } from './client/stream-encoder.ts';
import { decodeReply } from './vendor/decode-reply.ts';
import { encodeRequest } from './vendor/encode-request.ts';
import { createStreamDecoder } from './vendor/stream-decoder.ts';

/** Override the defaults for all models; cautious, because other vendors than Anthropic support this style, too. */
const messagesQuirks: SomeQuirks = {
  roles: { developer: 'system', mid_system: 'user_wrap', merge_same: true, merge_system: false, first_user: true },
  content: { array: true, tool_result_images: 'native' },
  image: { url: 'native', types: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] },
  file: { pdf: 'native', url: 'native' },
  tools: {
    strict: false,
    // Optional properties are accepted; the encoder closes the objects.
    strict_required: false,
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

/** Reasoning effort is in one of these members. */
const EFFORT = { reasoning_effort: 'output_config.effort' } as const;

/** Messages clients with vendors of another style. */
export const client: StyleClient = {
  names: {
    stop: 'stop_sequences',
    response_format: 'output_config.format',
    reasoning_effort: 'thinking',
    'messages.reasoning': 'messages.thinking',
    'messages.file': 'messages.document',
    'messages.file.filename': 'messages.document.title',
    'tools.parameters': 'tools.input_schema',
    parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
    user: 'metadata.user_id',
    prompt_cache_key: 'metadata.user_id',
  },
  namesIn: (body) => (body.has('output_config') && !body.has('thinking') ? EFFORT : {}),
  decodeRequest,
  encodeReply,
  createStreamEncoder,
};

/** Messages vendors with clients of another style. */
export const vendor: StyleVendor = {
  quirks: messagesQuirks,
  encodeRequest,
  decodeReply,
  createStreamDecoder,
};
