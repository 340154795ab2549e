/** Whatever a client does wrong, or stops doing: what it is told, what is charged, and that nobody else notices. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { Keys } from '../../../core/contracts/keys.ts';
import { definePlugin, type JsonObject } from '../../../core/plugin.ts';
import { type RawConnection, rawConnection, rawRequest, requestText } from '../../kit/clients/raw-client.ts';
import type { FakeClock } from '../../kit/gateway/clock.ts';
import {
  CHAT_DELTAS,
  CHAT_USAGE,
  chatBody,
  chatEvent,
  chatEvents,
  chatRequest,
  DONE,
} from '../../kit/gateway/fixtures.ts';
import { defaultConfig, type TestGateway } from '../../kit/gateway/gateway.ts';
import { heldByCalls, untilHeld } from '../../kit/gateway/money.ts';
import { type UsageRow, usageRecords } from '../../kit/gateway/usage-records.ts';
import { turns } from '../../kit/until.ts';
import type { VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { eventStream, hold, jsonAnswer, type Script, silence, wholeAnswer } from '../../kit/vendors/script.ts';
import {
  type Bench,
  CHAT_PATH,
  callHeaders,
  callText,
  checkLog,
  cost,
  countedCost,
  countedTokens,
  countRecords,
  openBench,
  recordsAfter,
  STREAMED,
} from '../operations/bench.ts';

const EVENTS = chatEvents();
const FULL_COST = cost(CHAT_USAGE);

describe('a client that leaves', () => {
  let stand: Bench;
  before(async () => {
    stand = await openBench();
  });
  after(() => stand.stop());
  afterEach(async () => {
    checkLog(stand.gateway);
    assert.deepEqual(await heldByCalls(stand.gateway), {});
  });

  /** Sends a call, waits for `when`, leaves, and returns the one record of it. */
  async function leave(
    more: JsonObject,
    script: Script,
    when: (client: RawConnection) => Promise<void>,
    how: 'abort' | 'finish' = 'abort',
  ): Promise<UsageRow> {
    const { gateway, vendor } = stand;
    const known = countRecords(gateway);
    vendor.next(script);
    const client = await rawConnection(gateway.port);
    await client.write(callText(gateway, more));
    await when(client);
    client[how]();
    const [record] = await recordsAfter(gateway, known);
    client.abort();
    return record!;
  }
  const vendorAborted = () => stand.vendor.waitFor(() => stand.vendor.requests.at(-1)?.state === 'aborted');
  const vendorHolds = () => stand.vendor.waitFor(() => stand.vendor.requests.at(-1)?.holding !== undefined);

  it('T-CL-01 inside its head leaves no trace', async () => {
    const { gateway, vendor } = stand;
    const known = countRecords(gateway);
    const seen = vendor.requests.length;
    const client = await rawConnection(gateway.port);
    await client.write(callText(gateway).subarray(0, 40));
    client.abort();
    // A call behind it on the same gateway shows that nothing is stuck, and that nothing else was written.
    assert.equal((await rawRequest(gateway.port, callText(gateway))).status, 200);
    assert.equal(vendor.requests.length, seen + 1);
    assert.equal(countRecords(gateway), known + 1);
  });

  it('T-CL-01 inside its body is charged nothing, and no vendor hears of it', async () => {
    const { gateway, vendor } = stand;
    const known = countRecords(gateway);
    const seen = vendor.requests.length;
    const client = await rawConnection(gateway.port);
    const call = callText(gateway);
    await client.write(call.subarray(0, -10));
    client.abort();
    assert.equal((await rawRequest(gateway.port, callText(gateway))).status, 200);
    assert.equal(vendor.requests.length, seen + 1);
    for (const record of usageRecords(gateway.storeFile).slice(known, -1)) {
      assert.equal(record.outcome, 'aborted');
      assert.equal(record.charged, 0n);
    }
  });

  it('T-CL-01 before the first byte of a stream is charged the input that has gone out, and the vendor is let go', async () => {
    const record = await leave(STREAMED, [hold('never'), silence()], vendorHolds);
    await vendorAborted();
    assert.equal(record.outcome, 'aborted');
    assert.equal(record.output, 0);
    assert.ok(record.charged > 0n);
    assert.equal(record.charged, countedCost(record));
    assert.equal(record.attempts.length, 1);
    assert.equal(record.attempts[0]?.failure, undefined);
  });

  for (let sent = 1; sent < EVENTS.length; sent++) {
    const counted = sent === EVENTS.length - 1;
    const price = counted ? 'what the vendor counted' : 'what was delivered';
    it(`T-CL-01 after event ${sent} of ${EVENTS.length} is charged ${price}, and the vendor is let go`, async () => {
      const script = eventStream([...EVENTS.slice(0, sent), hold('never'), ...EVENTS.slice(sent)]);
      const record = await leave(STREAMED, script, async (client) => {
        await client.until(EVENTS[sent - 1]!);
        await vendorHolds();
      });
      await vendorAborted();
      assert.equal(record.outcome, 'aborted');
      assert.equal(record.attempts[0]?.failure, undefined);
      const text = CHAT_DELTAS.slice(0, Math.max(0, sent - 1)).join('');
      if (!counted) assert.equal(record.output, countedTokens(text));
      assert.equal(record.charged, counted ? FULL_COST : countedCost(record));
      assert.ok(record.charged > 0n);
    });
  }

  it('T-CL-02 before a whole answer is charged for it all the same: the vendor has worked', async () => {
    const record = await leave({}, [hold('T-CL-02'), ...wholeAnswer()], async () => {
      await vendorHolds();
      void turns().then(() => stand.vendor.release('T-CL-02'));
    });
    assert.equal(stand.vendor.requests.at(-1)?.state, 'played');
    assert.equal(record.charged, FULL_COST);
    assert.equal(record.estimated, false);
  });

  it('T-CL-06 by closing only its own half has left', async () => {
    const script = eventStream([...EVENTS.slice(0, 3), hold('never'), ...EVENTS.slice(3)]);
    const record = await leave(STREAMED, script, (client) => client.until(EVENTS[2]!), 'finish');
    await vendorAborted();
    assert.equal(record.outcome, 'aborted');
    assert.equal(record.output, countedTokens(CHAT_DELTAS.slice(0, 2).join('')));
  });

  it('T-CL-09 and sends its call again pays for what each try has delivered', async () => {
    const script = eventStream([...EVENTS.slice(0, 3), hold('never'), ...EVENTS.slice(3)]);
    const known = countRecords(stand.gateway);
    await leave(STREAMED, script, (client) => client.until(EVENTS[2]!));
    const again = await rawRequest(stand.gateway.port, callText(stand.gateway, STREAMED));
    assert.equal(again.text, chatEvents({ model: 'test-model' }).join(''));
    const [first, second] = await recordsAfter(stand.gateway, known, 2);
    assert.deepEqual([first?.outcome, second?.outcome], ['aborted', 'served']);
    assert.ok(first!.charged > 0n);
    assert.equal(second?.charged, FULL_COST);
  });

  it('T-CL-09 cannot make one charge of many by sending the same ids', async () => {
    const { gateway } = stand;
    const known = countRecords(gateway);
    const body = JSON.stringify(chatRequest({ model: 'test-model' }));
    const headers = { ...callHeaders(gateway), 'x-request-id': 'the-same' };
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() => rawRequest(gateway.port, requestText('POST', CHAT_PATH, headers, body))),
    );
    assert.equal(new Set(answers.map((answer) => answer.headers['x-request-id'])).size, 5);
    const records = await recordsAfter(gateway, known, 5);
    assert.deepEqual(
      records.map(({ charged }) => charged),
      Array(5).fill(FULL_COST),
    );
  });
});

