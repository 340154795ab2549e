/** Parses HTTP/1.1 answers from the bytes of one connection, strictly, in one pass. */
import type { Headers } from '../contracts/definitions.ts';
import { HeadReader, INCOMPLETE, TOO_LARGE } from './head-reader.ts';
import { CLOSED_EARLY, HEAD_TOO_LARGE, NOT_HTTP, UPGRADED } from './reasons.ts';

/** The body ends after its last chunk. */
const CHUNKED = -1;
/** The body ends with the connection. */
const UNTIL_CLOSE = -2;

const DIGITS = /^[0-9]{1,15}$/;

/**
 * The length of the body in bytes, `CHUNKED` or `UNTIL_CLOSE`. Undefined if the head is contradictory: an invalid or
 * repeated length, a length together with a transfer coding, or a coding other than `chunked`. Such answers enable
 * response smuggling.
 */
function bodyLength(status: number, headers: Headers): number | undefined {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (length !== undefined || coding.toLowerCase() !== 'chunked')) return undefined;
  if (length !== undefined && !DIGITS.test(length)) return undefined;
  if (status === 204 || status === 304) return 0;
  if (coding !== undefined) return CHUNKED;
  return length === undefined ? UNTIL_CLOSE : Number(length);
}

/** Less than the limits of vendors and their load balancers, so that they rarely close a connection in use. */
const IDLE_MS = 30_000;
/** Maximum, whatever a vendor announces. */
const MAX_IDLE_MS = 60_000;
/** Margin before the time that the vendor announces: its clock starts with its last byte, not with ours. */
const MARGIN_MS = 2_000;

const CLOSE = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const KEEP_ALIVE = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i;
const TIMEOUT = /(?:^|,)[ \t]*timeout[ \t]*=[ \t]*([0-9]{1,9})/i;

/** How long the connection may stay open after this answer, in milliseconds; 0 if it must not be reused. */
function idleMs(minor: number, headers: Headers): number {
  const { connection } = headers;
  const announced = headers['keep-alive'];
  if (connection !== undefined && connection !== 'keep-alive' && CLOSE.test(connection)) return 0;
  // HTTP/1.0 has no transfer codings: implementations disagree about the end of such an answer.
  if (minor === 0 && headers['transfer-encoding'] !== undefined) return 0;
  if (minor === 0 && (connection === undefined || !KEEP_ALIVE.test(connection))) return 0;
  const seconds = announced === undefined ? undefined : TIMEOUT.exec(announced)?.[1];
  if (seconds === undefined) return IDLE_MS;
  return Math.max(0, Math.min(Number(seconds) * 1_000 - MARGIN_MS, MAX_IDLE_MS));
}

/** Receives the parsed answer. It may call `stop` at any time. */
export interface AnswerSink {
  head(status: number, headers: Headers): void;
  data(chunk: Buffer): void;
  /** The answer is complete. `keepMs`: how long its connection may stay open; 0: it must be closed. */
  end(keepMs: number): void;
}

/** Limit of one chunk's extensions. */
const MAX_EXTENSION = 16 * 1_024;
/** Limit of interim answers: a vendor may send one every few seconds while it works, but not without end. */
const MAX_INTERIM = 1_000;
/** Larger chunk sizes are not exact numbers. */
const MAX_SIZE_DIGITS = 12;

const NOTHING = Buffer.alloc(0);

const CR = 0x0d;
const LF = 0x0a;
const TAB = 0x09;
const SEMICOLON = 0x3b;

/** The element expected next; `IDLE`: nothing, because no request is running. */
const IDLE = 0;
const HEAD = 1;
const SIZED = 2;
const TO_CLOSE = 3;
const CHUNK_SIZE = 4;
const CHUNK_EXTENSION = 5;
const CHUNK_SIZE_LF = 6;
const CHUNK_DATA = 7;
const CHUNK_DATA_CR = 8;
const CHUNK_DATA_LF = 9;
const TRAILERS = 10;

/** One per connection. */
export class AnswerParser {
  /** Whether any byte arrived since `expect`. */
  received = false;
  readonly #sink: AnswerSink;
  readonly #head = new HeadReader();
  #place: number = IDLE;
  /** An incomplete head or incomplete trailers. */
  #buffered: Buffer = NOTHING;
  /** Of the body, or of the chunk. */
  #left = 0;
  /** Digits of the chunk's size, or characters of its extensions. */
  #digits = 0;
  #interim = 0;
  #keepMs = 0;

  constructor(sink: AnswerSink) {
    this.#sink = sink;
  }

  /** A request is being sent: an answer may arrive. */
  expect(): void {
    this.received = false;
    this.#place = HEAD;
    this.#interim = 0;
  }

  /** Ignores whatever arrives. */
  stop(): void {
    this.#place = IDLE;
    this.#buffered = NOTHING;
  }

