/** Why an answer ends, in the words of chat and in those of the common form. */

import type { Json, Losses } from '../../../core/plugin.ts';
import type { Finish, FinishReason, VendorError } from '../../../core/translation/index.ts';

/** What vendors say beside the five official words. Whatever is not here is a plain stop. */
const REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'context_full'],
  ['model_context_window_exceeded', 'context_full'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['sensitive', 'content_filter'],
  ['safety', 'content_filter'],
  ['refusal', 'refusal'],
]);

/** What vendors say that break off; no answer ends well with one of these. */
const FAILURES: ReadonlySet<string> = new Set([
  ...['error', 'internal_error', 'server_error', 'network_error', 'insufficient_system_resource'],
  ...['abort', 'aborted', 'cancelled', 'canceled'],
  ...['malformed_function_call', 'malformed_response', 'unexpected_tool_call'],
]);
/** How a vendor of another style begins it that also speaks this one: `function_call_filter: MALFORMED_FUNCTION_CALL`. */
const FAILING = 'function_call_filter';

/** The failure in the reason of one choice; undefined where the answer is whole. */
export function failureIn(reason: Json | undefined): VendorError | undefined {
  if (typeof reason !== 'string') return undefined;
  const said = reason.toLowerCase();
  if (!FAILURES.has(said) && !said.startsWith(FAILING)) return undefined;
  return { message: `The vendor broke its answer off: ${reason}.`, code: reason };
}

/** What the answer held. */
export interface Held {
  readonly calls: boolean;
  readonly refusal: boolean;
}

/**
 * The reason of one choice. A call that is there makes a plain stop one for calls, and the other way round: what agents do next
 * depends on it, and vendors are careless. `stopped` is the text that ended the answer, which a few tell beside it.
 */
export function readFinish(reason: Json | undefined, stopped: Json | undefined, held: Held): Finish {
  const known = (typeof reason === 'string' ? REASONS.get(reason.toLowerCase()) : undefined) ?? 'stop';
  if (known !== 'stop' && known !== 'tool_calls') return { reason: known };
  if (held.calls) return { reason: 'tool_calls' };
  if (held.refusal) return { reason: 'refusal' };
  if (typeof stopped === 'string' && stopped !== '') return { reason: 'stop_sequence', stopSequence: stopped };
  return { reason: 'stop' };
}

/** Names what an end says that a chat client cannot be told. */
export function omitEnd({ reason, stopSequence, explanation }: Finish, held: Held, losses: Losses): void {
  if (reason === 'pause') losses.omit(reason);
  if (stopSequence !== undefined) losses.omit('stop_sequence');
  if (explanation !== undefined && (reason !== 'refusal' || held.refusal)) losses.omit('explanation');
}

/** The word for the client. A refusal in words is a stop, as it is where chat was invented; one without is a filter's work. */
export function writeFinish({ reason }: Finish, held: Held): 'stop' | 'length' | 'tool_calls' | 'content_filter' {
  switch (reason) {
    case 'length':
    case 'context_full':
      return 'length';
    case 'content_filter':
      return 'content_filter';
    case 'refusal':
      return held.refusal ? 'stop' : 'content_filter';
    case 'tool_calls':
    case 'stop':
    case 'stop_sequence':
      return held.calls ? 'tool_calls' : 'stop';
    default:
      return 'stop';
  }
}
