/**
 * The style `completions`: legacy text completion. Its replies, streams and errors have the framing of chat, so the same
 * code reads them.
 */

import { remembered } from '../../../core/contracts/formats/uses.ts';
import type { CallFacts, Json, JsonBody, Style, StyleAbout } from '../../../core/plugin.ts';
import { answerLimits, type Fields } from '../../../core/translation/index.ts';
import { readAnswer } from '../chat/answer.ts';
import { finishAnswer } from '../chat/fields/completion.ts';
import { createRelay } from '../chat/relay.ts';
import { patchCommon } from '../chat/request.ts';
import { EVENTS, integer, integerFrom, objectOf, sampled, text, tokenUsage } from '../described.ts';
import { checkNumber, fieldsIn, modelOf, serviceOf, wholeNumberIn } from '../request-fields.ts';
import { askedUses, boundsOfUses, mayAsk } from '../search-members.ts';
import { reader } from './stream-decoder.ts';
import { client } from './translation.ts';

const tokens = { type: 'array', items: integer, minItems: 1 };

const about: StyleAbout = {
  summary: 'Completes a text (legacy).',
  request: objectOf(
    {
      ...sampled,
      prompt: {
        anyOf: [
          text,
          { type: 'array', minItems: 1, items: text },
          tokens,
          { type: 'array', minItems: 1, items: tokens },
        ],
      },
      max_tokens: integerFrom(0),
      best_of: integerFrom(1, 128),
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

/** The fields that the gateway reads. */
const NAMES = ['model', 'prompt', 'temperature', 'top_p', 'stream', 'stream_options', 'max_tokens', 'n', 'best_of'];

/** Reads the body. Refuses with 400 and the field's name; `null` counts as omitted. */
function readRequest(body: JsonBody): CallFacts {
  const fields: Fields = fieldsIn(body, NAMES);
  const model = modelOf(fields.text('model'));
  const prompts = countPrompts(fields.get('prompt'));
  if (prompts === undefined) {
    fields.wrong('prompt', 'must be a text, a list of texts, a list of tokens or a list of those');
  }
  checkNumber(fields.number('temperature'), 'temperature', 2);
  checkNumber(fields.number('top_p'), 'top_p', 1);
  const stream = fields.flag('stream') ?? false;
  const options = fields.object('stream_options');
  const limit = wholeNumberIn(fields, 'max_tokens', 0);
  const n = wholeNumberIn(fields, 'n', 1, 128) ?? 1;
  const uses = mayAsk(body, model) ? remembered(() => boundsOfUses(askedUses(body, model))) : undefined;
  // All of them are generated and billed before the best are chosen.
  const written = Math.max(n, wholeNumberIn(fields, 'best_of', 1, 128) ?? 1) * prompts;
  return {
    model,
    stream,
    asksUsage: options?.include_usage === true,
    bounds: {
      inputBytes: body.textBytes,
      media: body.media,
      outputTokens: limit === undefined ? undefined : limit * written,
      choices: written,
      service: serviceOf(body),
      ...(uses !== undefined && { open: () => uses() !== undefined, uses }),
    },
  };
}

/** The number of prompts; undefined if the value is invalid. */
function countPrompts(prompt: Json | undefined): number | undefined {
  if (typeof prompt === 'string') return 1;
  if (!Array.isArray(prompt) || prompt.length === 0) return undefined;
  if (isTokens(prompt)) return 1;
  const isList = prompt.every((each) => typeof each === 'string') || prompt.every(isTokens);
  return isList ? prompt.length : undefined;
}

function isTokens(value: Json): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(Number.isInteger);
}

/** `POST /v1/completions`. */
export const completions: Style = {
  name: 'completions',
  ingress: {
    path: '/v1/completions',
    read: readRequest,
    texts: ['prompt', 'suffix', 'stop', 'user'],
    about,
  },
  relay: {
    patch: (body, to) => ({ ...patchCommon(body, to), ...answerLimits(body, ['max_tokens'], to) }),
    answer: readAnswer,
    finish: finishAnswer,
    stream: createRelay,
    reader,
  },
  errors: { cutsWithVendor: true },
  client,
};
