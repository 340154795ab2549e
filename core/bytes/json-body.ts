/** A JSON body after one scan of its bytes: members by name, parsed on demand. */
import './json-parse.ts';
import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { coreErrors } from '../contracts/errors.ts';
import type { Json, JsonBody, Outline, Span } from '../contracts/formats/json.ts';
import { GatewayError } from '../contracts/gateway-error.ts';
import { abridge, type Base64Ranges, LARGE, noBase64 } from './base64-ranges.ts';
import { isNoText } from './data-url.ts';
import { exactTree, parseRisky } from './exact.ts';
import { isEmpty } from './fields.ts';
import { MAX_ANSWER_DEPTH, wordAt } from './json-text.ts';
import { NestedNames } from './nested-names.ts';

/** Limits on the structure of a body, not its size: to parse ten megabytes of `[` blocks for a second. */
export interface JsonLimits {
  /** Nesting of objects and arrays. */
  readonly depth?: number;
  /** Values and member names together. */
  readonly tokens?: number;
}

/** For a body that was within the limits when it arrived. */
export const UNLIMITED: JsonLimits = { depth: Number.POSITIVE_INFINITY, tokens: Number.POSITIVE_INFINITY };

/**
 * Reads a client's body. Refuses with 400 `invalid_json` what is not one JSON object in UTF-8, exceeds the limits, or
 * is ambiguous: duplicate members, and names that reach a JavaScript object's prototype. Control characters inside
 * strings are the only mistake it leaves to the parser. `base64`: the base64 stretches of a large body.
 */
export function scanJson(bytes: Buffer, limits: JsonLimits = {}, base64: Base64Ranges = noBase64(bytes)): JsonBody {
  if (!isUtf8Between(bytes, base64)) throw invalid('The body is not valid UTF-8. Send JSON in UTF-8.');
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw invalid('The body begins with a byte order mark. Send JSON in UTF-8 without one.');
  }
  return new ScannedBody(bytes, scan(bytes, base64, limits.depth ?? 64, limits.tokens ?? 200_000, true));
}

/** A base64 character is never part of a multi-byte character. */
function isUtf8Between(bytes: Buffer, base64: Base64Ranges): boolean {
  for (let at = base64.behind(0); at < bytes.length; ) {
    const end = base64.beginning(at);
    if (!isUtf8(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))) return false;
    at = base64.behind(end);
  }
  return true;
}

