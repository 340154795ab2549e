/** An HTTP proxy on node:http that opens tunnels, refuses them or says nothing, and knows names that no one else can resolve. */
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { LOCALHOST } from './certificates.ts';

/** A running proxy. */
export interface ConnectProxy {
  readonly port: number;
  /** `http://127.0.0.1:PORT`, with `https` if it was asked for. */
  readonly url: string;
  /** The targets of all tunnels that were requested, in order: `vendor.test:443`. */
  readonly targets: readonly string[];
  /** The `proxy-authorization` of each. */
  readonly authorizations: readonly (string | undefined)[];
  /** Connections to it that are open. */
  readonly openConnections: number;
  /** Requests that were sent to it without a tunnel. */
  readonly otherRequests: number;
  close(): Promise<void>;
}

/** What it does with a request for a tunnel: open it, refuse it with a status, or never answer. */
export type ProxyBehaviour = 'open' | 'silent' | number;

/** Starts it. `hosts`: which port of this machine a name means, as `vendor.test` or `vendor.test:443`. */
export async function connectProxy(
  hosts: Readonly<Record<string, number>>,
  options: {
    readonly behaviour?: ProxyBehaviour;
    /** `user:password`; others get 407. */
    readonly credentials?: string;
    readonly secure?: boolean;
  } = {},
): Promise<ConnectProxy> {
  const { behaviour = 'open', credentials, secure = false } = options;
  const targets: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  let otherRequests = 0;
  const server = secure ? createTlsServer({ cert: LOCALHOST.cert, key: LOCALHOST.key }) : createServer();
  server.on('request', (_request, response) => {
    otherRequests++;
    response.writeHead(400).end();
  });
  server.on(secure ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  });
  server.on('connect', ({ url = '', headers }: IncomingMessage, socket: Socket, first: Buffer) => {
    const authorization = headers['proxy-authorization'];
    targets.push(url);
    authorizations.push(authorization);
    if (behaviour === 'silent') {
      // Only a socket that is read notices its end, and the server leaves it half-open.
      socket.on('end', () => socket.destroy()).resume();
      return;
    }
    const expected = credentials && `Basic ${Buffer.from(credentials).toString('base64')}`;
    const status = credentials === undefined || authorization === expected ? behaviour : 407;
    const port = hosts[url] ?? hosts[url.replace(/:\d+$/, '')];
    if (status !== 'open' || port === undefined) {
      socket.end(`HTTP/1.1 ${status === 'open' ? 502 : status} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const vendor = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (first.length > 0) vendor.write(first);
      vendor.pipe(socket).pipe(vendor);
    });
    vendor.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => vendor.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${secure ? 'https://localhost' : 'http://127.0.0.1'}:${port}`,
    targets,
    authorizations,
    get openConnections() {
      return sockets.size;
    },
    get otherRequests() {
      return otherRequests;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
