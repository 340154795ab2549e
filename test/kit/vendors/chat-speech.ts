/** Scenarios as vendors of the chat style say them; parallel calls come in fragments that interleave. */

import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { chatError, chatEvent, DONE } from '../gateway/fixtures.ts';
import type { Scenario, ScenarioCall, Speech } from '../speech.ts';

const ENDS = { stop: 'stop', tools: 'tool_calls', length: 'length', refusal: 'stop' } as const;
const ENVELOPE = { id: 'chatcmpl-vendor1', created: 1_763_600_000, system_fingerprint: 'fp_1' };

function callId({ id }: ScenarioCall): string {
  return `call_${id}`;
}

function usageOf({ usage }: Scenario): JsonObject {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function whole(scenario: Scenario, request: JsonObject): JsonObject {
  const { reasoning, text, refusal, calls } = scenario;
  const message = {
    role: 'assistant',
    content: text?.join('') ?? null,
    refusal: refusal?.join('') ?? null,
    ...(reasoning && { reasoning_content: reasoning.join('') }),
    ...(calls && {
      tool_calls: calls.map((call) => ({
        id: callId(call),
        type: 'function',
        function: { name: call.name, arguments: call.pieces.join('') },
      })),
    }),
    annotations: [],
  };
  return {
    ...ENVELOPE,
    object: 'chat.completion',
    model: request.model as Json,
    choices: [{ index: 0, message, logprobs: null, finish_reason: ENDS[scenario.end] }],
    usage: usageOf(scenario),
    service_tier: 'default',
  };
}

function events(scenario: Scenario, request: JsonObject): readonly string[] {
  const { reasoning = [], text = [], refusal = [], calls = [] } = scenario;
  const asked = (request.stream_options as JsonObject | undefined)?.include_usage === true;
  const chunk = (choices: readonly Json[], usage: Json = null) =>
    chatEvent({
      ...ENVELOPE,
      object: 'chat.completion.chunk',
      model: request.model as Json,
      choices,
      ...(asked && { usage }),
    });
  const delta = (piece: JsonObject, reason: string | null = null) =>
    chunk([{ index: 0, delta: piece, logprobs: null, finish_reason: reason }]);
  const fragment = (index: number, piece: JsonObject) => delta({ tool_calls: [{ index, ...piece }] });
  const rounds = Math.max(0, ...calls.map(({ pieces }) => pieces.length));
  const interleaved = Array.from({ length: rounds }, (_, round) =>
    calls.flatMap(({ pieces }, index) => {
      const piece = pieces[round];
      return piece === undefined ? [] : [fragment(index, { function: { arguments: piece } })];
    }),
  ).flat();
  return [
    delta({ role: 'assistant', content: '', refusal: null }),
    ...reasoning.map((piece) => delta({ reasoning_content: piece })),
    ...text.map((content) => delta({ content })),
    ...refusal.map((piece) => delta({ refusal: piece })),
    ...calls.map((call, index) =>
      fragment(index, { id: callId(call), type: 'function', function: { name: call.name, arguments: '' } }),
    ),
    ...interleaved,
    delta({}, ENDS[scenario.end]),
    ...(asked ? [chunk([], usageOf(scenario))] : []),
    DONE,
  ];
}

function error(status: number, message: string): JsonObject {
  return chatError(message, `vendor_${status}`, status < 500 ? 'invalid_request_error' : 'server_error');
}

/** The chat style. */
export const chatSpeech: Speech = {
  callId,
  whole,
  events,
  error,
  errorEvent: (message) => chatEvent(chatError(message, 'vendor_broke')),
};
