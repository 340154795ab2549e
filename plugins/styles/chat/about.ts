/** Chat completions, described. */
import type { StyleAbout } from '../../../core/plugin.ts';
import {
  EVENTS,
  flag,
  integer,
  model,
  objectOf,
  optional,
  stream,
  streamOptions,
  text,
  tokenUsage,
  upTo,
  wholeFrom,
} from '../described.ts';

const message = objectOf({ role: text, content: optional({}), tool_calls: { type: 'array' } });

export const about: StyleAbout = {
  summary: 'Answers a conversation: chat completions.',
  request: objectOf(
    {
      model,
      messages: { type: 'array', minItems: 1 },
      temperature: upTo(2),
      top_p: upTo(1),
      max_tokens: wholeFrom(1),
      max_completion_tokens: wholeFrom(1),
      n: wholeFrom(1, 128),
      stream,
      stream_options: streamOptions,
      tools: optional({ description: 'The tools that may be called.', type: 'array' }),
      tool_choice: optional({ description: 'Which of them must be, or may.', type: ['string', 'object'] }),
      parallel_tool_calls: { description: 'Whether several may be called at once.' },
      response_format: optional({
        description: 'The form of the answer: text, JSON, JSON of a schema.',
        type: 'object',
      }),
      reasoning_effort: optional({ description: 'How much the model thinks.', type: 'string' }),
      modalities: optional({ description: 'The kinds of the answer: text, audio.', type: 'array' }),
      audio: optional({ description: 'The voice and the format of a spoken answer.', type: 'object' }),
      stop: { description: 'Where the answer ends.' },
    },
    ['model', 'messages'],
  ),
  answer: objectOf(
    {
      id: text,
      object: { const: 'chat.completion' },
      created: integer,
      model: text,
      choices: {
        type: 'array',
        items: objectOf({ index: integer, message, finish_reason: text, logprobs: optional(flag) }),
      },
      usage: tokenUsage,
    },
    ['choices'],
  ),
  mediaTypes: [EVENTS],
};
