/** An HTTP client over a bare socket: sends exactly the bytes a test wants, and takes nothing but strict HTTP/1.1 for an answer. */

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Headers } from '../../../core/contracts/definitions.ts';

/** Nothing on this machine takes so long; whoever waits longer waits for nothing. */
const PATIENCE_MS = 60_000;

/** One answer, as it stood on the wire. */
export interface RawResponse {
  readonly status: number;
  /** `HTTP/1.1` */
  readonly version: string;
  /** By lower-case name; repeated ones joined with a comma. */
  readonly headers: Headers;
  /** Without its chunk framing. */
  readonly body: Buffer;
  readonly text: string;
  /** The body came to the end that its framing promised. */
  readonly complete: boolean;
  /** Interim answers before it: `[100]`. */
  readonly interim: readonly number[];
}

/** How a connection ended, seen from the client: in order, or torn down. */
export type Ending = 'fin' | 'rst';

/** An open connection. Whoever waits in vain is told so after ten seconds. */
export interface RawConnection {
  /** Writes; with `pieces`, so many bytes at a time, each a packet of its own. Resolves when all is handed over. */
  write(data: string | Buffer, pieces?: number): Promise<void>;
  /** Says that nothing more will be sent, and goes on reading. */
  finish(): void;
  /** Tears the connection down with a reset. */
  abort(): void;
  /** Stops reading, so that the other side has to wait. */
  pause(): void;
  resume(): void;
  /** Everything received so far. */
  readonly received: Buffer;
  /** Set once the connection has ended. */
  readonly ending: Ending | undefined;
  readonly ended: Promise<Ending>;
  /** Resolves when this has been received since the last answer that `response` took; fails where the connection ends before. */
  until(mark: string): Promise<void>;
  /**
   * The next answer. `complete` is false where the connection ends inside its body; fails where it ends before the head is
   * whole, and where the bytes are not HTTP. `bodiless` for the answer to HEAD.
   */
  response(options?: { readonly bodiless?: boolean }): Promise<RawResponse>;
}

/** How `rawRequest` sends. */
export interface RawOptions {
  /** So many bytes in one packet. */
  readonly pieces?: number;
  /** Sends FIN behind the request. */
  readonly halfClose?: boolean;
}

/** Opens a connection to a port of this machine. */
export async function rawConnection(port: number): Promise<RawConnection> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
  await once(socket, 'connect');
  return watch(socket);
}

/** One request, one answer, and how the connection ended if it did. The connection is closed afterwards. */
export async function rawRequest(
  port: number,
  request: string | Buffer,
  options: RawOptions = {},
): Promise<RawResponse> {
  const connection = await rawConnection(port);
  try {
    const sent = connection.write(request, options.pieces);
    if (options.halfClose) void sent.then(connection.finish);
    return await connection.response();
  } finally {
    connection.abort();
  }
}

/** A request as text. A body gets its `content-length` unless the headers already frame it. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | Buffer = '',
): Buffer {
  const data = Buffer.from(body);
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const framed = names.includes('content-length') || names.includes('transfer-encoding');
  const lines = Object.entries({
    ...(names.includes('host') ? {} : { host: 'localhost' }),
    ...headers,
    ...(framed || data.length === 0 ? {} : { 'content-length': String(data.length) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`), data]);
}

function watch(socket: Socket): RawConnection {
  let buffer = Buffer.alloc(64 * 1024);
  let length = 0;
  /** Where the next answer begins. */
  let read = 0;
  let ending: Ending | undefined;
  const watchers = new Set<() => void>();
  const changed = () => {
    for (const watcher of watchers) watcher();
  };
  const end = (how: Ending) => {
    ending ??= how;
    changed();
  };
  socket.on('data', (data) => {
    if (length + data.length > buffer.length) {
      const larger = Buffer.alloc(2 * (length + data.length));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    data.copy(buffer, length);
    length += data.length;
    changed();
  });
  socket.on('end', () => end('fin'));
  socket.on('error', () => end('rst'));
  socket.on('close', () => end('fin'));

  /** Asks again after everything that comes, until there is a verdict or patience ends. */
  const eventually = <T>(what: string, look: () => T | undefined): Promise<T> =>
    new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        watchers.delete(watcher);
        clearTimeout(patience);
        act();
      };
      const watcher = () => {
        try {
          const found = look();
          if (found !== undefined) settle(() => resolve(found));
        } catch (error) {
          settle(() => reject(error));
        }
      };
      const text = () => JSON.stringify(received().toString('latin1', Math.max(0, length - 300)));
      const patience = setTimeout(() => {
        settle(() => reject(new Error(`The client waited in vain for ${what}. It received, at last: ${text()}`)));
      }, PATIENCE_MS);
      watchers.add(watcher);
      watcher();
    });
  const received = () => buffer.subarray(0, length);

  return {
    async write(data, pieces) {
      const whole = Buffer.from(data);
      const size = pieces ?? Math.max(whole.length, 1);
      for (let start = 0; start < whole.length && ending === undefined; start += size) {
        await new Promise<void>((resolve) => socket.write(whole.subarray(start, start + size), () => resolve()));
        if (pieces !== undefined) await setImmediate();
      }
    },
    finish: () => void socket.end(),
    abort: () => void socket.resetAndDestroy(),
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    get received() {
      return received();
    },
    get ending() {
      return ending;
    },
    get ended() {
      return eventually('the end of the connection', () => ending);
    },
    until: (mark) =>
      eventually(JSON.stringify(mark), () => {
        if (received().indexOf(mark, read) >= 0) return true;
        if (ending === undefined) return undefined;
        throw new Error(`The connection ended before ${JSON.stringify(mark)} came: ${received().toString('latin1')}`);
      }).then(() => {}),
    response({ bodiless = false } = {}) {
      const chunks: Chunks = { parts: [], size: 0 };
      return eventually('an answer', () => {
        const parsed = parseResponse(buffer.subarray(read, length), { ended: ending !== undefined, bodiless, chunks });
        if (parsed === undefined) return undefined;
        read += parsed.size;
        return parsed.response;
      });
    },
  };
}

