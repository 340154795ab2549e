/** Opens TCP and TLS connections to one origin, directly or through a tunnel. */
import {
  connect as connectTcp,
  isIP,
  type OnReadOpts,
  type Socket,
  type SocketConstructorOpts,
  type TcpSocketConnectOpts,
} from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { OutgoingProxy } from './proxy.ts';

/** The target, and what was learned from earlier connections. */
export interface Target {
  readonly secure: boolean;
  /** Name or address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The value of the header `host`. */
  readonly host: string;
  /** The proxy that opens a tunnel to it, if any. */
  readonly proxy: OutgoingProxy | undefined;
  /** The last TLS session, which shortens the next handshake. */
  session: Buffer | undefined;
}

/** Parses an origin: scheme, host and port. Throws if it is not a URL. */
export function targetOf(origin: string, proxy: OutgoingProxy | undefined): Target {
  const { protocol, hostname, port, host } = new URL(origin);
  const secure = protocol === 'https:';
  return {
    secure,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    host,
    proxy,
    session: undefined,
  };
}

/** The options of `tls.connect`, whose type lacks some that it passes on to the socket. */
type TlsOptions = ConnectionOptions & TcpSocketConnectOpts & Pick<SocketConstructorOpts, 'allowHalfOpen'>;

/** While a vendor computes for minutes, no data flows, and middleboxes must not drop the connection. */
const KEEP_ALIVE_MS = 60_000;

/**
 * Starts to connect; certificates are checked with node's defaults. Data goes to `onread` and never through the stream.
 * The event `connect`, with TLS `secureConnect`, signals that it is writable; after `end` the caller must destroy it.
 */
export function dial(target: Target, onread: OnReadOpts): Socket {
  const { secure, hostname, port } = target;
  const place = { host: hostname, port, onread, allowHalfOpen: true };
  const options: TlsOptions = { ...tlsOptions(target), ...place };
  const socket = secure ? rememberingSession(connectTls(options), target) : connectTcp(place);
  // The stream carries no data, but it must be read for the end to be emitted.
  return settled(socket).resume();
}

/**
 * The same on a tunnel: the event `secureConnect` signals with TLS that it is writable; without TLS it is at once. Only a socket of its own reads
 * into a given buffer, so data is copied there.
 */
export function dialThrough(tunnel: Socket, target: Target, { buffer, callback }: OnReadOpts): Socket {
  const inbox = buffer as Buffer;
  const socket = target.secure
    ? rememberingSession(connectTls({ socket: tunnel, ...tlsOptions(target) }), target)
    : tunnel;
  if (socket !== tunnel) tunnel.on('error', (error) => socket.destroy(error));
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length && !socket.destroyed; at += inbox.length) {
      const end = Math.min(at + inbox.length, chunk.length);
      chunk.copy(inbox, 0, at, end);
      callback(end - at, inbox);
    }
  });
  return settled(socket);
}

function settled(socket: Socket): Socket {
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
}

function rememberingSession(socket: Socket, target: Target): Socket {
  return socket.on('session', (session: Buffer) => {
    target.session = session;
  });
}

function tlsOptions({ hostname, session }: Target): ConnectionOptions {
  return {
    // An IP address is not a server name (RFC 6066, section 3).
    servername: isIP(hostname) === 0 ? hostname : '',
    ALPNProtocols: ['http/1.1'],
    ...(session && { session }),
  };
}