/** A place in the pipeline where an exchange waits until the test opens it. */
function gate(): { readonly arrived: Promise<void>; arrive(): Promise<void>; open(): void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return {
    arrived,
    arrive() {
      arrive();
      return opened;
    },
    open,
  };
}

describe('a client that leaves before its call has gone out', () => {
  it('T-CL-01 while it is being admitted is charged nothing, and no vendor hears of it', async () => {
    const { arrived, arrive, open } = gate();
    const last = definePlugin({ name: 'last', api: 2, create: () => ({ admit: () => arrive() }) });
    const { gateway, vendor, stop } = await openBench({ plugins: [last] });
    try {
      const client = await rawConnection(gateway.port);
      await client.write(callText(gateway, STREAMED));
      await arrived;
      await untilHeld(gateway);
      client.abort();
      // The gateway has to see the end of the connection before it goes on.
      await turns();
      open();
      const [record] = await recordsAfter(gateway, 0);
      assert.equal(record?.outcome, 'aborted');
      assert.equal(record?.charged, 0n);
      assert.equal(vendor.connections, 0);
      assert.deepEqual(await heldByCalls(gateway), {});
      checkLog(gateway);
    } finally {
      open();
      await stop();
    }
  });

  it('T-CL-01 while it is being identified keeps nobody waiting for its body', async () => {
    const { arrived, arrive, open } = gate();
    const slow = definePlugin({
      name: 'slow-auth',
      api: 2,
      needs: [Keys],
      create: (host) => ({
        guards: { key: () => undefined },
        async authenticate(x) {
          await arrive();
          return host.use(Keys).find(x.headers.authorization?.replace('Bearer ', '') ?? '');
        },
      }),
    });
    const pipeline = (defaultConfig([]).pipeline as readonly string[]).filter((name) => name !== 'auth');
    const { gateway, vendor, stop } = await openBench({ plugins: [slow], config: { pipeline } });
    try {
      const client = await rawConnection(gateway.port);
      await client.write(callText(gateway).subarray(0, -10));
      await arrived;
      client.abort();
      await turns();
      open();
      assert.equal((await rawRequest(gateway.port, callText(gateway))).status, 200);
      assert.equal(vendor.requests.length, 1);
      checkLog(gateway);
    } finally {
      open();
      // Ends only when every exchange has.
      await stop();
    }
  });
});

