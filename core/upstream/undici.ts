/** The client for metered calls on undici: its clients, one request at a time each, the most recently used first. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { buildConnector, Client, type Dispatcher, errors } from 'undici';
import type { Headers } from '../contracts/call.ts';
import { Dictionary } from '../dictionary.ts';
import type { Upstream, UpstreamCall, UpstreamListener, UpstreamRequest } from '../upstream.ts';
import { targetOf } from './dial.ts';
import { NOT_HTTP, NOT_SENDABLE, Refusal, reasonOf, timeoutReason, wasReset } from './reasons.ts';
import { requestHead } from './request-head.ts';
import { openTunnel } from './tunnel.ts';

/** Maximum idle connections per origin; a burst opens more, which are closed after their answer. */
const MAX_IDLE = 256;
/** Less than the limits of vendors and their load balancers, so that they rarely close a connection in use. */
const IDLE_MS = 30_000;

interface Connection {
  /** The pool: calls to the same origin with the same connect timeout. */
  readonly key: string;
  readonly client: Client;
  /** The current socket; undici opens a new one after it has closed. */
  socket: Socket | undefined;
  /** Whether this socket has received an answer. */
  used: boolean;
  filter: ContinueFilter | undefined;
}

/** Creates it; connections are opened on demand. */
export function createUndiciUpstream(): Upstream {
  const idle = new Map<string, Connection[]>();
  const open = new Set<Client>();

  const connect = (key: string, request: UpstreamRequest): Connection => {
    const connector = buildConnector({ timeout: request.connectMs });
    const { proxy, connectMs } = request;
    const client = new Client(request.origin, {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: 2 * IDLE_MS,
      connect(options, done) {
        const connected: buildConnector.Callback = (...[error, socket]) => {
          connection.socket = socket ?? undefined;
          connection.used = false;
          connection.filter = error === null ? skipContinue(socket) : undefined;
          if (error === null) done(null, socket);
          else done(error, null);
        };
        if (proxy === undefined) {
          connector(options, connected);
          return;
        }
        const { hostname, port, secure } = targetOf(request.origin, proxy);
        const timeout = setTimeout(() => void tunnel.close(timeoutReason(proxy)), connectMs);
        const tunnel = openTunnel(proxy, { hostname, port }, (error, socket) => {
          clearTimeout(timeout);
          if (socket === undefined) connected(error!, null);
          else if (secure) connector({ ...options, httpSocket: socket }, connected);
          else connected(null, socket);
        });
      },
      allowH2: false,
    });
    const connection: Connection = { key, client, socket: undefined, used: false, filter: undefined };
    open.add(client);
    return connection;
  };

  const take = (key: string, request: UpstreamRequest): Connection => {
    const kept = request.fresh ? undefined : idle.get(key)?.pop();
    return kept ?? connect(key, request);
  };

  const discard = (connection: Connection): void => {
    open.delete(connection.client);
    connection.client.destroy().catch(() => {});
  };

  const keep = (connection: Connection): void => {
    let stack = idle.get(connection.key);
    if (stack === undefined) {
      stack = [];
      idle.set(connection.key, stack);
    }
    connection.used = true;
    // If a vendor answers before it has read everything, the rest of the request is still in transit.
    const clean = connection.socket?.writableLength === 0;
    if (clean && stack.length < MAX_IDLE) stack.push(connection);
    else discard(connection);
  };

  const pool = { keep, discard };
  return {
    send(request, listener) {
      // undici validates less, and throws from the call itself.
      if (requestHead(request, '') === undefined) return new Refusal(listener, NOT_SENDABLE);
      const connection = take(`${request.origin} ${request.connectMs} ${request.proxy?.url ?? ''}`, request);
      const { method = 'POST', path, headers } = request;
      const frame = framed(headers, request.body);
      const call = new RunningCall(connection, listener, pool, frame.body);
      connection.client.dispatch({ method, path, ...frame, idempotent: false }, call);
      return call;
    },
    async close() {
      await Promise.all([...open].map((client) => client.destroy().catch(() => {})));
      open.clear();
      idle.clear();
    },
  };
}

/** A body, and the headers with its length if undici cannot determine it. */
function framed(headers: Record<string, string>, body: UpstreamRequest['body']) {
  if (body === undefined || Buffer.isBuffer(body)) return { headers, body: body ?? null };
  return { headers: { ...headers, 'content-length': String(body.length) }, body: Readable.from(body.read()) };
}

/** Receives the connection when its call has ended. */
interface Pool {
  keep(connection: Connection): void;
  discard(connection: Connection): void;
}

