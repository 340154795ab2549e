/**
 * Ratios that earlier versions of one-api had in their code. Facts, read in November 2026 in songquanpeng/one-api:
 * - `v0.5`, to January 2024: `common/model-ratio.go` (a1e3c9a7).
 * - `v0.6.1 to v0.6.6`: `relay/billing/model-ratio.go` (2ab7d25a).
 * - `v0.6.7 to v0.6.10`: `relay/billing/ratio/model.go` (00535211).
 */
import { type NameRule, type RatioTable, ratioTable } from './table.ts';

/** Ratios of one range of versions. */
export interface OneApiRules {
  readonly versions: string;
  /** Ratios of models, and of models at channels of a type: `llama3-8b-8192(33)`. */
  readonly model: RatioTable;
  readonly completion: RatioTable;
  /** Completion ratios of models that are in no table, by name; otherwise 1. */
  readonly completionRules: readonly NameRule[];
  /** The program's ratios stay in use for models that a stored row does not have. */
  readonly keepsOwn: boolean;
  /** A ratio can be one of the channels of a type only. */
  readonly hasTypes: boolean;
}

const OPENAI = {
  '30': 'gpt-4-32k gpt-4-32k-0314 gpt-4-32k-0613',
  '15': 'gpt-4 gpt-4-0314 gpt-4-0613 whisper-1 tts-1-hd tts-1-hd-1106',
  '10': `
    text-davinci-002 text-davinci-003 text-davinci-edit-001 code-davinci-edit-001 davinci curie babbage ada
    text-search-ada-doc-001`,
  '7.5': 'tts-1 tts-1-1106',
  '5': 'gpt-4-1106-preview gpt-4-vision-preview',
  '1.5': 'gpt-3.5-turbo-16k gpt-3.5-turbo-16k-0613',
  '1': 'davinci-002 text-curie-001',
  '0.75': 'gpt-3.5-turbo-0301 gpt-3.5-turbo-0613 gpt-3.5-turbo-instruct',
  '0.5': 'gpt-3.5-turbo-1106',
  '0.25': 'text-babbage-001',
  '0.2': 'babbage-002 text-ada-001',
  '0.1': 'text-moderation-stable text-moderation-latest',
  '0.05': 'text-embedding-ada-002',
};
const CHINESE = {
  '7.143': 'hunyuan',
  '1.2858': 'SparkDesk',
  '0.8572': '360GPT_S2_V9',
  '0.7143': 'chatglm_pro',
  '0.3572': 'chatglm_turbo chatglm_std',
  '0.1429': 'chatglm_lite',
  '0.0715': 'embedding-bert-512-v1 embedding_s1_v1 semantic_similarity_s1_v1',
  '0.05': 'text-embedding-v1',
};
const SHARED = {
  '20': 'dall-e-3',
  '17.75': 'cogview-3',
  '10': 'dall-e-2',
  '8.52': 'ERNIE-4.0-8K',
  '8': 'ali-stable-diffusion-xl ali-stable-diffusion-v1.5 wanx-v1',
  '7.5': 'claude-3-opus-20240229',
  '7.1': 'glm-4 glm-4v ChatPro abab6-chat',
  '5': 'gpt-4-0125-preview gpt-4-turbo-preview',
  '4.26': 'moonshot-v1-128k',
  '4': 'claude-2.0 claude-2.1 mistral-large-latest',
  '1.704': 'ERNIE-3.5-8K-0205 ERNIE-Bot-8K moonshot-v1-32k',
  '1.5': 'claude-3-sonnet-20240229',
  '1.42': 'Baichuan2-53B',
  '1.4286': 'qwen-plus qwen-max qwen-max-longcontext',
  '1.35': 'mistral-medium-latest',
  '1.2858': 'SparkDesk-v1.1 SparkDesk-v2.1 SparkDesk-v3.1 SparkDesk-v3.5',
  '1.136': 'Baichuan2-Turbo-192k',
  '1.065': 'abab5.5-chat',
  '1': 'gemini-pro gemini-1.5-pro mistral-small-latest',
  '0.852': 'ERNIE-3.5-8K ERNIE-3.5-8K-1222 ERNIE-3.5-4K-0205 moonshot-v1-8k yi-34b-chat-200k',
  '0.71': 'ChatStd',
  '0.568': 'ERNIE-Lite-8K-0922 Baichuan2-Turbo',
  '0.426': 'yi-vl-plus',
  '0.4': 'claude-instant-1.2',
  '0.355': 'glm-3-turbo abab5.5s-chat',
  '0.35': 'open-mixtral-8x7b',
  '0.284': 'ERNIE-Speed-8K ERNIE-Speed-128K BLOOMZ-7B',
  '0.25': 'gpt-3.5-turbo gpt-3.5-turbo-0125',
  '0.213': 'ERNIE-Lite-8K-0308',
  '0.1775': 'yi-34b-chat-0205',
  '0.142': 'Embedding-V1 bge-large-zh bge-large-en tao-8k',
  '0.125': 'claude-3-haiku-20240307 open-mistral-7b',
  '0.071': 'ERNIE-Tiny-8K',
  '0.065': 'text-embedding-3-large',
  '0.05': 'mistral-embed',
  '0.0355': 'embedding-2',
  '0.01': 'text-embedding-3-small',
};

