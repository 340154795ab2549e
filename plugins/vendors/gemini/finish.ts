/** Maps finish reasons and log probabilities of the vendor to the common form. */

import type { Json, JsonObject } from '../../../core/plugin.ts';
import {
  type Finish,
  type FinishReason,
  member,
  objectsIn,
  textIn,
  type VendorError,
} from '../../../core/translation/index.ts';

/** Unknown reasons mean `stop`. */
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

/** Reasons of a failed answer, whatever content has arrived. */
const FAILURES: ReadonlySet<string> = new Set([
  ...['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'],
  ...['MISSING_THOUGHT_SIGNATURE', 'NO_IMAGE', 'LANGUAGE', 'OTHER'],
]);

/** The finish reason of a candidate; undefined if it continues. */
export function finishIn(candidate: Json | undefined): Finish | undefined {
  const value = textIn(candidate, 'finishReason');
  if (value === undefined) return undefined;
  const reason = Object.hasOwn(REASONS, value) ? REASONS[value]! : 'stop';
  return { reason, ...explained(reason === 'stop' ? undefined : textIn(candidate, 'finishMessage')) };
}

/** The failure of a candidate, in the vendor's words; undefined if it continues or ends normally. */
export function failureIn(candidate: Json | undefined): VendorError | undefined {
  const code = textIn(candidate, 'finishReason') ?? '';
  if (!FAILURES.has(code)) return undefined;
  const explanation = textIn(candidate, 'finishMessage');
  return { message: explanation || `The model could not finish its answer (${code}).`, code };
}

/** The finish reason of a blocked prompt; such a reply has no candidates. */
export function blockedIn(answer: Json | undefined): Finish | undefined {
  const feedback = member(answer, 'promptFeedback');
  if (textIn(feedback, 'blockReason') === undefined) return undefined;
  return { reason: 'content_filter', ...explained(textIn(feedback, 'blockReasonMessage')) };
}

/** The reason for an answer with tool calls, for which the vendor sends STOP, too. */
export function withCalls(finish: Finish): Finish {
  return finish.reason === 'stop' ? { reason: 'tool_calls' } : finish;
}

function explained(explanation: string | undefined): { readonly explanation?: string } {
  return explanation === undefined || explanation === '' ? {} : { explanation };
}

/** `[{token, logprob, bytes, top_logprobs}]`; undefined if there are none. */
export function logprobsIn(candidate: Json | undefined): readonly Json[] | undefined {
  const result = member(candidate, 'logprobsResult');
  const chosen = objectsIn(result, 'chosenCandidates');
  if (chosen.length === 0) return undefined;
  const top = objectsIn(result, 'topCandidates');
  return chosen.map((token, i) => ({
    ...entry(token),
    top_logprobs: objectsIn(top[i], 'candidates').map(entry),
  }));
}

function entry(candidate: JsonObject): JsonObject {
  const token = textIn(candidate, 'token') ?? '';
  const logprob = member(candidate, 'logProbability');
  return { token, logprob: typeof logprob === 'number' ? logprob : 0, bytes: [...Buffer.from(token)] };
}
