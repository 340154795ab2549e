import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { migrations } from '../plugins/quota/tables.ts';
import { Database } from '../plugins/stores/sqlite/binding.ts';
import { rawConnection, rawRequest, requestText } from './kit/clients/raw-client.ts';
import { fakeClock } from './kit/gateway/clock.ts';
import { CHAT_DELTAS, chatBody, chatEvents, chatRequest, DONE } from './kit/gateway/fixtures.ts';
import { createPeers } from './kit/gateway/peers.ts';
import { ledgerFaults } from './kit/gateway/reconcile.ts';
import { closedPort, type FakeVendor, fakeVendor } from './kit/vendors/fake-vendor.ts';
import {
  CHAT_RECORDINGS,
  eventsOf,
  type Recording,
  recorded,
  recordedBytes,
  recordedUsage,
  recordings,
  recordingsAvailable,
} from './kit/vendors/recordings.ts';
import {
  atHead,
  bytes,
  chunk,
  cutAt,
  errorAnswer,
  eventStream,
  fin,
  head,
  hold,
  htmlAnswer,
  inPieces,
  lastChunk,
  lengthOf,
  rst,
  silence,
  sized,
  stopReading,
  streamAnswer,
  wholeAnswer,
} from './kit/vendors/script.ts';

const CHAT = '/v1/chat/completions';
const chat = (more = {}) =>
  requestText('POST', CHAT, { 'content-type': 'application/json' }, JSON.stringify(chatRequest(more)));

