/** Whatever a vendor of any shape does wrong, as a client of any style is told it: the table of faults once more for each pair. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { FailureKind } from '../../../core/contracts/formats/call.ts';
import type { JsonObject } from '../../../core/plugin.ts';
import type { RawResponse } from '../../kit/clients/raw-client.ts';
import { VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import type { Scenario, SpeechName } from '../../kit/speech.ts';
import {
  chunk,
  cutAt,
  eventStream,
  fin,
  hold,
  htmlAnswer,
  inPieces,
  jsonAnswer,
  type Move,
  rst,
  sized,
} from '../../kit/vendors/script.ts';
import { cost } from '../operations/bench.ts';
import {
  type Asked,
  CLIENT_NAMES,
  checkDiscreet,
  checkServed,
  costOf,
  DELTAS,
  EVENTS,
  FIRST,
  heldOf,
  INSTEAD,
  isSameStyle,
  openStyleBench,
  outputAfter,
  PAIRS,
  type Pair,
  SAID,
  type Saying,
  type StyleBench,
  textAfter,
  type Voice,
} from '../operations/style-bench.ts';
import { CLIENTS } from './style-clients.ts';

/** What the client is told. */
type Outcome =
  | 'served'
  /** An error of ours, of this status and code. */
  | { readonly status: number; readonly code: string }
  /** What the vendor says, with this status. */
  | { readonly relayed: number }
  /** So many of the vendor's events, then an error of this code inside the stream; undefined: the vendor's own. */
  | { readonly brokeOff: string | undefined; readonly after: number };

interface Fault {
  /** Of `T-UP-…`: the row of the fault matrix it belongs to. */
  readonly row: string;
  readonly name: string;
  readonly asked: Asked;
  /** Undefined: it is not reached. */
  readonly says: Saying | undefined;
  readonly told: Outcome;
  /** What the channel is blamed for. */
  readonly failure: FailureKind | undefined;
  /** No other channel is asked: the request is to blame, or the answer has begun. */
  readonly final: boolean;
  /** Only with nobody to stand in: the same fault of a stream shows that another does. */
  readonly alone?: true;
  /** The bytes that a client of the vendor's own style gets, where they are not its events. */
  readonly bytes?: (voice: Voice) => string;
}

/** The vendor says nothing more. */
const MUTE_NAME = 'mute';
const MUTE = hold(MUTE_NAME);
const OVER_IDLE_MS = 11_000;
const BUSY_S = 7;
const WORDS = 'The vendor is unwell.';
const PING: Readonly<Record<SpeechName, string>> = {
  chat: ': ping\n\n',
  responses: 'event: keepalive\ndata: {"type":"keepalive","sequence_number":0}\n\n',
  messages: 'event: ping\ndata: {"type":"ping"}\n\n',
  gemini: ': ping\n\n',
};
const NEWS: Readonly<Record<SpeechName, string>> = {
  chat: 'id: 7\ndata: {}\n\n',
  responses: 'event: response.news\nid: 7\ndata: {"type":"response.news","sequence_number":9.5}\n\n',
  messages: 'event: news\nid: 7\ndata: {"type":"news"}\n\n',
  gemini: 'id: 7\ndata: {}\n\n',
};
const stream: Saying = ({ events }) => eventStream(events);
const whole: Saying = (voice) => jsonAnswer(200, voice.whole);
const fails =
  (status: number, more = {}): Saying =>
  ({ speech }) =>
    jsonAnswer(status, speech.error(status, WORDS), more);
/** The stream up to the second piece of the text, then something else. */
const dies =
  (...end: readonly (string | Move)[]): Saying =>
  ({ wire, events }) =>
    eventStream([...events.slice(0, FIRST[wire] + 2), ...end]);
const halfOf = (event: string): string => event.slice(0, event.length / 2);
/** With a member that is nested deeper than anything a vendor means. */
const deep = (json: string): string => json.replace('{', `{"odd":${'['.repeat(100_000)}${']'.repeat(100_000)},`);

const badAnswer = { status: 502, code: 'bad_upstream_response' } as const;
const late = { status: 504, code: 'upstream_timeout' } as const;
const unable = { status: 502, code: 'upstream_error' } as const;
const ourWords = { status: 400, code: 'invalid_request_error' } as const;

