/** Encodes the demo model's replies as chat completions: one body, or events. */
import type { Json, JsonObject } from '../../../core/plugin.ts';
import type { Completion, ToolCall } from './chat.ts';
import { wordsOf } from './tokens.ts';

/** The members of every chunk of one reply. */
export interface AnswerHead {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
}

/** A whole reply. */
export function chatBody(head: AnswerHead, completion: Completion): Json {
  const calls = completion.calls.map((call, i) => callAs(head, call, i, call.input));
  const message = {
    role: 'assistant',
    content: completion.text ?? null,
    refusal: null,
    ...(completion.text === undefined ? { tool_calls: calls } : {}),
  };
  return {
    ...head,
    object: 'chat.completion',
    choices: indexes(completion).map((index) => ({ index, message, logprobs: null, finish_reason: completion.finish })),
    usage: usageOf(completion),
  };
}

/** The same as events, one per word, the last one being `[DONE]`. */
export function* chatEvents(head: AnswerHead, completion: Completion, withUsage: boolean): Generator<string> {
  const event = (choices: Json, usage: Json): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...(withUsage ? { usage } : {}) })}\n\n`;
  for (const index of indexes(completion)) {
    for (const delta of deltas(head, completion)) {
      yield event([{ index, delta, logprobs: null, finish_reason: null }], null);
    }
    yield event([{ index, delta: {}, logprobs: null, finish_reason: completion.finish }], null);
  }
  if (withUsage) yield event([], usageOf(completion));
  yield 'data: [DONE]\n\n';
}

function* deltas(head: AnswerHead, { text, calls }: Completion): Generator<JsonObject> {
  yield { role: 'assistant', content: text === undefined ? null : '', refusal: null };
  for (const content of wordsOf(text ?? '')) yield { content };
  for (const [index, call] of calls.entries()) {
    yield { tool_calls: [{ index, ...callAs(head, call, index, '') }] };
    for (const piece of wordsOf(call.input)) {
      yield { tool_calls: [{ index, [call.kind]: { [inputName(call)]: piece } }] };
    }
  }
}

function callAs(head: AnswerHead, call: ToolCall, index: number, input: string): JsonObject {
  return {
    id: `call_${head.id}_${index}`,
    type: call.kind,
    [call.kind]: { name: call.name, [inputName(call)]: input },
  };
}

function inputName(call: ToolCall): string {
  return call.kind === 'function' ? 'arguments' : 'input';
}

function indexes({ choices }: Completion): readonly number[] {
  return Array.from({ length: choices }, (_, index) => index);
}

function usageOf({ inputTokens, outputTokens }: Completion): Json {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  };
}
