/** The carrier of opaque bytes: http-proxy-3, fed with requests of our own so that nothing of a client's goes out unasked. */
import { EventEmitter } from 'node:events';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';

/** What goes to a vendor: exactly this, beside the `host` of its address. */
export interface OpaqueRequest {
  readonly method: string;
  readonly url: URL;
  /** Those that frame the body among them. Of two that differ only in case, the last counts. */
  readonly headers: Record<string, string>;
}

/** Who hears how a request fares. Whatever follows the first ending has to be ignored. */
export interface OpaqueListener {
  /** The connection to the vendor stands. */
  connected(): void;
  /** The vendor answers; the body is still to be read. An answer that nobody wants has to be destroyed. */
  answered(answer: IncomingMessage): void;
  /** No answer, or one that broke off. May come before `answered`, even for an answer that was received. */
  failed(error: Error): void;
}

/** The same for a request that asks for a websocket. */
export interface SocketListener extends OpaqueListener {
  /** The vendor agrees to the upgrade: with which headers the client is told so. From here on both are joined. */
  opened(answer: IncomingMessage, vendor: Socket): Record<string, string>;
}

/** A request under way. */
export interface OpaqueCall {
  /** Ends it where it stands. Its connection is not used again unless the answer had come to its end. */
  abort(): void;
}

/** Carries bytes and websockets without understanding them. */
export interface OpaqueCarrier {
  /** Sends a request; `body` undefined: without one. Throws where no such request can be made. */
  web(request: OpaqueRequest, body: Readable | undefined, listener: OpaqueListener): OpaqueCall;
  /**
   * Asks for a websocket and, where the vendor opens it, joins it to the client's connection. `first` is what the client sent
   * behind its head. `abort` ends it as long as it is not open.
   */
  ws(request: OpaqueRequest, client: Socket, first: Buffer, listener: SocketListener): OpaqueCall;
  /** Closes what is kept for later. */
  close(): void;
}

/**
 * Shorter than servers keep a connection (5 s are usual), so that none closes one as we use it: a body that has streamed away
 * cannot be sent again.
 */
const IDLE_MS = 4_000;

/** What http-proxy-3 takes for the client's request. */
class Outgoing extends EventEmitter {
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly url = '/';
  // Only its end is asked for, and ends of clients are told to us by others.
  readonly socket = { destroyed: false };
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly listener: OpaqueListener;
  /** The vendor's side of a websocket being asked for. */
  sent: ClientRequest | undefined;

  constructor({ method, headers }: OpaqueRequest, listener: OpaqueListener) {
    super();
    this.method = method;
    this.headers = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    this.listener = listener;
  }
}

/** What it takes for the client's answer. Nothing is written there; its `close` ends the request to the vendor. */
class Seat extends EventEmitter {
  readonly headersSent = false;
  readonly finished = false;
  readonly writableFinished = false;
}

/** Makes it, with its own connections to vendors. */
export function createOpaqueCarrier(): OpaqueCarrier {
  // The library's other way of sending, which follows redirects and reads answers ahead, must not be forced from outside.
  delete process.env.FORCE_FETCH_PATH;
  const agents = { http: watched(new HttpAgent(agentOptions)), https: watched(new HttpsAgent(agentOptions)) };
  const proxy = createProxyServer({
    selfHandleResponse: true,
    followRedirects: false,
    xfwd: false,
    changeOrigin: true,
    ignorePath: true,
  });
  // Every request has its own callback; an event that nobody hears would be thrown.
  proxy.on('error', () => {});
  proxy.on('proxyReq', (sent, request, _seat, _options, socket) => {
    const { listener } = ours(request);
    tellConnected(listener, socket);
    // A vendor that switches protocols unasked would otherwise end the request without a word.
    sent.on('upgrade', (_answer, unasked) => {
      unasked.destroy();
      listener.failed(new Error('the vendor switched protocols'));
    });
  });
  proxy.on('proxyRes', (answer, request) => ours(request).listener.answered(answer));
  proxy.on('proxyReqWs', (sent, request) => {
    ours(request).sent = sent;
    sent.on('socket', (socket) => tellConnected(ours(request).listener, socket));
  });

  const targetOf = ({ url }: OpaqueRequest) => ({
    target: url,
    agent: url.protocol === 'https:' ? agents.https : agents.http,
  });

  return {
    web(request, body, listener) {
      const seat = new Seat();
      proxy.web(
        theirs(new Outgoing(request, listener)),
        seat as unknown as ServerResponse,
        { ...targetOf(request), buffer: body ?? Readable.from([]) },
        (error) => listener.failed(error),
      );
      return { abort: () => seat.emit('close') };
    },

    ws(request, client, first, listener) {
      const outgoing = new Outgoing(request, listener);
      proxy.ws(theirs(outgoing), client, first, targetOf(request), () => {});
      const { sent } = outgoing;
      if (sent === undefined) throw new Error('http-proxy-3 did not ask for the websocket');
      // It would answer the client itself, with whatever the vendor says; that is for us to do.
      for (const event of ['response', 'error']) sent.removeAllListeners(event);
      sent.on('response', (answer) => listener.answered(answer));
      sent.on('error', (error) => listener.failed(error));
      // Heard before http-proxy-3 writes these headers to the client.
      sent.prependListener('upgrade', (answer, vendor: Socket) => {
        answer.headers = listener.opened(answer, vendor);
      });
      return { abort: () => sent.destroy() };
    },

    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

const agentOptions = { keepAlive: true, scheduling: 'lifo', timeout: IDLE_MS } as const;

function theirs(request: Outgoing): IncomingMessage {
  return request as unknown as IncomingMessage;
}

function ours(request: IncomingMessage): Outgoing {
  return request as unknown as Outgoing;
}

/** Closes a kept connection on which the vendor speaks unasked: the next request would take it for its answer. */
function watched<A extends HttpAgent>(agent: A): A {
  const speaksUnasked = function (this: Socket): void {
    this.destroy();
  };
  const { keepSocketAlive, reuseSocket } = agent;
  agent.keepSocketAlive = (socket) => {
    socket.on('data', speaksUnasked);
    return keepSocketAlive.call(agent, socket);
  };
  agent.reuseSocket = (socket, request) => {
    socket.off('data', speaksUnasked);
    reuseSocket.call(agent, socket, request);
  };
  return agent;
}

function tellConnected(listener: OpaqueListener, socket: Socket): void {
  if (socket.connecting) socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => listener.connected());
  else listener.connected();
}