describe('a client that leaves, where the configuration says otherwise', () => {
  let stand: Bench;
  before(async () => {
    stand = await openBench({ config: { listen: { port: 0, onDisconnect: { stream: 'drain', whole: 'cancel' } } } });
  });
  after(() => stand.stop());
  afterEach(() => checkLog(stand.gateway));

  it('T-CL-02 pays for a whole stream that was read to its end without it', async () => {
    const { gateway, vendor } = stand;
    vendor.next(eventStream([...EVENTS.slice(0, 3), hold('drain'), ...EVENTS.slice(3)]));
    const known = countRecords(gateway);
    const client = await rawConnection(gateway.port);
    await client.write(callText(gateway, STREAMED));
    await client.until(EVENTS[2]!);
    client.abort();
    await turns();
    vendor.release('drain');
    const [record] = await recordsAfter(gateway, known);
    assert.equal(vendor.requests.at(-1)?.state, 'played');
    assert.equal(record?.charged, FULL_COST);
  });

  it('T-CL-02 pays the input of a whole answer that was cancelled', async () => {
    const { gateway, vendor } = stand;
    vendor.next([hold('never'), ...wholeAnswer()]);
    const known = countRecords(gateway);
    const client = await rawConnection(gateway.port);
    await client.write(callText(gateway));
    await vendor.waitFor(() => vendor.requests.at(-1)?.holding === 'never');
    client.abort();
    const [record] = await recordsAfter(gateway, known);
    await vendor.waitFor(() => vendor.requests.at(-1)?.state === 'aborted');
    assert.equal(record?.outcome, 'aborted');
    assert.equal(record?.output, 0);
    assert.equal(record?.charged, countedCost(record!));
  });
});

