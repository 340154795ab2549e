/**
 * Amazon Bedrock's Converse API: signed requests (Signature Version 4) and streams of binary frames (`application/vnd.amazon.eventstream`).
 * An outside plugin, as its author would write it.
 */
import { createHash, createHmac } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  type AnswerFacts,
  type Call,
  type Channel,
  definePlugin,
  type FrameFormat,
  type Json,
  type JsonObject,
  type Offer,
  type Origin,
  type RequestToSign,
  type Style,
  schema,
  type Usage,
  type Warnings,
} from 'turnpike/plugin';
import {
  type Block,
  type Conversation,
  type Finish,
  foldParts,
  given,
  isObject,
  member,
  NO_TOKENS,
  objectsIn,
  type Part,
  parsed,
  tokensIn,
} from 'turnpike/translation';

interface Options {
  readonly region: string;
  readonly accessKeyId: string;
}

// ---- signatures

const SERVICE = 'bedrock';
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The headers of Signature Version 4 at a time in unix milliseconds; the channel's key is the secret access key. */
async function sign(request: RequestToSign, channel: Channel, nowMs: number): Promise<Record<string, string>> {
  const { region, accessKeyId } = channel.options as unknown as Options;
  const { method, url, headers } = request;
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const scope = `${day}/${region}/${SERVICE}/aws4_request`;
  const hash = await request.sha256();
  const added = { 'x-amz-content-sha256': hash, 'x-amz-date': time };
  const signed: Record<string, string> = given({ ...added, 'content-type': headers['content-type'], host: url.host });
  const names = Object.keys(signed).sort();
  const canonical = [
    method,
    // Every service but S3 encodes the path a second time.
    url.pathname.split('/').map(encodeURIComponent).join('/'),
    [...url.searchParams]
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
      .sort()
      .join('&'),
    ...names.map((name) => `${name}:${signed[name]}`),
    '',
    names.join(';'),
    hash,
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n');
  const key = [day, region, SERVICE, 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${channel.key}`);
  const signature = hmac(key, toSign).toString('hex');
  const credential = `Credential=${accessKeyId}/${scope}`;
  return {
    ...added,
    authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  };
}

// ---- frames

/** Prelude: total length, length of the headers, their CRC; then headers, payload, and the CRC of all. Numbers are big-endian. */
const PRELUDE = 12;
const TEXT = 7;

const eventStream: FrameFormat = {
  mediaType: 'application/vnd.amazon.eventstream',
  lengthOf(bytes) {
    if (bytes.length < PRELUDE) return undefined;
    if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) throw new Error('wrong checksum of the prelude');
    return bytes.readUInt32BE(0);
  },
  read(frame) {
    const end = frame.length - 4;
    if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) throw new Error('wrong checksum');
    const behind = PRELUDE + frame.readUInt32BE(4);
    const headers = headersIn(frame.subarray(PRELUDE, behind));
    const name = headers[':exception-type'] ?? headers[':error-code'] ?? headers[':event-type'];
    const kind = headers[':message-type'] ?? 'event';
    return { name: `${kind}.${name}`, data: frame.toString('utf8', behind, end) };
  },
};

/** Those that are texts; the others have sizes by their type, and none is needed. */
function headersIn(bytes: Buffer): Readonly<Record<string, string>> {
  const sizes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
  const headers: Record<string, string> = {};
  for (let at = 0; at < bytes.length; ) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const type = bytes.readUInt8(nameEnd);
    const value = nameEnd + 1;
    const size = sizes[type];
    if (size !== undefined) {
      at = value + size;
      continue;
    }
    const end = value + 2 + bytes.readUInt16BE(value);
    if (type === TEXT) headers[bytes.toString('utf8', at + 1, nameEnd)] = bytes.toString('utf8', value + 2, end);
    at = end;
  }
  return headers;
}

// ---- requests

function encodeRequest(conversation: Conversation, _to: unknown, warnings: Warnings): JsonObject {
  const { turns, tools, sampling, maxTokens, stop, toolChoice, extras } = conversation;
  for (const name of Object.keys(extras)) warnings.leave(name);
  if (toolChoice?.mode === 'none') warnings.drop('tool_choice');
  const system = turns.filter(({ role }) => role === 'system' || role === 'developer');
  const others = turns.filter(({ role }) => role === 'user' || role === 'assistant');
  const inferenceConfig = given<JsonObject>({
    maxTokens,
    temperature: sampling.temperature,
    topP: sampling.topP,
    stopSequences: stop.length === 0 ? undefined : stop,
  });
  return given<JsonObject>({
    messages: others.map(({ role, blocks }) => ({
      role,
      content: blocks.flatMap((block) => contentOf(block, warnings)),
    })),
    system:
      system.length === 0 ? undefined : system.flatMap(({ blocks }) => blocks.flatMap((b) => contentOf(b, warnings))),
    inferenceConfig: Object.keys(inferenceConfig).length === 0 ? undefined : inferenceConfig,
    toolConfig:
      tools.length === 0
        ? undefined
        : {
            tools: tools.flatMap((tool) =>
              tool.type !== 'function'
                ? []
                : [
                    {
                      toolSpec: given<JsonObject>({
                        name: tool.name,
                        description: tool.description,
                        inputSchema: { json: tool.schema ?? { type: 'object' } },
                      }),
                    },
                  ],
            ),
            ...(toolChoice?.mode === 'required' && { toolChoice: { any: {} } }),
          },
  });
}

function contentOf(block: Block, warnings: Warnings): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [{ text: block.text }];
    case 'toolCall':
      return [{ toolUse: { toolUseId: block.id, name: block.name, input: parsed(block.input) ?? {} } }];
    case 'toolResult':
      return [
        {
          toolResult: {
            toolUseId: block.id,
            content: block.content.flatMap((part) => contentOf(part, warnings)),
            status: block.isError === true ? 'error' : 'success',
          },
        },
      ];
    default:
      warnings.drop(`messages.${block.type}`);
      return [];
  }
}

// ---- answers

const REASONS: Readonly<Record<string, Finish['reason']>> = {
  tool_use: 'tool_calls',
  max_tokens: 'length',
  stop_sequence: 'stop_sequence',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
};

function usageIn(value: Json | undefined): Usage | undefined {
  const usage = member(value, 'usage');
  if (usage === undefined) return undefined;
  const cacheRead = tokensIn(member(usage, 'cacheReadInputTokens'));
  const cacheWrite = tokensIn(member(usage, 'cacheWriteInputTokens'));
  const input = tokensIn(member(usage, 'inputTokens')) + cacheRead + cacheWrite;
  return { ...NO_TOKENS, input, cacheRead, cacheWrite, output: tokensIn(member(usage, 'outputTokens')) };
}

/** The parts of one stream, from its events by name. */
function createReader({ model }: Origin): { read(name: string, value: Json): Part[]; close(): Part[] } {
  let finish: Finish | undefined;
  /** The open blocks; those that are text begin with their first delta. */
  const open = new Set<number>();
  /** The end, once it is known, and once. */
  const end = (): Part[] => {
    const known = finish;
    finish = undefined;
    return known === undefined ? [] : [{ type: 'finish', finish: known }];
  };

  return {
    read(name, value) {
      const key = tokensIn(member(value, 'contentBlockIndex'));
      const tool = member(member(value, 'start'), 'toolUse');
      const delta = member(value, 'delta');
      const text = member(delta, 'text') ?? member(member(delta, 'toolUse'), 'input');
      switch (name) {
        case 'event.messageStart':
          return [{ type: 'start', id: '', model }];
        case 'event.contentBlockStart':
          if (!isObject(tool)) return [];
          open.add(key);
          return [{ type: 'blockStart', key, block: callOf(tool) }];
        case 'event.contentBlockDelta': {
          if (typeof text !== 'string') return [];
          const begun = open.has(key);
          open.add(key);
          const start: Part = { type: 'blockStart', key, block: { type: 'text', text: '' } };
          return [...(begun ? [] : [start]), { type: 'delta', key, text }];
        }
        case 'event.contentBlockStop':
          return open.delete(key) ? [{ type: 'blockEnd', key }] : [];
        case 'event.messageStop':
          finish = { reason: REASONS[String(member(value, 'stopReason'))] ?? 'stop' };
          return [];
        case 'event.metadata': {
          const usage = usageIn(value);
          return [...(usage === undefined ? [] : [{ type: 'usage', usage } as const]), ...end()];
        }
        default:
          if (name.startsWith('event.')) return [];
          return [{ type: 'error', message: String(member(value, 'message') ?? ''), code: name.replace(/^.*\./, '') }];
      }
    },
    // The usage comes last, and without it the answer is complete all the same.
    close: end,
  };
}

function callOf(tool: JsonObject) {
  return {
    type: 'toolCall',
    id: String(tool.toolUseId),
    name: String(tool.name),
    kind: 'function',
    input: '',
  } as const;
}

function contentIn(answer: Json): readonly JsonObject[] {
  return objectsIn(member(member(answer, 'output'), 'message'), 'content');
}

function answerOf(answer: Json): AnswerFacts | undefined {
  if (member(answer, 'output') === undefined) return undefined;
  return { usage: usageIn(answer), textLength: () => JSON.stringify(contentIn(answer)).length, error: undefined };
}

/** A whole answer as the parts of a stream. */
function* partsIn(answer: JsonObject, { model }: Origin): Iterable<Part> {
  yield { type: 'start', id: '', model };
  for (const [key, { text, toolUse }] of contentIn(answer).entries()) {
    if (typeof text !== 'string' && !isObject(toolUse)) continue;
    yield { type: 'blockStart', key, block: isObject(toolUse) ? callOf(toolUse) : { type: 'text', text: '' } };
    yield {
      type: 'delta',
      key,
      text: typeof text === 'string' ? text : JSON.stringify(member(toolUse, 'input') ?? {}),
    };
    yield { type: 'blockEnd', key };
  }
  const usage = usageIn(answer);
  if (usage !== undefined) yield { type: 'usage', usage };
  yield { type: 'finish', finish: { reason: REASONS[String(answer.stopReason)] ?? 'stop' } };
}

const converse: Style = {
  name: 'converse',
  relay: { answer: (body) => answerOf(body.tree()) },
  vendor: {
    quirks: { image: { types: [] }, tools: { parallel_flag: false } },
    encodeRequest,
    decodeReply: (body, from) => (answerOf(body) === undefined ? undefined : foldParts([...partsIn(body, from)])),
    createStreamDecoder(from) {
      const reader = createReader(from);
      return { read: ({ name = '', data }) => reader.read(name, parsed(data) ?? null), close: reader.close };
    },
  },
};

export default definePlugin({
  name: 'bedrock',
  api: 2,
  create: (host) => ({
    styles: [converse],
    vendors: [
      {
        name: 'bedrock',
        options: schema<Options>({
          type: 'object',
          required: ['accessKeyId'],
          properties: {
            region: { type: 'string', default: 'us-east-1' },
            accessKeyId: { type: 'string', minLength: 1 },
          },
        }),
        speaks: {
          converse: {
            path: ({ stream }: Call, { model }: Offer) =>
              `/model/${encodeURIComponent(model)}/converse${stream ? '-stream' : ''}`,
            headers: () => ({}),
            frames: eventStream,
            count: {
              path: (model) => `/model/${encodeURIComponent(model)}/count-tokens`,
              body: ({ messages, system }) => ({ input: { converse: given<JsonObject>({ messages, system }) } }),
              read: (answer) => tokensIn(member(answer, 'inputTokens')) || undefined,
            },
          },
        },
        // Everything is in the signature.
        credentials: () => ({}),
        sign: (request, channel) => sign(request, channel, host.clock.now()),
      },
    ],
  }),
});
