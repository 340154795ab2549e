/** Token counts by the gateway, for answers without usage; always marked as estimated. */

import type { Bounds, Call, Offer } from '../../contracts/formats/call.ts';
import { RATE_NAMES } from '../../contracts/formats/rates.ts';
import type { Usage } from '../../contracts/formats/usage.ts';
import type { Uses } from '../../contracts/formats/uses.ts';

/** About four characters of text per token in the most common languages. */
const CHARACTERS_PER_TOKEN = 4;
/** The count for an image, a clip or a file of unknown size: an image of ordinary size. */
const TOKENS_PER_MEDIUM = 1_000;

/** Per second of audio input; vendors count between ten and thirty-two. */
const TOKENS_PER_SECOND = 10;

/** A usage of zero, as a base for other values. */
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

/** Maximum average characters per token of an answer. */
const LONGEST_CHARACTERS_PER_TOKEN = 6;

/** An estimate by delivered length, and the whole input. Beyond the output limit only text that cannot be within it. */
export function countedUsage(bounds: Omit<Bounds, 'open' | 'uses'>, textLength: number): Usage {
  const { inputBytes, media, seconds, characters, outputTokens = Number.POSITIVE_INFINITY } = bounds;
  const output = Math.ceil(textLength / CHARACTERS_PER_TOKEN);
  const surely = Math.ceil(textLength / LONGEST_CHARACTERS_PER_TOKEN);
  const audioTokens = Math.ceil((seconds ?? 0) * TOKENS_PER_SECOND);
  return {
    ...NO_TOKENS,
    input: Math.ceil(inputBytes / CHARACTERS_PER_TOKEN) + media * TOKENS_PER_MEDIUM + audioTokens,
    inputAudio: audioTokens,
    output: Math.min(output, Math.max(outputTokens, surely)),
    ...(characters !== undefined && { characters }),
    ...(seconds !== undefined && { seconds }),
    estimated: true,
  };
}

/** A usage completed with what the vendor did not report: tools that ran, and a forwarded request's service options. */
export function withUnsaid(usage: Usage, call: Call, offer: Offer, seen: Uses | undefined): Usage {
  const service = call.style === offer.style ? call.bounds.service : undefined;
  if (service === undefined && seen === undefined) return usage;
  return {
    ...usage,
    ...(seen !== undefined && { uses: { ...seen, ...usage.uses } }),
    ...(service !== undefined && { service: { ...service, ...usage.service } }),
  };
}

/** The usage that a stream reported before the answer: its output count was a placeholder, so the gateway counts. */
export function withCountedOutput(reported: Usage, textLength: number): Usage {
  return {
    ...reported,
    output: Math.max(reported.output, Math.ceil(textLength / CHARACTERS_PER_TOKEN)),
    estimated: true,
  };
}

/** The counts that must be whole numbers, because charges and records are integers. Seconds may have fractions. */
const WHOLE = [...RATE_NAMES, 'characters'] as const;

/** What is billed of a usage, with whole counts, rounded up; the same object if they are. A plugin's style may report fractions. */
export function inWholes(usage: Usage | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  if (usage.unbilled === true) return NO_TOKENS;
  let rounded: Record<string, number> | undefined;
  for (const kind of WHOLE) {
    const count = usage[kind];
    if (count === undefined || Number.isInteger(count) || !Number.isFinite(count)) continue;
    rounded ??= {};
    rounded[kind] = Math.ceil(count);
  }
  return rounded === undefined ? usage : { ...usage, ...rounded };
}
