/**
 * What http-proxy-3 does when it is handed a client's request as it came. `core/passthrough/byte-proxy.ts` is built around these facts: should an
 * upgrade of the library change one of them, this is where it shows.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createProxyServer, type ProxyServer } from 'http-proxy-3';
import { rawConnection, rawRequest, requestText } from '../../kit/clients/raw-client.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { bytes, chunk, fin, head, jsonAnswer, rst } from '../../kit/vendors/script.ts';

/** A request that came in at the naive proxy, and its answer. */
interface Taken {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

describe('http-proxy-3 with a client request as it is', () => {
  const agent = new Agent({ keepAlive: true });
  let vendor: FakeVendor;
  let proxy: ProxyServer;
  let server: Server;
  let port: number;
  let taken: Taken[];
  /** What goes wrong with the request under way. */
  let failed: (error: Error, response: ServerResponse) => void;

  before(async () => {
    const take = (request: IncomingMessage, response: ServerResponse): void => {
      taken.push({ request, response });
      proxy.web(request, response, { target: vendor.url, agent }, (error) => failed(error, response));
    };
    server = createServer(take).on('checkContinue', take).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    agent.destroy();
    server.close();
    server.closeAllConnections();
  });
  beforeEach(async () => {
    vendor = await fakeVendor(jsonAnswer(200, {}));
    proxy = createProxyServer();
    proxy.on('error', () => {});
    taken = [];
    failed = (_error, response) => response.destroy();
  });
  afterEach(() => vendor.close());

  it('forwards every credential of the client', async () => {
    const secrets = { authorization: 'Bearer canary-1', cookie: 'session=canary-2', 'x-api-key': 'canary-3' };
    await rawRequest(port, requestText('GET', '/', secrets));
    const { headers } = vendor.requests[0]!;
    for (const [name, value] of Object.entries(secrets)) assert.equal(headers[name], value);
  });

  it('D1: sends two requests for a DELETE with a chunked body: the body becomes a request of its own', async () => {
    const smuggled = 'GET /smuggled HTTP/1.1\r\nhost: vendor\r\n\r\n';
    const body = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
    await rawRequest(port, requestText('DELETE', '/', { 'transfer-encoding': 'chunked' }, body));
    await vendor.waitFor(2);
    const seen = vendor.requests.map(({ method, path }) => `${method} ${path}`);
    assert.deepEqual(seen, ['DELETE /v1/', 'GET /smuggled']);
    assert.equal(vendor.requests[0]!.headers['content-length'], '0');
  });

  it('D2: does not call the hook that replaces the credential if the client sends Expect', async () => {
    proxy.on('proxyReq', (sent) => sent.setHeader('authorization', 'Bearer ours'));
    const headers = { authorization: 'Bearer canary', 'content-length': '2' };
    await rawRequest(port, requestText('POST', '/', headers, '{}'));
    await rawRequest(port, requestText('POST', '/', { ...headers, expect: '100-continue' }, '{}'));
    const [usual, expecting] = vendor.requests;
    assert.equal(usual!.headers.authorization, 'Bearer ours');
    assert.equal(expecting!.headers.authorization, 'Bearer canary');
  });

  for (const [framing, answer] of [
    ['a length', [head(200, { 'content-length': '10' }), bytes('half')]],
    ['chunks', [head(200, { 'transfer-encoding': 'chunked' }), chunk('half')]],
  ] as const) {
    it(`D3: never ends an answer with ${framing} whose vendor closes in the middle, and reports no error`, async () => {
      vendor.always([...answer, fin()]);
      let told = false;
      failed = () => {
        told = true;
      };
      const closed = new Promise((done) => proxy.on('proxyRes', (theirs) => theirs.on('close', done)));
      const client = await rawConnection(port);
      await client.write(requestText('GET', '/'));
      await closed;
      for (let turns = 0; turns < 10; turns++) await setImmediate();
      const { response } = taken[0]!;
      assert.deepEqual(
        { told, ended: response.writableEnded, destroyed: response.destroyed, client: client.ending },
        { told: false, ended: false, destroyed: false, client: undefined },
      );
      client.abort();
    });
  }

  it('D3: makes a truncated answer look complete if the error listener ends it, as listeners usually do', async () => {
    vendor.always([head(200, { 'transfer-encoding': 'chunked' }), chunk('half'), rst()]);
    failed = (_error, response) => response.end();
    const answer = await rawRequest(port, requestText('GET', '/'));
    assert.deepEqual({ text: answer.text, complete: answer.complete }, { text: 'half', complete: true });
  });

  it('D3: continues to write an answer after it has reported its error', async () => {
    vendor.always([bytes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nnonsense\r\n')]);
    const events: string[] = [];
    failed = (_error, response) => {
      events.push('error');
      response.end();
    };
    // The message of the error that would end the process.
    const uncaught = new Promise<Error>((done) => {
      server.once('request', (_request, response) => response.on('error', done));
    });
    proxy.on('proxyRes', (theirs) => theirs.on('data', () => events.push('data')));
    const client = await rawConnection(port);
    await client.write(requestText('GET', '/'));
    assert.equal((await uncaught).message, 'write after end');
    client.abort();
    assert.deepEqual(events.slice(0, 2), ['error', 'data']);
  });

  it('D3: throws if the target of a request is not a URL', () => {
    const request = { method: 'GET', url: 'http://[', headers: {}, socket: {}, on() {} } as unknown as IncomingMessage;
    const response = { on() {} } as unknown as ServerResponse;
    assert.throws(() => proxy.web(request, response, { target: vendor.url }), { code: 'ERR_INVALID_URL' });
  });
});
