/** Strings of JSON measured in their bytes: a stream has too many events to parse each. */

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/** How many characters a string has that begins at `start`, behind its quote; one that is not closed ends with the bytes. */
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

/** The second half of an escaped pair, `dc00` to `dfff`: with the first it is one character. */
function isLowSurrogate(bytes: Buffer, at: number): boolean {
  const letter = bytes[at + 1]! | 0x20;
  return (bytes[at]! | 0x20) === 0x64 && letter >= 0x63 && letter <= 0x66;
}

/** The first place from `start` on that holds no white space. */
export function behindSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at]! <= SPACE) at++;
  return at;
}

/** Where the quote stands that closes the string whose text begins at `start`; the end of the bytes where there is none. */
export function closingQuote(bytes: Buffer, start: number): number {
  let at = start;
  let byte = bytes[at];
  while (byte !== QUOTE && byte !== undefined) {
    if (byte === BACKSLASH) at++;
    byte = bytes[++at];
  }
  return at;
}