/** The vendor's first word is no answer. */
const spoiled = (row: string, asked: Asked, name: string, says: Saying, told: Outcome = badAnswer): Fault => ({
  row,
  name,
  asked,
  says,
  told,
  failure: told === late ? 'timeout' : 'broken',
  final: false,
});
/** The same, whatever was asked for. */
const both = (fault: Omit<Fault, 'asked'>): readonly Fault[] => [
  { ...fault, asked: 'whole', alone: true },
  { ...fault, asked: 'stream' },
];
const neither = (row: string, name: string, says: Saying, told: Outcome = badAnswer): readonly Fault[] =>
  both(spoiled(row, 'stream', name, says, told));
/** An error status. */
const refusal = (name: string, says: Saying, told: Outcome, failure: FailureKind, final = false): Fault => ({
  row: '11',
  name,
  asked: 'stream',
  says,
  told,
  failure,
  final,
});
/** Odd, and an answer all the same. */
const fine = (row: string, name: string, says: Saying, bytes?: Fault['bytes']): Fault => ({
  row,
  name,
  asked: 'stream',
  says,
  told: 'served',
  failure: undefined,
  final: true,
  ...(bytes && { bytes }),
});
/** The stream with other line ends, or something between its events. */
const altered = (name: string, alter: (events: readonly string[]) => string): Fault =>
  fine(
    '08',
    name,
    ({ events }) => eventStream([alter(events)]),
    ({ events }) => alter(events),
  );
const between =
  (odd: string) =>
  (events: readonly string[]): string =>
    [...events.slice(0, -3), odd, ...events.slice(-3)].join('');
const withLineEnds =
  (end: string) =>
  (events: readonly string[]): string =>
    events.join('').replaceAll('\r\n', '\n').replaceAll('\n', end);

const MIB = Buffer.alloc(1 << 20, 0x61);

