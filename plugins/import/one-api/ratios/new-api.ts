/**
 * Ratios and rules that new-api has in its code, by range of versions. Facts, read in November 2026:
 * - `v0.4`, to February 2025: Calcium-Ion/new-api d5746ac3, `common/model-ratio.go`.
 * - `v0.6`: Calcium-Ion/new-api, `setting/operation_setting/model-ratio.go` and `cache_ratio.go` (commit 3516aad3, and v0.6.3 itself: the
 *   ratios that it saves), `relay/relay-text.go`, `relay/relay-image.go`; zyqfork/new-api 453a42fa of the same month.
 * - `v0.7`: the same paths in RedwindA/new-api 46f5aa7e, HynoR/new-api 6e7e2da5 (`setting/ratio_setting/model_ratio.go`, August 2025).
 *   Tools: olegische/xrouter 8fa910f2, `setting/operation_setting/tools.go`.
 * - `v0.9`: Hermerz/new-api a0d86159, Futureppo/new-api 18c3a48d, the same path. Tools: Nordinian/aiapi.services b16a7e80.
 * - `v1`: QuantumNous/new-api 00f6587d `setting/ratio_setting/model_ratio.go`, 19aca2df `cache_ratio.go`, 00899e66 `service/text_quota.go`,
 *   0e427856 `setting/operation_setting/tools.go`, 267329d9 `setting/billing_setting/builtin_billing.go` with its tests.
 */
import { type NameRule, type RatioTable, ratioTable, type Schema } from './table.ts';

/** What the program takes for a model without a ratio, if it accepts one. */
export const UNSET_RATIO = '37.5';
/** Writes to the cache of a model that is in no table. */
export const CREATE_CACHE_RATIO = '1.25';
/** Writes that stay for an hour cost this many times the others. */
export const LONG_WRITE = '1.6';

/** Dollars per thousand uses of a tool, by its name in requests, for some models. */
export interface ToolRule {
  readonly tool: 'web_search' | 'web_search_preview' | 'file_search' | 'google_search' | 'image_generation';
  readonly names: RegExp;
  readonly dollars: number;
  /** A stored price of the tool for all models does not replace it. */
  readonly isOverride?: true;
}

/** Rules of one range of versions. */
export interface NewApiRules {
  readonly versions: string;
  readonly model: RatioTable;
  readonly price: RatioTable;
  readonly completion: RatioTable;
  readonly cache: RatioTable;
  readonly createCache: RatioTable;
  readonly image: RatioTable;
  /** Ratios of audio by name, in the program's code, for the models that have them; undefined: in tables that options replace. */
  readonly audioRules:
    | { readonly models: RegExp; readonly input: readonly NameRule[]; readonly output: number }
    | undefined;
  readonly audio: RatioTable;
  readonly audioCompletion: RatioTable;
  readonly completionRules: readonly NameRule[];
  /** Only images of DALL·E cost more by size and quality. */
  readonly hasOnlyDallEKinds: boolean;
  /** An image of a model with a ratio costs this many dollars times the ratio; undefined: it is charged by tokens. */
  readonly imageRatioPrice: string | undefined;
  /** The option CreateCacheRatio exists. */
  readonly hasCreateCacheOption: boolean;
  /** Writes for an hour are charged otherwise. */
  readonly hasLongWrites: boolean;
  /** Dollars per million audio tokens of input, whatever the ratio of the model. */
  readonly audioInput: readonly NameRule[];
  /** Surcharges for uses of vendor-side tools; the first rule of a tool whose names match decides. */
  readonly tools: readonly ToolRule[];
  /** Billing expressions of models that have neither a ratio nor a price. */
  readonly expressions: ReadonlyMap<string, string>;
  /** The ratio of a model without one, for every user; undefined: it is refused, unless a setting accepts it. */
  readonly unset: string | undefined;
  /** Names that are looked up as another one. */
  readonly names: readonly (readonly [pattern: RegExp, name: string])[];
  /** The same for the ratio of the model, and for a stored completion ratio. */
  readonly ratioNames: readonly (readonly [pattern: RegExp, name: string])[];
  readonly completionNames: readonly (readonly [pattern: RegExp, name: string])[];
}

