/** What the client makes of answers on the wire, however they are cut: good ones, followed ones, bad ones and broken ones. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import type { Upstream } from '../../../core/upstream/upstream.ts';
import { type FakeVendor, fakeVendor } from '../../kit/vendors/fake-vendor.ts';
import { bytes, fin, hold, jsonAnswer, type Move, rst, type Script, silence } from '../../kit/vendors/script.ts';
import {
  BAD_ANSWERS,
  type BadAnswer,
  CUT_ANSWERS,
  FOLLOWED_ANSWERS,
  GOOD_ANSWERS,
  type GoodAnswer,
  type WireAnswer,
} from './answers.ts';
import { open, send as sendTo, type Told } from './told.ts';

const wireBytes = (wire: string): Move => bytes(Buffer.from(wire, 'latin1'));
/** Nothing is written for a turn of the loop: what was written before is read by itself. */
const TURN = bytes('');

/** The answer in these pieces. */
function scriptOf({ ends }: WireAnswer, pieces: readonly string[], open: readonly Move[] = []): Script {
  const moves = pieces.flatMap((piece, i) => (i === 0 ? [wireBytes(piece)] : [TURN, wireBytes(piece)]));
  return ends === undefined ? [...moves, ...open] : [...moves, ends === 'fin' ? fin() : rst()];
}

/** The whole, and cut in two at every byte. */
function cuts(wire: string): readonly (readonly string[])[] {
  return [[wire], ...Array.from({ length: wire.length - 1 }, (_, at) => [wire.slice(0, at + 1), wire.slice(at + 1)])];
}

describe('answers', () => {
  let vendor: FakeVendor;
  let upstream: Upstream;
  before(async () => {
    vendor = await fakeVendor(jsonAnswer(200, {}));
  });
  after(() => vendor.close());
  beforeEach(() => {
    upstream = open();
  });
  afterEach(() => upstream.close());

  async function answered(script: Script): Promise<Told> {
    vendor.next(script);
    const told = send();
    await told.ended;
    return told;
  }
  const send = (): Told => sendTo(upstream, { origin: `http://127.0.0.1:${vendor.port}` });
  /** The connection of the last request. */
  const connection = (): number => vendor.requests.at(-1)!.connection;

  async function isGood(answer: GoodAnswer): Promise<void> {
    for (const pieces of cuts(answer.wire)) {
      const told = await answered(scriptOf(answer, pieces));
      assert.deepEqual([told.ending, told.status, told.heads, told.endings], ['end', answer.status, 1, 1]);
      assert.equal(told.body, answer.body);
      for (const [name, value] of Object.entries(answer.headers ?? {})) assert.equal(told.headers[name], value, name);
      const before = connection();
      await vendor.waitFor(() => vendor.inFlight === 0);
      await send().ended;
      assert.equal(connection() === before, answer.kept);
    }
  }
  for (const answer of GOOD_ANSWERS) {
    it(`accepts one ${answer.name}`, () => isGood(answer));
  }

  for (const answer of FOLLOWED_ANSWERS) {
    it(`accepts one ${answer.name}, and does not reuse its connection`, async () => {
      const told = await answered(scriptOf(answer, [answer.wire], [silence()]));
      const before = connection();
      const next = send();
      await next.ended;
      assert.deepEqual([next.ending, next.body], ['end', '{}']);
      assert.notEqual(connection(), before);
      assert.deepEqual([told.ending, told.status, told.body], ['end', answer.status, answer.body]);
    });
  }

  it('does not reuse a connection on which unexpected bytes arrive', async () => {
    await answered([
      ...jsonAnswer(200, { ok: 1 }),
      hold('idle'),
      bytes('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil'),
      silence(),
    ]);
    const before = connection();
    vendor.release('idle');
    await vendor.waitFor(() => vendor.openConnections === 0);
    const told = send();
    assert.equal(await told.ended, 'end');
    assert.equal(told.body, '{}');
    assert.notEqual(connection(), before);
  });

  async function isBad(answer: BadAnswer, open: readonly Move[]): Promise<void> {
    const told = await answered(scriptOf(answer, [answer.wire], open));
    const ending = told.ending!;
    const before = connection();
    assert.ok(typeof ending === 'object', 'it was taken for an answer');
    assert.deepEqual([ending.kind, ending.stale, told.endings], ['broken', false, 1]);
    assert.equal(ending.reason, answer.reason);
    await send().ended;
    assert.notEqual(connection(), before);
  }
  for (const answer of BAD_ANSWERS) {
    it(`refuses ${answer.name}`, () => isBad(answer, [silence()]));
  }
  for (const answer of CUT_ANSWERS) {
    it(`refuses one whose connection is ${answer.ends === 'fin' ? 'closed' : 'reset'} ${answer.name}`, () =>
      isBad(answer, []));
  }
});
