/** Reads a request's body, bounded: too much is refused before it is read where the length is declared. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, type Readable, Transform } from 'node:stream';
import { type SentHeaders, setHeader } from './answers.ts';
import type { Clock } from './clock.ts';
import type { Upload } from './contracts/call.ts';
import { coreErrors } from './contracts/errors.ts';
import type { FormReader, Spool } from './contracts/style.ts';
import type { Deadlines } from './deadlines.ts';
import type { GatewayError } from './errors.ts';
import { ClientLeft } from './exchange.ts';
import type { Head } from './head.ts';
import type { Holding } from './intake.ts';

/**
 * Refuses a call without a body (411). To be asked before anything else can come on the connection: what follows may well be
 * the body, framed in a way that nobody understands.
 */
export function requireBody(head: Head): void {
  if (head.length !== undefined || head.headers['transfer-encoding'] !== undefined) return;
  throw coreErrors.length_required();
}

/** How a body is to be read. */
export interface BodyOptions {
  /** In bytes. */
  readonly limit: number;
  readonly expectsContinue: boolean;
  readonly deadlines: Deadlines;
  /** Where the body counts: at once where its length is declared, else as it comes. */
  readonly holding: Holding;
  /** It need not be JSON. */
  readonly anyType?: boolean;
}

/** How long a client may take to send a JSON body; what forms may take is the server's own limit. */
const JSON_MS = 60_000;

/** The whole body, which is JSON unless `anyType`. Refuses with 408, 413, 415 and as `holding` does; rejects with `ClientLeft`. */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  head: Head,
  options: BodyOptions,
): Promise<Buffer> {
  if (options.anyType !== true && !isJson(head.headers['content-type'])) throw notTaken(JSON_WANTED);
  const take = begin(response, head, options);
  return collect(request, head, options, take);
}

/**
 * The body of a call of this style: JSON, or a form whose files are in `spool`. Refuses as `readBody` does, and with what is wrong
 * with a form.
 */
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
    const take = begin(response, head, options);
    return { bytes: await collect(request, head, options, take), files: undefined };
  }
  const take = begin(response, head, { ...options, limit: options.uploadLimit });
  const counted = countedBody(request, take);
  try {
    const { fields, files } = await form.read({ body: counted.stream, contentType, spool: options.spool });
    return { bytes: Buffer.from(JSON.stringify(fields)), files };
  } catch (error) {
    // What it says of a body that broke off is not what happened.
    throw counted.failure() ?? error;
  } finally {
    counted.end();
  }
}

/** A form on its way in: so many bytes of it, and a word about why there are no more. */
interface CountedBody {
  readonly stream: Readable;
  /** Why the body ended before its end; undefined while it has not. */
  failure(): Error | undefined;
  /** What has not been read stays in the request, to be drained by whoever answers. */
  end(): void;
}

function countedBody(request: IncomingMessage, take: Take): CountedBody {
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
  const left = (): void => {
    if (request.readableEnded) return;
    failure ??= clientLeft();
    stream.destroy(failure);
  };
  stream.on('error', () => {});
  request.on('close', left);
  request.on('error', left);
  if (request.destroyed) left();
  else request.pipe(stream);
  return {
    stream,
    failure: () => failure,
    end() {
      request.unpipe(stream);
      stream.destroy();
    },
  };
}

/** Counts bytes of a body as they come; refuses when they are too many. */
type Take = (bytes: number) => void;

/** Refuses what is declared to be too large, gives the go-ahead for the rest, and says how it is counted. */
function begin(response: ServerResponse, head: Head, { limit, holding, expectsContinue }: BodyOptions): Take {
  const { length } = head;
  if (length !== undefined) {
    if (length > limit) throw tooLarge(limit);
    holding.take(length);
  }
  // Only now: a client that waits for a go-ahead never sends what would be refused.
  if (expectsContinue) response.writeContinue();
  // The parser lets no more through than was declared.
  if (length !== undefined) return takeNothing;
  let size = 0;
  return (bytes) => {
    size += bytes;
    if (size > limit) throw tooLarge(limit);
    holding.take(bytes);
  };
}

