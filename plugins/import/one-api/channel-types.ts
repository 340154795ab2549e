/**
 * The numbers in `channels.type`, and the channel that each becomes here. Facts: `relay/channeltype/define.go` of
 * one-api, `constant/channel.go` of new-api. Up to 27 they are the same; after that each has its own.
 */

/** What a channel of a type becomes. */
export interface ChannelType {
  readonly vendor: 'openai' | 'anthropic' | 'gemini' | 'compatible';
  /** The base URL of a channel that has none, without `path`. */
  readonly base?: string;
  /** The path between the base URL and that of a request. */
  readonly path: string;
}

const usual = (base?: string, path = '/v1'): ChannelType => ({
  vendor: 'compatible',
  path,
  ...(base !== undefined && { base }),
});

const COMMON: Readonly<Record<number, ChannelType>> = {
  1: { vendor: 'openai', base: 'https://api.openai.com', path: '/v1' },
  2: usual('https://oa.api2d.net'),
  3: usual(undefined, '/openai/deployments/{model}'),
  5: usual('https://api.openai-sb.com'),
  6: usual('https://api.openaimax.com'),
  7: usual('https://api.ohmygpt.com'),
  8: usual(),
  10: usual('https://api.aiproxy.io'),
  12: usual('https://api.api2gpt.com'),
  13: usual('https://api.aigc2d.com'),
  14: { vendor: 'anthropic', base: 'https://api.anthropic.com', path: '/v1' },
  17: usual('https://dashscope.aliyuncs.com', '/compatible-mode/v1'),
  20: usual('https://openrouter.ai/api'),
  24: { vendor: 'gemini', base: 'https://generativelanguage.googleapis.com', path: '/v1beta' },
  25: usual('https://api.moonshot.cn'),
};

const ONE_API: Readonly<Record<number, ChannelType>> = {
  28: usual('https://api.mistral.ai'),
  29: usual('https://api.groq.com/openai'),
  30: usual('http://localhost:11434'),
  31: usual('https://api.lingyiwanwu.com'),
  32: usual('https://api.stepfun.com'),
  36: usual('https://api.deepseek.com'),
  39: usual('https://api.together.xyz'),
  40: usual('https://ark.cn-beijing.volces.com', '/api/v3'),
  41: usual('https://api.novita.ai/v3/openai', ''),
  44: usual('https://api.siliconflow.cn'),
  45: usual('https://api.x.ai'),
  50: usual(),
};

const NEW_API: Readonly<Record<number, ChannelType>> = {
  4: usual('http://localhost:11434'),
  26: usual('https://open.bigmodel.cn', '/api/paas/v4'),
  27: usual('https://api.perplexity.ai', ''),
  31: usual('https://api.lingyiwanwu.com'),
  40: usual('https://api.siliconflow.cn'),
  42: usual('https://api.mistral.ai'),
  43: usual('https://api.deepseek.com'),
  45: usual('https://ark.cn-beijing.volces.com', '/api/v3'),
  46: usual('https://qianfan.baidubce.com', '/v2'),
  47: usual(),
  48: usual('https://api.x.ai'),
  53: usual('https://llm.submodel.ai'),
};

/** Type 3: a URL for each deployment, the version in the query, the key in a header of its own. */
export const AZURE = 3;
/** Type 8: the administrator wrote the URL. */
export const CUSTOM = 8;

/** What channels of a type become; undefined if there is no vendor for them here. */
export function channelTypeOf(kind: 'one-api' | 'new-api', type: number): ChannelType | undefined {
  return (kind === 'one-api' ? ONE_API : NEW_API)[type] ?? COMMON[type];
}
