/** Finds a free port for a server whose address must be known before it listens. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Above 10080, the highest port that browsers and `fetch` refuse to connect to (https://fetch.spec.whatwg.org/#port-blocking), and below the range for
 * outgoing connections, one of which could take it before the server does.
 */
const [LOWEST, HIGHEST] = [10_081, 32_000];

/** A port of the loopback address on which nothing listens. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
