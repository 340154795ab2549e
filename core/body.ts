/** Reads a request's body, bounded: too much is refused before it is read where the length is declared. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from './clock.ts';
import { GatewayError } from './errors.ts';
import { ClientLeft } from './exchange.ts';
import type { Head } from './head.ts';

/**
 * Refuses a call without a body (411). To be asked before anything else can come on the connection: what follows may well be
 * the body, framed in a way that nobody understands.
 */
export function requireBody(head: Head): void {
  if (head.length !== undefined || head.headers['transfer-encoding'] !== undefined) return;
  throw new GatewayError(411, 'length_required', 'A body is needed: send it with a Content-Length or in chunks.');
}

/** The whole body. Refuses with 413 and 415; rejects with `ClientLeft`. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  head: Head,
  options: { readonly limit: number; readonly expectsContinue: boolean },
): Promise<Buffer> {
  checkType(head.headers['content-type']);
  if (head.length !== undefined && head.length > options.limit) throw tooLarge(options.limit);
  // Only now: a client that waits for a go-ahead never sends what would be refused.
  if (options.expectsContinue) response.writeContinue();
  return collect(request, options.limit);
}

function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) {
      // While its sender was being looked up: it will say so to nobody any more.
      reject(new ClientLeft('the client left before its request was complete'));
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) {
        chunks.push(chunk);
        return;
      }
      request.removeAllListeners('data');
      request.pause();
      reject(tooLarge(limit));
    });
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
    request.on('close', () => {
      // It closes after every request; an error for nothing is the dearest thing in this file.
      if (!request.readableEnded) reject(new ClientLeft('the client left before its request was complete'));
    });
    request.on('error', () => reject(new ClientLeft('the client left before its request was complete')));
  });
}

function checkType(type: string | undefined): void {
  if (type === undefined || type === 'application/json') return;
  const [media = '', ...parameters] = type.toLowerCase().split(';');
  const charset = parameters.map((p) => p.trim()).find((p) => p.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  if (media.trim() === 'application/json' && isUtf8) return;
  throw new GatewayError(
    415,
    'unsupported_media_type',
    'Send the body as JSON in UTF-8 with `Content-Type: application/json`.',
    {
      param: 'content-type',
    },
  );
}

/** For a body beyond the limit, in bytes. */
export function tooLarge(limit: number): GatewayError {
  return new GatewayError(
    413,
    'request_too_large',
    `The body is larger than the limit of ${limit} bytes (listen.body in gateway.yaml).`,
  );
}

/** True where nothing of a request is left to come or to be read: its body was read to its end, or it has none. */
export function isRead(request: IncomingMessage): boolean {
  const untouched = request.readableFlowing === null && request.readableLength === 0;
  return request.readableEnded || (request.complete && untouched);
}

/** How long a client may go on sending what nobody wants, so that it can read why. */
const LINGER_MS = 2_000;

/** Connections that will be closed after what has been answered on them. */
const closing = new WeakSet<object>();

/** True where nothing that still comes may be carried out: it may be the rest of what has been refused. */
export function isClosing(socket: Duplex): boolean {
  return closing.has(socket);
}

/** Writes a last answer to a connection that has no response object, and gives the client time to read it. */
export function answerRaw(socket: Duplex, answer: string, after: Clock['after']): void {
  closing.add(socket);
  socket.on('error', () => socket.destroy());
  socket.end(answer);
  const cancel = after(LINGER_MS, () => socket.destroy());
  socket.on('close', cancel);
  socket.resume();
}

/**
 * Answers a request whose body was not read, then waits for the client to stop sending: closing at once would reset the
 * connection and take the answer with it.
 */
export function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  answer: { readonly status: number; readonly headers: Record<string, string>; readonly body: string | Buffer },
  after: Clock['after'],
): void {
  closing.add(request.socket);
  response.writeHead(answer.status, {
    ...answer.headers,
    connection: 'close',
    'content-length': Buffer.byteLength(answer.body),
  });
  if (request.complete || request.destroyed) {
    response.end(answer.body);
    return;
  }
  response.write(answer.body);
  let done = false;
  const finish = () => {
    if (done) return;
    done = true;
    cancel();
    // Closes the connection, too, once the answers before this one have gone.
    response.end();
  };
  const cancel = after(LINGER_MS, finish);
  request.on('end', finish);
  request.on('close', finish);
  request.resume();
}
