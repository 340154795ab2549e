/** Usage in chat replies, decoded to and encoded from the common form. */

import { servedAs } from '../../../../core/contracts/formats/uses.ts';
import type { Json, JsonObject, Usage } from '../../../../core/plugin.ts';
import {
  isCount,
  isObject,
  readVendorError,
  tokensIn,
  type VendorError,
  withCountedOutput,
} from '../../../../core/translation/index.ts';
import { reportedUses } from './hosted.ts';

/** A usage under construction. */
type Making = { -readonly [K in keyof Usage]: Usage[K] };

/** The usage in a whole reply or in one event; undefined if there is none. */
export function usageIn(value: Json | undefined): Usage | undefined {
  if (!isObject(value)) return undefined;
  const { usage, x_groq: wrapped, choices, service_tier: tier } = value;
  const choice = Array.isArray(choices) ? (choices as readonly Json[])[0] : undefined;
  const reported =
    toUsage(usage) ??
    // Some vendors wrap it in a member of their own; some put it into the choice that ends the stream.
    (isObject(wrapped) ? toUsage(wrapped.usage) : undefined) ??
    (isObject(choice) ? toUsage(choice.usage) : undefined);
  if (reported === undefined) return undefined;
  const service = servedAs({ tier });
  if (service !== undefined) reported.service = service;
  return reported;
}

/**
 * Decodes a usage object: the vendor's counts, as whole numbers; plausibility is checked later. Cached and audio tokens
 * are part of the prompt. Reasoning is part of the completion; if the total shows that a vendor left it out, it is
 * added. `estimated`: the completion has no count. A zero is a count.
 */
export function toUsage(reported: Json | undefined): Making | undefined {
  if (!isCounted(reported)) return undefined;
  const inputDetails = isObject(reported.prompt_tokens_details) ? reported.prompt_tokens_details : NOTHING;
  const outputDetails = isObject(reported.completion_tokens_details) ? reported.completion_tokens_details : NOTHING;
  const cached =
    inputDetails.cached_tokens ??
    reported.prompt_cache_hit_tokens ??
    reported.cached_tokens ??
    reported.num_cached_tokens;
  const written = inputDetails.cache_write_tokens ?? inputDetails.cached_creation_tokens;
  const input = tokensIn(reported.prompt_tokens);
  const cacheRead = tokensIn(cached);
  const output = tokensIn(reported.completion_tokens);
  const reasoning = tokensIn(outputDetails.reasoning_tokens);
  const inputImage = tokensIn(inputDetails.image_tokens);
  const outputImage = tokensIn(outputDetails.image_tokens);
  const uses = reportedUses(reported);
  const isBeside = reasoning > 0 && tokensIn(reported.total_tokens) === input + output + reasoning;
  const usage: Making = {
    input,
    cacheRead,
    // Some vendors count the same tokens as read and as written: written are at most the rest of the prompt.
    cacheWrite: Math.min(tokensIn(written), Math.max(0, input - cacheRead)),
    cacheWriteLong: 0,
    inputAudio: tokensIn(inputDetails.audio_tokens),
    output: isBeside ? output + reasoning : output,
    reasoning,
    outputAudio: tokensIn(outputDetails.audio_tokens),
    estimated: !isCount(reported.completion_tokens),
  };
  if (inputImage > 0) usage.inputImage = inputImage;
  if (outputImage > 0) usage.outputImage = outputImage;
  if (uses !== undefined) usage.uses = uses;
  return usage;
}

const NOTHING: JsonObject = {};

/** Whether a usage object has any count. */
export function isCounted(reported: Json | undefined): reported is JsonObject {
  return isObject(reported) && (isCount(reported.prompt_tokens) || isCount(reported.completion_tokens));
}

/** Whether a client finds usage: numbers of any kind, which pass as they are, also those that are no counts. */
export function isToldUsage(reported: Json | undefined): boolean {
  return (
    isObject(reported) && (typeof reported.prompt_tokens === 'number' || typeof reported.completion_tokens === 'number')
  );
}

/** Whether the output count of a stream is from before its last text, or missing although there is text. Lengths in characters. */
export function isPlaceholder({ estimated }: Usage, reportedAt: number, length: number): boolean {
  return length > (estimated ? 0 : reportedAt);
}

/**
 * The usage that a stream has reported so far: the last one counts, but some vendors send zeros after it. Zeros alone are counts like any
 * other, unless text follows them: then they only stood in for counts that never came. Lengths in characters.
 */
export function followUsage() {
  let usage: Usage | undefined;
  let reportedAt = 0;
  return {
    /** Adds a report; false if it changes nothing. */
    add(counted: Usage, length: number): boolean {
      if (usage !== undefined && !isZero(usage) && isZero(counted)) return false;
      usage = counted;
      reportedAt = length;
      return true;
    },
    /** After this much text; undefined if the vendor has reported nothing that counts. */
    after(length: number): Usage | undefined {
      if (usage === undefined || !isPlaceholder(usage, reportedAt, length)) return usage;
      return isZero(usage) ? undefined : withCountedOutput(usage, length);
    },
  };
}

/** Whether nothing was used. */
export function isZero({ input, output }: Usage): boolean {
  return input + output === 0;
}

/** A vendor's error in, or as, a reply or an event; undefined if there is none. */
export function errorIn(value: Json | undefined): VendorError | undefined {
  if (!isObject(value)) return undefined;
  if (value.error) return readVendorError(value.error);
  return value.object === 'error' ? readVendorError(value) : undefined;
}

/** Encodes usage for chat clients, with both details objects, which some of them require. */
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
