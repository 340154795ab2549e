/** Whatever a vendor does wrong: what the client is told, what is charged, what the channel is blamed for. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { FailureKind } from '../../../core/contracts/formats/call.ts';
import { type RawResponse, rawConnection, rawRequest, requestText } from '../../kit/clients/raw-client.ts';
import {
  CHAT_DELTAS,
  CHAT_USAGE,
  chatBody,
  chatEvent,
  chatEvents,
  chatRequest,
  DONE,
} from '../../kit/gateway/fixtures.ts';
import { defaultConfig, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { type UsageRow, usageRecords } from '../../kit/gateway/usage-records.ts';
import { turns } from '../../kit/until.ts';
import { closedPort, type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
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
  jsonAnswer,
  lastChunk,
  lengthOf,
  rst,
  type Script,
  silence,
  sized,
  stopReading,
  streamAnswer,
  wholeAnswer,
} from '../../kit/vendors/script.ts';
import {
  type Bench,
  CHAT_PATH,
  callHeaders,
  callText,
  checkLog,
  cost,
  countedCost,
  countedTokens,
  openBench,
  STREAMED,
} from '../operations/bench.ts';

/** What the client is told. */
type Told =
  /** Exactly these bytes, to their end, with status 200. */
  | { readonly served: string | Buffer }
  /** The same, but for the usage: its vendor does not tell one, so ours is in its place. */
  | { readonly counted: string }
  /** An error object with this status and code, and nothing else. */
  | { readonly status: number; readonly code: string }
  /** The vendor's own error, as it is. */
  | { readonly relayed: number; readonly code: string }
  /** These events, then an error event with this code, or none if the vendor cut the stream, and no good ending. */
  | { readonly brokeOff: string; readonly after: string };

/** What is charged: nothing, our count of what was delivered, or what the vendor says. */
type Charge = 'nothing' | 'delivered' | 'usage';

interface Fault {
  /** Of `T-UP-…`: the row of the fault matrix it belongs to. */
  readonly row: string;
  readonly name: string;
  readonly asked: 'whole' | 'stream';
  /** What the vendor does; undefined where it is not reached. */
  readonly answer: Script | undefined;
  /** The model asked for: `test-model`, or one whose channel is wrong. */
  readonly model?: string;
  /** How far the clock is moved once the vendor has gone silent. */
  readonly waitsMs?: number;
  readonly told: Told;
  readonly charged: Charge;
  /** What the channel is blamed for. */
  readonly failure: FailureKind | undefined;
  /** No other channel is asked: the request is to blame, or the answer has begun. */
  readonly final?: true;
}

const STREAM = chatEvents();
/** Role and two deltas. */
const BEGUN = STREAM.slice(0, 3).join('');
/** All but usage and `[DONE]`. */
const FINISHED = STREAM.slice(0, -2).join('');
const WHOLE = wholeAnswer();
const BODY = JSON.stringify(chatBody());
const OVER_IDLE = 11_000;

const badAnswer = { status: 502, code: 'bad_upstream_response' } as const;
const brokeOff = { brokeOff: 'upstream_broke_off', after: BEGUN } as const;

/** A stream that breaks off after two deltas. */
const dies = (...end: Script): Script => eventStream([...STREAM.slice(0, 3), ...end]);
const chunkedHead = head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' });

/** A row whose whole answer is no answer. */
const spoiled = (row: string, name: string, answer: Script): Fault => ({
  row,
  name,
  asked: 'whole',
  answer,
  told: badAnswer,
  charged: 'nothing',
  failure: 'broken',
});
/** A row whose stream ends badly after two deltas. */
const broken = (row: string, name: string, answer: Script, more: Partial<Fault> = {}): Fault => ({
  row,
  name,
  asked: 'stream',
  answer,
  told: brokeOff,
  charged: 'delivered',
  failure: 'broken',
  final: true,
  ...more,
});
/** A row that is odd and still an answer. */
const fine = (
  row: string,
  name: string,
  answer: Script,
  served: string | Buffer,
  more: Partial<Fault> = {},
): Fault => ({
  row,
  name,
  asked: 'stream',
  answer,
  told: { served },
  charged: 'usage',
  failure: undefined,
  final: true,
  ...more,
});
/** The same fault before the first byte of an answer, whole and streamed. */
const both = (fault: Omit<Fault, 'asked'>): readonly Fault[] => [
  { ...fault, asked: 'whole' },
  { ...fault, asked: 'stream' },
];
const unreachable = (name: string, model: string): readonly Fault[] =>
  both({
    row: '01',
    name,
    model,
    answer: undefined,
    told: { status: 502, code: 'upstream_unreachable' },
    charged: 'nothing',
    failure: 'connect',
  });
/** An error status of the vendor's that asks for another channel. */
const refusal = (row: string, name: string, answer: Script, told: Told, failure: FailureKind): readonly Fault[] =>
  both({ row, name, answer, told, charged: 'nothing', failure });
