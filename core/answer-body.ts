/** The body of an answer whose length is not known when it begins, written in as few pieces as its chunks. */
import { type ServerResponse, validateHeaderValue } from 'node:http';

const NOTHING = Buffer.alloc(0);
/** Larger pieces leave as they are, with what frames them before and behind. */
const SMALL = 16 * 1_024;
/** Of a smaller one a socket with nothing to do says that it takes more: nobody has to be told when it does again. */
const SMALLEST = 8 * 1_024;

/**
 * Frames its pieces as chunks by itself, for node writes four pieces for each: its size, the piece and two line ends. A client of
 * HTTP/1.0 knows no chunks; its body ends with the connection.
 */
export class AnswerBody {
  readonly #response: ServerResponse;
  readonly #inChunks: boolean;
  /** The head has left, with a first piece: what is written from now on the response would only hand to its socket. */
  #isUnderWay = false;

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
    const isText = typeof bytes === 'string';
    const size = (isText ? Buffer.byteLength(bytes) : bytes.length).toString(16);
    if (isText) return response.write(`${size}\r\n${bytes}\r\n`, 'utf8', written);
    // As a string, each of its characters a byte, a piece takes node less than as bytes that are copied.
    if (bytes.length <= SMALL) return this.#writeNow(`${size}\r\n${bytes.toString('latin1')}\r\n`, written);
    response.write(`${size}\r\n`);
    response.write(bytes);
    return response.write('\r\n', written);
  }

  /** Node would hold it back until the end of the turn, to join it with what may follow; that costs more than it saves where nothing does. */
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
