// A plain proxy based on the package http-proxy-3 with a keep-alive agent, because without one it opens a connection for each request.
import { Agent, createServer } from 'node:http';
import httpProxy from 'http-proxy-3';

const [port, upstream] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const proxy = httpProxy.createProxyServer({ target: `http://127.0.0.1:${upstream}`, agent });
proxy.on('error', (_error, _request, response) => response.destroy());

createServer((request, response) => proxy.web(request, response)).listen(port, '127.0.0.1', () =>
  process.stdout.write('ready\n'),
);
