/** Usage of speech if the vendor does not report it: by the text, and the duration of the audio. */
import type { Call, JsonObject, Usage } from '../../../core/plugin.ts';
import { countedUsage, member, NO_TOKENS, tokensIn } from '../../../core/translation/index.ts';
import { speechFacts } from './speech-request.ts';

/** Tokens of one second of speech, and characters in most languages. */
const TOKENS_PER_SECOND = 21;
const CHARACTERS_PER_SECOND = 15;
/** Bytes per second of audio of unknown duration: half of uncompressed audio. */
const BYTES_PER_SECOND = 24_000;

/** The delivered audio. */
export interface Delivered {
  readonly bytes: number;
  /** Undefined if it is unknown. */
  readonly seconds: number | undefined;
}

/** Usage of a whole reply: all characters, and the duration of the audio. */
export function spokenUsage(call: Call, { seconds }: Delivered): Usage {
  return usageOf(call, charactersOf(call), seconds ?? expectedSeconds(call));
}

/**
 * Usage of a reply that did not end. If the client disconnected, everything counts, because the vendor continues. If the
 * vendor broke off, the delivered audio counts, and the characters usually spoken in that time.
 */
export function unfinishedUsage(call: Call, delivered: Delivered, how: 'left' | 'broken'): Usage {
  const all = charactersOf(call);
  if (how === 'left') return usageOf(call, all, Math.max(expectedSeconds(call), delivered.seconds ?? 0));
  const seconds = delivered.seconds ?? delivered.bytes / BYTES_PER_SECOND;
  return usageOf(call, Math.min(all, Math.round(seconds * charactersPerSecond(call))), seconds);
}

/** The usage in the last event of a stream; audio that the vendor does not count is measured. */
export function reportedUsage(call: Call, event: JsonObject, delivered: Delivered): Usage {
  const reported = member(event, 'usage');
  const input = tokensIn(member(reported, 'input_tokens'));
  const output = tokensIn(member(reported, 'output_tokens'));
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
