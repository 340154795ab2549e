/** Ids of tool calls in requests that are forwarded in one style: another vendor made them, and not every vendor accepts all letters. */

import { behindSpace, closingQuote } from '../../bytes/json-text.ts';
import type { JsonBody } from '../../contracts/formats/json.ts';
import { aliasesOf } from '../adapt/short-names.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** The rule of a model for ids, as in its quirks. */
interface IdRule {
  readonly id_max: number;
  readonly id_pattern: string;
}

/** The id for a model: itself if it follows the rule, otherwise always the same alias. */
export function callId(id: string, { id_max: max, id_pattern: pattern }: IdRule): string {
  return aliasesOf({ max, pattern }).of(id);
}

/**
 * Whether a request has an id that does not follow the rule, by its bytes: parsing each conversation would be too slow. `name`: the member
 * of a result that refers to its call.
 */
export function hasOddCallIds(body: JsonBody, name: string, rule: IdRule): boolean {
  const mark = `"${name}"`;
  if (!body.holds(mark)) return false;
  const { bytes } = body;
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 1)) {
    const colon = behindSpace(bytes, at + mark.length);
    const start = behindSpace(bytes, colon + 1);
    if (bytes[colon] !== COLON || bytes[start] !== QUOTE) continue;
    const id = bytes.subarray(start + 1, closingQuote(bytes, start + 1));
    if (id.includes(BACKSLASH)) return true;
    const text = id.toString('utf8');
    if (callId(text, rule) !== text) return true;
  }
  return false;
}
