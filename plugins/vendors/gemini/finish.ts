/** Why an answer ends, in the vendor's words and in ours. */

import type { Json } from '../../../core/plugin.ts';
import type { Finish, FinishReason, VendorError } from '../../../core/translation/index.ts';
import { member, textIn } from '../../../core/translation/index.ts';

/** What is not here is a plain stop. */
const REASONS: Readonly<Record<string, FinishReason>> = {
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  IMAGE_OTHER: 'content_filter',
  CONTINUATION: 'pause',
};

/** Ends that the model did not mean: the answer has failed, whatever of it has come. */
const FAILURES: ReadonlySet<string> = new Set([
  ...['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'],
  ...['MISSING_THOUGHT_SIGNATURE', 'NO_IMAGE', 'LANGUAGE', 'OTHER'],
]);

/** The end that a candidate tells; undefined where it goes on. */
export function finishIn(candidate: Json | undefined): Finish | undefined {
  const said = textIn(candidate, 'finishReason');
  if (said === undefined) return undefined;
  const reason = Object.hasOwn(REASONS, said) ? REASONS[said]! : 'stop';
  return { reason, ...explained(reason === 'stop' ? undefined : textIn(candidate, 'finishMessage')) };
}

/** The failure that a candidate ends in, in the vendor's words; undefined if it goes on or ends well. */
export function failureIn(candidate: Json | undefined): VendorError | undefined {
  const code = textIn(candidate, 'finishReason') ?? '';
  if (!FAILURES.has(code)) return undefined;
  const explanation = textIn(candidate, 'finishMessage');
  return { message: explanation || `The model could not finish its answer (${code}).`, code };
}

/** The end of an answer that never began, because of what was asked; there are no candidates then. */
export function blockedIn(answer: Json | undefined): Finish | undefined {
  const feedback = member(answer, 'promptFeedback');
  if (textIn(feedback, 'blockReason') === undefined) return undefined;
  return { reason: 'content_filter', ...explained(textIn(feedback, 'blockReasonMessage')) };
}

/** The same end in an answer that calls tools: the vendor calls that a stop, too. */
export function withCalls(finish: Finish): Finish {
  return finish.reason === 'stop' ? { reason: 'tool_calls' } : finish;
}

function explained(explanation: string | undefined): { readonly explanation?: string } {
  return explanation === undefined || explanation === '' ? {} : { explanation };
}
