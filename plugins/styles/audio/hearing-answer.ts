/** Whole transcription replies: JSON, plain text and subtitles. */
import type { AnswerFacts, Call, JsonBody, JsonObject } from '../../../core/plugin.ts';
import { isObject, objectsIn, parsed } from '../../../core/translation/index.ts';
import { errorIn } from '../chat/usage.ts';
import { FILES } from './hearing-request.ts';
import { estimatedUsage, reportedUsage } from './hearing-usage.ts';

/** Reads a JSON reply; undefined if it has neither a text nor an error. */
export function readAnswer(body: JsonBody, call: Call): AnswerFacts | undefined {
  const answer = body.tree();
  const error = errorIn(answer);
  const text = isObject(answer) ? answer.text : undefined;
  if (error === undefined && typeof text !== 'string') return undefined;
  const textLength = typeof text === 'string' ? text.length : 0;
  return {
    usage: reportedUsage(call, answer, textLength) ?? estimatedUsage(call, textLength),
    textLength: () => textLength,
    error,
  };
}

/** Reads a text reply. Empty text is valid (silence); an HTML page or an error is not. */
export function readText(text: string, call: Call): AnswerFacts | undefined {
  if (/^\s*<(!doctype|html)\b/i.test(text)) return undefined;
  const json = text.startsWith('{') ? parsed(text) : undefined;
  return {
    usage:
      reportedUsage(call, json, text.length) ?? estimatedUsage(call, text.length, isFile(call) ? lastTimeIn(text) : 0),
    textLength: () => text.length,
    error: errorIn(json),
  };
}

/** Only subtitle formats have timestamps; in other formats such lines are part of the transcript. */
function isFile({ body }: Call): boolean {
  return FILES.includes(String(body.get('response_format')));
}

/** Hours may be missing; fractions follow a comma (srt) or a dot (vtt). */
const END = /^\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})/;
const ARROW = '-->';

/** End of the last subtitle, in seconds; 0 if there is none. */
function lastTimeIn(text: string): number {
  const arrow = text.lastIndexOf(ARROW);
  const start = arrow + ARROW.length;
  const [, hours = '0', minutes = '0', seconds = '0', fraction = '0'] = END.exec(text.slice(start, start + 32)) ?? [];
  return arrow === -1 ? 0 : Number(hours) * 3_600 + Number(minutes) * 60 + Number(`${seconds}.${fraction}`);
}

/** Converts a whole reply to stream events, for vendors that ignore `stream`. */
export function streamAnswer(body: JsonBody): string | undefined {
  const answer = body.tree();
  if (!isObject(answer) || typeof answer.text !== 'string') return undefined;
  const { text } = answer;
  const more = Object.fromEntries(
    ['logprobs', 'languages', 'usage'].flatMap((name) => (Object.hasOwn(answer, name) ? [[name, answer[name]!]] : [])),
  );
  const segments = objectsIn(answer, 'segments').filter(({ type }) => type === 'transcript.text.segment');
  return [
    ...segments,
    ...(text === '' ? [] : [{ type: 'transcript.text.delta', delta: text }]),
    { type: 'transcript.text.done', text, ...more },
  ]
    .map((event: JsonObject) => `data: ${JSON.stringify(event)}\n\n`)
    .join('');
}
