/**
 * Takes out of a vendor's words what they quote of the request. The words go to the log, to spans and to usage records, where no prompt belongs;
 * the client gets them as they are. What is compared are letters and digits alone, so that a quote is found whatever its case, its escapes and
 * its white space are, and where it is cut.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { exactText } from '../bytes/exact.ts';
import { isObject } from '../bytes/fields.ts';
import type { Awaitable } from '../contracts/definitions.ts';
import type { Call } from '../contracts/formats/call.ts';
import type { Json } from '../contracts/formats/json.ts';

/** So many letters and digits in a row that the request has, too, are a quote: longer than nearly all single words. */
const RUN = 12;
/** From this length on, a whole text of the request is one, and what the words have in quotation marks. */
const SHORT = 4;
/** Characters that are compared between two yields. */
const AT_ONCE = 64 * 1_024;
/** Replaces a quote. */
const OMITTED = '[…]';

/** A vendor's words about a call, without what they quote of it. Synchronous unless the call is large. */
export function withoutRequest(words: string, call: Call): Awaitable<string> {
  const without = (texts: Iterable<string>): Awaitable<string> =>
    withoutQuotes(words, texts, (name) => call.body.has(name));
  const texts = textsOf(call);
  return texts instanceof Promise ? texts.then(without) : without(texts);
}

/** The words without what they quote of `texts`. Synchronous unless there is much to compare. `isName`: what is never taken for a quote. */
export function withoutQuotes(
  words: string,
  texts: Iterable<string>,
  isName: (text: string) => boolean = () => false,
): Awaitable<string> {
  const quotes = new Quotes(words, isName);
  const steps = quotes.compare(texts);
  return steps.next().done ? quotes.rest() : inTurns(quotes, steps);
}

async function inTurns(quotes: Quotes, steps: Iterator<void>): Promise<string> {
  do await nextTurn();
  while (!steps.next().done);
  return quotes.rest();
}

/** Members with the words of an API, not of a client. */
const OPTIONS: ReadonlySet<string> = new Set([
  ...['type', 'role', 'model', 'object', 'status', 'phase', 'format', 'media_type', 'mime_type', 'mimeType', 'detail'],
  ...['id', 'call_id', 'tool_call_id', 'tool_use_id', 'item_id'],
  ...[
    'tool_choice',
    'service_tier',
    'reasoning_effort',
    'effort',
    'verbosity',
    'truncation',
    'quality',
    'size',
    'voice',
  ],
]);
/** Shorter numbers are options, too. */
const LONG_NUMBER = 1e7;

/** The texts of a call, names of members apart. */
function textsOf({ body, conversation, files = [] }: Call): Awaitable<Iterable<string>> {
  const texts = (): Iterable<string> =>
    textsIn([body.outline().tree, (conversation ?? null) as unknown as Json, files.map(({ fileName }) => fileName)]);
  // A vendor may have got what is no JSON.
  const asItIs = (): Iterable<string> => [body.bytes.toString()];
  try {
    const unfolding = body.unfold();
    return unfolding === undefined ? texts() : unfolding.then(texts).catch(asItIs);
  } catch {
    return asItIs();
  }
}

function* textsIn(value: Json): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'number') {
    if (Math.abs(value) >= LONG_NUMBER) yield String(value);
  } else if (Array.isArray(value)) for (const item of value as readonly Json[]) yield* textsIn(item);
  else if (isObject(value)) {
    const exact = exactText(value);
    if (exact !== undefined) yield exact;
    else
      for (const [name, member] of Object.entries(value))
        if (typeof member !== 'string' || !OPTIONS.has(name)) yield* textsIn(member);
  }
}

/** The words of one error, and which of them are quotes. */
class Quotes {
  readonly #words: string;
  readonly #units: Uint16Array;
  /** The place of each unit in the words: its first character, and the one behind it. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  readonly #isQuote: Uint8Array;
  /** What would be a quote if a request has it, and where it is: runs by their hash, whole texts, what is in quotation marks. */
  readonly #runs = new Map<number, number[]>();
  readonly #short = new Map<string, (readonly [number, number])[]>();
  readonly #marked = new Map<string, (readonly [number, number])[]>();
  /** The hashes of the runs, so that most of a request needs no search. */
  readonly #filter = new Uint8Array(FILTER);

