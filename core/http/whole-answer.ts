/**
 * A whole answer in one write: its head as node would write it, and its body behind it. Node's own way (`send` in responses.ts) makes two pieces and
 * a dozen objects of it. This file alone uses private fields of node; a test at start shows whether they are what it takes them for, and without
 * them, and for every answer that is not of the usual kind, node writes. Measured: `scripts/bench/README.md`.
 */
import { IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import { writeWhole } from '../helpers/write-whole.ts';
import { type Write, writes } from '../runtime/stage.ts';

/** Of `ServerResponse`, in node 20 to 24. */
interface Private {
  _header: string | null;
  _headerSent: boolean;
  _contentLength: number | null;
  _keepAliveTimeout: number;
  _maxRequestsPerSocket: number;
  maxRequestsOnConnectionReached?: boolean;
  outputData: unknown[];
  finished: boolean;
  _finish(): void;
}

/** Larger ones are written by node, which does not copy them. */
const MOST = 12 * 1_024;

/** Writes the answer at the end of the turn. `lines`: of its head, without those that frame it. False: node has to write it. */
export function writeAtOnce(
  response: ServerResponse,
  status: number,
  lines: string,
  body: Buffer,
  nowMs: number,
  written: WrittenAnswer,
): boolean {
  if (!isKnown) return false;
  const inside = response as unknown as Private;
  const { socket, req } = response;
  const isUsual =
    socket !== null &&
    body.length <= MOST &&
    inside._header === null &&
    inside.outputData.length === 0 &&
    response.shouldKeepAlive &&
    inside.maxRequestsOnConnectionReached !== true &&
    req.httpVersionMinor === 1 &&
    req.method !== 'HEAD' &&
    socket.writable &&
    socket.writableLength === 0 &&
    response.getHeaderNames().length === 0;
  if (!isUsual) return false;
  const head =
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}content-length: ${body.length}\r\n` +
    dateLine(nowMs) +
    keepAliveLines(inside._maxRequestsPerSocket);
  response.statusCode = status;
  inside._header = head;
  inside._contentLength = body.length;
  inside.finished = true;
  writes.add(new Answer(response, socket, head, body, written));
  return true;
}

/** Is told that a client has not taken an answer at once. */
export interface WrittenAnswer {
  delayed(): void;
}

class Answer implements Write {
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #head: string;
  readonly #body: Buffer;
  readonly #written: WrittenAnswer;

  constructor(response: ServerResponse, socket: Socket, head: string, body: Buffer, written: WrittenAnswer) {
    this.#response = response;
    this.#socket = socket;
    this.#head = head;
    this.#body = body;
    this.#written = written;
  }

  flush(): void {
    const response = this.#response;
    const socket = this.#socket;
    if (response.destroyed || socket.destroyed) return;
    const inside = response as unknown as Private;
    inside._headerSent = true;
    writeWhole(socket, this.#head, this.#body);
    if (socket.writableLength === 0) {
      this.#finish();
      return;
    }
    // Not finished while a client has not taken it: a stop of the gateway waits for it.
    this.#written.delayed();
    socket.write('', () => {
      if (!socket.destroyed) this.#finish();
    });
  }

  #finish(): void {
    (this.#response as unknown as Private)._finish();
    this.#response.emit('finish');
  }
}

let date = '';
let dateUntilMs = 0;

function dateLine(nowMs: number): string {
  if (nowMs >= dateUntilMs || nowMs < dateUntilMs - 1_000) {
    date = `date: ${new Date(nowMs).toUTCString()}\r\n`;
    dateUntilMs = Math.floor(nowMs / 1_000) * 1_000 + 1_000;
  }
  return date;
}

/** How long an idle connection stays open, in seconds. */
export const KEEP_ALIVE_S = 75;
let keepAlive = '';
let keepAliveOf = -1;

function keepAliveLines(most: number): string {
  if (most !== keepAliveOf) {
    keepAliveOf = most;
    const max = most > 0 ? `, max=${most}` : '';
    keepAlive = `connection: keep-alive\r\nkeep-alive: timeout=${KEEP_ALIVE_S}${max}\r\n\r\n`;
  }
  return keepAlive;
}

/** Makes node say in the head of an answer how long its connection stays open: it does not know it, because it does not close it. */
export function tellKeepAlive(response: ServerResponse): void {
  if (isKnown) (response as unknown as Private)._keepAliveTimeout = KEEP_ALIVE_S * 1_000;
}

/** Says that a body was read completely; else node reads it again, to its end, when the request was answered. */
export function markRead(request: IncomingMessage): void {
  if (isKnown) (request as unknown as { _consumed: boolean })._consumed = true;
}

/** Whether node has the fields that this file uses. */
const isKnown = ((): boolean => {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request) as unknown as Partial<Private>;
  return (
    typeof (request as { _dump?: unknown })._dump === 'function' &&
    response._header === null &&
    response._headerSent === false &&
    response._contentLength === null &&
    Array.isArray(response.outputData) &&
    response.finished === false &&
    typeof response._finish === 'function'
  );
})();
