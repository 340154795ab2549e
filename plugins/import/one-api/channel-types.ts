/**
 * What the numbers in `channels.type` mean, and the channel that each becomes here. Read in the code of the programs on 2026-11-29:
 *
 * | Program | Numbers and addresses | Paths and credentials |
 * |---|---|---|
 * | one-api (0.6.10, 8df4a267) | `relay/channeltype/define.go`, `url.go` | `relay/adaptor/.../GetRequestURL`, `SetupRequestHeader` |
 * | new-api (0.6.3 to 0.10) | `constant/channel.go`, earlier `common/constants.go` | `relay/channel/.../adaptor.go` |
 *
 * Up to 25 both mostly have the same numbers; after that each has its own. Numbers were never given another meaning within a program.
 */

/** What the channels of a type become. */
export interface ChannelType {
  /** The name of the type in the program. */
  readonly name: string;
  readonly vendor: 'openai' | 'anthropic' | 'gemini' | 'compatible';
  /** The address of a channel that has none. */
  readonly base?: string;
  /** What the program puts between the address and the path of a request, `/chat/completions`; `{account}`: an account of the vendor. */
  readonly path: string;
  /** The APIs that the program offers on it, the one that others are translated to first; undefined: those of the vendor. */
  readonly styles?: readonly string[];
  /** Whether a name of a model is a switch for the program, which calls the model without its suffix: `o3-mini-high`. */
  readonly isSwitch?: (model: string) => boolean;
  /** Models that the program calls at another path, by their upstream names. */
  readonly elsewhere?: RegExp;
  /** What is not as it was. */
  readonly changed?: string;
}

/** What a type is, or why its channels are left. */
export type TypeFact = ChannelType | { readonly name: string; readonly left: string };

/** The types of a program by number. */
export type TypeTable = Readonly<Record<number, TypeFact>>;

/** All APIs that such a server usually has, for channels of which the program forwards every path. */
export const EVERY_STYLE: readonly string[] = [
  'chat',
  'responses',
  'completions',
  'embeddings',
  'images',
  'edits',
  'speech',
  'transcription',
  'translation',
];
/** The same without `responses`, which one-api has not. */
export const WITHOUT_RESPONSES = EVERY_STYLE.filter((style) => style !== 'responses');
const CHAT_AND_EMBEDDINGS = ['chat', 'embeddings'];

/** Type 3: a URL for each deployment, the version in the query, the key in a header of its own. */
export const AZURE = 3;
/** Type 8: the administrator wrote the URL. */
export const CUSTOM = 8;

/** A type that becomes `compatible`. */
export function compatible(
  name: string,
  base: string | undefined,
  path = '/v1',
  more: Partial<ChannelType> = {},
): ChannelType {
  return { name, vendor: 'compatible', path, ...(base !== undefined && { base }), ...more };
}

/** A type whose channels are left. */
export const without = (name: string, left = 'there is no vendor for it here'): TypeFact => ({ name, left });

/** One that had its own API there, and is called at the one that its vendor made for clients of OpenAI. */
const own = (here: string, there: string): Partial<ChannelType> => ({
  styles: CHAT_AND_EMBEDDINGS,
  changed: `it is called at ${here} here, the vendor's API for OpenAI clients, and was at ${there}`,
});

/** Suffixes that set the effort of reasoning: `setting/reasoning/suffix.go` of new-api. */
const EFFORTS = /-(?:none|minimal|low|medium|high|xhigh|max)$/;
/** The adaptor of OpenAI looks for them in these models, whatever the type of the channel. */
const ofOpenai = (model: string): boolean =>
  /^(?:o|gpt-5)/.test(model) && EFFORTS.test(model) && !/-codex-max$/.test(model);
const ofClaude = (model: string): boolean =>
  model.endsWith('-thinking') || (model.startsWith('claude-') && EFFORTS.test(model));
const ofGemini = (model: string): boolean =>
  /-(?:no)?thinking$|-thinking-|-search$/.test(model) || (model.startsWith('gemini-') && EFFORTS.test(model));
const forwarding = { styles: EVERY_STYLE, isSwitch: ofOpenai };

/** Bots of Volc's Ark have a path of their own. */
const BOTS = /^bot/;

const TASKS = 'images, music or video as tasks are not supported here';
const SIGNED = 'its requests are signed in a way that no vendor here has';

