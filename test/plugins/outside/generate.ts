/** `generateContent` for clients: the model and the method stand in the path. An outside plugin, as its author would write it. */
import {
  type Answering,
  type CallFacts,
  definePlugin,
  type GatewayError,
  type IngressRequest,
  type Json,
  type JsonBody,
  type JsonObject,
  type PartWriter,
  refuse,
  type Style,
  type Usage,
  type Warnings,
} from 'turnpike/plugin';
import {
  type Conversation,
  type Finish,
  given,
  member,
  type Part,
  type Reply,
  readFields,
  type Turn,
  tokensIn,
} from 'turnpike/translation';

/** Model and method of a path: `demo:generateContent`. */
function read(body: JsonBody, { params, query }: IngressRequest): CallFacts {
  const [, model = '', method = ''] = /^(.+):(\w+)$/.exec(params.model ?? '') ?? [];
  if (method !== 'generateContent' && method !== 'streamGenerateContent')
    refuse(404, 'not_found', `There is no method '${method}'.`, { param: 'model' });
  const stream = method === 'streamGenerateContent';
  if (stream && query.get('alt') !== 'sse')
    refuse(400, 'invalid_request_error', '`alt` must be sse for a stream.', { param: 'alt' });
  if (!Array.isArray(body.get('contents')))
    refuse(400, 'invalid_request_error', '`contents` must be an array.', { param: 'contents' });
  const config = body.get('generationConfig') ?? null;
  const limit = tokensIn(member(config, 'maxOutputTokens'));
  const bounds = { inputBytes: body.textBytes, media: body.media, outputTokens: limit || undefined, choices: 1 };
  return { model, stream, asksUsage: true, bounds };
}

function decodeRequest(body: JsonObject, warnings: Warnings): Conversation {
  const fields = readFields(body, '');
  const config = readFields(fields.object('generationConfig') ?? {}, 'generationConfig');
  const system = fields.object('systemInstruction');
  const turns = (fields.list('contents') ?? []).map((content, i) => turnOf(content, `contents[${i}]`, warnings));
  const conversation = {
    turns:
      system === undefined
        ? turns
        : [{ ...turnOf(system, 'systemInstruction', warnings), role: 'system' as const }, ...turns],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    maxTokens: config.number('maxOutputTokens'),
    sampling: given<Conversation['sampling']>({
      temperature: config.number('temperature'),
      topK: config.number('topK'),
    }),
    stop: [],
    reasoning: undefined,
    output: {},
    labels: {},
    truncation: undefined,
  };
  for (const name of Object.keys(config.rest())) warnings.leave(`generationConfig.${name}`);
  return { ...conversation, extras: fields.rest() };
}

function turnOf(content: Json, path: string, warnings: Warnings): Turn {
  const fields = readFields(content, path);
  const blocks = fields.each('parts').map((part) => {
    const text = part.text('text');
    if (text === undefined) warnings.refuse('messages', 'must be texts.');
    return { type: 'text' as const, text };
  });
  return { role: fields.text('role') === 'model' ? 'assistant' : 'user', blocks };
}

function answerWith(
  parts: readonly Json[],
  as: Pick<Answering, 'model' | 'id'>,
  more: JsonObject = {},
  finish?: Finish,
): JsonObject {
  const finishReason = finish && (finish.reason === 'length' ? 'MAX_TOKENS' : 'STOP');
  const candidate = given<JsonObject>({ content: { role: 'model', parts }, index: 0, finishReason });
  return { candidates: [candidate], modelVersion: as.model, responseId: as.id, ...more };
}

function usageOf({ input, output, reasoning }: Usage): JsonObject {
  const candidatesTokenCount = output - reasoning;
  return {
    promptTokenCount: input,
    candidatesTokenCount,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  };
}

function encodeReply({ blocks, finish, usage }: Reply, as: Answering): JsonObject {
  const parts = blocks.flatMap((block) => (block.type === 'text' ? [{ text: block.text }] : []));
  return answerWith(parts, as, usage === undefined ? {} : { usageMetadata: usageOf(usage) }, finish);
}

function createStreamEncoder(as: Answering): PartWriter {
  let usage: Usage | undefined;
  const event = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`;
  return {
    write(part: Part) {
      if (part.type === 'usage') usage = part.usage;
      if (part.type === 'delta') return event(answerWith([{ text: part.text }], as));
      if (part.type !== 'finish') return '';
      return event(answerWith([], as, usage === undefined ? {} : { usageMetadata: usageOf(usage) }, part.finish));
    },
    fail: (error) => event(errorOf(error)),
  };
}

function errorOf({ status, code, message }: GatewayError): JsonObject {
  return { error: { code: status, message, status: code.toUpperCase() } };
}

const generate: Style = {
  name: 'generate',
  ingress: { path: '/v1beta/models/:model', read },
  relay: { answer: () => undefined },
  errors: { body: errorOf },
  client: {
    names: { messages: 'contents', max_tokens: 'generationConfig.maxOutputTokens' },
    decodeRequest,
    encodeReply,
    createStreamEncoder,
  },
};

export default definePlugin({ name: 'styles/generate', api: 2, create: () => ({ styles: [generate] }) });
