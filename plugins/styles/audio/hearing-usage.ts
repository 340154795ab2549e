/** What was used to write down what is heard: as the vendor tells it, else by the length of the sound. */
import type { Bounds, Call, Json, Usage } from '../../../core/plugin.ts';
import { countedUsage, member, tokensIn } from '../../../core/translation/index.ts';
import { fileIn } from './hearing-request.ts';
import { longestSeconds, measuredSeconds } from './sound/file.ts';

/** Characters of a second: of hasty speech, and of usual speech. */
const HASTY = 40;
const USUAL = 12;
/** Of the longest that an unmeasured file can be: most speech is recorded at four times the rate that is the least. */
const USUAL_SHARE = 1 / 4;

/**
 * In an answer, or in the event that ends a stream; undefined where the vendor says nothing. What it leaves out of it we count: it
 * may be that which the price is for.
 */
export function toldUsage(call: Call, answer: Json | undefined, textLength: number): Usage | undefined {
  const told = member(answer, 'usage');
  const seconds = secondsOf(call, member(told, 'seconds')) ?? secondsOf(call, member(answer, 'duration'));
  // The second spelling is that of servers that speak as in chat.
  const input = tokensIn(member(told, 'input_tokens') ?? member(told, 'prompt_tokens'));
  const output = tokensIn(member(told, 'output_tokens') ?? member(told, 'completion_tokens'));
  if (input + output === 0 && seconds === undefined) return undefined;
  const counted = countedUsage({ ...call.bounds, seconds: seconds ?? heardSeconds(call, textLength) }, textLength);
  const details = member(told, 'input_token_details') ?? member(told, 'prompt_tokens_details');
  // Where nothing else is said, all that goes in is sound.
  const audio = tokensIn(member(details, 'audio_tokens') ?? input - tokensIn(member(details, 'text_tokens')));
  const isTold = input === 0 ? seconds !== undefined : output > 0 || textLength === 0;
  return {
    ...counted,
    ...(input > 0 && { input, inputAudio: audio }),
    ...(output > 0 && { output }),
    estimated: !isTold,
  };
}

/**
 * Where the vendor says nothing: sound as long as it was measured, and no shorter than what was found in it needs, for a file can
 * lie. `lastTime`: the last time that subtitles name. Without a measure the text is all there is to go by.
 */
export function heardUsage(call: Call, textLength: number, lastTime = 0): Usage {
  return countedUsage({ ...call.bounds, seconds: heardSeconds(call, textLength, lastTime) }, textLength);
}

function heardSeconds(call: Call, textLength: number, lastTime = 0): number {
  const length = measured(call) ?? Math.min(textLength / USUAL, boundOf(call));
  return Math.max(length, lastTime <= longest(call) ? lastTime : 0, textLength / HASTY);
}

/**
 * Of an answer that did not come to its end. Nobody waits for the text any more: the vendor hears all the sound. It broke off: what
 * was delivered counts, and as much sound as usually has that much text in it.
 */
export function unfinishedUsage(call: Call, textLength: number, how: 'left' | 'broken'): Usage {
  const all = measured(call) ?? boundOf(call) * USUAL_SHARE;
  return countedUsage(
    { ...call.bounds, seconds: how === 'left' ? all : Math.min(all, textLength / USUAL) },
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

/** Some vendors write numbers as texts, some zero in place of a length, and some count other than seconds. */
function secondsOf(call: Call, value: Json | undefined): number | undefined {
  const seconds = typeof value === 'string' ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds <= longest(call) ? seconds : undefined;
}
