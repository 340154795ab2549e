/** What the styles of this folder read alike in requests, and in which words they refuse it. */

import { invalidField } from '../../core/contracts/errors.ts';
import type { JsonBody } from '../../core/plugin.ts';
import { type Fields, readFields } from '../../core/translation/index.ts';

/** Some members of a body; the others, which may be long, are not parsed. */
export function fieldsIn(body: JsonBody, names: readonly string[]): Fields {
  return readFields(Object.fromEntries(names.map((name) => [name, body.get(name) ?? null])), '');
}

/** The model's name. Refuses with 400 where there is none. */
export function modelIn(fields: Fields): string {
  const model = fields.text('model') ?? '';
  return model !== '' && model.length <= 256
    ? model
    : fields.wrong('model', 'must be the name of a model, a string of 1 to 256 characters');
}

/** One of a few words, or undefined where nothing is said. Refuses another with 400, and names them. */
export function wordIn<Word extends string>(fields: Fields, name: string, words: readonly Word[]): Word | undefined {
  const text = fields.text(name);
  if (text === undefined) return undefined;
  return words.find((word) => word === text) ?? fields.wrong(name, `must be one of ${words.join(', ')}`);
}

/** A whole number, or undefined where nothing is said. Refuses another with 400. */
export function wholeNumberIn(fields: Fields, name: string, lowest: number, highest?: number): number | undefined {
  const value = fields.number(name);
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && value >= lowest && value <= (highest ?? value)) return value;
  const range = highest === undefined ? `of ${lowest} or more` : `from ${lowest} to ${highest}`;
  return fields.wrong(name, `must be a whole number ${range}`);
}

/** Refuses a request with 400 because of `param`, a place in it; `should` ends the sentence that begins with it. */
export function wrong(param: string, should: string): never {
  throw invalidField(param, should);
}
