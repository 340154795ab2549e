/** Streams that are not server-sent events: wherever their bytes are cut, they become the same events, and none that is incomplete. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EventSplitter, eventData, eventName, unendedEvent } from '../../../core/bytes/event-splitter.ts';
import type { FrameFormat, Frames } from '../../../core/contracts/formats/vendor.ts';
import { acceptOf, createFrameSplitter } from '../../../core/upstream/frame-splitter.ts';
import fc from '../../kit/fast-check.ts';

/** A frame is its length in two bytes, a name of one letter (`-`: none, `!`: invalid, `0`: no event), and its data. */
const letters: FrameFormat = {
  mediaType: 'application/x-letters',
  lengthOf: (bytes) => (bytes.length < 2 ? undefined : bytes.readUInt16BE(0)),
  read(frame) {
    const name = frame.toString('utf8', 2, 3);
    if (name === '!') throw new Error('a bad letter');
    if (name === '0') return undefined;
    return { name: name === '-' ? undefined : name, data: frame.toString('utf8', 3) };
  },
};
function frame(name: string, data: string): Buffer {
  const body = Buffer.from(name + data);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(2 + body.length);
  return Buffer.concat([length, body]);
}

const TYPES = { ndjson: 'application/x-ndjson', letters: letters.mediaType } as const;
function splitter(frames: Frames, maxBytes = 100_000): EventSplitter {
  const type = frames === 'ndjson' ? TYPES.ndjson : TYPES.letters;
  return createFrameSplitter(frames, type, maxBytes) ?? assert.fail('these are no such frames');
}
/** The events of these chunks, by name and data; with `rest` what is left becomes the last one if it is complete. */
function eventsOf(
  frames: Frames,
  chunks: readonly Buffer[],
): readonly (readonly [string | undefined, string | undefined])[] {
  const splits = splitter(frames);
  const events = chunks.flatMap((chunk) => splits.push(chunk) ?? assert.fail('it gave up'));
  const last = unendedEvent(splits.rest());
  for (const event of events) assert.match(event.toString(), /\n\n$/);
  return [...events, ...(last === undefined ? [] : [last])].map((event) => [eventName(event), eventData(event)]);
}
/** The same bytes in chunks that end at these places. */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

describe('a stream of JSON lines', () => {
  const text = '{"a":"é 😀"}\r\n\n{"b":\r1}\n   \n{"c":[]}\n';
  const events = [
    [undefined, '{"a":"é 😀"}'],
    [undefined, '{"b": 1}'],
    [undefined, '{"c":[]}'],
  ];

  it('has one event per line, in chunks of any size', () => {
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at++) assert.deepEqual(eventsOf('ndjson', cut(bytes, [at])), events);
    const single = [...bytes].map((byte) => Buffer.from([byte]));
    assert.deepEqual(eventsOf('ndjson', single), events);
  });

  it('has one event per line, with any content and in chunks of any size', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.string())), fc.array(fc.nat()), (values, places) => {
        const lines = values.map((value) => JSON.stringify(value));
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        assert.deepEqual(
          eventsOf('ndjson', cut(bytes, places)),
          lines.map((line) => [undefined, line]),
        );
      }),
    );
  });

  it('has a last event without a line end if it is complete, and not if it is truncated', () => {
    assert.deepEqual(eventsOf('ndjson', [Buffer.from('{"a":1}\n{"b":2}')]), [
      [undefined, '{"a":1}'],
      [undefined, '{"b":2}'],
    ]);
    for (const rest of ['{', '{"b":', '{"b":2', '"b"', '2']) {
      assert.deepEqual(eventsOf('ndjson', [Buffer.from(`{"a":1}\n${rest}`)]), [[undefined, '{"a":1}']]);
    }
  });

  it('has a maximum line size, in one chunk or in many', () => {
    assert.equal(splitter('ndjson', 7).push(Buffer.from('{"a":1}\n'))?.length, 1);
    assert.equal(splitter('ndjson', 6).push(Buffer.from('{"a":1}\n')), undefined);
    assert.equal(splitter('ndjson', 6).push(Buffer.from('{"a":1}')), undefined);
    const pieces = splitter('ndjson', 6);
    assert.deepEqual(pieces.push(Buffer.from('{"a":')), []);
    assert.equal(pieces.push(Buffer.from('1}\n')), undefined);
    assert.equal(pieces.fault?.(), undefined);
  });
});