/** The vendor calls the request wrong: nobody else would like it better. */
const wrongRequest = (name: string, answer: Script, told: Told): readonly Fault[] =>
  refusal('11', name, answer, told, 'refused').map((fault) => ({ ...fault, final: true }));
const ourWords = { status: 400, code: 'invalid_request_error' } as const;
const overloaded = { status: 503, code: 'upstream_overloaded' } as const;
const failing = { status: 502, code: 'upstream_error' } as const;

const MIB = Buffer.alloc(1 << 20, 0x61);
const ODD_UTF8 = Buffer.concat([
  Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"'),
  Buffer.from([0xff, 0xc3, 0x28, 0xe4, 0xbd]),
  Buffer.from('"}}]}\n\n'),
]);
const WIDE = chatEvents({ deltas: ['é', '日本', '👩‍🚀'] }).join('');
const usageEvent = (usage: object): string => chatEvent(JSON.parse(JSON.stringify({ choices: [], usage })));
const bodyWith = (usage: unknown): string => JSON.stringify({ ...chatBody({ usage: null }), usage });
const streamWith = (...usages: readonly object[]): string => `${FINISHED}${usages.map(usageEvent).join('')}${DONE}`;

const FAULTS: readonly Fault[] = [
  ...unreachable('the connection is refused', 'refused-model'),
  ...unreachable('the host name is unknown', 'nameless-model'),
  ...unreachable('the vendor does not speak TLS', 'plain-model'),

  ...both({
    row: '02',
    name: 'it accepts and never answers',
    answer: [silence()],
    waitsMs: OVER_IDLE,
    told: { status: 504, code: 'upstream_timeout' },
    charged: 'nothing',
    failure: 'timeout',
  }),
  broken('03', 'it falls silent in the middle of a stream', dies(silence()), {
    waitsMs: OVER_IDLE,
    told: { brokeOff: 'upstream_broke_off', after: BEGUN },
    failure: 'timeout',
  }),
  {
    ...spoiled('03', 'it falls silent in the middle of a whole answer', [...cutAt(WHOLE, -20, silence())]),
    waitsMs: OVER_IDLE,
    told: { status: 504, code: 'upstream_timeout' },
    failure: 'timeout',
  },
  broken('04', 'it resets the connection in the middle of a stream', dies(rst())),
  spoiled('04', 'it resets the connection in the middle of a whole answer', cutAt(WHOLE, -20, rst())),
  broken('05', 'it closes in the middle of a stream', dies(fin())),
  broken('05', 'it closes in the middle of a chunk', [...cutAt(dies(chunk(STREAM[3]!)), -8, fin())]),
  spoiled('05', 'it closes before the declared length', cutAt(WHOLE, -1, fin())),
  spoiled('05', 'it closes in the middle of a chunked whole answer', [
    head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }),
    chunk(BODY),
    fin(),
  ]),

  fine('06', 'its stream lacks only [DONE]', eventStream(STREAM.slice(0, -1)), STREAM.join('')),
  fine('06', 'its stream lacks usage and [DONE]', eventStream(STREAM.slice(0, -2)), FINISHED + DONE, {
    told: { counted: FINISHED + DONE },
    charged: 'delivered',
  }),
  fine('06', 'its stream lacks usage', eventStream([FINISHED, DONE]), FINISHED + DONE, {
    told: { counted: FINISHED + DONE },
    charged: 'delivered',
  }),
  broken('07', 'its stream ends without a reason and without [DONE]', eventStream(STREAM.slice(0, 3))),
  ...both({
    row: '07',
    name: 'it closes without a byte of an answer',
    answer: [fin()],
    told: badAnswer,
    charged: 'nothing',
    failure: 'broken',
  }),
  {
    ...spoiled('07', 'its stream has no events', eventStream([])),
    asked: 'stream',
  },
  {
    ...spoiled('07', 'its stream has only [DONE]', eventStream([DONE])),
    asked: 'stream',
  },
  { ...spoiled('07', 'its stream has only comments', eventStream([': one\n\n', ': two\n\n'])), asked: 'stream' },

  broken(
    '08',
    'an event is not whole',
    eventStream([...STREAM.slice(0, 3), 'data: {"choices":[{"del\n\n', ...STREAM.slice(3)]),
  ),
  fine(
    '08',
    'an event is not JSON, and no part of the answer',
    eventStream([...STREAM.slice(0, 2), 'data: <html>\n\n', ...STREAM.slice(2)]),
    STREAM.join(''),
  ),
  fine(
    '08',
    'an event has an unknown name, an id and a comment',
    eventStream([...STREAM.slice(0, 2), 'event: news\nid: 7\n: hm\ndata: {}\n\n', ...STREAM.slice(2)]),
    [...STREAM.slice(0, 2), 'event: news\nid: 7\n: hm\ndata: {}\n\n', ...STREAM.slice(2)].join(''),
  ),
  fine(
    '08',
    'lines end with CR alone',
    eventStream(STREAM.map((event) => event.replaceAll('\n', '\r'))),
    STREAM.join('').replaceAll('\n', '\r'),
  ),
  fine(
    '08',
    'lines end with CRLF',
    eventStream(STREAM.map((event) => event.replaceAll('\n', '\r\n'))),
    STREAM.join('').replaceAll('\n', '\r\n'),
  ),
  fine('08', 'it begins with a byte order mark', eventStream(['\uFEFF', ...STREAM]), `\uFEFF${STREAM.join('')}`),
  fine('08', 'characters are split between packets', inPieces(eventStream([WIDE]), 1), WIDE),
  fine(
    '08',
    'the usage event has no blank line',
    eventStream([STREAM.slice(0, -1).join('').trimEnd()]),
    STREAM.join(''),
  ),
  fine('08', '[DONE] has no blank line', eventStream([STREAM.join('').trimEnd()]), STREAM.join('')),
  broken('08', 'a line of ten megabytes comes', dies(...Array<Script[number]>(10).fill(chunk(MIB)), silence())),
  {
    ...spoiled('08', 'no line ever ends', [chunkedHead, ...Array<Script[number]>(10).fill(chunk(MIB)), silence()]),
    asked: 'stream',
  },

  spoiled('10', 'the JSON is cut', sized(200, 'application/json', BODY.slice(0, -10))),
  spoiled('10', 'it is HTML', htmlAnswer()),
  spoiled('10', 'it is empty', sized(200, 'application/json', '')),
  spoiled('10', 'it is null', sized(200, 'application/json', 'null')),
  spoiled('10', 'it is another kind of object', jsonAnswer(200, { object: 'list', data: [] })),
  { ...spoiled('10', 'a stream is asked for and HTML comes', htmlAnswer()), asked: 'stream' },
  { ...spoiled('10', 'a stream is asked for and nothing comes', sized(200, 'text/event-stream', '')), asked: 'stream' },

  ...refusal('11', 'it is busy', errorAnswer(429), { relayed: 429, code: 'vendor_429' }, 'busy'),
  ...refusal('11', 'it is overloaded (529)', errorAnswer(529), { relayed: 529, code: 'vendor_529' }, 'busy'),
  ...refusal('11', 'it is unavailable (503)', errorAnswer(503), { relayed: 503, code: 'vendor_503' }, 'status'),
  ...refusal('11', 'it is unavailable (503), in HTML', htmlAnswer(503), overloaded, 'status'),
  ...refusal('11', 'it does not take our key', errorAnswer(401, `Wrong key: ${VENDOR_KEY}`), failing, 'credential'),
  ...refusal('11', 'it wants to be paid', errorAnswer(402), failing, 'credential'),
  ...refusal('11', 'it forbids', errorAnswer(403), failing, 'credential'),
  ...refusal('11', 'it does not know the model', errorAnswer(404), { relayed: 404, code: 'vendor_404' }, 'status'),

  ...wrongRequest('it refuses the request', errorAnswer(400), { relayed: 400, code: 'vendor_400' }),
  ...wrongRequest('it finds the request too large', errorAnswer(413), { relayed: 413, code: 'vendor_413' }),
  ...wrongRequest('it refuses and tells our key', errorAnswer(400, `Bad: ${VENDOR_KEY}`), ourWords),
  ...wrongRequest('it refuses in HTML', htmlAnswer(422), { ...ourWords, status: 422 }),
  ...wrongRequest(
    'it refuses in gzip',
    sized(400, 'application/json', gzipSync('{"error":{"message":"no"}}'), { 'content-encoding': 'gzip' }),
    ourWords,
  ),

  ...refusal(
    '12',
    'it fails with an explanation of a gigabyte',
    [
      head(500, { 'content-type': 'text/plain', 'content-length': String(1 << 30) }),
      ...Array<Script[number]>(64).fill(bytes(MIB)),
      silence(),
    ],
    failing,
    'status',
  ),
  ...refusal('12', 'it fails in HTML', htmlAnswer(502), failing, 'status'),
  ...refusal('12', 'its explanation breaks off', cutAt(errorAnswer(500), -5, rst()), failing, 'status'),
  ...refusal(
    '12',
    'its explanation does not come',
    [head(500, { 'content-type': 'application/json', 'content-length': '100' }), bytes('{"error"'), silence()],
    failing,
    'status',
  ).map((fault) => ({ ...fault, waitsMs: OVER_IDLE })),
  ...refusal('12', 'its explanation is empty', sized(500, 'application/json', ''), failing, 'status'),

  spoiled('13', 'it compresses although it must not', [
    ...sized(200, 'application/json', gzipSync(BODY), { 'content-encoding': 'gzip' }),
  ]),
  {
    ...spoiled('13', 'it compresses a stream', [
      ...sized(200, 'text/event-stream', gzipSync(STREAM.join('')), { 'content-encoding': 'gzip' }),
    ]),
    asked: 'stream',
  },
  spoiled('13', 'what it calls gzip is none', [
    ...sized(200, 'application/json', BODY, { 'content-encoding': 'gzip, gzip, gzip' }),
  ]),

  fine(
    '14',
    'it speaks HTTP/1.0',
    [bytes('HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n'), bytes(BODY), fin()],
    BODY,
    {
      asked: 'whole',
    },
  ),
  fine(
    '14',
    'it streams over HTTP/1.0',
    [bytes('HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n'), ...STREAM.map(bytes), fin()],
    STREAM.join(''),
  ),
  fine('14', 'it sends early hints', [bytes('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'), ...WHOLE], BODY, {
    asked: 'whole',
  }),
  spoiled('14', 'it has no content', [head(204)]),
  ...refusal('14', 'it says not modified', [head(304)], failing, 'status'),
  ...both({
    row: '14',
    name: 'it switches protocols',
    answer: [head(101, { upgrade: 'websocket', connection: 'upgrade' }), silence()],
    told: badAnswer,
    charged: 'nothing',
    failure: 'broken',
  }),

  spoiled('15', 'it frames its answer twice', [
    head(200, { 'content-type': 'application/json', 'content-length': '2', 'transfer-encoding': 'chunked' }),
    chunk(BODY),
    lastChunk(),
  ]),
  spoiled('15', 'it declares two lengths', [
    head(200, { 'content-type': 'application/json', 'content-length': [String(BODY.length), '2'] }),
    bytes(BODY),
  ]),
  {
    ...spoiled('15', 'the first chunk is bad and comes with the head', [
      bytes('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n'),
      silence(),
    ]),
    asked: 'stream',
  },
  broken('15', 'a later chunk is bad', dies(bytes('zz\r\n'), silence())),
  ...both({
    row: '15',
    name: 'its head is too large',
    answer: [head(200, { 'content-type': 'application/json', 'x-large': 'a'.repeat(20 << 10) }), silence()],
    told: badAnswer,
    charged: 'nothing',
    failure: 'broken',
  }),
  spoiled('15', 'a header name is none', [bytes('HTTP/1.1 200 OK\r\nbad name: 1\r\ncontent-length: 2\r\n\r\n{}')]),
  spoiled('15', 'a header has a NUL', [bytes('HTTP/1.1 200 OK\r\nx-a: a\0b\r\ncontent-length: 2\r\n\r\n{}')]),
  ...both({
    row: '15',
    name: 'it does not speak HTTP',
    answer: [bytes('220 mail.example.com ESMTP\r\n'), silence()],
    told: badAnswer,
    charged: 'nothing',
    failure: 'broken',
  }),
  fine(
    '15',
    'more bytes follow a whole answer',
    [...WHOLE, bytes('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison')],
    BODY,
    {
      asked: 'whole',
    },
  ),

  broken(
    '17',
    'it gives up with an error event',
    eventStream([...STREAM.slice(0, 3), chatEvent({ error: { message: 'no' } })]),
    {
      told: { brokeOff: '', after: BEGUN },
    },
  ),
  broken(
    '17',
    'its error event tells our key',
    eventStream([...STREAM.slice(0, 3), chatEvent({ error: { message: `bad ${VENDOR_KEY}`, code: 'x' } })]),
    { told: { brokeOff: 'upstream_error', after: BEGUN } },
  ),
  {
    ...spoiled('17', 'its first event is an error', eventStream([chatEvent({ error: { message: 'no' } }), DONE])),
    asked: 'stream',
  },
  spoiled('17', 'an error comes with status 200', jsonAnswer(200, { error: { message: 'no', code: 'x' } })),

  fine(
    '19',
    'its text is not UTF-8',
    [chunkedHead, chunk(ODD_UTF8), chunk(STREAM.join('')), lastChunk()],
    Buffer.concat([ODD_UTF8, Buffer.from(STREAM.join(''))]),
  ),
  ...[301, 302, 303, 307, 308].flatMap((status) =>
    refusal(
      '20',
      `it redirects (${status})`,
      [head(status, { location: '/v1/elsewhere', 'content-length': '0' })],
      failing,
      'status',
    ),
  ),
];