describe('the fake vendor', () => {
  let vendor: FakeVendor;
  beforeEach(async () => {
    vendor = await fakeVendor();
  });
  afterEach(() => vendor.close());

  it('answers a chat call with a whole answer and remembers what it was sent', async () => {
    const answer = await rawRequest(vendor.port, chat({ model: 'mine' }));
    assert.equal(answer.status, 200);
    assert.deepEqual(JSON.parse(answer.text), chatBody({ model: 'mine' }));
    const [request] = vendor.requests;
    assert.equal(request?.method, 'POST');
    assert.equal(request?.path, CHAT);
    assert.equal(request?.headers['content-type'], 'application/json');
    assert.deepEqual(request?.json, chatRequest({ model: 'mine' }));
    assert.equal(request?.state, 'played');
    assert.equal(vendor.inFlight, 0);
  });

  it('streams where the body asks for it, and tells the usage only to those who ask', async () => {
    const bare = await rawRequest(vendor.port, chat({ stream: true }));
    assert.equal(bare.headers['content-type'], 'text/event-stream');
    assert.equal(bare.text, chatEvents({ usage: null }).join(''));
    const counted = await rawRequest(vendor.port, chat({ stream: true, stream_options: { include_usage: true } }));
    assert.equal(counted.text, chatEvents().join(''));
    assert.ok(counted.text.endsWith(DONE));
  });

  it('has nothing at any other path', async () => {
    assert.equal((await rawRequest(vendor.port, requestText('GET', '/v1/else'))).status, 404);
  });

  it('keeps header case, order and repetitions', async () => {
    await rawRequest(
      vendor.port,
      'POST /v1/x HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nx-one:  2 \r\ncontent-length: 0\r\n\r\n',
    );
    assert.deepEqual(vendor.requests[0]?.rawHeaders, [
      ['Host', 'a'],
      ['X-One', '1'],
      ['x-one', '2'],
      ['content-length', '0'],
    ]);
    assert.equal(vendor.requests[0]?.headers['x-one'], '1, 2');
  });

  it('reads a chunked request that comes byte by byte', async () => {
    const request = requestText(
      'POST',
      CHAT,
      { 'transfer-encoding': 'chunked' },
      '5\r\n{"a":\r\n2;x=1\r\n1}\r\n0\r\n\r\n',
    );
    vendor.always(wholeAnswer());
    assert.equal((await rawRequest(vendor.port, request, { pieces: 1 })).status, 200);
    assert.deepEqual(vendor.requests[0]?.json, { a: 1 });
  });

  it('serves one connection many times, and numbers connections', async () => {
    const first = await rawConnection(vendor.port);
    for (let i = 0; i < 20; i++) {
      await first.write(chat());
      assert.equal((await first.response()).status, 200);
    }
    const second = await rawConnection(vendor.port);
    await second.write(chat());
    await second.response();
    assert.equal(vendor.connections, 2);
    assert.deepEqual(
      vendor.requests.map(({ connection }) => connection),
      [...Array(20).fill(1), 2],
    );
    vendor.dropIdle();
    assert.equal(await first.ended, 'fin');
    assert.equal(await second.ended, 'fin');
  });

  it('takes queued answers first, one per request, then the standing one', async () => {
    vendor.next(errorAnswer(503), (request) => sized(200, 'text/plain', `${request.json.model}`));
    vendor.always(errorAnswer(500));
    assert.equal((await rawRequest(vendor.port, chat())).status, 503);
    assert.equal((await rawRequest(vendor.port, chat({ model: 'x' }))).text, 'x');
    assert.equal((await rawRequest(vendor.port, chat())).status, 500);
  });

  it('waits at a hold until it is released, and counts who is in flight', async () => {
    vendor.always([hold('go'), ...wholeAnswer()]);
    const clients = await Promise.all([1, 2, 3].map(() => rawConnection(vendor.port)));
    for (const client of clients) await client.write(chat());
    await vendor.waitFor(() => vendor.requests.filter(({ holding }) => holding === 'go').length === 3);
    assert.equal(vendor.inFlight, 3);
    vendor.release('go');
    for (const client of clients) assert.equal((await client.response()).status, 200);
    assert.equal(vendor.inFlight, 0);
    assert.equal(vendor.maxInFlight, 3);
  });

  it('knows how much it had sent when the peer left', async () => {
    const script = eventStream([chatEvents()[0]!, hold(), DONE]);
    vendor.next(script);
    const client = await rawConnection(vendor.port);
    await client.write(chat({ stream: true }));
    await client.until('assistant');
    client.abort();
    await vendor.waitFor(() => vendor.requests[0]?.state === 'aborted');
    assert.equal(vendor.requests[0]?.sentBytes, lengthOf(script.slice(0, 2)));
  });

  it('notices a peer that leaves before its body is whole', async () => {
    const client = await rawConnection(vendor.port);
    await client.write(chat().subarray(0, -1));
    await vendor.waitFor(() => vendor.requests.length === 1);
    client.abort();
    await vendor.waitFor(() => vendor.requests[0]?.state === 'aborted');
    assert.equal(vendor.requests[0]?.complete, false);
  });

  it('closes in order or with a reset, as it is told', async () => {
    vendor.next([head(200, { 'content-length': '9' }), bytes('four'), fin()]);
    vendor.next([head(200, { 'content-length': '9' }), bytes('four'), rst()]);
    for (const ending of ['fin', 'rst']) {
      const client = await rawConnection(vendor.port);
      await client.write(chat());
      const answer = await client.response();
      assert.equal(answer.text, 'four');
      assert.equal(answer.complete, false);
      assert.equal(await client.ended, ending);
    }
  });

  it('cuts an answer at any byte', async () => {
    const script = streamAnswer();
    for (const count of [1, 40, 100, lengthOf(script) - 1]) {
      vendor.next(cutAt(script, count, fin()));
      const client = await rawConnection(vendor.port);
      await client.write(chat());
      assert.equal(await client.ended, 'fin');
      assert.equal(client.received.length, count);
    }
    assert.equal(lengthOf(cutAt(script, -3)), lengthOf(script) - 3);
  });

  it('resets a connection without a byte of an answer', async () => {
    vendor.next([rst()]);
    await assert.rejects(rawRequest(vendor.port, chat()), /before the head/);
    assert.equal(vendor.requests[0]?.sentBytes, 0);
    assert.equal(vendor.requests[0]?.complete, true);
  });

  it('stays silent until the peer gives up', async () => {
    vendor.next([head(200, { 'content-length': '9' }), silence()]);
    const client = await rawConnection(vendor.port);
    await client.write(chat());
    await client.until('\r\n\r\n');
    assert.equal(vendor.inFlight, 1);
    client.abort();
    await vendor.waitFor(() => vendor.inFlight === 0);
    assert.equal(vendor.requests[0]?.state, 'aborted');
  });

  it('writes an answer in pieces that arrive one by one', async () => {
    vendor.next(inPieces(wholeAnswer(), 7));
    const answer = await rawRequest(vendor.port, chat());
    assert.deepEqual(JSON.parse(answer.text), chatBody());
    assert.ok(inPieces(wholeAnswer(), 7).every((move) => move.kind !== 'bytes' || move.bytes.length <= 7));
    assert.equal(lengthOf(inPieces(wholeAnswer(), 7)), lengthOf(wholeAnswer()));
  });

  it('answers before the body has come, and leaves the rest of it unread', async () => {
    vendor.next([atHead(), stopReading(), ...errorAnswer(413), silence()]);
    const client = await rawConnection(vendor.port);
    await client.write(requestText('POST', CHAT, { 'content-length': '1000000000' }));
    assert.equal((await client.response()).status, 413);
    let sent = 0;
    const piece = Buffer.alloc(1 << 20);
    void (async () => {
      for (; sent < 64; sent++) await client.write(piece);
    })();
    await vendor.waitFor(() => vendor.requests[0]?.sentBytes === lengthOf(errorAnswer(413)));
    assert.ok(sent < 64, 'a vendor that stopped reading took 64 MiB');
    assert.equal(vendor.requests[0]?.complete, false);
    client.abort();
  });

  it('can frame its answers wrongly', async () => {
    vendor.next([head(200, { 'content-length': '2', 'transfer-encoding': 'chunked' }), bytes('{}')]);
    await assert.rejects(rawRequest(vendor.port, chat()), /both content-length and transfer-encoding/);
    vendor.next([head(200, { 'transfer-encoding': 'chunked' }), bytes('zz\r\n')]);
    await assert.rejects(rawRequest(vendor.port, chat()), /Not a chunk size/);
    vendor.next([head(200, { 'content-length': ['1', '2'] }), bytes('{}')]);
    await assert.rejects(rawRequest(vendor.port, chat()), /two content-length/);
    vendor.next(htmlAnswer());
    assert.equal((await rawRequest(vendor.port, chat())).headers['content-type'], 'text/html');
  });

  it('echoes over a websocket', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${vendor.port}/v1/realtime`, {
      headers: { authorization: 'Bearer x' },
    });
    const echo = await new Promise((resolve, reject) => {
      socket.on('open', () => socket.send('hello'));
      socket.on('message', (data, isBinary) => resolve([data.toString(), isBinary]));
      socket.on('error', reject);
    });
    socket.terminate();
    assert.deepEqual(echo, ['hello', false]);
    assert.equal(vendor.requests[0]?.headers.authorization, 'Bearer x');
  });

  it('says what it saw when it waits in vain', async () => {
    await rawRequest(vendor.port, chat());
    await vendor.waitFor(1);
    await assert.rejects(vendor.waitFor(2, 1), /POST \/v1\/chat\/completions played, \d+ bytes sent/);
  });

  it('knows a port where nobody listens', async () => {
    await assert.rejects(rawConnection(await closedPort()), { code: 'ECONNREFUSED' });
  });
});

describe('the raw client', () => {
  let vendor: FakeVendor;
  beforeEach(async () => {
    vendor = await fakeVendor();
  });
  afterEach(() => vendor.close());

  it('reads pipelined answers in order', async () => {
    vendor.always((request) => sized(200, 'text/plain', `${request.json.model}`));
    const client = await rawConnection(vendor.port);
    await client.write(Buffer.concat(['a', 'b', 'c'].map((model) => chat({ model }))));
    const texts = [await client.response(), await client.response(), await client.response()].map(({ text }) => text);
    assert.deepEqual(texts, ['a', 'b', 'c']);
    client.abort();
  });

  it('tells a chunked body that is whole from one that is cut', async () => {
    for (const [end, complete] of [
      [[lastChunk(), fin()], true],
      [[fin()], false],
      [[bytes('0\r\n'), fin()], false],
      [[bytes('5\r\nab'), rst()], false],
    ] as const) {
      vendor.next([head(200, { 'transfer-encoding': 'chunked' }), chunk('text'), ...end]);
      assert.equal((await rawRequest(vendor.port, chat())).complete, complete);
    }
  });

  it('reads a body that ends with its connection', async () => {
    vendor.next([bytes('HTTP/1.0 200 OK\r\n\r\nall of it'), fin()]);
    const answer = await rawRequest(vendor.port, chat());
    assert.equal(answer.version, 'HTTP/1.0');
    assert.equal(answer.text, 'all of it');
  });

  it('passes interim answers by', async () => {
    vendor.next([bytes('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n'), ...wholeAnswer()]);
    const answer = await rawRequest(vendor.port, chat());
    assert.deepEqual(answer.interim, [100, 103]);
    assert.equal(answer.status, 200);
  });

  it('takes no body for HEAD, 204 and 304', async () => {
    const client = await rawConnection(vendor.port);
    vendor.next([head(200, { 'content-length': '5' })], [head(204)], [head(304, { 'content-length': '7' })]);
    await client.write(requestText('HEAD', '/v1/x'));
    assert.equal((await client.response({ bodiless: true })).complete, true);
    for (const status of [204, 304]) {
      await client.write(chat());
      const answer = await client.response();
      assert.deepEqual([answer.status, answer.body.length, answer.complete], [status, 0, true]);
    }
    client.abort();
  });

  it('stops the sender while it does not read', async () => {
    vendor.next([head(200, { 'content-length': String(64 << 20) }), ...Array(64).fill(bytes(Buffer.alloc(1 << 20)))]);
    const client = await rawConnection(vendor.port);
    client.pause();
    await client.write(chat());
    await vendor.waitFor(() => (vendor.requests[0]?.sentBytes ?? 0) > 0);
    assert.equal(vendor.requests[0]?.state, 'answering');
    client.resume();
    assert.equal((await client.response()).body.length, 64 << 20);
    client.abort();
  });

  it('half-closes and still reads', async () => {
    vendor.next([hold(), ...wholeAnswer()]);
    const client = await rawConnection(vendor.port);
    await client.write(chat());
    client.finish();
    assert.equal(await client.ended, 'fin');
  });

  it('refuses what is not HTTP', async () => {
    for (const [text, complaint] of [
      ['HTTP/2 200\r\n\r\n', /status line/],
      ['HTTP/1.1 200 OK\r\nbad header\r\n\r\n', /Not a header/],
      ['HTTP/1.1 200 OK\r\na: b\nc: d\r\n\r\n', /Not a header/],
      ['HTTP/1.1 200 OK\r\ncontent-length: +2\r\n\r\nab', /Not a length/],
    ] as const) {
      vendor.next([bytes(text), fin()]);
      await assert.rejects(rawRequest(vendor.port, chat()), complaint);
    }
  });
});

describe('the recordings', () => {
  if (recordingsAvailable)
    it('are played back byte for byte, whole and in pieces', async () => {
      const all = recordings(CHAT_RECORDINGS);
      assert.equal(all.length, 289);
      const vendor = await fakeVendor();
      try {
        for (const recording of [all[0]!, all.find(({ sse }) => sse !== undefined)!]) {
          for (const pieces of [undefined, 3]) {
            vendor.next(recorded(recording, pieces === undefined ? {} : { pieces }));
            const answer = await rawRequest(vendor.port, chat());
            assert.equal(answer.status, recording.status);
            assert.deepEqual(answer.body, recordedBytes(recording));
          }
        }
      } finally {
        await vendor.close();
      }
    });

  if (recordingsAvailable)
    it('tell a usage wherever the vendor told one', () => {
      for (const recording of recordings(CHAT_RECORDINGS)) {
        const said = (recording.sse ?? JSON.stringify(recording.response)).includes('"prompt_tokens"');
        const usage = recordedUsage(recording);
        assert.equal(usage !== undefined, said, recording.id);
        if (usage === undefined) continue;
        assert.ok(usage.output > 0, recording.id);
        assert.ok(usage.cacheRead + usage.cacheWrite <= usage.input, recording.id);
        assert.ok(usage.reasoning <= usage.output, recording.id);
      }
    });

  it('count the last usage of a stream, the extra place of one vendor, and reasoning beside the completion', () => {
    const stream = (...events: readonly object[]): Recording => ({
      id: 'x',
      host: 'h',
      path: '/',
      request: {},
      status: 200,
      contentType: 'text/event-stream',
      sse: `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}${DONE}`,
    });
    const usage = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });
    const last = recordedUsage(
      stream({ usage: usage(1, 1) }, { usage: null }, { usage: usage(5, 6) }, { usage: null }),
    );
    assert.deepEqual([last?.input, last?.output], [5, 6]);
    const extra = recordedUsage(stream({ x_groq: { id: 'a', usage: usage(3, 4) } }));
    assert.deepEqual([extra?.input, extra?.output], [3, 4]);
    const beside = recordedUsage(
      stream({ usage: { ...usage(10, 5), total_tokens: 25, completion_tokens_details: { reasoning_tokens: 10 } } }),
    );
    assert.deepEqual([beside?.output, beside?.reasoning], [15, 10]);
    assert.equal(recordedUsage(stream({ choices: [] })), undefined);
    assert.equal(eventsOf(stream({ a: 1 }).sse ?? '').length, 1);
  });
});

describe('the reconciliation', () => {
  const good = [
    `INSERT INTO bucket (kind, owner, granted, used, held) VALUES ('account', 1, 1000, 30, 7), ('key', 9, 500, 30, 7), ('department', 3, 100, 30, 0)`,
    `INSERT INTO entry (ref, op, kind, owner, window_start, amount, at_ms, actor) VALUES
      ('open:account:1', 'credit', 'account', 1, 0, 1000, 0, 'open'), ('open:key:9', 'credit', 'key', 9, 0, 500, 0, 'open')`,
    `INSERT INTO debit (kind, owner, window_start, day_ms, amount) VALUES
      ('account', 1, 0, 0, 10), ('account', 1, 0, 86400000, 20), ('key', 9, 0, 0, 30),
      ('department', 3, 0, 0, 30)`,
    `INSERT INTO lease (epoch, kind, owner, window_start, amount) VALUES ('b', 'account', 1, 0, 7), ('b', 'key', 9, 0, 7)`,
    `INSERT INTO usage_record (account_id, key_id, charged, included, other) VALUES
      (1, 9, 30, 0, '{"layers":[["department",3,0]]}'), (1, 9, 0, 0, '{}')`,
  ];
  async function faultsAfter(...more: readonly string[]): Promise<readonly string[]> {
    const folder = await mkdtemp(join(tmpdir(), 'turnpike-kit-'));
    try {
      const file = join(folder, 'ledger.db');
      const db = new Database(file);
      for (const sql of migrations.flatMap((migration) => migration.sql)) db.exec(sql);
      db.exec(
        'CREATE TABLE usage_record (account_id INTEGER, key_id INTEGER, charged INTEGER, included INTEGER, other TEXT) STRICT',
      );
      for (const sql of [...good, ...more]) db.exec(sql);
      db.close();
      return ledgerFaults(file);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it('finds nothing where all adds up', async () => {
    assert.deepEqual(await faultsAfter(), []);
  });

  for (const [name, sql, fault] of [
    ['a charge without a debit', `UPDATE bucket SET used = 31 WHERE kind = 'key'`, 'key 9: used is 31, should be 30'],
    ['what is held and not leased', `DELETE FROM lease`, 'account 1: held is 7, should be 0'],
    ['a debt of nothing', `UPDATE bucket SET debt = 3 WHERE owner = 1`, 'account 1: debt is 3, should be 0'],
    [
      'a grant out of nowhere',
      `UPDATE bucket SET granted = 1001 WHERE owner = 1`,
      'account 1: granted is 1001, should be 1000',
    ],
    ['a debit without a record', `DELETE FROM usage_record`, 'account 1: what its records charge is 0, should be 30'],
    [
      'a record that says less',
      `UPDATE usage_record SET charged = 29 WHERE charged > 0`,
      'key 9: what its records charge is 29, should be 30',
    ],
    [
      'a record that does not name what its call was taken from',
      `UPDATE usage_record SET other = '{}'`,
      'department 3: what its records charge is 0, should be 30',
    ],
    [
      'a call that an account paid though it was included',
      `UPDATE usage_record SET included = 1`,
      'account 1: what its records charge is 0, should be 30',
    ],
    [
      'a bucket that is gone',
      `DELETE FROM bucket WHERE kind = 'key'`,
      'key 9 has entries, debits or leases, but no bucket',
    ],
    ['an overdraft', `PRAGMA ignore_check_constraints = 1; UPDATE bucket SET granted = 1`, 'account 1 is overdrawn'],
  ] as const) {
    it(`finds ${name}`, async () => {
      const faults = await faultsAfter(sql);
      assert.ok(faults.includes(fault), faults.join('\n'));
    });
  }
});

describe('the chat fixtures', () => {
  it('stream the same text that they answer whole', () => {
    const text = chatEvents()
      .filter((event) => event !== DONE)
      .map((event) => JSON.parse(event.slice(5)))
      .map((event) => event.choices[0]?.delta.content ?? '')
      .join('');
    assert.equal(text, CHAT_DELTAS.join(''));
    assert.match(JSON.stringify(chatBody()), new RegExp(text));
  });
});

describe('peers in memory', () => {
  it('answer each other with copies, and nobody answers who does not listen', async () => {
    const { peers } = createPeers(3);
    const answer = { heard: 'it' };
    peers[1]!.on('topic', (message, epoch) => ({ ...answer, message, epoch }));
    assert.deepEqual(await peers[0]!.ask('topic', { n: 1 }), [{ heard: 'it', message: { n: 1 }, epoch: 'epoch-0' }]);
    assert.deepEqual(await peers[1]!.ask('topic', { n: 1 }), []);
  });

  it('hear in its order what a process says that was held, and wait two seconds for its answer', async () => {
    const clock = fakeClock();
    const net = createPeers(2, { clock });
    const heard: unknown[] = [];
    net.peers[1]!.on('topic', (message) => {
      heard.push(message);
      return 'yes';
    });
    net.hold(1);
    net.peers[0]!.tell('topic', 1);
    const asked = net.peers[0]!.ask('topic', 2);
    await new Promise(setImmediate);
    assert.deepEqual(heard, []);
    clock.advance(2_000);
    assert.deepEqual(await asked, []);
    net.release(1);
    assert.deepEqual(await net.peers[0]!.ask('topic', 3), ['yes']);
    assert.deepEqual(heard, [1, 2, 3]);
  });

  it('do not wait for one that is killed, hear that it has left, and the next one leads', async () => {
    const net = createPeers(3);
    const [, second, third] = net.peers;
    const left: string[] = [];
    second!.onLeft((epoch) => left.push(epoch));
    net.hold(0);
    const asked = third!.ask('topic', null);
    net.kill(0);
    assert.deepEqual(await asked, []);
    assert.deepEqual([left, second!.leads(), third!.count], [['epoch-0'], true, 2]);
    assert.deepEqual([...(await third!.alive())], ['epoch-1', 'epoch-2']);
  });

  it('reach an owner where there is one, and are told where it does not answer', async () => {
    const { peers } = createPeers(2, { isOwned: true });
    assert.equal(peers[0]!.owner, undefined);
    assert.equal(await peers[1]!.owner?.ask('topic', 1), null);
    peers[0]!.on('topic', () => {
      throw new Error('no');
    });
    await assert.rejects(peers[1]!.owner!.ask('topic', 1));
  });
});