/** What goes wrong in the same way whoever asks. */
const COMMON: readonly Fault[] = [
  ...both({
    row: '01',
    name: 'the connection is refused',
    says: undefined,
    told: { status: 502, code: 'upstream_unreachable' },
    failure: 'connect',
    final: false,
  }),
  ...neither('02', 'it accepts and never answers', () => [MUTE], late),
  ...neither('07', 'it closes without a byte of an answer', () => [fin()]),
  ...neither('04', 'it resets the connection inside its head', (voice) => cutAt(whole(voice), 20)),
  ...neither('10', 'HTML comes', () => htmlAnswer()),
  ...neither('10', 'the JSON is cut', (voice) =>
    sized(200, 'application/json', JSON.stringify(voice.whole).slice(0, -10)),
  ),
  ...neither('10', 'it is null', () => sized(200, 'application/json', 'null')),
  ...neither('10', 'it is another kind of object', () => jsonAnswer(200, { object: 'list', data: [] })),
  ...neither('17', 'an error comes with status 200', fails(200)),
  spoiled('02', 'stream', 'nothing follows its head', () => eventStream([MUTE]), late),
  spoiled('03', 'whole', 'it falls silent inside a whole answer', (voice) => cutAt(whole(voice), -20, MUTE), late),
  spoiled('04', 'whole', 'it resets the connection inside a whole answer', (voice) => cutAt(whole(voice), -20, rst())),
  spoiled('05', 'whole', 'it closes before the declared length', (voice) => cutAt(whole(voice), -1, fin())),
  spoiled('10', 'whole', 'a stream comes that nobody asked for', stream),
  spoiled('10', 'whole', 'its answer is nested too deeply', (voice) =>
    sized(200, 'application/json', deep(JSON.stringify(voice.whole))),
  ),
  spoiled('10', 'stream', 'its stream begins with an event that is nested too deeply', ({ events: [first, ...rest] }) =>
    eventStream([deep(first!), ...rest]),
  ),
  fine('10', 'a whole answer comes although a stream was asked for', whole),

  ...both(refusal('it refuses the request (400)', fails(400), { relayed: 400 }, 'refused', true)),
  refusal('it finds the request too large (413)', fails(413), { relayed: 413 }, 'refused', true),
  refusal('it does not take our key (401)', fails(401), unable, 'credential'),
  refusal('it does not know the model (404)', fails(404), { relayed: 404 }, 'status'),
  ...both(refusal('it is busy (429)', fails(429, { 'retry-after': String(BUSY_S) }), { relayed: 429 }, 'busy')),
  ...both(refusal('it fails (500)', fails(500), unable, 'status')),
  refusal('it is unavailable (503)', fails(503), { relayed: 503 }, 'status'),
  refusal('it is overloaded (529)', fails(529), { relayed: 529 }, 'busy'),
  refusal('it refuses in HTML', () => htmlAnswer(400), ourWords, 'refused', true),
  refusal('it fails in HTML', () => htmlAnswer(502), unable, 'status'),
  refusal('it refuses without a word', () => sized(400, 'application/json', ''), ourWords, 'refused', true),
  refusal('it fails without a word', () => sized(500, 'application/json', ''), unable, 'status'),
  refusal(
    'it refuses and tells our key',
    ({ speech }) => jsonAnswer(400, speech.error(400, `Bad: ${VENDOR_KEY}`)),
    ourWords,
    'refused',
    true,
  ),
  refusal(
    'it refuses and tells where it is',
    ({ speech, url }) => jsonAnswer(400, speech.error(400, `Not here: ${url}`)),
    ourWords,
    'refused',
    true,
  ),
  refusal('its explanation breaks off', (voice) => cutAt(fails(500)(voice), -5), unable, 'status'),

  spoiled('07', 'stream', 'its stream has no events', () => eventStream([])),
  spoiled('07', 'stream', 'its stream has only comments', () => eventStream([': one\n\n', ': two\n\n'])),
  spoiled('07', 'stream', 'its stream has only signs of life', ({ wire }) => eventStream([PING[wire], PING[wire]])),
  spoiled('07', 'stream', 'comments come, and then silence', () => eventStream([': one\n\n', MUTE]), late),
  spoiled('17', 'stream', 'its first event is an error', ({ speech }) => eventStream([speech.errorEvent(WORDS)])),
  spoiled('17', 'stream', 'an error follows a sign of life', ({ wire, speech }) =>
    eventStream([PING[wire], speech.errorEvent(WORDS)]),
  ),

  fine(
    '08',
    'characters are split between packets',
    ({ events }) => inPieces(eventStream([events.join('')]), 2),
    ({ events }) => events.join(''),
  ),
  altered('lines end with CR alone', withLineEnds('\r')),
  altered('lines end with CRLF', withLineEnds('\r\n')),
  altered('it begins with a byte order mark', (events) => `\uFEFF${events.join('')}`),
  altered('a comment comes between', between(': hm\n\n')),
  fine(
    '08',
    'an unknown event comes between',
    ({ wire, events }) => eventStream([between(NEWS[wire])(events)]),
    ({ wire, events }) => between(NEWS[wire])(events),
  ),
  altered('a large event comes between', between(`: ${'a'.repeat(2 << 20)}\n\n`)),
];

