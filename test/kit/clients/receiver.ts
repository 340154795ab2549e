/** An HTTP server that keeps what it gets: a telemetry collector, a webhook, an object store. It can refuse, hang, or be away. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request that has arrived completely. */
export interface Received {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A running server. */
export interface Receiver {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly received: readonly Received[];
  /** The status of the next answers, one each; then 200. `hang`: no answer at all. */
  next(...answers: readonly (number | 'hang')[]): void;
  /** The same for all answers. */
  always(answer: number | 'hang'): void;
  /** Resolves when so many requests have arrived. */
  waitFor(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts it on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const queue: (number | 'hang')[] = [];
  const watchers = new Set<() => void>();
  let standing: number | 'hang' = 200;
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const { method = '', url = '', headers } = request;
    received.push({ method, path: url, headers, body });
    for (const watcher of watchers) watcher();
    const answer = queue.shift() ?? standing;
    if (answer !== 'hang') response.writeHead(answer, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    next: (...answers) => void queue.push(...answers),
    always(answer) {
      standing = answer;
    },
    waitFor: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (received.length < count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
