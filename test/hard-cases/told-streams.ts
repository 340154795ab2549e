/** An answer as its vendor would have streamed it: the same content in pieces, for tests that hold the two forms against each other. */
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { isObject } from '../../core/translation/index.ts';
import { chatChunk, geminiSays, named, type Said, type VendorKind } from './kit.ts';

/** The vendor's stream for its whole answer. */
export const STREAM_OF: Readonly<Record<VendorKind, (body: JsonObject) => string>> = {
  chat: chatStream,
  responses: responsesStream,
  messages: messagesStream,
  gemini: geminiStream,
};

type List = readonly JsonObject[];

/** A text in two pieces; one that is empty, or no text, in one. */
function halves(value: Json | undefined): readonly Json[] {
  if (typeof value !== 'string' || value.length < 2) return value === undefined ? [] : [value];
  const middle = Math.floor(value.length / 2);
  return [value.slice(0, middle), value.slice(middle)];
}

/** The entries of an object one by one. */
function each(value: JsonObject): List {
  return Object.entries(value).map(([name, inner]) => ({ [name]: inner }));
}

function chatStream(body: JsonObject): string {
  const { choices, usage, id: _, object: __, created: ___, ...rest } = body;
  const pieces = (choices as List).flatMap((choice, index): readonly string[] => {
    const { message, logprobs, finish_reason: reason, ...others } = choice;
    const deltas = chatDeltas(message as JsonObject);
    const last = deltas.findLastIndex(({ content }) => content !== undefined);
    const chunk = (delta: JsonObject, more: JsonObject): string =>
      chatChunk({ ...rest, choices: [{ index, delta, finish_reason: null, ...more }] });
    return [
      ...deltas.map((delta, i) => chunk(delta, { logprobs: i === last ? (logprobs ?? null) : null })),
      chunk({}, { ...others, finish_reason: reason ?? 'stop' }),
    ];
  });
  return [...pieces, ...(usage === undefined ? [] : [chatChunk({ choices: [], usage })]), 'data: [DONE]\n\n'].join('');
}

/** Sources are told while the text they belong to is open; everything else comes in the order in which it stands. */
function chatDeltas({ role, content, annotations, reasoning_content: thought, ...rest }: JsonObject): List {
  const told = [
    ...halves(thought).map((piece) => ({ reasoning_content: piece })),
    ...(Array.isArray(content)
      ? (content as List).map((part) => ({ content: [part] }))
      : halves(content).map((piece) => ({ content: piece }))),
    ...(annotations === undefined ? [] : [{ annotations }]),
  ];
  const others = each(rest).flatMap((member): List => {
    if (Array.isArray(member.tool_calls)) return (member.tool_calls as List).flatMap(chatCall);
    if (isObject(member.function_call)) return grown(member.function_call, 'arguments', 'function_call');
    if (isObject(member.audio)) return grown(member.audio, 'data', 'audio');
    return [member];
  });
  return [{ role: role ?? 'assistant', content: '' }, ...told, ...others];
}

function chatCall(call: JsonObject, index: number): List {
  const { function: called, custom, ...rest } = call;
  const kind = isObject(custom) ? 'custom' : 'function';
  const { arguments: json, input, ...head } = (isObject(custom) ? custom : called) as JsonObject;
  const text = kind === 'custom' ? 'input' : 'arguments';
  const [first = '', ...more] = halves(kind === 'custom' ? input : json);
  return [
    { tool_calls: [{ index, ...rest, [kind]: { ...head, [text]: first } }] },
    ...more.map((piece) => ({ tool_calls: [{ index, [kind]: { [text]: piece } }] })),
  ];
}

/** An object of which one member grows. */
function grown(value: JsonObject, member: string, name: string): List {
  const [first, ...more] = halves(value[member]);
  const begun = first === undefined ? value : { ...value, [member]: first };
  return [{ [name]: begun }, ...more.map((piece) => ({ [name]: { [member]: piece } }))];
}

