/** Maple, a vendor with a chat format of its own. An outside plugin, as its author would write it in plain JavaScript. */
import { definePlugin } from 'turnpike/plugin';
import { given, isObject, member, NO_TOKENS, objectsIn, parsed, textIn, tokensIn } from 'turnpike/translation';

function encodeRequest({ turns, tools, toolChoice, sampling, maxTokens, stop, output }, { model, stream }, warnings) {
  const { format } = output;
  if (toolChoice?.only !== undefined) warnings.drop('tool_choice.only');
  return given({
    model,
    stream,
    messages: turns.flatMap((turn) => messagesOf(turn, warnings)),
    tools: tools.length === 0 ? undefined : tools.flatMap((tool) => toolOf(tool, warnings)),
    tool_choice: { required: 'REQUIRED', none: 'NONE' }[toolChoice?.mode],
    max_tokens: maxTokens,
    temperature: sampling.temperature,
    p: sampling.topP,
    k: sampling.topK,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    stop_sequences: stop.length === 0 ? undefined : stop,
    response_format:
      format === undefined || format.type === 'text'
        ? undefined
        : { type: 'json_object', ...(format.type === 'schema' && { json_schema: format.schema }) },
  });
}

function toolOf(tool, warnings) {
  if (tool.type !== 'function') {
    warnings.drop(`tools.${tool.name}`);
    return [];
  }
  const { name, description, schema = {} } = tool;
  return [{ type: 'function', function: given({ name, description, parameters: schema }) }];
}

/** A turn's results are messages of their own. */
function messagesOf({ role, blocks }, warnings) {
  const messages = [];
  const content = [];
  const calls = [];
  for (const block of blocks) {
    if (block.type === 'text') content.push({ type: 'text', text: block.text });
    else if (block.type === 'image' && block.source.kind === 'url')
      content.push({ type: 'image_url', image_url: { url: block.source.url } });
    else if (block.type === 'toolCall')
      calls.push({ id: block.id, type: 'function', function: { name: block.name, arguments: block.input || '{}' } });
    else if (block.type === 'toolResult')
      messages.push({
        role: 'tool',
        tool_call_id: block.id,
        content: block.content.map(({ text = '' }) => text).join(''),
      });
    else warnings.drop(`messages.${block.type}`);
  }
  if (content.length + calls.length > 0) {
    const name = role === 'developer' ? 'system' : role;
    messages.push(given({ role: name, content, tool_calls: calls.length === 0 ? undefined : calls }));
  }
  return messages;
}

const REASONS = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool_calls',
  ERROR_TOXIC: 'content_filter',
};
const finishOf = (reason) => ({ reason: REASONS[reason] ?? 'stop' });

function usageIn(usage) {
  const tokens = member(usage, 'tokens');
  if (!isObject(tokens)) return undefined;
  const input = tokensIn(tokens.input_tokens);
  const output = tokensIn(tokens.output_tokens);
  return { ...NO_TOKENS, input, output, cacheRead: tokensIn(member(usage, 'cached_tokens')) };
}

const callOf = (call, input) => ({
  type: 'toolCall',
  id: textIn(call, 'id') ?? '',
  name: textIn(call.function, 'name') ?? '',
  kind: 'function',
  input,
});

function decodeReply(body, { model }) {
  const { message, usage, finish_reason: reason, id } = body;
  const blocks = objectsIn(message, 'content').map((block) =>
    block.type === 'thinking'
      ? { type: 'thinking', text: textIn(block, 'thinking') ?? '' }
      : { type: 'text', text: textIn(block, 'text') ?? '' },
  );
  for (const call of objectsIn(message, 'tool_calls'))
    blocks.push(callOf(call, textIn(call.function, 'arguments') ?? ''));
  return { id: typeof id === 'string' ? id : '', model, blocks, finish: finishOf(reason), usage: usageIn(usage) };
}

/** Reads a stream. Blocks are numbered by the vendor, texts and calls apart. */
function createStreamDecoder({ model }) {
  const open = new Map();
  let key = 0;
  const begin = (name, block) => {
    if (open.has(name)) return [];
    open.set(name, key);
    return [{ type: 'blockStart', key: key++, block }];
  };
  const grow = (name, text) =>
    open.has(name) && text !== undefined ? [{ type: 'delta', key: open.get(name), text }] : [];
  const end = (name) => {
    const its = open.get(name);
    return open.delete(name) ? [{ type: 'blockEnd', key: its }] : [];
  };
  let isOver = false;
  const read = (event) => {
    const { type, index, delta } = event;
    const message = member(delta, 'message');
    const content = member(message, 'content');
    const call = member(message, 'tool_calls');
    switch (type) {
      case 'content-start': {
        const block = member(content, 'type') === 'thinking' ? 'thinking' : 'text';
        return begin(`content ${index}`, { type: block, text: '' });
      }
      case 'content-delta':
        return grow(`content ${index}`, textIn(content, 'text') ?? textIn(content, 'thinking'));
      case 'content-end':
        return end(`content ${index}`);
      case 'tool-call-start':
        return isObject(call) ? begin(`call ${index}`, callOf(call, '')) : [];
      case 'tool-call-delta':
        return grow(`call ${index}`, textIn(member(call, 'function'), 'arguments'));
      case 'tool-call-end':
        return end(`call ${index}`);
      case 'message-end': {
        isOver = true;
        const usage = usageIn(member(delta, 'usage'));
        return [
          ...[...open.keys()].flatMap(end),
          ...(usage === undefined ? [] : [{ type: 'usage', usage }]),
          { type: 'finish', finish: finishOf(member(delta, 'finish_reason')) },
        ];
      }
      case 'error':
        isOver = true;
        return [{ type: 'error', message: textIn(event, 'message') ?? '', code: '' }];
      default:
        return [];
    }
  };
  let hasBegun = false;
  return {
    read({ data }) {
      const event = parsed(data);
      if (!isObject(event) || isOver) return [];
      const start = hasBegun || event.type === 'error' ? [] : [{ type: 'start', id: textIn(event, 'id') ?? '', model }];
      hasBegun = true;
      return [...start, ...read(event)];
    },
    close: () => [],
  };
}

function answer(body) {
  const tree = body.tree();
  if (!isObject(member(tree, 'message'))) return undefined;
  return {
    usage: usageIn(member(tree, 'usage')),
    textLength: () => JSON.stringify(tree.message).length,
    error: undefined,
  };
}

const maple = {
  name: 'maple',
  relay: { answer },
  vendor: {
    quirks: { image: { url: 'native' }, tools: { parallel_flag: false } },
    encodeRequest,
    decodeReply,
    createStreamDecoder,
  },
};

const credentials = ({ key }) => ({ authorization: `Bearer ${key}` });

export default definePlugin({
  name: 'maple',
  api: 2,
  create: () => ({
    styles: [maple],
    vendors: [
      {
        name: 'maple',
        url: () => 'https://api.maple.example',
        speaks: { maple: { path: '/v2/chat', headers: credentials } },
        credentials,
      },
    ],
  }),
});