  constructor(words: string, isName: (text: string) => boolean) {
    this.#words = words;
    const units = new Uint16Array(WIDE * words.length);
    const { count } = fold(words, 0, words.length, units, 0, (start, end) => {
      this.#starts.push(start);
      this.#ends.push(end);
    });
    this.#units = units.subarray(0, count);
    this.#isQuote = new Uint8Array(count);
    eachRun(this.#units, count, (hash, at) => {
      this.#filter[hash & (FILTER - 1)] = 1;
      add(this.#runs, hash, at);
    });
    for (let from = 0; from < count; from++) {
      if (!this.#isEdge(from)) continue;
      for (let to = from + SHORT; to < from + RUN && to <= count; to++)
        if (this.#isEdge(to)) add(this.#short, this.#text(from, to), [from, to] as const);
    }
    for (const { index, 0: quoted, groups } of words.matchAll(QUOTED)) {
      if (isName(groups!.text!)) continue;
      const from = this.#starts.findIndex((start) => start >= index);
      const behind = this.#starts.findIndex((start) => start >= index + quoted.length);
      const to = behind === -1 ? count : behind;
      if (from !== -1 && to - from >= SHORT && to - from < RUN)
        add(this.#marked, this.#text(from, to), [from, to] as const);
    }
  }

  /** Compares the words with texts; yields when others should have a turn. */
  *compare(texts: Iterable<string>): Generator<void> {
    let left = AT_ONCE;
    const units = new Uint16Array(WIDE * MOST_FOLDED + RUN);
    for (const text of texts) {
      // A run may begin in one piece of a text and end in the next one.
      let carried = 0;
      for (let from = 0; from < text.length; ) {
        const { count, end } = fold(text, from, Math.min(text.length, from + MOST_FOLDED), units, carried);
        this.#find(units, count);
        if (from === 0 && end === text.length && count < RUN) this.#findWhole(text, asText(units, count));
        carried = Math.min(count, RUN - 1);
        units.copyWithin(0, count - carried, count);
        left -= end - from;
        from = end;
        if (left > 0) continue;
        left = AT_ONCE;
        yield;
      }
    }
  }

  /** The words without the quotes that were found. */
  rest(): string {
    let rest = '';
    let read = 0;
    for (let from = 0; from < this.#isQuote.length; from++) {
      if (this.#isQuote[from] === 0) continue;
      let to = from + 1;
      while (this.#isQuote[to] === 1) to++;
      rest += this.#words.slice(read, this.#starts[from]) + OMITTED;
      read = this.#ends[to - 1]!;
      from = to;
    }
    return rest + this.#words.slice(read);
  }

  #find(units: Uint16Array, count: number): void {
    eachRun(units, count, (hash, at) => {
      if (this.#filter[hash & (FILTER - 1)] === 0) return;
      const places = this.#runs.get(hash);
      if (places === undefined || !this.#isSame(units, at, places[0]!)) return;
      for (const place of places) this.#isQuote.fill(1, place, place + RUN);
      this.#runs.delete(hash);
    });
    if (this.#marked.size === 0) return;
    const text = Buffer.from(units.buffer, 0, 2 * count);
    for (const [quoted, places] of this.#marked) {
      if (!text.includes(quoted, 0, 'utf16le')) continue;
      this.#mark(places);
      this.#marked.delete(quoted);
    }
  }

  /** A text this short is a quote only as a whole, and not if it looks like the value of an option. */
  #findWhole(text: string, folded: string): void {
    if (!OPTION.test(text)) this.#mark(this.#short.get(folded) ?? []);
  }

  #mark(places: readonly (readonly [number, number])[]): void {
    for (const [from, to] of places) this.#isQuote.fill(1, from, to);
  }

  #isSame(units: Uint16Array, at: number, place: number): boolean {
    for (let i = 0; i < RUN; i++) if (units[at + i] !== this.#units[place + i]) return false;
    return true;
  }

  /** Whether a word begins or ends before this unit; scripts without spaces have words of one character. */
  #isEdge(at: number): boolean {
    const [before, next] = [this.#ends[at - 1], this.#starts[at]];
    if (before === undefined || next === undefined || next > before) return true;
    return next === before && (this.#units[at - 1]! >= WITHOUT_CASE || this.#units[at]! >= WITHOUT_CASE);
  }

  #text(from: number, to: number): string {
    return asText(this.#units.subarray(from, to), to - from);
  }
}

function add<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

const asText = (units: Uint16Array, count: number): string => String.fromCharCode(...units.subarray(0, count));

/** Words in quotation marks, whose end may be missing. Not the apostrophes of `can't`. */
const QUOTED =
  /(?:(?<!\w)'|["`\u201c\u201e\u2018\u00ab\u00bb\u300c]|&quot;|&#39;)(?<text>[^\n]+?)(?:'(?!\w)|["`\u201c\u201d\u2019\u00ab\u00bb\u300d]|&quot;|&#39;|\.\.\.|\u2026|$)/g;
/** `auto`, `json_schema`: text of one lower-case word. */
const OPTION = /^[a-z_]*$/;

// ---- letters and digits

/** Characters that are folded at once. */
const MOST_FOLDED = 16 * 1_024;
/** From here on, a character says as much as a syllable or a word of others: it counts as several. */
const WITHOUT_CASE = 0x1100;
const WIDE = 3;
const BACKSLASH = 0x5c;

/**
 * Writes the letters and digits of a text to `units` (at `count`), as they are without case and accents; 0 is none. Escapes are those of JSON and
 * Python, of any depth. Returns the number of units and the end, which is behind `to` if an escape is there.
 */
function fold(
  text: string,
  from: number,
  to: number,
  units: Uint16Array,
  count: number,
  see?: (start: number, end: number) => void,
): { readonly count: number; readonly end: number } {
  const folded = foldedUnits();
  let n = count;
  let at = from;
  while (at < to) {
    const start = at;
    let unit = text.charCodeAt(at++);
    if (unit === BACKSLASH) {
      while (text.charCodeAt(at) === BACKSLASH) at++;
      ESCAPE.lastIndex = at;
      const escaped = ESCAPE.exec(text);
      if (escaped !== null) {
        at += escaped[0].length;
        unit = Number.parseInt(escaped[1] ?? escaped[2] ?? '0', 16);
      }
    }
    const letter = folded[unit]!;
    if (letter === 0) continue;
    const end = letter < WITHOUT_CASE ? n + 1 : n + WIDE;
    for (; n < end; n++) {
      units[n] = letter;
      see?.(start, at);
    }
  }
  return { count: n, end: at };
}

const ESCAPE = /u([\da-f]{4})|x([\da-f]{2})|[nrtbf]/iy;

let table: Uint16Array | undefined;

/** By UTF-16 unit; made when a vendor first fails. Halves of pairs stay. */
function foldedUnits(): Uint16Array {
  table ??= Uint16Array.from({ length: 0x10000 }, (_, unit) => {
    if (unit >= 0xd800 && unit < 0xe000) return unit;
    const [plain, ...marks] = String.fromCharCode(unit).toLowerCase().normalize('NFKD').replaceAll(/\p{M}/gu, '');
    const letter = marks.length === 0 && plain !== undefined ? plain : String.fromCharCode(unit);
    return /[\p{L}\p{N}]/u.test(letter) ? letter.charCodeAt(0) : 0;
  });
  return table;
}

// ---- runs

const FILTER = 0x10000;
const BASE = 0x01000193;
/** What a unit counts when it leaves a run. */
const LEAVING = Array.from({ length: RUN }).reduce<number>((product) => Math.imul(product, BASE), 1);

/** Each run of units and its hash. */
function eachRun(units: Uint16Array, count: number, see: (hash: number, at: number) => void): void {
  let hash = 0;
  for (let at = 0; at < count; at++) {
    hash = Math.imul(hash, BASE) + units[at]!;
    if (at >= RUN) hash -= Math.imul(units[at - RUN]!, LEAVING);
    hash |= 0;
    if (at >= RUN - 1) see(mixed(hash), at - RUN + 1);
  }
}

/** The low bits of a product depend on few units. */
function mixed(hash: number): number {
  return (hash ^ (hash >>> 15)) | 0;
}