/** Reads a vendor's whole answer; undefined if it is no JSON object or too deep. The last duplicate member counts. */
export function scanAnswer(bytes: Buffer): JsonBody | undefined {
  try {
    return new ScannedBody(bytes, scan(bytes, noBase64(bytes), MAX_ANSWER_DEPTH, Number.POSITIVE_INFINITY, false));
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

/** The result of a scan without the bytes, to be sent between threads. */
export type ScanFacts = Pick<JsonBody, 'members' | 'textBytes' | 'media' | 'hasEmptyList'> & Beginnings;

/** What a scan found, to be sent. */
export function factsOf(body: JsonBody): ScanFacts {
  const { members, textBytes, media, hasEmptyList, low, high } = body as ScannedBody;
  return { members, textBytes, media, hasEmptyList, low, high };
}

/** A body that another thread has scanned: `facts` is the result for the same bytes. */
export function knownJson(bytes: Buffer, facts: ScanFacts): JsonBody {
  return new ScannedBody(bytes, facts as Scanned);
}

/** A top-level member: the span of its value, the start of its name, and the value once it was requested. */
interface Member extends Span {
  readonly nameStart: number;
  value: Json | undefined;
}

/** The beginnings of names and strings: 64 bits, of which each sets one. */
interface Beginnings {
  readonly low: number;
  readonly high: number;
}

/** The bit of the three bytes behind a quote. */
function bitOf(first: number, second: number, third: number): number {
  return (first * 7 + second * 17 + third * 29) & 63;
}

interface Scanned extends Beginnings {
  readonly members: Map<string, Member>;
  readonly textBytes: number;
  readonly media: number;
  readonly hasEmptyList: boolean;
  /** Base64 characters in media, approximately; only for large media. */
  readonly stretches?: readonly Span[] | undefined;
}

/** A class, because two are created for every call: only the scan result is allocated. */
class ScannedBody implements JsonBody {
  readonly bytes: Buffer;
  readonly members: ReadonlyMap<string, Member>;
  readonly textBytes: number;
  readonly media: number;
  readonly hasEmptyList: boolean;
  /** Also for another thread. */
  readonly low: number;
  readonly high: number;
  readonly #stretches: readonly Span[];
  #tree: Json | undefined;
  #outline: Outline | undefined;

  constructor(bytes: Buffer, scanned: Scanned) {
    this.bytes = bytes;
    this.#stretches = scanned.stretches ?? NONE;
    this.members = scanned.members;
    this.textBytes = scanned.textBytes;
    this.media = scanned.media;
    this.hasEmptyList = scanned.hasEmptyList;
    this.low = scanned.low;
    this.high = scanned.high;
  }

  holds(text: string): boolean {
    // Of shorter names, and of characters of several bytes, nothing is known.
    if (PLAIN_BEGINNING.test(text)) {
      const bit = bitOf(text.charCodeAt(1), text.charCodeAt(2), text.charCodeAt(3));
      const bits = bit < 32 ? this.low : this.high;
      if ((bits & (1 << (bit & 31))) === 0) return false;
    }
    const { bytes } = this;
    let at = 0;
    for (const { start, end } of this.#stretches) {
      // It may begin in front of it.
      if (bytes.subarray(at, Math.min(start + text.length, end)).includes(text)) return true;
      at = end;
    }
    return (at === 0 ? bytes : bytes.subarray(at)).includes(text);
  }

  has(name: string): boolean {
    return this.members.has(name);
  }

  get(name: string): Json | undefined {
    const member = this.members.get(name);
    if (member === undefined) return undefined;
    member.value ??= scalar(this.bytes, member) ?? parse(this.bytes, member);
    return member.value;
  }

  tree(): Json {
    this.#tree ??= parse(this.bytes, { start: 0, end: this.bytes.length });
    return this.#tree;
  }

  outline(): Outline {
    this.#outline ??=
      this.#stretches.length === 0 ? { tree: exactTree(this), bytesOf: NO_NAMES } : outlined(this.#abridged());
    return this.#outline;
  }

  unfold(): Promise<void> | undefined {
    if (this.#outline !== undefined || this.bytes.length < LARGE) return undefined;
    return this.#unfold();
  }

  async #unfold(): Promise<void> {
    const abridged = this.#abridged();
    await nextTurn();
    this.#outline ??= outlined(abridged);
    await nextTurn();
  }

  #abridged(): ReturnType<typeof abridge> {
    return abridge(this.bytes, this.#stretches);
  }

  patched(changes: Readonly<Record<string, string | undefined>>): Buffer {
    return splice(this.bytes, this.members, changes);
  }

  pieces(changes: Readonly<Record<string, string | undefined>>): readonly Buffer[] {
    const { bytes } = this;
    const pieces: Buffer[] = [];
    let read = 0;
    for (const { start, end, text } of editsFor(bytes, this.members, changes)) {
      pieces.push(bytes.subarray(read, start), Buffer.from(text));
      read = end;
    }
    pieces.push(bytes.subarray(read));
    return pieces.filter(({ length }) => length > 0);
  }
}

const PLAIN_BEGINNING = /^"[\x20-\x7e]{3}/;
const NONE: readonly Span[] = [];
const NO_NAMES: Outline['bytesOf'] = new Map();

function outlined({ text, bytesOf }: ReturnType<typeof abridge>): Outline {
  return { tree: parseRisky(text) ?? parseText(text), bytesOf };
}

/** Any integer of this many digits is a safe integer. */
const SAFE_DIGITS = 15;

/** The value of a scanned member if its first byte tells it, or it is a short word or a small number. */
function scalar(bytes: Buffer, { start, end }: Span): string | number | boolean | undefined {
  const first = bytes[start]!;
  if (first === QUOTE) return wordAt(bytes, start + 1, end - 1);
  if (first === LOWER_T) return true;
  if (first === LOWER_F) return false;
  if (first < ZERO || first > NINE || end - start > SAFE_DIGITS) return undefined;
  let number = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte < ZERO || byte > NINE) return undefined;
    number = number * 10 + byte - ZERO;
  }
  return number;
}

function parse(bytes: Buffer, { start, end }: Span): Json {
  return parseText(bytes.toString('utf8', start, end));
}

function parseText(text: string): Json {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(`The body is not valid JSON: ${(error as Error).message}.`);
  }
}