/** Usages no vendor should tell, and what may be charged for them: up to the hold, which is bounded by this. */
const ODD_USAGES: readonly (readonly [name: string, usage: object])[] = [
  ['negative', { prompt_tokens: -1, completion_tokens: -1_000_000, total_tokens: -1_000_001 }],
  ['a fraction', { prompt_tokens: 1.5, completion_tokens: 2.5, total_tokens: 4 }],
  ['text', { prompt_tokens: '12', completion_tokens: '7' }],
  ['10^9 tokens', { prompt_tokens: 1e9, completion_tokens: 1e9, total_tokens: 2e9 }],
  ['10^18 tokens', { prompt_tokens: 1e18, completion_tokens: 1e18, total_tokens: 2e18 }],
  ['10^30 tokens', { prompt_tokens: 1e30, completion_tokens: 1e30, total_tokens: 2e30 }],
  ['empty', {}],
  ['more cached than sent', { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } }],
  ['a total that is no sum', { prompt_tokens: 5, completion_tokens: 1, total_tokens: 999 }],
];

interface Stand extends Bench {
  /** Behind the channel that is asked when `main` fails. */
  readonly spare: FakeVendor | undefined;
}

/** A gateway whose first channel misbehaves; with `spares`, a second one that does not. Ten seconds are its patience. */
async function openStand(spares: 0 | 1): Promise<Stand> {
  const vendor = await fakeVendor();
  const spare = spares === 1 ? await fakeVendor() : undefined;
  const plain = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end('this is not TLS\r\n'));
  }).listen(0, '127.0.0.1');
  await once(plain, 'listening');
  const vendors = spare === undefined ? [vendor] : [vendor, spare];
  const standard = defaultConfig(vendors);
  const [main, ...others] = standard.channels as readonly object[];
  const more = [
    ['refused', `http://127.0.0.1:${await closedPort()}/v1`],
    ['nameless', 'http://no..name/v1'],
    ['plain', `https://127.0.0.1:${(plain.address() as AddressInfo).port}/v1`],
    ['patient', vendor.url],
    ['brief', vendor.url, { total: '30s' }],
  ].map(([name, url, timeout = {}]) => ({ name, vendor: 'compatible', url, key: VENDOR_KEY, timeout }));
  const price = { input: 1, output: 2 };
  const instead = spare === undefined ? [] : ['spare'];
  const bench = await openBench({
    vendors,
    config: {
      channels: [{ ...main, timeout: { head: '10s', idle: '10s' } }, ...others, ...more],
      models: {
        ...(standard.models as object),
        ...Object.fromEntries(more.map(({ name }) => [`${name}-model`, { from: [name, ...instead], price }])),
      },
    },
  });
  return {
    ...bench,
    spare,
    async stop() {
      await bench.stop();
      plain.close();
      await once(plain, 'close');
    },
  };
}

