/** The quirks of the vendor's models: those of all, and those of each family. */
import type { ModelQuirks } from '../../../core/plugin.ts';
import type { SomeQuirks } from '../../../core/translation/index.ts';

/** Defaults of this style. */
export const STYLE_QUIRKS: SomeQuirks = {
  roles: { developer: 'system', mid_system: 'user_wrap', merge_same: true, first_user: true },
  content: { array: true, tool_result_images: 'user_message' },
  image: { url: 'fetch', types: ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'] },
  // The vendor fetches from its own stores, and from YouTube, whose videos are too large for the gateway; most other URLs it does not fetch.
  file: {
    pdf: 'native',
    url: 'fetch',
    native_urls: [
      'gs://',
      'https://generativelanguage.googleapis.com/',
      'https://www.youtube.com/',
      'https://youtube.com/',
      'https://youtu.be/',
    ],
  },
  audio: { input: true, output: false },
  tools: {
    name_max: 64,
    name_pattern: '^[a-zA-Z_][a-zA-Z0-9_.:-]*$',
    // Any id is valid: it only links a result to its call.
    id_max: 512,
    id_pattern: '^.+$',
    strict: false,
    strict_required: false,
    custom: false,
    parallel_flag: false,
    empty_array_ok: false,
    force_with_thinking: true,
    web_search: true,
  },
  reasoning: { input: 'none', echo: 'none', signature_scope: 'provider' },
  output: { json_object: true, json_schema: true, schema_with_tools: true },
  sampling: { allowed: ['temperature', 'top_p', 'top_k', 'seed'], temp_max: 2, temp_xor_top_p: false },
  prefill: true,
  choices: true,
  stop: { max: 5, array_only: true },
  cache: { hint: 'none' },
  stream: { usage: 'always' },
};

/** Quirks by family; later entries override earlier ones. */
export const MODEL_QUIRKS: readonly ModelQuirks[] = [
  {
    // The third generation and later. A call must be sent back with its signature, or with a placeholder that skips the
    // check.
    models: ['gemini-*'],
    quirks: {
      image: { input: true },
      content: { tool_result_images: 'native' },
      reasoning: {
        input: 'level',
        levels: ['low', 'medium', 'high'],
        echo: 'tool_turns',
        echo_filler: 'skip_thought_signature_validator',
      },
      limits: { max_output: 65_536, context: 1_048_576 },
      // The others are deprecated.
      sampling: { allowed: ['seed'] },
    },
  },
  // The last ones with sampling options.
  {
    models: [
      'gemini-1.5-*',
      'gemini-2.*',
      'gemini-3-*',
      'gemini-3.0-*',
      'gemini-3.1-*',
      'gemini-3.5-*',
      'gemini-*-latest',
    ],
    quirks: { sampling: { allowed: ['temperature', 'top_p', 'top_k', 'seed'] } },
  },
  {
    models: ['gemini-3-*', 'gemini-3.0-*', 'gemini-3.1-*', 'gemini-3.5-*'],
    quirks: { sampling: { allowed: ['temperature', 'top_p', 'top_k', 'seed', 'logprobs'] } },
  },
  { models: ['gemini-3.5-flash-lite*'], quirks: { sampling: { allowed: ['seed'] } } },
  {
    models: ['gemini-3-flash*', 'gemini-3.1-flash*', 'gemini-3.5-flash*', 'gemini-3.6-flash*', 'gemini-flash*-latest'],
    quirks: { reasoning: { levels: ['minimal', 'low', 'medium', 'high'] } },
  },
  { models: ['gemini-4-*'], quirks: { reasoning: { levels: ['low', 'medium', 'high', 'xhigh'] } } },
  {
    models: ['gemini-4-argon*', 'gemini-4-carbon*'],
    quirks: { reasoning: { levels: ['low', 'medium', 'high'] }, limits: { max_output: 32_768 } },
  },
  { models: ['gemini-3-pro*'], quirks: { reasoning: { levels: ['low', 'high'] } } },
  {
    models: ['gemini-2.5-*'],
    quirks: {
      content: { tool_result_images: 'user_message' },
      reasoning: {
        input: 'budget',
        levels: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
        budget_min: 0,
        budget_max: 24_576,
        echo: 'none',
      },
      output: { schema_with_tools: false },
    },
  },
  {
    models: ['gemini-2.5-pro*'],
    quirks: {
      reasoning: {
        levels: ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
        budget_min: 128,
        budget_max: 32_768,
      },
    },
  },
  { models: ['gemini-2.5-flash-lite*'], quirks: { reasoning: { budget_min: 512 } } },
  {
    models: ['gemini-2.0-*', 'gemini-1.5-*'],
    quirks: {
      content: { tool_result_images: 'user_message' },
      reasoning: { input: 'none', echo: 'none' },
      output: { schema_with_tools: false },
      limits: { max_output: 8_192 },
      sampling: {
        allowed: ['temperature', 'top_p', 'top_k', 'seed', 'presence_penalty', 'frequency_penalty', 'logprobs'],
      },
    },
  },
  {
    // Image models support neither tools nor JSON.
    models: ['gemini-*-image*'],
    quirks: {
      reasoning: { input: 'none', echo: 'none' },
      output: { json_object: false, json_schema: false },
      limits: { max_output: 32_768 },
    },
  },
  {
    models: ['gemini-*-tts*'],
    quirks: {
      audio: { input: false, output: true },
      image: { types: [] },
      reasoning: { input: 'none', echo: 'none' },
      output: { json_object: false, json_schema: false },
    },
  },
  { models: ['gemini-*image*'], quirks: { images: { answers: 'b64_json', max: 1 } } },
  { models: ['imagen-*'], quirks: { images: { answers: 'b64_json', max: 4 } } },
  // The vendor refuses larger batches.
  { models: ['*embedding*'], quirks: { embeddings: { dimensions: 3_072, base64: false, max_inputs: 100 } } },
  { models: ['text-embedding-*'], quirks: { embeddings: { dimensions: 768 } } },
];

/** Output modalities of models beyond text; they must be requested. */
export function usualModalities(model: string): readonly string[] | undefined {
  if (/-image(?:-|$)|image-generation/.test(model)) return ['TEXT', 'IMAGE'];
  return /-tts(?:-|$)/.test(model) ? ['AUDIO'] : undefined;
}

/** Whether a model supports web search together with client-side tools. */
export function searchesBesideTools(model: string): boolean {
  return !/^gemini-[12]\./.test(model);
}
