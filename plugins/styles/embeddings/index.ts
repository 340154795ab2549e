/** The style `embeddings`. Replies are not streamed, and errors have the format of chat. */
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
    // Vendors accept some 300,000 tokens in one request, which may be sent as numbers.
    maxValues: 1_000_000,
    texts: ['input', 'user'],
    about,
  },
  // `read` refuses requests for a stream, so this style has none.
  relay: { patch: patchRequest, answer: readAnswer, finish: finishAnswer },
};
