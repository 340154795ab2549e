/** The body of an answer of unknown length, written to the socket in few pieces. */
import { type ServerResponse, validateHeaderValue } from 'node:http';

const NOTHING = Buffer.alloc(0);
/** Larger pieces are written as they are, their chunk framing separately. */
const SMALL = 16 * 1_024;
/** An idle socket always accepts a piece smaller than this without backpressure, so no drain listener is needed. */
const SMALLEST = 8 * 1_024;

/**
 * Frames chunks itself, because node needs four writes for each: size, data and two line ends. An HTTP/1.0 client does
 * not support chunks; its body ends with the connection.
 */
export class AnswerBody {
  readonly #response: ServerResponse;
  readonly #inChunks: boolean;
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
    // An empty chunk would end the body.
    if (!this.#inChunks || bytes.length === 0) return response.write(bytes, written);
    const isText = typeof bytes === 'string';
    const size = (isText ? Buffer.byteLength(bytes) : bytes.length).toString(16);
    if (isText) return response.write(`${size}\r\n${bytes}\r\n`, 'utf8', written);
    // Node writes a latin1 string faster than bytes that it has to copy.
    if (bytes.length <= SMALL) return this.#writeNow(`${size}\r\n${bytes.toString('latin1')}\r\n`, written);
    response.write(`${size}\r\n`);
    response.write(bytes);
    return response.write('\r\n', written);
  }

  /** Node would buffer the piece until the end of the turn to join it with later ones: a cost, if there are none. */
  #writeNow(text: string, written: (() => void) | undefined): boolean {
    const response = this.#response;
    const { socket } = response;
    if (this.#isUnderWay && text.length < SMALLEST && socket?.writable && socket.writableLength === 0) {
      return socket.write(text, 'latin1', written);
    }
    this.#isUnderWay = socket !== null;
    socket?.cork();
    const isTaken = response.write(text, 'latin1', written);
    socket?.uncork();
    return isTaken;
  }

  /** The last piece, and trailers, which only a chunked body can have. Throws if a trailer is invalid. */
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
