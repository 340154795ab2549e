/** Juniper, a chat vendor behind a small server of the plugin's own, as for a protocol that is not HTTP. An outside plugin in plain JavaScript. */
import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import { pipeline } from 'node:stream';
import { definePlugin, schema } from 'turnpike/plugin';

const options = schema({
  type: 'object',
  required: ['upstream'],
  properties: { upstream: { type: 'string' } },
});

/** Hands a request on to the vendor, and its answer back; whoever of the two leaves, the other one is left. */
function bridge(request, response) {
  const { 'x-upstream': upstream, host: _, connection: __, ...headers } = request.headers;
  const asked = ask(`${upstream}${request.url}`, { method: 'POST', headers });
  asked.on('error', () => response.destroy());
  asked.on('response', (answer) => {
    response.writeHead(answer.statusCode, { 'content-type': answer.headers['content-type'] });
    pipeline(answer, response, () => {});
  });
  request.pipe(asked);
}

export default definePlugin({
  name: 'juniper',
  api: 2,
  create() {
    const server = createServer(bridge);
    let address;
    return {
      vendors: [
        {
          name: 'juniper',
          options,
          url: () => address,
          speaks: {
            chat: {
              path: '/chat/completions',
              headers: ({ key, options: { upstream } }) => ({ authorization: `Bearer ${key}`, 'x-upstream': upstream }),
            },
          },
        },
      ],
      async start() {
        await once(server.listen(0, '127.0.0.1'), 'listening');
        address = `http://127.0.0.1:${server.address().port}`;
      },
      async stop() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },
});
