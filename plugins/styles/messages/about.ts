/** Messages, described. */
import type { StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, integer, model, objectOf, optional, stream, text, upTo } from '../described.ts';

const message = objectOf({ role: { enum: ['user', 'assistant', 'system'] }, content: { type: ['string', 'array'] } }, [
  'role',
  'content',
]);

export const about: StyleAbout = {
  summary: 'Answers a conversation: messages. Wants the header of its version, a date.',
  request: objectOf(
    {
      model,
      messages: { type: 'array', minItems: 1, items: message },
      max_tokens: { description: 'The most tokens that the answer may have.', type: 'integer', minimum: 0 },
      system: optional({ description: 'What the model is told before the conversation.', type: ['string', 'array'] }),
      temperature: upTo(1),
      top_p: upTo(1),
      stream,
      tools: optional({ description: 'The tools that may be called.', type: 'array' }),
      tool_choice: optional({ description: 'Which of them must be, or may.', type: 'object' }),
      thinking: optional({ description: 'Whether and how much the model thinks.', type: 'object' }),
      stop_sequences: optional({ description: 'Where the answer ends.', type: 'array' }),
    },
    ['model', 'messages', 'max_tokens'],
  ),
  answer: objectOf(
    {
      id: text,
      type: { const: 'message' },
      role: { const: 'assistant' },
      model: text,
      content: { type: 'array' },
      stop_reason: { type: ['string', 'null'] },
      usage: objectOf({
        input_tokens: integer,
        output_tokens: integer,
        cache_creation_input_tokens: integer,
        cache_read_input_tokens: integer,
      }),
    },
    ['content'],
  ),
  mediaTypes: [EVENTS],
};