const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const FIVE = 0x35;
const NINE = 0x39;
const COLON = 0x3a;
const UPPER_E = 0x45;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const UNDERSCORE = 0x5f;
const LOWER_E = 0x65;
const LOWER_F = 0x66;
const LOWER_T = 0x74;
const LOWER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** The tokens allowed at the next position: numbers, because each structural byte is compared with several of them. */
const FIRST_NAME = 0;
const NAME = 1;
const AFTER_NAME = 2;
const VALUE = 3;
const FIRST_VALUE = 4;
const AFTER_MEMBER = 5;
const AFTER_ITEM = 6;
const NOTHING = 7;
/** The same for error messages. */
const IN_WORDS = [
  'a member name in double quotes, or `}`',
  'a member name in double quotes',
  'a colon',
  'a value',
  'a value, or `]`',
  'a comma or `}`',
  'a comma or `]`',
  'nothing more',
] as const;

/** One pass: the grammar, the limits, the top-level members and the sizes. `strict` also refuses ambiguities. */
function scan(bytes: Buffer, base64: Base64Ranges, maxDepth: number, maxTokens: number, strict: boolean): Scanned {
  const members = new Map<string, Member>();
  const length = bytes.length;
  const closingQuote = stringReader(bytes, base64);
  /** Of objects inside the body. */
  const nested = strict ? new NestedNames(bytes, nameAt) : undefined;
  /** For every open object or array: is it an object? The outermost, the body itself, is not included. */
  const outer: boolean[] = [];
  let inObject = false;
  let depth = 0;
  let tokens = 0;
  let textBytes = 0;
  let folded: Set<string> | undefined;
  let media = 0;
  let stretches: Span[] | undefined;
  let hasEmptyList = false;
  let low = 0;
  let high = 0;
  /** The last name, without its quotes: that of the current value, or of its list. */
  let nameStart = 0;
  let nameEnd = 0;
  /** The name of the current top-level member. */
  let member = '';
  let memberStart = 0;
  let valueStart = 0;
  let expected: number = VALUE;
  let at = 0;

  for (;;) {
    // Never reads beyond the end: one undefined value makes every comparison here slow.
    while (at < length && IS_SPACE[bytes[at]!] === 1) at++;
    if (at >= length) break;
    const byte = bytes[at]!;
    if (depth === 0 && (expected !== VALUE || byte !== OPEN_OBJECT)) {
      if (expected === VALUE) throw invalid('The body must be a JSON object, beginning with `{`.');
      throw unexpected(bytes, at, expected);
    }

    // Commas and colons first: they are the most frequent, and only change what may come next.
    if (byte === COMMA) {
      if (expected === AFTER_MEMBER) expected = NAME;
      else if (expected === AFTER_ITEM) expected = VALUE;
      else throw unexpected(bytes, at, expected);
      at++;
      continue;
    }
    if (byte === COLON) {
      if (expected !== AFTER_NAME) throw unexpected(bytes, at, expected);
      expected = VALUE;
      at++;
      continue;
    }
    if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      const fits =
        byte === CLOSE_OBJECT
          ? expected === AFTER_MEMBER || expected === FIRST_NAME
          : expected === AFTER_ITEM || expected === FIRST_VALUE;
      if (!fits) throw unexpected(bytes, at, expected);
      if (expected === FIRST_VALUE) hasEmptyList = true;
      at++;
      depth--;
      if (depth === 0) {
        expected = NOTHING;
        continue;
      }
      if (inObject) nested?.close();
      inObject = outer.pop()!;
      expected = inObject ? AFTER_MEMBER : AFTER_ITEM;
      if (depth === 1) members.set(member, { start: valueStart, end: at, nameStart: memberStart, value: undefined });
      continue;
    }

    if (++tokens > maxTokens) {
      throw invalid(`The body has more than ${maxTokens} values and names. Send fewer, or put long data into strings.`);
    }
    const start = at;

    if (byte === QUOTE) {
      const end = closingQuote(start + 1);
      at = end + 1;
      if (start + 3 < length) {
        const bit = bitOf(bytes[start + 1]!, bytes[start + 2]!, bytes[start + 3]!);
        if (bit < 32) low |= 1 << bit;
        else high |= 1 << (bit - 32);
      }
      if (expected === FIRST_NAME || expected === NAME) {
        nameStart = start + 1;
        nameEnd = end;
        textBytes += end - nameStart;
        expected = AFTER_NAME;
        if (depth === 1) {
          member = nameAt(bytes, nameStart, end);
          memberStart = start;
          if (strict) {
            checkMember(member, members);
            if (folded !== undefined || !isPlain(bytes, nameStart, end)) folded = withFolded(member, members, folded);
          } else {
            members.delete(member);
          }
        } else if (nested !== undefined) {
          if (isPrototype(bytes, nameStart, nameEnd)) throw forbidden('__proto__');
          if (!nested.add(nameStart, nameEnd)) throw twice(nameAt(bytes, nameStart, nameEnd), start);
        }
        continue;
      }
      if (expected !== VALUE && expected !== FIRST_VALUE) throw unexpected(bytes, start, expected);
      const medium = isMediaName(bytes, nameStart, nameEnd) ? mediumIn(bytes, base64, start + 1, end) : undefined;
      if (medium !== undefined) media++;
      const stretch = medium === 'inline' ? base64.within(start, end) : undefined;
      if (stretch !== undefined && isNoText(bytes.toString('latin1', start + 1, start + 513))) {
        stretches ??= [];
        stretches.push(stretch);
      }
      if (medium !== 'inline') textBytes += end - start - 1;
    } else if (expected !== VALUE && expected !== FIRST_VALUE) {
      throw unexpected(bytes, at, expected);
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (depth === maxDepth)
        throw invalid(`The body is nested more than ${maxDepth} levels deep. Send a flatter one.`);
      if (depth > 0) outer.push(inObject);
      if (depth === 1) valueStart = at;
      depth++;
      at++;
      inObject = byte === OPEN_OBJECT;
      expected = inObject ? FIRST_NAME : FIRST_VALUE;
      if (inObject && depth > 1) nested?.open();
      continue;
    } else {
      at = afterScalar(bytes, at, expected);
      textBytes += at - start;
    }
    // End of a scalar.
    expected = inObject ? AFTER_MEMBER : AFTER_ITEM;
    if (depth === 1) members.set(member, { start, end: at, nameStart: memberStart, value: undefined });
  }

  if (expected !== NOTHING) {
    if (depth === 0) throw invalid('The body is empty. Send a JSON object.');
    throw invalid(`The body is not valid JSON: it ends at byte ${length}, expected ${IN_WORDS[expected]}.`);
  }
  return { members, textBytes, media, stretches, hasEmptyList, low, high };
}

