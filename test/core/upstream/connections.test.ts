/** Connections to vendors: which is used again and which never, and what is said of one that fails. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Upstream, UpstreamListener, UpstreamRequest } from '../../../core/upstream/upstream.ts';
import { closedPort, type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import {
  atHead,
  bytes,
  chunk,
  cutAt,
  eventStream,
  fin,
  head,
  hold,
  jsonAnswer,
  lastChunk,
  rst,
  type Script,
  silence,
  sized,
  stopReading,
} from '../../kit/vendors/script.ts';
import { type Ending, open, send as sendTo, type Told } from './told.ts';

describe('the client', () => {
  let vendor: FakeVendor;
  let upstream: Upstream;
  before(async () => {
    vendor = await fakeVendor(jsonAnswer(200, { ok: true }));
  });
  after(() => vendor.close());
  beforeEach(() => {
    upstream = open();
  });
  afterEach(async () => {
    await upstream.close();
    await vendor.waitFor(() => vendor.openConnections === 0);
  });

  /** Sends to this vendor. */
  function send(more: Partial<UpstreamRequest> = {}, on: Partial<UpstreamListener> = {}): Told {
    return sendTo(upstream, { origin: `http://127.0.0.1:${vendor.port}`, ...more }, on);
  }
  /** The connection on which the next request comes. */
  async function nextConnection(more: Partial<UpstreamRequest> = {}): Promise<number> {
    const at = vendor.requests.length;
    assert.equal(await send(more).ended, 'end');
    return vendor.requests[at]!.connection;
  }
  /** One request served with this; how it ended. */
  async function served(script: Script, more: Partial<UpstreamRequest> = {}): Promise<Ending> {
    vendor.next(script);
    return send(more).ended;
  }
  const failed = (kind: string, reason: string, stale = false, unsent = false) => ({ kind, reason, stale, unsent });

  it('sends a request and returns its answer', async () => {
    vendor.next(sized(201, 'text/plain', 'hello', { 'x-two': 'b', 'X-One': 'a' }));
    const body = Buffer.from('{"model":"ü"}');
    const told = send({ path: '/v1/x?y=1', headers: { 'x-mine': '1', 'content-type': 'application/json' }, body });
    assert.equal(await told.ended, 'end');
    assert.deepEqual([told.status, told.body, told.heads, told.endings], [201, 'hello', 1, 1]);
    assert.deepEqual([told.headers['x-one'], told.headers['x-two']], ['a', 'b']);
    const request = vendor.requests.at(-1)!;
    assert.deepEqual([request.method, request.path, request.headers['x-mine']], ['POST', '/v1/x?y=1', '1']);
    assert.ok(request.body.equals(body));
  });

  it('joins repeated headers', async () => {
    vendor.next([head(200, { 'content-length': '0', 'x-many': ['a', 'b'] })]);
    const told = send();
    await told.ended;
    assert.equal(told.headers['x-many'], 'a, b');
  });

  it('reuses the most recently used connection, for one request at a time', async () => {
    const at = vendor.requests.length;
    const names = ['lifo-1', 'lifo-2', 'lifo-3'];
    vendor.next(...names.map((name) => [hold(name), ...jsonAnswer(200, {})]));
    const calls = names.map(() => send());
    await vendor.waitFor(() => vendor.requests.slice(at).filter(({ holding }) => holding !== undefined).length === 3);
    const byName = new Map(vendor.requests.slice(at).map(({ holding, connection }) => [holding, connection]));
    assert.equal(new Set(byName.values()).size, 3);
    for (const name of ['lifo-2', 'lifo-3', 'lifo-1']) {
      vendor.release(name);
      const done = byName.get(name)!;
      await Promise.race(calls.filter(({ ending }) => ending === undefined).map(({ ended }) => ended));
      assert.equal(await nextConnection(), done);
    }
  });

  it('keeps a limited number of idle connections', async () => {
    const at = vendor.requests.length;
    const count = 260;
    vendor.next(...Array.from({ length: count }, () => [hold('crowd'), ...jsonAnswer(200, {})]));
    const calls = Array.from({ length: count }, () => send());
    await vendor.waitFor(() => vendor.requests.length === at + count);
    assert.equal(vendor.openConnections, count);
    vendor.release('crowd');
    await Promise.all(calls.map(({ ended }) => ended));
    await vendor.waitFor(() => vendor.openConnections === 256);
  });

  it('opens a new connection for a request that requires one, and keeps it', async () => {
    const kept = await nextConnection();
    const fresh = await nextConnection({ fresh: true });
    assert.notEqual(fresh, kept);
    assert.equal(await nextConnection(), fresh);
  });

  it('does not share connections between different connect timeouts', async () => {
    const kept = await nextConnection();
    assert.notEqual(await nextConnection({ connectMs: 4_000 }), kept);
    assert.equal(await nextConnection(), kept);
  });

  it('does not reuse a connection on which an answer broke off', async () => {
    const kept = await nextConnection();
    const broken = await served(cutAt(jsonAnswer(200, { long: 'x'.repeat(1_000) }), -10, fin()));
    assert.equal(typeof broken === 'object' && broken.kind, 'broken');
    assert.notEqual(await nextConnection(), kept);
  });

  it('does not reuse a connection on which a call was aborted, and reports nothing more for it', async () => {
    const kept = await nextConnection();
    const at = vendor.requests.length;
    vendor.next(eventStream(['data: 1\n\n', hold('given-up')]));
    let arrived = (): void => {};
    const first = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const told = send({}, { data: () => arrived() });
    await first;
    const { bytes: before } = told;
    told.call.abort();
    told.call.abort();
    await vendor.waitFor(() => vendor.requests[at]!.state === 'aborted');
    assert.deepEqual([told.bytes, told.endings], [before, 0]);
    assert.notEqual(await nextConnection(), kept);
  });

  it('aborts a call that has not started: the vendor gets nothing', async () => {
    const at = vendor.requests.length;
    const told = send();
    told.call.pause();
    told.call.resume();
    told.call.abort();
    await nextConnection();
    assert.deepEqual([told.heads, told.endings, vendor.requests.length], [0, 0, at + 1]);
  });

  it('allows a call to be aborted in every listener callback', async () => {
    for (const [word, endings] of [
      ['head', 0],
      ['data', 0],
      ['end', 1],
    ] as const) {
      let spoken = (): void => {};
      const heard = new Promise<void>((resolve) => {
        spoken = resolve;
      });
      const giveUp = (): void => {
        told.call.abort();
        spoken();
      };
      const told: Told = send({}, { [word]: giveUp });
      await heard;
      await nextConnection();
      assert.equal(told.endings, endings, word);
    }
  });

  it('does not reuse a connection on which the vendor answered before it had read the whole request', async () => {
    // One that reads no more does not see its connections end, so it is a vendor of its own.
    const deaf = await fakeVendor([atHead(), stopReading(), ...jsonAnswer(413, { error: 'too large' }), silence()]);
    const large = { origin: `http://127.0.0.1:${deaf.port}`, body: Buffer.alloc(16 << 20, 'x') };
    for (const connection of [1, 2]) {
      const told = send(large);
      assert.equal(await told.ended, 'end');
      assert.deepEqual([told.status, deaf.connections], [413, connection]);
    }
    await deaf.close();
  });

  it('reports no interim answers', async () => {
    vendor.next([
      head(103, { link: '</style.css>' }),
      bytes('HTTP/1.1 102 Processing\r\n\r\n'),
      ...jsonAnswer(200, { ok: 1 }),
    ]);
    const told = send();
    assert.equal(await told.ended, 'end');
    assert.deepEqual([told.status, told.heads, told.body, told.headers.link], [200, 1, '{"ok":1}', undefined]);
  });

  it('skips an unexpected 100 Continue, in chunks of any size', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\nx-hint: 1\r\n\r\n';
    const answer = jsonAnswer(200, { ok: 1 });
    const text = Buffer.concat([
      Buffer.from(interim.repeat(2)),
      ...answer.map((move) => (move.kind === 'bytes' ? move.bytes : Buffer.alloc(0))),
    ]);
    for (const script of [
      [bytes(text)],
      [bytes(text.subarray(0, 5)), hold('more'), bytes(text.subarray(5))],
      [bytes(interim), hold('more'), ...answer],
    ]) {
      vendor.next(script);
      const told = send();
      if (script.length > 1) {
        await vendor.waitFor(() => vendor.requests.at(-1)?.holding === 'more');
        vendor.release('more');
      }
      assert.equal(await told.ended, 'end');
      assert.deepEqual([told.status, told.heads, told.body], [200, 1, '{"ok":1}']);
    }
    vendor.next(sized(200, 'text/plain', interim));
    const told = send();
    assert.equal(await told.ended, 'end');
    assert.equal(told.body, interim, 'a body that looks like one is left alone');
  });

  it('does not complete an answer without a length if the connection was reset', async () => {
    const start = [head(200, { connection: 'close' }), bytes('half')];
    vendor.next([...start, hold('reset'), rst()]);
    const told = send({}, { data: () => vendor.release('reset') });
    assert.deepEqual(await told.ended, failed('broken', 'the connection was reset'));
    vendor.next([...start, fin()]);
    assert.equal(await send().ended, 'end');
  });

  describe('a connection that breaks', () => {
    it('before its next request was sent is stale', async () => {
      vendor.next([...jsonAnswer(200, { ok: true }), hold('reset'), rst()]);
      assert.equal(await send().ended, 'end');
      await setImmediate();
      // The vendor resets it now, and its end has not been read yet when it is used again.
      vendor.release('reset');
      await vendor.waitFor(() => vendor.openConnections === 0);
      const told = send();
      assert.deepEqual(await told.ended, failed('connect', 'the connection was reset', true, true));
      assert.equal(told.call.sent, false);
    });

    it('when it is reused, without any byte, is stale', async () => {
      for (const end of [rst(), fin()]) {
        await nextConnection();
        const ending = await served([end]);
        assert.ok(typeof ending === 'object' && ending.stale, JSON.stringify(ending));
        assert.equal(ending.kind, 'broken');
      }
    });

    it('is not stale if it was new', async () => {
      for (const end of [rst(), fin()]) {
        const ending = await served([end], { fresh: true });
        assert.ok(typeof ending === 'object' && !ending.stale, JSON.stringify(ending));
        assert.equal(ending.kind, 'broken');
      }
    });

    it('is not stale if any byte of an answer arrived, even of a head or an interim answer', async () => {
      for (const start of [bytes('HTTP/1.1 2'), head(103), head(200, { 'content-length': '9' })]) {
        await nextConnection();
        const ending = await served([start, rst()]);
        assert.ok(typeof ending === 'object' && !ending.stale, JSON.stringify(ending));
        assert.equal(ending.kind, 'broken');
      }
    });

    it('while it is idle is removed', async () => {
      const kept = await nextConnection();
      vendor.dropIdle();
      await vendor.waitFor(() => vendor.openConnections === 0);
      assert.notEqual(await nextConnection(), kept);
    });
  });

  it('fails a call whose listener throws, and no other', async () => {
    for (const word of ['head', 'data'] as const) {
      const throwing = (): void => {
        throw new Error('a mistake in a plugin');
      };
      const told = send({}, { [word]: throwing });
      const ending = await told.ended;
      assert.ok(typeof ending === 'object', word);
      assert.deepEqual([ending.kind, ending.stale, told.endings], ['broken', false, 1]);
      assert.equal(await send().ended, 'end');
    }
  });

  describe('a failed call', () => {
    it('distinguishes a connection failure from later ones', async () => {
      const origin = `http://127.0.0.1:${await closedPort()}`;
      assert.deepEqual(await send({ origin }).ended, failed('connect', 'the connection was refused', false, true));
      const plain = createServer((socket) => void socket.on('error', () => {}).end('no TLS here\r\n'));
      await once(plain.listen(0, '127.0.0.1'), 'listening');
      const noTls = await send({ origin: `https://127.0.0.1:${(plain.address() as AddressInfo).port}` }).ended;
      plain.close();
      assert.ok(typeof noTls === 'object' && noTls.kind === 'connect' && !noTls.stale, JSON.stringify(noTls));
    });

    it('has a message without the address', async () => {
      const reset = await served([rst()], { fresh: true });
      const garbage = await served([bytes('SSH-2.0-OpenSSH_9.6\r\n')]);
      const short = await served([head(200, { 'content-length': '100' }), bytes('half'), fin()]);
      const chunks = await served([head(200, { 'transfer-encoding': 'chunked' }), chunk('half'), fin()]);
      const large = await served([head(200, { 'x-large': 'x'.repeat(100_000) }), lastChunk()]);
      assert.deepEqual(garbage, failed('broken', 'the answer is not HTTP'));
      for (const ending of [reset, short, chunks, large]) {
        assert.ok(typeof ending === 'object' && ending.kind === 'broken' && !ending.stale, JSON.stringify(ending));
        assert.match(ending.reason, /^the (connection|answer|head) /);
        assert.ok(!ending.reason.includes('127.0.0.1') && !ending.reason.includes(String(vendor.port)));
      }
    });

    it("is the vendor's fault if the answer switches to another protocol", async () => {
      const ending = await served([head(101, { upgrade: 'websocket', connection: 'upgrade' }), silence()]);
      assert.ok(typeof ending === 'object' && ending.kind === 'broken', JSON.stringify(ending));
    });
  });

  it('reads nothing while it is paused, and everything afterwards', async () => {
    const piece = 'x'.repeat(256 << 10);
    const pieces = 128;
    vendor.next(eventStream(Array.from({ length: pieces }, () => piece)));
    const at = vendor.requests.length;
    const told: Told = send({}, { head: () => told.call.pause() });
    await vendor.waitFor(() => (vendor.requests[at]?.sentBytes ?? 0) > 0);
    // It is quiet when nothing more has been sent for so many turns.
    for (let quiet = 0, last = -1; quiet < 300; quiet++) {
      const sent = vendor.requests[at]!.sentBytes;
      if (sent !== last) quiet = 0;
      last = sent;
      await setImmediate();
    }
    const total = pieces * piece.length;
    assert.equal(vendor.requests[at]!.state, 'answering');
    assert.ok(told.bytes < total / 2, `${told.bytes} bytes came although it was paused`);
    assert.equal(told.ending, undefined);
    told.call.resume();
    assert.equal(await told.ended, 'end');
    assert.equal(told.bytes, total);
  });

  it('ends all calls when it is closed', async () => {
    vendor.next([hold('never')]);
    const at = vendor.requests.length;
    const told = send();
    await vendor.waitFor(() => vendor.requests[at]?.holding === 'never');
    await upstream.close();
    const ending = await told.ended;
    assert.ok(typeof ending === 'object' && ending.kind === 'broken');
    await vendor.waitFor(() => vendor.openConnections === 0);
  });
});
