/** What the client writes: heads that cannot become something else, bodies in memory and from elsewhere, and calls that are given up. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { BodyStream } from '../../../core/bytes/body-stream.ts';
import { openUpstream } from '../../../core/upstream/client.ts';
import type { Upstream, UpstreamListener, UpstreamRequest } from '../../../core/upstream/upstream.ts';
import { fakeClock } from '../../kit/gateway/clock.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { atHead, hold, jsonAnswer, rst, silence, stopReading } from '../../kit/vendors/script.ts';
import { open, send as sendTo, type Told } from './told.ts';

const NOT_SENT = {
  kind: 'connect',
  reason: 'the request contains a header or a path that cannot be sent',
  stale: false,
  unsent: true,
};

/** A body that is read piece by piece, and what has become of it. */
interface Watched extends BodyStream {
  pieces: number;
  /** Whoever read it has let go of it. */
  left: boolean;
}

function watched(pieces: readonly Buffer[], more: { length?: number; failAt?: number } = {}): Watched {
  const bodyStream: Watched = {
    contentType: 'application/octet-stream',
    length: more.length ?? pieces.reduce((sum, { length }) => sum + length, 0),
    pieces: 0,
    left: false,
    async *read() {
      try {
        for (const piece of pieces) {
          if (bodyStream.pieces === more.failAt) throw new Error('the disk is gone');
          bodyStream.pieces++;
          yield piece;
        }
      } finally {
        bodyStream.left = true;
      }
    },
  };
  return bodyStream;
}

/** So many turns of the loop: what can happen without us has happened. */
async function turns(count = 50): Promise<void> {
  for (let i = 0; i < count; i++) await setImmediate();
}

