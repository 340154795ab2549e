/** What speech used, where the vendor does not say: by the text that was spoken, and the length of the sound. */
import type { Call, JsonObject, Usage } from '../../../core/plugin.ts';
import { countedUsage, member, NO_TOKENS, tokensIn } from '../../../core/translation/index.ts';
import { speechFacts } from './speech-request.ts';

/** A second of speech in the vendors' tokens, and in characters of most languages. */
const TOKENS_PER_SECOND = 21;
const CHARACTERS_PER_SECOND = 15;
/** Of sound whose length cannot be told: half of what it has uncompressed. */
const BYTES_PER_SECOND = 24_000;

/** Sound that was delivered. */
export interface Delivered {
  readonly bytes: number;
  /** Undefined where it cannot be told. */
  readonly seconds: number | undefined;
}

/** A whole answer: all characters, and the sound as long as it is. */
export function spokenUsage(call: Call, { seconds }: Delivered): Usage {
  return usageOf(call, charactersOf(call), seconds ?? expectedSeconds(call));
}

/**
 * An answer that did not come to its end. The vendor goes on working for whoever has left, so everything counts. Where the vendor
 * broke off, what was delivered does: as many characters as are usually spoken in that much sound.
 */
export function unfinishedUsage(call: Call, delivered: Delivered, how: 'left' | 'broken'): Usage {
  const all = charactersOf(call);
  if (how === 'left') return usageOf(call, all, Math.max(expectedSeconds(call), delivered.seconds ?? 0));
  const seconds = delivered.seconds ?? delivered.bytes / BYTES_PER_SECOND;
  return usageOf(call, Math.min(all, Math.round(seconds * charactersPerSecond(call))), seconds);
}

/** What the vendor says it used, in the last event of a stream; sound that it does not count we count. */
export function toldUsage(call: Call, event: JsonObject, delivered: Delivered): Usage {
  const told = member(event, 'usage');
  const input = tokensIn(member(told, 'input_tokens'));
  const output = tokensIn(member(told, 'output_tokens'));
  const counted = spokenUsage(call, delivered);
  if (output === 0) return { ...counted, ...(input > 0 && { input }) };
  return { ...NO_TOKENS, input, output, outputAudio: output, characters: charactersOf(call) };
}

function usageOf(call: Call, characters: number, seconds: number): Usage {
  const output = Math.ceil(seconds * TOKENS_PER_SECOND);
  return { ...countedUsage(call.bounds, 0), output, outputAudio: output, characters };
}

function charactersOf(call: Call): number {
  return call.bounds.characters ?? 0;
}

function expectedSeconds(call: Call): number {
  return charactersOf(call) / charactersPerSecond(call);
}

function charactersPerSecond(call: Call): number {
  return CHARACTERS_PER_SECOND * speechFacts(call.body).speed;
}
