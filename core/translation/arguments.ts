/** What a model wrote as the arguments of a tool, for styles in which they are an object. */
import type { JsonObject } from '../contracts/json.ts';
import { isObject } from './fields.ts';
import { parsed } from './values.ts';

/** The object; `{_raw}` holds what is not JSON, `{value}` what is no object. */
export function argumentsOf(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parsed(text);
  if (value === undefined) return { _raw: text };
  return isObject(value) ? value : { value };
}