/** How an answer is to be read. */
interface Reading {
  /** Nothing more will come. */
  readonly ended: boolean;
  readonly bodiless: boolean;
  /** What was read of its chunks before, so that a long body is not read from its beginning each time more of it comes. */
  readonly chunks: Chunks;
}
interface Chunks {
  readonly parts: Buffer[];
  /** Bytes of the body that they took on the wire. */
  size: number;
}

/** The first answer in `data`; undefined where more has to come. Throws on everything that HTTP/1.1 does not allow. */
function parseResponse(
  data: Buffer,
  reading: Reading,
): { readonly response: RawResponse; readonly size: number } | undefined {
  const interim: number[] = [];
  let at = 0;
  for (;;) {
    const close = data.indexOf('\r\n\r\n', at);
    if (close < 0) {
      if (!reading.ended) return undefined;
      throw new Error(
        `The connection ended before the head of an answer: ${JSON.stringify(data.toString('latin1', at))}`,
      );
    }
    const { status, version, headers } = parseHead(data.toString('latin1', at, close));
    at = close + 4;
    if (status < 200 && status !== 101) {
      interim.push(status);
      continue;
    }
    const none = reading.bodiless || status === 101 || status === 204 || status === 304;
    const body = none ? EMPTY : parseBody(data.subarray(at), headers, reading);
    if (body === undefined) return undefined;
    const { complete } = body;
    const own = Buffer.from(body.data);
    return {
      response: { status, version, headers, body: own, text: own.toString(), complete, interim },
      size: at + body.size,
    };
  }
}

function parseHead(head: string): { status: number; version: string; headers: Headers } {
  const [first = '', ...lines] = head.split('\r\n');
  const start = /^(HTTP\/1\.[01]) ([1-5]\d\d) [^\r\n]*$/.exec(first);
  if (!start) throw new Error(`Not a status line: ${JSON.stringify(first)}`);
  const headers: { [name: string]: string } = {};
  for (const line of lines) {
    const field = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\r\n\0]*?)[ \t]*$/.exec(line);
    if (!field?.[1]) throw new Error(`Not a header: ${JSON.stringify(line)}`);
    const name = field[1].toLowerCase();
    const value = field[2] ?? '';
    if (headers[name] !== undefined && (name === 'content-length' || name === 'transfer-encoding')) {
      throw new Error(`The answer has two ${name}`);
    }
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  if (headers['content-length'] !== undefined && headers['transfer-encoding'] !== undefined) {
    throw new Error('The answer has both content-length and transfer-encoding');
  }
  return { status: Number(start[2]), version: start[1] ?? '', headers };
}

interface ParsedBody {
  readonly data: Buffer;
  /** Bytes it takes on the wire. */
  readonly size: number;
  readonly complete: boolean;
}
const EMPTY: ParsedBody = { data: Buffer.alloc(0), size: 0, complete: true };

/** The body; undefined where more of it has to come. */
function parseBody(data: Buffer, headers: Headers, { ended, chunks }: Reading): ParsedBody | undefined {
  const { 'content-length': declared, 'transfer-encoding': coding } = headers;
  if (coding !== undefined) {
    if (coding !== 'chunked') throw new Error(`A transfer coding nobody asked for: ${coding}`);
    const complete = parseChunks(data, chunks);
    if (!complete && !ended) return undefined;
    return { data: Buffer.concat(chunks.parts), size: complete ? chunks.size : data.length, complete };
  }
  // Without framing a body ends with its connection, and nobody can say whether it is whole.
  if (declared === undefined) return ended ? { data, size: data.length, complete: true } : undefined;
  if (!/^\d+$/.test(declared)) throw new Error(`Not a length: ${declared}`);
  const size = Number(declared);
  const there = data.subarray(0, size);
  const complete = there.length === size;
  return complete || ended ? { data: there, size: there.length, complete } : undefined;
}

/** Adds the chunks that have come whole; true once the last one has. */
function parseChunks(data: Buffer, chunks: Chunks): boolean {
  for (;;) {
    const eol = data.indexOf('\r\n', chunks.size);
    if (eol < 0) return false;
    const line = data.toString('latin1', chunks.size, eol);
    if (!/^[0-9A-Fa-f]+$/.test(line)) throw new Error(`Not a chunk size: ${JSON.stringify(line)}`);
    const size = Number.parseInt(line, 16);
    if (size === 0) {
      // Trailers, and a blank line.
      const last = data.indexOf('\r\n\r\n', eol);
      if (last < 0) return false;
      chunks.size = last + 4;
      return true;
    }
    const end = eol + 2 + size;
    if (data.length < end + 2) return false;
    if (data.toString('latin1', end, end + 2) !== '\r\n') throw new Error('A chunk does not end where it says');
    chunks.parts.push(data.subarray(eol + 2, end));
    chunks.size = end + 2;
  }
}