/** Asks the gateway for what the fault is about and lets the vendor do its worst. */
async function suffer({ gateway, vendor, clock }: Bench, fault: Fault): Promise<RawResponse> {
  // A kept connection that fails is another matter: T-UP-21.
  vendor.dropIdle();
  await vendor.waitFor(() => vendor.openConnections === vendor.inFlight);
  if (fault.answer !== undefined) vendor.next(fault.answer);
  const seen = vendor.requests.length;
  const client = await rawConnection(gateway.port);
  try {
    await client.write(askText(gateway, fault.asked, fault.model));
    const answer = client.response();
    answer.catch(() => {});
    if (fault.waitsMs !== undefined) {
      const told = fault.answer === undefined ? 0 : lengthOf(fault.answer);
      await vendor.waitFor(() => vendor.requests.length > seen && vendor.requests.at(-1)?.sentBytes === told);
      if ('brokeOff' in fault.told) await client.until(CHAT_DELTAS[1]!);
      clock.advance(fault.waitsMs);
    }
    return await answer;
  } finally {
    client.abort();
  }
}

function askText(gateway: TestGateway, asked: 'whole' | 'stream', model = 'test-model'): Buffer {
  return callText(gateway, asked === 'stream' ? { model, ...STREAMED } : { model });
}

/** The one record of an answer. */
function recordOf(gateway: TestGateway, answer: RawResponse): UsageRow {
  const records = usageRecords(gateway.storeFile).filter(({ id }) => id === answer.headers['x-request-id']);
  assert.equal(records.length, 1, `one usage record for ${answer.headers['x-request-id']}`);
  return records[0]!;
}

