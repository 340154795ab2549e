/** What models of the style `responses` usually take. */
import type { SomeQuirks } from '../../../core/translation/index.ts';

/** Laid over what all models take; a vendor's and gateway.yaml's come on top. */
export const responsesQuirks: SomeQuirks = {
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
