/** Decodes and encodes stop reasons. */

import type { Json, JsonObject, Warnings } from '../../../../core/plugin.ts';
import { type Finish, type FinishReason, isObject } from '../../../../core/translation/index.ts';

const SAYS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  context_full: 'model_context_window_exceeded',
  tool_calls: 'tool_use',
  refusal: 'refusal',
  content_filter: 'refusal',
  pause: 'pause_turn',
};

const MEANS: ReadonlyMap<Json | undefined, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['max_tokens', 'length'],
  ['stop_sequence', 'stop_sequence'],
  ['tool_use', 'tool_calls'],
  ['pause_turn', 'pause'],
  // The vendor has compacted the conversation and expects a request with the summary.
  ['compaction', 'pause'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_full'],
]);

/** The content of an answer that affects its stop reason. */
export interface AnswerContent {
  readonly calls: boolean;
  /** The text of a refusal. */
  readonly refusal: string | undefined;
}

/** Encodes the stop reason. Clients call tools if it is `tool_use`, and only then. */
export function encodeFinish(
  { reason, stopSequence, explanation }: Finish,
  contained: AnswerContent,
): Readonly<Record<'stop_reason' | 'stop_sequence' | 'stop_details', Json>> {
  const plain = reason === 'stop' || reason === 'tool_calls';
  const stopReason = plain
    ? contained.refusal !== undefined
      ? 'refusal'
      : contained.calls
        ? 'tool_use'
        : 'end_turn'
    : SAYS[reason];
  return {
    stop_reason: stopReason,
    stop_sequence: reason === 'stop_sequence' ? (stopSequence ?? null) : null,
    stop_details:
      stopReason === 'refusal'
        ? { type: 'refusal', category: null, explanation: explanation ?? (contained.refusal || null) }
        : null,
  };
}

/** Reports details that these members cannot express: only a refusal has text. */
export function omitEnd({ reason, explanation }: Finish, warnings: Warnings): void {
  if (explanation !== undefined && reason !== 'refusal' && reason !== 'content_filter') warnings.omit('explanation');
}

/** Decodes the stop reason. An unknown one is `stop`; an answer with tool calls always has the reason for calls. */
export function decodeFinish(members: JsonObject, calls: boolean): Finish {
  const { stop_reason: reason, stop_sequence: sequence, stop_details: details } = members;
  const explanation = isObject(details) ? details.explanation : undefined;
  const decoded = MEANS.get(reason) ?? 'stop';
  const isPlain = decoded === 'stop' || decoded === 'tool_calls';
  return {
    reason: isPlain ? (calls ? 'tool_calls' : 'stop') : decoded,
    ...(isText(sequence) && { stopSequence: sequence }),
    ...(isText(explanation) && { explanation }),
  };
}

/**
 * Whether the first event has the whole message with its stop reason, as vendors send it after programmatic tool calls.
 * It is the answer unless blocks follow: some vendors announce the whole message first.
 */
export function isWholeAtOnce({ content, stop_reason: reason }: JsonObject): boolean {
  return Array.isArray(content) && content.length > 0 && typeof reason === 'string';
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
