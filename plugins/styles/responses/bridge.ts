/** The style's translation to and from the common form. */
import type { StyleClient, StyleVendor } from '../../../core/plugin.ts';
import type { SomeQuirks } from '../../../core/translation/index.ts';
import { createWriter, writeReply } from './answering.ts';
import { readReply } from './output-blocks.ts';
import { readQuestion } from './question.ts';
import { writeBody } from './request-body.ts';
import { createReader } from './stream-reader.ts';
import { CACHED_SEARCH } from './tools.ts';

/** What models of this style usually take. */
const quirks: SomeQuirks = {
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

/** Clients of this style, with vendors of another. */
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
  decodeRequest: readQuestion,
  encodeReply: writeReply,
  createStreamEncoder: createWriter,
};

/** Vendors of this style, with clients of another. */
export const vendor: StyleVendor = {
  quirks,
  encodeRequest: writeBody,
  decodeReply: readReply,
  createStreamDecoder: createReader,
};