const merged = (...tables: readonly Readonly<Record<string, string>>[]): RatioTable =>
  new Map(tables.flatMap((table) => [...ratioTable(table)]));

/** To January 2024. */
export const V05: OneApiRules = {
  versions: 'v0.5',
  model: merged(OPENAI, CHINESE, {
    '20': 'dall-e-3',
    '8.572': 'ERNIE-Bot-4',
    '8': 'dall-e-2',
    '5.51': 'claude-2 claude-2.0 claude-2.1',
    '1.4286': 'qwen-plus qwen-max qwen-max-longcontext',
    '1': 'PaLM-2 gemini-pro gemini-pro-vision',
    '0.8572': 'ERNIE-Bot',
    '0.815': 'claude-instant-1',
    '0.75': 'gpt-3.5-turbo',
    '0.5715': 'ERNIE-Bot-turbo qwen-turbo',
    '0.1429': 'Embedding-V1',
  }),
  completion: new Map(),
  completionRules: [
    { names: /^gpt-3\.5.*1106$|^gpt-3\.5-turbo(?:-16k)?$/, ratio: 2 },
    { names: /^gpt-3\.5/, ratio: 1.333333 },
    { names: /^gpt-4.*preview$/, ratio: 3 },
    { names: /^gpt-4/, ratio: 2 },
    { names: /^claude-instant-1/, ratio: 3.38 },
    { names: /^claude-2/, ratio: 2.965517 },
  ],
  keepsOwn: false,
  hasTypes: false,
};

const GPT_3: readonly NameRule[] = [
  { names: /^gpt-3\.5-turbo$|^gpt-3\.5.*0125$/, ratio: 3 },
  { names: /^gpt-3\.5.*1106$/, ratio: 2 },
  { names: /^gpt-3\.5/, ratio: 4 / 3 },
];

/** February to June 2024. */
export const V061: OneApiRules = {
  versions: 'v0.6.1 to v0.6.6',
  model: merged(OPENAI, CHINESE, SHARED, {
    '1': 'PaLM-2 gemini-pro-vision gemini-1.0-pro-vision-001 gemini-1.0-pro-001',
    '0.5715': 'qwen-turbo',
    '0.35': 'llama2-70b-4096',
    '0.135': 'mixtral-8x7b-32768',
    '0.05': 'llama2-7b-2048 gemma-7b-it',
  }),
  completion: new Map(),
  completionRules: [
    ...GPT_3,
    { names: /^gpt-4.*preview$/, ratio: 3 },
    { names: /^gpt-4/, ratio: 2 },
    { names: /^claude-3/, ratio: 5 },
    { names: /^claude-|^mistral-|^gemini-/, ratio: 3 },
    { names: /^llama2-70b-4096$/, ratio: 0.8 / 0.7 },
  ],
  keepsOwn: true,
  hasTypes: false,
};

