/**
 * Mends `JSON.parse` where it needs it: from Node 23 on (V8 12.9 to 14.6 at least), a member name with an escape can be read as a name of an earlier
 * text, of any client: after `{"a":1,"\\":2}`, the name in `{"a":1,"\n":2}` is a backslash. Every module and package of the process gets the right
 * names, so that nothing has to know this. Imported first by each entry point (scripts/check-imports.ts).
 */

const TAB = 0x09;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

type Reviver = (this: unknown, name: string, value: unknown) => unknown;
type Parse = (text: string, reviver?: Reviver) => unknown;
type Members = Record<string, unknown>;

const native: Parse = JSON.parse;

/** Whether this version of Node confuses names. */
export const confusesNames = isConfused();
if (confusesNames) JSON.parse = exactParse;

function isConfused(): boolean {
  native('{"a":1,"\\\\":2}');
  return !Object.hasOwn(native('{"a":1,"\\n":2}') as object, '\n');
}

/** What `JSON.parse` promises. Exported for tests of versions that do not need it. */
export function exactParse(text: string, reviver?: Reviver): unknown {
  // Its errors, and the value of nearly every text.
  const value = native(text);
  const valid = String(text);
  if (!hasEscapedName(valid)) return reviver === undefined ? value : native(text, reviver);
  const exact = read(valid);
  return reviver === undefined ? exact : revived({ '': exact }, '', reviver);
}

/** Every call parses with this, so that it looks for the few characters that matter instead of at each one. */
function hasEscapedName(text: string): boolean {
  let quote = -1;
  let escapeAt = text.indexOf('\\');
  while (escapeAt >= 0) {
    const next = escapeAt + 2;
    if (quote < next) quote = text.indexOf('"', next);
    escapeAt = text.indexOf('\\', next);
    // The string goes on.
    if (escapeAt >= 0 && escapeAt < quote) continue;
    let at = quote + 1;
    while (isSpace(text.charCodeAt(at))) at++;
    if (text.charCodeAt(at) === COLON) return true;
  }
  return false;
}

/** The position behind the closing quote of a string; `at` is inside of it. */
function behindString(text: string, at: number): number {
  for (let next = at; ; next++) {
    const code = text.charCodeAt(next);
    if (code === BACKSLASH) next++;
    else if (code === QUOTE) return next + 1;
  }
}

const isSpace = (code: number): boolean => code === SPACE || code === LINE_FEED || code === RETURN || code === TAB;

/** The value of a valid text. Without recursion: JSON may be nested more deeply than calls. */
function read(text: string): unknown {
  const top: unknown[] = [];
  const around: (unknown[] | Members)[] = [];
  let into: unknown[] | Members = top;
  let name: string | undefined;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) into = around.pop()!;
    const isOpening = code === OPEN_OBJECT || code === OPEN_ARRAY;
    const end = isOpening ? at + 1 : endOf(text, at, code);
    if (end === at) {
      at++;
      continue;
    }
    const value = isOpening ? (code === OPEN_ARRAY ? [] : {}) : native(text.slice(at, end));
    at = end;
    if (Array.isArray(into)) into.push(value);
    else if (name === undefined) {
      name = value as string;
      continue;
    } else {
      put(into, name, value);
      name = undefined;
    }
    if (!isOpening) continue;
    around.push(into);
    into = value as unknown[] | Members;
  }
  return top[0];
}

/** The end of the string, number or word at a position; the position itself if none is there. */
function endOf(text: string, at: number, code: number): number {
  if (code === QUOTE) return behindString(text, at + 1);
  let end = at;
  while (end < text.length && !isBetween(text.charCodeAt(end))) end++;
  return end;
}

const isBetween = (code: number): boolean =>
  isSpace(code) || code === COMMA || code === COLON || code === CLOSE_OBJECT || code === CLOSE_ARRAY;

function put(object: Members, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

/** The value of a member after the reviver has replaced what is in it, and then itself. */
function revived(holder: Members, name: string, reviver: Reviver): unknown {
  const value = holder[name];
  if (typeof value === 'object' && value !== null) {
    const members = value as Members;
    for (const its of Object.keys(members)) {
      const next = revived(members, its, reviver);
      if (next === undefined) delete members[its];
      else put(members, its, next);
    }
  }
  return reviver.call(holder, name, value);
}
