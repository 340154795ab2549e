/** The translation of the style `messages`: its clients with vendors of another style, and the reverse. */
import type { StyleClient, StyleVendor } from '../../../core/plugin.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { createStreamDecoder } from './decoder.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { createStreamEncoder } from './encoder.ts';
import { messagesQuirks } from './quirks.ts';

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
