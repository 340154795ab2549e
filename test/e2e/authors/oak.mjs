/** Oak, an API for clients with a format of its own. An outside plugin, as its author would write it in plain JavaScript. */
import { definePlugin, refuse } from 'turnpike/plugin';
import { given, parsed, readFields } from 'turnpike/translation';

/** For which model, streamed or not, and the most that it can cost. */
function read(body) {
  const model = body.get('model');
  const limit = body.get('limit');
  if (typeof model !== 'string' || model === '') wrong('model', 'must be a text');
  if (limit != null && (!Number.isInteger(limit) || limit < 1)) wrong('limit', 'must be a whole number above 0');
  if (![undefined, null, true, false].includes(body.get('stream'))) wrong('stream', 'must be true or false');
  return {
    model,
    stream: body.get('stream') === true,
    asksUsage: true,
    bounds: { inputBytes: body.textBytes, media: body.media, outputTokens: limit ?? undefined, choices: 1 },
  };
}

function wrong(param, should) {
  refuse(400, 'invalid_request_error', `\`${param}\` ${should}.`, { param });
}

function decodeRequest(body) {
  const fields = readFields(body, '');
  fields.get('model');
  fields.get('stream');
  const system = fields.text('system');
  const turns = fields.each('dialogue').map(turnOf);
  const stop = fields.list('until') ?? [];
  if (stop.some((text) => typeof text !== 'string')) fields.wrong('until', 'must be texts');
  return {
    turns: system === undefined ? turns : [{ role: 'system', blocks: [{ type: 'text', text: system }] }, ...turns],
    tools: fields.each('tools').map(toolOf),
    toolChoice: undefined,
    parallelToolCalls: undefined,
    maxTokens: fields.number('limit'),
    sampling: given({ temperature: fields.number('heat') }),
    stop,
    reasoning: undefined,
    output: {},
    labels: {},
    truncation: undefined,
    extras: fields.rest(),
  };
}

function toolOf(fields) {
  return given({
    type: 'function',
    name: fields.text('name') ?? fields.wrong('name', 'must be there'),
    description: fields.text('about'),
    schema: fields.object('takes'),
  });
}

function turnOf(fields) {
  const say = fields.text('say');
  const blocks = say === undefined ? [] : [{ type: 'text', text: say }];
  const idOf = (inner) => inner.text('ref') ?? inner.wrong('ref', 'must be there');
  for (const use of fields.each('uses')) {
    const name = use.text('tool') ?? use.wrong('tool', 'must be there');
    const input = JSON.stringify(use.object('with') ?? {});
    blocks.push({ type: 'toolCall', id: idOf(use), name, kind: 'function', input });
  }
  for (const result of fields.each('returned')) {
    const content = [{ type: 'text', text: result.text('say') ?? '' }];
    blocks.push({ type: 'toolResult', id: idOf(result), kind: 'function', content });
  }
  return { role: fields.text('from') === 'model' ? 'assistant' : 'user', blocks };
}

const ENDS = {
  length: 'limit',
  context_full: 'limit',
  tool_calls: 'uses',
  refusal: 'declined',
  content_filter: 'declined',
};
const endOf = ({ reason }) => ENDS[reason] ?? 'done';
const tokensOf = ({ input, output, cacheRead }) => ({ in: input, out: output, cached: cacheRead });

function encodeReply({ blocks, finish, usage }, { model }) {
  const texts = (type) => blocks.flatMap((block) => (block.type === type ? [block.text] : [])).join('');
  const uses = blocks.flatMap((block) => (block.type === 'toolCall' ? [toolUse(block)] : []));
  return {
    model,
    say: texts('text'),
    thought: texts('thinking'),
    declined: texts('refusal'),
    uses,
    ended: endOf(finish),
    tokens: tokensOf(usage),
  };
}

function toolUse({ id, name, input }) {
  return { ref: id, tool: name, with: parsed(input) ?? {} };
}

const MEMBERS = { text: 'say', thinking: 'thought', refusal: 'declined' };

function createStreamEncoder(as) {
  const open = new Map();
  let tokens;
  const event = (value) => `data: ${JSON.stringify(value)}\n\n`;
  return {
    write(part) {
      switch (part.type) {
        case 'blockStart':
          open.set(part.key, { ...part.block });
          return '';
        case 'delta': {
          const block = open.get(part.key);
          const name = MEMBERS[block.type];
          if (name !== undefined) return event({ [name]: part.text });
          if (block.type === 'toolCall') block.input += part.text;
          return '';
        }
        case 'blockEnd': {
          const block = open.get(part.key);
          return block.type === 'toolCall' ? event({ use: toolUse(block) }) : '';
        }
        case 'usage':
          tokens = tokensOf(part.usage);
          return '';
        case 'finish':
          return event({ model: as.model, ended: endOf(part.finish), tokens });
        default:
          return '';
      }
    },
    fail: ({ message, code }) => event({ error: { message, code } }),
  };
}

const oak = {
  name: 'oak',
  ingress: { path: '/v1/oak', read },
  relay: { answer: () => undefined },
  client: {
    names: { messages: 'dialogue', max_tokens: 'limit', temperature: 'heat', stop: 'until' },
    decodeRequest,
    encodeReply,
    createStreamEncoder,
  },
};

export default definePlugin({ name: 'oak', api: 2, create: () => ({ styles: [oak] }) });
