/** Chat requests, answers and streams as data: what a vendor of the chat style says, without any wire around it. */
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';

/** What a chat vendor says it used. */
export interface ChatUsage {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number;
  readonly reasoning?: number;
}

/** The parts of a chat answer that tests vary; everything else is the same each time. */
export interface ChatAnswer {
  readonly id?: string;
  readonly model?: string;
  /** The text, in the pieces in which a stream brings it. */
  readonly deltas?: readonly string[];
  readonly toolCalls?: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  /** `stop`, or `tool_calls` where there are any; null: the vendor never says why it ends. */
  readonly finish?: string | null;
  /** `null`: the vendor says nothing. */
  readonly usage?: ChatUsage | null;
}

export const CHAT_DELTAS: readonly string[] = ['Hello', ' from', ' the', ' vendor', '.'];
export const CHAT_USAGE: ChatUsage = { prompt: 11, completion: 7 };
/** The event that ends a chat stream well. */
export const DONE = 'data: [DONE]\n\n';

/** A request body that every chat vendor takes. */
export function chatRequest(more: JsonObject = {}): JsonObject {
  return { model: 'm', messages: [{ role: 'user', content: 'Hello?' }], ...more };
}

/** Usage in the words of the chat style. */
export function chatUsage(usage: ChatUsage): JsonObject {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
    prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  };
}

/** A whole answer. */
export function chatBody(answer: ChatAnswer = {}): JsonObject {
  const text = (answer.deltas ?? CHAT_DELTAS).join('');
  const toolCalls = answer.toolCalls?.map(({ id, name, arguments: input }) => ({
    id,
    type: 'function',
    function: { name, arguments: input },
  }));
  const usage = answer.usage === undefined ? CHAT_USAGE : answer.usage;
  return {
    id: answer.id ?? 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: answer.model ?? 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: toolCalls ? null : text, ...(toolCalls && { tool_calls: toolCalls }) },
        finish_reason: finishOf(answer),
      },
    ],
    ...(usage && { usage: chatUsage(usage) }),
  };
}

/** One event of a chat stream, blank line included. */
export function chatEvent(data: Json): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/**
 * The events of a streamed answer: the role, the deltas, the reason to stop, the usage, `[DONE]`. `finish: null` leaves out
 * the reason, `usage: null` the usage; tests cut the list where a vendor dies earlier.
 */
export function chatEvents(answer: ChatAnswer = {}): readonly string[] {
  const usage = answer.usage === undefined ? CHAT_USAGE : answer.usage;
  const chunk = (choices: readonly Json[], more: JsonObject = {}) =>
    chatEvent({
      id: answer.id ?? 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_700_000_000,
      model: answer.model ?? 'm',
      choices,
      ...more,
    });
  const delta = (piece: JsonObject, reason: string | null = null) =>
    chunk([{ index: 0, delta: piece, finish_reason: reason }]);
  const finish = finishOf(answer);
  const text = answer.toolCalls ? [] : (answer.deltas ?? CHAT_DELTAS);
  return [
    delta({ role: 'assistant', content: '' }),
    ...text.map((content) => delta({ content })),
    ...(answer.toolCalls ?? []).map(({ id, name, arguments: input }, index) =>
      delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: input } }] }),
    ),
    ...(finish === null ? [] : [delta({}, finish)]),
    ...(usage === null ? [] : [chunk([], { usage: chatUsage(usage) })]),
    DONE,
  ];
}

/** An error in the chat style, as vendors answer it. */
export function chatError(message: string, code: string, type = 'server_error'): JsonObject {
  return { error: { message, type, param: null, code } };
}

function finishOf(answer: ChatAnswer): string | null {
  if (answer.finish !== undefined) return answer.finish;
  return answer.toolCalls ? 'tool_calls' : 'stop';
}