/** What depends on how far the answer has come. */
function faultsOf(pair: Pair): readonly Fault[] {
  const { wire } = pair;
  const held = heldOf(pair);
  const begun = FIRST[wire] + 2;
  const last = EVENTS[wire] - 1;
  const brokeOff = (name: string, says: Saying, more: Partial<Fault> = {}): Fault => ({
    row: '05',
    name,
    asked: 'stream',
    says,
    told: { brokeOff: 'upstream_broke_off', after: begun },
    failure: 'broken',
    final: true,
    ...more,
  });
  /** So many events, and the end of the connection behind them. */
  const cut = (row: string, how: string, count: number, end: readonly Move[]): Fault => {
    const name = `${how} after event ${count} of ${EVENTS[wire]}`;
    const says: Saying = ({ events }) => eventStream([...events.slice(0, count), ...end]);
    if (count <= held) return spoiled(row, 'stream', name, says);
    return brokeOff(name, says, { row, told: { brokeOff: 'upstream_broke_off', after: count } });
  };
  // From here on it has said why it ends: two styles do so before their last event.
  const ending = { chat: last - 1, responses: last + 1, messages: last, gemini: last + 1 }[wire];
  return [
    ...Array.from({ length: ending - 1 }, (_, i) => cut('07', 'its stream ends', i + 1, [])),
    cut('04', 'it resets the connection', 1, [rst()]),
    cut('04', 'it resets the connection', begun, [rst()]),
    cut('05', 'it closes', begun, [fin()]),
    cut('05', 'it closes', last, [fin()]),
    ...(ending <= last
      ? [
          fine(
            '06',
            'its stream lacks the last event',
            ({ events }) => eventStream(events.slice(0, -1)),
            ({ events }) => events.join(''),
          ),
        ]
      : []),
    wire !== 'gemini'
      ? fine(
          '05',
          'it closes behind its last event, but does not end its answer',
          ({ events }) => eventStream([...events, fin()]),
          ({ events }) => events.join(''),
        )
      : cut('05', 'it closes, and does not end its answer,', EVENTS[wire], [fin()]),
    fine(
      '08',
      'its last event lacks the blank line',
      ({ events }) => eventStream([events.join('').trimEnd()]),
      ({ events }) => events.join(''),
    ),
    brokeOff('it closes inside an event', (voice) => dies(halfOf(voice.events[begun]!), fin())(voice)),
    brokeOff('its stream ends inside an event', (voice) => dies(halfOf(voice.events[begun]!))(voice)),
    brokeOff('it closes inside a chunk', (voice) => cutAt(dies(chunk(voice.events[begun]!))(voice), -8, fin())),
    brokeOff('it falls silent in the middle', dies(MUTE), {
      row: '03',
      told: { brokeOff: 'upstream_broke_off', after: begun },
      failure: 'timeout',
    }),
    brokeOff('a line of nine megabytes comes', dies(...Array<Move>(9).fill(chunk(MIB)), MUTE), { row: '08' }),
    brokeOff('an event comes that is nested too deeply', (voice) => dies(deep(voice.events[begun]!))(voice)),
    brokeOff('it gives up in the middle', (voice) => dies(voice.speech.errorEvent(WORDS))(voice), {
      row: '17',
      told: { brokeOff: undefined, after: begun },
    }),
    brokeOff('it gives up and tells our key', (voice) => dies(voice.speech.errorEvent(`Bad: ${VENDOR_KEY}`))(voice), {
      row: '17',
      told: { brokeOff: 'upstream_error', after: begun },
    }),
    ...(held === 0
      ? []
      : [
          spoiled('17', 'stream', 'an error follows what shows nothing of the answer', ({ events, speech }) =>
            eventStream([...events.slice(0, held), speech.errorEvent(WORDS)]),
          ),
          spoiled(
            '03',
            'stream',
            'it falls silent before it shows anything of the answer',
            ({ events }) => eventStream([...events.slice(0, held), PING[wire], ': one\n\n', MUTE]),
            late,
          ),
        ]),
    ...(wire === 'responses' ? failedResponses(begun) : []),
  ];
}

/** Vendors of this style have a status for an answer that failed, and an event of that name. */
function failedResponses(begun: number): readonly Fault[] {
  const failed = ({ whole }: Voice) => ({
    ...whole,
    status: 'failed',
    output: [],
    usage: null,
    error: { code: 'server_error', message: WORDS },
  });
  const event = (voice: Voice) => {
    const data = { type: 'response.failed', sequence_number: 99, response: failed(voice) };
    return `event: response.failed\ndata: ${JSON.stringify(data)}\n\n`;
  };
  return [
    spoiled('17', 'whole', 'a whole answer says that it failed', (voice) => jsonAnswer(200, failed(voice))),
    spoiled('17', 'stream', 'it says that it failed before it begins', (voice) =>
      eventStream([...voice.events.slice(0, 2), event(voice)]),
    ),
    {
      ...spoiled('17', 'stream', 'it says that it failed in the middle', (voice) => dies(event(voice))(voice)),
      told: { brokeOff: undefined, after: begun },
      final: true,
    },
  ];
}

