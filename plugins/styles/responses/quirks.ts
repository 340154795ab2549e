/** The default quirks of responses vendors. */
import type { SomeQuirks } from '../../../core/translation/index.ts';

/** Override the defaults for all models; those of a vendor and of gateway.yaml override these. */
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
