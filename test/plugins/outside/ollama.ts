/** Ollama's native API (`POST /api/chat`), whose streams are lines of JSON. An outside plugin, as its author would write it. */
import { randomUUID } from 'node:crypto';
import {
  type AnswerFacts,
  definePlugin,
  type Json,
  type JsonObject,
  type Origin,
  type Style,
  type Target,
  type Usage,
  type Warnings,
} from 'turnpike/plugin';
import {
  type Conversation,
  foldParts,
  given,
  isObject,
  member,
  NO_TOKENS,
  objectsIn,
  type Part,
  parsed,
  type Turn,
  tokensIn,
} from 'turnpike/translation';

// ---- requests

function encodeRequest(conversation: Conversation, { model, stream }: Target, warnings: Warnings): JsonObject {
  const { turns, tools, sampling, maxTokens, stop, output, toolChoice } = conversation;
  if (toolChoice !== undefined && toolChoice.mode !== 'auto') warnings.drop('tool_choice');
  for (const name of Object.keys(conversation.extras)) warnings.leave(name);
  return given<JsonObject>({
    model,
    stream,
    messages: turns.flatMap((turn) => messagesOf(turn, warnings)),
    tools: tools.length === 0 ? undefined : tools.flatMap((tool) => (tool.type === 'function' ? [toolOf(tool)] : [])),
    format:
      output.format?.type === 'json' ? 'json' : output.format?.type === 'schema' ? output.format.schema : undefined,
    options: given<JsonObject>({
      temperature: sampling.temperature,
      top_p: sampling.topP,
      top_k: sampling.topK,
      seed: sampling.seed,
      num_predict: maxTokens,
      stop: stop.length === 0 ? undefined : stop,
    }),
  });
}

function toolOf({ name, description, schema = {} }: { name: string; description?: string; schema?: JsonObject }) {
  return { type: 'function', function: given<JsonObject>({ name, description, parameters: schema }) };
}

/** A turn's results of tools are messages of their own. */
function messagesOf({ role, blocks }: Turn, warnings: Warnings): JsonObject[] {
  const messages: JsonObject[] = [];
  const texts: string[] = [];
  const images: string[] = [];
  const calls: JsonObject[] = [];
  for (const block of blocks) {
    if (block.type === 'text') texts.push(block.text);
    else if (block.type === 'image' && block.source.kind === 'base64') images.push(block.source.data);
    else if (block.type === 'toolCall')
      calls.push({ function: { name: block.name, arguments: parsed(block.input) ?? {} } });
    else if (block.type === 'toolResult')
      messages.push({
        role: 'tool',
        content: block.content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      });
    else warnings.drop(`messages.${block.type}`);
  }
  if (texts.length + images.length + calls.length > 0) {
    messages.push(
      given<JsonObject>({
        role: role === 'developer' ? 'system' : role,
        content: texts.join('\n'),
        images: images.length === 0 ? undefined : images,
        tool_calls: calls.length === 0 ? undefined : calls,
      }),
    );
  }
  return messages;
}

// ---- answers

function usageIn(answer: Json): Usage | undefined {
  if (member(answer, 'eval_count') === undefined) return undefined;
  const input = tokensIn(member(answer, 'prompt_eval_count'));
  return { ...NO_TOKENS, input, output: tokensIn(member(answer, 'eval_count')) };
}

/** Reads one answer; a whole one is a stream of one line. */
function createReader(from: Origin): (value: Json) => readonly Part[] {
  let started = false;
  let key = 0;
  let textIsOpen = false;
  let called = false;

  return (value) => {
    const parts: Part[] = [];
    const error = member(value, 'error');
    if (typeof error === 'string') return [{ type: 'error', message: error, code: '' }];
    if (!isObject(value)) return parts;
    const closeText = (): void => {
      if (textIsOpen) parts.push({ type: 'blockEnd', key: key++ });
      textIsOpen = false;
    };
    if (!started)
      parts.push({ type: 'start', id: '', model: typeof value.model === 'string' ? value.model : from.model });
    started = true;
    const text = member(value.message, 'content');
    if (typeof text === 'string' && text !== '') {
      if (!textIsOpen) parts.push({ type: 'blockStart', key, block: { type: 'text', text: '' } });
      textIsOpen = true;
      parts.push({ type: 'delta', key, text });
    }
    for (const call of objectsIn(value.message, 'tool_calls')) {
      closeText();
      called = true;
      const name = String(member(call.function, 'name'));
      const block = { type: 'toolCall', id: randomUUID(), name, kind: 'function', input: '' } as const;
      parts.push({ type: 'blockStart', key, block });
      parts.push({ type: 'delta', key, text: JSON.stringify(member(call.function, 'arguments') ?? {}) });
      parts.push({ type: 'blockEnd', key: key++ });
    }
    if (value.done === true) {
      closeText();
      const usage = usageIn(value);
      if (usage !== undefined) parts.push({ type: 'usage', usage });
      const reason = value.done_reason === 'length' ? 'length' : called ? 'tool_calls' : 'stop';
      parts.push({ type: 'finish', finish: { reason } });
    }
    return parts;
  };
}

function answerOf(answer: Json): AnswerFacts | undefined {
  const error = member(answer, 'error');
  if (typeof error !== 'string' && member(answer, 'message') === undefined) return undefined;
  return {
    usage: usageIn(answer),
    textLength: () => JSON.stringify(member(answer, 'message') ?? '').length,
    error: typeof error === 'string' ? { message: error, code: '' } : undefined,
  };
}

const style: Style = {
  name: 'ollama',
  relay: { answer: (body) => answerOf(body.tree()) },
  vendor: {
    quirks: { image: { url: 'fetch' }, tools: { parallel_flag: false } },
    encodeRequest,
    decodeReply: (body, from) => foldParts(createReader(from)(body)),
    createStreamDecoder(from) {
      const read = createReader(from);
      return { read: ({ data }) => read(parsed(data) ?? null), close: () => [] };
    },
  },
};

export default definePlugin({
  name: 'ollama',
  api: 2,
  create: () => ({
    styles: [style],
    vendors: [
      {
        name: 'ollama',
        keyless: true,
        url: () => 'http://127.0.0.1:11434',
        speaks: { ollama: { path: '/api/chat', headers: () => ({}), frames: 'ndjson' } },
      },
    ],
  }),
});