const OLD = {
  '10': 'ada babbage',
  '4': 'claude-2.0 claude-2.1',
  '1': 'davinci-002',
  '0.8572': '360GPT_S2_V9 360gpt-pro 360gpt-turbo-responsibility-8k 360gpt2-pro',
  '0.4': 'claude-instant-1',
  '0.2': 'babbage-002',
  '0.0858': '360gpt-turbo',
  '0.0715': 'embedding-bert-512-v1 embedding_s1_v1 semantic_similarity_s1_v1',
};

const ALL = {
  '37.5': 'gpt-4.5-preview gpt-4.5-preview-2025-02-27',
  '30': 'gpt-4-32k gpt-4-32k-0613',
  '15': 'gpt-4 gpt-4-0613 gpt-4-all gpt-4-gizmo-* gpt-4o-all tts-1-hd tts-1-hd-1106 whisper-1',
  '10': 'code-davinci-edit-001 curie davinci qwen-plus text-davinci-edit-001 text-search-ada-doc-001',
  '8.219178082191782': 'ERNIE-4.0-8K',
  '7.5': 'claude-3-opus-20240229 o1 o1-2024-12-17 o1-preview o1-preview-2024-09-12 tts-1 tts-1-1106',
  '7.143': 'glm-4 hunyuan',
  '6.8493150684931505': 'glm-4-0520 glm-4-alltools',
  '5': `
    gpt-4-0125-preview gpt-4-1106-preview gpt-4-1106-vision-preview gpt-4-turbo gpt-4-turbo-2024-04-09
    gpt-4-turbo-preview gpt-4-vision-preview`,
  '3.4246575342465753': 'glm-4-plus glm-4v',
  '2.5': `
    chatgpt-4o-latest gpt-4o-2024-05-13 gpt-4o-gizmo-* gpt-4o-realtime-preview
    gpt-4o-realtime-preview-2024-10-01 gpt-4o-realtime-preview-2024-12-17 grok-3-fast-beta grok-beta
    grok-vision-beta`,
  '1.7123287671232876': 'yi-large-rag yi-large-rag-preview',
  '1.643835616438356': 'ERNIE-3.5-8K-0205 ERNIE-Bot-8K',
  '1.5': `
    claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022 claude-3-7-sonnet-20250219
    claude-3-7-sonnet-20250219-thinking claude-3-sonnet-20240229 command-r-plus gpt-3.5-turbo-16k
    gpt-3.5-turbo-16k-0613 grok-3-beta`,
  '1.36986301369863': 'yi-large yi-large-preview',
  '1.2858': 'SparkDesk-v1.1 SparkDesk-v2.1 SparkDesk-v3.1 SparkDesk-v3.5 SparkDesk-v4.0',
  '1.25': `
    command-r-plus-08-2024 gemini-1.5-pro-latest gpt-4o gpt-4o-2024-08-06 gpt-4o-2024-11-20
    gpt-4o-audio-preview gpt-4o-audio-preview-2024-10-01`,
  '1': 'PaLM-2 grok-2 grok-2-vision text-curie-001',
  '0.864': 'yi-34b-chat-200k',
  '0.8572': 'qwen-turbo',
  '0.821917808219178': 'ERNIE-3.5-4K-0205 ERNIE-3.5-8K ERNIE-3.5-8K-1222 yi-large-turbo yi-medium-200k',
  '0.75': 'gpt-3.5-turbo-0613 gpt-3.5-turbo-instruct',
  '0.7143': 'chatglm_pro',
  '0.684931506849315': 'glm-4-airx glm-4v-plus',
  '0.625': 'gemini-2.5-pro-exp-03-25 gemini-2.5-pro-preview-03-25',
  '0.55': `
    o1-mini o1-mini-2024-09-12 o3-mini o3-mini-2025-01-31 o3-mini-2025-01-31-high o3-mini-2025-01-31-low
    o3-mini-2025-01-31-medium o3-mini-high o3-mini-low o3-mini-medium`,
  '0.547945205479452': 'ERNIE-Lite-8K-0922',
  '0.5': `
    claude-3-5-haiku-20241022 command command-light command-light-nightly command-nightly gpt-3.5-turbo-1106`,
  '0.432': 'yi-vl-plus',
  '0.410958904109589': 'yi-vision',
  '0.3572': 'chatglm_std chatglm_turbo glm-3-turbo',
  '0.3': 'gpt-4o-mini-realtime-preview gpt-4o-mini-realtime-preview-2024-12-17 grok-3-mini-fast-beta',
  '0.275': 'deepseek-reasoner',
  '0.273972602739726': 'BLOOMZ-7B ERNIE-Speed-128K ERNIE-Speed-8K',
  '0.25': 'command-r gpt-3.5-turbo gpt-3.5-turbo-0125 text-babbage-001',
  '0.2054794520547945': 'ERNIE-Lite-8K-0308',
  '0.2': 'text-ada-001',
  '0.18': 'yi-34b-chat-0205',
  '0.17123287671232876': 'yi-medium',
  '0.15': 'grok-3-mini-beta',
  '0.1429': 'chatglm_lite',
  '0.136986301369863': 'Embedding-V1 bge-large-en bge-large-zh tao-8k',
  '0.135': 'deepseek-chat deepseek-coder',
  '0.125': 'claude-3-haiku-20240307',
  '0.1': `
    llama-3-sonar-small-32k-chat llama-3-sonar-small-32k-online text-moderation-latest text-moderation-stable`,
  '0.075': 'command-r-08-2024 gemini-1.5-flash-latest gpt-4o-mini gpt-4o-mini-2024-07-18',
  '0.0684931506849315': 'ERNIE-Tiny-8K glm-4-air glm-4-long yi-spark',
  '0.065': 'text-embedding-3-large',
  '0.05': 'gemini-2.0-flash text-embedding-ada-002 text-embedding-v1',
  '0.01': 'text-embedding-3-small',
  '0.001': 'text-embedding-004',
  '0': 'glm-4-flash llama-3-sonar-large-32k-chat llama-3-sonar-large-32k-online',
};