/** The event with our own count that stands before the end, and the usage in a whole answer. */
const OWN_USAGE = /data: [^\n]*"choices":\[\],"usage":\{"prompt_tokens":\d+,[^\n]*\n\n(?=data: \[DONE\])/;
const USAGE = /,"usage":\{(?:[^{}]|\{[^{}]*\})*\}/;

function checkTold(answer: RawResponse, told: Told): void {
  if ('counted' in told) {
    assert.equal(answer.status, 200);
    assert.equal(answer.complete, true);
    const isStream = told.counted.startsWith('data:');
    assert.match(answer.text, isStream ? OWN_USAGE : /"usage":\{"prompt_tokens":\d+,/);
    if (isStream) assert.equal(answer.text.replace(OWN_USAGE, ''), told.counted);
    else assert.equal(answer.text.replace(USAGE, ''), told.counted.replace(USAGE, ''));
  } else if ('served' in told) {
    assert.equal(answer.status, 200);
    assert.equal(answer.complete, true);
    assert.deepEqual(answer.body.toString('latin1'), Buffer.from(told.served).toString('latin1'));
  } else if ('brokeOff' in told) {
    assert.equal(answer.status, 200);
    assert.equal(answer.text.slice(0, told.after.length), told.after);
    const rest = answer.text.slice(told.after.length);
    // A stream that was cut is cut, without an event; one that ended too early has one.
    if (rest !== '' || told.brokeOff !== 'upstream_broke_off') {
      const error = errorIn(rest.replace(/^data: /, ''));
      if (told.brokeOff !== '') assert.equal(error.code, told.brokeOff);
    }
    if (told.brokeOff !== '') {
      assert.equal(answer.complete, false, 'a part must not look like the whole');
    }
    assert.ok(!answer.text.includes('[DONE]'), 'no good ending');
  } else {
    assert.equal(answer.complete, true);
    assert.equal(answer.headers['content-type'], 'application/json');
    assert.equal(answer.status, 'relayed' in told ? told.relayed : told.status);
    assert.equal(errorIn(answer.text).code, told.code);
  }
  assert.ok(!answer.text.includes(VENDOR_KEY), 'the key of the channel is nobody’s business');
}

/** The error object in these bytes, which must hold nothing else. */
function errorIn(text: string): { readonly code: unknown } {
  const value = JSON.parse(text) as { error: { code: unknown } };
  assert.deepEqual(Object.keys(value), ['error']);
  return value.error;
}

function checkCharge(record: UsageRow, charge: Charge, answer: RawResponse): void {
  if (charge === 'nothing') {
    assert.equal(record.charged, 0n);
    return;
  }
  if (charge === 'usage') {
    assert.equal(record.estimated, false);
    assert.equal(record.charged, cost(CHAT_USAGE));
    return;
  }
  const text = CHAT_DELTAS.filter((delta) => answer.text.includes(`"${delta}"`)).join('');
  assert.equal(record.output, countedTokens(text));
  assert.equal(record.charged, countedCost(record));
  assert.ok(record.charged > 0n);
}

describe('a vendor that fails, with nobody to stand in', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(0);
  });
  after(() => stand.stop());
  afterEach(() => checkLog(stand.gateway));

  for (const fault of FAULTS) {
    it(`T-UP-${fault.row} ${fault.asked}: ${fault.name}`, async () => {
      const answer = await suffer(stand, fault);
      checkTold(answer, fault.told);
      const record = recordOf(stand.gateway, answer);
      checkCharge(record, fault.charged, answer);
      assert.equal(record.attempts.length, 1);
      assert.equal(record.attempts[0]?.failure, fault.failure);
      const served = 'served' in fault.told || 'counted' in fault.told;
      assert.equal(record.outcome, served ? 'served' : fault.failure === 'refused' ? 'refused' : 'failed');
      if (!served && fault.answer !== undefined) {
        const { vendor } = stand;
        await vendor.waitFor(() => vendor.inFlight === 0);
      }
    });
  }

  for (const [name, usage] of ODD_USAGES) {
    for (const asked of ['whole', 'stream'] as const) {
      it(`T-UP-18 ${asked}: its usage is ${name}`, async () => {
        const body = asked === 'whole' ? bodyWith(usage) : streamWith(usage);
        const answer = await suffer(stand, {
          ...fine('18', name, asked === 'whole' ? sized(200, 'application/json', body) : eventStream([body]), body),
          asked,
        });
        const isTold = name !== 'text' && name !== 'empty';
        checkTold(answer, isTold ? { served: body } : { counted: body });
        const { charged } = recordOf(stand.gateway, answer);
        const most = cost({ prompt: askText(stand.gateway, asked).length + 1024, completion: 16 });
        assert.ok(charged >= 0n && charged <= most, `${charged} of at most ${most}`);
      });
    }
  }

  it('T-UP-18 stream: the last of several usages counts, and zeros behind it do not', async () => {
    const usage = (prompt: number, completion: number) => ({ prompt_tokens: prompt, completion_tokens: completion });
    const body = streamWith(usage(1, 1), usage(CHAT_USAGE.prompt, CHAT_USAGE.completion), usage(0, 0));
    const answer = await suffer(stand, fine('18', 'several', eventStream([body]), body));
    checkCharge(recordOf(stand.gateway, answer), 'usage', answer);
  });

  for (const [wish, seconds] of [
    ['1', 1],
    ['120', 60],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30],
    ['soon', 1],
    [undefined, 1],
  ] as const) {
    it(`T-UP-11 whole: it is busy and asks to retry after ${wish ?? 'nothing in particular'}`, async () => {
      const headers = { date: 'Thu, 01 Jan 2026 00:00:00 GMT', ...(wish === undefined ? {} : { 'retry-after': wish }) };
      const answer = await suffer(stand, {
        ...fine('11', 'busy', errorAnswer(429, 'Busy.', headers), ''),
        asked: 'whole',
      });
      assert.equal(answer.status, 429);
      assert.equal(answer.headers['retry-after'], String(seconds));
    });
  }

  it('T-UP-02 stream: comments keep the client’s connection alive, and silence still ends in an error', async () => {
    const { gateway, vendor, clock } = stand;
    vendor.next([silence()]);
    const seen = vendor.requests.length;
    const client = await rawConnection(gateway.port);
    await client.write(askText(gateway, 'stream', 'patient-model'));
    const coming = client.response();
    await vendor.waitFor(() => vendor.requests.length > seen);
    clock.advance(61_000);
    const answer = await coming;
    client.abort();
    checkTold(answer, { brokeOff: 'upstream_timeout', after: ': keep-alive\n\n'.repeat(3) });
    const record = recordOf(gateway, answer);
    checkCharge(record, 'nothing', answer);
    assert.equal(record.attempts[0]?.failure, 'timeout');
  });

  it('T-UP-09 stream: a trickle passes as long as no pause is too long', async () => {
    const { gateway, vendor, clock } = stand;
    const holds = STREAM.map((_, i) => `T-UP-09-${i}`);
    vendor.next(eventStream(STREAM.flatMap((event, i) => [hold(holds[i]!), event])));
    const client = await rawConnection(gateway.port);
    await client.write(askText(gateway, 'stream'));
    const answer = client.response();
    for (const [i, name] of holds.entries()) {
      await vendor.waitFor(() => vendor.requests.at(-1)?.holding === name);
      clock.advance(9_000);
      vendor.release(name);
      if (i < holds.length - 1) await client.until(STREAM[i]!);
    }
    const { text, complete } = await answer;
    assert.equal(text.replaceAll(': keep-alive\n\n', ''), STREAM.join(''));
    assert.equal(complete, true);
    client.abort();
  });

  it('T-UP-09 stream: a trickle is cut off when the whole takes too long', async () => {
    const { gateway, vendor, clock } = stand;
    const holds = STREAM.slice(0, 4).map((_, i) => `brief-${i}`);
    vendor.next(eventStream(STREAM.flatMap((event, i) => [hold(holds[i] ?? 'never'), event])));
    const client = await rawConnection(gateway.port);
    await client.write(askText(gateway, 'stream', 'brief-model'));
    const coming = client.response();
    for (const [i, name] of holds.entries()) {
      await vendor.waitFor(() => vendor.requests.at(-1)?.holding === name);
      clock.advance(9_000);
      if (i === holds.length - 1) break;
      vendor.release(name);
      await client.until(STREAM[i]!);
    }
    const answer = await coming;
    client.abort();
    checkTold(answer, { brokeOff: 'upstream_broke_off', after: BEGUN });
    checkCharge(recordOf(gateway, answer), 'delivered', answer);
  });

  it('T-UP-02 whole: without a word in the configuration patience is ten minutes', async () => {
    const { gateway, vendor, clock } = stand;
    const seen = vendor.requests.length;
    vendor.next([silence()]);
    const client = await rawConnection(gateway.port);
    await client.write(askText(gateway, 'whole', 'patient-model'));
    const answer = client.response();
    await vendor.waitFor(() => vendor.requests.length > seen);
    clock.advance(599_000);
    await turns();
    assert.equal(client.received.length, 0);
    clock.advance(1_100);
    checkTold(await answer, { status: 504, code: 'upstream_timeout' });
    client.abort();
  });

  it('T-UP-12 whole: of a gigabyte of explanation only the beginning is read', async () => {
    const { vendor } = stand;
    await suffer(stand, FAULTS.find(({ name }) => name.includes('gigabyte'))!);
    await vendor.waitFor(() => vendor.requests.at(-1)?.state === 'aborted');
    assert.ok(vendor.requests.at(-1)!.sentBytes < 32 << 20, `${vendor.requests.at(-1)!.sentBytes} bytes were taken`);
  });

  it('T-UP-15 whole: a connection with unasked bytes on it is not used again', async () => {
    const { gateway, vendor } = stand;
    vendor.next([...WHOLE, bytes('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\npoison')]);
    for (let i = 0; i < 2; i++) {
      const { text } = await rawRequest(gateway.port, askText(gateway, 'whole'));
      assert.ok(!text.includes('poison'));
    }
    const [first, second] = vendor.requests.slice(-2);
    assert.notEqual(first?.connection, second?.connection);
  });

  for (const status of [400, 413]) {
    it(`T-UP-16 whole: it says ${status} while the request is still being sent`, async () => {
      const { gateway, vendor } = stand;
      const said = errorAnswer(status);
      vendor.next([atHead(), stopReading(), ...said, silence()]);
      const large = JSON.stringify(chatRequest({ model: 'test-model', max_tokens: 16, user: 'a'.repeat(12 << 20) }));
      const answer = await rawRequest(gateway.port, requestText('POST', CHAT_PATH, callHeaders(gateway), large));
      checkTold(answer, { relayed: status, code: `vendor_${status}` });
      const record = recordOf(gateway, answer);
      assert.equal(record.attempts[0]?.failure, 'refused');
      assert.equal(record.charged, 0n);
      // What was not sent blocks the old connection; nobody may be made to wait behind it.
      const next = await rawRequest(gateway.port, askText(gateway, 'whole'));
      checkTold(next, { served: JSON.stringify(chatBody({ model: 'test-model' })) });
    });
  }

  it('T-UP-20 whole: a redirect is not followed', async () => {
    const { vendor } = stand;
    const before = vendor.requests.length;
    await suffer(stand, FAULTS.find(({ name }) => name.includes('307'))!);
    assert.equal(vendor.requests.length, before + 1);
  });
});

