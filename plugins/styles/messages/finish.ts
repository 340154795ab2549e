/** Why an answer ends, in both directions. */

import type { Json, JsonObject, Losses } from '../../../core/plugin.ts';
import { type Finish, type FinishReason, isObject } from '../../../core/translation/index.ts';

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
  // The vendor has summed the conversation up and waits to be called with the summary.
  ['compaction', 'pause'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_full'],
]);

/** What an answer held that bears on why it ends. */
export interface Held {
  readonly calls: boolean;
  /** The words of a refusal. */
  readonly refusal: string | undefined;
}

/** The members of an answer that say why it ends. Clients call tools where they read `tool_use`, and only there. */
export function encodeFinish(
  { reason, stopSequence, explanation }: Finish,
  held: Held,
): Readonly<Record<'stop_reason' | 'stop_sequence' | 'stop_details', Json>> {
  const plain = reason === 'stop' || reason === 'tool_calls';
  const said = plain ? (held.refusal !== undefined ? 'refusal' : held.calls ? 'tool_use' : 'end_turn') : SAYS[reason];
  return {
    stop_reason: said,
    stop_sequence: reason === 'stop_sequence' ? (stopSequence ?? null) : null,
    stop_details:
      said === 'refusal'
        ? { type: 'refusal', category: null, explanation: explanation ?? (held.refusal || null) }
        : null,
  };
}

/** Names what an end says that those members cannot: only a refusal has words. */
export function omitEnd({ reason, explanation }: Finish, losses: Losses): void {
  if (explanation !== undefined && reason !== 'refusal' && reason !== 'content_filter') losses.omit('explanation');
}

/** Reads those members. What nobody knows is a plain stop, and what calls tools is one for calls, whatever the vendor says. */
export function decodeFinish(said: JsonObject, calls: boolean): Finish {
  const { stop_reason: reason, stop_sequence: sequence, stop_details: details } = said;
  const explanation = isObject(details) ? details.explanation : undefined;
  const known = MEANS.get(reason) ?? 'stop';
  const isPlain = known === 'stop' || known === 'tool_calls';
  return {
    reason: isPlain ? (calls ? 'tool_calls' : 'stop') : known,
    ...(isText(sequence) && { stopSequence: sequence }),
    ...(isText(explanation) && { explanation }),
  };
}

/**
 * Whether the event that begins a message tells all of it, and why it ends: so do vendors where a program has called the tools.
 * It is the answer unless blocks follow: some tell the whole message in advance.
 */
export function isWholeAtOnce({ content, stop_reason: reason }: JsonObject): boolean {
  return Array.isArray(content) && content.length > 0 && typeof reason === 'string';
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}
