/** Scenarios as vendors of the messages style say them: one block after the other. */

import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Scenario, ScenarioCall, Speech } from '../speech.ts';

/** What this vendor signs thoughts with. */
export const SIGNATURE = 'EqoBsigned+/by/the/vendor==';

const ENDS = { stop: 'end_turn', tools: 'tool_use', length: 'max_tokens', refusal: 'refusal' } as const;
const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function callId({ id }: ScenarioCall): string {
  return `toolu_${id}`;
}

interface Shown {
  readonly block: JsonObject;
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

/** The blocks of the answer, with how a stream brings each. Thoughts come to those who ask. */
function blocksOf(scenario: Scenario, request: JsonObject): readonly Shown[] {
  const { reasoning, text, calls = [] } = scenario;
  const thinking = request.thinking as JsonObject | undefined;
  const shown: Shown[] = [];
  if (reasoning !== undefined && ['enabled', 'adaptive'].includes(String(thinking?.type))) {
    shown.push({
      block: { type: 'thinking', thinking: reasoning.join(''), signature: SIGNATURE },
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...reasoning.map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature: SIGNATURE },
      ],
    });
  }
  if (text !== undefined) {
    shown.push({
      block: { type: 'text', text: text.join(''), citations: null },
      start: { type: 'text', text: '' },
      deltas: text.map((piece) => ({ type: 'text_delta', text: piece })),
    });
  }
  for (const call of calls) {
    const head = { type: 'tool_use', id: callId(call), name: call.name };
    shown.push({
      block: { ...head, input: JSON.parse(call.pieces.join('')) as Json },
      start: { ...head, input: {} },
      deltas: ['', ...call.pieces].map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
    });
  }
  return shown;
}

function usageOf({ usage }: Scenario): JsonObject {
  return {
    input_tokens: usage.input - usage.cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cached,
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  };
}

function endOf({ end, refusal }: Scenario): JsonObject {
  return {
    stop_reason: ENDS[end],
    stop_sequence: null,
    stop_details: refusal === undefined ? null : { type: 'refusal', category: null, explanation: refusal.join('') },
  };
}

function envelope(request: JsonObject, more: JsonObject): JsonObject {
  return { id: 'msg_vendor1', type: 'message', role: 'assistant', model: request.model as Json, ...more };
}

function whole(scenario: Scenario, request: JsonObject): JsonObject {
  const content = blocksOf(scenario, request).map(({ block }) => block);
  return envelope(request, { content, ...endOf(scenario), usage: { ...usageOf(scenario), service_tier: 'standard' } });
}

function events(scenario: Scenario, request: JsonObject): readonly string[] {
  const { output_tokens_details: _, ...started } = usageOf(scenario);
  const message = envelope(request, {
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...started, output_tokens: 1, service_tier: 'standard' },
  });
  return [
    event('message_start', { message }),
    event('ping'),
    ...blocksOf(scenario, request).flatMap(({ start, deltas }, index) => [
      event('content_block_start', { index, content_block: start }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', { delta: endOf(scenario), usage: usageOf(scenario) }),
    event('message_stop'),
  ];
}

function event(type: string, more: JsonObject = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

/** The messages style. */
export const messagesSpeech: Speech = {
  callId,
  whole,
  events,
  error: (status, message) => ({
    type: 'error',
    error: { type: ERRORS[status] ?? 'api_error', message },
    request_id: 'req_vendor1',
  }),
  errorEvent: (message) => event('error', { error: { type: 'api_error', message } }),
};
