/** Helpers for reading requests, shared by the styles of this folder, with the same error messages. */

import { invalidField } from '../../core/contracts/errors.ts';
import { askedAs } from '../../core/contracts/formats/uses.ts';
import type { Json, JsonBody, ServedAs, Warnings } from '../../core/plugin.ts';
import { type Fields, given, type Labels, readFields } from '../../core/translation/index.ts';

/** Some members of a body; the others, which may be long, are not parsed. */
export function fieldsIn(body: JsonBody, names: readonly string[]): Fields {
  return readFields(Object.fromEntries(names.map((name) => [name, body.get(name) ?? null])), '');
}

/** The value of `model`, validated. Refuses with 400 if it is missing. */
export function modelOf(value: Json | undefined): string {
  if (typeof value === 'string' && value !== '' && value.length <= 256) return value;
  wrong('model', 'must be the name of a model, a string of 1 to 256 characters');
}

/** The service options that a request chooses. */
export function serviceOf(body: JsonBody): ServedAs | undefined {
  if (!body.has('service_tier') && !body.has('speed') && !body.has('inference_geo')) return undefined;
  const chosen = (name: string): Json | undefined => (body.has(name) ? body.get(name) : undefined);
  return askedAs({ tier: chosen('service_tier'), speed: chosen('speed'), region: chosen('inference_geo') });
}

/** One of these words, or undefined if omitted. Refuses any other with 400. */
export function enumIn<Word extends string>(fields: Fields, name: string, words: readonly Word[]): Word | undefined {
  const text = fields.text(name);
  if (text === undefined) return undefined;
  return words.find((word) => word === text) ?? fields.wrong(name, `must be one of ${words.join(', ')}`);
}

/** A whole number, or undefined if omitted. Refuses any other value with 400. */
export function wholeNumberIn(fields: Fields, name: string, lowest: number, highest?: number): number | undefined {
  const value = fields.number(name);
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && value >= lowest && value <= (highest ?? value)) return value;
  const range = highest === undefined ? `of ${lowest} or more` : `from ${lowest} to ${highest}`;
  return fields.wrong(name, `must be a whole number ${range}`);
}

/** Refuses with 400 a value that is not a number from 0 to this maximum; it may be omitted. */
export function checkNumber(value: Json | undefined, name: string, highest: number): void {
  if (value === undefined || value === null || (typeof value === 'number' && value >= 0 && value <= highest)) return;
  wrong(name, `must be a number from 0 to ${highest}`);
}

/** Decodes metadata of the request. */
export function readLabels(fields: Fields, warnings: Warnings): Labels {
  const [safety, user] = [fields.text('safety_identifier'), fields.text('user')];
  if (safety !== undefined && user !== undefined && safety !== user) warnings.drop('user', 'hint');
  return given<Labels>({
    user: safety ?? user,
    metadata: fields.object('metadata'),
    cacheKey: fields.text('prompt_cache_key'),
    serviceTier: fields.text('service_tier'),
    store: fields.flag('store'),
  });
}

/**
 * Creates a function that reports the unread members of one object of a request; `place` is its path: `messages`,
 * `tools`. `isHint`: dropping the member does not change the answer; `isOmitted`: it is not reported at all.
 */
export function restReporter(
  isHint: (name: string, value: Json) => boolean,
  isOmitted: (value: Json) => boolean = () => false,
) {
  return (fields: Fields, place: string, warnings: Warnings): void => {
    for (const [name, value] of Object.entries(fields.rest())) {
      if (!isOmitted(value)) warnings.drop(`${place}.${name}`, isHint(name, value) ? 'hint' : undefined);
    }
  };
}

/** Refuses a request with 400 because of `param`, a path in it; `should` ends the sentence that begins with it. */
export function wrong(param: string, should: string): never {
  throw invalidField(param, should);
}
