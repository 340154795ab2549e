/** Completion requests: validates what the gateway needs. */
import type { CallFacts, Json, JsonBody } from '../../../core/plugin.ts';
import type { Fields } from '../../../core/translation/index.ts';
import { checkNumber, fieldsIn, modelOf, wholeNumberIn } from '../request-fields.ts';

/** The fields that the gateway reads. */
const NAMES = ['model', 'prompt', 'temperature', 'top_p', 'stream', 'stream_options', 'max_tokens', 'n', 'best_of'];

/** Reads the body. Refuses with 400 and the field's name; `null` counts as omitted. */
export function readRequest(body: JsonBody): CallFacts {
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
