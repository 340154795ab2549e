/** The translation of the style `responses` to and from the common form. */
import type { StyleClient, StyleVendor } from '../../../core/plugin.ts';
import type { SomeQuirks } from '../../../core/translation/index.ts';
import { decodeRequest } from './client/decode-request.ts';
import { encodeReply } from './client/encode-reply.ts';
import { createStreamEncoder } from './client/stream-encoder.ts';
import { CACHED_SEARCH } from './fields/tools.ts';
import { decodeReply } from './vendor/decode-reply.ts';
import { encodeRequest } from './vendor/encode-request.ts';
import { createStreamDecoder } from './vendor/stream-decoder.ts';

/** Override the defaults for all models; those of a vendor and of gateway.yaml override these. */
const responsesQuirks: SomeQuirks = {
  roles: { merge_same: false },
  audio: { input: true },
  tools: { custom: true, web_search: true, empty_array_ok: true },
  reasoning: {
    input: 'effort',
    levels: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    echo: 'all',
  },
  limits: { min_output: 16 },
  sampling: { allowed: ['temperature', 'top_p', 'logprobs'] },
  stop: { max: 0 },
  cache: { hint: 'key' },
  stream: { usage: 'always' },
};

/** Responses clients with vendors of another style. */
export const client: StyleClient = {
  names: {
    messages: 'input',
    max_tokens: 'max_output_tokens',
    response_format: 'text.format',
    verbosity: 'text.verbosity',
    reasoning_effort: 'reasoning.effort',
    logprobs: 'top_logprobs',
    cache_control: 'prompt_cache_breakpoint',
    [`tools.${CACHED_SEARCH}`]: 'tools.web_search',
  },
  decodeRequest,
  encodeReply,
  createStreamEncoder,
};

/** Responses vendors with clients of another style. */
export const vendor: StyleVendor = {
  quirks: responsesQuirks,
  encodeRequest,
  decodeReply,
  createStreamDecoder,
};
