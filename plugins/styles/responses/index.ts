/** The style `responses`, streamed or not. */
import type { Style, StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, integer, integerFrom, model, objectOf, optional, stream, text, upTo } from '../described.ts';
import { finishAnswer, readAnswer } from './answer.ts';
import { client, vendor } from './bridge.ts';
import { errorEvent } from './errors.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';

const about: StyleAbout = {
  summary: 'Creates a response, which may continue an earlier one.',
  request: objectOf(
    {
      model,
      input: {
        description: 'Optional with `previous_response_id`, `prompt` or `conversation`.',
        type: ['string', 'array', 'null'],
      },
      instructions: optional(text),
      previous_response_id: optional(text),
      max_output_tokens: integerFrom(1),
      temperature: upTo(2),
      top_p: upTo(1),
      truncation: optional({ description: '`auto` or `disabled`.', type: 'string' }),
      stream,
      store: { description: 'Whether the response is kept.' },
      tools: optional({ description: 'The tools that the model may call.', type: 'array' }),
      tool_choice: optional({ description: 'Which tools the model must or may call.', type: ['string', 'object'] }),
      reasoning: optional({ description: 'How much the model reasons, and what it shows of it.', type: 'object' }),
      text: { description: 'The format of the answer.' },
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

/** `POST /v1/responses`. */
export const responses: Style = {
  name: 'responses',
  ingress: { path: '/v1/responses', read: readRequest, about },
  relay: { patch: patchRequest, answer: readAnswer, finish: finishAnswer, stream: createRelay },
  errors: { event: (error) => errorEvent(error) },
  client,
  vendor,
};
