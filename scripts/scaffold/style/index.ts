/** The style `my-plugin`: an API for clients at `POST /v1/my-plugin`, with its own format and vendors of every other style. */
import {
  type Answering,
  type CallFacts,
  definePlugin,
  type Json,
  type JsonBody,
  type JsonObject,
  type PartWriter,
  refuse,
  type Style,
  type Usage,
} from 'turnpike/plugin';
import {
  type Block,
  type Conversation,
  type Finish,
  given,
  type Reply,
  readFields,
  type Turn,
} from 'turnpike/translation';

/** The model, whether to stream, and the maximum cost. `decodeRequest` reads everything else. */
function read(body: JsonBody): CallFacts {
  const { model, stream, limit } = { model: body.get('model'), stream: body.get('stream'), limit: body.get('limit') };
  if (typeof model !== 'string' || model === '') return wrong('model', 'must be a text');
  if (stream != null && typeof stream !== 'boolean') return wrong('stream', 'must be true or false');
  if (limit != null && !(typeof limit === 'number' && Number.isInteger(limit) && limit > 0))
    return wrong('limit', 'must be a whole number above 0');
  const bounds = { inputBytes: body.textBytes, media: body.media, outputTokens: limit ?? undefined, choices: 1 };
  return { model, stream: stream === true, asksUsage: true, bounds };
}

function wrong(param: string, should: string): never {
  return refuse(400, 'invalid_request_error', `\`${param}\` ${should}.`, { param });
}

/**
 * `{ model, stream, system, turns: [{ from: 'user' | 'model', text }], limit, temperature, stop }`; members that are not read are reported as
 * dropped.
 */
function decodeRequest(body: JsonObject): Conversation {
  const fields = readFields(body, '');
  fields.get('model');
  fields.get('stream');
  const system = fields.text('system');
  const turns = fields.each('turns').map(
    (turn): Turn => ({
      role: turn.text('from') === 'model' ? 'assistant' : 'user',
      blocks: [textBlock(turn.text('text') ?? turn.wrong('text', 'must be there'))],
    }),
  );
  const stop = (fields.list('stop') ?? []).map((text) =>
    typeof text === 'string' ? text : fields.wrong('stop', 'must be texts'),
  );
  return {
    turns: system === undefined ? turns : [{ role: 'system', blocks: [textBlock(system)] }, ...turns],
    tools: [],
    toolChoice: undefined,
    parallelToolCalls: undefined,
    maxTokens: fields.number('limit'),
    sampling: given<Conversation['sampling']>({ temperature: fields.number('temperature') }),
    stop,
    reasoning: undefined,
    output: {},
    labels: {},
    truncation: undefined,
    extras: fields.rest(),
  };
}

function textBlock(text: string): Block {
  return { type: 'text', text };
}

const ENDS: Readonly<Partial<Record<Finish['reason'], string>>> = {
  length: 'limit',
  context_full: 'limit',
  refusal: 'refused',
  content_filter: 'refused',
};

/** The last event of a stream, and the members of a whole reply other than its text. */
function ending({ reason }: Finish, usage: Usage | undefined, { model }: Answering): JsonObject {
  const tokens = usage === undefined ? null : { input: usage.input, output: usage.output };
  return { model, ended: ENDS[reason] ?? 'done', tokens };
}

function encodeReply({ blocks, finish, usage }: Reply, as: Answering): JsonObject {
  const text = blocks.map((block) => (block.type === 'text' || block.type === 'refusal' ? block.text : '')).join('');
  return { text, ...ending(finish, usage, as) };
}

function createStreamEncoder(as: Answering): PartWriter {
  /** The blocks whose text clients see. */
  const shown = new Set<number>();
  let usage: Usage | undefined;
  const event = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`;
  return {
    write(part) {
      if (part.type === 'blockStart' && (part.block.type === 'text' || part.block.type === 'refusal'))
        shown.add(part.key);
      if (part.type === 'delta' && shown.has(part.key)) return event({ text: part.text });
      if (part.type === 'usage') usage = part.usage;
      return part.type === 'finish' ? event(ending(part.finish, usage, as)) : '';
    },
    fail: ({ code, message }) => event({ error: { code, message } }),
  };
}

const style: Style = {
  name: 'my-plugin',
  ingress: { path: '/v1/my-plugin', read },
  // No vendor uses this style, so there is no reply to forward.
  relay: { answer: () => undefined },
  client: {
    // This style's names of the fields that a translation may drop or change.
    names: { messages: 'turns', max_tokens: 'limit' },
    decodeRequest,
    encodeReply,
    createStreamEncoder,
  },
};

export default definePlugin({ name: 'my-plugin', api: 2, create: () => ({ styles: [style] }) });
