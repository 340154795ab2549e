/** The carrier of metered calls: undici clients, one request at a time each, the most recently used first. */
import type { Socket } from 'node:net';
import { buildConnector, Client, errors } from 'undici';
import type { FailureKind, Headers } from './contracts/call.ts';

/** What goes to a vendor. */
export interface UpstreamRequest {
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
  readonly connectMs: number;
  /** True where no connection that was kept may be used. */
  readonly fresh?: boolean;
}

/** Who listens to the answer. After `end` or `fail` nothing more is called. */
export interface UpstreamListener {
  head(status: number, headers: Headers): void;
  data(chunk: Buffer): void;
  end(): void;
  /** `stale`: a kept connection died as we used it; worth one fresh try. */
  fail(kind: FailureKind, reason: string, how: { readonly stale: boolean }): void;
}

/** A request under way. */
export interface UpstreamCall {
  pause(): void;
  resume(): void;
  /** Ends it without a word to the listener; the connection is not used again. */
  abort(): void;
}

export interface Upstream {
  send(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall;
  close(): Promise<void>;
}

/** Idle connections kept per origin; a burst opens more, and they go when they are done. */
const MAX_IDLE = 256;
/** Below what vendors and their load balancers allow, so that they rarely close a connection as we use it. */
const IDLE_MS = 30_000;

interface Connection {
  readonly client: Client;
  /** What it stands on now; a client whose connection has gone makes itself a new one. */
  socket: Socket | undefined;
  /** Whether something has been answered on this socket. */
  used: boolean;
}

export function createUpstream(): Upstream {
  const idle = new Map<string, Connection[]>();
  const open = new Set<Client>();

  const connect = (request: UpstreamRequest): Connection => {
    const connector = buildConnector({ timeout: request.connectMs });
    const client = new Client(request.origin, {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: 2 * IDLE_MS,
      connect(options, done) {
        connector(options, (...[error, socket]) => {
          connection.socket = socket ?? undefined;
          connection.used = false;
          if (error === null) done(null, socket);
          else done(error, null);
        });
      },
      allowH2: false,
    });
    const connection: Connection = { client, socket: undefined, used: false };
    open.add(client);
    return connection;
  };

  const take = (key: string, request: UpstreamRequest): Connection => {
    const kept = request.fresh ? undefined : idle.get(key)?.pop();
    return kept ?? connect(request);
  };

  const discard = (connection: Connection): void => {
    open.delete(connection.client);
    connection.client.destroy().catch(() => {});
  };

  const keep = (key: string, connection: Connection): void => {
    let stack = idle.get(key);
    if (stack === undefined) {
      stack = [];
      idle.set(key, stack);
    }
    connection.used = true;
    // A vendor that answers before it has read everything leaves the rest of the request on the wire.
    const clean = connection.socket?.writableLength === 0;
    if (clean && stack.length < MAX_IDLE) stack.push(connection);
    else discard(connection);
  };

  return {
    send(request, listener) {
      const key = `${request.origin} ${request.connectMs}`;
      const connection = take(key, request);
      // The one latch of a request: whatever happens after the first ending is nobody's business.
      let done = false;
      let started = false;
      const readBefore = connection.socket?.bytesRead;
      let control: { pause(): void; resume(): void; abort(reason: Error): void } | undefined;
      connection.client.dispatch(
        { method: 'POST', path: request.path, headers: request.headers, body: request.body, idempotent: false },
        {
          onRequestStart(controller) {
            control = controller;
            started = true;
            if (done) controller.abort(new errors.RequestAbortedError());
          },
          onResponseStart(_controller, status, headers) {
            if (done || status < 200) return;
            listener.head(status, flat(headers));
          },
          onResponseData(_controller, chunk) {
            if (!done) listener.data(chunk);
          },
          onResponseEnd() {
            if (done) return;
            done = true;
            keep(key, connection);
            listener.end();
          },
          onResponseError(_controller, error) {
            if (done) return;
            done = true;
            discard(connection);
            const kind = failureOf(error, started);
            // Nobody has worked on a request to which a kept connection said nothing at all before it closed.
            const stale = connection.used && started && connection.socket?.bytesRead === readBefore;
            listener.fail(kind, reasonOf(error), { stale });
          },
          onRequestUpgrade(controller) {
            controller.abort(new errors.RequestAbortedError());
          },
        },
      );
      return {
        pause: () => control?.pause(),
        resume: () => control?.resume(),
        abort() {
          if (done) return;
          done = true;
          control?.abort(new errors.RequestAbortedError());
          discard(connection);
        },
      };
    },
    async close() {
      await Promise.all([...open].map((client) => client.destroy().catch(() => {})));
      open.clear();
      idle.clear();
    },
  };
}

function flat(headers: Record<string, string | string[] | undefined>): Headers {
  const result: Record<string, string> = Object.create(null);
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) result[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return result;
}

function failureOf(error: Error, started: boolean): FailureKind {
  return started && !(error instanceof errors.ConnectTimeoutError) ? 'broken' : 'connect';
}

/** For people; carries no address and no header. */
function reasonOf(error: Error): string {
  if (error instanceof errors.HTTPParserError) return 'the answer is not HTTP';
  const code = (error as { code?: unknown }).code;
  if (typeof code !== 'string') return 'the connection failed';
  return REASONS[code] ?? `the connection failed (${code})`;
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  ENOTFOUND: 'the host name is unknown',
  EAI_AGAIN: 'the host name could not be looked up',
  UND_ERR_CONNECT_TIMEOUT: 'the connection took too long',
  UND_ERR_SOCKET: 'the connection was closed in the middle of the answer',
  UND_ERR_HEADERS_OVERFLOW: 'the head of the answer is too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the answer is shorter than it said',
};
