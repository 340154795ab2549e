/** Scenarios as vendors of the third style say them: parts that are whole in themselves, line ends of two characters, no last event. */

import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Scenario, ScenarioCall, Speech } from '../speech.ts';

/** What this vendor signs a call, or the end of an answer, with. */
export const THOUGHT_SIGNATURE = 'CikBthought+/signature==';

const ENDS = { stop: 'STOP', tools: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const;
const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
};

function callId({ id, anonymous }: ScenarioCall): string | undefined {
  return anonymous === true ? undefined : `fn-${id}`;
}

/** The parts for the calls; the first one is signed for all of them. */
function callsOf({ calls = [] }: Scenario): readonly JsonObject[] {
  return calls.map((call, i) => {
    const id = callId(call);
    return {
      functionCall: { ...(id !== undefined && { id }), name: call.name, args: JSON.parse(call.pieces.join('')) },
      ...(i === 0 && { thoughtSignature: THOUGHT_SIGNATURE }),
    };
  });
}

function usageOf({ usage }: Scenario): JsonObject {
  return {
    promptTokenCount: usage.input,
    ...(usage.cached > 0 && { cachedContentTokenCount: usage.cached }),
    candidatesTokenCount: usage.output - usage.reasoning,
    ...(usage.reasoning > 0 && { thoughtsTokenCount: usage.reasoning }),
    totalTokenCount: usage.input + usage.output,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.input }],
  };
}

function answer(parts: readonly JsonObject[], usage: JsonObject, finishReason?: string): JsonObject {
  const candidate = {
    content: { role: 'model', parts },
    ...(finishReason !== undefined && { finishReason }),
    index: 0,
  };
  return { candidates: [candidate], usageMetadata: usage, modelVersion: 'gemini-vendor-001', responseId: 'vendor1' };
}

/** Thoughts are shown to those who ask. */
function thoughtsOf({ reasoning }: Scenario, request: JsonObject): readonly string[] {
  const config = (request.generationConfig as JsonObject | undefined)?.thinkingConfig as JsonObject | undefined;
  return config?.includeThoughts === true ? (reasoning ?? []) : [];
}

function whole(scenario: Scenario, request: JsonObject): JsonObject {
  const thoughts = thoughtsOf(scenario, request);
  const parts = [
    ...(thoughts.length > 0 ? [{ text: thoughts.join(''), thought: true }] : []),
    ...(scenario.text === undefined ? [] : [{ text: scenario.text.join('') }]),
    ...callsOf(scenario),
  ];
  return answer(parts, usageOf(scenario), ENDS[scenario.end]);
}

function events(scenario: Scenario, request: JsonObject): readonly string[] {
  const calls = callsOf(scenario);
  const soFar = { promptTokenCount: scenario.usage.input, totalTokenCount: scenario.usage.input };
  const pieces: readonly (readonly JsonObject[])[] = [
    ...thoughtsOf(scenario, request).map((text) => [{ text, thought: true }]),
    ...(scenario.text ?? []).map((text) => [{ text }]),
    ...(calls.length > 0 ? [calls] : []),
  ];
  return [
    ...pieces.map((parts) => event(answer(parts, soFar))),
    event(answer([{ text: '' }], usageOf(scenario), ENDS[scenario.end])),
  ];
}

function error(status: number, message: string): JsonObject {
  return { error: { code: status, message, status: STATUSES[status] ?? 'INTERNAL' } };
}

function event(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\r\n\r\n`;
}

/** The third style, which only vendors speak. */
export const geminiSpeech: Speech = {
  callId,
  whole,
  events,
  error,
  errorEvent: (message) => event(error(500, message)),
};
