/** Converts short texts from bytes to strings with a cache: the same few names and values come with every call. */

const SPACE = 0x20;
const BACKSLASH = 0x5c;
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