describe('a stream of frames', () => {
  it('has the event of each frame, in chunks of any size', () => {
    const bytes = Buffer.concat([
      frame('a', '{"x":"é"}'),
      frame('0', 'skipped'),
      frame('-', '1\r\n2\r3'),
      frame('b', ''),
    ]);
    const events = [
      ['a', '{"x":"é"}'],
      [undefined, '1\n2\n3'],
      ['b', ''],
    ];
    for (let at = 0; at <= bytes.length; at++) assert.deepEqual(eventsOf(letters, cut(bytes, [at])), events);
    const single = [...bytes].map((byte) => Buffer.from([byte]));
    assert.deepEqual(eventsOf(letters, single), events);
  });

  it('has no event if it ends inside a frame', () => {
    const bytes = Buffer.concat([frame('a', '1'), frame('b', '{"y":2}')]);
    for (let at = frame('a', '1').length; at < bytes.length; at++) {
      assert.deepEqual(eventsOf(letters, [bytes.subarray(0, at)]), [['a', '1']]);
    }
  });

  it('cannot inject another event through an event name', () => {
    const forger: FrameFormat = { ...letters, read: () => ({ name: 'a\ndata: b\n\ndata: c', data: '{}' }) };
    const [event, ...others] = splitter(forger).push(frame('a', '')) ?? [];
    assert.deepEqual([eventData(event!), others.length], ['{}', 0]);
  });

  it('has a maximum frame size, checked before the bytes arrive', () => {
    assert.equal(splitter(letters, 4).push(frame('a', '1'))?.length, 1);
    assert.equal(splitter(letters, 4).push(frame('a', '12').subarray(0, 2)), undefined);
    const unsure: FrameFormat = { ...letters, lengthOf: () => undefined };
    const waiting = splitter(unsure, 4);
    assert.deepEqual(waiting.push(Buffer.from('1234')), []);
    assert.equal(waiting.push(Buffer.from('5')), undefined);
    assert.equal(waiting.fault?.(), undefined);
  });

  it('reports why a frame is invalid', () => {
    const bad = splitter(letters);
    assert.equal(bad.push(frame('!', '')), undefined);
    assert.equal(bad.fault?.(), 'a frame of the stream is invalid: a bad letter');
    for (const length of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      const odd = splitter({ ...letters, lengthOf: () => length });
      assert.equal(odd.push(Buffer.from('x')), undefined);
      assert.equal(odd.fault?.(), `a frame of the stream is invalid: its length is ${length}`);
    }
  });
});

describe('the content type of a stream', () => {
  it('decides how an answer is read', () => {
    const isOne = (frames: Frames | undefined, type: string): boolean =>
      createFrameSplitter(frames, type, 1) !== undefined;
    for (const type of ['application/x-ndjson', 'application/ndjson; charset=utf-8', 'application/jsonl'])
      assert.ok(isOne('ndjson', type), type);
    for (const type of ['application/json', 'text/html', 'application/x-ndjsonp', ''])
      assert.ok(!isOne('ndjson', type), type);
    assert.ok(isOne(letters, 'application/x-letters; v=1'));
    assert.ok(!isOne(letters, 'application/json'));
    for (const frames of ['sse', undefined] as const) assert.ok(!isOne(frames, 'application/x-ndjson'));
  });

  it('is sent as `accept`', () => {
    assert.deepEqual(
      [undefined, 'sse', 'ndjson', letters].map((frames) => acceptOf(frames as Frames)),
      ['text/event-stream', 'text/event-stream', 'application/x-ndjson', 'application/x-letters'],
    );
  });
});