describe('a kept connection that dies as it is used', () => {
  for (const [how, end] of [
    ['reset', rst()],
    ['closed', fin()],
  ] as const) {
    for (const asked of ['whole', 'stream'] as const) {
      it(`T-UP-21 ${asked}: is replaced by a fresh one where it was ${how}, and the call is charged once`, async () => {
        const stand = await openStand(0);
        const { gateway, vendor } = stand;
        try {
          const calls = [1, 2, 3].map(() => rawRequest(gateway.port, askText(gateway, asked)));
          vendor.always((request) => [hold(), ...(request.json.stream ? streamAnswer() : wholeAnswer())]);
          await vendor.waitFor(3);
          vendor.release();
          await Promise.all(calls);
          assert.equal(vendor.connections, 3);
          // All three have died meanwhile; every connection that comes new is good.
          vendor.always((request) =>
            request.connection <= 3 ? [end] : request.json.stream ? streamAnswer() : wholeAnswer(),
          );
          const answer = await rawRequest(gateway.port, askText(gateway, asked));
          checkTold(answer, { served: asked === 'whole' ? BODY : STREAM.join('') });
          const record = recordOf(gateway, answer);
          assert.equal(record.attempts.length, 1);
          assert.equal(record.attempts[0]?.failure, undefined);
          checkCharge(record, 'usage', answer);
          assert.equal(vendor.requests.length, 5, 'one request that died, and one fresh one');
        } finally {
          await stand.stop();
        }
      });
    }
  }

  for (const [name, answer] of [
    ['switches protocols', [head(101, { upgrade: 'websocket', connection: 'upgrade' }), silence()]],
    ['frames its answer twice', [head(200, { 'content-length': '2', 'transfer-encoding': 'chunked' }), bytes('{}')]],
    ['does not speak HTTP', [bytes('220 mail.example.com ESMTP\r\n'), silence()]],
    ['closes in the middle of its head', [...cutAt(WHOLE, 20, fin())]],
  ] as const) {
    it(`T-UP-21 whole: is not replaced where the vendor ${name}: it has had the request`, async () => {
      const stand = await openStand(0);
      const { gateway, vendor } = stand;
      try {
        await rawRequest(gateway.port, askText(gateway, 'whole'));
        vendor.next(answer);
        checkTold(await rawRequest(gateway.port, askText(gateway, 'whole')), badAnswer);
        assert.equal(vendor.requests.length, 2);
        assert.equal(vendor.requests[1]?.connection, 1);
      } finally {
        await stand.stop();
      }
    });
  }

  it('T-UP-21 whole: is not replaced where it was made for the call, the one before having been closed', async () => {
    const stand = await openStand(0);
    const { gateway, vendor } = stand;
    try {
      await rawRequest(gateway.port, askText(gateway, 'whole'));
      vendor.dropIdle();
      await vendor.waitFor(() => vendor.openConnections === 0);
      vendor.always([rst()]);
      checkTold(await rawRequest(gateway.port, askText(gateway, 'whole')), badAnswer);
      assert.equal(vendor.requests.length, 2);
    } finally {
      await stand.stop();
    }
  });

  it('T-UP-21 whole: is not replaced where it was fresh', async () => {
    const stand = await openStand(0);
    try {
      stand.vendor.always([rst()]);
      const answer = await rawRequest(stand.gateway.port, askText(stand.gateway, 'whole'));
      checkTold(answer, badAnswer);
      assert.equal(stand.vendor.requests.length, 1);
    } finally {
      await stand.stop();
    }
  });
});

