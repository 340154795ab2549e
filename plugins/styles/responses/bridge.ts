/** The translation of the style `responses` to and from the common form. */
import type { StyleClient, StyleVendor } from '../../../core/plugin.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { createStreamDecoder } from './decoder.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { createStreamEncoder } from './encoder.ts';
import { responsesQuirks } from './quirks.ts';
import { CACHED_SEARCH } from './tools.ts';

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
