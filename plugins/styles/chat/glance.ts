/** A summary of one event or one reply, read in a single pass over its bytes: parsing each event of a stream would be too slow. */

import { behindSpace, closingQuote, jsonTextLength } from '../../../core/translation/index.ts';

/** The facts by which the meter decides whether to parse. */
export interface Glance {
  /** Characters of text, reasoning and tool arguments. */
  readonly textLength: number;
  /** True if a choice has a finish reason. */
  readonly finished: boolean;
  /** True if there is an object named `usage` at any depth. */
  readonly usage: boolean;
  /** True if there is a top-level `error` other than null or false, or `object` says that the whole is an error. */
  readonly error: boolean;
  /** True if there is no object: a comment, or `[DONE]`. */
  readonly empty: boolean;
  /** True if every bracket is closed. */
  readonly closed: boolean;
}

type Kind = 'text' | 'part' | 'finish' | 'usage' | 'error' | 'object';

/**
 * The member names that matter, by their length. `text` occurs in content parts and, next to `reasoning`, as a repetition of it, so it is a separate
 * kind.
 */
const NAMES: { readonly name: Buffer; readonly kind: Kind }[][] = [];
for (const [name, kind] of [
  ['content', 'text'],
  ['refusal', 'text'],
  ['reasoning', 'text'],
  ['reasoning_content', 'text'],
  ['arguments', 'text'],
  ['input', 'text'],
  ['text', 'part'],
  ['finish_reason', 'finish'],
  ['usage', 'usage'],
  ['error', 'error'],
  ['object', 'object'],
] as const) {
  NAMES[name.length] = [...(NAMES[name.length] ?? []), { name: Buffer.from(name), kind }];
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const LOWER_E = 0x65;
const LOWER_F = 0x66;
const LOWER_N = 0x6e;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Scans JSON from `start` on. A string is skipped as a whole, and only a string with a colon after it is a name, so text
 * is never mistaken for a member. Invalid JSON yields an incomplete summary, never an exception.
 */
export function glance(bytes: Buffer, start: number): Glance {
  const length = bytes.length;
  let depth = 0;
  let empty = true;
  let finished = false;
  let usage = false;
  let error = false;
  let direct = 0;
  let parts = 0;
  /** The name in the string that comes next. */
  let kind: Kind | undefined;

  for (let at = start; at < length; at++) {
    const byte = bytes[at]!;
    if (byte === OPEN_OBJECT) {
      depth++;
      empty = false;
    } else if (byte === OPEN_ARRAY) {
      depth++;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      depth--;
    } else if (byte === QUOTE) {
      const first = at + 1;
      const end = closingQuote(bytes, first);
      if (kind === 'text') direct += jsonTextLength(bytes, first);
      else if (kind === 'part') parts += jsonTextLength(bytes, first);
      kind = undefined;
      const next = behindSpace(bytes, end + 1);
      if (bytes[next] !== COLON) {
        at = end;
        continue;
      }
      kind = kindOf(bytes, first, end);
      at = behindSpace(bytes, next + 1) - 1;
      if (kind === undefined) continue;
      const value = bytes[at + 1];
      // Some vendors send an empty reason instead of null.
      if (kind === 'finish') finished ||= value === QUOTE && bytes[at + 2] !== QUOTE;
      else if (kind === 'usage') usage ||= value === OPEN_OBJECT;
      else if (kind === 'error') error ||= depth === 1 && value !== LOWER_N && value !== LOWER_F;
      // `"error"`: the `object` of no normal reply starts with this character. The caller parses it to be sure.
      else if (kind === 'object') error ||= depth === 1 && bytes[at + 2] === LOWER_E;
      if (value !== QUOTE) kind = undefined;
    }
  }
  return { textLength: direct > 0 ? direct : parts, finished, usage, error, empty, closed: depth === 0 };
}

function kindOf(bytes: Buffer, start: number, end: number): Kind | undefined {
  const candidates = NAMES[end - start];
  if (candidates === undefined) return undefined;
  for (const { name, kind } of candidates) {
    let i = 0;
    while (i < name.length && bytes[start + i] === name[i]) i++;
    if (i === name.length) return kind;
  }
  return undefined;
}
