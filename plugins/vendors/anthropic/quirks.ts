/** The quirks of Anthropic's models by family, from the oldest to the newest. */
import type { ModelQuirks } from '../../../core/plugin.ts';

/** Later ones win. An unknown model gets the quirks of the newest, which accept the least. */
export const anthropicQuirks: readonly ModelQuirks[] = [
  {
    models: ['*'],
    quirks: {
      roles: { mid_system: 'native' },
      tools: {
        name_max: 128,
        id_max: 128,
        strict: true,
        force_with_thinking: true,
        web_search: true,
      },
      // Reasoning is signed for one organization.
      reasoning: {
        input: 'adaptive',
        levels: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
        signature_scope: 'credential_group',
        binding: true,
      },
      output: { json_schema: true },
      limits: { max_output: 128_000, context: 1_000_000 },
      // The temperature is fixed.
      sampling: { allowed: [] },
      prefill: false,
      threads: true,
      cache: { hint: 'cache_control' },
    },
  },
  { models: ['claude-*'], quirks: { image: { input: true } } },
  // These always reason.
  {
    models: ['claude-fable-*', 'claude-mythos-*', 'claude-opus-5-5*'],
    quirks: { reasoning: { levels: ['low', 'medium', 'high', 'xhigh', 'max'] } },
  },
  // No call can be forced; only the first of them accepts that.
  { models: ['claude-fable-*'], quirks: { tools: { force_with_thinking: false } } },
  { models: ['claude-fable-5', 'claude-fable-5-20*'], quirks: { tools: { force_with_thinking: true } } },
  // The last ones with sampling options.
  {
    models: ['claude-opus-4-6*', 'claude-sonnet-4-6*'],
    quirks: {
      roles: { mid_system: 'user_wrap' },
      reasoning: { levels: ['none', 'low', 'medium', 'high', 'max'], binding: false },
      sampling: { allowed: ['temperature', 'top_p', 'top_k'], temp_xor_top_p: true },
    },
  },
  { models: ['claude-opus-4-7*'], quirks: { roles: { mid_system: 'user_wrap' } } },
  // Models with a reasoning budget, which cannot reason while a call is forced.
  {
    models: [
      'claude-3*',
      'claude-opus-4-0*',
      'claude-opus-4-1*',
      'claude-opus-4-2*',
      'claude-opus-4-5*',
      'claude-sonnet-4-0*',
      'claude-sonnet-4-2*',
      'claude-sonnet-4-5*',
      'claude-haiku-4-5*',
    ],
    quirks: {
      roles: { mid_system: 'user_wrap' },
      tools: { force_with_thinking: false },
      reasoning: {
        input: 'budget',
        levels: ['none', 'low', 'medium', 'high'],
        budget_min: 1_024,
        budget_max: 32_000,
        echo: 'tool_turns',
        binding: false,
      },
      limits: { max_output: 64_000, context: 200_000 },
      sampling: { allowed: ['temperature', 'top_p', 'top_k'], temp_xor_top_p: true },
      prefill: true,
    },
  },
  // Models before enforced schemas. `-4-2*` matches names with a date: claude-sonnet-4-20250514.
  {
    models: ['claude-3*', 'claude-opus-4-0*', 'claude-opus-4-2*', 'claude-sonnet-4-0*', 'claude-sonnet-4-2*'],
    quirks: {
      tools: { name_max: 64, strict: false },
      output: { json_schema: false },
      sampling: { temp_xor_top_p: false },
    },
  },
  {
    models: ['claude-opus-4-0*', 'claude-opus-4-1*', 'claude-opus-4-2*'],
    quirks: { limits: { max_output: 32_000 }, reasoning: { budget_max: 24_000 } },
  },
  // Models before reasoning; the one with reasoning follows.
  { models: ['claude-3*'], quirks: { reasoning: { input: 'none' }, limits: { max_output: 4_096 } } },
  { models: ['claude-3-5-*'], quirks: { limits: { max_output: 8_192 } } },
  { models: ['claude-3-7-*'], quirks: { reasoning: { input: 'budget' }, limits: { max_output: 64_000 } } },
  { models: ['claude-3-opus*', 'claude-3-haiku*', 'claude-3-sonnet*'], quirks: { tools: { web_search: false } } },
];
