/**
 * The providers that LiteLLM names in front of a model (`groq/llama-3`), and the channel that each becomes here. Base URLs and variables are
 * what LiteLLM's own resolution gave for each word (`get_llm_provider`, and `get_complete_url` of its chat configurations). Facts:
 * BerriAI/litellm 1.110.2, 2026-11-29. A word that is not here is left by its name: its API is not OpenAI's, it needs a signature of its cloud
 * (Bedrock, SageMaker, Vertex AI), or it is not a model provider.
 */

/** What a deployment of a provider becomes. */
export interface Provider {
  readonly vendor: 'openai' | 'anthropic' | 'gemini' | 'compatible';
  /** The base URL of a deployment without `api_base`; absent: the vendor's own, or it must have one. */
  readonly url?: string;
  /** The path that LiteLLM puts between `api_base` and the path of the API. */
  readonly suffix?: string;
  /** The environment variable that LiteLLM reads without `api_key`. */
  readonly variable: string;
  /** The variables that it reads without `api_base`. */
  readonly bases: readonly string[];
  /** A server of the operator: it needs no key, and LiteLLM knows no price for it. */
  readonly own?: true;
  /** The styles that its channel speaks, if they are not the usual ones. */
  readonly speaks?: readonly string[];
  /** The name that LiteLLM sends for a model. */
  readonly renamed?: (model: string) => string;
}

const at = (url: string | undefined, variable: string, others: Partial<Provider> = {}): Provider => ({
  vendor: 'compatible',
  variable,
  bases: [variable.replace(/_(?:KEY|TOKEN)$/, '_BASE')],
  ...(url !== undefined && { url }),
  ...others,
});
const own = (word: string, url?: string, others: Partial<Provider> = {}): Provider =>
  at(url, `${word}_API_KEY`, { own: true, ...others });
/** Ollama's OpenAI API is below `/v1`; LiteLLM uses its other API at the same address. */
const OLLAMA = own('OLLAMA', 'http://localhost:11434', { suffix: '/v1' });
const OPENAI_BASES = ['OPENAI_BASE_URL', 'OPENAI_API_BASE'];

