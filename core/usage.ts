/** Our own count of tokens, for answers whose vendor does not say; always marked as estimated. */
import type { Bounds, Usage } from './contracts/call.ts';

/** A token of text is about four characters in the languages most calls are written in. */
const CHARACTERS_PER_TOKEN = 4;
/** What an image, a clip or a file counts for when nobody says: the order of a picture of ordinary size. */
const TOKENS_PER_MEDIUM = 1_000;

/** What was delivered, counted by length. */
export function countedUsage(bounds: Bounds, textLength: number): Usage {
  return {
    input: Math.ceil(bounds.inputBytes / CHARACTERS_PER_TOKEN) + bounds.media * TOKENS_PER_MEDIUM,
    cacheRead: 0,
    cacheWrite: 0,
    cacheWriteLong: 0,
    inputAudio: 0,
    output: Math.ceil(textLength / CHARACTERS_PER_TOKEN),
    reasoning: 0,
    outputAudio: 0,
    estimated: true,
  };
}
