/** The style `messages`, streamed or not. */
import type { Style, StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, integer, model, objectOf, optional, stream, text, upTo } from '../described.ts';
import { finishAnswer, readAnswer } from './answer.ts';
import { client, vendor } from './bridge.ts';
import { errorBody, errorEvent, event } from './errors.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';

const message = objectOf({ role: { enum: ['user', 'assistant', 'system'] }, content: { type: ['string', 'array'] } }, [
  'role',
  'content',
]);

const about: StyleAbout = {
  summary: 'Creates a message. Requires the header anthropic-version, a date.',
  request: objectOf(
    {
      model,
      messages: { type: 'array', minItems: 1, items: message },
      max_tokens: { description: 'The maximum tokens of the answer.', type: 'integer', minimum: 0 },
      system: optional({ description: 'The system prompt.', type: ['string', 'array'] }),
      temperature: upTo(1),
      top_p: upTo(1),
      stream,
      tools: optional({ description: 'The tools that the model may call.', type: 'array' }),
      tool_choice: optional({ description: 'Which tools the model must or may call.', type: 'object' }),
      thinking: optional({ description: 'Whether and how much the model reasons.', type: 'object' }),
      stop_sequences: optional({ description: 'Sequences that end the answer.', type: 'array' }),
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

/** `POST /v1/messages`. */
export const messages: Style = {
  name: 'messages',
  ingress: {
    path: '/v1/messages',
    read: readRequest,
    headers: { 'anthropic-version': '2023-06-01' },
    idHeader: 'request-id',
    // SSE comments would do, but clients of this style expect `ping`.
    keepAlive: event('ping'),
    about,
  },
  relay: { patch: patchRequest, answer: readAnswer, finish: finishAnswer, stream: createRelay },
  errors: { body: errorBody, event: errorEvent, overloadedStatus: 529 },
  client,
  vendor,
};
