/** Whole answers to what is heard: JSON, plain text and subtitles. */
import type { AnswerFacts, Call, JsonBody, JsonObject } from '../../../core/plugin.ts';
import { isObject, objectsIn, parsed } from '../../../core/translation/index.ts';
import { errorIn } from '../chat/usage.ts';
import { FILES } from './hearing-request.ts';
import { heardUsage, toldUsage } from './hearing-usage.ts';

/** What an answer in JSON tells; undefined where it has neither a text nor an error. */
export function readAnswer(body: JsonBody, call: Call): AnswerFacts | undefined {
  const answer = body.tree();
  const error = errorIn(answer);
  const text = isObject(answer) ? answer.text : undefined;
  if (error === undefined && typeof text !== 'string') return undefined;
  const textLength = typeof text === 'string' ? text.length : 0;
  return {
    usage: toldUsage(call, answer, textLength) ?? heardUsage(call, textLength),
    textLength: () => textLength,
    error,
  };
}

/** The same for a text. Silence has none, so nothing at all is an answer, too; a page of HTML or an error is not. */
export function readText(text: string, call: Call): AnswerFacts | undefined {
  if (/^\s*<(!doctype|html)\b/i.test(text)) return undefined;
  const json = text.startsWith('{') ? parsed(text) : undefined;
  return {
    usage: toldUsage(call, json, text.length) ?? heardUsage(call, text.length, isFile(call) ? lastTimeIn(text) : 0),
    textLength: () => text.length,
    error: errorIn(json),
  };
}

/** Only subtitles have times; elsewhere they are what somebody said. */
function isFile({ body }: Call): boolean {
  return FILES.includes(String(body.get('response_format')));
}

/** Hours may be missing; fractions follow a comma (srt) or a dot (vtt). */
const END = /^\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{1,3})/;
const ARROW = '-->';

/** When the last subtitle ends, in seconds; 0 where there is none. */
function lastTimeIn(text: string): number {
  const arrow = text.lastIndexOf(ARROW);
  const start = arrow + ARROW.length;
  const [, hours = '0', minutes = '0', seconds = '0', fraction = '0'] = END.exec(text.slice(start, start + 32)) ?? [];
  return arrow === -1 ? 0 : Number(hours) * 3_600 + Number(minutes) * 60 + Number(`${seconds}.${fraction}`);
}

/** A whole answer as the events of a stream, for vendors that take no notice of being asked for one. */
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
