/** Looks into JSON that may be anything: every question has a harmless answer. */
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../core/contracts/json.ts';

/** True for what JSON calls an object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
/** The object; an empty one where there is none. */
export function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}
/** The list; an empty one where there is none. */
export function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
/** The objects of a list. */
export function objectsOf(value: Json | undefined): readonly JsonObject[] {
  return listOf(value).filter(isObject);
}
/** The text; empty where there is none. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
/** The number; 0 where there is none. */
export function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
/** What the text says as JSON; undefined where it is none. */
export function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
/** The same value, whatever the order of members. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return isDeepStrictEqual(one, other);
}
/** The beginning of a value, for a line that people read. */
export function brief(value: Json | undefined, length = 80): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= length ? text : `${text.slice(0, length)}…`;
}
