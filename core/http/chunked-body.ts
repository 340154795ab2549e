/** The body of an answer of unknown length, written to the socket in few pieces: all of a turn in one. */
import { type ServerResponse, validateHeaderValue } from 'node:http';
import { type Write, writes } from '../runtime/stage.ts';

const NOTHING = Buffer.alloc(0);
/** Larger pieces are written as they are, their chunk framing separately. */
const SMALL = 16 * 1_024;
/** An idle socket always accepts a piece smaller than this without backpressure, so no drain listener is needed. */
const SMALLEST = 8 * 1_024;

/**
 * Frames chunks itself, because node needs four writes for each: size, data and two line ends. An HTTP/1.0 client does
 * not support chunks; its body ends with the connection.
 */
export class AnswerBody implements Write {
  readonly #response: ServerResponse;
  readonly #inChunks: boolean;
  /** Framed pieces of this turn, as latin1. */
  #pending = '';
  /** The head and a first piece have been sent: from now on the response would only forward writes to its socket. */
  #isUnderWay = false;

  /** Create it after the head has been written and before anything else is. */
  constructor(response: ServerResponse) {
    this.#response = response;
    this.#inChunks = response.chunkedEncoding;
    response.chunkedEncoding = false;
  }

  /** Whether the client can see that the body is cut: its last chunk is missing. */
  get isFramed(): boolean {
    return this.#inChunks;
  }

  /** False if the client reads too slowly; then wait for `drain` of the response. */
  write(bytes: Buffer | string, written?: () => void): boolean {
    const response = this.#response;
    const isText = typeof bytes === 'string';
    // An empty chunk would end the body.
    if (!this.#inChunks || bytes.length === 0) {
      this.flush();
      return response.write(bytes, written);
    }
    // Node writes a latin1 string faster than bytes that it has to copy.
    if (bytes.length <= SMALL) return this.#add(framed(isText ? Buffer.from(bytes) : bytes), written);
    this.flush();
    const size = (isText ? Buffer.byteLength(bytes) : bytes.length).toString(16);
    if (isText) return response.write(`${size}\r\n${bytes}\r\n`, 'utf8', written);
    response.write(`${size}\r\n`);
    response.write(bytes);
    return response.write('\r\n', written);
  }

  /** Adds to the pieces of this turn, or writes at once if that may need back-pressure. */
  #add(text: string, written: (() => void) | undefined): boolean {
    const response = this.#response;
    const { socket } = response;
    const isFree = this.#isUnderWay && socket?.writable === true && socket.writableLength === 0;
    if (isFree && written === undefined && this.#pending.length + text.length < SMALLEST) {
      if (this.#pending === '') writes.add(this);
      this.#pending += text;
      return true;
    }
    this.flush();
    if (isFree && text.length < SMALLEST) return socket.write(text, 'latin1', written);
    // Node would buffer the piece until the end of the turn to join it with later ones: a cost, if there are none.
    this.#isUnderWay = socket !== null;
    socket?.cork();
    const isTaken = response.write(text, 'latin1', written);
    socket?.uncork();
    return isTaken;
  }

  /** Writes the pieces of this turn. */
  flush(): void {
    const text = this.#pending;
    if (text === '') return;
    this.#pending = '';
    const { socket } = this.#response;
    if (socket?.writable === true) socket.write(text, 'latin1');
  }

  /** The last piece, and trailers, which only a chunked body can have. Throws if a trailer is invalid. */
  end(bytes: Buffer | string = NOTHING, trailers: Readonly<Record<string, string>> = {}): void {
    let lines = '';
    for (const [name, value] of Object.entries(trailers)) {
      validateHeaderValue(name, value);
      lines += `${name}: ${value}\r\n`;
    }
    const last = `0\r\n${lines}\r\n`;
    if (this.#inChunks && bytes.length > 0 && bytes.length <= SMALL) {
      const text = this.#pending + framed(typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
      this.#pending = '';
      this.#response.end(text + last, 'latin1');
      return;
    }
    if (bytes.length > 0) this.write(bytes);
    this.flush();
    if (this.#inChunks) this.#response.end(last, 'latin1');
    else this.#response.end();
  }
}

/** A chunk, as latin1. */
function framed(bytes: Buffer): string {
  return `${bytes.length.toString(16)}\r\n${bytes.toString('latin1')}\r\n`;
}