function invalid(message: string): GatewayError {
  return coreErrors.invalid_json(message);
}

function unexpected(bytes: Buffer, at: number, expected: number): GatewayError {
  const byte = bytes[at]!;
  const found =
    byte > SPACE && byte < 0x7f ? `\`${String.fromCharCode(byte)}\`` : `byte 0x${byte.toString(16).padStart(2, '0')}`;
  return invalid(`The body is not valid JSON: ${found} at byte ${at}, expected ${IN_WORDS[expected]}.`);
}

function forbidden(name: string): GatewayError {
  return invalid(`The body has a member \`${name}\`, which is never accepted. Leave it out.`);
}

/** Parsers differ in which of the two they take, so what is checked might not be what is served. */
function twice(name: string, at: number): GatewayError {
  return invalid(
    `An object in the body has the member ${JSON.stringify(name)} twice, again at byte ${at}. Send it once.`,
  );
}

/** A lookup table with 1 for each of these characters. */
function tableOf(characters: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const byte of Buffer.from(characters)) table[byte] = 1;
  return table;
}

/** This many bytes of a string are checked one by one before a native search: for short strings that is cheaper. */
const NEAR = 32;

/**
 * Finds ends of strings and checks their escapes. Call it in text order: the result of a native search is reused for
 * later strings, so that all searches together pass the body once.
 */
