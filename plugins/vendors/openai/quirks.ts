/** The quirks of OpenAI's models by family. */
import type { ModelQuirks } from '../../../core/plugin.ts';

/** Reasoning models: they support neither sampling options nor stop sequences. */
const THINKING = ['o1*', 'o3*', 'o4*', 'gpt-5*', 'gpt-6*', 'codex-*'];

const EFFORTS = ['none', 'low', 'medium', 'high', 'xhigh'];

/** Sampling options that these models refuse unless they have the default value. */
const DRAWING = [
  'temperature',
  'top_p',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
];

/** Models that are not served in chat. */
const ONLY_RESPONSES = [
  'o1-pro*',
  'o3-pro*',
  'o*-deep-research*',
  'gpt-5*-pro*',
  'gpt-6*-pro*',
  'gpt-*-codex*',
  'codex-*',
  'computer-use-*',
];
/** Models that are served in chat only. */
const ONLY_CHAT = ['gpt-4o*-audio*', 'gpt-audio*', 'gpt-4o*-search-*', 'gpt-5-search-*'];

/** Voices of speech models without `instructions`; models with it have more. */
const VOICES = ['alloy', 'ash', 'coral', 'echo', 'fable', 'nova', 'onyx', 'sage', 'shimmer'];

/** Later ones win. */
export const openaiQuirks: readonly ModelQuirks[] = [
  {
    models: ['*'],
    quirks: {
      roles: { developer: 'keep', mid_system: 'native' },
      image: { types: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] },
      tools: { strict: true, custom: true, parallel_flag: true, root_union: false, web_search: true },
      reasoning: { input: 'none', echo: 'never' },
      prefill: 'restarts',
      output: { json_object: true, json_schema: true, schema_with_tools: true },
      limits: { max_tokens_field: 'max_completion_tokens' },
      cache: { hint: 'key' },
      stream: { usage: 'include_usage' },
    },
  },
  { models: ['*'], styles: ['chat'], quirks: { tools: { id_max: 40 } } },
  { models: ['gpt-3.5*'], quirks: { limits: { max_output: 4_096, context: 16_385 } } },
  { models: ['gpt-4*'], quirks: { limits: { max_output: 4_096, context: 128_000 } } },
  { models: ['gpt-4', 'gpt-4-0*'], quirks: { limits: { max_output: 8_192, context: 8_192 } } },
  { models: ['gpt-4-0125*', 'gpt-4-1106*'], quirks: { limits: { max_output: 4_096, context: 128_000 } } },
  { models: ['gpt-4o*'], quirks: { limits: { max_output: 16_384 } } },
  { models: ['gpt-4o-2024-05-13'], quirks: { limits: { max_output: 4_096 } } },
  { models: ['gpt-4.1*'], quirks: { limits: { max_output: 32_768, context: 1_047_576 } } },
  // Models before structured outputs and custom tools.
  {
    models: ['gpt-3.5*', 'gpt-4', 'gpt-4-*'],
    quirks: { tools: { strict: false, custom: false, web_search: false }, output: { json_schema: false } },
  },
  { models: ['gpt-4o*', 'gpt-4.1*', 'o1*', 'o3*', 'o4*'], quirks: { tools: { custom: false } } },
  {
    models: ['gpt-4-turbo*', 'gpt-4o*', 'chatgpt-4o*', 'gpt-4.1*', 'o1*', 'o3*', 'o4*', 'gpt-5*', 'gpt-6*'],
    quirks: { image: { input: true } },
  },
  { models: ['gpt-3.5*', 'o1-preview*', 'o1-mini*', 'o3-mini*'], quirks: { image: { input: false } } },
  {
    models: ['gpt-4o*audio*', 'gpt-audio*'],
    quirks: { style: 'chat', image: { input: false }, audio: { input: true, output: true } },
  },
  {
    models: THINKING,
    quirks: {
      reasoning: { input: 'effort', levels: ['low', 'medium', 'high'] },
      sampling: { allowed: [] },
      stop: { max: 0 },
      limits: { max_output: 100_000, context: 200_000 },
      // Most chat clients still send `max_tokens`, which these models refuse.
      rename_fields: { max_tokens: 'max_completion_tokens' },
    },
  },
  // Later ones accept them with reasoning off, which the vendor checks.
  { models: ['o1*', 'o3*', 'o4*', 'gpt-5', 'gpt-5-*'], quirks: { drop_fields: DRAWING } },
  { models: ['o1-preview*', 'o1-mini*'], quirks: { roles: { developer: 'system' }, reasoning: { input: 'none' } } },
  {
    models: ['gpt-5*', 'gpt-6*'],
    quirks: { reasoning: { levels: EFFORTS }, limits: { max_output: 128_000, context: 400_000 } },
  },
  {
    models: ['gpt-5.4', 'gpt-5.4-20*', 'gpt-5.4-pro*', 'gpt-5.5*', 'gpt-5.6*', 'gpt-6*'],
    quirks: { limits: { context: 1_050_000 } },
  },
  { models: ['gpt-5.6-cyber*'], quirks: { limits: { context: 400_000 } } },
  { models: ['gpt-5.3-codex-spark*'], quirks: { limits: { max_output: 32_000, context: 128_000 } } },
  { models: ['gpt-5.6*', 'gpt-6*'], quirks: { reasoning: { levels: [...EFFORTS, 'max'] } } },
  // These always reason.
  {
    models: ['gpt-6-astra*', 'gpt-6-cyber*', 'gpt-6.1-sol*', 'gpt-6.2*', 'gpt-5.6-cyber*'],
    quirks: { reasoning: { levels: ['low', 'medium', 'high', 'xhigh', 'max'] } },
  },
  // The first of them could only minimize reasoning.
  {
    models: ['gpt-5', 'gpt-5-*'],
    quirks: { reasoning: { levels: ['minimal', 'low', 'medium', 'high'] } },
  },
  { models: ['gpt-5.1*'], quirks: { reasoning: { levels: ['none', 'low', 'medium', 'high'] } } },
  { models: ['gpt-5-pro*'], quirks: { reasoning: { levels: ['high'] } } },
  {
    models: ['gpt-5.2-pro*', 'gpt-5.4-pro*', 'gpt-5.5-pro*'],
    quirks: { reasoning: { levels: ['medium', 'high', 'xhigh'] } },
  },
  { models: ['gpt-5*-codex*'], quirks: { reasoning: { levels: ['low', 'medium', 'high'] } } },
  { models: ['gpt-5.3-codex*'], quirks: { reasoning: { levels: ['low', 'medium', 'high', 'xhigh'] } } },
  // Cache breakpoints are supported.
  { models: ['gpt-5.6*', 'gpt-5.7*', 'gpt-5.8*', 'gpt-5.9*', 'gpt-6*'], quirks: { cache: { hint: 'breakpoint' } } },
  // ChatGPT models do not reason.
  {
    models: ['gpt-5-chat*', 'gpt-5*-chat-*'],
    quirks: {
      drop_fields: [],
      reasoning: { input: 'none' },
      sampling: {
        allowed: ['temperature', 'top_p', 'seed', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs'],
      },
      stop: { max: 4 },
      limits: { max_output: 16_384, context: 128_000 },
    },
  },
  // In chat, these call tools only with reasoning off, and some cannot turn it off.
  {
    models: ['gpt-5.4*', 'gpt-5.5*', 'gpt-5.6*', 'gpt-5.7*', 'gpt-5.8*', 'gpt-5.9*', 'gpt-6*'],
    quirks: { tools: { thinking_styles: ['responses'] } },
  },
  {
    models: ['gpt-5.5*', 'gpt-5.6*', 'gpt-5.7*', 'gpt-5.8*', 'gpt-5.9*', 'gpt-6*'],
    quirks: { reasoning: { unasked: true } },
  },
  { models: ['gpt-5*-chat-*'], quirks: { tools: { thinking_styles: ['chat', 'responses'] } } },
  // Served in one style only.
  { models: ONLY_RESPONSES, quirks: { styles: ['responses'] } },
  { models: ONLY_CHAT, quirks: { styles: ['chat'] } },
  { models: ['gpt-image-*', 'chatgpt-image-*'], quirks: { images: { answers: 'b64_json' } } },
  { models: ['dall-e-3'], quirks: { images: { max: 1 } } },
  { models: ['text-embedding-ada-002*'], quirks: { embeddings: { dimensions: false } } },
  { models: ['text-embedding-3-small*'], quirks: { embeddings: { dimensions: 1_536 } } },
  { models: ['text-embedding-3-large*'], quirks: { embeddings: { dimensions: 3_072 } } },
  { models: ['tts-1*'], quirks: { speech: { voices: VOICES } } },
  { models: ['gpt-4o*-tts*'], quirks: { speech: { voices: [...VOICES, 'ballad', 'cedar', 'marin', 'verse'] } } },
];
