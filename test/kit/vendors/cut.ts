/** A way to a server that a test cuts where it likes. */
import { connect, createServer, type Socket } from 'node:net';

/** The way, open at first. */
export interface Cut {
  readonly port: number;
  /** The connection over which these bytes come is cut: before they reach the server, or when they have and it answers. Resolves then. */
  at(bytes: string, when: 'before' | 'after'): Promise<void>;
  /** Closed, it ends every connection and lets none through. */
  close(): void;
  open(): void;
  remove(): Promise<void>;
}

/** Makes one in front of a port of this machine. */
export async function cutBefore(target: number): Promise<Cut> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isOpen = true;
  let armed: { readonly bytes: string; readonly when: 'before' | 'after'; cut(): void } | undefined;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    const pair = [client, upstream] as const;
    const end = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    if (!isOpen) return end();
    pairs.add(pair);
    client.on('data', (chunk) => {
      const cut = armed;
      if (cut === undefined || !chunk.includes(cut.bytes)) {
        upstream.write(chunk);
        return;
      }
      armed = undefined;
      const done = (): void => {
        end();
        cut.cut();
      };
      if (cut.when === 'before') return done();
      upstream.removeAllListeners('data').once('data', done).write(chunk);
    });
    upstream.on('data', (chunk) => void client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  function close(): void {
    isOpen = false;
    for (const [client, upstream] of pairs) {
      client.destroy();
      upstream.destroy();
    }
  }
  return {
    port: (server.address() as { readonly port: number }).port,
    at: (bytes, when) =>
      new Promise((resolve) => {
        armed = { bytes, when, cut: resolve };
      }),
    close,
    open() {
      isOpen = true;
    },
    async remove() {
      close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
