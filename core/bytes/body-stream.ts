/** Request bodies that are too large to be held: multipart with files, and JSON with files inside. */
import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Upload } from '../contracts/formats/call.ts';
import type { Json, JsonObject } from '../contracts/formats/json.ts';
import type { Attachments } from '../contracts/formats/vendor.ts';

/** A body of known length that can be read again for the next attempt. */
export interface BodyStream {
  readonly contentType: string;
  /** In bytes. */
  readonly length: number;
  read(): AsyncIterable<Buffer>;
}

/** A piece of a body: bytes, or those of a file. */
type Piece = Buffer | { readonly file: Upload; readonly as: 'bytes' | 'base64' };

/** A multipart body: texts first, then files, as most servers prefer. A list becomes one part per value. */
export function multipartStream(fields: JsonObject, files: readonly Upload[]): BodyStream {
  // Random, so it occurs in no file.
  const boundary = `turnpike-${randomBytes(18).toString('hex')}`;
  const pieces: Piece[] = [];
  // The bytes between two files are one piece: a hundred thousand small ones would cost more than all their bytes.
  let text = '';
  const part = (about: string): void => {
    text += `--${boundary}\r\nContent-Disposition: form-data; ${about}\r\n\r\n`;
  };
  for (const [name, value] of Object.entries(fields)) {
    for (const each of Array.isArray(value) ? (value as readonly Json[]) : [value]) {
      part(`name="${quoted(name)}"`);
      text += `${typeof each === 'string' ? each : JSON.stringify(each)}\r\n`;
    }
  }
  for (const file of files) {
    part(
      `name="${quoted(file.field)}"; filename="${quoted(file.fileName)}"\r\nContent-Type: ${headerSafe(file.mediaType)}`,
    );
    pieces.push(Buffer.from(text), { file, as: 'bytes' });
    text = '\r\n';
  }
  pieces.push(Buffer.from(`${text}--${boundary}--\r\n`));
  return bodyStreamOf(`multipart/form-data; boundary=${boundary}`, pieces);
}

/** Files that are sent in base64 inside JSON: placeholders stand for them until the body is sent. */
export interface Placing {
  base64: Attachments['base64'];
  /** The body with the files' bytes in place of the placeholders. */
  bodyStream(body: unknown): BodyStream | Buffer;
}

/** Creates one for a request. */
export function createPlacing(): Placing {
  const placed = new Map<string, Upload>();
  return {
    base64(file) {
      const name = `turnpike-file-${randomBytes(18).toString('hex')}`;
      placed.set(name, file);
      return name;
    },
    bodyStream(body) {
      const text = JSON.stringify(body);
      if (placed.size === 0) return Buffer.from(text);
      const pieces = text.split(/(turnpike-file-[0-9a-f]{36})/).map((piece): Piece => {
        const file = placed.get(piece);
        return file === undefined ? Buffer.from(piece) : { file, as: 'base64' };
      });
      return bodyStreamOf('application/json', pieces);
    },
  };
}

/** JSON whose pieces are in memory. */
export function streamOfPieces(pieces: readonly Buffer[]): BodyStream {
  return bodyStreamOf('application/json', pieces);
}

function bodyStreamOf(contentType: string, pieces: readonly Piece[]): BodyStream {
  return {
    contentType,
    length: pieces.reduce((sum, piece) => sum + lengthOf(piece), 0),
    async *read() {
      for (const piece of pieces) {
        if (Buffer.isBuffer(piece)) yield* inSlices(piece);
        else if (piece.as === 'bytes') yield* piece.file.read();
        else yield* inBase64(piece.file.read());
      }
    },
  };
}

/** Maximum bytes of one write: the system accepts megabytes at once, and blocks the event loop while it copies them. */
const SLICE = 128 * 1_024;

async function* inSlices(bytes: Buffer): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE) {
    if (at > 0) await nextTurn();
    yield bytes.subarray(at, at + SLICE);
  }
}

function lengthOf(piece: Piece): number {
  if (Buffer.isBuffer(piece)) return piece.length;
  return piece.as === 'bytes' ? piece.file.size : 4 * Math.ceil(piece.file.size / 3);
}

/** Three bytes become four characters: the remaining bytes of a piece are encoded with the next one. */
async function* inBase64(bytes: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of bytes) {
    const all = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const whole = all.length - (all.length % 3);
    if (whole > 0) yield Buffer.from(all.toString('base64', 0, whole), 'latin1');
    rest = all.subarray(whole);
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
}

/** A name in a header, encoded as browsers do. */
function quoted(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function headerSafe(mediaType: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(mediaType) ? mediaType : 'application/octet-stream';
}
