/** JSON in its bytes: measured without parsing, because a stream has too many events; short texts from a cache. */

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Maximum nesting: no valid answer is deeper, and a deeper one would overflow the stack of recursive code. */
export const MAX_ANSWER_DEPTH = 512;

/** Whether the JSON of an answer, or of an event with its field names, is nested too deeply. Short text cannot be. */
export function isTooDeep(json: Buffer | string): boolean {
  if (json.length < 2 * MAX_ANSWER_DEPTH) return false;
  const bytes = typeof json === 'string' ? Buffer.from(json) : json;
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = closingQuote(bytes, at + 1);
    else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) depth--;
    if (depth > MAX_ANSWER_DEPTH) return true;
  }
  return false;
}

/** Number of characters of the string that starts at `start`, after its quote; an unclosed one ends with the bytes. */
export function jsonTextLength(bytes: Buffer, start: number): number {
  let count = 0;
  for (let at = start; at < bytes.length && bytes[at] !== QUOTE; at++) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH) {
      const isUnicode = bytes[at + 1] === LOWER_U;
      if (!isUnicode || !isLowSurrogate(bytes, at + 2)) count++;
      at += isUnicode ? 5 : 1;
    } else if ((byte & 0xc0) !== 0x80) {
      // The second and later bytes of a character do not count.
      count++;
    }
  }
  return count;
}

/** A low surrogate escape, `dc00` to `dfff`: together with the high one it is one character. */
function isLowSurrogate(bytes: Buffer, at: number): boolean {
  const letter = bytes[at + 1]! | 0x20;
  return (bytes[at]! | 0x20) === 0x64 && letter >= 0x63 && letter <= 0x66;
}

/** The first position from `start` on that is not white space. */
export function behindSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at]! <= SPACE) at++;
  return at;
}

/** The position of the closing quote of the string whose text starts at `start`; without one, the end of the bytes. */
export function closingQuote(bytes: Buffer, start: number): number {
  let at = start;
  let byte = bytes[at];
  while (byte !== QUOTE && byte !== undefined) {
    if (byte === BACKSLASH) at++;
    byte = bytes[++at];
  }
  return at;
}

/** Longer texts are rarely repeated. */
const LONGEST = 64;
/** A power of two. A text that falls into an occupied slot replaces it. */
const PLACES = 1_024;
const words: string[] = new Array(PLACES).fill('');

/** The text of a JSON string between its quotes; undefined if it is long, or not plain ASCII without escapes. */
export function wordAt(bytes: Buffer, start: number, end: number): string | undefined {
  const length = end - start;
  if (length > LONGEST) return undefined;
  let hash = length;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte < SPACE || byte === BACKSLASH || byte >= 0x80) return undefined;
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  const place = (hash ^ (hash >>> 15)) & (PLACES - 1);
  const known = words[place]!;
  if (isWord(known, bytes, start, length)) return known;
  const word = bytes.toString('latin1', start, end);
  words[place] = word;
  return word;
}

function isWord(word: string, bytes: Buffer, start: number, length: number): boolean {
  if (word.length !== length) return false;
  for (let i = 0; i < length; i++) if (word.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
