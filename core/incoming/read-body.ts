/** Reads request bodies with limits: a declared length over the limit is refused before anything is read. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, Transform } from 'node:stream';
import { coreErrors } from '../contracts/errors.ts';
import type { Upload } from '../contracts/formats/call.ts';
import type { FormReader, Spool } from '../contracts/formats/style.ts';
import type { GatewayError } from '../contracts/gateway-error.ts';
import { unpack } from '../http/codings.ts';
import type { Head } from '../http/request-head.ts';
import { ClientLeft, type SentHeaders, setHeader } from '../http/responses.ts';
import { markRead } from '../http/whole-answer.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Deadlines } from '../runtime/deadlines.ts';
import type { Holding } from './body-budgets.ts';

/** Refuses a call without a body (411), before more is read: what follows may be a body with unknown framing. */
export function requireBody(head: Head): void {
  if (head.length !== undefined || head.headers['transfer-encoding'] !== undefined) return;
  throw coreErrors.length_required();
}

/** How to read a body. */
export interface BodyOptions {
  /** In bytes. */
  readonly limit: number;
  readonly expectsContinue: boolean;
  readonly deadlines: Deadlines;
  /** The budget: a declared length is reserved at once, otherwise bytes are counted as they arrive. */
  readonly holding: Holding;
  /** It need not be JSON. */
  readonly anyType?: boolean;
}

/** Time a client has to send a JSON body; multipart bodies have the server's own limit. */
const JSON_MS = 60_000;

/** Reads the whole body, JSON unless `anyType`. Refuses with 408, 413, 415, or as `holding`; or `ClientLeft`. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  head: Head,
  options: BodyOptions,
): Promise<Buffer> {
  if (options.anyType !== true && !isJson(head.headers['content-type'])) throw notTaken(JSON_WANTED);
  return collect(request, head, options, begin(response, head, options));
}

/** The same if all of it has arrived with its head, without a listener and a promise. Undefined if it has to be waited for. */
export function readAtOnce(
  request: IncomingMessage,
  response: ServerResponse,
  head: Head,
  options: BodyOptions,
): Buffer | undefined {
  const { length = 0, coding } = head;
  const isThere =
    length > 0 && request.complete && request.readableLength === length && request.readableFlowing === null;
  if (!isThere || coding !== undefined || request.destroyed || options.expectsContinue) return undefined;
  if (!isJson(head.headers['content-type'])) throw notTaken(JSON_WANTED);
  begin(response, head, options);
  const bytes = request.read() as Buffer;
  markRead(request);
  return bytes;
}

/** The body of a call: JSON, or multipart with its files in `spool`. Refuses as `readBody`, and malformed multipart. */
export async function readCallBody(
  request: IncomingMessage,
  response: ServerResponse,
  head: Head,
  form: FormReader,
  options: BodyOptions & { readonly uploadLimit: number; readonly spool: Spool },
): Promise<{ readonly bytes: Buffer; readonly files: readonly Upload[] | undefined }> {
  const contentType = head.headers['content-type'];
  if (contentType === undefined || !isForm(contentType)) {
    if (form.only) throw notTaken(FORM_WANTED);
    if (!isJson(contentType)) throw notTaken(`${JSON_WANTED} Or send a form: multipart/form-data.`);
    return { bytes: await collect(request, head, options, begin(response, head, options)), files: undefined };
  }
  const take = begin(response, head, { ...options, limit: options.uploadLimit });
  const counted = countedBody(request, take, head.coding);
  try {
    const { fields, files } = await form.read({ body: counted.stream, contentType, spool: options.spool });
    return { bytes: Buffer.from(JSON.stringify(fields)), files };
  } catch (error) {
    // A truncated body makes the parser fail for the wrong reason.
    throw counted.failure() ?? error;
  } finally {
    counted.end();
  }
}

