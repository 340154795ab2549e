/**
 * The vendor's behaviour in a replay: recorded bytes, whole, streamed or split anywhere; and a plain answer of each
 * style.
 */
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { chatBody, chatEvents } from '../../test/kit/gateway/fixtures.ts';
import { chunk, head, jsonAnswer, lastChunk, type Move, type Script, sized } from '../../test/kit/vendors/script.ts';
import type { Random } from '../chaos/random.ts';
import type { Recorded, VendorStyle } from './folder.ts';

/** The recorded answer, unchanged. */
export function recordedScript({ status, contentType, stream, body }: Recorded): Script {
  if (!stream) return sized(status, contentType, body);
  return [
    head(status, { 'content-type': contentType, 'transfer-encoding': 'chunked' }),
    ...(body.length > 0 ? [chunk(body)] : []),
    lastChunk(),
  ];
}

/** The same bytes in random pieces: some of a single byte, most so large that a long stream does not take too long. */
export function cutByChance(script: Script, random: Random): Script {
  return script.flatMap((move) => {
    if (move.kind !== 'bytes') return [move];
    const most = Math.max(8, Math.ceil(move.bytes.length / 16));
    const pieces: Move[] = [];
    for (let start = 0; start < move.bytes.length; ) {
      const size = random.next() < 0.25 ? random.between(1, 3) : random.between(1, most);
      pieces.push({ kind: 'bytes', bytes: move.bytes.subarray(start, start + size) });
      start += size;
    }
    return pieces;
  });
}

/** A whole answer. */
export function wholeScript(body: JsonObject): Script {
  return jsonAnswer(200, body);
}

/** The text of a plain answer. */
export const PLAIN_TEXT = 'Hello from the vendor.';

/** A plain answer of a style. */
export function plainScript(style: VendorStyle, stream: boolean): Script {
  if (!stream) return wholeScript(PLAIN[style]);
  const events = PLAIN_EVENTS[style]();
  const start = head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' });
  return [start, chunk(events.join('')), lastChunk()];
}

const RESPONSE: JsonObject = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  model: 'm',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: PLAIN_TEXT, annotations: [] }],
    },
  ],
  usage: {
    input_tokens: 11,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 18,
  },
};
const MESSAGE: JsonObject = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: PLAIN_TEXT }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 11, output_tokens: 7 },
};

const PLAIN: Readonly<Record<VendorStyle, JsonObject>> = {
  chat: chatBody({ deltas: [PLAIN_TEXT] }),
  responses: RESPONSE,
  messages: MESSAGE,
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: PLAIN_TEXT }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
    modelVersion: 'm',
    responseId: 'r1',
  },
};

const named = (events: readonly JsonObject[]): readonly string[] =>
  events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`);

const PLAIN_EVENTS: Readonly<Record<VendorStyle, () => readonly string[]>> = {
  chat: () => chatEvents({ deltas: [PLAIN_TEXT] }),
  responses: () => {
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const part: Json = { type: 'output_text', text: PLAIN_TEXT, annotations: [] };
    const item: JsonObject = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    const events: readonly JsonObject[] = [
      { type: 'response.created', response: { ...RESPONSE, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.content_part.added', ...place, part: { type: 'output_text', text: '', annotations: [] } },
      { type: 'response.output_text.delta', ...place, delta: PLAIN_TEXT },
      { type: 'response.output_text.done', ...place, text: PLAIN_TEXT },
      { type: 'response.content_part.done', ...place, part },
      { type: 'response.output_item.done', output_index: 0, item: { ...item, status: 'completed', content: [part] } },
      { type: 'response.completed', response: RESPONSE },
    ];
    return named(events.map((event, i) => ({ ...event, sequence_number: i })));
  },
  messages: () =>
    named([
      { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: PLAIN_TEXT } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 7 } },
      { type: 'message_stop' },
    ]),
  gemini: () => [`data: ${JSON.stringify(PLAIN.gemini)}\r\n\r\n`],
};
