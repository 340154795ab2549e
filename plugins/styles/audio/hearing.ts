/** The styles `transcription` and `translation`: speech to text, in its own language or in English. */
import type { Style } from '../../../core/plugin.ts';
import { createFormReader } from '../multipart/index.ts';
import { transcriptionStyle as describe } from './about.ts';
import { readAnswer, readText, streamAnswer } from './hearing-answer.ts';
import { createTranscriptionRelay } from './hearing-relay.ts';
import {
  encodeTranscription,
  measureTranscription,
  readTranscription,
  type TranscriptionOptions,
} from './hearing-request.ts';

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
