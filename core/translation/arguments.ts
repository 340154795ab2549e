/** What a model wrote as the arguments of a tool, for styles in which they are an object. */
import type { Json, JsonObject } from '../contracts/call.ts';
import { isObject } from './fields.ts';

/** The object; `{_raw}` holds what is not JSON, `{value}` what is no object. */
export function argumentsOf(text: string): JsonObject {
  if (text.trim() === '') return {};
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : { value };
  } catch {
    return { _raw: text };
  }
}
