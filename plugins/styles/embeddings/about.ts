/** OpenAPI schemas of embeddings. */
import type { StyleAbout } from '../../../core/plugin.ts';
import { integer, integerFrom, model, objectOf, optional, text } from '../described.ts';

const tokens = { type: 'array', minItems: 1, items: { type: 'integer', minimum: 0 } };

export const about: StyleAbout = {
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
