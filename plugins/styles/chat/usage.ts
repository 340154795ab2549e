/** How chat vendors say what was used, and the one form it is brought into. */
import type { Json, JsonObject, Usage, VendorError } from '../../../core/plugin.ts';
import { readVendorError, servedAs, tokensIn } from '../../../core/plugin.ts';
import { usesTold } from './hosted.ts';

/** The usage in a whole answer or in one event of a stream; undefined where it holds none. */
export function usageIn(value: Json | undefined): Usage | undefined {
  const choice = member(member(value, 'choices'), '0');
  const usage =
    toUsage(member(value, 'usage')) ??
    // Some vendors wrap it in a member of their own, some put it into the choice that ends the stream.
    toUsage(member(member(value, 'x_groq'), 'usage')) ??
    toUsage(member(choice, 'usage'));
  const service = servedAs({ tier: member(value, 'service_tier') });
  return usage === undefined || service === undefined ? usage : { ...usage, service };
}

/**
 * The common form of a usage object: what the vendor says, as whole numbers; whether it can be true is for others to judge.
 * Cached and audio tokens are part of the prompt. Reasoning is part of the completion, and added where the total shows that a
 * vendor left it out.
 */
export function toUsage(told: Json | undefined): Usage | undefined {
  const prompt = member(told, 'prompt_tokens');
  const completion = member(told, 'completion_tokens');
  if (typeof prompt !== 'number' && typeof completion !== 'number') return undefined;
  const inputDetails = member(told, 'prompt_tokens_details');
  const outputDetails = member(told, 'completion_tokens_details');
  const cached =
    member(inputDetails, 'cached_tokens') ??
    member(told, 'prompt_cache_hit_tokens') ??
    member(told, 'cached_tokens') ??
    member(told, 'num_cached_tokens');
  const written = member(inputDetails, 'cache_write_tokens') ?? member(inputDetails, 'cached_creation_tokens');
  const input = tokensIn(prompt);
  const cacheRead = tokensIn(cached);
  const output = tokensIn(completion);
  const reasoning = tokensIn(member(outputDetails, 'reasoning_tokens'));
  const inputImage = tokensIn(member(inputDetails, 'image_tokens'));
  const outputImage = tokensIn(member(outputDetails, 'image_tokens'));
  const uses = usesTold(told);
  const isBeside = reasoning > 0 && tokensIn(member(told, 'total_tokens')) === input + output + reasoning;
  return {
    input,
    cacheRead,
    // Some count the same tokens as read and as written: the rest of the prompt is all that can have been written.
    cacheWrite: Math.min(tokensIn(written), Math.max(0, input - cacheRead)),
    cacheWriteLong: 0,
    inputAudio: tokensIn(member(inputDetails, 'audio_tokens')),
    output: isBeside ? output + reasoning : output,
    reasoning,
    outputAudio: tokensIn(member(outputDetails, 'audio_tokens')),
    ...(inputImage > 0 && { inputImage }),
    ...(outputImage > 0 && { outputImage }),
    ...(uses !== undefined && { uses }),
    estimated: false,
  };
}

/** Whether a stream's count of its output comes from before the last words, or is none where there are words. Lengths in characters. */
export function isPlaceholder({ output }: Usage, toldAt: number, length: number): boolean {
  return length > (output === 0 ? 0 : toldAt);
}

/** A vendor's error as it stands in an answer or an event, or is one; undefined where there is none. */
export function errorIn(value: Json | undefined): VendorError | undefined {
  const error = member(value, 'error');
  if (error) return readVendorError(error);
  return member(value, 'object') === 'error' ? readVendorError(value) : undefined;
}

/** A member of an object or an item of an array; undefined where the value is neither, or the member is null. */
function member(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as { readonly [name: string]: Json })[name] ?? undefined;
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
