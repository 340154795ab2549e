/** Tunnels through HTTP proxies: the connection that a proxy opens for `CONNECT` (RFC 9110, section 9.3.6). */
import { type Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { OutgoingProxy } from './proxy.ts';
import { reasonOf, STOPPED, TunnelFailed, timeoutReason } from './reasons.ts';

/** The host to be reached through the proxy. */
export interface TunnelEnd {
  /** Name or address, without brackets. */
  readonly hostname: string;
  readonly port: number;
}

/** A tunnel that is being opened. */
export interface Tunnel {
  /** Gives up, if it is not open yet; `done` gets the reason. Resolves when the connection to the proxy is closed. */
  close(reason?: string): Promise<void>;
}

/**
 * Asks a proxy for a tunnel. `done` is called once, never from within: with the connection, or with an error whose message names the proxy
 * without its password. There is no timeout.
 */
export function openTunnel(
  proxy: OutgoingProxy,
  { hostname, port }: TunnelEnd,
  done: (error: TunnelFailed | undefined, socket: Socket | undefined) => void,
): Tunnel {
  const authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  const send = proxy.secure ? requestHttps : requestHttp;
  let over = false;
  let open = false;
  /** Set when it is given up. */
  let why: string | undefined;
  const finish = (error: TunnelFailed | undefined, socket?: Socket): void => {
    if (over) return;
    over = true;
    done(error, socket);
  };
  const request = send({
    host: proxy.hostname,
    port: proxy.port,
    method: 'CONNECT',
    path: authority,
    agent: false,
    headers: {
      host: authority,
      ...(proxy.authorization !== undefined && { 'proxy-authorization': proxy.authorization }),
    },
    ...(proxy.secure && { servername: isIP(proxy.hostname) === 0 ? proxy.hostname : '', ALPNProtocols: ['http/1.1'] }),
  });
  const closed = new Promise<void>((resolve) => {
    request.once('close', () => {
      finish(new TunnelFailed(why ?? STOPPED));
      resolve();
    });
  });
  request.once('connect', ({ statusCode = 0 }, socket: Socket, first: Buffer) => {
    const refusal = refusalOf(proxy, statusCode, first);
    if (refusal === undefined) {
      open = true;
      finish(undefined, socket);
    } else {
      socket.on('error', () => {}).destroy();
      finish(new TunnelFailed(refusal));
    }
  });
  request.on('error', (error) =>
    finish(new TunnelFailed(why ?? `the proxy ${proxy.name} cannot be used: ${reasonOf(error)}`)),
  );
  request.end();
  return {
    close(reason = STOPPED) {
      if (open) return Promise.resolve();
      why = reason;
      request.destroy();
      return closed;
    },
  };
}

/** Time for a proxy to open a tunnel, and for TLS in it: the request may have been aborted before they are done. */
const TUNNEL_MS = 30_000;

/** Makes an agent connect through a proxy. */
export function tunnelling<A extends HttpAgent>(agent: A, proxy: OutgoingProxy): A {
  const connect: typeof agent.createConnection = (options, connected) => {
    const { host, port, servername } = options as ConnectionOptions;
    const isSecure = agent instanceof HttpsAgent;
    const end = { hostname: (host ?? '').replace(/^\[|\]$/g, ''), port: Number(port) };
    const timeout = setTimeout(() => void tunnel.close(timeoutReason(proxy)), TUNNEL_MS);
    const done = (error: Error | null, socket?: Socket): void => {
      clearTimeout(timeout);
      connected?.(error, socket!);
    };
    const tunnel = openTunnel(proxy, end, (error, socket) => {
      if (socket === undefined || !isSecure) {
        done(error ?? null, socket);
        return;
      }
      const secure = connectTls({ socket, servername: servername ?? '', ALPNProtocols: ['http/1.1'] });
      socket.on('error', (failure) => secure.destroy(failure));
      secure.once('error', done);
      secure.once('secureConnect', () => {
        secure.off('error', done);
        done(null, secure);
      });
    });
    // `connected` is called later.
    return undefined as unknown as Socket;
  };
  agent.createConnection = connect;
  return agent;
}

/** Why a proxy gives no tunnel. */
function refusalOf({ name, authorization }: OutgoingProxy, status: number, first: Buffer): string | undefined {
  if (status === 407) {
    const what =
      authorization === undefined ? 'requires a user and a password' : 'does not accept the user and password';
    return `the proxy ${name} ${what} (status 407)`;
  }
  if (status < 200 || status > 299) return `the proxy ${name} refuses the connection (status ${status})`;
  // The client speaks first, in TLS and in HTTP.
  return first.length > 0 ? `the proxy ${name} does not open a tunnel` : undefined;
}
