/** The body of an answer whose length is not known when it begins, written in as few pieces as its chunks. */
import { type ServerResponse, validateHeaderValue } from 'node:http';

const CRLF = Buffer.from('\r\n');
const NOTHING = Buffer.alloc(0);
/** Larger pieces are not copied to stand in one buffer with what frames them. */
const COPIED = 16 * 1_024;

/**
 * Frames its pieces as chunks by itself, for node writes four pieces for each: its size, the piece and two line ends. A client of
 * HTTP/1.0 knows no chunks; its body ends with the connection.
 */
export class AnswerBody {
  readonly #response: ServerResponse;
  readonly #inChunks: boolean;

  /** To be made once the head has been written, and nothing else. */
  constructor(response: ServerResponse) {
    this.#response = response;
    this.#inChunks = response.chunkedEncoding;
    response.chunkedEncoding = false;
  }

  /** False where the client takes it slower than it comes; then `drain` of the response says when to go on. */
  write(bytes: Buffer | string, written?: () => void): boolean {
    const response = this.#response;
    // A chunk of no bytes would end the body.
    if (!this.#inChunks || bytes.length === 0) return response.write(bytes, written);
    if (bytes.length <= COPIED) return response.write(chunkOf(bytes), written);
    const piece = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    response.write(`${piece.length.toString(16)}\r\n`);
    response.write(piece);
    return response.write(CRLF, written);
  }

  /** The last piece, and headers behind it, which only chunks can have. Throws where these cannot be spelt. */
  end(bytes: Buffer | string = NOTHING, trailers: Readonly<Record<string, string>> = {}): void {
    let lines = '';
    for (const [name, value] of Object.entries(trailers)) {
      validateHeaderValue(name, value);
      lines += `${name}: ${value}\r\n`;
    }
    if (bytes.length > 0) this.write(bytes);
    if (this.#inChunks) this.#response.end(`0\r\n${lines}\r\n`, 'latin1');
    else this.#response.end();
  }
}

function chunkOf(bytes: Buffer | string): Buffer {
  const length = typeof bytes === 'string' ? Buffer.byteLength(bytes) : bytes.length;
  const size = length.toString(16);
  const chunk = Buffer.allocUnsafe(size.length + length + 2 * CRLF.length);
  let at = 0;
  while (at < size.length) chunk[at] = size.charCodeAt(at++);
  chunk.set(CRLF, at);
  at += CRLF.length;
  if (typeof bytes === 'string') chunk.write(bytes, at);
  else chunk.set(bytes, at);
  chunk.set(CRLF, at + length);
  return chunk;
}
