/** Maps finish reasons between chat and the common form. */

import type { Json, Warnings } from '../../../../core/plugin.ts';
import type { Finish, FinishReason, VendorError } from '../../../../core/translation/index.ts';

/** Vendor-specific reasons in addition to the five official ones. Unknown reasons mean `stop`. */
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

/** Reasons of vendors for a failed answer; an answer with one of them is an error. */
const FAILURES: ReadonlySet<string> = new Set([
  ...['error', 'internal_error', 'server_error', 'network_error', 'insufficient_system_resource'],
  ...['abort', 'aborted', 'cancelled', 'canceled'],
  ...['malformed_function_call', 'malformed_response', 'unexpected_tool_call'],
]);
/** The prefix that some vendors put before their native reason: `function_call_filter: MALFORMED_FUNCTION_CALL`. */
const FAILING = 'function_call_filter';

/** The failure in the reason of one choice; undefined if the answer is complete. */
export function failureIn(reason: Json | undefined): VendorError | undefined {
  if (typeof reason !== 'string') return undefined;
  const word = reason.toLowerCase();
  if (!FAILURES.has(word) && !word.startsWith(FAILING)) return undefined;
  return { message: `The vendor ended its answer early: ${reason}.`, code: reason };
}

/** The content of the answer. */
export interface AnswerContent {
  readonly calls: boolean;
  readonly refusal: boolean;
}

/**
 * Decodes the reason of one choice. `stop` with a tool call becomes `tool_calls`, and the reverse, because agents act on
 * the reason and vendors are inconsistent. `stopped`: the stop sequence that ended the answer, which a few vendors
 * report.
 */
export function readFinish(reason: Json | undefined, stopped: Json | undefined, contained: AnswerContent): Finish {
  const decoded = (typeof reason === 'string' ? REASONS.get(reason.toLowerCase()) : undefined) ?? 'stop';
  if (decoded !== 'stop' && decoded !== 'tool_calls') return { reason: decoded };
  if (contained.calls) return { reason: 'tool_calls' };
  if (contained.refusal) return { reason: 'refusal' };
  if (typeof stopped === 'string' && stopped !== '') return { reason: 'stop_sequence', stopSequence: stopped };
  return { reason: 'stop' };
}

/** Reports details of the end that a chat client cannot get. */
export function omitEnd(
  { reason, stopSequence, explanation }: Finish,
  contained: AnswerContent,
  warnings: Warnings,
): void {
  if (reason === 'pause') warnings.omit(reason);
  if (stopSequence !== undefined) warnings.omit('stop_sequence');
  if (explanation !== undefined && (reason !== 'refusal' || contained.refusal)) warnings.omit('explanation');
}

/** The reason for the client. A refusal with text is `stop`, as OpenAI reports it; one without is `content_filter`. */
export function writeFinish(
  { reason }: Finish,
  contained: AnswerContent,
): 'stop' | 'length' | 'tool_calls' | 'content_filter' {
  switch (reason) {
    case 'length':
    case 'context_full':
      return 'length';
    case 'content_filter':
      return 'content_filter';
    case 'refusal':
      return contained.refusal ? 'stop' : 'content_filter';
    case 'tool_calls':
    case 'stop':
    case 'stop_sequence':
      return contained.calls ? 'tool_calls' : 'stop';
    default:
      return 'stop';
  }
}
