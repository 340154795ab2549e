/** Where a large body is nothing but letters of base64: it is found out in turns, and whoever reads the body can pass over it. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Bytes from which on reading a body takes so long that others notice. */
export const LARGE = 1_024 * 1_024;

/** Bytes that are looked at as one: a multiple of four, which base64 is read by. */
const BLOCK = 16 * 1_024;
/** Blocks between two turns of others. */
const AT_ONCE = 16;

/** Stretches of letters in a body, none touching another. */
export class Letters {
  /** Where they begin and end, by turns. */
  readonly #bounds: readonly number[];
  readonly #length: number;

  /** `length`: of the body. */
  constructor(bounds: readonly number[], length: number) {
    this.#bounds = bounds;
    this.#length = length;
  }

  /** Behind the stretch that holds this place; the place itself where none does. */
  behind(at: number): number {
    const next = this.#next(at);
    return next % 2 === 1 ? this.#bounds[next]! : at;
  }

  /** Where the next stretch behind this place begins, which is in none; the end of the body where there is none. */
  beginning(at: number): number {
    return this.#bounds[this.#next(at)] ?? this.#length;
  }

  /** The first that lies within these places as a whole; undefined where none does. */
  within(start: number, end: number): { readonly start: number; readonly end: number } | undefined {
    const next = this.#next(start - 1);
    const [from, to] = [this.#bounds[next], this.#bounds[next + 1]];
    return next % 2 === 0 && from !== undefined && to! <= end ? { start: from, end: to! } : undefined;
  }

  /** Which bound is the first one behind this place. */
  #next(at: number): number {
    let low = 0;
    let high = this.#bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#bounds[middle]! <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What is known of a body that is small: nothing, and nothing is lost by that. */
export function noLetters({ length }: Buffer): Letters {
  return new Letters([], length);
}

/** Looks through a body, with turns of others in between. */
export async function findLetters(bytes: Buffer): Promise<Letters> {
  const bounds: number[] = [];
  // A body that begins at an odd place of its memory was not read from a connection; it is read as if it were small.
  if (bytes.byteOffset % 2 === 1) return noLetters(bytes);
  const pairs = new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1);
  for (let start = 0, count = 1; start + BLOCK <= bytes.length; start += BLOCK, count++) {
    if (isLetters(pairs, start)) {
      if (bounds.at(-1) === start) bounds.pop();
      else bounds.push(start);
      bounds.push(start + BLOCK);
    }
    if (count % AT_ONCE === 0) await nextTurn();
  }
  return new Letters(bounds, bytes.length);
}

/** Eight bytes at a time: that takes a third of what one at a time does. */
function isLetters(pairs: Uint16Array, start: number): boolean {
  const table = LETTER_PAIRS;
  const end = (start + BLOCK) / 2;
  for (let at = start / 2; at < end; at += 4) {
    if ((table[pairs[at]!]! & table[pairs[at + 1]!]! & table[pairs[at + 2]!]! & table[pairs[at + 3]!]!) === 0)
      return false;
  }
  return true;
}

/** 1 for two bytes that are letters both, read as one number. */
const LETTER_PAIRS = new Uint8Array(0x1_00_00);
const LETTERS = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
for (const one of LETTERS) for (const other of LETTERS) LETTER_PAIRS[one * 0x1_00 + other] = 1;