function stringReader(bytes: Buffer, base64: Base64Ranges): (start: number) => number {
  const length = bytes.length;
  const search = (byte: number, from: number): number => {
    for (let at = base64.behind(from); at < length; ) {
      const end = base64.beginning(at);
      const found = end === length ? bytes.indexOf(byte, at) : bytes.subarray(at, end).indexOf(byte) + at;
      if (found >= at) return found;
      at = base64.behind(end);
    }
    return -1;
  };
  let quote = 0;
  let backslash = 0;
  return (start) => {
    let at = start;
    for (;;) {
      const near = Math.min(at + NEAR, length);
      while (at < near && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
      if (at < near) {
        if (bytes[at] === QUOTE) return at;
        at = afterEscape(bytes, at);
        continue;
      }
      if (quote < at) quote = search(QUOTE, at);
      if (quote === -1 || at >= length)
        throw invalid(`The body is not valid JSON: the string at byte ${start - 1} has no end.`);
      if (backslash < at && backslash !== -1) backslash = search(BACKSLASH, at);
      if (backslash === -1 || backslash > quote) return quote;
      at = afterEscape(bytes, backslash);
    }
  };
}

const IS_SPACE = tableOf(' \n\r\t');
const HEX = tableOf('0123456789abcdefABCDEF');
/** Allowed after a backslash, in addition to `u`. */
const SIMPLE_ESCAPES = tableOf('"\\/bfnrt');

/** The position after an escape. */
function afterEscape(bytes: Buffer, backslash: number): number {
  const byte = bytes[backslash + 1];
  if (byte === LOWER_U) {
    let digits = 2;
    while (digits < 6 && HEX[bytes[backslash + digits]!] === 1) digits++;
    if (digits === 6) return backslash + 6;
  } else if (SIMPLE_ESCAPES[byte!] === 1) {
    return backslash + 2;
  }
  throw invalid(
    `The body is not valid JSON: no such escape at byte ${backslash}. A backslash itself is written \`\\\\\`.`,
  );
}

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

/** The position after a number or a literal. */
function afterScalar(bytes: Buffer, start: number, expected: number): number {
  const first = bytes[start]!;
  if (first === MINUS || (first >= ZERO && first <= NINE)) return afterNumber(bytes, start);
  const literal = first === LOWER_T ? TRUE : first === LOWER_F ? FALSE : NULL;
  for (let i = 0; i < literal.length; i++) {
    if (bytes[start + i] !== literal[i]) throw unexpected(bytes, start, expected);
  }
  return start + literal.length;
}

function afterNumber(bytes: Buffer, start: number): number {
  let at = start;
  if (bytes[at] === MINUS) at++;
  if (bytes[at] === ZERO) at++;
  else at = afterDigits(bytes, at);
  if (bytes[at] === DOT) at = afterDigits(bytes, at + 1);
  if (bytes[at] === LOWER_E || bytes[at] === UPPER_E) {
    at++;
    if (bytes[at] === PLUS || bytes[at] === MINUS) at++;
    at = afterDigits(bytes, at);
  }
  return at;
}

function afterDigits(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  if (at === start) throw invalid(`The body is not valid JSON: expected a digit at byte ${at}.`);
  return at;
}

function checkMember(name: string, members: ReadonlyMap<string, Member>): void {
  if (members.has(name)) throw invalid(`The body has the member ${JSON.stringify(name)} twice. Send it once.`);
  if (name === '__proto__' || name === 'constructor' || name === 'prototype') throw forbidden(name);
}

/** The characters of nearly all member names. */
const IN_PLAIN_NAMES = tableOf('abcdefghijklmnopqrstuvwxyz0123456789_');

function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (IN_PLAIN_NAMES[bytes[at]!] !== 1) return false;
  return true;
}

/** The names so far, ignoring case: some parsers use a later `Model` as `model`, and what is priced must be served. */
function withFolded(name: string, members: ReadonlyMap<string, Member>, before: Set<string> | undefined): Set<string> {
  const folded = before ?? new Set([...members.keys()].map(fold));
  const key = fold(name);
  if (folded.has(key)) {
    throw invalid(`The body has the member ${JSON.stringify(name)} twice, differently spelt. Send it once.`);
  }
  return folded.add(key);
}

/** Upper case first: it folds characters that have two lower-case forms, such as the long s. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** A name without its quotes, unescaped. */
function nameAt(bytes: Buffer, start: number, end: number): string {
  const word = wordAt(bytes, start, end);
  if (word !== undefined) return word;
  for (let at = start; at < end; at++) {
    if (bytes[at] === BACKSLASH) return parse(bytes, { start: start - 1, end: end + 1 }) as string;
  }
  return bytes.toString('utf8', start, end);
}

/**
 * Below the top level only `__proto__` is refused: `constructor` is a valid word in a tool's schema, and harmless as a
 * parsed member. A name is only decoded if its first character can be an underscore.
 */
function isPrototype(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start];
  const possible =
    first === UNDERSCORE || (first === BACKSLASH && bytes[start + 1] === LOWER_U && bytes[start + 4] === FIVE);
  return possible && nameAt(bytes, start, end) === '__proto__';
}

