/** How chat vendors say what was used, and the one form it is brought into. */
import type { Json, Usage } from '../../../core/plugin.ts';

/** The usage in a whole answer or in one event of a stream; undefined where it holds none. */
export function usageIn(value: Json | undefined): Usage | undefined {
  const choice = member(member(value, 'choices'), '0');
  return (
    toUsage(member(value, 'usage')) ??
    // Some vendors wrap it in a member of their own, some put it into the choice that ends the stream.
    toUsage(member(member(value, 'x_groq'), 'usage')) ??
    toUsage(member(choice, 'usage'))
  );
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
  const input = count(prompt);
  const cacheRead = count(cached);
  const output = count(completion);
  const reasoning = count(member(outputDetails, 'reasoning_tokens'));
  const isBeside = reasoning > 0 && count(member(told, 'total_tokens')) === input + output + reasoning;
  return {
    input,
    cacheRead,
    // Some count the same tokens as read and as written: the rest of the prompt is all that can have been written.
    cacheWrite: Math.min(count(written), Math.max(0, input - cacheRead)),
    cacheWriteLong: 0,
    inputAudio: count(member(inputDetails, 'audio_tokens')),
    output: isBeside ? output + reasoning : output,
    reasoning,
    outputAudio: count(member(outputDetails, 'audio_tokens')),
    estimated: false,
  };
}

/** A vendor's error as it stands in an answer or an event; undefined where there is none. */
export function errorIn(value: Json | undefined): { readonly message: string; readonly code: string } | undefined {
  const error = member(value, 'error');
  return error ? toError(error) : undefined;
}

/** An error that is an object, or only a sentence. */
export function toError(error: Json): { readonly message: string; readonly code: string } {
  if (typeof error === 'string') return { message: error, code: '' };
  const message = member(error, 'message');
  const code = member(error, 'code') ?? member(error, 'type');
  return {
    message:
      typeof message === 'string' && message !== '' ? message : 'The vendor reported an error without a message.',
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : '',
  };
}

/** A member of an object or an item of an array; undefined where the value is neither, or the member is null. */
function member(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as { readonly [name: string]: Json })[name] ?? undefined;
}

function count(value: Json | undefined): number {
  if (typeof value !== 'number' || value <= 0) return 0;
  return Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER);
}
