/** Responses, described. */
import type { StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, integer, model, objectOf, optional, stream, text, upTo, wholeFrom } from '../described.ts';

export const about: StyleAbout = {
  summary: 'Answers a text or a list of items, and can go on from an earlier answer: responses.',
  request: objectOf(
    {
      model,
      input: {
        description:
          'May be left out where `previous_response_id`, `prompt` or `conversation` says what is to be answered.',
        type: ['string', 'array', 'null'],
      },
      instructions: optional(text),
      previous_response_id: optional(text),
      max_output_tokens: wholeFrom(1),
      temperature: upTo(2),
      top_p: upTo(1),
      truncation: optional({ description: '`auto` or `disabled`.', type: 'string' }),
      stream,
      store: { description: 'Whether the answer is kept.' },
      tools: optional({ description: 'The tools that may be called.', type: 'array' }),
      tool_choice: optional({ description: 'Which of them must be, or may.', type: ['string', 'object'] }),
      reasoning: optional({ description: 'How much the model thinks, and what it shows of it.', type: 'object' }),
      text: { description: 'The form of the answer.' },
    },
    ['model'],
  ),
  answer: objectOf(
    {
      id: text,
      object: { const: 'response' },
      created_at: integer,
      status: text,
      model: text,
      output: { type: 'array' },
      usage: objectOf({
        input_tokens: integer,
        output_tokens: integer,
        total_tokens: integer,
        prompt_tokens: integer,
        completion_tokens: integer,
      }),
    },
    ['id', 'status', 'output'],
  ),
  mediaTypes: [EVENTS],
};
