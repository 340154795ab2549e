/** The style `messages`, streamed or not. */
import type { HeaderAbout, Style, StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, integer, model, objectOf, optional, stream, text, upTo } from '../described.ts';
import { finishAnswer, readAnswer } from './answer.ts';
import { errorBody, errorEvent, event } from './errors.ts';
import { fits } from './fields/fitting.ts';
import { runs } from './fields/hosted.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';
import { client, vendor } from './translation.ts';

const message = objectOf({ role: { enum: ['user', 'assistant', 'system'] }, content: { type: ['string', 'array'] } }, [
  'role',
  'content',
]);

/** Headers that clients of this style send. */
export const MESSAGES_HEADERS: readonly HeaderAbout[] = [
  {
    name: 'anthropic-version',
    description: 'The version of the format, a date.',
    required: true,
    schema: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
    example: '2023-06-01',
  },
  { name: 'anthropic-beta', description: 'Names of beta features, separated by commas.' },
];

const about: StyleAbout = {
  summary: 'Creates a message.',
  headers: MESSAGES_HEADERS,
  request: objectOf(
    {
      model,
      messages: {
        type: 'array',
        minItems: 1,
        items: message,
        examples: [[{ role: 'user', content: 'Hello' }]],
      },
      max_tokens: { description: 'The maximum tokens of the answer.', type: 'integer', minimum: 0, examples: [1024] },
      system: optional({ description: 'The system prompt.', type: ['string', 'array'] }),
      temperature: upTo(1),
      top_p: upTo(1),
      stream,
      tools: optional({ description: 'The tools that the model may call.', type: 'array', items: objectOf({}) }),
      tool_choice: optional({ description: 'Which tools the model must or may call.', type: 'object' }),
      thinking: optional({ description: 'Whether and how much the model reasons.', type: 'object' }),
      stop_sequences: optional({ description: 'Sequences that end the answer.', type: 'array', items: text }),
    },
    ['model', 'messages', 'max_tokens'],
  ),
  answer: objectOf(
    {
      id: text,
      type: { const: 'message' },
      role: { const: 'assistant' },
      model: text,
      content: { type: 'array', items: objectOf({ type: text }) },
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

/** The body of `POST /v1/messages/count_tokens`. */
export const COUNTED = objectOf(
  {
    model,
    messages: {
      type: 'array',
      minItems: 1,
      items: message,
      examples: [[{ role: 'user', content: 'Hello' }]],
    },
    system: optional({ description: 'The system prompt.', type: ['string', 'array'] }),
    tools: optional({ description: 'The tools that the model may call.', type: 'array', items: objectOf({}) }),
  },
  ['model', 'messages'],
);

/** `POST /v1/messages`. */
export const messages: Style = {
  name: 'messages',
  ingress: {
    path: '/v1/messages',
    read: readRequest,
    runs,
    headers: { 'anthropic-version': '2023-06-01' },
    idHeader: 'request-id',
    headerAliases: {
      'x-ratelimit-limit-requests': 'anthropic-ratelimit-requests-limit',
      'x-ratelimit-remaining-requests': 'anthropic-ratelimit-requests-remaining',
      'x-ratelimit-limit-tokens': 'anthropic-ratelimit-tokens-limit',
      'x-ratelimit-remaining-tokens': 'anthropic-ratelimit-tokens-remaining',
    },
    // SSE comments would do, but clients of this style expect `ping`.
    keepAlive: event('ping'),
    about,
  },
  relay: {
    patch: patchRequest,
    mustTranslate: (body, quirks, isAnother) => isAnother && !fits(body, quirks),
    answer: readAnswer,
    finish: finishAnswer,
    stream: createRelay,
  },
  errors: { body: errorBody, event: errorEvent, overloadedStatus: 529, cutsWithVendor: true },
  client,
  vendor,
};
