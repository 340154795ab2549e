/** Reads the header fields of an answer as RFC 9112 writes them, and refuses whatever another reader could take for something else. */
import type { Headers } from '../contracts/call.ts';
import { Dictionary } from '../dictionary.ts';

/** As many as node's own client accepts. */
const MAX_FIELDS = 2_000;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;

/** Lower-case names by the names as they were sent. Vendors send few different ones; more are not remembered. */
const lowerNames = new Map<string, string>();
const MAX_NAMES = 1_000;

/**
 * Reads the lines of `text` from `start` on; repeated fields are joined with a comma. Undefined if a line is no field: a name that
 * is no token, a folded line, a control character, or more than 2,000 lines.
 */
export function readFields(text: string, start: number): Headers | undefined {
  const headers = new Dictionary();
  for (let at = start, count = 0; at < text.length; count++) {
    let end = text.indexOf('\r\n', at);
    if (end === -1) end = text.length;
    const colon = text.indexOf(':', at);
    if (colon === -1 || colon >= end || count === MAX_FIELDS) return undefined;
    const name = lowerName(text.slice(at, colon));
    if (name === undefined) return undefined;
    const value = trimmed(text, colon + 1, end);
    if (hasControl(value)) return undefined;
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}, ${value}`;
    at = end + 2;
  }
  return headers;
}

/** True if a value holds a character that no field value may hold. */
export function hasControl(value: string): boolean {
  return CONTROL.test(value);
}

function lowerName(name: string): string | undefined {
  const known = lowerNames.get(name);
  if (known !== undefined) return known;
  if (!TOKEN.test(name)) return undefined;
  const lower = name.toLowerCase();
  if (lowerNames.size < MAX_NAMES) lowerNames.set(name, lower);
  return lower;
}

const SPACE = 0x20;
const TAB = 0x09;

/** A part of a text without the spaces and tabs around it. */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
