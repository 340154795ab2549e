/** The style `speech`: a text is read aloud. */
import { type AnswerFacts, errorObject, type JsonBody, type Style } from '../../../core/plugin.ts';
import { errorEvent } from '../chat/errors.ts';
import { errorIn } from '../chat/usage.ts';
import { speech as about } from './about.ts';
import { soundType } from './formats.ts';
import { createSpeechRelay } from './speech-relay.ts';
import { patchSpeech, readSpeech, speechFacts } from './speech-request.ts';

/** `POST /v1/audio/speech`. */
export const speech: Style = {
  name: 'speech',
  path: '/v1/audio/speech',
  about,
  read: readSpeech,
  patch: patchSpeech,
  answer: readAnswer,
  bytesType: (vendors, call) => soundType(vendors, speechFacts(call.body).format),
  relay: createSpeechRelay,
  error: (error) => errorObject(error),
  errorEvent,
  keepAlive: ': keep-alive\n\n',
  texts: ['input', 'instructions'],
};

/** Sound never comes as JSON; an error may. */
function readAnswer(body: JsonBody): AnswerFacts | undefined {
  const error = errorIn({ error: body.get('error') ?? null });
  return error && { usage: undefined, textLength: () => 0, error };
}
