/** The style `responses`, streamed or not. */
import type { Style, StyleAbout } from '../../../core/plugin.ts';
import { EVENTS, integer, integerFrom, model, objectOf, optional, stream, text, upTo } from '../described.ts';
import { finishAnswer, readAnswer } from './answer.ts';
import { errorEvent } from './errors.ts';
import { runs } from './fields/hosted.ts';
import { createRelay } from './relay.ts';
import { patchRequest, readRequest } from './request.ts';
import { client, vendor } from './translation.ts';

const answerUsage = objectOf({
  input_tokens: integer,
  output_tokens: integer,
  total_tokens: integer,
  prompt_tokens: integer,
  completion_tokens: integer,
});
const input = {
  description: 'Optional with `previous_response_id`, `prompt` or `conversation`.',
  type: ['string', 'array', 'null'],
};
const items = { type: 'array', items: objectOf({ type: text }) };

/** `/v1/responses/compact`. */
const compact: StyleAbout = {
  name: 'compactResponse',
  summary: 'Compacts a conversation: returns items that replace it as the input of the next response.',
  notes: 'Only for models whose vendor has this operation; it is not streamed.',
  request: objectOf({ model, input, instructions: optional(text), previous_response_id: optional(text) }, ['model']),
  answer: objectOf({ id: text, object: text, created_at: integer, output: items, usage: answerUsage }, ['output']),
  mediaTypes: [],
};

const about: StyleAbout = {
  operations: { '/compact': compact },
  summary: 'Creates a response, which may continue an earlier one.',
  request: objectOf(
    {
      model,
      input,
      instructions: optional(text),
      previous_response_id: optional(text),
      max_output_tokens: integerFrom(1),
      temperature: upTo(2),
      top_p: upTo(1),
      truncation: optional({ description: '`auto` or `disabled`.', type: 'string' }),
      stream,
      store: { description: 'Whether the response is kept.' },
      tools: optional({ description: 'The tools that the model may call.', type: 'array', items: objectOf({}) }),
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
      output: items,
      usage: answerUsage,
    },
    ['id', 'status', 'output'],
  ),
  mediaTypes: [EVENTS],
};

/** `POST /v1/responses`. */
export const responses: Style = {
  name: 'responses',
  ingress: { path: '/v1/responses', operations: ['/compact'], read: readRequest, runs, about },
  relay: { patch: patchRequest, answer: readAnswer, finish: finishAnswer, stream: createRelay },
  errors: { event: (error) => errorEvent(error) },
  client,
  vendor,
};