function messagesStream(body: JsonObject): string {
  const { content, stop_reason: reason, stop_sequence, stop_details, usage, context_management, ...message } = body;
  const events = (content as List).flatMap((block, index): readonly Said[] => {
    const { begun, deltas } = messagesBlock(block);
    return [
      ['content_block_start', { index, content_block: begun }],
      ...deltas.map((delta): Said => ['content_block_delta', { index, delta }]),
      ['content_block_stop', { index }],
    ];
  });
  const delta = { stop_reason: reason!, stop_sequence: stop_sequence ?? null, ...(stop_details && { stop_details }) };
  return named([
    ['message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: usage! } }],
    ['ping'],
    ...events,
    ['message_delta', { delta, usage: usage!, ...(context_management && { context_management }) }],
    ['message_stop'],
  ]);
}

function messagesBlock(block: JsonObject): { readonly begun: JsonObject; readonly deltas: List } {
  switch (block.type) {
    case 'text': {
      const { text, citations, ...rest } = block;
      return {
        begun: { ...rest, text: '', ...(citations !== undefined && { citations: [] }) },
        deltas: [
          ...halves(text).map((piece) => ({ type: 'text_delta', text: piece })),
          ...((citations ?? []) as readonly Json[]).map((citation) => ({ type: 'citations_delta', citation })),
        ],
      };
    }
    case 'thinking': {
      const { thinking, signature, ...rest } = block;
      return {
        begun: { ...rest, thinking: '', signature: '' },
        deltas: [
          ...halves(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
          ...(signature === undefined ? [] : [{ type: 'signature_delta', signature }]),
        ],
      };
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const { input, ...rest } = block;
      const pieces = halves(JSON.stringify(input ?? {}));
      return {
        begun: { ...rest, input: {} },
        deltas: pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      };
    }
    default:
      return { begun: block, deltas: [] };
  }
}

function responsesStream(body: JsonObject): string {
  const begun = { ...body, status: 'in_progress', output: [], usage: null, incomplete_details: null };
  const events = (body.output as List).flatMap((item, index): readonly Said[] => [
    ['response.output_item.added', { output_index: index, item: responsesBegun(item) }],
    ...responsesGrowth(item, index),
    ['response.output_item.done', { output_index: index, item }],
  ]);
  return named([
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ...events,
    [`response.${String(body.status)}`, { response: body }],
  ]);
}

function responsesBegun(item: JsonObject): JsonObject {
  const { encrypted_content: _, ...rest } = item;
  const empty = { message: { content: [] }, reasoning: { summary: [], content: [] } } as const;
  const text = { function_call: 'arguments', custom_tool_call: 'input', image_generation_call: 'result' } as const;
  const type = String(item.type);
  const member = text[type as keyof typeof text];
  return { ...rest, ...empty[type as keyof typeof empty], ...(member && { [member]: '' }), status: 'in_progress' };
}

function responsesGrowth(item: JsonObject, index: number): readonly Said[] {
  const at = { item_id: item.id!, output_index: index };
  switch (item.type) {
    case 'message':
      return (item.content as List).flatMap((part, i) => responsesPart(part, { ...at, content_index: i }));
    case 'reasoning':
      return [
        ...thoughts(item.summary, 'response.reasoning_summary_text', at, 'summary_index'),
        ...thoughts(item.content, 'response.reasoning_text', at, 'content_index'),
      ];
    case 'function_call':
      return [
        ...halves(item.arguments).map((delta): Said => ['response.function_call_arguments.delta', { ...at, delta }]),
        ['response.function_call_arguments.done', { ...at, arguments: item.arguments! }],
      ];
    case 'custom_tool_call':
      return [
        ...halves(item.input).map((delta): Said => ['response.custom_tool_call_input.delta', { ...at, delta }]),
        ['response.custom_tool_call_input.done', { ...at, input: item.input! }],
      ];
    default:
      return [];
  }
}

function responsesPart(part: JsonObject, at: JsonObject): readonly Said[] {
  if (part.type !== 'output_text' && part.type !== 'refusal') {
    return [
      ['response.content_part.added', { ...at, part }],
      ['response.content_part.done', { ...at, part }],
    ];
  }
  const member = part.type === 'refusal' ? 'refusal' : 'text';
  const pieces = halves(part[member]);
  const begun = part.type === 'refusal' ? { type: 'refusal', refusal: '' } : { ...part, ...EMPTY_TEXT };
  const { logprobs } = part;
  return [
    ['response.content_part.added', { ...at, part: begun }],
    ...pieces.map((delta, i): Said => {
      const told = i === pieces.length - 1 && logprobs !== undefined ? { logprobs } : {};
      return [`response.${String(part.type)}.delta`, { ...at, delta, ...told }];
    }),
    ...((part.annotations ?? []) as List).map(
      (annotation, i): Said => ['response.output_text.annotation.added', { ...at, annotation_index: i, annotation }],
    ),
    [
      `response.${String(part.type)}.done`,
      { ...at, [member]: part[member]!, ...(logprobs !== undefined && { logprobs }) },
    ],
    ['response.content_part.done', { ...at, part }],
  ];
}

const EMPTY_TEXT = { text: '', annotations: [], logprobs: [] } as const;

function thoughts(list: Json | undefined, type: string, at: JsonObject, member: string): readonly Said[] {
  return ((list ?? []) as List).flatMap(({ text }, i) =>
    halves(text).map((delta): Said => [`${type}.delta`, { ...at, [member]: i, delta }]),
  );
}

/** Every part in an event of its own, texts in two; what is known only in the end comes with the last. */
function geminiStream(body: JsonObject): string {
  const { candidates = [], usageMetadata, promptFeedback, ...rest } = body;
  const [first, ...others] = candidates as List;
  const { content, ...ending } = first ?? {};
  const { parts = [], ...around } = isObject(content) ? content : {};
  const pieces = (parts as List).flatMap((part): List => {
    const { text, thoughtSignature, ...more } = part;
    if (typeof text !== 'string') return [part];
    const told = halves(text).map((piece): JsonObject => ({ ...more, text: piece }));
    return thoughtSignature === undefined ? told : [...told.slice(0, -1), { ...told.at(-1), thoughtSignature }];
  });
  const end = {
    ...(first !== undefined && {
      candidates: [{ content: { ...around, parts: [{ text: '' }] }, ...ending }, ...others],
    }),
    ...(promptFeedback !== undefined && { promptFeedback }),
    ...(usageMetadata !== undefined && { usageMetadata }),
  };
  return geminiSays([
    ...pieces.map((part) => ({ ...rest, candidates: [{ content: { ...around, parts: [part] }, index: 0 }] })),
    { ...rest, ...end },
  ]);
}
