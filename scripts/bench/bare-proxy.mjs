// The baseline: the minimum work of a streaming proxy on node:http, which parses no body. Runs without a TypeScript
// loader.
import { Agent, createServer, request } from 'node:http';

const [port, upstream] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });

createServer((incoming, outgoing) => {
  const { method, url: path, headers } = incoming;
  const asked = request({ agent, host: '127.0.0.1', port: upstream, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode, answer.headers);
    answer.pipe(outgoing);
  });
  asked.on('error', () => outgoing.destroy());
  outgoing.on('error', () => asked.destroy());
  incoming.pipe(asked);
}).listen(port, '127.0.0.1', () => process.stdout.write('ready\n'));
