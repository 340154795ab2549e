/** Scripts: what a fake vendor does on the wire, move by move, and the ready-made ones that most tests need. */
import { STATUS_CODES } from 'node:http';
import type { Json } from '../../../core/contracts/formats/json.ts';
import { type ChatAnswer, chatBody, chatError, chatEvents } from '../gateway/fixtures.ts';

/** One thing a vendor does on the wire. */
export type Move =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'hold'; readonly name: string }
  | { readonly kind: 'atHead' | 'stopReading' | 'fin' | 'rst' | 'silence' };

/** An answer, move by move. One that ends without `fin`, `rst` or `silence` keeps the connection for the next request. */
export type Script = readonly Move[];

/** Writes these bytes in one go. */
export function bytes(data: string | Buffer): Move {
  return { kind: 'bytes', bytes: Buffer.from(data) };
}
/** Waits in real time. Prefer `hold`: a test must not depend on how fast the machine is. */
export function pause(ms: number): Move {
  return { kind: 'pause', ms };
}
/** Waits until the test calls `vendor.release(name)`. */
export function hold(name = 'hold'): Move {
  return { kind: 'hold', name };
}
/** As first move: answers as soon as the head of the request has come, without waiting for its body. */
export function atHead(): Move {
  return { kind: 'atHead' };
}
/** Reads nothing more from this connection. */
export function stopReading(): Move {
  return { kind: 'stopReading' };
}
/** Closes the connection in order. */
export function fin(): Move {
  return { kind: 'fin' };
}
/** Tears the connection down with a reset. */
export function rst(): Move {
  return { kind: 'rst' };
}
/** Says nothing more, and keeps the connection open until the peer or the test ends it. */
export function silence(): Move {
  return { kind: 'silence' };
}

/** The status line and the headers, written as given: a wrong `content-length` stays wrong. A name may come twice. */
export function head(status: number, headers: Readonly<Record<string, string | readonly string[]>> = {}): Move {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  );
  return bytes(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`);
}
/** One chunk of a chunked body. */
export function chunk(data: string | Buffer): Move {
  const body = Buffer.from(data);
  return bytes(Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]));
}
/** The end of a chunked body. */
export function lastChunk(): Move {
  return bytes('0\r\n\r\n');
}

/** A whole body under its true `content-length`. */
export function sized(status: number, contentType: string, body: string | Buffer, more: HeaderFields = {}): Script {
  const data = Buffer.from(body);
  const headers = { 'content-type': contentType, 'content-length': String(data.length), ...more };
  return [head(status, headers), ...(data.length > 0 ? [bytes(data)] : [])];
}
/** Headers of an answer. */
export type HeaderFields = Readonly<Record<string, string>>;

/** A chunked event stream. Events are strings; moves between them are made as they stand, and one at the end replaces the last chunk. */
export function eventStream(items: readonly (string | Move)[], more: HeaderFields = {}): Script {
  const start = head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked', ...more });
  const moves = items.map((item) => (typeof item === 'string' ? chunk(item) : item));
  const ended = typeof items.at(-1) === 'object';
  return [start, ...moves, ...(ended ? [] : [lastChunk()])];
}

/** A JSON answer of any status. */
export function jsonAnswer(status: number, body: Json, more: HeaderFields = {}): Script {
  return sized(status, 'application/json', JSON.stringify(body), more);
}
/** A whole chat answer. */
export function wholeAnswer(answer: ChatAnswer = {}): Script {
  return jsonAnswer(200, chatBody(answer));
}
/** A streamed chat answer, one event per chunk. */
export function streamAnswer(answer: ChatAnswer = {}): Script {
  return eventStream(chatEvents(answer));
}
/** An error as chat vendors answer it; `more` for `retry-after`. */
export function errorAnswer(status: number, message = 'The vendor is unwell.', more: HeaderFields = {}): Script {
  return jsonAnswer(status, chatError(message, `vendor_${status}`), more);
}
/** A page of HTML where JSON is expected. */
export function htmlAnswer(status = 200): Script {
  return sized(status, 'text/html', '<!doctype html><title>Gateway</title><h1>It works</h1>');
}

/** The same bytes, at most `size` of them in one write. */
export function inPieces(script: Script, size: number): Script {
  return script.flatMap((move) => {
    if (move.kind !== 'bytes') return [move];
    const pieces: Move[] = [];
    for (let start = 0; start < move.bytes.length; start += size) {
      pieces.push({ kind: 'bytes', bytes: move.bytes.subarray(start, start + size) });
    }
    return pieces;
  });
}
/** The first `count` bytes, head included (below zero: all but so many), then `end`. */
export function cutAt(script: Script, count: number, end: Move = rst()): Script {
  let left = count < 0 ? lengthOf(script) + count : count;
  const kept: Move[] = [];
  for (const move of script) {
    if (left <= 0) break;
    if (move.kind !== 'bytes') {
      kept.push(move);
      continue;
    }
    kept.push({ kind: 'bytes', bytes: move.bytes.subarray(0, left) });
    left -= move.bytes.length;
  }
  return [...kept, end];
}
/** How many bytes a script writes. */
export function lengthOf(script: Script): number {
  return script.reduce((sum, move) => sum + (move.kind === 'bytes' ? move.bytes.length : 0), 0);
}