/** The name of a model at Fireworks without the account that LiteLLM adds. */
function fireworksName(model: string): string {
  if (/^(?:accounts\/|.*#)/.test(model)) return model;
  if (/^(?:routers|models)\//.test(model)) return `accounts/fireworks/${model}`;
  return `accounts/fireworks/${model.endsWith('-fast') ? 'routers' : 'models'}/${model}`;
}

/** By the word in front of the slash. */
export const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { vendor: 'openai', variable: 'OPENAI_API_KEY', bases: OPENAI_BASES },
  'text-completion-openai': {
    vendor: 'openai',
    variable: 'OPENAI_API_KEY',
    bases: OPENAI_BASES,
    speaks: ['completions'],
  },
  anthropic: {
    vendor: 'anthropic',
    variable: 'ANTHROPIC_API_KEY',
    bases: ['ANTHROPIC_API_BASE', 'ANTHROPIC_BASE_URL'],
  },
  gemini: { vendor: 'gemini', variable: 'GEMINI_API_KEY', bases: ['GEMINI_API_BASE'] },
  azure: at(undefined, 'AZURE_API_KEY'),
  databricks: at(undefined, 'DATABRICKS_API_KEY'),
  openrouter: at('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  voyage: at('https://api.voyageai.com/v1', 'VOYAGE_API_KEY', { speaks: ['embeddings'] }),
  jina_ai: at('https://api.jina.ai/v1', 'JINA_AI_API_KEY', { speaks: ['embeddings'] }),
  aiml: at('https://api.aimlapi.com/v1', 'AIML_API_KEY'),
  refuseless: at('https://api.refuseless.com/v1', 'REFUSELESS_API_KEY'),
  xai: at('https://api.x.ai/v1', 'XAI_API_KEY'),
  zai: at('https://api.z.ai/api/paas/v4', 'ZAI_API_KEY'),
  bigmodel: at('https://open.bigmodel.cn/api/paas/v4', 'BIGMODEL_API_KEY'),
  together_ai: at('https://api.together.ai/v1', 'TOGETHERAI_API_KEY'),
  abliteration: at('https://api.abliteration.ai/v1', 'ABLITERATION_API_KEY'),
  deepinfra: at('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  clf_ai_gateway: at('https://api.clfaigateway.dev/v1', 'CLF_AI_GATEWAY_API_KEY'),
  perplexity: at('https://api.perplexity.ai', 'PERPLEXITYAI_API_KEY'),
  empiriolabs: at('https://api.empiriolabs.ai/v1', 'EMPIRIOLABS_API_KEY'),
  mistral: at('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  groq: at('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  nvidia_nim: at('https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'),
  cerebras: at('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  nadir: at('https://api.getnadir.com/v1', 'NADIR_API_KEY'),
  ai21_chat: at('https://api.ai21.com/studio/v1', 'AI21_API_KEY'),
  volcengine: at('https://ark.cn-beijing.volces.com/api/v3', 'VOLCENGINE_API_KEY'),
  codestral: at('https://codestral.mistral.ai/v1', 'CODESTRAL_API_KEY'),
  dashscope: at('https://dashscope.aliyuncs.com/compatible-mode/v1', 'DASHSCOPE_API_KEY'),
  qwencloud: at('https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'QWENCLOUD_API_KEY'),
  qwen_ai_platform: at('https://dashscope.aliyuncs.com/compatible-mode/v1', 'QWEN_AI_PLATFORM_API_KEY'),
  modelscope: at('https://api-inference.modelscope.cn/v1', 'MODELSCOPE_API_KEY'),
  moonshot: at('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  publicai: at('https://api.publicai.co/v1', 'PUBLICAI_API_KEY'),
  v0: at('https://api.v0.dev/v1', 'V0_API_KEY'),
  morph: at('https://api.morphllm.com/v1', 'MORPH_API_KEY'),
  lambda_ai: at('https://api.lambda.ai/v1', 'LAMBDA_API_KEY'),
  inception: at('https://api.inceptionlabs.ai/v1', 'INCEPTION_API_KEY'),
  deepseek: at('https://api.deepseek.com/beta', 'DEEPSEEK_API_KEY'),
  sambanova: at('https://api.sambanova.ai/v1', 'SAMBANOVA_API_KEY'),
  fireworks_ai: at('https://api.fireworks.ai/inference/v1', 'FIREWORKS_AI_API_KEY', { renamed: fireworksName }),
  friendliai: at('https://api.friendli.ai/serverless/v1', 'FRIENDLIAI_API_KEY'),
  featherless_ai: at('https://api.featherless.ai/v1', 'FEATHERLESS_AI_API_KEY'),
  empower: at('https://app.empower.dev/api/v1', 'EMPOWER_API_KEY'),
  github: at('https://models.inference.ai.azure.com', 'GITHUB_API_KEY'),
  tencent: at('https://tokenhub-intl.tencentcloudmaas.com/v1', 'TENCENT_API_KEY'),
  galadriel: at('https://api.galadriel.com/v1', 'GALADRIEL_API_KEY'),
  nebius: at('https://api.studio.nebius.ai/v1', 'NEBIUS_API_KEY'),
  novita: at('https://api.novita.ai/v3/openai', 'NOVITA_API_KEY'),
  assemblyai: at('https://llm-gateway.assemblyai.com/v1', 'ASSEMBLYAI_API_KEY'),
  meta_llama: at('https://api.llama.com/compat/v1', 'LLAMA_API_KEY'),
  nscale: at('https://inference.api.nscale.com/v1', 'NSCALE_API_KEY'),
  helicone: at('https://ai-gateway.helicone.ai', 'HELICONE_API_KEY'),
  hyperbolic: at('https://api.hyperbolic.xyz/v1', 'HYPERBOLIC_API_KEY'),
  cometapi: at('https://api.cometapi.com/v1', 'COMETAPI_KEY'),
  vercel_ai_gateway: at('https://ai-gateway.vercel.sh/v1', 'VERCEL_AI_GATEWAY_API_KEY'),
  edenai: at('https://api.edenai.run/v3', 'EDENAI_API_KEY'),
  wandb: at('https://api.inference.wandb.ai/v1', 'WANDB_API_KEY'),
  ovhcloud: at('https://oai.endpoints.kepler.ai.cloud.ovh.net/v1', 'OVHCLOUD_API_KEY'),
  scaleway: at('https://api.scaleway.ai/v1', 'SCW_SECRET_KEY'),
  minimax: at('https://api.minimax.io/v1', 'MINIMAX_API_KEY'),
  synthetic: at('https://api.synthetic.new/openai/v1', 'SYNTHETIC_API_KEY'),
  apertis: at('https://api.stima.tech/v1', 'STIMA_API_KEY'),
  'nano-gpt': at('https://nano-gpt.com/api/v1', 'NANOGPT_API_KEY'),
  poe: at('https://api.poe.com/v1', 'POE_API_KEY'),
  chutes: at('https://llm.chutes.ai/v1', 'CHUTES_API_KEY'),
  neosantara: at('https://api.neosantara.xyz/v1', 'NEOSANTARA_API_KEY'),
  aiand: at('https://api.aiand.com/v1', 'AIAND_API_KEY'),
  parasail: at('https://api.parasail.io/v1', 'PARASAIL_API_KEY'),
  xiaomi_mimo: at('https://api.xiaomimimo.com/v1', 'XIAOMI_MIMO_API_KEY'),
  tensormesh: at('https://serverless.tensormesh.ai/v1', 'TENSORMESH_INFERENCE_API_KEY'),
  libertai: at('https://api.libertai.io/v1', 'LIBERTAI_API_KEY'),
  pinstripes: at('https://pinstripes.io/v1', 'PINSTRIPES_API_KEY'),
  cognition: at('https://api.cognition.ai/v1', 'COGNITION_API_KEY'),
  coralbricks: at('https://inference.coralbricks.ai/v1', 'CORALBRICKS_API_KEY'),
  cortecs: at('https://api.cortecs.ai/v1', 'CORTECS_API_KEY'),
  'scx-ai': at('https://api.scx.ai/v1', 'SCX_API_KEY'),
  prism: at('https://api.prisminference.com/v1', 'PRISM_API_KEY'),
  openinfer: at('https://api.openinfer.ai/v1', 'OPENINFER_API_KEY'),
  inferenceapis: at('https://api.inferenceapis.com/v1', 'INFERENCEAPIS_API_KEY'),
  hostinger_router: at('https://router.hostinger.com/v1', 'HOSTINGER_ROUTER_API_KEY'),
  zerogpu: at('https://api.zerogpu.ai/v1', 'ZEROGPU_API_KEY'),
  darkbloom: at('https://api.darkbloom.dev/v1', 'DARKBLOOM_API_KEY'),
  meta: at('https://api.meta.ai/v1', 'META_API_KEY'),
  sail: at('https://api.sailresearch.com/v1', 'SAIL_API_KEY'),
  reka: at('https://api.reka.ai/v1', 'REKA_API_KEY'),
  streamlake: at('https://vanchin.streamlake.ai/api/gateway/v1/endpoints', 'STREAMLAKE_API_KEY'),
  wally: at('https://inference.runanywhere.ai/v1', 'WALLY_API_KEY'),
  kyma: at('https://kymaapi.com/v1', 'KYMA_API_KEY'),
  hosted_vllm: own('HOSTED_VLLM'),
  openai_like: own('OPENAI_LIKE'),
  custom_openai: own('OPENAI_LIKE'),
  lm_studio: own('LM_STUDIO'),
  litellm_proxy: own('LITELLM_PROXY'),
  xinference: own('XINFERENCE'),
  llamafile: own('LLAMAFILE', 'http://127.0.0.1:8080/v1'),
  lemonade: own('LEMONADE', 'http://localhost:8000/api/v1'),
  docker_model_runner: own('DOCKER_MODEL_RUNNER', 'http://localhost:22088/engines/llama.cpp', { suffix: '/v1' }),
  ollama: OLLAMA,
  ollama_chat: OLLAMA,
};

/** The provider of a model without a word in front, by its name; only where there is no doubt. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|o\d|chatgpt-|text-embedding-|dall-e-|tts-|whisper-)/, 'openai'],
  [/^claude-/, 'anthropic'],
];

/** What `litellm_params.model` names. */
export interface SplitModel {
  /** The provider's word. */
  readonly name: string;
  readonly upstream: string;
  /** LiteLLM calls the Responses API for it, whatever the client calls: `openai/responses/gpt-5`. */
  readonly isResponses?: true;
}

/** The provider and the upstream model; undefined if the provider is not known. */
export function splitModel(model: string, given?: string): SplitModel | undefined {
  const [word = '', ...rest] = model.split('/');
  const isPrefixed = rest.length > 0 && (given === undefined || given === word) && Object.hasOwn(PROVIDERS, word);
  const name = isPrefixed ? word : (given ?? BY_NAME.find(([pattern]) => pattern.test(model))?.[1]);
  if (name === undefined || !Object.hasOwn(PROVIDERS, name)) return undefined;
  const plain = isPrefixed ? rest.join('/') : model;
  const { renamed } = PROVIDERS[name]!;
  if (name === 'openai' && plain.startsWith('responses/'))
    return { name, upstream: plain.slice('responses/'.length), isResponses: true };
  return { name, upstream: renamed === undefined || plain.includes('*') ? plain : renamed(plain) };
}