/** A body that is arriving, unpacked, with a byte limit and the reason if it ends early. */
function countedBody(request: IncomingMessage, take: Take, coding: string | undefined) {
  let failure: Error | undefined;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        take(chunk.length);
      } catch (error) {
        failure = error as Error;
      }
      done(failure ?? null, chunk);
    },
  });
  const fail = (error: Error): void => {
    failure ??= error;
    stream.destroy(failure);
  };
  const disconnected = (): void => {
    if (!request.readableEnded) fail(clientLeft());
  };
  let endUnpacking = (): void => {};
  stream.on('error', () => {});
  request.on('close', disconnected);
  request.on('error', disconnected);
  if (request.destroyed) disconnected();
  else if (coding === undefined) request.pipe(stream);
  else endUnpacking = unpack(request, coding, stream, fail);
  return {
    stream,
    fail,
    /** Why the body ended early; undefined if it did not. */
    failure: () => failure,
    /** Unread bytes stay in the request; the code that answers drains them. */
    end(): void {
      request.unpipe(stream);
      endUnpacking();
      stream.destroy();
    },
  };
}

/** Counts the bytes of a body as they arrive; refuses too many. */
type Take = (bytes: number) => void;

/** Refuses a declared length over the limit, sends `100 Continue`, and chooses how to count the bytes. */
function begin(response: ServerResponse, head: Head, { limit, holding, expectsContinue }: BodyOptions): Take {
  const { length, coding } = head;
  const isKnown = length !== undefined && coding === undefined;
  if (length !== undefined && length > limit) throw tooLarge(limit);
  if (isKnown) holding.take(length);
  // Not earlier: a client that waits for `100 Continue` never sends a body that would be refused.
  if (expectsContinue) response.writeContinue();
  // The HTTP parser enforces a declared length.
  if (isKnown) return takeNothing;
  let size = 0;
  return (bytes) => {
    size += bytes;
    if (size > limit) throw tooLarge(limit);
    holding.take(bytes);
  };
}

function takeNothing(): void {}

/** The bytes of a compressed body, unpacked. */
async function collectUnpacked(
  request: IncomingMessage,
  coding: string,
  { deadlines }: BodyOptions,
  take: Take,
): Promise<Buffer> {
  const counted = countedBody(request, take, coding);
  const deadline = deadlines.set(JSON_MS, () => counted.fail(coreErrors.request_timeout()));
  const pieces: Buffer[] = [];
  try {
    for await (const piece of counted.stream) pieces.push(piece as Buffer);
    return Buffer.concat(pieces);
  } catch (error) {
    throw counted.failure() ?? error;
  } finally {
    deadlines.clear(deadline);
    counted.end();
  }
}

function collect(
  request: IncomingMessage,
  { length = 0, coding }: Head,
  options: BodyOptions,
  take: Take,
): Promise<Buffer> {
  if (coding !== undefined) return collectUnpacked(request, coding, options, take);
  const { deadlines } = options;
  return new Promise((resolve, reject) => {
    if (request.destroyed) {
      // The client disconnected during authentication; the event will not be emitted again.
      reject(clientLeft());
      return;
    }
    // Joining the chunks of a large body at its end would block the event loop and need twice the memory.
    const buffer = length > LARGE ? Buffer.allocUnsafeSlow(length) : undefined;
    const pieces: Buffer[] = [];
    let chunks: Buffer[] = [];
    let size = 0;
    // Anonymous functions: naming them costs more than the rest of reading a small body.
    const deadline = deadlines.set(JSON_MS, () => {
      stopReading(request);
      reject(coreErrors.request_timeout());
    });
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (buffer === undefined) chunks.push(chunk);
      else buffer.set(chunk, size - chunk.length);
      try {
        take(chunk.length);
      } catch (error) {
        stopReading(request);
        deadlines.clear(deadline);
        reject(error);
        return;
      }
      if (chunks.length === MANY_CHUNKS) {
        pieces.push(Buffer.concat(chunks));
        chunks = [];
      }
    });
    request.on('end', () => {
      deadlines.clear(deadline);
      if (buffer !== undefined) resolve(buffer);
      else resolve(size === chunks[0]?.length ? chunks[0] : Buffer.concat([...pieces, ...chunks], size));
    });
    request.on('close', () => {
      // Emitted after every request and after an error; an error object created for nothing would dominate the cost of
      // this file.
      if (request.readableEnded) return;
      deadlines.clear(deadline);
      reject(clientLeft());
    });
  });
}

function stopReading(request: Stopped): void {
  request[STOPPED] = true;
  request.removeAllListeners('data');
  request.pause();
}

