/** The parser of the gateway's own client: every answer, cut at every byte. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AnswerParser } from '../../../core/upstream/answer-parser.ts';
import { BAD_ANSWERS, CUT_ANSWERS, FOLLOWED_ANSWERS, GOOD_ANSWERS, type GoodAnswer } from './answers.ts';

/** What was read of the pieces, as far as it went. */
interface Read {
  status: number | undefined;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Undefined: no end. */
  keepMs: number | undefined;
  fault: string | undefined;
}

/** Reads pieces, as one request after the other has them in the same inbox; `fin`: then the connection is closed. */
function read(pieces: readonly Buffer[], fin = false): Read {
  const result: Read = { status: undefined, headers: {}, body: '', keepMs: undefined, fault: undefined };
  const parts: Buffer[] = [];
  const parser = new AnswerParser({
    head(status, headers) {
      assert.equal(result.status, undefined);
      Object.assign(result, { status, headers });
    },
    data(chunk) {
      assert.ok(chunk.length > 0);
      parts.push(chunk);
    },
    end(keepMs) {
      assert.equal(result.keepMs, undefined);
      result.keepMs = keepMs;
    },
  });
  const inbox = Buffer.alloc(1 << 17);
  parser.expect();
  let behind = 0;
  for (const piece of pieces) {
    if (result.fault !== undefined) break;
    if (result.keepMs !== undefined) {
      behind += piece.length;
      continue;
    }
    piece.copy(inbox);
    result.fault = parser.push(inbox, piece.length);
    // What another connection reads next must not change what was told.
    inbox.fill('#', 0, piece.length);
  }
  // The connection sees to what comes when no answer is read any more.
  if (behind > 0) result.keepMs = 0;
  if (fin && result.keepMs === undefined && result.fault === undefined) result.fault = parser.finish();
  result.body = Buffer.concat(parts).toString('latin1');
  return result;
}

const bytesOf = (wire: string): Buffer => Buffer.from(wire, 'latin1');
/** The whole, cut in two at every byte, and byte by byte. */
function* cuts(wire: string): Iterable<readonly Buffer[]> {
  const bytes = bytesOf(wire);
  yield [bytes];
  yield Array.from(bytes, (byte) => Buffer.of(byte));
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
}

describe('the parser of answers', () => {
  const isGood = (answer: GoodAnswer): void => {
    for (const pieces of cuts(answer.wire)) {
      const { status, headers, body, keepMs, fault } = read(pieces, answer.ends === 'fin');
      assert.equal(fault, undefined);
      assert.deepEqual([status, body, keepMs! > 0], [answer.status, answer.body, answer.kept]);
      for (const [name, value] of Object.entries(answer.headers ?? {})) assert.equal(headers[name], value, name);
    }
  };
  for (const answer of GOOD_ANSWERS) it(`reads an answer ${answer.name}`, () => isGood(answer));
  for (const answer of FOLLOWED_ANSWERS)
    it(`does not keep a connection after an answer ${answer.name}`, () => isGood(answer));

  for (const { name, wire, reason } of BAD_ANSWERS) {
    it(`refuses ${name}`, () => {
      // Of long ones only some cuts: each takes as long as the whole.
      const all =
        wire.length < 1_000 ? cuts(wire) : [[bytesOf(wire)], [bytesOf(wire.slice(0, 999)), bytesOf(wire.slice(999))]];
      for (const pieces of all) {
        const { fault, keepMs } = read(pieces);
        assert.deepEqual([fault, keepMs], [reason, undefined]);
      }
    });
  }

  for (const { name, wire, ends, reason } of CUT_ANSWERS) {
    if (ends === 'fin')
      it(`refuses an answer that is closed ${name}`, () => assert.equal(read([bytesOf(wire)], true).fault, reason));
  }

  it('refuses a head of 16 KiB that does not end, byte by byte', () => {
    const wire = `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(16_400)}`;
    assert.equal(
      read(Array.from(bytesOf(wire), (byte) => Buffer.of(byte))).fault,
      'the head of the answer is too large',
    );
  });

  it('reports the data of many small chunks that arrived together once', () => {
    let times = 0;
    const parser = new AnswerParser({
      head() {},
      data(chunk) {
        times++;
        assert.equal(chunk.toString(), 'abc');
      },
      end() {},
    });
    parser.expect();
    const wire = bytesOf(
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n',
    );
    assert.equal(parser.push(wire, wire.length), undefined);
    assert.equal(times, 1);
  });
});
