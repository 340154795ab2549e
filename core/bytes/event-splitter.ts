/** Server-sent events as bytes: split at blank lines, and parsed on demand. */
import type { JsonBody } from '../contracts/formats/json.ts';
import { scanAnswer } from './json-body.ts';
import { closingQuote } from './json-text.ts';
import { parsed } from './values.ts';

/** Splits a stream of bytes into events. Nothing is lost or changed: the events and the rest, joined, are the input. */
export interface EventSplitter {
  /**
   * The events that this chunk completes, each with its blank line; comments are events, too. They may share the
   * chunk's memory. Undefined if one exceeds the limit: then the stream is unusable.
   */
  push(chunk: Buffer): Buffer[] | undefined;
  /**
   * The incomplete rest after the stream has ended. If a stream ends its lines with CR only, its last event is here:
   * only the next byte shows whether an LF belongs to it.
   */
  rest(): Buffer;
  /** Why `push` failed, if not because of the limit. */
  fault?(): string | undefined;
}

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** `maxBytes`: the largest event. Lines end with LF, CRLF or CR, in any mixture. */
export function createEventSplitter({ maxBytes }: { readonly maxBytes: number }): EventSplitter {
  /** The pieces of an event that started in earlier chunks. */
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** The current line is empty so far. */
  let lineStart = true;
  /** The last chunk ended in a CR whose LF may follow. */
  let afterCr = false;
  /** That CR ended a blank line, so an event is complete. */
  let afterBlank = false;

  /** The event that ends at `end` of this chunk and started at `start` or in an earlier chunk. */
  function cut(chunk: Buffer, start: number, end: number): Buffer {
    const piece = start === 0 && end === chunk.length ? chunk : chunk.subarray(start, end);
    if (heldBytes === 0) return piece;
    held.push(piece);
    const event = Buffer.concat(held, heldBytes + piece.length);
    held = [];
    heldBytes = 0;
    return event;
  }

  return {
    push(chunk) {
      const events: Buffer[] = [];
      if (chunk.length === 0) return events;
      /** Start of the current event in this chunk. */
      let start = 0;
      let at = 0;
      if (afterCr) {
        afterCr = false;
        if (chunk[0] === LF) at = 1;
        if (afterBlank) {
          if (heldBytes + at > maxBytes) return undefined;
          events.push(cut(chunk, 0, at));
          start = at;
        }
      }
      let lf = chunk.indexOf(LF, at);
      let cr = chunk.indexOf(CR, at);
      for (;;) {
        if (at === chunk.length) break;
        // Usually a blank line follows: checking is cheaper than searching.
        if (lf !== -1 && lf < at) lf = chunk[at] === LF ? at : chunk.indexOf(LF, at);
        if (cr !== -1 && cr < at) cr = chunk.indexOf(CR, at);
        const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr;
        if (end === -1) {
          lineStart = false;
          break;
        }
        const blank = lineStart && end === at;
        lineStart = true;
        if (end === cr && end + 1 === chunk.length) {
          afterCr = true;
          afterBlank = blank;
          break;
        }
        at = end + (end === cr && chunk[end + 1] === LF ? 2 : 1);
        if (blank) {
          if (heldBytes + at - start > maxBytes) return undefined;
          events.push(cut(chunk, start, at));
          start = at;
        }
      }
      if (start < chunk.length) {
        held.push(start === 0 ? chunk : chunk.subarray(start));
        heldBytes += chunk.length - start;
        if (heldBytes > maxBytes) return undefined;
      }
      return events;
    },
    rest: () => Buffer.concat(held, heldBytes),
  };
}

/**
 * The last event of a stream that ended cleanly without a blank line, as some vendors do; with that line. Undefined if
 * the stream ended inside an event: its data must be a complete JSON object or list, or `[DONE]`.
 */
export function unendedEvent(rest: Buffer): Buffer | undefined {
  // A blank line that ends in CR: only the next byte would have shown whether an LF belongs to it.
  if (/[\r\n]\r$/.test(rest.toString('latin1', Math.max(0, rest.length - 2)))) return rest;
  const data = eventData(rest);
  if (data === undefined || !(isEndMark(data) || typeof (parsed(data) ?? 0) === 'object')) return undefined;
  return Buffer.concat([rest, rest.at(-1) === LF ? BLANK_LINE.subarray(1) : BLANK_LINE]);
}

const BLANK_LINE = Buffer.from('\n\n');

/** `[DONE]`, the end of a stream in several styles. */
export function isEndMark(data: string): boolean {
  return data.trim() === '[DONE]';
}

/** Whether data that is not JSON started as an object or a list of them; only then is a part of the answer lost. */
export function isCutShort(data: string): boolean {
  return /^\s*(?:\[\s*)?\{/.test(data);
}

/** The error for a stream with such an event. */
export const CUT_SHORT = { message: 'The vendor sent an incomplete event.', code: '' } as const;

/** Whether an event's data is a closed object, by its brackets: a stream has too many events to parse each. */
export function isClosed(event: Buffer): boolean {
  let at = event.indexOf(OPEN_OBJECT);
  if (at === -1) return false;
  let depth = 0;
  for (; at < event.length; at++) {
    const byte = event[at];
    if (byte === QUOTE) at = closingQuote(event, at + 1);
    else if (byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_OBJECT) depth--;
  }
  return depth === 0;
}

/** The content of an event's `data` lines, joined by LF; undefined if there is none. */
export function eventData(event: Buffer): string | undefined {
  return field(event, 'data')?.join('\n');
}

/**
 * An event with some members of its data changed, or of the object in one member of it (`inside`); everything else
 * stays unchanged. `changesOf` returns their new JSON text; if it returns nothing, or there is no such object, the
 * event itself is returned.
 */
export function patchedEvent(
  event: Buffer,
  inside: string | undefined,
  changesOf: (value: JsonBody) => Readonly<Record<string, string>>,
): Buffer {
  const data = eventData(event);
  const outer = data === undefined ? undefined : scanAnswer(Buffer.from(data));
  const span = inside === undefined ? undefined : outer?.members.get(inside);
  const inner = inside === undefined ? outer : span && scanAnswer(outer!.bytes.subarray(span.start, span.end));
  if (data === undefined || outer === undefined || inner === undefined) return event;
  const changes = changesOf(inner);
  if (Object.keys(changes).length === 0) return event;
  const bytes = inner.patched(changes);
  const written = (inside === undefined ? bytes : outer.patched({ [inside]: bytes.toString() })).toString();
  const text = event.toString();
  if (text.includes(data)) return Buffer.from(text.replace(data, () => written));
  // The data was in several lines.
  const name = eventName(event);
  const head = name === undefined ? '' : `event: ${name}\n`;
  return Buffer.from(`${head}data: ${JSON.stringify(JSON.parse(written))}\n\n`);
}

/** The name of an event: its last `event` line; undefined if there is none. */
export function eventName(event: Buffer): string | undefined {
  return field(event, 'event')?.at(-1);
}

/** The values of all lines of one name. */
function field(event: Buffer, name: string): string[] | undefined {
  let values: string[] | undefined;
  for (const line of event
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)) {
    if (!line.startsWith(name)) continue;
    if (line.length > name.length && line[name.length] !== ':') continue;
    const value = line.slice(name.length + 1);
    values ??= [];
    values.push(value.startsWith(' ') ? value.slice(1) : value);
  }
  return values;
}
