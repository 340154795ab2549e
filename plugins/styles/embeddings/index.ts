/** The style `embeddings`. Replies are not streamed, and errors have the format of chat. */
import type { Style, StyleAbout } from '../../../core/plugin.ts';
import { integer, integerFrom, model, objectOf, optional, text } from '../described.ts';
import { finishAnswer, readAnswer } from './answer.ts';
import { patchRequest, readRequest } from './request.ts';

const tokens = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } };

const about: StyleAbout = {
  summary: 'Creates embeddings.',
  request: objectOf(
    {
      model,
      input: {
        description: 'A text, up to 2,048 texts, the tokens of a text, or those of several.',
        anyOf: [
          { type: 'string', minLength: 1 },
          { type: 'array', minItems: 1, maxItems: 2_048, items: { type: 'string', minLength: 1 } },
          tokens,
          { type: 'array', minItems: 1, maxItems: 2_048, items: tokens },
        ],
      },
      encoding_format: optional({ enum: ['float', 'base64'] }),
      dimensions: integerFrom(1),
      user: optional(text),
    },
    ['model', 'input'],
  ),
  answer: objectOf(
    {
      object: { const: 'list' },
      data: {
        type: 'array',
        items: objectOf({ object: { const: 'embedding' }, index: integer, embedding: { type: ['array', 'string'] } }),
      },
      model: text,
      usage: objectOf({ prompt_tokens: integer, total_tokens: integer }),
    },
    ['data'],
  ),
  mediaTypes: [],
};

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
