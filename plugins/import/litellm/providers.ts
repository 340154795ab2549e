/** The providers that LiteLLM names in front of a model (`groq/llama-3`), and the channel that each becomes here. */

/** What a deployment of a provider becomes. */
export interface Provider {
  readonly vendor: 'openai' | 'anthropic' | 'gemini' | 'compatible';
  /** The base URL of a deployment without `api_base`; absent: the vendor's own, or it must have one. */
  readonly url?: string;
  /** The environment variable that LiteLLM reads without `api_key`. */
  readonly variable: string;
  /** It needs no key. */
  readonly keyless?: true;
}

const at = (url: string | undefined, variable: string): Provider => ({
  vendor: 'compatible',
  variable,
  ...(url !== undefined && { url }),
});
const own = (url?: string): Provider => ({ ...at(url, 'OPENAI_LIKE_API_KEY'), keyless: true });

/** By the word in front of the slash. */
export const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: { vendor: 'openai', variable: 'OPENAI_API_KEY' },
  'text-completion-openai': { vendor: 'openai', variable: 'OPENAI_API_KEY' },
  anthropic: { vendor: 'anthropic', variable: 'ANTHROPIC_API_KEY' },
  gemini: { vendor: 'gemini', variable: 'GEMINI_API_KEY' },
  azure: at(undefined, 'AZURE_API_KEY'),
  openrouter: at('https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY'),
  groq: at('https://api.groq.com/openai/v1', 'GROQ_API_KEY'),
  mistral: at('https://api.mistral.ai/v1', 'MISTRAL_API_KEY'),
  deepseek: at('https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY'),
  xai: at('https://api.x.ai/v1', 'XAI_API_KEY'),
  together_ai: at('https://api.together.xyz/v1', 'TOGETHERAI_API_KEY'),
  fireworks_ai: at('https://api.fireworks.ai/inference/v1', 'FIREWORKS_AI_API_KEY'),
  perplexity: at('https://api.perplexity.ai', 'PERPLEXITYAI_API_KEY'),
  cerebras: at('https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY'),
  moonshot: at('https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY'),
  nvidia_nim: at('https://integrate.api.nvidia.com/v1', 'NVIDIA_NIM_API_KEY'),
  deepinfra: at('https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY'),
  hosted_vllm: own(),
  openai_like: own(),
  custom_openai: own(),
  lm_studio: own(),
  litellm_proxy: own(),
  xinference: own(),
  ollama: own('http://localhost:11434/v1'),
  ollama_chat: own('http://localhost:11434/v1'),
};

/** The provider of a model without a word in front, by its name; only where there is no doubt. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|o\d|chatgpt-|text-embedding-|dall-e-|tts-|whisper-)/, 'openai'],
  [/^claude-/, 'anthropic'],
];

/** The provider and the upstream model of `litellm_params.model`; undefined if the provider is not known. */
export function splitModel(
  model: string,
  provider?: string,
): { readonly name: string; readonly upstream: string } | undefined {
  const [word = '', ...rest] = model.split('/');
  if (rest.length > 0 && Object.hasOwn(PROVIDERS, word)) return { name: word, upstream: rest.join('/') };
  const name = provider ?? BY_NAME.find(([pattern]) => pattern.test(model))?.[1];
  return name !== undefined && Object.hasOwn(PROVIDERS, name) ? { name, upstream: model } : undefined;
}