/** One running request: forwards undici's events to the listener, until the first end. */
class RunningCall implements UpstreamCall, Dispatcher.DispatchHandler {
  readonly #connection: Connection;
  readonly #listener: UpstreamListener;
  readonly #pool: Pool;
  readonly #body: Readable | Buffer | null;
  readonly #readBefore: number | undefined;
  /** Set at the first end; later events are ignored. */
  #done = false;
  /** The answer ends with its connection. */
  #untilClose = false;
  /** Undefined until the request was sent. */
  #control: Dispatcher.DispatchController | undefined;

  constructor(connection: Connection, listener: UpstreamListener, pool: Pool, body: Readable | Buffer | null) {
    this.#connection = connection;
    this.#listener = listener;
    this.#pool = pool;
    this.#body = body;
    this.#readBefore = connection.socket?.bytesRead;
  }

  get sent(): boolean {
    return this.#control !== undefined;
  }

  pause(): void {
    this.#control?.pause();
  }

  resume(): void {
    this.#control?.resume();
  }

  abort(): void {
    if (this.#done) return;
    this.#done = true;
    this.#control?.abort(new errors.RequestAbortedError());
    this.#pool.discard(this.#connection);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#control = controller;
    this.#connection.filter?.expectHead();
    if (this.#done) controller.abort(new errors.RequestAbortedError());
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#done || status < 200) return;
    this.#untilClose =
      headers['content-length'] === undefined &&
      headers['transfer-encoding'] === undefined &&
      status !== 204 &&
      status !== 304;
    this.#listener.head(status, flat(headers));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#done) this.#listener.data(chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.#done) return;
    // undici takes an answer without a length for complete even if its connection was reset.
    const { socket } = this.#connection;
    if (this.#untilClose && socket !== undefined && (socket.errored || wasReset(socket))) {
      this.onResponseError(controller, socket.errored ?? RESET_ERROR);
      return;
    }
    this.#done = true;
    this.#pool.keep(this.#connection);
    this.#listener.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#done) return;
    this.#done = true;
    const { used, socket } = this.#connection;
    this.#pool.discard(this.#connection);
    const started = this.#control !== undefined;
    // The vendor has not processed a request if a pooled connection closed without any answer, or never received it.
    const stale = used && (!started || socket?.bytesRead === this.#readBefore);
    const unsent = !started || (this.#body instanceof Readable && !this.#body.readableEnded);
    this.#listener.fail(
      started && !(error instanceof errors.ConnectTimeoutError) ? 'broken' : 'connect',
      error instanceof errors.HTTPParserError ? NOT_HTTP : reasonOf(error),
      { stale, unsent },
    );
  }

  onRequestUpgrade(controller: Dispatcher.DispatchController): void {
    controller.abort(new errors.RequestAbortedError());
  }
}

const RESET_ERROR = Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' });

function flat(headers: Record<string, string | string[] | undefined>): Headers {
  const result = new Dictionary();
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) result[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return result;
}

/** Maximum length of an interim answer. */
const MAX_BYTES = 16 * 1_024;
const STATUS = Buffer.from('HTTP/1.1 100');
const HEAD_END = Buffer.from('\r\n\r\n');

/** Filters `100 Continue` answers, which every client must accept (RFC 9110, 15.2), but undici fails on. */
interface ContinueFilter {
  /** A request is being sent: the head of its answer comes next. */
  expectHead(): void;
}

/** Installs a filter for `socket.read`. */
function skipContinue(socket: Socket): ContinueFilter {
  const read = socket.read.bind(socket);
  let atHead = true;
  /** The start of what may be such an answer. */
  let held: Buffer = NOTHING;

  /** The rest of `bytes` for the reader; undefined if more bytes are needed to decide. */
  function filtered(bytes: Buffer): Buffer | undefined {
    let rest = bytes;
    while (beginsLike(rest)) {
      const end = rest.indexOf(HEAD_END);
      if (end === -1 && rest.length <= MAX_BYTES) {
        held = rest;
        return undefined;
      }
      if (end === -1) break;
      rest = rest.subarray(end + HEAD_END.length);
    }
    atHead = rest.length === 0;
    held = NOTHING;
    return rest;
  }

  socket.read = (size?: number) => {
    for (;;) {
      const chunk = read(size) as Buffer | null;
      if (chunk === null || !atHead) return chunk;
      const rest = filtered(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
      if (rest !== undefined && rest.length > 0) return rest;
    }
  };
  return {
    expectHead() {
      atHead = true;
    },
  };
}

const NOTHING = Buffer.alloc(0);

/** Whether the bytes are a prefix of such an answer. */
function beginsLike(bytes: Buffer): boolean {
  const length = Math.min(bytes.length, STATUS.length);
  return length > 0 && bytes.compare(STATUS, 0, length, 0, length) === 0;
}