describe('a client that is slow', () => {
  let stand: Bench;
  before(async () => {
    stand = await openBench();
  });
  after(() => stand.stop());
  afterEach(() => checkLog(stand.gateway));

  /** 64 KiB that are no tokens. */
  const padding = chatEvent({ choices: [{ index: 0, delta: { content: 'a' } }], padding: 'a'.repeat(64 << 10) });
  /** 64 KiB of text: far more than a call of 16 tokens may cost. */
  const text = chatEvent({ choices: [{ index: 0, delta: { content: 'a'.repeat(64 << 10) } }] });

  /** A client that has not read a byte of this stream, and whose vendor has been made to wait for it. */
  async function stalled(
    events: Parameters<typeof eventStream>[0],
    key = stand.gateway.key,
  ): Promise<{ client: RawConnection; request: VendorRequest }> {
    const { gateway, vendor } = stand;
    const seen = vendor.requests.length;
    vendor.next(eventStream(events));
    const client = await rawConnection(gateway.port);
    client.pause();
    await client.write(callText({ key }, STREAMED));
    await vendor.waitFor(() => (vendor.requests[seen]?.sentBytes ?? 0) > 0);
    const request = vendor.requests[seen]!;
    for (let before = -1; before !== request.sentBytes; await turns(200)) before = request.sentBytes;
    assert.equal(request.state, 'answering');
    return { client, request };
  }

  it('T-CL-03 makes its vendor wait, keeps nobody else waiting, and is cut off in the end', async () => {
    const { gateway, vendor, clock } = stand;
    const known = countRecords(gateway);
    const { client, request } = await stalled([...Array<string>(800).fill(padding), DONE]);
    assert.ok(request.sentBytes < 24 << 20, `the gateway took ${request.sentBytes} bytes that nobody reads`);
    assert.equal((await rawRequest(gateway.port, callText(gateway))).status, 200);
    clock.advance(121_000);
    await vendor.waitFor(() => request.state === 'aborted');
    const records = await recordsAfter(gateway, known, 2);
    const cut = records.find(({ outcome }) => outcome !== 'served');
    assert.equal(cut?.outcome, 'aborted');
    assert.equal(cut?.attempts[0]?.failure, undefined, 'the vendor is not to blame');
    assert.equal(cut?.charged, countedCost(cut!));
    client.resume();
    await client.ended;
  });

  it('T-CL-03 gets everything in the end if it goes on reading', async () => {
    const events = [...Array<string>(800).fill(padding), ...EVENTS];
    const { client } = await stalled(events);
    client.resume();
    const answer = await client.response();
    assert.equal(answer.complete, true);
    assert.equal(answer.text === events.join(''), true, 'every byte, in order');
    client.abort();
  });

  it('T-CL-03 is told why its answer was cut where it outran what could be held for it', async () => {
    const { gateway, vendor } = stand;
    const key = await gateway.customer(1_000);
    const { client, request } = await stalled([...Array<string>(250).fill(padding), text, silence()], key);
    client.resume();
    await vendor.waitFor(() => request.state === 'aborted');
    await client.ended;
    assert.ok(client.received.includes('QUOTA_HOLD_EXCEEDED'));
    assert.ok(!client.received.includes('[DONE]'));
  });

  it('T-CL-03 is cut off where it does not even read why', async () => {
    const { clock, vendor, gateway } = stand;
    // The piece that costs too much comes with one that fills every buffer on the way.
    const much = chatEvent({ choices: [{ index: 0, delta: { content: 'a' } }], padding: 'a'.repeat(7 << 20) });
    const short = chatEvent({ choices: [{ index: 0, delta: { content: 'a'.repeat(8_000) } }] });
    vendor.next(eventStream([much + short, silence()]));
    const seen = vendor.requests.length;
    const key = await gateway.customer(1_000);
    const client = await rawConnection(gateway.port);
    client.pause();
    await client.write(callText({ key }, STREAMED));
    await vendor.waitFor(() => (vendor.requests[seen]?.sentBytes ?? 0) > 7 << 20);
    await timePasses(clock);
    await vendor.waitFor(() => vendor.requests[seen]?.state === 'aborted');
    client.resume();
    await client.ended;
    assert.ok(!client.received.includes('QUOTA_HOLD_EXCEEDED'), 'it was kept for a client that does not read');
  });

  it('T-CL-03 is cut off where it does not fetch its whole answer, and pays for it', async () => {
    const { gateway, clock, vendor } = stand;
    const known = countRecords(gateway);
    vendor.next(jsonAnswer(200, { ...chatBody(), padding: 'a'.repeat(32 << 20) }));
    const client = await rawConnection(gateway.port);
    client.pause();
    await client.write(callText(gateway));
    const [record] = await recordsAfter(gateway, known);
    assert.equal(record?.charged, FULL_COST);
    await timePasses(clock);
    client.resume();
    assert.equal((await client.response()).complete, false, 'it was kept for a client that does not read');
    client.abort();
  });

  it('T-CL-04 in sending has nothing held for it before its body is whole', async () => {
    const { gateway, vendor } = stand;
    const seen = vendor.requests.length;
    const call = callText(gateway);
    const client = await rawConnection(gateway.port);
    await client.write(call.subarray(0, call.length - 20), 7);
    await turns();
    assert.deepEqual(await heldByCalls(gateway), {});
    assert.equal(vendor.requests.length, seen);
    await client.write(call.subarray(call.length - 20), 1);
    assert.equal((await client.response()).status, 200);
    client.abort();
  });
});