/** Marks requests whose body was refused while it was read. */
const STOPPED = Symbol('stopped');
type Stopped = IncomingMessage & { [STOPPED]?: true };

/** Buffers of at least this size are allocated before the body arrives; unused pages cost nothing. */
const LARGE = 256 * 1_024;

/** A body sent byte by byte must not become a million buffers. */
const MANY_CHUNKS = 512;

function clientLeft(): ClientLeft {
  return new ClientLeft('the client left before its request was complete');
}

/** A missing content type counts as JSON. */
function isJson(type: string | undefined): boolean {
  if (type === undefined || type === 'application/json') return true;
  const [media = '', ...parameters] = type.toLowerCase().split(';');
  const charset = parameters.map((p) => p.trim()).find((p) => p.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return media.trim() === 'application/json' && isUtf8;
}

/** True for `multipart/form-data`. */
export function isForm(type: string): boolean {
  return type.toLowerCase().split(';')[0]!.trim() === 'multipart/form-data';
}

const JSON_WANTED = 'Send the body as JSON in UTF-8 with `Content-Type: application/json`.';
const FORM_WANTED =
  'Send the body as multipart/form-data with its file: `Content-Type: multipart/form-data; boundary=…`.';

function notTaken(message: string): GatewayError {
  return coreErrors.unsupported_media_type(message);
}

/** A body over the limit, in bytes. */
export function tooLarge(limit: number): GatewayError {
  return coreErrors.request_too_large(
    `The body is larger than the limit of ${limit} bytes (listen.body in gateway.yaml).`,
  );
}

/** True if nothing of a request is left to read: its body was read completely, or it has none. Whether the rest of a refused one came by then is chance. */
export function isRead(request: Stopped): boolean {
  if (request[STOPPED] === true) return false;
  const untouched = request.readableFlowing === null && request.readableLength === 0;
  return request.readableEnded || (request.complete && untouched);
}

/** Time a client may go on sending a refused body, so that it can read the answer. */
const LINGER_MS = 2_000;

/** Marks connections that will be closed after the current answer. */
const CLOSING = Symbol('closing');
type Bearer = Duplex & { [CLOSING]?: true };

/** True if no further request of this connection may be processed: it may be the rest of a refused body. */
export function isClosing(socket: Bearer): boolean {
  return socket[CLOSING] === true;
}

/** Processes no further request of this connection. */
export function markClosing(socket: Bearer): void {
  socket[CLOSING] = true;
}

/** Writes a last answer to a connection that has no response object, and gives the client time to read it. */
export function answerRaw(socket: Bearer, answer: string, after: Clock['after']): void {
  socket[CLOSING] = true;
  socket.on('error', () => socket.destroy());
  socket.end(answer);
  const cancel = after(LINGER_MS, () => socket.destroy());
  socket.on('close', cancel);
  socket.resume();
}

/** Maximum connections whose refused bodies are drained at the same time: draining costs as much as reading. */
const MAX_DRAINED = 8;
let drained = 0;

/**
 * Answers a request whose body was not read, then drains the body for a limited time: closing at once would reset the
 * connection, and some clients would lose the answer. Only a limited number of bodies are drained at the same time.
 */
export function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  answer: { readonly status: number; readonly headers: SentHeaders; readonly body: string | Buffer },
  after: Clock['after'],
): void {
  (request.socket as Bearer)[CLOSING] = true;
  setHeader(answer.headers, 'connection', 'close');
  setHeader(answer.headers, 'content-length', String(Buffer.byteLength(answer.body)));
  response.writeHead(answer.status, answer.headers);
  if (request.complete || request.destroyed) {
    response.end(answer.body);
    return;
  }
  response.write(answer.body);
  const isDrained = drained < MAX_DRAINED;
  if (isDrained) drained++;
  let done = false;
  const finish = () => {
    if (done) return;
    done = true;
    if (isDrained) drained--;
    cancel();
    // Closes the connection once earlier answers have been sent.
    response.end();
  };
  const cancel = after(LINGER_MS, finish);
  request.on('end', finish);
  request.on('close', finish);
  // A reset may be reported here, too; the incomplete request emits nothing then.
  request.socket.on('end', finish);
  if (isDrained) request.resume();
}
