/** How vendors of this style say what was used, the one form it is brought into, and how clients are told. */
import type { Json, JsonObject, Usage } from '../../../core/plugin.ts';
import { member, tokensIn } from '../../../core/translation/index.ts';
import { serviceIn, usesInOutput, usesTold } from './hosted.ts';

/**
 * The common form of a usage object; undefined where it is none. Cached and written tokens are part of the input. Reasoning is
 * part of the output, and added where the total shows that a vendor left it out.
 */
export function toUsage(told: Json | undefined): Usage | undefined {
  const prompt = member(told, 'input_tokens') ?? member(told, 'prompt_tokens');
  const completion = member(told, 'output_tokens') ?? member(told, 'completion_tokens');
  if (typeof prompt !== 'number' && typeof completion !== 'number') return undefined;
  const inputDetails = member(told, 'input_tokens_details') ?? member(told, 'prompt_tokens_details');
  const outputDetails = member(told, 'output_tokens_details') ?? member(told, 'completion_tokens_details');
  const input = tokensIn(prompt);
  const cacheRead = tokensIn(member(inputDetails, 'cached_tokens'));
  // Some count the same tokens as read and as written: the rest of the input is all that can have been written.
  const written = Math.min(tokensIn(member(inputDetails, 'cache_write_tokens')), Math.max(0, input - cacheRead));
  const long = tokensIn(member(member(inputDetails, 'cache_write_tokens_details'), 'ttl_12h_tokens'));
  const cacheWriteLong = Math.min(long, written);
  const output = tokensIn(completion);
  const reasoning = tokensIn(member(outputDetails, 'reasoning_tokens'));
  const isBeside = reasoning > 0 && tokensIn(member(told, 'total_tokens')) === input + output + reasoning;
  return {
    input,
    cacheRead,
    cacheWrite: written - cacheWriteLong,
    cacheWriteLong,
    inputAudio: tokensIn(member(inputDetails, 'audio_tokens')),
    output: isBeside ? output + reasoning : output,
    reasoning,
    outputAudio: tokensIn(member(outputDetails, 'audio_tokens')),
    estimated: false,
  };
}

/** The usage of a response: what it counts, what its items show to have been run, how it was served. */
export function usageIn(response: Json | undefined): Usage | undefined {
  const told = member(response, 'usage');
  const usage = toUsage(told);
  if (usage === undefined) return undefined;
  const seen = usesInOutput(response);
  const counted = usesTold(told);
  const service = serviceIn(response);
  return {
    ...usage,
    ...((seen ?? counted) !== undefined && { uses: { ...seen, ...counted } }),
    ...(service !== undefined && { service }),
  };
}

/** What the client is told: the style's own names, and those of chat completions beside them, which some clients read. */
export function usageObject(usage: Usage | undefined): JsonObject {
  const input = usage?.input ?? 0;
  const output = usage?.output ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: usage?.cacheRead ?? 0,
      cache_write_tokens: (usage?.cacheWrite ?? 0) + (usage?.cacheWriteLong ?? 0),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage?.reasoning ?? 0 },
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
  };
}
