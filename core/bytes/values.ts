/** Helpers to read unvalidated JSON: values of an unexpected type count as missing. */
import type { Json, JsonObject } from '../contracts/formats/json.ts';
import { exactObject, parseExactly } from './exact.ts';
import { isObject } from './fields.ts';
import { isTooDeep } from './json-text.ts';

/** Undefined if the text is not JSON, or is nested too deeply. */
export function parsed(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The same, with exact texts of arguments in it (`exact.ts`). */
export function parsedExactly(text: string): Json | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/** A member of an object; undefined if the value is not an object, or the member is null. */
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

/** A text; empty if the value is not one. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Whether a vendor reports this count; what is below zero counts nothing. */
export function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && value >= 0;
}

/** A token count of a vendor as a whole number; 0 if it is invalid. */
export function tokensIn(value: Json | undefined): number {
  if (typeof value !== 'number' || value <= 0) return 0;
  return Math.min(Math.ceil(value), Number.MAX_SAFE_INTEGER);
}

/** The object without undefined members. */
export function given<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  const some: Partial<T> = {};
  for (const name in members) if (members[name] !== undefined) some[name] = members[name];
  return some as T;
}

/**
 * The object, written as it is here; `{_raw}` contains text that is not JSON, `{value}` JSON that is not an object. No arguments are an empty
 * object, however the model spelled them.
 */
export function argumentsOf(text: string): JsonObject {
  if (isNoArguments(text)) return {};
  const value = parsed(text);
  if (value === undefined) return { _raw: text };
  return isObject(value) ? exactObject(text, value) : { value };
}

/** Some servers write `null`, an empty list or an empty text for a call without arguments. */
export function isNoArguments(text: string): boolean {
  return /^\s*(null|\[\s*\]|"\s*")?\s*$/.test(text);
}

/** Whether a text that grows may become one of these. */
export function mayBeNoArguments(text: string): boolean {
  return /^\s*(n(u(l(l\s*)?)?)?|\[\s*(\]\s*)?|"\s*("\s*)?)?$/.test(text);
}
