/** The vectors of a reply, read in place: as numbers, or in base64 as little-endian 32-bit floats. */

import type { JsonBody, Span } from '../../../core/plugin.ts';
import { behindSpace } from '../../../core/translation/index.ts';
import { itemsAt, kindAt, membersAt } from './places.ts';

/** One entry of `data`. */
export interface Entry extends Span {
  readonly members: ReadonlyMap<string, Span>;
  readonly vector: Span;
  readonly form: 'numbers' | 'base64';
  /** The number of dimensions. */
  readonly dimensions: number;
}

/** Cached, because a reply is read twice: to validate it, and to complete it. */
const cache = new WeakMap<JsonBody, readonly Entry[] | undefined>();

/** The entries of a reply; undefined if one has no vector, or one that is not made of finite numbers only. */
export function readEntries(body: JsonBody): readonly Entry[] | undefined {
  if (!cache.has(body)) cache.set(body, entriesIn(body));
  return cache.get(body);
}

/** True if `data` is a list, whatever it contains. */
export function hasData({ bytes, members }: JsonBody): boolean {
  const data = members.get('data');
  return data !== undefined && kindAt(bytes, data.start) === 'array';
}

function entriesIn(body: JsonBody): readonly Entry[] | undefined {
  const { bytes, members } = body;
  if (!hasData(body)) return undefined;
  const entries: Entry[] = [];
  for (const item of itemsAt(bytes, members.get('data')!.start)) {
    const entry = kindAt(bytes, item.start) === 'object' ? readEntry(bytes, item) : undefined;
    if (entry === undefined) return undefined;
    entries.push(entry);
  }
  return entries;
}

function readEntry(bytes: Buffer, item: Span): Entry | undefined {
  const members = membersAt(bytes, item.start);
  const vector = members.get('embedding');
  const kind = vector && kindAt(bytes, vector.start);
  if (vector === undefined || (kind !== 'array' && kind !== 'text')) return undefined;
  const dimensions = kind === 'array' ? countNumbers(bytes, vector) : countFloats(bytes, vector);
  if (dimensions === undefined) return undefined;
  return { ...item, members, vector, form: kind === 'array' ? 'numbers' : 'base64', dimensions };
}

const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/** The dimensions of a vector; undefined if it is empty, or has anything that is not a finite 32-bit float. */
function countNumbers(bytes: Buffer, vector: Span): number | undefined {
  const last = vector.end - 1;
  let count = 0;
  for (let at = vector.start; at < last; at++) {
    if (at !== vector.start && bytes[at] !== COMMA) continue;
    // The scan has validated that what begins as a number is one.
    const first = bytes[behindSpace(bytes, at + 1)]!;
    if (first !== MINUS && (first < ZERO || first > NINE)) return undefined;
    count++;
  }
  const isSmall = !hasLargeExponent(bytes.subarray(vector.start, last));
  return isSmall || numbersIn(bytes, vector).every((value) => Number.isFinite(Math.fround(value))) ? count : undefined;
}

/** Nearly all numbers in vectors are below 1; only those with a non-negative exponent are parsed. */
function hasLargeExponent(numbers: Buffer): boolean {
  return ['e', 'E'].some((letter) => {
    let at = numbers.indexOf(letter);
    while (at !== -1 && numbers[at + 1] === MINUS) at = numbers.indexOf(letter, at + 1);
    return at !== -1;
  });
}

const BYTES_PER_FLOAT = 4;

/** The dimensions of a vector in base64. */
function countFloats(bytes: Buffer, vector: Span): number | undefined {
  const floats = floatsIn(bytes, vector);
  if (floats === undefined || floats.length === 0) return undefined;
  // NaN and infinity have all exponent bits set.
  for (let at = 0; at < floats.length; at += BYTES_PER_FLOAT) {
    if ((floats[at + 3]! & 0x7f) === 0x7f && (floats[at + 2]! & 0x80) === 0x80) return undefined;
  }
  return floats.length / BYTES_PER_FLOAT;
}

/** The bytes of the floats; undefined if the text is not base64, or has the wrong length. */
function floatsIn(bytes: Buffer, vector: Span): Buffer | undefined {
  const text = bytes.toString('latin1', vector.start + 1, vector.end - 1).replaceAll('\\/', '/');
  const floats = Buffer.from(text, 'base64');
  // The decoder ignores characters outside its alphabet.
  const digits = text.endsWith('=') ? text.replace(/=+$/, '') : text;
  const isWhole = floats.length === Math.floor((digits.length * 3) / 4);
  return isWhole && floats.length % BYTES_PER_FLOAT === 0 ? floats : undefined;
}

function numbersIn(bytes: Buffer, { start, end }: Span): readonly number[] {
  return JSON.parse(bytes.toString('latin1', start, end)) as number[];
}

/** The vector of an entry as JSON, in the other encoding. */
export function vectorAs(form: Entry['form'], bytes: Buffer, entry: Entry): string {
  return form === 'base64' ? asBase64(bytes, entry) : asNumbers(bytes, entry);
}

function asBase64(bytes: Buffer, { vector, dimensions }: Entry): string {
  const floats = Buffer.allocUnsafe(dimensions * BYTES_PER_FLOAT);
  numbersIn(bytes, vector).forEach((value, i) => {
    floats.writeFloatLE(value, i * BYTES_PER_FLOAT);
  });
  return `"${floats.toString('base64')}"`;
}

function asNumbers(bytes: Buffer, { vector, dimensions }: Entry): string {
  const floats = floatsIn(bytes, vector) ?? Buffer.alloc(0);
  return JSON.stringify(Array.from({ length: dimensions }, (_, i) => floats.readFloatLE(i * BYTES_PER_FLOAT)));
}
