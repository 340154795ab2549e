/** The styles `transcription` and `translation`: speech to text, in its own language or in English. */
import type {
  AnswerFacts,
  Call,
  EventKind,
  JsonBody,
  JsonObject,
  RelayOptions,
  StreamRelay,
  Style,
  Usage,
} from '../../../core/plugin.ts';
import { eventData, isObject, objectsIn, parsed } from '../../../core/translation/index.ts';
import { errorEvent } from '../chat/errors.ts';
import { errorIn } from '../chat/fields/usage.ts';
import { createFormReader } from '../multipart/index.ts';
import { transcriptionStyle as describe } from './about.ts';
import {
  encodeTranscription,
  FILES,
  measureTranscription,
  readTranscription,
  type TranscriptionOptions,
} from './transcription-request.ts';
import { estimatedUsage, reportedUsage, unfinishedUsage } from './transcription-usage.ts';

/** Lists that some clients send without brackets in the field name. */
const LISTS = [
  'timestamp_granularities',
  'include',
  'keywords',
  'languages',
  'known_speaker_names',
  'known_speaker_references',
];

/** `POST /v1/audio/transcriptions`. */
export const transcription = transcriptionStyle('transcription', '/v1/audio/transcriptions', 'Transcribes speech.', {
  formats: ['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json'],
  streams: true,
});

/** `POST /v1/audio/translations`. */
export const translation = transcriptionStyle(
  'translation',
  '/v1/audio/translations',
  'Translates speech to English text.',
  {
    formats: ['json', 'text', 'srt', 'vtt', 'verbose_json'],
    streams: false,
  },
);

function transcriptionStyle(name: string, path: string, summary: string, options: TranscriptionOptions): Style {
  return {
    name,
    ingress: {
      path,
      read: (body, _request, files) => readTranscription(body, files, options),
      form: createFormReader({ only: true, files: { file: { max: 1, required: true } }, repeats: LISTS }),
      measure: measureTranscription,
      texts: ['prompt', 'keywords', 'keywords[]', 'known_speaker_names', 'known_speaker_names[]'],
      about: describe(summary, options.formats, options.streams),
    },
    relay: {
      outgoing: encodeTranscription,
      answer: readAnswer,
      text: readText,
      streamed: streamAnswer,
      stream: createTranscriptionRelay,
    },
  };
}

/** Creates a relay for one attempt. */
function createTranscriptionRelay({ call }: RelayOptions): StreamRelay {
  let textLength = 0;
  let begun = false;
  let error: ReturnType<StreamRelay['error']>;
  let usage: Usage | undefined;

  function read(event: JsonObject): EventKind {
    const isLast = event.type === 'transcript.text.done';
    // The transcript of silence is empty.
    if (isLast && typeof event.text === 'string') textLength = Math.max(textLength, event.text.length);
    else if (!isLast && typeof event.delta === 'string') textLength += event.delta.length;
    begun ||= !isLast;
    usage = reportedUsage(call, event, textLength) ?? usage;
    return isLast ? 'last' : 'pass';
  }

  return {
    see(event, out) {
      const data = eventData(event);
      const isEnd = data?.trim() === '[DONE]';
      // A stream that ends without any event is not a reply.
      if (isEnd && !begun) return 'hold';
      out.push(event);
      if (isEnd) return 'last';
      if (data === undefined) return 'hold';
      const value = parsed(data);
      error = errorIn(value);
      if (error !== undefined) return 'error';
      return isObject(value) ? read(value) : 'pass';
    },
    close: () => 'broken',
    fail: errorEvent,
    usage: () => usage ?? estimatedUsage(call, textLength),
    unfinished: (how) => unfinishedUsage(call, textLength, how),
    textLength: () => textLength,
    error: () => error,
  };
}

/** Reads a JSON reply; undefined if it has neither a text nor an error. */
function readAnswer(body: JsonBody, call: Call): AnswerFacts | undefined {
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
function readText(text: string, call: Call): AnswerFacts | undefined {
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
function streamAnswer(body: JsonBody): string | undefined {
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
