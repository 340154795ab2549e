/**
 * JSON that is the same text after it was read and written: `JSON.parse` changes integers above 2^53, `1e400`, `-0` and `1.0`, reorders names
 * that are numbers, and keeps the last of several members of one name. Arguments and schemas of clients and models are theirs, so where
 * parsing would change them, the parsed tree has an object in their place that is written as the original text.
 */
import { randomBytes } from 'node:crypto';
import type { Json, JsonBody, JsonObject } from '../contracts/formats/json.ts';
import { isTooDeep } from './json-text.ts';

/** A value of a parsed tree that `exactJson` writes as this text. Others see the value that parsing yields. */
class ExactJson {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  toJSON(): unknown {
    if (writing === undefined) return JSON.parse(this.#text);
    writing.push(this.#text);
    return `${MARK}${writing.length - 1}`;
  }
}

/** The exact texts of the value that is being written. */
let writing: string[] | undefined;

/** Marks a place for an exact text between two steps of one function; random, so that it occurs nowhere else. */
const MARK = `exact-${randomBytes(18).toString('hex')}-`;
const MARKS = new RegExp(`"${MARK}(\\d+)"`, 'g');

/** The JSON text of a value, with the original text of what parsing would have changed. */
export function exactJson(value: unknown): string {
  const outer = writing;
  const texts: string[] = [];
  writing = texts;
  try {
    const text = JSON.stringify(value);
    return texts.length === 0 ? text : text.replaceAll(MARKS, (_, index) => texts[Number(index)]!);
  } finally {
    writing = outer;
  }
}

/** An object that is written as this text, which is JSON; the parsed object if that is the same. */
export function exactObject(text: string, value: JsonObject): JsonObject {
  return isFaithful(text, value) ? value : (new ExactJson(text) as unknown as JsonObject);
}

/** The original text of an object whose parsing would have changed it; undefined for all other values. */
export function exactText(value: Json | undefined): string | undefined {
  return value instanceof ExactJson ? value.text : undefined;
}

/** JSON text of arguments, which some vendors and clients send as the object itself. */
export function jsonText(value: Json): string {
  return exactText(value) ?? exactJson(value);
}

/** Whether a JSON text is the same, apart from white space and escapes, after it was parsed to this value. */
export function isFaithful(text: string, value: Json): boolean {
  const written = JSON.stringify(value);
  return written === text || written === spelledUsually(text);
}

/** A JSON text without white space, and with the escapes that `JSON.stringify` writes. */
function spelledUsually(text: string): string {
  return text.replaceAll(/\s+|"(?:[^"\\]|\\.)*"/g, (token) => {
    if (token[0] !== '"') return '';
    return token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;
  });
}

/** The members whose objects are the arguments of a call, and those with schemas or labels, in which only numbers can be at risk. */
const MEMBERS = /"(?:(input|args|arguments)|parameters|parametersJsonSchema|input_schema|schema|metadata)"\s*:\s*\{/g;

/** Only a number like these may be changed by parsing; a cheap test before the exact one. */
const RISKY = /\d[\d.]{15}|\d[eE]|\d\.\d*0(?!\d)|-0/;

/** The parsed body, with exact texts in place of what parsing would change. */
export function exactTree(body: JsonBody): Json {
  return parseRisky(body.bytes.toString('utf8')) ?? body.tree();
}

/** The same for a top-level member. */
export function exactMember(body: JsonBody, name: string): Json | undefined {
  const span = body.members.get(name);
  return (span && parseRisky(body.bytes.toString('utf8', span.start, span.end))) ?? body.get(name);
}

/** `JSON.parse` with exact texts in place of what it would change. Throws like it. */
export function parseExactly(text: string): Json {
  return parseRisky(text) ?? (JSON.parse(text) as Json);
}

/** The same; undefined if `JSON.parse` changes nothing. */
export function parseRisky(text: string): Json | undefined {
  const kept: ExactJson[] = [];
  const keep = (exact: string): string => `"${MARK}${kept.push(new ExactJson(exact)) - 1}"`;
  let out = '';
  let read = 0;
  MEMBERS.lastIndex = 0;
  for (let found = MEMBERS.exec(text); found !== null; found = MEMBERS.exec(text)) {
    // Inside a string, its quotes would have a backslash.
    if (text[found.index - 1] === '\\') continue;
    const start = MEMBERS.lastIndex - 1;
    const end = endOfObject(text, start);
    const object = text.slice(start, end);
    const exact = found[1] === undefined ? withNumbers(object, keep) : isWhole(object) ? object : keep(object);
    if (exact !== object) {
      out += text.slice(read, start) + exact;
      read = end;
    }
    MEMBERS.lastIndex = end;
  }
  if (kept.length === 0) return undefined;
  return revived(JSON.parse(out + text.slice(read)) as Json, kept);
}

/** Whether parsing keeps an object; true if it is invalid, which parsing everything will tell. */
function isWhole(object: string): boolean {
  if (object.length <= 2 || isTooDeep(object)) return true;
  try {
    return isFaithful(object, JSON.parse(object) as Json);
  } catch {
    return true;
  }
}

function withNumbers(object: string, keep: (exact: string) => string): string {
  if (!RISKY.test(object)) return object;
  return object.replaceAll(NUMBERS, (token) => {
    const isNumber = token[0] !== '"';
    return isNumber && JSON.stringify(Number(token)) !== token ? keep(token) : token;
  });
}

const NUMBERS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;

/** The position behind the object that begins here; the end of the text if it is not closed. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const letter = text[at];
    if (letter === '"') at = closingQuote(text, at + 1);
    else if (letter === '{') depth++;
    else if (letter === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}

function closingQuote(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function revived(value: Json, kept: readonly ExactJson[]): Json {
  if (typeof value === 'string') {
    return value.startsWith(MARK) ? (kept[Number(value.slice(MARK.length))] as unknown as Json) : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = value as Record<string, Json>;
  for (const name of Object.keys(members)) {
    const inner = members[name]!;
    if (typeof inner === 'object' || typeof inner === 'string') {
      const own = revived(inner, kept);
      if (own !== inner) Object.defineProperty(members, name, { value: own });
    }
  }
  return value;
}
