/** Reports fields that the other side cannot express and all styles name alike: nothing is dropped silently. */

import { isObject } from '../../bytes/fields.ts';
import type { Citation, Reasoning, WebSearch } from '../../contracts/formats/conversation.ts';
import type { Json, JsonObject } from '../../contracts/formats/json.ts';
import type { Warnings } from '../../contracts/formats/warnings.ts';

/** Reports members of a vendor's answer that are not in `read`; in a stream, those not in `reported` either. */
export function omitRest(
  object: JsonObject,
  read: ReadonlySet<string>,
  warnings: Pick<Warnings, 'omit'>,
  reported?: Set<string>,
): void {
  for (const name in object) {
    if (read.has(name) || reported?.has(name) || isBlank(object[name]!)) continue;
    reported?.add(name);
    warnings.omit(name);
  }
}

/** Empty values: some servers and libraries include every member they know. */
export function isBlank(value: Json): boolean {
  if (value === null || value === '' || value === false || value === 0) return true;
  return typeof value === 'object' && Object.values(value).every(isBlank);
}

/** The cited range of the answer: every style with ranges can express it, with different offsets. */
const PLACES: ReadonlySet<string> = new Set(['start_index', 'end_index', 'startIndex', 'endIndex']);

/** Reports fields of a vendor's citation that `written`, the encoded form for the client, does not contain. */
export function omitUnsaid({ raw }: Citation, written: JsonObject, warnings: Warnings): void {
  if (raw === written) return;
  const covered = new Set(scalarsIn(written).map(([, value]) => value));
  const hasPlace = scalarsIn(written).some(([name]) => PLACES.has(name));
  for (const [name, value] of scalarsIn(raw)) {
    const isCovered = covered.has(value) || name === 'type' || (hasPlace && PLACES.has(name));
    if (!isCovered && value !== null && value !== '') warnings.omit(`citations.${name}`);
  }
}

/** Fields of other styles that do not change the answer. */
const WITHOUT_EFFECT: ReadonlySet<string> = new Set([
  'client_metadata',
  'include',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'stream_options',
]);

/** Reports fields that only the client's style has. */
export function leaveExtras(extras: object, warnings: Warnings): void {
  for (const name of Object.keys(extras)) warnings.leave(name, WITHOUT_EFFECT.has(name) ? 'hint' : undefined);
}

/** The verbosity of a reasoning summary cannot be expressed by styles that only show or hide reasoning. */
export function dropSummaryLength({ summary }: Reasoning, warnings: Warnings): void {
  if (summary === 'concise' || summary === 'detailed') warnings.drop('reasoning.summary', 'hint');
}

/** Fields that only affect how a tool is presented to the model. */
const HINTS: ReadonlySet<string> = new Set(['cache_control', 'defer_loading']);

/** Reports search options that only the client's style has. */
export function dropSearchExtras({ extras = {} }: WebSearch, warnings: Warnings): void {
  for (const name of Object.keys(extras)) warnings.drop(`tools.${name}`, HINTS.has(name) ? 'hint' : undefined);
}

/** Every leaf value, with the member that contains it. */
function scalarsIn(value: Json, name = ''): readonly (readonly [string, Json])[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item) => scalarsIn(item, name));
  if (!isObject(value)) return [[name, value]];
  return Object.entries(value).flatMap(([member, inner]) => scalarsIn(inner, member));
}
