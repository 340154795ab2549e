/** Streams of JSON lines and other frames, each converted to a server-sent event: later code knows no others. */

import { createEventSplitter, type EventSplitter } from '../bytes/event-splitter.ts';
import type { FrameFormat, Frames, StreamEvent } from '../contracts/formats/vendor.ts';
import { withoutParsed } from '../runtime/logger.ts';

/** The `accept` header for a stream. */
export function acceptOf(frames: Frames | undefined): string {
  if (frames === undefined || frames === 'sse') return 'text/event-stream';
  return frames === 'ndjson' ? 'application/x-ndjson' : frames.mediaType;
}

/** The splitter for a stream of this content type; undefined if the content type does not match the format. */
export function createFrameSplitter(
  frames: Frames | undefined,
  contentType: string,
  maxBytes: number,
): EventSplitter | undefined {
  if (frames === undefined || frames === 'sse') return undefined;
  const isTheirs =
    frames === 'ndjson'
      ? JSON_LINES.test(contentType)
      : mediaTypeOf(contentType).startsWith(mediaTypeOf(frames.mediaType));
  return isTheirs ? framesOf(frames, maxBytes) : undefined;
}

/** The splitter for a stream in the vendor's frames. */
export function framesOf(frames: Frames | undefined, maxBytes: number): EventSplitter {
  if (frames === undefined || frames === 'sse') return createEventSplitter({ maxBytes });
  return frames === 'ndjson' ? createLineSplitter(maxBytes) : createFormatSplitter(frames, maxBytes);
}

/** A content type without parameters, in lower case: media types ignore case. */
export function mediaTypeOf(contentType: string): string {
  return contentType.split(';')[0]!.trim().toLowerCase();
}

/**
 * What the answer to a request for a stream is, by its first bytes: JSON, a stream of the vendor's frames, or neither.
 * `open`: not known yet.
 */
export function recognized(
  start: Buffer,
  type: string,
  frames: Frames | undefined,
): 'json' | 'stream' | 'other' | 'open' {
  const text = start.toString('latin1').replace(SPACE_AND_BOM, '');
  const isJson = /^[{[]/.test(text);
  if (frames === undefined || frames === 'sse') {
    // An error may have the type of the stream that was requested.
    if (isJson) return 'json';
    if (mediaTypeOf(type) === 'text/event-stream' || EVENT_FIELD.test(text)) return 'stream';
    return FIELDS.some((field) => field.startsWith(text)) ? 'open' : 'other';
  }
  const media = mediaTypeOf(type);
  // Only the type could tell one line from a whole answer.
  if (frames === 'ndjson')
    return text === '' ? 'open' : !isJson || isPage(media) ? 'other' : media === 'application/json' ? 'json' : 'stream';
  if (isJson) return 'json';
  return /^(text\/|application\/(json|xml|xhtml))/.test(media) ? 'other' : 'stream';
}

function isPage(media: string): boolean {
  return /^(text\/html|application\/xhtml)/.test(media);
}

/** A byte order mark or its first bytes, read as latin1, and space. */
const SPACE_AND_BOM = /^(?:\xef(?:\xbb(?:\xbf|$)|$))?\s*/;
const FIELDS = ['data', 'event', 'id', 'retry'];
/** The first line of an event stream: a comment, or a field with or without a value. */
const EVENT_FIELD = /^(?::|(?:data|event|id|retry)[:\r\n])/;

/** The format has no registered type; these are in use. */
const JSON_LINES = /^application\/(?:(?:x-)?(?:ndjson|jsonl|jsonlines|json-lines)|stream\+json)\b/i;

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const NOTHING = Buffer.alloc(0);
const DATA = Buffer.from('data: ');
const EVENT_END = Buffer.from('\n\n');

/** One event for each non-empty line. */
function createLineSplitter(maxBytes: number): EventSplitter {
  /** The pieces of a line that started in earlier chunks. */
  let held: Buffer[] = [];
  let heldBytes = 0;

  return {
    push(chunk) {
      const events: Buffer[] = [];
      let start = 0;
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
        if (heldBytes + end - start > maxBytes) return undefined;
        const line = lineOf([...held, chunk.subarray(start, end)]);
        if (line.length > 0) events.push(Buffer.concat([DATA, line, EVENT_END]));
        held = [];
        heldBytes = 0;
        start = end + 1;
      }
      if (start < chunk.length) {
        held.push(chunk.subarray(start));
        heldBytes += chunk.length - start;
        if (heldBytes > maxBytes) return undefined;
      }
      return events;
    },
    // The last line may have no line end.
    rest() {
      const line = lineOf(held);
      return line.length === 0 ? NOTHING : Buffer.concat([DATA, line]);
    },
  };
}

/** A line without surrounding space. A carriage return inside, space in JSON, would end the line of an event. */
function lineOf(pieces: readonly Buffer[]): Buffer {
  const bytes = Buffer.concat(pieces);
  for (let at = bytes.indexOf(CR); at !== -1; at = bytes.indexOf(CR, at)) bytes[at] = SPACE;
  let start = 0;
  let end = bytes.length;
  while (start < end && bytes[start]! <= SPACE) start++;
  while (end > start && bytes[end - 1]! <= SPACE) end--;
  return bytes.subarray(start, end);
}

/** The events in the frames of a format. A truncated last frame is dropped, like an incomplete event. */
function createFormatSplitter(format: FrameFormat, maxBytes: number): EventSplitter {
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** The length of the first frame in the buffer, once known. */
  let length: number | undefined;
  let fault: string | undefined;

  function cut(chunk: Buffer): Buffer[] | undefined {
    const events: Buffer[] = [];
    held.push(chunk);
    heldBytes += chunk.length;
    // Nothing is copied before the frame is complete.
    if (length !== undefined && heldBytes < length) return events;
    let bytes = held.length === 1 ? chunk : Buffer.concat(held);
    while (bytes.length > 0) {
      length ??= checkedLength(format.lengthOf(bytes));
      if ((length ?? bytes.length) > maxBytes) return undefined;
      if (length === undefined || bytes.length < length) break;
      const event = format.read(bytes.subarray(0, length));
      if (event !== undefined) events.push(eventOf(event));
      bytes = bytes.subarray(length);
      length = undefined;
    }
    held = bytes.length === 0 ? [] : [bytes];
    heldBytes = bytes.length;
    return events;
  }

  return {
    push(chunk) {
      try {
        return cut(chunk);
      } catch (error) {
        const why = withoutParsed(error instanceof Error ? error.message : String(error));
        fault = `a frame of the stream is invalid: ${why}`;
        return undefined;
      }
    },
    rest: () => NOTHING,
    fault: () => fault,
  };
}

function checkedLength(length: number | undefined): number | undefined {
  if (length !== undefined && !(Number.isSafeInteger(length) && length > 0)) throw new Error(`its length is ${length}`);
  return length;
}

/** Encodes a server-sent event. */
function eventOf({ name, data }: StreamEvent): Buffer {
  const head = name === undefined ? '' : `event: ${name.replace(/[\r\n]/g, ' ')}\n`;
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return Buffer.from(`${head}${lines.join('')}\n`);
}