const LATER = {
  '75': 'o1-pro o1-pro-2025-03-19',
  '10': 'o3-pro o3-pro-2025-06-10',
  '7.5': 'claude-opus-4-1-20250805 claude-opus-4-20250514',
  '5': 'claude-fable-5 o3-deep-research o3-deep-research-2025-06-26',
  '2.5': `
    claude-opus-4-5-20251101 claude-opus-4-6 claude-opus-4-6-high claude-opus-4-6-low claude-opus-4-6-max
    claude-opus-4-6-medium claude-opus-4-7 claude-opus-4-7-high claude-opus-4-7-low claude-opus-4-7-max
    claude-opus-4-7-medium claude-opus-4-7-xhigh claude-opus-4-8 claude-opus-4-8-high claude-opus-4-8-low
    claude-opus-4-8-max claude-opus-4-8-medium claude-opus-4-8-xhigh claude-opus-5 gpt-5.5 gpt-5.6-sol
    gpt-image-1`,
  '1.5': 'claude-sonnet-4-20250514 claude-sonnet-4-5-20250929 claude-sonnet-5',
  '1.25': 'gpt-5.6-terra',
  '1': `
    gpt-4.1 gpt-4.1-2025-04-14 o3 o3-2025-04-16 o4-mini-deep-research o4-mini-deep-research-2025-06-26`,
  '0.8': `
    NousResearch/Hermes-4-405B-FP8 Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8 deepseek-ai/DeepSeek-R1
    deepseek-ai/DeepSeek-R1-0528 deepseek-ai/DeepSeek-V3-0324 deepseek-ai/DeepSeek-V3.1 zai-org/GLM-4.5-FP8`,
  '0.625': 'gemini-2.5-pro gemini-2.5-pro-thinking-* gpt-5 gpt-5-2025-08-07 gpt-5-chat-latest',
  '0.6': 'Qwen/Qwen3-235B-A22B-Thinking-2507',
  '0.55': 'o4-mini o4-mini-2025-04-16',
  '0.5': 'claude-haiku-4-5-20251001 gpt-5.6-luna openai/gpt-oss-120b',
  '0.3': 'Qwen/Qwen3-235B-A22B-Instruct-2507',
  '0.2': 'gpt-4.1-mini gpt-4.1-mini-2025-04-14',
  '0.15': 'gemini-2.5-flash gemini-robotics-er-1.5-preview',
  '0.125': 'gpt-5-mini gpt-5-mini-2025-08-07',
  '0.075': `
    gemini-2.5-flash-preview-04-17 gemini-2.5-flash-preview-04-17-nothinking
    gemini-2.5-flash-preview-04-17-thinking gemini-2.5-flash-preview-05-20
    gemini-2.5-flash-preview-05-20-nothinking gemini-2.5-flash-preview-05-20-thinking
    gemini-2.5-flash-thinking-* gemini-embedding-001`,
  '0.05': `
    gemini-2.5-flash-lite-preview-06-17 gemini-2.5-flash-lite-preview-thinking-* gpt-4.1-nano
    gpt-4.1-nano-2025-04-14`,
  '0.025': 'gpt-5-nano gpt-5-nano-2025-08-07',
};

