/** The styles `transcription` and `translation`: what is heard is written down, in its own language or in English. */
import type { Style } from '../../../core/plugin.ts';
import { createFormReader } from '../multipart/index.ts';
import { hearing as describe } from './about.ts';
import { readAnswer, readText, streamAnswer } from './hearing-answer.ts';
import { createHearingRelay } from './hearing-relay.ts';
import { type HearingOptions, measureHearing, readHearing, sendHearing } from './hearing-request.ts';

/** Lists that some clients send without the brackets in their names. */
const LISTS = [
  'timestamp_granularities',
  'include',
  'keywords',
  'languages',
  'known_speaker_names',
  'known_speaker_references',
];

/** `POST /v1/audio/transcriptions`. */
export const transcription = hearing('transcription', '/v1/audio/transcriptions', 'Writes down what is said.', {
  formats: ['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json'],
  streams: true,
});

/** `POST /v1/audio/translations`. */
export const translation = hearing('translation', '/v1/audio/translations', 'Writes down in English what is said.', {
  formats: ['json', 'text', 'srt', 'vtt', 'verbose_json'],
  streams: false,
});

function hearing(name: string, path: string, summary: string, options: HearingOptions): Style {
  return {
    name,
    ingress: {
      path,
      read: (body, _request, files) => readHearing(body, files, options),
      form: createFormReader({ only: true, files: { file: { max: 1, required: true } }, repeats: LISTS }),
      measure: measureHearing,
      texts: ['prompt', 'keywords', 'known_speaker_names'],
      about: describe(summary, options.formats, options.streams),
    },
    relay: {
      outgoing: sendHearing,
      answer: readAnswer,
      text: readText,
      streamed: streamAnswer,
      stream: createHearingRelay,
    },
  };
}