describe('a vendor that fails, with another to stand in', () => {
  let stand: Stand;
  before(async () => {
    stand = await openStand(1);
  });
  after(() => stand.stop());
  afterEach(() => {
    // Long enough for the first channel to be tried again.
    stand.clock.advance(600_000);
    checkLog(stand.gateway);
  });

  for (const fault of FAULTS.filter(({ final }) => !final)) {
    it(`T-UP-${fault.row} ${fault.asked}: ${fault.name}`, async () => {
      const answer = await suffer(stand, fault);
      assert.equal(answer.headers['x-turnpike-channel'], 'spare');
      checkTold(answer, { served: servedBySpare(fault) });
      const record = recordOf(stand.gateway, answer);
      checkCharge(record, 'usage', answer);
      assert.deepEqual(
        record.attempts.map(({ failure }) => failure),
        [fault.failure, undefined],
      );
      assert.equal(record.channel, 'spare');
      assert.equal(record.outcome, 'served');
    });
  }

  for (const fault of FAULTS.filter(({ final }) => final)) {
    it(`T-UP-${fault.row} ${fault.asked}: ${fault.name} (nobody else is asked)`, async () => {
      const asked = stand.spare!.requests.length;
      const answer = await suffer(stand, fault);
      checkTold(answer, fault.told);
      assert.deepEqual(
        recordOf(stand.gateway, answer).attempts.map(({ channel }) => channel),
        ['main'],
      );
      assert.equal(stand.spare!.requests.length, asked);
    });
  }
});

/** What the good vendor answers. */
function servedBySpare({ asked, model = 'test-model' }: Fault): string {
  return asked === 'whole' ? JSON.stringify(chatBody({ model })) : chatEvents({ model }).join('');
}