const merged = (...tables: readonly RatioTable[]): RatioTable => new Map(tables.flatMap((table) => [...table]));

const PRICES = ratioTable({
  '0.1': `suno_music gpt-4-gizmo-* mj_imagine mj_variation mj_reroll mj_blend mj_modal mj_zoom mj_shorten mj_high_variation
    mj_low_variation mj_pan`,
  '0.05': 'mj_describe mj_upscale swap_face mj_upload',
  '0.04': 'dall-e-3',
  '0.03': 'imagen-3.0-generate-002',
  '0.01': 'suno_lyrics',
  '0': 'mj_inpaint mj_custom_zoom',
});
const LATER_PRICES = ratioTable({
  '0.8': 'mj_video',
  '0.5': 'sora-2-pro',
  '0.4': 'veo-3.0-generate-001 veo-3.1-generate-preview',
  '0.3': 'sora-2 gpt-4o-mini-tts',
  '0.15': 'veo-3.0-fast-generate-001 veo-3.1-fast-generate-preview',
  '0.1': 'mj_edits',
  '0.04': 'black-forest-labs/flux-1.1-pro',
});

const CACHE = ratioTable({
  '0.5': `gpt-4 gpt-4.5-preview gpt-4.5-preview-2025-02-27 gpt-4o gpt-4o-2024-08-06 gpt-4o-2024-11-20 gpt-4o-mini
    gpt-4o-mini-2024-07-18 gpt-4o-mini-realtime-preview gpt-4o-realtime-preview o1 o1-2024-12-17 o1-mini o1-mini-2024-09-12
    o1-preview o1-preview-2024-09-12 o3-mini o3-mini-2025-01-31`,
  '0.25': 'deepseek-chat deepseek-coder deepseek-reasoner',
  '0.1': `claude-3-5-haiku-20241022 claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022 claude-3-7-sonnet-20250219
    claude-3-7-sonnet-20250219-thinking claude-3-haiku-20240307 claude-3-opus-20240229 claude-3-sonnet-20240229`,
});
const CLAUDE_4 = `claude-haiku-4-5-20251001 claude-sonnet-4-20250514 claude-sonnet-4-20250514-thinking claude-opus-4-20250514
    claude-opus-4-20250514-thinking claude-opus-4-1-20250805 claude-opus-4-1-20250805-thinking claude-sonnet-4-5-20250929
    claude-sonnet-4-5-20250929-thinking claude-opus-4-5-20251101 claude-opus-4-5-20251101-thinking claude-opus-4-6
    claude-opus-4-6-thinking claude-opus-4-6-max claude-opus-4-6-high claude-opus-4-6-medium claude-opus-4-6-low claude-opus-4-7
    claude-opus-4-7-thinking claude-opus-4-7-max claude-opus-4-7-xhigh claude-opus-4-7-high claude-opus-4-7-medium
    claude-opus-4-7-low claude-opus-4-8 claude-opus-4-8-thinking claude-opus-4-8-max claude-opus-4-8-xhigh claude-opus-4-8-high
    claude-opus-4-8-medium claude-opus-4-8-low`;
const LATER_CACHE = ratioTable({
  '0.25': 'gpt-4.1 gpt-4.1-mini gpt-4.1-nano',
  '0.1': `gpt-5 gpt-5-2025-08-07 gpt-5-chat-latest gpt-5-mini gpt-5-mini-2025-08-07 gpt-5-nano gpt-5-nano-2025-08-07
    gemini-3-flash-preview gemini-3-pro-preview gemini-3.1-pro-preview gemini-3.1-flash-lite gemini-3.5-flash-lite gemini-3.6
    gemini-3.6-flash ${CLAUDE_4}`,
});