/** Asks for what the fault is about and lets the vendor do its worst. */
async function suffer(
  { vendor, clock, prepare, call }: StyleBench,
  pair: Pair,
  fault: Fault,
  backed: boolean,
): Promise<{ readonly answer: RawResponse; readonly voice: Voice | undefined }> {
  let voice: Voice | undefined;
  const { says, told, failure } = fault;
  if (says !== undefined) {
    await prepare((it) => {
      voice = it;
      return says(it);
    });
  }
  const seen = vendor.requests.length;
  const there = backed ? 'backed' : 'alone';
  const absent = backed ? 'absent-backed' : 'absent';
  const client = await call(pair, fault.asked, says === undefined ? absent : there);
  if (failure === 'timeout') {
    await vendor.waitFor(() => vendor.requests[seen]?.holding === MUTE_NAME);
    if (told !== late) await client.until(DELTAS[1]);
    clock.advance(OVER_IDLE_MS);
  }
  const answer = await client.response();
  await vendor.waitFor(() => vendor.inFlight === 0);
  return { answer, voice };
}

function checkTold(pair: Pair, fault: Fault, answer: RawResponse, voice: Voice | undefined): void {
  const style = CLIENTS[pair.client];
  const { told } = fault;
  if (told === 'served') {
    checkServed(style, fault.asked, answer);
    if (isSameStyle(pair) && fault.bytes !== undefined) {
      assert.ok(answer.text === fault.bytes(voice!), 'every byte, as it came');
    }
    return;
  }
  if ('brokeOff' in told) {
    assert.equal(answer.status, 200);
    const heard = style.stream(answer.text);
    assert.equal(heard.text, textAfter(pair.wire, told.after));
    assert.equal(heard.ended, false, 'no good ending');
    // A stream that was cut is cut, without an event; one that ended too early has one.
    const isCut = heard.error === undefined;
    if (isCut)
      assert.ok(told.brokeOff === 'upstream_broke_off' && pair.client !== 'responses', 'an error ends the stream');
    if (told.brokeOff === undefined) {
      assert.ok(String(heard.error?.message).includes(WORDS), 'the vendor’s own words');
    } else {
      // Only general codes are known inside a response.
      if (!isCut) assert.equal(heard.error?.code, pair.client === 'responses' ? 'server_error' : told.brokeOff);
      assert.equal(answer.complete, false, 'a part must not look like the whole');
    }
    if (isSameStyle(pair)) {
      const begun = voice!.events.slice(0, told.after).join('');
      assert.ok(answer.text.startsWith(begun), 'every byte, as it came');
    } else if (pair.client === 'responses') {
      assert.equal(heard.error?.event, 'response.failed');
    }
    return;
  }
  assert.equal(answer.complete, true);
  assert.equal(answer.headers['content-type'], 'application/json');
  const isOverloaded = 'relayed' in told && (told.relayed === 503 || told.relayed === 529);
  const status = 'relayed' in told ? told.relayed : told.status;
  // Between two styles each says that a vendor is overloaded with its own status.
  const own = isOverloaded && !isSameStyle(pair) ? (pair.client === 'messages' ? 529 : 503) : status;
  assert.equal(answer.status, own);
  const body = JSON.parse(answer.text) as JsonObject;
  if ('relayed' in told && isSameStyle(pair)) {
    assert.deepEqual(body, completed(voice!.speech.error(told.relayed, WORDS), answer));
  } else {
    const { code, message } = style.refusal(body, answer.headers['x-request-id'] ?? '');
    if ('code' in told) assert.equal(code, told.code);
    // Of its limits a vendor talks to whoever pays it.
    else if (told.relayed === 429) assert.equal(code, 'rate_limit_exceeded');
    else if (isOverloaded) assert.equal(code, 'upstream_overloaded');
    else assert.equal(message, WORDS);
  }
  if (answer.status === 429) {
    assert.equal(answer.headers['retry-after'], 'relayed' in told ? String(BUSY_S) : '1');
  }
}

/** A vendor's refusal with what all refusals have: four members, and our request id. */
function completed(refusal: JsonObject, { headers }: RawResponse): JsonObject {
  return {
    ...refusal,
    error: { param: '', code: '', ...(refusal.error as JsonObject) },
    ...('request_id' in refusal && { request_id: headers['x-request-id'] ?? '' }),
  };
}

