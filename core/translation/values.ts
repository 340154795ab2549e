/** Small readings of JSON that nobody has checked: what is not as expected is not there. */
import type { Json, JsonObject } from '../contracts/json.ts';
import { isTooDeep } from '../json-text.ts';
import { isObject } from './fields.ts';

/** Undefined where the text is not JSON, or is nested deeper than any vendor means it. */
export function parsed(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A member of an object; undefined where the value is none, or the member is null. */
export function member(value: Json | undefined, name: string): Json | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? (value[name] ?? undefined) : undefined;
}

const NO_OBJECTS: readonly JsonObject[] = [];

/** The objects in a member that is a list. */
export function objectsIn(value: Json | undefined, name: string): readonly JsonObject[] {
  const found = member(value, name);
  return Array.isArray(found) ? (found as readonly Json[]).filter(isObject) : NO_OBJECTS;
}

/** A member that is a text. */
export function textIn(value: Json | undefined, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === 'string' ? found : undefined;
}

/** A text; empty if the value is none. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Tokens as a vendor counts them: a whole number, whatever stands there; 0 where nothing is counted. */
export function tokensIn(value: Json | undefined): number {
  if (typeof value !== 'number' || value <= 0) return 0;
  return Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER);
}

/** The object without the members that are undefined. */
export function given<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  const some: Partial<T> = {};
  for (const name in members) if (members[name] !== undefined) some[name] = members[name];
  return some as T;
}
