/**
 * What the numbers in `channels.type` of one-hub mean, which forked one-api and gave numbers of its own from 24 on: `common/config/constants.go`,
 * `providers/providers.go` and `providers/.../base.go`, read on 2026-11-29 (387f8bf1 and later).
 */
import type { Cells } from '../cells.ts';
import { compatible, EVERY_STYLE, type TypeFact, type TypeTable, without } from '../one-api/channel-types.ts';
import { asObject, type Row, textOf } from '../values.ts';

const CHAT = { styles: ['chat'] };
const EMBEDDINGS_TOO = { styles: ['chat', 'embeddings'] };
const EVERYTHING = { styles: EVERY_STYLE };
const SIGNED = 'its requests are signed in a way that no vendor here has';
const TASKS = 'images, music or video as tasks are not supported here';

const TYPES: TypeTable = {
  1: { name: 'OpenAI', vendor: 'openai', base: 'https://api.openai.com', path: '/v1', ...EVERYTHING },
  3: compatible('Azure', undefined, '/openai/deployments/{model}', {
    styles: EVERY_STYLE.filter((style) => style !== 'responses'),
  }),
  11: without('PaLM', 'the vendor has ended this API'),
  14: { name: 'Anthropic', vendor: 'anthropic', base: 'https://api.anthropic.com', path: '/v1' },
  15: without('Baidu', SIGNED),
  16: without('Zhipu', SIGNED),
  17: compatible('Ali', 'https://dashscope.aliyuncs.com', '/compatible-mode/v1', {
    ...EMBEDDINGS_TOO,
    changed:
      "it is called at /compatible-mode/v1 here, the vendor's API for OpenAI clients, and was at /api/v1/services",
  }),
  18: without('Xunfei', 'its API is a WebSocket'),
  19: compatible('360', 'https://ai.360.cn', '/v1', EVERYTHING),
  20: compatible('OpenRouter', 'https://openrouter.ai/api', '/v1', CHAT),
  23: without('Tencent', SIGNED),
  24: without('Azure Speech'),
  25: {
    name: 'Gemini',
    vendor: 'gemini',
    base: 'https://generativelanguage.googleapis.com',
    path: '/{version}',
  },
  26: compatible('Baichuan', 'https://api.baichuan-ai.com', '/v1', EMBEDDINGS_TOO),
  27: without('MiniMax', 'it is called at an API that the vendor has replaced'),
  28: compatible('DeepSeek', 'https://api.deepseek.com', '/v1', CHAT),
  29: compatible('Moonshot', 'https://api.moonshot.cn', '/v1', CHAT),
  30: compatible('Mistral', 'https://api.mistral.ai', '/v1', EMBEDDINGS_TOO),
  31: compatible('Groq', 'https://api.groq.com/openai', '/v1', { styles: ['chat', 'transcription'] }),
  32: without('AWS Bedrock', SIGNED),
  33: compatible('LingYiWanWu', 'https://api.lingyiwanwu.com', '/v1', CHAT),
  34: without('Midjourney', TASKS),
  35: without('Cloudflare'),
  36: without('Cohere'),
  37: without('Stability', TASKS),
  38: without('Coze'),
  39: compatible('Ollama', 'https://ollama.com', '/v1', {
    ...EMBEDDINGS_TOO,
    changed: "it is called at /v1/chat/completions here, the vendor's API for OpenAI clients, and was at /api/chat",
  }),
  40: without('Hunyuan', SIGNED),
  41: without('Suno', TASKS),
  42: without('Vertex AI', SIGNED),
  43: compatible('LLAMA', undefined, '/v1', EVERYTHING),
  44: without('Ideogram', TASKS),
  45: compatible('SiliconFlow', 'https://api.siliconflow.cn', '/v1', { styles: ['chat', 'embeddings', 'images'] }),
  46: without('Flux', TASKS),
  47: without('Jina', 'reranking is not supported here'),
  48: without('Rerank', 'reranking is not supported here'),
  49: compatible('GitHub Models', 'https://models.inference.ai.azure.com', '', EMBEDDINGS_TOO),
  51: without('Recraft', TASKS),
  52: without('Replicate', TASKS),
  53: without('Kling', TASKS),
  54: without('Azure Databricks'),
  55: without('Azure v1', 'its paths are of one kind for some requests and of another for others'),
  56: compatible('xAI', 'https://api.x.ai', '/v1', { styles: ['chat', 'images'] }),
};

/** What a channel's type is. Switches in `plugin` choose another API of the vendor. */
export function oneHubTypeOf(type: number, cells: Cells): TypeFact | undefined {
  const plugin = cells.object('plugin');
  const usesOpenai = asObject(plugin.use_openai_api).enable === true;
  if (type === 17 && usesOpenai) {
    return compatible('Ali', 'https://dashscope.aliyuncs.com/compatible-mode', '/v1', EMBEDDINGS_TOO);
  }
  if (type === 25 && usesOpenai)
    return without('Gemini', 'it uses the API for OpenAI clients: set up a channel of the vendor `gemini`');
  if (type === 8) return customOf(asObject(plugin.customize), cells.text('other'));
  return TYPES[type];
}

/** `RelayMode…` in `common/config/constants.go`: the API that a number in `customize` stands for, and its usual path after the version. */
const MODES: Readonly<Record<string, readonly [style: string, path: string]>> = {
  1: ['chat', '/chat/completions'],
  2: ['completions', '/completions'],
  3: ['embeddings', '/embeddings'],
  5: ['images', '/images/generations'],
  6: ['edits', '/images/edits'],
  9: ['speech', '/audio/speech'],
  10: ['transcription', '/audio/transcriptions'],
  11: ['translation', '/audio/translations'],
};

/**
 * A channel whose paths the administrator wrote (`customize`, by number; an API without one keeps the usual path), or before August 2024 only their
 * version (`other`). It is taken over if all of its APIs have the same beginning.
 */
function customOf(customize: Row, other: string | undefined): TypeFact {
  const usual = other === undefined ? '/v1' : other === 'disable' ? '' : `/${other}`;
  const beginnings = new Map<string, string>();
  for (const [mode, [style, path]] of Object.entries(MODES)) {
    const written = textOf(customize, mode);
    if (written === 'disable') continue;
    const full = written ?? `${usual}${path}`;
    if (!full.endsWith(path)) return without('Custom', 'it has a path of its own for each API');
    beginnings.set(style, full.slice(0, -path.length));
  }
  if (beginnings.size === 0) return without('Custom', 'all of its APIs that are known here are off');
  const path = beginnings.get('chat') ?? usual;
  const styles = [...beginnings].filter(([, beginning]) => beginning === path).map(([style]) => style);
  // The Responses API cannot be customized.
  if (path === '/v1') styles.push('responses');
  const elsewhere = [...beginnings.keys()].filter((style) => !styles.includes(style));
  return compatible('Custom', undefined, path, {
    styles: EVERY_STYLE.filter((style) => styles.includes(style)),
    ...(elsewhere.length > 0 && { changed: `its paths of other APIs are not called here: ${elsewhere.join(', ')}` }),
  });
}
