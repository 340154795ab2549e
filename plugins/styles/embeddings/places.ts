/**
 * Offsets of values in JSON that a scan has already validated, found without parsing: lists of texts, tokens and vectors
 * have megabytes, of which hardly any must be parsed.
 */

import type { Span } from '../../../core/plugin.ts';
import { behindSpace } from '../../../core/translation/index.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The kind of a value, by its first byte; numbers, `true`, `false` and `null` are `plain`. */
export function kindAt(bytes: Buffer, start: number): 'text' | 'array' | 'object' | 'plain' {
  switch (bytes[start]) {
    case QUOTE:
      return 'text';
    case OPEN_ARRAY:
      return 'array';
    case OPEN_OBJECT:
      return 'object';
    default:
      return 'plain';
  }
}

/** The values of the array that begins at `start`. */
export function* itemsAt(bytes: Buffer, start: number): Generator<Span> {
  let at = behindSpace(bytes, start + 1);
  while (bytes[at] !== CLOSE_ARRAY) {
    const end = endOf(bytes, at);
    yield { start: at, end };
    at = behindSpace(bytes, end);
    if (bytes[at] === COMMA) at = behindSpace(bytes, at + 1);
  }
}

/** The members of the object that begins at `start`. Names are raw JSON, including escapes. */
export function membersAt(bytes: Buffer, start: number): ReadonlyMap<string, Span> {
  const members = new Map<string, Span>();
  let at = behindSpace(bytes, start + 1);
  while (bytes[at] !== CLOSE_OBJECT) {
    const nameEnd = endOf(bytes, at);
    const name = bytes.toString('utf8', at + 1, nameEnd - 1);
    const colon = behindSpace(bytes, nameEnd);
    const value = behindSpace(bytes, colon + 1);
    const end = endOf(bytes, value);
    members.set(name, { start: value, end });
    at = behindSpace(bytes, end);
    if (bytes[at] === COMMA) at = behindSpace(bytes, at + 1);
  }
  return members;
}

/** The offset after the value that begins at `start`. */
function endOf(bytes: Buffer, start: number): number {
  const kind = kindAt(bytes, start);
  if (kind === 'text') return behindText(bytes, start);
  if (kind === 'plain') return behindPlain(bytes, start);
  return behindNested(bytes, start);
}

function behindText(bytes: Buffer, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = bytes.indexOf(QUOTE, at);
    let before = quote;
    while (bytes[before - 1] === BACKSLASH && before > at) before--;
    at = quote + 1;
    if ((quote - before) % 2 === 0) return at;
  }
}

function behindPlain(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    const byte = bytes[at]!;
    if (byte <= 0x20 || byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) return at;
    at++;
  }
}

function behindNested(bytes: Buffer, start: number): number {
  let at = start;
  let depth = 0;
  /** The next bracket that closes an array. */
  let close = 0;
  do {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = behindText(bytes, at);
      continue;
    }
    if (byte === OPEN_ARRAY) {
      if (close < at) close = bytes.indexOf(CLOSE_ARRAY, at);
      if (isFlat(bytes, at, close)) at = close;
      else depth++;
    } else if (byte === OPEN_OBJECT) {
      depth++;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      depth--;
    }
    at++;
  } while (depth > 0);
  return at;
}

/** Vectors and lists of tokens contain neither arrays nor texts, so they end at the next bracket. */
function isFlat(bytes: Buffer, open: number, close: number): boolean {
  const inside = bytes.subarray(open + 1, close);
  return !inside.includes(OPEN_ARRAY) && !inside.includes(QUOTE);
}
