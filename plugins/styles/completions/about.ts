/** OpenAPI schemas of completions. */
import type { StyleAbout } from '../../../core/plugin.ts';
import {
  EVENTS,
  integer,
  integerFrom,
  model,
  objectOf,
  stream,
  streamOptions,
  text,
  tokenUsage,
  upTo,
} from '../described.ts';

const tokens = { type: 'array', items: integer, minItems: 1 };

export const about: StyleAbout = {
  summary: 'Completes a text (legacy).',
  request: objectOf(
    {
      model,
      prompt: {
        anyOf: [
          text,
          { type: 'array', minItems: 1, items: text },
          tokens,
          { type: 'array', minItems: 1, items: tokens },
        ],
      },
      max_tokens: integerFrom(0),
      n: integerFrom(1, 128),
      best_of: integerFrom(1, 128),
      temperature: upTo(2),
      top_p: upTo(1),
      stream,
      stream_options: streamOptions,
    },
    ['model', 'prompt'],
  ),
  answer: objectOf(
    {
      id: text,
      object: { const: 'text_completion' },
      created: integer,
      model: text,
      choices: { type: 'array', items: objectOf({ index: integer, text, finish_reason: text }) },
      usage: tokenUsage,
    },
    ['choices'],
  ),
  mediaTypes: [EVENTS],
};
