import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createEventSplitter, eventData, eventName, unendedEvent } from '../../../core/bytes/event-splitter.ts';
import { share } from '../../kit/console/whole.ts';
import fc from '../../kit/fast-check.ts';

/** The events of a text fed in pieces, and the rest. */
function split(pieces: readonly Buffer[], maxBytes = 1_000_000): { events: string[]; rest: string } | undefined {
  const splitter = createEventSplitter({ maxBytes });
  const events: string[] = [];
  for (const piece of pieces) {
    const more = splitter.push(piece);
    if (more === undefined) return undefined;
    // Latin-1 keeps every byte apart, also those of a character that was cut.
    events.push(...more.map((event) => event.toString('latin1')));
  }
  return { events, rest: splitter.rest().toString('latin1') };
}

/** The same by definition: lines one by one, an event behind each blank one. A last CR may be half a CRLF, so it waits. */
function byDefinition(text: string): { events: string[]; rest: string } {
  const events: string[] = [];
  let begin = 0;
  for (const line of text.matchAll(/([^\r\n]*)(\r\n|\n|\r)/g)) {
    const end = line.index + line[0].length;
    if (line[2] === '\r' && end === text.length) break;
    if (line[1] !== '') continue;
    events.push(text.slice(begin, end));
    begin = end;
  }
  return { events, rest: text.slice(begin) };
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(i === 0 ? 0 : ends[i - 1], end));
}

const streams = fc
  .array(
    fc.tuple(
      fc.constantFrom('', '', 'data: {"a":1}', 'data:x', ': comment', 'event: error', 'é€', 'id: 1', 'x'.repeat(300)),
      fc.constantFrom('\n', '\r\n', '\r', '\n\n', '\r\n\r\n', '\r\r', ''),
    ),
    { maxLength: 30 },
  )
  .map((lines) => lines.flat().join(''));

describe('splitting a stream into events', () => {
  it('cuts at blank lines, in chunks of any size', () => {
    let cuts = 0;
    fc.assert(
      fc.property(streams, fc.array(fc.nat(), { maxLength: 20 }), (text, places) => {
        const bytes = Buffer.from(text);
        const expected = byDefinition(bytes.toString('latin1'));
        cuts += expected.events.length;
        assert.deepEqual(split([bytes]), expected);
        assert.deepEqual(split(cut(bytes, places)), expected);
        assert.deepEqual(split(Array.from(bytes, (byte) => Buffer.from([byte]))), expected);
        assert.equal(expected.events.join('') + expected.rest, bytes.toString('latin1'));
      }),
      { numRuns: 500 },
    );
    assert.ok(cuts > share(500));
  });

  it('copies nothing if a chunk has whole events', () => {
    const one = Buffer.from('data: a\n\n');
    const splitter = createEventSplitter({ maxBytes: 100 });
    assert.equal(splitter.push(one)?.[0], one);
    const two = Buffer.from('data: a\n\n: b\r\n\r\n');
    const events = splitter.push(two)!;
    assert.deepEqual(events.map(String), ['data: a\n\n', ': b\r\n\r\n']);
    assert.ok(events.every((event) => event.buffer === two.buffer));
    assert.deepEqual(splitter.push(Buffer.alloc(0)), []);
  });

  it('fails if an event is too large, whole or in pieces', () => {
    const event = Buffer.from(`data: ${'x'.repeat(92)}\n\n`);
    assert.equal(event.length, 100);
    const whole = { events: [event.toString()], rest: '' };
    const bytewise = Array.from(event, (byte) => Buffer.from([byte]));
    assert.deepEqual(split([event], 100), whole);
    assert.deepEqual(split(bytewise, 100), whole);
    assert.equal(split([event], 99), undefined);
    assert.equal(split(bytewise, 99), undefined);
    assert.equal(split([Buffer.alloc(100, 'x')], 99), undefined);
    // Small events do not add up.
    assert.equal(split([Buffer.from('data: a\n\n'.repeat(100))], 20)?.events.length, 100);
  });
});

describe('the data after the last blank line of a stream', () => {
  const last = (text: string): string | undefined => unendedEvent(Buffer.from(text))?.toString();

  it('is an event if only the blank line is missing', () => {
    assert.equal(last('data: {"a":1}'), 'data: {"a":1}\n\n');
    assert.equal(last('event: end\r\ndata: {"a":1}\r\n'), 'event: end\r\ndata: {"a":1}\r\n\n');
    assert.equal(last('data: [DONE]'), 'data: [DONE]\n\n');
    assert.equal(last('data: x\r\r'), 'data: x\r\r');
  });

  it('is not an event if it is truncated, or has no data', () => {
    for (const rest of [
      '',
      ': comment',
      'event: message_stop',
      'data: ',
      'data: [DON',
      'data: {"a":1',
      'data: 12',
      'dat',
    ]) {
      assert.equal(last(rest), undefined, rest);
    }
  });
});

describe('reading an event', () => {
  const data = (text: string): string | undefined => eventData(Buffer.from(text));

  it('joins the data lines', () => {
    assert.equal(data('data: {"a":1}\n\n'), '{"a":1}');
    assert.equal(data('data:x\r\n\r\n'), 'x');
    assert.equal(data('data:  two\r\r'), ' two');
    assert.equal(data('data: a\ndata: b\n\n'), 'a\nb');
    assert.equal(data('\uFEFFdata: first\n\n'), 'first');
    assert.equal(data(': c\nevent: x\nid: 3\ndata: é\n\n'), 'é');
    assert.equal(data('data\n\n'), '');
    assert.equal(data('data: no end'), 'no end');
  });

  it('has no data without data lines', () => {
    assert.equal(data(': ping\n\n'), undefined);
    assert.equal(data('\n'), undefined);
    assert.equal(data('database: 1\n\n'), undefined);
  });

  it('has the name of the event', () => {
    assert.equal(eventName(Buffer.from('event: error\ndata: {}\n\n')), 'error');
    assert.equal(eventName(Buffer.from('data: event: error\n\n')), undefined);
  });
});