/** Two minutes, again and again: what begins to wait only while they pass has waited long enough in the end. */
async function timePasses(clock: FakeClock): Promise<void> {
  for (let round = 0; round < 40; round++) {
    clock.advance(121_000);
    await turns();
  }
}

describe('a client that does not wait for answers', () => {
  let stand: Bench;
  before(async () => {
    stand = await openBench();
  });
  after(() => stand.stop());
  afterEach(() => checkLog(stand.gateway));

  it('T-CL-07 gets pipelined answers in order, each charged', async () => {
    const { gateway, vendor } = stand;
    const known = countRecords(gateway);
    vendor.always((request) => jsonAnswer(200, { ...chatBody(), user: request.json.user ?? null }));
    const client = await rawConnection(gateway.port);
    const users = Array.from({ length: 15 }, (_, i) => `user-${i}`);
    await client.write(Buffer.concat(users.map((user) => callText(gateway, { user }))));
    for (const user of users) assert.equal(JSON.parse((await client.response()).text).user, user);
    assert.equal(client.ending, undefined);
    client.abort();
    const records = await recordsAfter(gateway, known, users.length);
    assert.ok(records.every(({ charged }) => charged === FULL_COST));
  });

  it('T-CL-07 leaves all its calls when it leaves, not only the first', async () => {
    const { gateway, vendor } = stand;
    const known = countRecords(gateway);
    const seen = vendor.requests.length;
    vendor.always(eventStream([...EVENTS.slice(0, 3), hold('never'), ...EVENTS.slice(3)]));
    const client = await rawConnection(gateway.port);
    await client.write(Buffer.concat([callText(gateway, STREAMED), callText(gateway, STREAMED)]));
    const both = () => vendor.requests.slice(seen);
    await vendor.waitFor(() => both().length === 2 && both().every(({ holding }) => holding === 'never'));
    await client.until(EVENTS[2]!);
    client.abort();
    await vendor.waitFor(() => both().every(({ state }) => state === 'aborted'));
    const records = await recordsAfter(gateway, known, 2);
    assert.deepEqual(
      records.map(({ outcome }) => outcome),
      ['aborted', 'aborted'],
    );
  });

  it('T-CL-07 waits where it pipelines without end, and is answered all the same, each charged', async () => {
    const { gateway, vendor } = stand;
    const known = countRecords(gateway);
    vendor.always([hold('T-CL-07'), ...wholeAnswer()]);
    const seen = vendor.requests.length;
    const client = await rawConnection(gateway.port);
    await client.write(Buffer.concat(Array.from({ length: 100 }, () => callText(gateway))));
    await vendor.waitFor(() => vendor.requests.length === seen + 20);
    vendor.release('T-CL-07');
    for (let i = 0; i < 100; i++) assert.equal((await client.response()).status, 200);
    assert.ok(vendor.maxInFlight <= 20);
    client.abort();
    const records = await recordsAfter(gateway, known, 100);
    assert.ok(records.every(({ charged }) => charged === FULL_COST));
    vendor.always(wholeAnswer());
  });
});