describe('requests', () => {
  let vendor: FakeVendor;
  let upstream: Upstream;
  before(async () => {
    vendor = await fakeVendor(jsonAnswer(200, {}));
  });
  after(() => vendor.close());
  beforeEach(() => {
    upstream = open();
  });
  afterEach(async () => {
    await upstream.close();
    await vendor.waitFor(() => vendor.openConnections === 0);
  });
  const send = (more: Partial<UpstreamRequest> = {}, on: Partial<UpstreamListener> = {}): Told =>
    sendTo(upstream, { origin: `http://127.0.0.1:${vendor.port}`, ...more }, on);

  it('have a host, their headers and the length of their body', async () => {
    const body = Buffer.from('ü');
    assert.equal(await send({ path: '/a?b=%20', headers: { 'X-One': '1', latin: '\xe9' }, body }).ended, 'end');
    const { method, path, headers } = vendor.requests.at(-1)!;
    assert.deepEqual([method, path], ['POST', '/a?b=%20']);
    assert.deepEqual(
      [headers.host, headers['content-length'], headers['x-one'], headers.latin],
      [`127.0.0.1:${vendor.port}`, '2', '1', '\xe9'],
    );
    await send({ method: 'DELETE', headers: { Host: 'other.example' }, body: undefined }).ended;
    const { headers: own, method: other } = vendor.requests.at(-1)!;
    assert.deepEqual([other, own.host], ['DELETE', 'other.example']);
    await send({ method: 'GET', body: undefined }).ended;
    assert.equal(vendor.requests.at(-1)!.headers['content-length'], undefined);
    await send({ body: undefined }).ended;
    assert.equal(vendor.requests.at(-1)!.headers['content-length'], '0');
  });

  it('have bodies of any size, many at once', async () => {
    const at = vendor.requests.length;
    const bodies = [0, 1, 65_000, 65_300, 65_400, 65_536, 1_000_000, 8_000_000].map((size, i) =>
      Buffer.alloc(size, `${i}`),
    );
    const all = bodies.map((body) => send({ body }));
    for (const { ended } of all) assert.equal(await ended, 'end');
    const came = new Set(vendor.requests.slice(at).map(({ body }) => body.toString()));
    for (const body of bodies) assert.ok(came.has(body.toString()), `${body.length} bytes`);
  });

  it('are not sent if a header, its name or the path could be injected', async () => {
    const at = vendor.requests.length;
    for (const headers of [
      ...['\r\nx-evil: 1', 'a\rb', 'a\nb', 'a\0b', 'a\x1fb', '\u0100'].map((value) => ({ 'x-mine': value })),
      ...['', 'a b', 'a:b', 'a\r\nb', 'a\0', 'é', 'a"'].map((name) => ({ [name]: '1' })),
      ...['Transfer-Encoding', 'transfer-encoding', 'Upgrade', 'expect', 'keep-alive'].map((name) => ({
        [name]: 'chunked',
      })),
      { 'Content-Length': '1' },
      { 'content-length': '12' },
    ]) {
      const told = send({ headers });
      assert.equal(told.endings, 0, 'nothing is told while it is being sent');
      const ending = await told.ended;
      assert.deepEqual(ending, NOT_SENT, JSON.stringify(headers));
    }
    for (const path of ['/a b', '/a\r\nx: 1', '/a\0', '/\u0100']) {
      const ending = await send({ path }).ended;
      assert.deepEqual(ending, NOT_SENT, JSON.stringify(path));
    }
    assert.equal(vendor.requests.length, at);
    assert.equal(await send({ headers: { 'content-length': '13' } }).ended, 'end');
  });

  it('report nothing if they were aborted before they were refused', async () => {
    const told = send({ headers: { 'x-mine': '\n' } });
    told.call.pause();
    told.call.resume();
    told.call.abort();
    await turns();
    assert.equal(told.endings, 0);
    assert.equal(told.call.sent, false);
  });

  describe('with a streamed body', () => {
    const pieces = Array.from({ length: 400 }, (_, i) => Buffer.alloc(64 << 10, `${i % 10}`));

    it('send all of it', async () => {
      const body = watched(pieces.slice(0, 40));
      assert.equal(await send({ body }).ended, 'end');
      assert.ok(vendor.requests.at(-1)!.body.equals(Buffer.concat(pieces.slice(0, 40))));
      assert.equal(vendor.requests.at(-1)!.headers['content-length'], String(body.length));
      assert.ok(body.left);
    });

    it('keep their connection', async () => {
      await send({ body: watched(pieces.slice(0, 2)) }).ended;
      const { connection } = vendor.requests.at(-1)!;
      await send().ended;
      assert.equal(vendor.requests.at(-1)!.connection, connection);
    });

    it('read no faster than the vendor, and release the body when they are aborted', async () => {
      const deaf = await fakeVendor([atHead(), stopReading(), hold('deaf')]);
      const body = watched(pieces);
      const told = send({ origin: `http://127.0.0.1:${deaf.port}`, body });
      await deaf.waitFor(() => deaf.requests[0]?.holding === 'deaf');
      for (let quiet = 0, last = -1; quiet < 100; quiet++) {
        if (body.pieces !== last) quiet = 0;
        last = body.pieces;
        await setImmediate();
      }
      assert.ok(body.pieces < pieces.length, 'everything was read');
      told.call.abort();
      await turns();
      assert.ok(body.left);
      assert.equal(told.endings, 0);
      await deaf.close();
    });

    it('fail if it cannot be read, or has another length than declared', async () => {
      for (const body of [
        watched(pieces.slice(0, 3), { failAt: 2 }),
        watched(pieces.slice(0, 3), { length: 1 }),
        watched(pieces.slice(0, 3), { length: 1 << 20 }),
      ]) {
        const ending = await send({ body }).ended;
        assert.ok(typeof ending === 'object', JSON.stringify(ending));
        assert.deepEqual([ending.kind, ending.stale], ['broken', false]);
        assert.ok(body.left);
      }
    });

    it('accept an answer that arrives before it was sent, and do not reuse the connection', async () => {
      const early = await fakeVendor([atHead(), stopReading(), ...jsonAnswer(413, { error: 'too large' }), silence()]);
      const body = watched(pieces);
      for (const connection of [1, 2]) {
        const told = send({ origin: `http://127.0.0.1:${early.port}`, body });
        assert.equal(await told.ended, 'end');
        assert.deepEqual([told.status, told.body, early.connections], [413, '{"error":"too large"}', connection]);
      }
      await turns();
      assert.ok(body.left);
      await early.close();
    });

    it('report that part of it was not sent if the connection breaks before', async () => {
      vendor.next([atHead(), rst()]);
      const ending = await send({ body: watched(pieces) }).ended;
      assert.ok(typeof ending === 'object');
      assert.deepEqual([ending.kind, ending.unsent], ['broken', true]);
      vendor.next([rst()]);
      const whole = await send({ body: watched(pieces.slice(0, 1)), fresh: true }).ended;
      assert.ok(typeof whole === 'object');
      assert.deepEqual([whole.kind, whole.unsent], ['broken', false]);
    });
  });

  it('can be aborted while the connection is being opened, and its socket is closed', async () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(
        socket
          .on('error', () => {})
          .on('close', () => sockets.delete(socket))
          .resume(),
      );
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    // It waits for a handshake that never comes.
    const told = send({ origin: `https://127.0.0.1:${portOf(server)}`, connectMs: 1_000 });
    await once(server, 'connection');
    assert.equal(told.call.sent, false);
    told.call.abort();
    while (sockets.size > 0) await setImmediate();
    assert.equal(told.endings, 0);
    server.close();
  });

  it('are sent on demand, and not before', async () => {
    const told = send();
    assert.equal(told.call.sent, false);
    await told.ended;
    vendor.next([hold('sent'), ...jsonAnswer(200, {})]);
    const next = send();
    await vendor.waitFor(() => vendor.requests.at(-1)?.holding === 'sent');
    assert.equal(next.call.sent, true);
    vendor.release('sent');
    await next.ended;
  });

  it('can be paused before they are answered', async () => {
    const told = send();
    told.call.pause();
    await vendor.waitFor(() => vendor.requests.at(-1)!.state === 'played');
    told.call.resume();
    assert.equal(await told.ended, 'end');
    const kept = send();
    kept.call.pause();
    await vendor.waitFor(() => vendor.inFlight === 0);
    await turns();
    assert.equal(kept.endings, 0);
    kept.call.resume();
    assert.equal(await kept.ended, 'end');
  });

  it('do not stay paused for the next one on their connection', async () => {
    const told: Told = send({}, { head: () => told.call.pause() });
    assert.equal(await told.ended, 'end', 'what came with the head is still told');
    const { connection } = vendor.requests.at(-1)!;
    assert.equal(await send().ended, 'end');
    assert.equal(vendor.requests.at(-1)!.connection, connection);
  });

  it('do not disturb each other if a listener sends the next one', async () => {
    const bodies: string[] = [];
    await new Promise<void>((done) => {
      const next = (left: number): void => {
        vendor.next(jsonAnswer(200, { left }));
        const told: Told = send(
          {},
          {
            end() {
              bodies.push(told.body);
              if (left === 0) done();
              else next(left - 1);
            },
          },
        );
      };
      next(20);
    });
    assert.deepEqual(
      bodies,
      Array.from({ length: 21 }, (_, i) => `{"left":${20 - i}}`),
    );
  });

  it('connect to a host by its name and by an IPv4 or IPv6 address', async (t) => {
    assert.equal(await send({ origin: `http://localhost:${vendor.port}` }).ended, 'end');
    const six = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    }).listen(0, '::1');
    try {
      await once(six, 'listening');
    } catch {
      t.diagnostic('this machine has no IPv6');
      return;
    }
    assert.equal(await send({ origin: `http://[::1]:${portOf(six)}` }).ended, 'end');
    six.close();
  });
});

