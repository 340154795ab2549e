/**
 * Attributes of a call by the GenAI semantic conventions of OpenTelemetry (docs/gen-ai/gen-ai-spans.md and gen-ai-metrics.md), and those of the
 * gateway, which begin with `turnpike.`.
 */
import type { Attributes } from '@opentelemetry/api';
import type { Attempt, Exchange, Offer } from '../../core/plugin.ts';

/** `gen_ai.operation.name` of a style; other styles are `generate_content`. */
const OPERATIONS: Readonly<Record<string, string>> = {
  chat: 'chat',
  responses: 'chat',
  messages: 'chat',
  completions: 'text_completion',
  embeddings: 'embeddings',
};
/** `gen_ai.output.type` of a style whose output is not text. */
const OUTPUTS: Readonly<Record<string, string>> = { images: 'image', edits: 'image', speech: 'speech' };
/** `gen_ai.provider.name` of a vendor whose own name is different. */
const PROVIDERS: Readonly<Record<string, string>> = { gemini: 'gcp.gemini' };

/** The operation of a call. */
export function operationOf({ style }: Exchange): string {
  return OPERATIONS[style?.name ?? ''] ?? 'generate_content';
}

/** The channel and model that served the call, or that failed last; undefined: no vendor was called. */
export function targetOf(x: Exchange): Offer | undefined {
  return x.served ?? x.attempts.at(-1)?.offer;
}

/** What spans and metrics of a call have in common. `model`: the requested one. */
export function commonOf(x: Exchange, model: string): Attributes {
  const target = targetOf(x);
  return {
    'gen_ai.operation.name': operationOf(x),
    'gen_ai.request.model': model,
    'gen_ai.provider.name': target === undefined ? 'turnpike' : providerOf(target),
    ...(target !== undefined && { 'gen_ai.response.model': target.model, ...addressOf(target) }),
    ...(x.outcome !== 'served' && { 'error.type': errorTypeOf(x) }),
  };
}

/** The attributes of the span of a call. `cost`: in currency units; undefined: the gateway has no ledger. */
export function callAttributes(x: Exchange, model: string, cost: number | undefined): Attributes {
  const { usage, identity, style } = x;
  const output = OUTPUTS[style?.name ?? ''];
  return {
    ...commonOf(x, model),
    'http.request.method': x.method,
    'http.response.status_code': x.status,
    'url.path': x.path,
    'turnpike.request.id': x.id,
    'turnpike.style': style?.name ?? 'passthrough',
    'turnpike.outcome': x.outcome ?? 'failed',
    ...(output !== undefined && { 'gen_ai.output.type': output }),
    ...(usage !== undefined && {
      'gen_ai.usage.input_tokens': usage.input,
      'gen_ai.usage.output_tokens': usage.output,
      'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
      'gen_ai.usage.cache_creation.input_tokens': usage.cacheWrite + usage.cacheWriteLong,
    }),
    ...(targetOf(x) !== undefined && { 'turnpike.channel': targetOf(x)!.channel.name }),
    ...(identity !== undefined && { 'user.id': String(identity.account.id), 'turnpike.key.id': identity.key.id }),
    ...(cost !== undefined && { 'turnpike.cost': cost }),
  };
}

/** The attributes of the span of an upstream attempt. Tokens are those of the call, so that no backend counts them twice. */
export function attemptAttributes({ offer, status, failure, cut }: Attempt): Attributes {
  return {
    'turnpike.channel': offer.channel.name,
    'turnpike.vendor': offer.channel.vendor,
    'turnpike.upstream.model': offer.model,
    'turnpike.upstream.style': offer.style,
    ...addressOf(offer),
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...(failure !== undefined && { 'error.type': failure }),
    ...(cut && { 'turnpike.cut': true }),
  };
}

function providerOf({ channel: { vendor } }: Offer): string {
  return PROVIDERS[vendor] ?? vendor;
}

/** `server.address` and `server.port` of a vendor. */
function addressOf({ channel: { url } }: Offer): Attributes {
  const plain = url.replaceAll('{model}', 'model');
  if (!URL.canParse(plain)) return {};
  const parsed = new URL(plain);
  const port = parsed.port === '' ? (parsed.protocol === 'http:' ? 80 : 443) : Number(parsed.port);
  return { 'server.address': parsed.hostname, 'server.port': port };
}

/** The error code of the answer, or the outcome. */
function errorTypeOf({ notes, outcome }: Exchange): string {
  return typeof notes.code === 'string' && notes.code !== '' ? notes.code : (outcome ?? 'failed');
}
