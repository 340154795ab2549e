/** Reads arbitrary JSON: missing values have a harmless default. */
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';

/** True for a JSON object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
/** The object; an empty one if there is none. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
/** The list; an empty one if there is none. */
export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
/** The objects of a list. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return listOf(value).filter(isObject);
}
/** The text; empty if there is none. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
/** The number; 0 if there is none. */
export function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
/** The JSON of a text; undefined if it is invalid. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
/** Equality, regardless of the order of members. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return isDeepStrictEqual(one, other);
}
/** The start of a value, for a report. */
export function brief(value: Json | undefined, length = 80): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