const NEW_API: TypeTable = {
  1: { name: 'OpenAI', vendor: 'openai', base: 'https://api.openai.com', path: '/v1', ...forwarding },
  2: without('Midjourney', TASKS),
  3: compatible('Azure', undefined, '/openai/deployments/{model}', { styles: WITHOUT_RESPONSES, isSwitch: ofOpenai }),
  4: compatible('Ollama', 'http://localhost:11434', '/v1', { isSwitch: ofOpenai }),
  5: without('Midjourney Plus', TASKS),
  6: compatible('OpenAIMax', 'https://api.openaimax.com', '/v1', forwarding),
  7: compatible('OhMyGPT', 'https://api.ohmygpt.com', '/v1', forwarding),
  8: compatible('Custom', undefined, '', { styles: ['chat'], isSwitch: ofOpenai }),
  9: compatible('AILS', 'https://api.caipacity.com', '/v1', forwarding),
  10: compatible('AIProxy', 'https://api.aiproxy.io', '/v1', forwarding),
  11: without('PaLM', 'the vendor has ended this API'),
  12: compatible('API2GPT', 'https://api.api2gpt.com', '/v1', forwarding),
  13: compatible('AIGC2D', 'https://api.aigc2d.com', '/v1', forwarding),
  14: { name: 'Anthropic', vendor: 'anthropic', base: 'https://api.anthropic.com', path: '/v1', isSwitch: ofClaude },
  15: without('Baidu', SIGNED),
  16: without('Zhipu', SIGNED),
  17: compatible('Ali', 'https://dashscope.aliyuncs.com', '/compatible-mode/v1'),
  18: without('Xunfei', 'its API is a WebSocket'),
  19: compatible('360', 'https://api.360.cn', '/v1', forwarding),
  20: compatible('OpenRouter', 'https://openrouter.ai/api', '/v1', {
    ...forwarding,
    isSwitch: (model) => model.endsWith('-thinking') || ofOpenai(model),
  }),
  21: compatible('AIProxy Library', 'https://api.aiproxy.io', '/v1', forwarding),
  22: compatible('FastGPT', 'https://fastgpt.run/api/openapi', '/v1', forwarding),
  23: without('Tencent', SIGNED),
  24: {
    name: 'Gemini',
    vendor: 'gemini',
    base: 'https://generativelanguage.googleapis.com',
    path: '/{version}',
    isSwitch: ofGemini,
  },
  25: compatible('Moonshot', 'https://api.moonshot.cn', '/v1', { isSwitch: ofOpenai }),
  26: compatible('Zhipu v4', 'https://open.bigmodel.cn', '/api/paas/v4', { styles: ['chat', 'embeddings', 'images'] }),
  27: compatible('Perplexity', 'https://api.perplexity.ai', '', { styles: ['chat'] }),
  31: compatible('LingYiWanWu', 'https://api.lingyiwanwu.com', '/v1', forwarding),
  33: without('AWS Bedrock', SIGNED),
  34: without('Cohere'),
  35: compatible(
    'MiniMax',
    'https://api.minimax.chat',
    '/v1',
    own('/v1/chat/completions', '/v1/text/chatcompletion_v2'),
  ),
  36: without('Suno', TASKS),
  37: without('Dify'),
  38: compatible('Jina', 'https://api.jina.ai', '/v1', {
    styles: ['embeddings'],
    changed: 'reranking is not supported here',
  }),
  39: compatible('Cloudflare', 'https://api.cloudflare.com', '/client/v4/accounts/{account}/ai/v1', {
    styles: CHAT_AND_EMBEDDINGS,
  }),
  40: compatible('SiliconFlow', 'https://api.siliconflow.cn', '/v1', { styles: WITHOUT_RESPONSES }),
  41: without('Vertex AI', SIGNED),
  42: compatible('Mistral', 'https://api.mistral.ai'),
  43: compatible('DeepSeek', 'https://api.deepseek.com', '/v1', {
    styles: ['chat'],
    isSwitch: (model) => model.startsWith('deepseek-v4') && EFFORTS.test(model),
  }),
  44: without('MokaAI', 'its embeddings have a form of their own'),
  45: compatible('VolcEngine', 'https://ark.cn-beijing.volces.com', '/api/v3', {
    styles: ['chat', 'responses', 'embeddings', 'images'],
    isSwitch: (model) => model.startsWith('deepseek') && model.endsWith('-thinking'),
    elsewhere: BOTS,
  }),
  46: compatible('Baidu v2', 'https://qianfan.baidubce.com', '/v2', {
    styles: ['chat', 'embeddings', 'images', 'edits'],
    isSwitch: (model) => model.endsWith('-search'),
  }),
  47: compatible('Xinference', undefined, '/v1', forwarding),
  48: compatible('xAI', 'https://api.x.ai', '/v1', {
    styles: ['chat', 'responses', 'completions', 'images', 'edits'],
    isSwitch: (model) => model.endsWith('-search') || /^grok-3-mini.*-(?:high|low)$/.test(model),
  }),
  49: without('Coze'),
  50: without('Kling', TASKS),
  51: without('Jimeng', TASKS),
  52: without('Vidu', TASKS),
  53: compatible('Submodel', 'https://llm.submodel.ai'),
  54: without('Doubao Video', TASKS),
  55: without('Sora', TASKS),
  56: without('Replicate', TASKS),
  57: without('Codex', 'its credential is an OAuth login of ChatGPT'),
};

const plain = { styles: WITHOUT_RESPONSES };

