/** The style `embeddings`: texts become vectors. Answers are whole, and errors are spelled as those of chat. */
import { errorObject, type Style } from '../../../core/plugin.ts';
import { errorEvent } from '../chat/errors.ts';
import { createRelay } from '../chat/relay.ts';
import { about } from './about.ts';
import { finishAnswer, readAnswer } from './answer.ts';
import { patchRequest, readRequest } from './request.ts';

/** `POST /v1/embeddings`. */
export const embeddings: Style = {
  name: 'embeddings',
  path: '/v1/embeddings',
  // Vendors take some 300,000 tokens at once, which may come as numbers.
  maxValues: 1_000_000,
  about,
  read: readRequest,
  patch: patchRequest,
  answer: readAnswer,
  finish: finishAnswer,
  // Nobody can ask for a stream here.
  relay: createRelay,
  error: (error) => errorObject(error),
  errorEvent,
  keepAlive: ': keep-alive\n\n',
  texts: ['input', 'user'],
};