function takeNothing(): void {}

function collect(
  request: IncomingMessage,
  { length = 0 }: Head,
  { deadlines }: BodyOptions,
  take: Take,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) {
      // While its sender was being looked up: it will say so to nobody any more.
      reject(clientLeft());
      return;
    }
    // To join the pieces of a large body at its end would keep everybody else waiting, and need its memory twice.
    const whole = length > LARGE ? Buffer.allocUnsafeSlow(length) : undefined;
    const pieces: Buffer[] = [];
    let chunks: Buffer[] = [];
    let size = 0;
    // Functions without names: giving one a name takes the loader longer than all the rest of a small body.
    const deadline = deadlines.set(JSON_MS, () => {
      stopReading(request);
      reject(tooSlow());
    });
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (whole === undefined) chunks.push(chunk);
      else whole.set(chunk, size - chunk.length);
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
      if (whole !== undefined) resolve(whole);
      else resolve(size === chunks[0]?.length ? chunks[0] : Buffer.concat([...pieces, ...chunks], size));
    });
    request.on('close', () => {
      // It closes after every request, and after an error; one made for nothing is the dearest thing in this file.
      if (request.readableEnded) return;
      deadlines.clear(deadline);
      reject(clientLeft());
    });
  });
}

function stopReading(request: IncomingMessage): void {
  request.removeAllListeners('data');
  request.pause();
}

/** Bytes from which on the place for a body is made before it comes; what is never sent takes none. */
const LARGE = 256 * 1_024;

/** A body of single bytes must not become a million buffers. */
const MANY_CHUNKS = 512;

function clientLeft(): ClientLeft {
  return new ClientLeft('the client left before its request was complete');
}

/** Nothing said counts as JSON. */
function isJson(type: string | undefined): boolean {
  if (type === undefined || type === 'application/json') return true;
  const [media = '', ...parameters] = type.toLowerCase().split(';');
  const charset = parameters.map((p) => p.trim()).find((p) => p.startsWith('charset='));
  const isUtf8 = charset === undefined || /^charset="?utf-?8"?$/.test(charset);
  return media.trim() === 'application/json' && isUtf8;
}

/** True for the type of a form with files. */
export function isForm(type: string): boolean {
  return type.toLowerCase().split(';')[0]!.trim() === 'multipart/form-data';
}

const JSON_WANTED = 'Send the body as JSON in UTF-8 with `Content-Type: application/json`.';
const FORM_WANTED = 'Send the body as a form with its file: `Content-Type: multipart/form-data; boundary=…`.';

function notTaken(wanted: string): GatewayError {
  return coreErrors.unsupported_media_type(wanted);
}

/** For a request that did not come to its end in time. */
export function tooSlow(): GatewayError {
  return coreErrors.request_timeout();
}

/** For a body beyond the limit, in bytes. */
export function tooLarge(limit: number): GatewayError {
  return coreErrors.request_too_large(
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

/** On connections that will be closed after what has been answered on them. */
const CLOSING = Symbol('closing');
type Bearer = Duplex & { [CLOSING]?: true };

/** True where nothing that still comes may be carried out: it may be the rest of what has been refused. */
export function isClosing(socket: Bearer): boolean {
  return socket[CLOSING] === true;
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

/** Of so many connections at a time the rest of a body is read only to be thrown away: that costs as much as reading one. */
const MAX_DRAINED = 8;
let drained = 0;

/**
 * Answers a request whose body was not read, then waits for the client to stop sending: closing at once would reset the
 * connection, and some clients would not see the answer then. Where many send what is refused, only some are read meanwhile.
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
    // Closes the connection, too, once the answers before this one have gone.
    response.end();
  };
  const cancel = after(LINGER_MS, finish);
  request.on('end', finish);
  request.on('close', finish);
  // A reset may look like this, too; the request, which is not complete, hears of neither.
  request.socket.on('end', finish);
  if (isDrained) request.resume();
}
