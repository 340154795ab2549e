/** The styles `transcription` and `translation`: speech to text, in its own language or in English. */
import type { EventKind, JsonObject, RelayOptions, StreamRelay, Style, Usage } from '../../../core/plugin.ts';
import { eventData, isObject, parsed } from '../../../core/translation/index.ts';
import { errorEvent } from '../chat/errors.ts';
import { errorIn } from '../chat/usage.ts';
import { createFormReader } from '../multipart/index.ts';
import { transcriptionStyle as describe } from './about.ts';
import { readAnswer, readText, streamAnswer } from './hearing-answer.ts';
import {
  encodeTranscription,
  measureTranscription,
  readTranscription,
  type TranscriptionOptions,
} from './hearing-request.ts';
import { estimatedUsage, reportedUsage, unfinishedUsage } from './hearing-usage.ts';

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
      texts: ['prompt', 'keywords', 'known_speaker_names'],
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
