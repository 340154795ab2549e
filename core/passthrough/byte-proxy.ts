/** Forwards bytes with http-proxy-3, which gets requests that core creates: nothing of the client's by accident. */
import { EventEmitter } from 'node:events';
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { createProxyServer } from 'http-proxy-3';
import type { OutgoingProxy } from '../upstream/proxy.ts';
import { tunnelling } from '../upstream/tunnel.ts';

/** The upstream request: exactly this, plus the `host` of its address. */
export interface OpaqueRequest {
  readonly method: string;
  readonly url: URL;
  /** Includes those that frame the body. Of two that differ only in case, the last counts. */
  readonly headers: Record<string, string>;
  /** The proxy that opens a tunnel to its address; undefined: a direct connection. */
  readonly proxy: OutgoingProxy | undefined;
}

/** Callbacks for a request. Ignore whatever follows the first end. */
export interface OpaqueListener {
  /** The connection to the vendor is established. */
  connected(): void;
  /** The vendor answers; the body is unread. An unwanted answer must be destroyed. */
  answered(answer: IncomingMessage): void;
  /** No answer, or a truncated one. May come before `answered`, even for an answer that was received. */
  failed(error: Error): void;
}

/** The same for a WebSocket request. */
export interface SocketListener extends OpaqueListener {
  /** The vendor accepts the upgrade: returns the headers for the client. From now on both connections are joined. */
  opened(answer: IncomingMessage, vendor: Socket): Record<string, string>;
}

/** A running request. */
export interface OpaqueCall {
  /** Aborts it. Its connection is reused only if the answer was complete. */
  abort(): void;
}

/** Forwards bytes and WebSockets without decoding them. */
export interface OpaqueCarrier {
  /** Sends a request; `body` undefined: without one. Throws if the request is invalid. */
  web(request: OpaqueRequest, body: Readable | undefined, listener: OpaqueListener): OpaqueCall;
  /**
   * Requests a WebSocket and, if the vendor accepts, joins it to the client's connection. `first` is what the client
   * sent after its head. `abort` works until it is open.
   */
  ws(request: OpaqueRequest, client: Socket, first: Buffer, listener: SocketListener): OpaqueCall;
  /** Closes idle connections. */
  close(): void;
}

/** Shorter than servers' keep-alive (usually 5 s): a streamed body cannot be sent again if the connection closes. */
const IDLE_MS = 4_000;

/** Looks like the client's request to http-proxy-3. */
class Outgoing extends EventEmitter {
  readonly httpVersion = '1.1';
  readonly httpVersionMajor = 1;
  readonly url = '/';
  // http-proxy-3 reads only whether it has ended; the server reports when the client disconnects.
  readonly socket = { destroyed: false };
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly listener: OpaqueListener;
  /** The upstream side of a requested WebSocket. */
  sent: ClientRequest | undefined;

  constructor({ method, headers }: OpaqueRequest, listener: OpaqueListener) {
    super();
    this.method = method;
    this.headers = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    this.listener = listener;
  }
}

/** Looks like the client's response to http-proxy-3. Nothing is written to it; its `close` aborts the request. */
class ResponseStub extends EventEmitter {
  readonly headersSent = false;
  readonly finished = false;
  readonly writableFinished = false;
}

/** Creates it, with its own upstream connections. */
export function createOpaqueCarrier(): OpaqueCarrier {
  // The library's alternative client follows redirects and buffers answers; the environment must not enable it.
  delete process.env.FORCE_FETCH_PATH;
  const direct = { http: watched(new HttpAgent(agentOptions)), https: watched(new HttpsAgent(agentOptions)) };
  /** By the URL of the proxy. */
  const throughProxies = new Map<string, typeof direct>();
  const agentsOf = (proxy: OutgoingProxy | undefined): typeof direct => {
    if (proxy === undefined) return direct;
    let agents = throughProxies.get(proxy.url);
    if (agents === undefined) {
      agents = {
        http: watched(tunnelling(new HttpAgent(agentOptions), proxy)),
        https: watched(tunnelling(new HttpsAgent(agentOptions), proxy)),
      };
      throughProxies.set(proxy.url, agents);
    }
    return agents;
  };
  const proxy = createProxyServer({
    selfHandleResponse: true,
    followRedirects: false,
    xfwd: false,
    changeOrigin: true,
    ignorePath: true,
  });
  // Every request has its own callback; an event without a listener would be thrown.
  proxy.on('error', () => {});
  proxy.on('proxyReq', (sent, request, _response, _options, socket) => {
    const { listener } = ours(request);
    tellConnected(listener, socket);
    // If a vendor switches protocols without a request for it, the request would otherwise end silently.
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

  const targetOf = ({ url, proxy: through }: OpaqueRequest) => ({
    target: url,
    agent: agentsOf(through)[url.protocol === 'https:' ? 'https' : 'http'],
  });

  return {
    web(request, body, listener) {
      const stub = new ResponseStub();
      proxy.web(
        theirs(new Outgoing(request, listener)),
        stub as unknown as ServerResponse,
        { ...targetOf(request), buffer: body ?? Readable.from([]) },
        (error) => listener.failed(error),
      );
      return { abort: () => stub.emit('close') };
    },

    ws(request, client, first, listener) {
      const outgoing = new Outgoing(request, listener);
      proxy.ws(theirs(outgoing), client, first, targetOf(request), () => {});
      const { sent } = outgoing;
      if (sent === undefined) throw new Error('http-proxy-3 did not ask for the websocket');
      // It would forward the vendor's answer to the client itself, which is our task.
      for (const event of ['response', 'error']) sent.removeAllListeners(event);
      sent.on('response', (answer) => listener.answered(answer));
      sent.on('error', (error) => listener.failed(error));
      // Called before http-proxy-3 writes these headers to the client.
      sent.prependListener('upgrade', (answer, vendor: Socket) => {
        answer.headers = listener.opened(answer, vendor);
      });
      return { abort: () => sent.destroy() };
    },

    close() {
      for (const { http, https } of [direct, ...throughProxies.values()]) {
        http.destroy();
        https.destroy();
      }
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

/** Closes an idle connection on which the vendor sends data: the next request would take it for its answer. */
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