/** To November 2024. */
export const V067: OneApiRules = {
  versions: 'v0.6.7 to v0.6.10',
  model: merged(OPENAI, CHINESE, SHARED, {
    '12.5': 'deepl-zh deepl-en deepl-ja',
    '5': 'gpt-4-turbo gpt-4-turbo-2024-04-09',
    '2.5': 'gpt-4o chatgpt-4o-latest gpt-4o-2024-05-13 grok-beta',
    '2.13': 'abab6.5-chat',
    '1.5': 'claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022 command-r-plus',
    '1.4286': `
      qwen-turbo qwen-turbo-latest qwen-plus-latest qwen-max-latest qwen-vl-max qwen-vl-max-latest qwen-vl-plus
      qwen-vl-plus-latest qwen-vl-ocr qwen-vl-ocr-latest qwen-audio-turbo qwen-math-plus qwen-math-plus-latest
      qwen-math-turbo qwen-math-turbo-latest qwen-coder-plus qwen-coder-plus-latest qwen-coder-turbo
      qwen-coder-turbo-latest qwq-32b-preview qwen2.5-72b-instruct qwen2.5-32b-instruct qwen2.5-14b-instruct
      qwen2.5-7b-instruct qwen2.5-3b-instruct qwen2.5-1.5b-instruct qwen2.5-0.5b-instruct qwen2-72b-instruct
      qwen2-57b-a14b-instruct qwen2-7b-instruct qwen2-1.5b-instruct qwen2-0.5b-instruct qwen1.5-110b-chat
      qwen1.5-72b-chat qwen1.5-32b-chat qwen1.5-14b-chat qwen1.5-7b-chat qwen1.5-1.8b-chat qwen1.5-0.5b-chat
      qwen-72b-chat qwen-14b-chat qwen-7b-chat qwen-1.8b-chat qwen-1.8b-longcontext-chat qwen2-vl-7b-instruct
      qwen2-vl-2b-instruct qwen-vl-v1 qwen-vl-chat-v1 qwen2-audio-instruct qwen-audio-chat
      qwen2.5-math-72b-instruct qwen2.5-math-7b-instruct qwen2.5-math-1.5b-instruct qwen2-math-72b-instruct
      qwen2-math-7b-instruct qwen2-math-1.5b-instruct qwen2.5-coder-32b-instruct qwen2.5-coder-14b-instruct
      qwen2.5-coder-7b-instruct qwen2.5-coder-3b-instruct qwen2.5-coder-1.5b-instruct qwen2.5-coder-0.5b-instruct`,
    '1.325': 'llama3-70b-8192(33)',
    '1.2858': 'SparkDesk-v3.1-128K SparkDesk-v3.5-32K SparkDesk-v4.0',
    '1.25': 'gpt-4o-2024-08-06',
    '1': 'gemini-1.0-pro gemini-1.5-flash aqa',
    '0.71': 'abab6.5s-chat',
    '0.5': 'claude-3-5-haiku-20241022 command command-nightly command-light command-light-nightly',
    '0.25': 'command-r',
    '0.15': 'llama3-8b-8192(33)',
    '0.075': 'gpt-4o-mini gpt-4o-mini-2024-07-18',
    '0.071': 'deepseek-chat deepseek-coder',
    '0.05': 'text-embedding-v2 text-embedding-v3 text-embedding-async-v1 text-embedding-async-v2',
    '0.006745': 'step-1-256k',
    '0.00284': 'step-1-128k',
    '0.002698': 'step-2-16k',
    '0.001065': 'step-1-32k step-1v-32k',
    '0.000445': 'llama3-groq-70b-8192-tool-use-preview',
    '0.000355': 'step-1-8k step-1v-8k',
    '0.000295': 'llama-3.1-70b-versatile llama-3.2-90b-text-preview llama3-70b-8192',
    '0.00012': 'mixtral-8x7b-32768',
    '0.0001': 'gemma2-9b-it',
    '0.000095': 'llama3-groq-8b-8192-tool-use-preview',
    '0.000071': 'step-1-flash',
    '0.000035': 'gemma-7b-it',
    '0.000025': `
      llama-3.1-8b-instant llama-3.2-11b-text-preview llama-3.2-11b-vision-preview llama-3.2-1b-preview
      llama-3.2-3b-preview llama-guard-3-8b llama3-8b-8192`,
  }),
  completion: ratioTable({ '2': 'llama3-8b-8192(33)', '1.320754716981132': 'llama3-70b-8192(33)' }),
  completionRules: [
    ...GPT_3,
    { names: /^gpt-4o-mini|^gpt-4o-2024-08-06$/, ratio: 4 },
    { names: /^gpt-4-turbo|^gpt-4o|^gpt-4.*preview$/, ratio: 3 },
    { names: /^gpt-4/, ratio: 2 },
    { names: /^chatgpt-4o-latest$/, ratio: 3 },
    { names: /^claude-3/, ratio: 5 },
    { names: /^claude-|^mistral-|^gemini-/, ratio: 3 },
    { names: /^deepseek-/, ratio: 2 },
    { names: /^llama2-70b-4096$/, ratio: 0.8 / 0.64 },
    { names: /^llama3-8b-8192$|^command(?:-light)?(?:-nightly)?$/, ratio: 2 },
    { names: /^llama3-70b-8192$/, ratio: 0.79 / 0.59 },
    { names: /^command-r$|^grok-beta$/, ratio: 3 },
    { names: /^command-r-plus$/, ratio: 5 },
  ],
  keepsOwn: true,
  hasTypes: true,
};
