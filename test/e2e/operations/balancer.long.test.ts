/** The balancers of `npm run cluster`: each hands calls to the gateways that are there, event by event, and never twice. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { BALANCERS, type Balancer, hasBalancer, startBalancer } from '../../../scripts/cluster/balancer.ts';
import { freePort } from '../../../scripts/free-port.ts';
import { until } from '../../kit/until.ts';

for (const kind of BALANCERS) {
  describe(`${kind} as the balancer`, { skip: hasBalancer(kind) ? false : `${kind} is not installed` }, () => {
    let folder: string;
    let balancer: Balancer;
    let ports: readonly number[];
    let gateways: Server[];
    let asked: string[];
    let answer: (response: ServerResponse) => void;

    /** A stand-in for a gateway, at a port that was chosen before. */
    async function listen(port: number): Promise<Server> {
      const server = createServer((incoming, response) => {
        if (incoming.url === '/readyz') return void response.end();
        asked.push(`${incoming.method} ${incoming.headers['x-forwarded-for'] ?? ''}`);
        answer(response);
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }
    const close = async (server: Server): Promise<void> => {
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    };

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'turnpike-balancer-'));
      ports = [await freePort(), await freePort()];
      balancer = await startBalancer({ port: await freePort(), gateways: ports, folder }, kind);
    });
    after(async () => {
      await balancer.stop();
      rmSync(folder, { recursive: true });
    });
    beforeEach(async () => {
      asked = [];
      answer = (response) => void response.end('served');
      gateways = await Promise.all(ports.map(listen));
    });
    afterEach(() => Promise.all(gateways.map(close)));

    const post = (): Promise<Response> => fetch(balancer.url, { method: 'POST', body: '{}' });
    /** A balancer that has just seen gateways fail may take a moment to see them again. */
    async function untilServed(): Promise<void> {
      await until('a gateway is asked', async () => (await post().catch(() => undefined))?.status === 200);
      asked = [];
    }

    it('hands on an event of a stream before the next one is there', async () => {
      await untilServed();
      let next = (): void => {};
      answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('data: first\n\n');
        next = () => void response.end('data: last\n\n');
      };
      const call = request(balancer.url, { method: 'POST' }).end('{}');
      const [response] = await once(call, 'response');
      const [first] = await once(response, 'data');
      assert.equal(String(first), 'data: first\n\n');
      next();
      const [last] = await once(response, 'data');
      assert.equal(String(last), 'data: last\n\n');
    });

    it('serves every call while a gateway is gone', async () => {
      await untilServed();
      await close(gateways[0]!);
      for (let call = 0; call < 20; call++) assert.equal((await post()).status, 200);
    });

    it('does not send a call a second time when a gateway dies over it', async () => {
      await untilServed();
      answer = (response) => void response.socket!.destroy();
      const status = await post().then(
        (response) => response.status,
        () => 'broken off',
      );
      assert.ok(status === 502 || status === 'broken off', `${status}`);
      assert.equal(asked.length, 1);
    });

    // A round robin of connections adds no headers.
    if (kind === 'node') return;
    it('says who called', async () => {
      await untilServed();
      await post();
      assert.deepEqual(asked, ['POST 127.0.0.1']);
    });
  });
}