const COMPLETION = ratioTable({ '2': 'gpt-4-gizmo-* gpt-4-all', '3': 'gpt-4o-gizmo-*' });
const LATER_COMPLETION = ratioTable({ '8': 'gpt-image-1' });
const IMAGE = ratioTable({ '2': 'gpt-image-1' });

const GPT_3: readonly NameRule[] = [
  { names: /^gpt-3\.5-turbo$|^gpt-3\.5.*0125$/, ratio: 3, isFixed: true },
  { names: /^gpt-3\.5.*1106$/, ratio: 2, isFixed: true },
  { names: /^gpt-3\.5/, ratio: 4 / 3, isFixed: true },
];
const GPT_4: readonly NameRule[] = [
  { names: /^gpt-4o-2024-05-13$/, ratio: 3, isFixed: true },
  { names: /^gpt-4o(?!.*(?:-all|-gizmo-\*)$)/, ratio: 4, isFixed: true },
  { names: /^gpt-4\.5-preview(?!.*(?:-all|-gizmo-\*)$)/, ratio: 2, isFixed: true },
  { names: /^gpt-4-turbo(?!.*(?:-all|-gizmo-\*)$)|^gpt-4-110[56]$/, ratio: 3, isFixed: true },
  { names: /^gpt-4(?!.*(?:-all|-gizmo-\*)$)/, ratio: 2 },
];
const OPENAI: readonly NameRule[] = [
  { names: /^o[13]/, ratio: 4, isFixed: true },
  { names: /^chatgpt-4o-latest$/, ratio: 3, isFixed: true },
];
const OLD_CLAUDE: readonly NameRule[] = [{ names: /claude-instant-1|claude-2/, ratio: 3, isFixed: true }];
const MISTRAL: readonly NameRule[] = [{ names: /^mistral-/, ratio: 3, isFixed: true }];
const OTHERS: readonly NameRule[] = [
  { names: /^command-r$/, ratio: 3, isFixed: true },
  { names: /^command-r-plus$/, ratio: 5, isFixed: true },
  { names: /^command-r-(?:plus-)?08-2024$/, ratio: 4, isFixed: true },
  { names: /^command/, ratio: 4 },
  { names: /^ERNIE-(?:Speed-|Lite-|Character|Functions)/, ratio: 2, isFixed: true },
  { names: /^llama2-70b-4096$/, ratio: 0.8 / 0.64, isFixed: true },
  { names: /^llama3-8b-8192$/, ratio: 2, isFixed: true },
  { names: /^llama3-70b-8192$/, ratio: 0.79 / 0.59, isFixed: true },
];
const DEEPSEEK: readonly NameRule[] = [{ names: /^deepseek-(?:chat|reasoner)$/i, ratio: 4, isFixed: true }];
const OLD_GEMINI: readonly NameRule[] = [{ names: /^gemini-(?:1\.5|2\.0)/, ratio: 4, isFixed: true }];
const GEMINI_2: readonly NameRule[] = [
  { names: /^gemini-2\.5-pro/, ratio: 8 },
  { names: /^gemini-2\.5-flash-preview.*-nothinking$/, ratio: 4 },
  { names: /^gemini-2\.5-flash-preview/, ratio: 3.5 / 0.15 },
  { names: /^gemini-2\.5-flash-lite/, ratio: 4 },
];

const GIZMOS = [
  [/^gpt-4-gizmo/, 'gpt-4-gizmo-*'],
  [/^gpt-4o-gizmo/, 'gpt-4o-gizmo-*'],
] as const;
const THINKING = [
  [/^gemini-2\.5-flash-lite.*-thinking-/, 'gemini-2.5-flash-lite-thinking-*'],
  [/^gemini-2\.5-flash(?!-lite).*-thinking-/, 'gemini-2.5-flash-thinking-*'],
  [/^gemini-2\.5-pro.*-thinking-/, 'gemini-2.5-pro-thinking-*'],
] as const;

