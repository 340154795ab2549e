/** Decodes and encodes the usage of responses replies. */
import type { Json, JsonObject, Usage } from '../../../../core/plugin.ts';
import { isCount, member, tokensIn } from '../../../../core/translation/index.ts';
import { reportedUses, serviceIn, usesInOutput } from './hosted.ts';

/**
 * Decodes a usage object; undefined if it is not one. Cached and written tokens are part of the input. Reasoning is part
 * of the output; if the total shows that a vendor left it out, it is added.
 */
export function toUsage(reported: Json | undefined): Usage | undefined {
  const prompt = member(reported, 'input_tokens') ?? member(reported, 'prompt_tokens');
  const completion = member(reported, 'output_tokens') ?? member(reported, 'completion_tokens');
  if (!isCount(prompt) && !isCount(completion)) return undefined;
  const inputDetails = member(reported, 'input_tokens_details') ?? member(reported, 'prompt_tokens_details');
  const outputDetails = member(reported, 'output_tokens_details') ?? member(reported, 'completion_tokens_details');
  const input = tokensIn(prompt);
  const cacheRead = tokensIn(member(inputDetails, 'cached_tokens'));
  // Some vendors count the same tokens as read and as written: written are at most the rest of the input.
  const written = Math.min(tokensIn(member(inputDetails, 'cache_write_tokens')), Math.max(0, input - cacheRead));
  const long = tokensIn(member(member(inputDetails, 'cache_write_tokens_details'), 'ttl_12h_tokens'));
  const cacheWriteLong = Math.min(long, written);
  const output = tokensIn(completion);
  const reasoning = tokensIn(member(outputDetails, 'reasoning_tokens'));
  const isBeside = reasoning > 0 && tokensIn(member(reported, 'total_tokens')) === input + output + reasoning;
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

/** The usage of a response: its counts, the uses in its items, and its service tier. */
export function usageIn(response: Json | undefined): Usage | undefined {
  const reported = member(response, 'usage');
  const usage = toUsage(reported);
  if (usage === undefined) return undefined;
  const seen = usesInOutput(response);
  const counted = reportedUses(reported);
  const service = serviceIn(response);
  return {
    ...usage,
    ...((seen ?? counted) !== undefined && { uses: { ...seen, ...counted } }),
    ...(service !== undefined && { service }),
  };
}

/** Encodes usage: the style's own names, and those of chat completions, which some clients read. */
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
