/** Writes answers to clients: common headers, and errors in the format of the client's style. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { coreErrors } from '../contracts/errors.ts';
import type { Json } from '../contracts/formats/json.ts';
import type { Style } from '../contracts/formats/style.ts';
import { errorObject, GatewayError } from '../contracts/gateway-error.ts';
import { type AnswerHeaders, StoreUnavailable } from '../plugin.ts';
import type { Deadlines } from '../runtime/deadlines.ts';

const UNFIT = /[^\t\x20-\x7e]/;

/** Makes a text a valid header value: invalid characters are replaced instead of throwing. */
function headerValue(text: string): string {
  if (text.length <= 1_024 && !UNFIT.test(text)) return text;
  return text.replace(/[^\t\x20-\x7e]/g, '?').slice(0, 1_024);
}

/** Names and values alternate: node processes a flat list faster than an object. */
export type SentHeaders = string[];
type OneLine = Readonly<Record<string, string>>;

/** Sent with every answer: answers are data for the caller and must not be cached or rendered. */
const USUAL: readonly (readonly [name: string, value: string])[] = [
  ['cache-control', 'no-store'],
  ['content-security-policy', "default-src 'none'; frame-ancestors 'none'; sandbox"],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
];

/** The headers of an answer. Core's override those of plugins, which override the common ones. */
export function answerHeaders(id: string, plugins: OneLine, own: AnswerHeaders): SentHeaders {
  const headers: SentHeaders = [];
  for (let i = 0; i < USUAL.length; i++) {
    const [name, value] = USUAL[i]!;
    if (plugins[name] === undefined && own[name] === undefined) headers.push(name, value);
  }
  if (own[REQUEST_ID] === undefined) headers.push(REQUEST_ID, id);
  for (const name in plugins) {
    if (name !== REQUEST_ID && own[name] === undefined) headers.push(name, headerValue(plugins[name]!));
  }
  for (const name in own) {
    const value = own[name]!;
    if (typeof value === 'string') headers.push(name, value);
    else for (const line of value) headers.push(name, line);
  }
  return headers;
}

const REQUEST_ID = 'x-request-id';
const CHANNEL = 'x-turnpike-channel';

/** The same as lines, for the usual whole answer of a channel. Undefined if a plugin sets a header that core or node would set. */
export function answerLines(id: string, plugins: OneLine, contentType: string, channel: string): string | undefined {
  let lines = `${USUAL_LINES}${REQUEST_ID}: ${id}\r\n`;
  for (const name in plugins) {
    // Node refuses what is no name, and knows its own headers in all spellings.
    if (OWN.has(name) || !PLAIN_NAME.test(name)) return undefined;
    lines += `${name}: ${headerValue(plugins[name]!)}\r\n`;
  }
  return `${lines}content-type: ${headerValue(contentType)}\r\n${CHANNEL}: ${headerValue(channel)}\r\n`;
}

const PLAIN_NAME = /^[a-z0-9-]+$/;
const USUAL_LINES = USUAL.map(([name, value]) => `${name}: ${value}\r\n`).join('');
/** Headers that a plugin may set instead of core, or that frame an answer. */
const OWN: ReadonlySet<string> = new Set([
  ...USUAL.map(([name]) => name),
  ...[REQUEST_ID, CHANNEL, 'content-type', 'content-length', 'connection', 'keep-alive', 'date', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

/** Replaces the header of this name, or appends it. */
export function setHeader(headers: SentHeaders, name: string, value: string): void {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== name) continue;
    headers[i + 1] = value;
    return;
  }
  headers.push(name, value);
}

/** Converts anything thrown to an error for the client. Details of internal failures are only logged. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof StoreUnavailable) {
    return coreErrors.storage_unavailable();
  }
  return coreErrors.internal_error();
}

/** Formats errors: a style, or a route with its own error format. */
export type ErrorFormat = Pick<Style, 'errors'>;

/** An error in this format; by default the plain error object. */
export function errorIn(format: ErrorFormat | undefined, error: GatewayError, id: string): Json {
  return format?.errors?.body?.(error, id) ?? errorObject(error);
}

/** The body of an error response. */
export function errorBody(error: GatewayError, format: ErrorFormat | undefined, id: string): string {
  return JSON.stringify(errorIn(format, error, id));
}

/** An error as the only event of a stream that has not started. */
export function errorEvent(error: GatewayError, style: ErrorFormat, id: string): string {
  return style.errors?.event?.(error, id) ?? `data: ${errorBody(error, style, id)}\n\n`;
}

/** A comment, which every server-sent events parser ignores. */
const KEEP_ALIVE = ': keep-alive\n\n';

/** The event that keeps a stream of this style alive. */
export function keepAliveOf({ ingress }: Style): string {
  return ingress?.keepAlive ?? KEEP_ALIVE;
}

/** Writes a complete answer. */
export function send(
  response: ServerResponse,
  status: number,
  headers: SentHeaders,
  body: string | Buffer | undefined,
): void {
  if (body === undefined) {
    response.writeHead(status, headers).end();
    return;
  }
  setHeader(headers, 'content-length', String(typeof body === 'string' ? Buffer.byteLength(body) : body.length));
  response.writeHead(status, headers).end(body);
}

/** A client that reads nothing for this long, although there is something to read, is disconnected. */
const STALLED_MS = 120_000;

/** Writes an answer of unknown length piece by piece. Rejects if it was truncated, by the client or by an error of `body`. */
export async function sendPieces(
  response: ServerResponse,
  status: number,
  headers: SentHeaders,
  body: AsyncIterable<string>,
  stalledMs = STALLED_MS,
): Promise<void> {
  const pieces = body instanceof Readable ? body : Readable.from(body);
  if (response.req.method === 'HEAD') {
    // Without this, its source would work, or hold a connection, for pieces that no client gets.
    pieces.destroy();
    response.writeHead(status, headers).end();
    return;
  }
  response.setTimeout(stalledMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
  response.writeHead(status, headers);
  // A stream ends with its client, even while it waits for its source; a generator only with its next piece.
  await pipeline(pieces, response);
}

/** A complete answer as bytes, for a connection that has no response object. */
export function rawAnswer(error: GatewayError, id: string, format?: ErrorFormat): string {
  const body = errorBody(error, format, id);
  const headers = answerHeaders(id, error.headers, { 'content-type': 'application/json' });
  // An upgrade needs `connection: upgrade`.
  const connection = headers.includes('upgrade') ? 'upgrade, close' : 'close';
  let lines = '';
  for (let i = 0; i < headers.length; i += 2) lines += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return (
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Error'}\r\n${lines}` +
    `connection: ${connection}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Time a client may stop reading a complete answer. */
const FLUSH_STALL_MS = 120_000;

/** Closes the connection of a complete answer that the client has stopped reading. */
export function boundFlush(response: ServerResponse, deadlines: Deadlines): void {
  const { socket } = response;
  if (socket === null || socket.writableLength === 0) return;
  let left = socket.writableLength;
  const look = (): void => {
    if (socket.writableLength >= left) {
      response.destroy();
      return;
    }
    left = socket.writableLength;
    deadline = deadlines.set(FLUSH_STALL_MS, look);
  };
  let deadline = deadlines.set(FLUSH_STALL_MS, look);
  response.once('close', () => deadlines.clear(deadline));
}

/** The client disconnected. */
export class ClientLeft extends Error {}