/** Gemini: the price of audio is not a part of that of the model. */
const GEMINI_AUDIO: readonly NameRule[] = [
  { names: /^gemini-2\.5-flash-preview-native-audio/, ratio: 3 },
  { names: /^gemini-2\.5-flash-preview-lite/, ratio: 0.5 },
  { names: /^gemini-2\.5-flash/, ratio: 1 },
  { names: /^gemini-2\.0-flash/, ratio: 0.7 },
  { names: /^gemini-robotics-er-1\.5/, ratio: 1 },
];

/** Calls of these are charged by their audio. */
const AUDIO_MODELS = /^gpt-4o-audio|-realtime/;

const V06: NewApiRules = {
  versions: 'v0.6',
  model: merged(ratioTable(ALL), ratioTable(OLD)),
  price: PRICES,
  completion: COMPLETION,
  cache: CACHE,
  createCache: new Map(),
  image: new Map(),
  audioRules: {
    models: AUDIO_MODELS,
    output: 2,
    input: [
      { names: /gpt-4o-realtime-preview-2024-12-17$/, ratio: 8 },
      { names: /-realtime.*mini|mini.*-realtime/, ratio: 10 / 0.6 },
      { names: /-realtime/, ratio: 20 },
      { names: /gpt-4o-audio-preview-2024-12-17$/, ratio: 16 },
      { names: /-audio.*mini|mini.*-audio/, ratio: 10 / 0.15 },
      { names: /-audio/, ratio: 40 },
      { names: /^/, ratio: 20 },
    ],
  },
  audio: new Map(),
  audioCompletion: new Map(),
  completionRules: [
    ...GPT_4,
    ...OPENAI,
    ...OLD_CLAUDE,
    { names: /claude-3/, ratio: 5, isFixed: true },
    ...GPT_3,
    ...MISTRAL,
    ...OLD_GEMINI,
    { names: /^gemini-2\.5-pro-preview/, ratio: 8, isFixed: true },
    { names: /^gemini-2\.5-flash-preview(?!.*-nothinking$)/, ratio: 3.5 / 0.6 },
    { names: /^gemini-/, ratio: 4 },
    ...DEEPSEEK,
    ...OTHERS,
  ],
  hasOnlyDallEKinds: false,
  imageRatioPrice: '0.0025',
  hasCreateCacheOption: false,
  hasLongWrites: false,
  audioInput: [],
  tools: [],
  expressions: new Map(),
  unset: undefined,
  names: GIZMOS,
  ratioNames: GIZMOS.slice(0, 1),
  completionNames: [],
};

/** Models whose ratio came with v0.6. */
const SINCE_V06 = new Set(
  `gpt-4.5-preview gpt-4.5-preview-2025-02-27 claude-3-7-sonnet-20250219 claude-3-7-sonnet-20250219-thinking grok-2 grok-2-vision
    grok-beta grok-vision-beta grok-3-beta grok-3-fast-beta grok-3-mini-beta grok-3-mini-fast-beta gemini-2.0-flash
    gemini-2.5-pro-exp-03-25 gemini-2.5-pro-preview-03-25 deepseek-reasoner text-embedding-004`.split(/\s+/),
);

const V04: NewApiRules = {
  ...V06,
  versions: 'v0.4',
  model: merged(
    new Map([...V06.model].filter(([name]) => !SINCE_V06.has(name))),
    ratioTable({
      '1.75': 'gemini-1.5-pro-latest gemini-1.5-pro-exp-0827',
      '1': `gemini-pro gemini-pro-vision gemini-1.0-pro-001 gemini-1.0-pro-vision-001 gemini-1.0-pro-latest
        gemini-1.0-pro-vision-latest gemini-1.5-flash-latest gemini-1.5-flash-exp-0827 gemini-ultra`,
      '0.07': 'deepseek-chat deepseek-coder',
    }),
  ),
  price: new Map([...PRICES].filter(([name]) => !name.startsWith('imagen'))),
  // A stored completion ratio counts for names without a rule.
  completionRules: [
    { names: /^gpt-4o-2024-05-13$/, ratio: 3 },
    { names: /^gpt-4o(?!.*(?:-all|-gizmo-\*)$)/, ratio: 4 },
    { names: /^gpt-4-turbo(?!.*(?:-all|-gizmo-\*)$)|^gpt-4.*preview$/, ratio: 3 },
    { names: /^gpt-4(?!.*(?:-all|-gizmo-\*)$)/, ratio: 2 },
    ...OPENAI,
    ...OLD_CLAUDE,
    { names: /claude-3/, ratio: 5 },
    ...GPT_3,
    ...MISTRAL,
    { names: /^gemini-/, ratio: 4 },
    ...OTHERS,
    { names: /^deepseek.*(?:reasoner|r1)$/i, ratio: 4 },
    { names: /^deepseek/i, ratio: 2 },
  ].map((rule) => ({ ...rule, isFixed: true as const })),
  // Cached tokens cost what others do.
  cache: new Map(),
  unset: '30',
};

