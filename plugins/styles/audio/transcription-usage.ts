/** Usage of a transcription: as the vendor reports it, otherwise by the length of the audio. */
import type { Bounds, Call, Json, Usage } from '../../../core/plugin.ts';
import { countedUsage, member, tokensIn } from '../../../core/translation/index.ts';
import { longestSeconds, measuredSeconds } from './sound/file.ts';
import { fileIn } from './transcription-request.ts';

/** Characters per second: of fast speech, and of usual speech. */
const HASTY = 40;
const USUAL = 12;
/** Usual share of the maximum duration of an unmeasured file: most speech is recorded at four times the minimum bit rate. */
const USUAL_SHARE = 1 / 4;

/**
 * The usage in a reply, or in the last event of a stream; undefined if the vendor reports none. Counts that the vendor
 * omits are estimated, because the price may be for them.
 */
export function reportedUsage(call: Call, answer: Json | undefined, textLength: number): Usage | undefined {
  const reported = member(answer, 'usage');
  const seconds = secondsOf(call, member(reported, 'seconds')) ?? secondsOf(call, member(answer, 'duration'));
  // The second spelling is that of servers that report usage as in chat.
  const input = tokensIn(member(reported, 'input_tokens') ?? member(reported, 'prompt_tokens'));
  const output = tokensIn(member(reported, 'output_tokens') ?? member(reported, 'completion_tokens'));
  if (input + output === 0 && seconds === undefined) return undefined;
  const counted = countedUsage({ ...call.bounds, seconds: seconds ?? estimatedSeconds(call, textLength) }, textLength);
  const details = member(reported, 'input_token_details') ?? member(reported, 'prompt_tokens_details');
  // Without details, all input tokens are audio.
  const audio = tokensIn(member(details, 'audio_tokens') ?? input - tokensIn(member(details, 'text_tokens')));
  const isReported = input === 0 ? seconds !== undefined : output > 0 || textLength === 0;
  return {
    ...counted,
    ...(input > 0 && { input, inputAudio: audio }),
    ...(output > 0 && { output }),
    estimated: !isReported,
  };
}

/**
 * Usage if the vendor reports none: the measured length of the audio, but at least what its transcript needs, because a
 * file's header can be wrong. `lastTime`: the last timestamp of the subtitles. Without a measured length, the estimate
 * uses the text alone.
 */
export function estimatedUsage(call: Call, textLength: number, lastTime = 0): Usage {
  return countedUsage({ ...call.bounds, seconds: estimatedSeconds(call, textLength, lastTime) }, textLength);
}

function estimatedSeconds(call: Call, textLength: number, lastTime = 0): number {
  const length = measured(call) ?? Math.min(textLength / USUAL, boundOf(call));
  return Math.max(length, lastTime <= longest(call) ? lastTime : 0, textLength / HASTY);
}

/**
 * Usage of a reply that did not end. If the client disconnected, the vendor still processes all of the audio. If the
 * vendor broke off, the delivered text counts, and the usual length of audio for that much text.
 */
export function unfinishedUsage(call: Call, textLength: number, how: 'left' | 'broken'): Usage {
  const full = measured(call) ?? boundOf(call) * USUAL_SHARE;
  return countedUsage(
    { ...call.bounds, seconds: how === 'left' ? full : Math.min(full, textLength / USUAL) },
    textLength,
  );
}

function measured({ files = [] }: Call): number | undefined {
  const file = fileIn(files);
  return file && measuredSeconds(file);
}

function longest({ files = [] }: Call): number {
  const file = fileIn(files);
  return file === undefined ? 0 : longestSeconds(file);
}

function boundOf({ bounds }: { readonly bounds: Bounds }): number {
  return bounds.seconds ?? 0;
}

/** Some vendors write numbers as text, some send zero instead of a length, and some use other units than seconds. */
function secondsOf(call: Call, value: Json | undefined): number | undefined {
  const seconds = typeof value === 'string' ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds <= longest(call) ? seconds : undefined;
}
