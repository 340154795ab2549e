/** What one side holds and the other has no place for, where all styles name it alike: nothing vanishes silently. */

import type { Citation, Reasoning, WebSearch } from '../contracts/conversation.ts';
import type { Json, JsonObject } from '../contracts/json.ts';
import type { Losses } from '../contracts/style.ts';
import { isObject } from './fields.ts';

/** Of a vendor's answer: names the members that are not among those `read`. `told` remembers, for a stream whose every event has the same ones. */
export function omitRest(
  object: JsonObject,
  read: ReadonlySet<string>,
  losses: Pick<Losses, 'omit'>,
  told?: Set<string>,
): void {
  for (const name in object) {
    if (read.has(name) || told?.has(name) || isBlank(object[name]!)) continue;
    told?.add(name);
    losses.omit(name);
  }
}

/** Nothing is said by it: some servers and libraries spell out every member they know. */
export function isBlank(value: Json): boolean {
  if (value === null || value === '' || value === false || value === 0) return true;
  return typeof value === 'object' && Object.values(value).every(isBlank);
}

/** Which words of the answer it belongs to: told in every style that tells places at all, though counted in another way. */
const PLACES: ReadonlySet<string> = new Set(['start_index', 'end_index', 'startIndex', 'endIndex']);

/** Names what the vendor says about a source that `written` does not: the form in which a client of another style gets it. */
export function omitUnsaid({ raw }: Citation, written: JsonObject, losses: Losses): void {
  if (raw === written) return;
  const said = new Set(scalarsIn(written).map(([, value]) => value));
  const hasPlace = scalarsIn(written).some(([name]) => PLACES.has(name));
  for (const [name, value] of scalarsIn(raw)) {
    const isSaid = said.has(value) || name === 'type' || (hasPlace && PLACES.has(name));
    if (!isSaid && value !== null && value !== '') losses.omit(`citations.${name}`);
  }
}

/** How long the story of a thought is to be has no word where thoughts are shown or not. */
export function dropSummaryLength({ summary }: Reasoning, losses: Losses): void {
  if (summary === 'concise' || summary === 'detailed') losses.drop('reasoning.summary', 'hint');
}

/** What decides only how a tool is told to the model. */
const HINTS: ReadonlySet<string> = new Set(['cache_control', 'defer_loading']);

/** Names what a client says about a search in the words of its own style alone. */
export function dropSearchExtras({ extras = {} }: WebSearch, losses: Losses): void {
  for (const name of Object.keys(extras)) losses.drop(`tools.${name}`, HINTS.has(name) ? 'hint' : undefined);
}

/** Every value in it that holds no others, with the member it stands in. */
function scalarsIn(value: Json, name = ''): readonly (readonly [string, Json])[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((item) => scalarsIn(item, name));
  if (!isObject(value)) return [[name, value]];
  return Object.entries(value).flatMap(([member, inner]) => scalarsIn(inner, member));
}