  /** Parses the first `count` bytes of `inbox`, which may then be reused. After an error, it must not be called. */
  push(inbox: Buffer, count: number): string | undefined {
    this.received = true;
    if (this.#place === HEAD && this.#buffered.length === 0) return this.#readHeads(inbox, count);
    const bytes = copyOf(inbox, 0, count);
    switch (this.#place) {
      case HEAD:
        return this.#readHeads(this.#withHeld(bytes));
      case TRAILERS:
        return this.#readTrailers(this.#withHeld(bytes));
      default:
        return this.#readBody(bytes, 0);
    }
  }

  /** The vendor closed the connection cleanly. Returns an error if the answer was incomplete. */
  finish(): string | undefined {
    if (this.#place !== TO_CLOSE) return CLOSED_EARLY;
    this.#end(0);
    return undefined;
  }

  /** Parses interim answers and the answer, and the start of its body. */
  #readHeads(bytes: Buffer, count = bytes.length): string | undefined {
    for (let at = 0; at < count; ) {
      const behind = this.#head.read(bytes, at, count);
      if (behind === INCOMPLETE) this.#buffered = copyOf(bytes, at, count);
      if (behind < 0) return faultOf(behind);
      at = behind;
      const { status } = this.#head;
      if (status === 101) return UPGRADED;
      if (status >= 200) return this.#begin(bytes, at, count);
      if (++this.#interim > MAX_INTERIM) return NOT_HTTP;
    }
    return undefined;
  }

  #begin(bytes: Buffer, at: number, count: number): string | undefined {
    const { status, minor, headers } = this.#head;
    const length = bodyLength(status, headers);
    if (length === undefined) return NOT_HTTP;
    this.#keepMs = length === UNTIL_CLOSE ? 0 : idleMs(minor, headers);
    if (length === CHUNKED) this.#expectChunk();
    else this.#place = length === UNTIL_CLOSE ? TO_CLOSE : SIZED;
    this.#left = Math.max(0, length);
    // Before the listener does anything that makes another connection read into the shared buffer.
    const rest = at < count ? copyOf(bytes, at, count) : NOTHING;
    this.#sink.head(status, headers);
    if (this.#place === IDLE) return undefined;
    if (length === 0) this.#end(rest.length);
    else if (rest.length > 0) return this.#readBody(rest, 0);
    return undefined;
  }

  #readBody(bytes: Buffer, at: number): string | undefined {
    switch (this.#place) {
      case SIZED: {
        const end = Math.min(bytes.length, at + this.#left);
        this.#left -= end - at;
        this.#sink.data(part(bytes, at, end));
        if (this.#left === 0 && this.#place === SIZED) this.#end(bytes.length - end);
        return undefined;
      }
      case TO_CLOSE:
        this.#sink.data(part(bytes, at, bytes.length));
        return undefined;
      case IDLE:
        return undefined;
      default:
        return this.#readChunks(bytes, at);
    }
  }

  /** The data of several chunks is moved together and reported as one. */
  #readChunks(bytes: Buffer, start: number): string | undefined {
    let from = start;
    let to = start;
    let at = start;
    let fault: string | undefined;
    while (at < bytes.length && fault === undefined) {
      if (this.#place === CHUNK_DATA) {
        const end = Math.min(bytes.length, at + this.#left);
        if (from === to) from = at;
        else bytes.copyWithin(to, at, end);
        to = from === at ? end : to + end - at;
        this.#left -= end - at;
        at = end;
        if (this.#left === 0) this.#place = CHUNK_DATA_CR;
      } else if (this.#place === TRAILERS) break;
      else if (!this.#frame(bytes[at++]!)) fault = NOT_HTTP;
    }
    if (to > from) {
      this.#sink.data(part(bytes, from, to));
      if (this.#place === IDLE) return undefined;
    }
    if (fault === undefined && this.#place === TRAILERS && at < bytes.length)
      return this.#readTrailers(bytes.subarray(at));
    return fault;
  }

  /** One byte between the data of chunks; false if it is invalid. */
  #frame(byte: number): boolean {
    switch (this.#place) {
      case CHUNK_SIZE: {
        const digit = hexDigit(byte);
        if (digit >= 0) {
          this.#left = this.#left * 16 + digit;
          return ++this.#digits <= MAX_SIZE_DIGITS;
        }
        if (this.#digits === 0) return false;
        this.#digits = 0;
        if (byte === SEMICOLON) this.#place = CHUNK_EXTENSION;
        else this.#place = CHUNK_SIZE_LF;
        return byte === SEMICOLON || byte === CR;
      }
      case CHUNK_EXTENSION:
        if (byte === CR) this.#place = CHUNK_SIZE_LF;
        else if ((byte < 0x20 && byte !== TAB) || byte === 0x7f) return false;
        return ++this.#digits <= MAX_EXTENSION;
      case CHUNK_SIZE_LF:
        this.#place = this.#left === 0 ? TRAILERS : CHUNK_DATA;
        return byte === LF;
      case CHUNK_DATA_CR:
        this.#place = CHUNK_DATA_LF;
        return byte === CR;
      default:
        this.#expectChunk();
        return byte === LF;
    }
  }

  #expectChunk(): void {
    this.#place = CHUNK_SIZE;
    this.#left = 0;
    this.#digits = 0;
  }

  /** The content of trailers is ignored, but their end is the end of the answer. */
  #readTrailers(bytes: Buffer): string | undefined {
    const behind = this.#head.readTrailers(bytes, 0, bytes.length);
    if (behind === INCOMPLETE) this.#buffered = bytes;
    if (behind < 0) return faultOf(behind);
    this.#end(bytes.length - behind);
    return undefined;
  }

  #withHeld(chunk: Buffer): Buffer {
    if (this.#buffered.length === 0) return chunk;
    const bytes = Buffer.concat([this.#buffered, chunk]);
    this.#buffered = NOTHING;
    return bytes;
  }

  /** `behind`: number of bytes after the answer that belong to no request. */
  #end(behind: number): void {
    const keepMs = behind === 0 ? this.#keepMs : 0;
    this.stop();
    this.#sink.end(keepMs);
  }
}

/** The error in a head, if any. */
function faultOf(behind: number): string | undefined {
  if (behind === INCOMPLETE) return undefined;
  return behind === TOO_LARGE ? HEAD_TOO_LARGE : NOT_HTTP;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function part(bytes: Buffer, from: number, to: number): Buffer {
  return from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
}

function copyOf(bytes: Buffer, from: number, to: number): Buffer {
  const copy = Buffer.allocUnsafe(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}
