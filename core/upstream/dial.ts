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

/** Where to, and what was learned there. */
export interface Target {
  readonly secure: boolean;
  /** Name or address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** As the header `host` has it. */
  readonly host: string;
  /** The last TLS session: the next handshake is shorter with it. */
  session: Buffer | undefined;
}

/** Of an origin: scheme, host and port. Throws if it is not a URL. */
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

/** A vendor that thinks for minutes says nothing, and its connection must not be forgotten by what lies between. */
const KEEP_ALIVE_MS = 60_000;

/**
 * Begins to connect; certificates are checked as node does by default. What comes goes to `onread` and never through the stream.
 * Its event `connect`, with TLS `secureConnect`, tells when it can be written to; after `end` it is for the caller to destroy it.
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
  // The stream carries nothing but the end, which is told only to those who read.
  return socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS).resume();
}

/** What `tls.connect` takes; of what it passes on to the socket, its type knows only a part. */
function tlsOptions({ hostname, port, session }: Target, onread: OnReadOpts): TlsOptions {
  return {
    host: hostname,
    port,
    // An address is not a server name (RFC 6066, section 3).
    servername: isIP(hostname) === 0 ? hostname : '',
    ALPNProtocols: ['http/1.1'],
    ...(session && { session }),
    onread,
    allowHalfOpen: true,
  };
}
