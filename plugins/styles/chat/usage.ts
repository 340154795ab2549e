/** How chat vendors say what was used, and the one form it is brought into. */

import { servedAs } from '../../../core/contracts/uses.ts';
import type { Json, JsonObject, Usage } from '../../../core/plugin.ts';
import type { VendorError } from '../../../core/translation/index.ts';
import { isObject, readVendorError, tokensIn } from '../../../core/translation/index.ts';
import { usesTold } from './hosted.ts';

/** A usage that is still being made. */
type Making = { -readonly [K in keyof Usage]: Usage[K] };

/** The usage in a whole answer or in one event of a stream; undefined where it holds none. */
export function usageIn(value: Json | undefined): Usage | undefined {
  if (!isObject(value)) return undefined;
  const { usage, x_groq: wrapped, choices, service_tier: tier } = value;
  const choice = Array.isArray(choices) ? (choices as readonly Json[])[0] : undefined;
  const told =
    toUsage(usage) ??
    // Some vendors wrap it in a member of their own, some put it into the choice that ends the stream.
    (isObject(wrapped) ? toUsage(wrapped.usage) : undefined) ??
    (isObject(choice) ? toUsage(choice.usage) : undefined);
  if (told === undefined) return undefined;
  const service = servedAs({ tier });
  if (service !== undefined) told.service = service;
  return told;
}

/**
 * The common form of a usage object: what the vendor says, as whole numbers; whether it can be true is for others to judge.
 * Cached and audio tokens are part of the prompt. Reasoning is part of the completion, and added where the total shows that a
 * vendor left it out.
 */
export function toUsage(told: Json | undefined): Making | undefined {
  if (!isCounted(told)) return undefined;
  const inputDetails = isObject(told.prompt_tokens_details) ? told.prompt_tokens_details : NOTHING;
  const outputDetails = isObject(told.completion_tokens_details) ? told.completion_tokens_details : NOTHING;
  const cached =
    inputDetails.cached_tokens ?? told.prompt_cache_hit_tokens ?? told.cached_tokens ?? told.num_cached_tokens;
  const written = inputDetails.cache_write_tokens ?? inputDetails.cached_creation_tokens;
  const input = tokensIn(told.prompt_tokens);
  const cacheRead = tokensIn(cached);
  const output = tokensIn(told.completion_tokens);
  const reasoning = tokensIn(outputDetails.reasoning_tokens);
  const inputImage = tokensIn(inputDetails.image_tokens);
  const outputImage = tokensIn(outputDetails.image_tokens);
  const uses = usesTold(told);
  const isBeside = reasoning > 0 && tokensIn(told.total_tokens) === input + output + reasoning;
  const usage: Making = {
    input,
    cacheRead,
    // Some count the same tokens as read and as written: the rest of the prompt is all that can have been written.
    cacheWrite: Math.min(tokensIn(written), Math.max(0, input - cacheRead)),
    cacheWriteLong: 0,
    inputAudio: tokensIn(inputDetails.audio_tokens),
    output: isBeside ? output + reasoning : output,
    reasoning,
    outputAudio: tokensIn(outputDetails.audio_tokens),
    estimated: false,
  };
  if (inputImage > 0) usage.inputImage = inputImage;
  if (outputImage > 0) usage.outputImage = outputImage;
  if (uses !== undefined) usage.uses = uses;
  return usage;
}

const NOTHING: JsonObject = {};

/** Whether a usage object counts anything. */
export function isCounted(told: Json | undefined): told is JsonObject {
  return isObject(told) && (typeof told.prompt_tokens === 'number' || typeof told.completion_tokens === 'number');
}

/** Whether a stream's count of its output comes from before the last words, or is none where there are words. Lengths in characters. */
export function isPlaceholder({ output }: Usage, toldAt: number, length: number): boolean {
  return length > (output === 0 ? 0 : toldAt);
}

/** A vendor's error as it stands in an answer or an event, or is one; undefined where there is none. */
export function errorIn(value: Json | undefined): VendorError | undefined {
  if (!isObject(value)) return undefined;
  if (value.error) return readVendorError(value.error);
  return value.object === 'error' ? readVendorError(value) : undefined;
}

/** What was used, as chat clients read it: with both details, which some of them insist on. */
export function writeUsage(usage: Usage | undefined): JsonObject {
  const { input = 0, output = 0 } = usage ?? {};
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: {
      cached_tokens: usage?.cacheRead ?? 0,
      cache_write_tokens: (usage?.cacheWrite ?? 0) + (usage?.cacheWriteLong ?? 0),
      audio_tokens: usage?.inputAudio ?? 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage?.reasoning ?? 0,
      audio_tokens: usage?.outputAudio ?? 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