const V07: NewApiRules = {
  ...V06,
  versions: 'v0.7 to v0.8',
  model: merged(ratioTable(ALL), ratioTable(LATER)),
  price: merged(PRICES, LATER_PRICES),
  completion: merged(COMPLETION, LATER_COMPLETION),
  cache: merged(CACHE, LATER_CACHE),
  image: IMAGE,
  hasOnlyDallEKinds: true,
  imageRatioPrice: undefined,
  audioRules: {
    models: AUDIO_MODELS,
    output: 2,
    input: [
      { names: /gpt-4o-realtime-preview$/, ratio: 8 },
      { names: /gpt-4o-mini-realtime-preview/, ratio: 10 / 0.6 },
      { names: /-realtime/, ratio: 20 },
      { names: /^gpt-4o-audio-preview/, ratio: 16 },
      { names: /^gpt-4o-mini-audio-preview/, ratio: 10 / 0.15 },
      { names: /-audio/, ratio: 40 },
      { names: /^/, ratio: 20 },
    ],
  },
  completionRules: [
    ...GPT_4,
    ...OPENAI,
    { names: /claude-3|claude-sonnet-4|claude-opus-4/, ratio: 5, isFixed: true },
    ...OLD_CLAUDE,
    ...GPT_3,
    ...MISTRAL,
    ...OLD_GEMINI,
    ...GEMINI_2,
    { names: /^gemini-2\.5-flash/, ratio: 2.5 / 0.3, isFixed: true },
    { names: /^gemini-/, ratio: 4 },
    ...DEEPSEEK,
    ...OTHERS,
  ],
  tools: [
    // There the price also depends on the size of the context; this is that of the usual one.
    { tool: 'web_search_preview', names: /^gpt-4(?:\.1|o)(?!.*mini)/, dollars: 35 },
    { tool: 'web_search_preview', names: /^/, dollars: 27.5 },
    { tool: 'file_search', names: /^/, dollars: 2.5 },
  ],
  names: [...THINKING, ...GIZMOS],
  ratioNames: [...THINKING, ...GIZMOS],
  completionNames: [...THINKING, ...GIZMOS],
};