function checkBooked(bench: StyleBench, pair: Pair, fault: Fault, answer: RawResponse): void {
  const record = bench.recordOf(answer);
  const { told } = fault;
  assert.deepEqual(
    record.attempts.map(({ failure }) => failure),
    [fault.failure],
  );
  if (told === 'served') {
    assert.equal(record.outcome, 'served');
    assert.equal(record.charged, costOf(SAID));
  } else if ('brokeOff' in told) {
    assert.equal(record.outcome, 'failed');
    assert.equal(record.output, outputAfter(pair, told.after));
    // Two vendors have told what the question has by then.
    if (pair.wire === 'messages' || pair.wire === 'gemini') assert.equal(record.input, SAID.usage.input);
    assert.equal(record.charged, cost({ prompt: record.input ?? 0, completion: record.output ?? 0 }));
    assert.ok(record.charged > 0n, 'what was delivered is charged');
  } else {
    assert.equal(record.outcome, fault.failure === 'refused' ? 'refused' : 'failed');
    assert.equal(record.charged, 0n);
  }
}

/** More tokens than the question can have. */
const MOST_INPUT = 1_500;

/** Usages no vendor should tell. */
const ODD_USAGES: readonly (readonly [name: string, usage: Scenario['usage']])[] = [
  ['negative', { input: -5, cached: 0, output: -1_000_000, reasoning: 0 }],
  ['a fraction', { input: 1.5, cached: 0, output: 2.5, reasoning: 0 }],
  ['10^30 tokens', { input: 1e30, cached: 0, output: 1e30, reasoning: 0 }],
  ['more cached than sent', { input: 5, cached: 9, output: 1, reasoning: 0 }],
];

for (const name of CLIENT_NAMES) {
  describe(`a client of the style ${name}`, () => {
    let bench: StyleBench;
    before(async () => {
      bench = await openStyleBench();
    });
    after(() => bench.stop());
    afterEach(() => bench.checkQuiet());

    for (const pair of PAIRS.filter(({ client }) => client === name)) {
      describe(`and a vendor that speaks ${pair.wire}`, () => {
        for (const fault of [...COMMON, ...faultsOf(pair)]) {
          const title = `T-UP-${fault.row} ${fault.asked}: ${fault.name}`;
          if (!fault.final && !fault.alone) {
            it(`${title}, with another to stand in`, async () => {
              const { answer } = await suffer(bench, pair, fault, true);
              checkDiscreet(answer, bench.vendor, bench.spare);
              checkServed(CLIENTS[name], fault.asked, answer, INSTEAD);
              assert.match(answer.headers['x-turnpike-channel'] ?? '', /^spare-/);
              const record = bench.recordOf(answer);
              assert.deepEqual(
                record.attempts.map(({ failure }) => failure),
                [fault.failure, undefined],
              );
              assert.equal(record.outcome, 'served');
              assert.equal(record.charged, costOf(INSTEAD));
            });
          }
          it(`${title}, ${fault.final ? 'and nobody else is asked' : 'with nobody to stand in'}`, async () => {
            const { answer, voice } = await suffer(bench, pair, fault, fault.final);
            checkTold(pair, fault, answer, voice);
            checkDiscreet(answer, bench.vendor, bench.spare);
            checkBooked(bench, pair, fault, answer);
          });
        }

        for (const [what, usage] of ODD_USAGES) {
          for (const asked of ['whole', 'stream'] as const) {
            it(`T-UP-18 ${asked}: its usage is ${what}`, async () => {
              await bench.prepare(asked === 'whole' ? whole : stream, { ...SAID, usage });
              const answer = await (await bench.call(pair, asked)).response();
              const style = CLIENTS[name];
              const heard = asked === 'whole' ? style.whole(JSON.parse(answer.text)) : style.stream(answer.text);
              assert.equal(heard.text, DELTAS.join(''));
              assert.equal(heard.ended, true);
              const { charged } = bench.recordOf(answer);
              const most = cost({ prompt: MOST_INPUT, completion: 16 });
              assert.ok(charged >= 0n && charged <= most, `${charged} of at most ${most}`);
            });
          }
        }
      });
    }
  });
}
