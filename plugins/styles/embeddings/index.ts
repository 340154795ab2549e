/** The style `embeddings`: texts become vectors. Answers are whole, and errors are spelled as those of chat. */
import type { Style } from '../../../core/plugin.ts';
import { about } from './about.ts';
import { finishAnswer, readAnswer } from './answer.ts';
import { patchRequest, readRequest } from './request.ts';

/** `POST /v1/embeddings`. */
export const embeddings: Style = {
  name: 'embeddings',
  ingress: {
    path: '/v1/embeddings',
    read: readRequest,
    // Vendors take some 300,000 tokens at once, which may come as numbers.
    maxValues: 1_000_000,
    texts: ['input', 'user'],
    about,
  },
  // `read` refuses requests for a stream, so this one has none.
  relay: { patch: patchRequest, answer: readAnswer, finish: finishAnswer },
};
