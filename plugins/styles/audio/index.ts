/** Audio: the style `speech`, text to speech, and those of speech to text. */
import type { AnswerFacts, JsonBody, Style } from '../../../core/plugin.ts';
import { errorIn } from '../chat/fields/usage.ts';
import { speech as about } from './about.ts';
import { soundType } from './formats.ts';
import { createSpeechRelay } from './speech-relay.ts';
import { patchSpeech, readSpeech, speechFacts } from './speech-request.ts';

export { transcription, translation } from './transcription.ts';

/** `POST /v1/audio/speech`. */
export const speech: Style = {
  name: 'speech',
  ingress: { path: '/v1/audio/speech', read: readSpeech, texts: ['input', 'instructions'], about },
  relay: {
    patch: patchSpeech,
    answer: readAnswer,
    bytesType: (vendors, call) => soundType(vendors, speechFacts(call.body).format),
    stream: createSpeechRelay,
  },
};

/** Audio is never JSON; an error may be. */
function readAnswer(body: JsonBody): AnswerFacts | undefined {
  const error = errorIn({ error: body.get('error') ?? null });
  return error && { usage: undefined, textLength: () => 0, error };
}
