/** Our own count of tokens, for answers whose vendor does not say; always marked as estimated. */
import type { Bounds, Call, Offer, Usage } from './contracts/call.ts';
import { RATE_NAMES } from './contracts/rates.ts';
import type { Uses } from './contracts/uses.ts';

/** A token of text is about four characters in the languages most calls are written in. */
const CHARACTERS_PER_TOKEN = 4;
/** What an image, a clip or a file counts for when nobody says: the order of a picture of ordinary size. */
const TOKENS_PER_MEDIUM = 1_000;

/** A second of sound that is heard; vendors count from ten to thirty-two. */
const TOKENS_PER_SECOND = 10;

/** A usage of nothing, to say something else beside it. */
export const NO_TOKENS: Usage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteLong: 0,
  inputAudio: 0,
  output: 0,
  reasoning: 0,
  outputAudio: 0,
  estimated: false,
};

/** Longer no answer's tokens are on average. */
const LONGEST_CHARACTERS_PER_TOKEN = 6;

/**
 * What was delivered, counted by length; what was sent counts whole, whatever it is measured in. Beyond the limit of the answer only
 * text counts that no answer within it can have.
 */
export function countedUsage(bounds: Omit<Bounds, 'open' | 'uses'>, textLength: number): Usage {
  const { inputBytes, media, seconds, characters, outputTokens = Number.POSITIVE_INFINITY } = bounds;
  const output = Math.ceil(textLength / CHARACTERS_PER_TOKEN);
  const surely = Math.ceil(textLength / LONGEST_CHARACTERS_PER_TOKEN);
  const heard = Math.ceil((seconds ?? 0) * TOKENS_PER_SECOND);
  return {
    ...NO_TOKENS,
    input: Math.ceil(inputBytes / CHARACTERS_PER_TOKEN) + media * TOKENS_PER_MEDIUM + heard,
    inputAudio: heard,
    output: Math.min(output, Math.max(outputTokens, surely)),
    ...(characters !== undefined && { characters }),
    ...(seconds !== undefined && { seconds }),
    estimated: true,
  };
}

/**
 * A usage with what its vendor does not tell in it: what it was seen to run, and, where the request reached it as it was, how it
 * was to be served.
 */
export function withUnsaid(usage: Usage, call: Call, offer: Offer, seen: Uses | undefined): Usage {
  const service = call.style === offer.style ? call.bounds.service : undefined;
  if (service === undefined && seen === undefined) return usage;
  return {
    ...usage,
    ...(seen !== undefined && { uses: { ...seen, ...usage.uses } }),
    ...(service !== undefined && { service: { ...service, ...usage.service } }),
  };
}

/** What a stream's vendor told before the answer was there: its count of the output only held the place for another, so we count. */
export function withCountedOutput(told: Usage, textLength: number): Usage {
  return { ...told, output: Math.max(told.output, Math.ceil(textLength / CHARACTERS_PER_TOKEN)), estimated: true };
}

/** The counts that must be whole: what is charged and recorded are integers. Seconds may have fractions. */
const WHOLE = [...RATE_NAMES, 'characters'] as const;

/** A usage whose counts are rounded up to whole numbers; the same object if they are. A style of a plugin may report fractions. */
export function inWholes(usage: Usage | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  let whole: Record<string, number> | undefined;
  for (const kind of WHOLE) {
    const count = usage[kind];
    if (count === undefined || Number.isInteger(count) || !Number.isFinite(count)) continue;
    whole ??= {};
    whole[kind] = Math.ceil(count);
  }
  return whole === undefined ? usage : { ...usage, ...whole };
}