const V09: NewApiRules = {
  ...V07,
  versions: 'v0.9',
  createCache: ratioTable({
    '1.25': `${[...CACHE].flatMap(([name, ratio]) => (ratio === '0.1' ? name : [])).join(' ')} ${CLAUDE_4}`,
  }),
  audioRules: undefined,
  audio: ratioTable({
    '16': 'gpt-4o-audio-preview',
    '66.67': 'gpt-4o-mini-audio-preview',
    '8': 'gpt-4o-realtime-preview',
    '16.67': 'gpt-4o-mini-realtime-preview',
    '25': 'gpt-4o-mini-tts',
  }),
  audioCompletion: ratioTable({
    '2': 'gpt-4o-realtime gpt-4o-mini-realtime',
    '1': 'gpt-4o-mini-tts',
    '0': 'tts-1 tts-1-hd tts-1-1106 tts-1-hd-1106',
  }),
  completionRules: [
    { names: /-all$|-gizmo-\*$/, ratio: 2 },
    { names: /^gpt-4o-2024-05-13$/, ratio: 3, isFixed: true },
    { names: /^gpt-4o-mini-tts/, ratio: 20 },
    { names: /^gpt-4o/, ratio: 4 },
    { names: /^gpt-5\.4-nano/, ratio: 6.25, isFixed: true },
    { names: /^gpt-5\.[45]/, ratio: 6, isFixed: true },
    { names: /^gpt-5/, ratio: 8, isFixed: true },
    { names: /^gpt-4\.5-preview/, ratio: 2, isFixed: true },
    { names: /^gpt-4-turbo|^gpt-4-110[56]$/, ratio: 3, isFixed: true },
    // Names of GPT 3.5 have the same beginning, so the rules for them are never reached.
    { names: /^gpt-/, ratio: 2 },
    ...OPENAI,
    { names: /claude-3|claude-sonnet-4|claude-opus-4|claude-haiku-4/, ratio: 5, isFixed: true },
    ...MISTRAL,
    ...OLD_GEMINI,
    ...GEMINI_2,
    { names: /^gemini-2\.5-flash|^gemini-robotics-er-1\.5/, ratio: 2.5 / 0.3 },
    { names: /^gemini-3-pro-image/, ratio: 60 },
    { names: /^gemini-3-pro/, ratio: 6 },
    { names: /^gemini-/, ratio: 4 },
    ...OTHERS,
  ],
  hasCreateCacheOption: true,
  hasLongWrites: true,
  audioInput: GEMINI_AUDIO,
  tools: [
    { tool: 'web_search_preview', names: /^o[34]|deep-research/, dollars: 10 },
    { tool: 'web_search_preview', names: /^/, dollars: 25 },
    { tool: 'web_search', names: /^claude/, dollars: 10 },
    { tool: 'file_search', names: /^/, dollars: 2.5 },
  ],
};

const V1: NewApiRules = {
  ...V09,
  versions: 'v1',
  expressions: new Map([
    [
      'gpt-6-astra',
      'len <= 272000 ? tier("standard", p * 10 + c * 50 + cr * 1 + cc * 12.5) : tier("long_context", p * 20 + c * 75 + cr * 2 + cc * 25)',
    ],
  ]),
  createCache: merged(V09.createCache, ratioTable({ '1.25': 'gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna' })),
  completionRules: [
    ...V09.completionRules.slice(0, 4),
    { names: /^gpt-5[^.]*$/, ratio: 8, isFixed: true },
    { names: /^gpt-5\.4-nano/, ratio: 6.25, isFixed: true },
    { names: /^gpt-5\.4/, ratio: 6, isFixed: true },
    { names: /^gpt-5/, ratio: 6 },
    { names: /claude-(?:fable|sonnet|opus)-5/, ratio: 5, isFixed: true },
    ...V09.completionRules.slice(7),
  ],
  tools: [
    { tool: 'web_search_preview', names: /^gpt-4o|^gpt-4\.1/, dollars: 25, isOverride: true },
    { tool: 'web_search_preview', names: /^/, dollars: 10 },
    { tool: 'web_search', names: /^/, dollars: 10 },
    { tool: 'file_search', names: /^/, dollars: 2.5 },
    { tool: 'google_search', names: /^/, dollars: 14 },
    { tool: 'image_generation', names: /^/, dollars: 150 },
  ],
};

/** The ranges of versions that can have such tables and columns, the likeliest first. The version itself is not stored. */
export function newApiRules(schema: Schema): readonly NewApiRules[] {
  if (schema.has('subscription_plans')) return [V1];
  if (schema.has('passkey_credentials') || schema.has('tokens.cross_group_retry')) return [V09];
  if (schema.has('logs.ip') || schema.has('channels.channel_info')) return [V07];
  if (schema.has('setups') || schema.has('channels.param_override')) return [V06];
  return [V04, V06];
}

/** Factors of images by quality and size (`relay/relay-image.go`, `dto/openai_image.go`), of DALL·E only from v0.7 on. */
export const IMAGE_RATIOS: Readonly<Record<string, string>> = {
  '256x256': '0.4',
  '512x512': '0.45',
  '1024x1792': '2',
  '1792x1024': '2',
};
/** The same for `dall-e-3` in high quality. */
export const HD_IMAGE_RATIOS: Readonly<Record<string, string>> = {
  hd: '2',
  'hd/1024x1792': '3',
  'hd/1792x1024': '3',
};
/** Models of the image endpoint. */
export const IMAGE_MODELS =
  /^(?:dall-e|imagen|cogview|flux|black-forest-labs\/|stable-diffusion|sd3|wanx|seedream|kolors)/i;