describe('the timeouts of the client', () => {
  const opened = () => {
    const clock = fakeClock();
    return { clock, upstream: openUpstream(clock) };
  };

  it('limit the opening of a connection, including its TLS handshake', async () => {
    const { clock, upstream } = opened();
    const server = createServer((socket) => void socket.on('error', () => {}).resume());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const told = sendTo(upstream, { origin: `https://127.0.0.1:${portOf(server)}`, connectMs: 250 });
    await once(server, 'connection');
    clock.advance(249);
    assert.equal(told.ending, undefined);
    clock.advance(1);
    assert.deepEqual(await told.ended, {
      kind: 'connect',
      reason: 'the connection took too long',
      stale: false,
      unsent: true,
    });
    await upstream.close();
    server.close();
  });

  it('close a connection that was idle for 30 s, or for less than the keep-alive time of the vendor', async () => {
    for (const [headers, keptMs] of [
      [{}, 30_000],
      [{ 'keep-alive': 'timeout=5' }, 3_000],
      [{ 'keep-alive': 'max=100, timeout=600' }, 60_000],
    ] as const) {
      const { clock, upstream } = opened();
      const vendor = await fakeVendor(jsonAnswer(200, {}, headers));
      const call = () => sendTo(upstream, { origin: `http://127.0.0.1:${vendor.port}` }).ended;
      await call();
      clock.advance(keptMs - 1);
      await call();
      assert.equal(vendor.connections, 1);
      clock.advance(keptMs);
      await call();
      assert.equal(vendor.connections, 2);
      clock.advance(keptMs + 2_000);
      await vendor.waitFor(() => vendor.openConnections === 0);
      await upstream.close();
      await vendor.close();
    }
  });

  it('are cleared when it is closed: later requests fail', async () => {
    const { upstream } = opened();
    await upstream.close();
    const told = sendTo(upstream, { origin: 'http://127.0.0.1:9' });
    assert.deepEqual(await told.ended, {
      kind: 'connect',
      reason: 'the gateway is stopping',
      stale: false,
      unsent: true,
    });
  });
});

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
