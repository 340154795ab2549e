/** Opens TCP and TLS connections to one origin. */
import {
  connect as connectTcp,
  isIP,
  type OnReadOpts,
  type Socket,
  type SocketConstructorOpts,
  type TcpSocketConnectOpts,
} from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';

/** The target, and what was learned from earlier connections. */
export interface Target {
  readonly secure: boolean;
  /** Name or address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The value of the header `host`. */
  readonly host: string;
  /** The last TLS session, which shortens the next handshake. */
  session: Buffer | undefined;
}

/** Parses an origin: scheme, host and port. Throws if it is not a URL. */
export function targetOf(origin: string): Target {
  const { protocol, hostname, port, host } = new URL(origin);
  const secure = protocol === 'https:';
  return {
    secure,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (secure ? 443 : 80) : Number(port),
    host,
    session: undefined,
  };
}

type TlsOptions = ConnectionOptions & TcpSocketConnectOpts & Pick<SocketConstructorOpts, 'allowHalfOpen'>;

/** While a vendor computes for minutes, no data flows, and middleboxes must not drop the connection. */
const KEEP_ALIVE_MS = 60_000;

/**
 * Starts to connect; certificates are checked with node's defaults. Data goes to `onread` and never through the stream.
 * The event `connect`, with TLS `secureConnect`, signals that it is writable; after `end` the caller must destroy it.
 */
export function dial(target: Target, onread: OnReadOpts): Socket {
  const { secure, hostname, port } = target;
  const socket = secure
    ? connectTls(tlsOptions(target, onread))
    : connectTcp({ host: hostname, port, onread, allowHalfOpen: true });
  if (secure) {
    socket.on('session', (session: Buffer) => {
      target.session = session;
    });
  }
  // The stream carries no data, but it must be read for the end to be emitted.
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS).resume();
}

/** The options of `tls.connect`, whose type lacks some that it passes on to the socket. */
function tlsOptions({ hostname, port, session }: Target, onread: OnReadOpts): TlsOptions {
  return {
    host: hostname,
    port,
    // An IP address is not a server name (RFC 6066, section 3).
    servername: isIP(hostname) === 0 ? hostname : '',
    ALPNProtocols: ['http/1.1'],
    ...(session && { session }),
    onread,
    allowHalfOpen: true,
  };
}
