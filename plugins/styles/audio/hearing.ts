/** The styles `transcription` and `translation`: what is heard is written down, in its own language or in English. */
import { errorObject, type Style } from '../../../core/plugin.ts';
import { errorEvent } from '../chat/errors.ts';
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
    path,
    about: describe(summary, options.formats, options.streams),
    form: createFormReader({ only: true, files: { file: { max: 1, required: true } }, repeats: LISTS }),
    read: (body, _headers, files) => readHearing(body, files, options),
    measure: measureHearing,
    patch: (body, { model }) => (body.get('model') === model ? {} : { model: JSON.stringify(model) }),
    outgoing: sendHearing,
    answer: readAnswer,
    text: readText,
    streamed: streamAnswer,
    relay: createHearingRelay,
    error: (error) => errorObject(error),
    errorEvent,
    keepAlive: ': keep-alive\n\n',
    texts: ['prompt', 'keywords', 'known_speaker_names'],
  };
}