describe('a request that is wrong on the wire', () => {
  const LIMIT = 64 << 10;
  let stand: Bench;
  before(async () => {
    stand = await openBench({ config: { listen: { port: 0, body: { json: '64kb' } } } });
  });
  after(() => stand.stop());
  afterEach(async () => {
    checkLog(stand.gateway);
    assert.equal(stand.vendor.requests.length, 0, 'no vendor hears of it');
    assert.deepEqual(await heldByCalls(stand.gateway), {});
  });

  const large = (length: number): string => {
    const empty = JSON.stringify(chatRequest({ model: 'test-model', user: '' }));
    return JSON.stringify(chatRequest({ model: 'test-model', user: 'a'.repeat(length - empty.length) }));
  };
  const chunks = (body: string): string => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

  interface Wrong {
    readonly name: string;
    readonly request: (gateway: TestGateway) => Buffer;
    readonly status: number;
    /** Member `param` of the error. */
    readonly param?: string;
    /** Whether the connection may go on. */
    readonly keeps?: true;
  }
  const post =
    (body: string | Buffer, more: Readonly<Record<string, string>> = {}) =>
    (gateway: TestGateway) =>
      requestText('POST', CHAT_PATH, { ...callHeaders(gateway), ...more }, body);
  const wrong = (name: string, request: Wrong['request'], status: number, more: Partial<Wrong> = {}): Wrong => ({
    name,
    request,
    status,
    ...more,
  });
  const unread = (name: string, text: string | Buffer, more: Partial<Wrong> = {}): Wrong =>
    wrong(name, post(text), 400, { keeps: true, ...more });
  const nested = `${'['.repeat(64)}${']'.repeat(64)}`;

  const WRONGS: readonly Wrong[] = [
    wrong(
      'T-CL-08: a header of 17 KB',
      (gateway) => requestText('POST', CHAT_PATH, { ...callHeaders(gateway), 'x-a': 'a'.repeat(17 << 10) }, '{}'),
      431,
    ),
    wrong(
      'T-CL-08: 101 headers',
      (gateway) => {
        const many = Object.fromEntries(Array.from({ length: 98 }, (_, i) => [`x-${i}`, '1']));
        return requestText('POST', CHAT_PATH, { ...callHeaders(gateway), ...many }, '{}');
      },
      431,
    ),
    wrong(
      'T-CL-08: an address of 9 KB',
      (gateway) => requestText('POST', `${CHAT_PATH}?${'a'.repeat(9 << 10)}`, callHeaders(gateway), '{}'),
      414,
    ),
    wrong('T-CL-08: a body one byte too long', post(large(LIMIT + 1)), 413),
    wrong(
      'T-CL-08: a chunked body one byte too long',
      post(chunks(large(LIMIT + 1)), { 'transfer-encoding': 'chunked' }),
      413,
    ),
    wrong('T-CL-08: neither a length nor chunks', post(''), 411),
    wrong(
      'T-CL-08: a length and chunks',
      post(chunks('{}'), { 'transfer-encoding': 'chunked', 'content-length': '2' }),
      400,
    ),
    wrong('T-CL-08: a chunk that is none', post('zz\r\n', { 'transfer-encoding': 'chunked' }), 400),
    wrong(
      'T-CL-08: two keys',
      (gateway) => Buffer.from(callText(gateway).toString().replace('\r\n', '\r\nauthorization: Bearer sk-other\r\n')),
      400,
      { param: 'authorization' },
    ),

    unread('T-CL-10: not JSON', '{"model":'),
    unread('T-CL-10: not JSON at all', 'model=test-model'),
    unread('T-CL-10: something behind the JSON', `${JSON.stringify(chatRequest())}{}`),
    unread('T-CL-10: an array', '[{"model":"test-model"}]'),
    unread('T-CL-10: a string', '"test-model"'),
    unread('T-CL-10: null', 'null'),
    unread('T-CL-10: nested too deep', `{"model":"test-model","messages":${nested}}`),
    unread('T-CL-10: a member twice', '{"model":"test-model","model":"free-model","messages":[{}]}'),
    unread('T-CL-10: a name that reaches prototypes', '{"__proto__":{},"model":"test-model","messages":[{}]}'),
    unread('T-CL-10: a byte order mark', `\uFEFF${JSON.stringify(chatRequest())}`),
    unread('T-CL-10: UTF-16', Buffer.from(JSON.stringify(chatRequest()), 'utf16le')),
    unread('T-CL-10: broken UTF-8', Buffer.from('7b226d6f64656c223a22ff227d', 'hex')),
    wrong('T-CL-10: an empty body in chunks', post('0\r\n\r\n', { 'transfer-encoding': 'chunked' }), 400, {
      keeps: true,
    }),
    wrong('T-CL-10: latin1', post('{}', { 'content-type': 'application/json; charset=latin1' }), 415, {
      param: 'content-type',
    }),
    wrong('T-CL-10: text', post('{}', { 'content-type': 'text/plain' }), 415, { param: 'content-type' }),
    wrong('T-CL-10: a form', post('a=b', { 'content-type': 'multipart/form-data' }), 415, { param: 'content-type' }),
    wrong('T-CL-10: compressed', post('{}', { 'content-encoding': 'compress' }), 415, { param: 'content-encoding' }),
    unread('T-CL-10: no model', '{"messages":[{"role":"user","content":"a"}]}', { param: 'model' }),
    unread('T-CL-10: no messages', '{"model":"test-model"}', { param: 'messages' }),
    unread('T-CL-10: not one message', '{"model":"test-model","messages":[]}', { param: 'messages' }),
    unread('T-CL-10: too hot', '{"model":"test-model","messages":[{}],"temperature":2.1}', { param: 'temperature' }),
    unread('T-CL-10: a stream that is a word', '{"model":"test-model","messages":[{}],"stream":"yes"}', {
      param: 'stream',
    }),
  ];

  for (const { name, request, status, param, keeps } of WRONGS) {
    it(`${name}: ${status}`, async () => {
      const client = await rawConnection(stand.gateway.port);
      await client.write(request(stand.gateway));
      const answer = await client.response();
      assert.equal(answer.status, status);
      assert.equal(answer.complete, true);
      assert.equal(answer.headers['content-type'], 'application/json');
      const { error } = JSON.parse(answer.text) as { error: Record<string, unknown> };
      assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type']);
      for (const member of Object.values(error)) assert.equal(typeof member, 'string');
      assert.notEqual(error.message, '');
      if (param !== undefined) assert.equal(error.param, param);
      if (keeps) {
        await client.write(requestText('GET', '/healthz'));
        assert.equal((await client.response()).status, 200);
      } else {
        await client.ended;
      }
      client.abort();
    });
  }

  it('T-CL-08: a body of exactly the limit is read', async () => {
    const answer = await rawRequest(
      stand.gateway.port,
      requestText('POST', CHAT_PATH, callHeaders(stand.gateway), large(LIMIT).replace('test-model', 'none-model')),
    );
    assert.equal(answer.status, 404);
  });

  it('T-CL-08: whoever goes on sending what is too long is cut off after two seconds', async () => {
    const client = await rawConnection(stand.gateway.port);
    await client.write(
      requestText('POST', CHAT_PATH, { ...callHeaders(stand.gateway), 'content-length': String(1 << 30) }),
    );
    assert.equal((await client.response()).status, 413);
    await client.write('a'.repeat(1 << 20));
    assert.equal(client.ending, undefined);
    stand.clock.advance(2_000);
    await client.ended;
  });

  it('T-CL-08: whoever asks first is told before the body is sent', async () => {
    const client = await rawConnection(stand.gateway.port);
    await client.write(
      requestText('POST', CHAT_PATH, {
        ...callHeaders(stand.gateway),
        'content-length': String(1 << 30),
        expect: '100-continue',
      }),
    );
    const answer = await client.response();
    assert.equal(answer.status, 413);
    assert.deepEqual(answer.interim, []);
    client.abort();
  });
});