const ONE_API: TypeTable = {
  1: { name: 'OpenAI', vendor: 'openai', base: 'https://api.openai.com', path: '/v1', styles: WITHOUT_RESPONSES },
  2: compatible('API2D', 'https://oa.api2d.net', '/v1', plain),
  3: compatible('Azure', undefined, '/openai/deployments/{model}', plain),
  4: compatible('CloseAI', 'https://api.closeai-proxy.xyz', '/v1', plain),
  5: compatible('OpenAI-SB', 'https://api.openai-sb.com', '/v1', plain),
  6: compatible('OpenAIMax', 'https://api.openaimax.com', '/v1', plain),
  7: compatible('OhMyGPT', 'https://api.ohmygpt.com', '/v1', plain),
  8: compatible('Custom', undefined, '/v1', plain),
  9: compatible('AILS', 'https://api.caipacity.com', '/v1', plain),
  10: compatible('AIProxy', 'https://api.aiproxy.io', '/v1', plain),
  11: without('PaLM', 'the vendor has ended this API'),
  12: compatible('API2GPT', 'https://api.api2gpt.com', '/v1', plain),
  13: compatible('AIGC2D', 'https://api.aigc2d.com', '/v1', plain),
  14: { name: 'Anthropic', vendor: 'anthropic', base: 'https://api.anthropic.com', path: '/v1' },
  15: without('Baidu', SIGNED),
  16: without('Zhipu', SIGNED),
  17: compatible('Ali', 'https://dashscope.aliyuncs.com', '/compatible-mode/v1', {
    ...own('/compatible-mode/v1', '/api/v1/services'),
    isSwitch: (model) => model.endsWith('-internet'),
  }),
  18: without('Xunfei', 'its API is a WebSocket'),
  19: compatible('360', 'https://ai.360.cn', '/v1', plain),
  20: compatible('OpenRouter', 'https://openrouter.ai/api', '/v1', plain),
  21: without('AIProxy Library'),
  22: compatible('FastGPT', 'https://fastgpt.run/api/openapi', '/v1', plain),
  23: without('Tencent', SIGNED),
  24: { name: 'Gemini', vendor: 'gemini', base: 'https://generativelanguage.googleapis.com', path: '/{version}' },
  25: compatible('Moonshot', 'https://api.moonshot.cn', '/v1', plain),
  26: compatible('Baichuan', 'https://api.baichuan-ai.com', '/v1', plain),
  27: compatible(
    'MiniMax',
    'https://api.minimax.chat',
    '/v1',
    own('/v1/chat/completions', '/v1/text/chatcompletion_v2'),
  ),
  28: compatible('Mistral', 'https://api.mistral.ai', '/v1', plain),
  29: compatible('Groq', 'https://api.groq.com/openai', '/v1', plain),
  30: compatible('Ollama', 'http://localhost:11434', '/v1', own('/v1/chat/completions', '/api/chat')),
  31: compatible('LingYiWanWu', 'https://api.lingyiwanwu.com', '/v1', plain),
  32: compatible('StepFun', 'https://api.stepfun.com', '/v1', plain),
  33: without('AWS Bedrock', SIGNED),
  34: without('Coze'),
  35: without('Cohere'),
  36: compatible('DeepSeek', 'https://api.deepseek.com', '/v1', plain),
  37: compatible('Cloudflare', 'https://api.cloudflare.com', '/client/v4/accounts/{account}/ai/v1', {
    styles: CHAT_AND_EMBEDDINGS,
  }),
  38: without('DeepL'),
  39: compatible('Together', 'https://api.together.xyz', '/v1', plain),
  40: compatible('Doubao', 'https://ark.cn-beijing.volces.com', '/api/v3', {
    styles: CHAT_AND_EMBEDDINGS,
    elsewhere: BOTS,
  }),
  41: compatible('Novita', 'https://api.novita.ai/v3/openai', '', { styles: ['chat'] }),
  42: without('Vertex AI', SIGNED),
  43: without('Proxy', 'it forwards any path: see the section `passthrough`'),
  44: compatible('SiliconFlow', 'https://api.siliconflow.cn', '/v1', plain),
  45: compatible('xAI', 'https://api.x.ai', '/v1', plain),
  46: without('Replicate', TASKS),
  47: compatible('Baidu v2', 'https://qianfan.baidubce.com', '/v2', { styles: ['chat'] }),
  48: compatible('Xunfei v2', 'https://spark-api-open.xf-yun.com', '/v1', plain),
  49: compatible('Ali Bailian', 'https://dashscope.aliyuncs.com', '/compatible-mode/v1', {
    styles: CHAT_AND_EMBEDDINGS,
  }),
  50: compatible('OpenAI compatible', undefined, '', plain),
  51: compatible('Gemini, OpenAI compatible', 'https://generativelanguage.googleapis.com/v1beta/openai', '', plain),
};

/** Ollama's own API is used since about v0.9 of new-api. */
const LATE_OLLAMA: TypeFact = compatible(
  'Ollama',
  'http://localhost:11434',
  '/v1',
  own('/v1/chat/completions', '/api/chat'),
);

/** What channels of a type are. `isLate`: a version after v0.8.5 of new-api. */
export function channelTypeOf(program: 'one-api' | 'new-api', type: number, isLate: boolean): TypeFact | undefined {
  if (program === 'one-api') return ONE_API[type];
  return type === 4 && isLate ? LATE_OLLAMA : NEW_API[type];
}
