/** Parses the heads of answers by RFC 9112, and refuses whatever another parser could interpret differently. */
import type { Headers } from '../contracts/definitions.ts';
import { Dictionary } from '../helpers/dictionary.ts';

/** Results of `read` other than the end of the head. */
export const INCOMPLETE = -1;
export const MALFORMED = -2;
export const TOO_LARGE = -3;

/** For one head, and for all trailers together. The same as node's own client. */
const MAX_BYTES = 16 * 1_024;
const MAX_FIELDS = 2_000;

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const COLON = 0x3a;
const ZERO = 0x30;

const VERSION = Buffer.from('HTTP/1.');

/** By byte: whether it is allowed in a name, and in a value or reason. */
const isToken = tableOf((byte) => /[!#$%&'*+.^_`|~0-9A-Za-z-]/.test(String.fromCharCode(byte)));
const isText = tableOf((byte) => byte === TAB || (byte >= SPACE && byte !== 0x7f));

/** The positions of the fields of the current head: start and end of the name, start and end of the value. */
const places = new Uint16Array(4 * MAX_FIELDS);

/** Lower-case names by the names as sent. Vendors send few different ones; the cache is limited. */
const lowerNames = new Map<string, string>();
const MAX_NAMES = 1_000;

/** One per connection. Its result is valid until it reads again. */
export class HeadReader {
  status = 0;
  /** Minor version: 0 or 1. */
  minor = 0;
  headers: Headers = {};

  /**
   * Parses a status line and its fields, from `start` and before `end`. Returns their end, `INCOMPLETE` if more data is
   * needed, `MALFORMED` as soon as they cannot be HTTP, or `TOO_LARGE`.
   */
  read(bytes: Buffer, start: number, end: number): number {
    const limit = Math.min(end, start + MAX_BYTES);
    const at = this.#statusLine(bytes, start, limit);
    return bounded(at < 0 ? at : this.#fields(bytes, at, limit, true), limit - start);
  }

  /** The same for trailers, whose fields are only checked. */
  readTrailers(bytes: Buffer, start: number, end: number): number {
    const limit = Math.min(end, start + MAX_BYTES);
    return bounded(this.#fields(bytes, start, limit, false), limit - start);
  }

  #statusLine(bytes: Buffer, start: number, end: number): number {
    const length = Math.min(VERSION.length, end - start);
    for (let i = 0; i < length; i++) if (bytes[start + i] !== VERSION[i]) return MALFORMED;
    const at = start + VERSION.length;
    // `1 200`; followed by nothing, or a space and the reason.
    if (at + 5 > end) return INCOMPLETE;
    this.minor = bytes[at]! - ZERO;
    const hundreds = bytes[at + 2]! - ZERO;
    const tens = bytes[at + 3]! - ZERO;
    const ones = bytes[at + 4]! - ZERO;
    if (this.minor !== 0 && this.minor !== 1) return MALFORMED;
    if (bytes[at + 1] !== SPACE || hundreds < 1 || hundreds > 9) return MALFORMED;
    if (tens < 0 || tens > 9 || ones < 0 || ones > 9) return MALFORMED;
    this.status = hundreds * 100 + tens * 10 + ones;
    let i = at + 5;
    if (i < end && bytes[i] !== SPACE && bytes[i] !== CR) return MALFORMED;
    while (i < end && isText[bytes[i]!] === 1) i++;
    return lineEnd(bytes, i, end);
  }

  #fields(bytes: Buffer, from: number, end: number, keepFields: boolean): number {
    let count = 0;
    let i = from;
    for (;;) {
      if (i < end && bytes[i] === CR) break;
      const name = i;
      while (i < end && isToken[bytes[i]!] === 1) i++;
      if (i === end) return INCOMPLETE;
      if (i === name || bytes[i] !== COLON || count === MAX_FIELDS) return MALFORMED;
      const colon = i++;
      while (i < end && (bytes[i] === SPACE || bytes[i] === TAB)) i++;
      const value = i;
      while (i < end && isText[bytes[i]!] === 1) i++;
      let valueEnd = i;
      while (valueEnd > value && (bytes[valueEnd - 1] === SPACE || bytes[valueEnd - 1] === TAB)) valueEnd--;
      i = lineEnd(bytes, i, end);
      if (i < 0) return i;
      const place = 4 * count++;
      places[place] = name - from;
      places[place + 1] = colon - from;
      places[place + 2] = value - from;
      places[place + 3] = valueEnd - from;
    }
    const behind = lineEnd(bytes, i, end);
    if (keepFields && behind >= 0) this.headers = headersOf(bytes.toString('latin1', from, i), count);
    return behind;
  }
}

/** The start of the next line, if a line ends at `at`. */
function lineEnd(bytes: Buffer, at: number, end: number): number {
  if (at >= end) return INCOMPLETE;
  if (bytes[at] !== CR) return MALFORMED;
  if (at + 1 === end) return INCOMPLETE;
  return bytes[at + 1] === LF ? at + 2 : MALFORMED;
}

/** Data without an end within this many bytes is too large. */
function bounded(behind: number, seen: number): number {
  return behind === INCOMPLETE && seen === MAX_BYTES ? TOO_LARGE : behind;
}

/** The fields at the recorded positions; repeated ones are joined with a comma. */
function headersOf(text: string, count: number): Headers {
  const headers = new Dictionary();
  for (let place = 0; place < 4 * count; place += 4) {
    const sent = text.slice(places[place], places[place + 1]);
    const name = lowerNames.get(sent) ?? lowerName(sent);
    const value = text.slice(places[place + 2], places[place + 3]);
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return headers;
}

function lowerName(sent: string): string {
  const name = sent.toLowerCase();
  if (lowerNames.size < MAX_NAMES) lowerNames.set(sent, name);
  return name;
}

function tableOf(allowed: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (allowed(byte) ? 1 : 0));
}
