/** The style `chat`: chat completions, whole and streamed. */
import type { Style, StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, flag, integer, integerFrom, objectOf, optional, sampled, text, tokenUsage } from '../described.ts';
import { readAnswer } from './answer.ts';
import { finishAnswer } from './fields/completion.ts';
import { runs } from './fields/hosted.ts';
import { createRelay } from './relay.ts';
import { mustTranslate, patchRequest, readRequest } from './request.ts';
import { client, vendor } from './translation.ts';

const message = objectOf({ role: text, content: optional({}), tool_calls: { type: 'array', items: objectOf({}) } });

/** A message of a request. */
const said = objectOf(
  {
    role: text,
    content: { description: 'A text, or a list of parts.' },
    name: text,
    tool_call_id: text,
    tool_calls: { type: 'array', items: objectOf({}) },
  },
  ['role'],
);

const about: StyleAbout = {
  summary: 'Creates a chat completion.',
  request: objectOf(
    {
      ...sampled,
      messages: {
        type: 'array',
        minItems: 1,
        items: said,
        description: 'The conversation. `input`, as POST /v1/responses takes it, is accepted in its place.',
        examples: [[{ role: 'user', content: 'Hello' }]],
      },
      max_tokens: integerFrom(1),
      max_completion_tokens: integerFrom(1),
      tools: optional({ description: 'The tools that the model may call.', type: 'array', items: objectOf({}) }),
      tool_choice: optional({ description: 'Which tools the model must or may call.', type: ['string', 'object'] }),
      parallel_tool_calls: { description: 'Whether the model may call several tools at once.' },
      response_format: optional({
        description: 'The format of the answer: text, JSON, or JSON of a schema.',
        type: 'object',
      }),
      reasoning_effort: optional({ description: 'How much the model reasons.', type: 'string' }),
      modalities: optional({ description: 'The output modalities: text, audio.', type: 'array', items: text }),
      audio: optional({ description: 'The voice and the format of an audio answer.', type: 'object' }),
      stop: { description: 'Sequences that end the answer.' },
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

/** `POST /v1/chat/completions`. */
export const chat: Style = {
  name: 'chat',
  ingress: { path: '/v1/chat/completions', read: readRequest, runs, about },
  relay: { patch: patchRequest, mustTranslate, answer: readAnswer, finish: finishAnswer, stream: createRelay },
  errors: { cutsWithVendor: true },
  client,
  vendor,
};
