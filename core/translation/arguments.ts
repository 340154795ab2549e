/** Parses a model's tool arguments, for styles in which they are an object. */
import type { JsonObject } from '../contracts/json.ts';
import { isObject } from './fields.ts';
import { parsed } from './values.ts';

/** The object; `{_raw}` contains text that is not JSON, `{value}` JSON that is not an object. */
export function argumentsOf(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parsed(text);
  if (value === undefined) return { _raw: text };
  return isObject(value) ? value : { value };
}
