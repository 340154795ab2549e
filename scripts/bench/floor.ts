/**
 * A lower bound for Turnpike: node's server, our client, whole bodies, one write each way. The difference to Turnpike
 * is everything that it does for a call.
 */
import { createServer } from 'node:http';
import { systemClock } from '../../core/runtime/clock.ts';
import { openUpstream } from '../../core/upstream/client.ts';

const [port, upstream] = process.argv.slice(2);
const client = openUpstream(systemClock);

createServer((incoming, outgoing) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (piece: Buffer) => chunks.push(piece));
  incoming.on('end', () => {
    let isStream = false;
    const answer: Buffer[] = [];
    const call = client.send(
      {
        origin: `http://127.0.0.1:${upstream}`,
        path: incoming.url!,
        headers: { 'content-type': 'application/json' },
        body: chunks.length === 1 ? chunks[0] : Buffer.concat(chunks),
        connectMs: 5_000,
      },
      {
        head(status, headers) {
          const type = String(headers['content-type']);
          isStream = type.startsWith('text/event-stream');
          outgoing.writeHead(status, { 'content-type': type });
          if (isStream) outgoing.flushHeaders();
        },
        data(piece) {
          if (isStream) outgoing.write(piece);
          else answer.push(piece);
        },
        end() {
          if (isStream) outgoing.end();
          else outgoing.end(answer.length === 1 ? answer[0] : Buffer.concat(answer));
        },
        fail: () => outgoing.destroy(),
      },
    );
    outgoing.on('error', () => call.abort());
  });
}).listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'));
