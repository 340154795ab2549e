/** Completion requests: what is asked, checked as far as the gateway must understand it. */
import type { CallFacts, Json, JsonBody } from '../../../core/plugin.ts';
import { type Fields, readFields } from '../../../core/translation/index.ts';

/** Everything that is looked at before the vendor sees it. */
const NAMES = ['model', 'prompt', 'temperature', 'top_p', 'stream', 'stream_options', 'max_tokens', 'n', 'best_of'];

/** What the body asks for. Refuses with 400 and the field's name; `null` counts as left out. */
export function readRequest(body: JsonBody): CallFacts {
  const fields: Fields = readFields(Object.fromEntries(NAMES.map((name) => [name, body.get(name) ?? null])), '');
  const model = fields.text('model') ?? '';
  if (model === '' || model.length > 256) {
    fields.wrong('model', 'must be the name of a model, a string of 1 to 256 characters');
  }
  const prompts = countPrompts(fields.get('prompt'));
  if (prompts === undefined) {
    fields.wrong('prompt', 'must be a text, a list of texts, a list of tokens or a list of those');
  }
  checkNumber(fields, 'temperature', 2);
  checkNumber(fields, 'top_p', 1);
  const stream = fields.flag('stream') ?? false;
  const options = fields.object('stream_options');
  const limit = wholeNumber(fields, 'max_tokens', 0);
  const n = wholeNumber(fields, 'n', 1, 128) ?? 1;
  // All of them are written, and paid for, before the best are chosen.
  const written = Math.max(n, wholeNumber(fields, 'best_of', 1, 128) ?? 1) * prompts;
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

/** How many texts are to go on; undefined where it is nothing of the kind. */
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

function checkNumber(fields: Fields, name: string, highest: number): void {
  const value = fields.number(name);
  if (value !== undefined && (value < 0 || value > highest))
    fields.wrong(name, `must be a number from 0 to ${highest}`);
}

function wholeNumber(fields: Fields, name: string, lowest: number, highest?: number): number | undefined {
  const value = fields.number(name);
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && value >= lowest && value <= (highest ?? value)) return value;
  const range = highest === undefined ? `of ${lowest} or more` : `from ${lowest} to ${highest}`;
  return fields.wrong(name, `must be a whole number ${range}`);
}