/** Members whose string may be an image, an audio clip or a file: its bytes or its URL. */
const MEDIA_NAMES: ReadonlySet<string> = new Set([
  ...['url', 'data', 'image', 'file_id', 'file_url', 'b64_json', 'file_data', 'image_url'],
]);
const SHORTEST_MEDIA_NAME = 3;
/** The length of the longest such name with each character escaped: escaped names are recognized, too. */
const LONGEST_ESCAPED = 6 * 9;
/** First characters of such names. */
const BEGINS_MEDIA_NAMES = tableOf('udifb\\');

function isMediaName(bytes: Buffer, start: number, end: number): boolean {
  const length = end - start;
  if (length < SHORTEST_MEDIA_NAME || length > LONGEST_ESCAPED || BEGINS_MEDIA_NAMES[bytes[start]!] !== 1) return false;
  return MEDIA_NAMES.has(nameAt(bytes, start, end));
}

/** A shorter string counts as base64 only if it is a data URL. */
const LEAST_BASE64 = 64;

/**
 * The content of such a member: `inline` base64, a `link` to a file, or only text. Text must not be taken for base64,
 * because its bytes would not be counted: every byte is checked.
 */
function mediumIn(bytes: Buffer, base64: Base64Ranges, start: number, end: number): 'inline' | 'link' | undefined {
  const beginning = bytes.toString('latin1', start, Math.min(end, start + 128));
  const isData = beginning.startsWith('data:');
  const from = isData ? start + beginning.indexOf(',') + 1 : start;
  if (isData || end - start >= LEAST_BASE64) {
    let at = from;
    for (let until = at; at === until && at < end; ) {
      at = base64.behind(at);
      until = Math.min(base64.beginning(at), end);
      while (at < until && IN_BASE64[bytes[at]!] === 1) at++;
    }
    if (at >= end) return 'inline';
  }
  // A URL that starts with an escape is suspicious.
  return /^(https?:|gs:|s3:|file[-_]|.{0,5}\\u00)/i.test(beginning) ? 'link' : undefined;
}

/** The characters of base64, URL-safe ones included; the backslash because some encoders write `\\/`. */
const IN_BASE64 = tableOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\');

/** A span of the body and its replacement. */
interface Edit extends Span {
  readonly text: string;
}

function splice(
  bytes: Buffer,
  members: ReadonlyMap<string, Member>,
  changes: Readonly<Record<string, string | undefined>>,
): Buffer {
  const edits = isEmpty(changes) ? [] : editsFor(bytes, members, changes);
  if (edits.length === 0) return bytes;
  let length = bytes.length;
  for (const { start, end, text } of edits) length += Buffer.byteLength(text) - (end - start);
  const result = Buffer.allocUnsafe(length);
  let read = 0;
  let written = 0;
  for (const { start, end, text } of edits) {
    written += bytes.copy(result, written, read, start);
    written += result.write(text, written);
    read = end;
  }
  bytes.copy(result, written, read);
  return result;
}

/** In byte order, not overlapping. */
function editsFor(
  bytes: Buffer,
  members: ReadonlyMap<string, Member>,
  changes: Readonly<Record<string, string | undefined>>,
): Edit[] {
  const edits: Edit[] = [];
  /** The position after the previous member, removed or not. */
  let previousEnd = bytes.indexOf(OPEN_OBJECT) + 1;
  /** Whether a previous member stays. */
  let kept = false;
  /** Start of the previous removed members: with their comma, unless no member before them stays. */
  let gap: number | undefined;
  for (const [name, member] of members) {
    const changed = Object.hasOwn(changes, name);
    const text = changes[name];
    if (changed && text === undefined) {
      gap ??= kept ? previousEnd : member.nameStart;
    } else {
      if (gap !== undefined) edits.push({ start: gap, end: kept ? previousEnd : member.nameStart, text: '' });
      if (changed && text !== undefined) edits.push({ start: member.start, end: member.end, text });
      gap = undefined;
      kept = true;
    }
    previousEnd = member.end;
  }
  if (gap !== undefined) edits.push({ start: gap, end: previousEnd, text: '' });
  for (const [name, text] of Object.entries(changes)) {
    if (text === undefined || members.has(name)) continue;
    edits.push({ start: previousEnd, end: previousEnd, text: `${kept ? ',' : ''}${JSON.stringify(name)}:${text}` });
    kept = true;
  }
  return edits;
}
