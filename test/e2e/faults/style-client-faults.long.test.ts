/** Clients of every style that leave, or do not read, before vendors of every shape; and a gateway that has to cut them off. */

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '../../../core/plugin.ts';
import type { RawConnection } from '../../kit/clients/raw-client.ts';
import { usageRecords } from '../../kit/gateway/usage-records.ts';
import type { Scenario } from '../../kit/speech.ts';
import type { VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { cutAt, eventStream, hold, jsonAnswer } from '../../kit/vendors/script.ts';
import { cost, countedTokens } from '../operations/bench.ts';
import {
  type Asked,
  type Booked,
  checkDiscreet,
  costOf,
  DELTAS,
  EVENTS,
  FIRST,
  HELD,
  isSameStyle,
  NEXT,
  openStyleBench,
  outputAfter,
  PAIRS,
  type Pair,
  SAID,
  type Saying,
  type Standing,
  type StyleBench,
} from '../operations/style-bench.ts';
import { CLIENTS } from './style-clients.ts';

const NEVER = hold('never');
const named = ({ client, wire }: Pair): string => `a client of the style ${client} before a vendor that speaks ${wire}`;

/** When a client leaves, told by the vendor: what it has said by then. */
interface Moment {
  readonly name: string;
  readonly asked: Asked;
  readonly says: Saying;
  /** Of the vendor's events. */
  readonly count: number;
  /** The client waits for this. */
  readonly seen?: string;
  readonly how?: 'finish';
}

function momentsOf({ wire }: Pair): readonly Moment[] {
  const after = (name: string, count: number, more: Partial<Moment> = {}): Moment => ({
    name,
    asked: 'stream',
    says: ({ events }) => eventStream([...events.slice(0, count), NEVER, ...events.slice(count)]),
    count,
    ...more,
  });
  const first = FIRST[wire] + 1;
  // The end of a stream is all that is left where no event says so.
  const last = wire === 'gemini' ? EVENTS[wire] : EVENTS[wire] - 1;
  return [
    { name: 'before the head', asked: 'stream', says: () => [NEVER], count: 0 },
    after('behind the head', 0),
    ...(HELD[wire] > 0 ? [after('behind what shows nothing of the answer', HELD[wire])] : []),
    after('behind the first piece', first, { seen: DELTAS[0] }),
    after('in the middle', first + 2, { seen: DELTAS[2] }),
    after('in the middle, by closing its own half,', first + 2, { seen: DELTAS[2], how: 'finish' }),
    after('before the end', last, { seen: DELTAS[4] }),
  ];
}

/** What is charged: what was delivered, or what the vendor has counted by then. */
function checkCharge(pair: Pair, count: number, { input, output, charged }: Booked): void {
  assert.equal(output, outputAfter(pair, count));
  assert.ok(input !== null && input > 0, 'the question is charged');
  assert.equal(charged, cost({ prompt: input, completion: output ?? 0 }));
}

/** Begins a call, and waits until the vendor holds. */
async function begin(
  { vendor, prepare, call }: StyleBench,
  pair: Pair,
  asked: Asked,
  says: Saying,
  {
    standing = 'alone',
    scenario = SAID,
    key,
  }: { readonly standing?: Standing; readonly scenario?: Scenario; readonly key?: string } = {},
): Promise<{ readonly client: RawConnection; readonly request: VendorRequest }> {
  await prepare(says, scenario);
  const seen = vendor.requests.length;
  const client = await call(pair, asked, standing, key);
  await vendor.waitFor(() => vendor.requests[seen]?.holding !== undefined);
  return { client, request: vendor.requests[seen]! };
}

describe('a client that leaves', () => {
  let bench: StyleBench;
  before(async () => {
    bench = await openStyleBench();
  });
  after(() => bench.stop());
  afterEach(() => bench.checkQuiet());

  for (const pair of PAIRS) {
    describe(named(pair), () => {
      for (const { name, asked, says, count, seen, how = 'abort' } of momentsOf(pair)) {
        it(`T-CL-01 ${name} is charged no more than that, and the vendor is let go`, async () => {
          const { client, request } = await begin(bench, pair, asked, says);
          if (seen !== undefined) await client.until(seen);
          client[how]();
          const [record] = await bench.newRecords();
          await bench.vendor.waitFor(() => request.state === 'aborted');
          assert.equal(record?.outcome, 'aborted');
          assert.deepEqual(
            record?.attempts.map(({ failure }) => failure),
            [undefined],
          );
          checkCharge(pair, count, record!);
        });
      }

      it('T-CL-02 before a whole answer is charged for it all the same: the vendor has worked', async () => {
        const until = `whole ${named(pair)}`;
        const { client, request } = await begin(bench, pair, 'whole', ({ whole }) => [
          hold(until),
          ...jsonAnswer(200, whole),
        ]);
        client.abort();
        await left();
        bench.vendor.release(until);
        const [record] = await bench.newRecords();
        assert.equal(request.state, 'played');
        assert.equal(record?.outcome, 'aborted');
        assert.equal(record?.charged, costOf(SAID));
      });
    });
  }
});

/** Long enough for the gateway to see that a connection has ended. */
async function left(): Promise<void> {
  for (let i = 0; i < 50; i++) await setImmediate();
}

describe('a client that leaves, where the configuration says otherwise', () => {
  let bench: StyleBench;
  before(async () => {
    const onDisconnect = { stream: 'drain', whole: 'cancel' };
    bench = await openStyleBench({ config: { listen: { port: 0, onDisconnect } } });
  });
  after(() => bench.stop());
  afterEach(() => bench.checkQuiet());

  for (const pair of PAIRS) {
    describe(named(pair), () => {
      it('T-CL-02 pays for a whole stream that was read to its end without it', async () => {
        const until = `stream ${named(pair)}`;
        const { client, request } = await begin(bench, pair, 'stream', ({ wire, events }) => {
          const begun = FIRST[wire] + 2;
          return eventStream([...events.slice(0, begun), hold(until), ...events.slice(begun)]);
        });
        await client.until(DELTAS[1]);
        client.abort();
        await left();
        bench.vendor.release(until);
        const [record] = await bench.newRecords();
        await bench.vendor.waitFor(() => request.state === 'played');
        assert.equal(record?.outcome, 'aborted');
        assert.equal(record?.charged, costOf(SAID));
      });

      it('T-CL-02 pays the question where its whole answer was cancelled', async () => {
        const { client, request } = await begin(bench, pair, 'whole', ({ whole }) =>
          cutAt(jsonAnswer(200, whole), -20, NEVER),
        );
        client.abort();
        const [record] = await bench.newRecords();
        await bench.vendor.waitFor(() => request.state === 'aborted');
        assert.equal(record?.outcome, 'aborted');
        checkCharge(pair, 0, record!);
      });
    });
  }
});

describe('a client that does not read', () => {
  let bench: StyleBench;
  before(async () => {
    bench = await openStyleBench();
  });
  after(() => bench.stop());
  afterEach(() => bench.checkQuiet());

  const PIECE = 'a'.repeat(1 << 19);
  /** So many more pieces of half a megabyte. */
  const flooded =
    (count: number): Saying =>
    ({ wire, events }) => {
      const first = FIRST[wire];
      const piece = events[first]!.replace(`"${DELTAS[0]}"`, `"${PIECE}"`);
      // Clients refuse a number that they have seen.
      const [begin = '', end] = piece.split(/(?<="sequence_number":)\d+/);
      const pieces = Array.from({ length: count }, (_, i) =>
        end === undefined ? piece : `${begin}${first - 1}.${100 + i}${end}`,
      );
      return eventStream([...events.slice(0, first), ...pieces, ...events.slice(first)]);
    };

  /** A client that has not read a byte, while its vendor has said as much as the gateway and the network take. */
  async function stalled(
    pair: Pair,
    count: number,
  ): Promise<{ readonly client: RawConnection; readonly request: VendorRequest }> {
    const { vendor, prepare, call } = bench;
    await prepare(flooded(count));
    const seen = vendor.requests.length;
    const client = await call(pair, 'stream', 'free');
    client.pause();
    await vendor.waitFor(() => (vendor.requests[seen]?.sentBytes ?? 0) > PIECE.length);
    const request = vendor.requests[seen]!;
    for (let before = -1; before !== request.sentBytes; ) {
      before = request.sentBytes;
      for (let i = 0; i < 200; i++) await setImmediate();
    }
    return { client, request };
  }

  for (const pair of PAIRS) {
    it(`T-CL-03 makes its vendor wait and is cut off in the end: ${named(pair)}`, async () => {
      const { request } = await stalled(pair, 48);
      assert.equal(request.state, 'answering', 'the vendor has to wait');
      bench.clock.advance(121_000);
      await bench.vendor.waitFor(() => request.state === 'aborted');
      const [record] = await bench.newRecords();
      assert.equal(record?.outcome, 'aborted');
      assert.equal(record?.attempts[0]?.failure, undefined, 'the vendor is not to blame');
      assert.ok((record?.output ?? 0) >= countedTokens(PIECE), 'what was delivered is counted');
    });
  }

  // Every client once as the bytes come, and once through a translation.
  for (const pair of PAIRS.filter((it) => isSameStyle(it) || it.wire === NEXT[it.client])) {
    it(`T-CL-03 gets everything in the end if it goes on reading: ${named(pair)}`, async () => {
      const { client } = await stalled(pair, 20);
      client.resume();
      const { text, ended } = CLIENTS[pair.client].stream((await client.response()).text);
      assert.ok(text === PIECE.repeat(20) + DELTAS.join(''), 'every character, in order');
      assert.equal(ended, true);
    });
  }
});

describe('a call that the gateway cuts off', () => {
  let bench: StyleBench;
  before(async () => {
    bench = await openStyleBench({ config: { listen: { port: 0, drain: '5s' } } });
  });
  after(() => bench.stop());

  /** The error that ends this stream, with the text before it. */
  function brokeOff({ client }: Pair, text: string): { readonly text: string; readonly code: unknown } {
    const heard = CLIENTS[client].stream(text);
    assert.equal(heard.ended, false, 'no good ending');
    if (client === 'responses') assert.equal(heard.error?.event, 'response.failed');
    return { text: heard.text, code: heard.error?.code };
  }
  /** Only general codes are known inside a response. */
  const codeFor = ({ client }: Pair, code: string): string => (client === 'responses' ? 'server_error' : code);

  for (const pair of PAIRS) {
    it(`T-CL-03 because it outran what could be held for it: ${named(pair)}`, async () => {
      const key = await bench.gateway.customer(1_000);
      const scenario = { ...SAID, text: ['b', 'a'.repeat(64 << 10)] };
      const says: Saying = ({ wire, events }) => eventStream([...events.slice(0, FIRST[wire] + 2), NEVER]);
      const { client, request } = await begin(bench, pair, 'stream', says, { scenario, key });
      const answer = await client.response();
      await bench.vendor.waitFor(() => request.state === 'aborted');
      assert.equal(answer.complete, false, 'a part must not look like the whole');
      assert.equal(brokeOff(pair, answer.text).code, codeFor(pair, 'QUOTA_HOLD_EXCEEDED'));
      const record = bench.recordOf(answer);
      assert.equal(record.attempts[0]?.failure, undefined, 'the vendor is not to blame');
      assert.ok(record.charged > 0n, 'what was delivered is charged, as far as it was held');
      await bench.checkQuiet();
    });
  }

  it('because it stops: each is told so in its style, begun or not, and is booked', async () => {
    const { gateway, vendor, clock } = bench;
    const moments: readonly (readonly [asked: Asked, says: Saying, begun: boolean])[] = [
      ['stream', ({ wire, events }) => eventStream([...events.slice(0, FIRST[wire] + 2), NEVER]), true],
      ['stream', () => eventStream([': one\n\n', NEVER]), false],
      ['whole', ({ whole }) => cutAt(jsonAnswer(200, whole), -20, NEVER), false],
    ];
    const calls: { readonly pair: Pair; readonly client: RawConnection; readonly begun: boolean }[] = [];
    for (const pair of PAIRS) {
      for (const [asked, says, begun] of moments) {
        const { client } = await begin(bench, pair, asked, says);
        if (begun) await client.until(DELTAS[1]);
        calls.push({ pair, client, begun });
      }
    }
    const stopped = gateway.gateway.stop();
    await left();
    clock.advance(5_000);
    for (const { pair, client, begun } of calls) {
      const answer = await client.response();
      checkDiscreet(answer, vendor);
      if (begun) {
        assert.deepEqual(brokeOff(pair, answer.text), {
          text: DELTAS.slice(0, 2).join(''),
          code: codeFor(pair, 'shutting_down'),
        });
        assert.equal(answer.complete, false, 'a part must not look like the whole');
      } else {
        assert.equal(answer.status, 503);
        const body = JSON.parse(answer.text) as JsonObject;
        assert.equal(CLIENTS[pair.client].refusal(body, answer.headers['x-request-id'] ?? '').code, 'shutting_down');
      }
    }
    await stopped;
    await vendor.waitFor(() => vendor.inFlight === 0);
    const records = usageRecords(gateway.storeFile).slice(-calls.length);
    for (const { outcome, attempts } of records) {
      assert.equal(outcome, 'failed');
      assert.deepEqual(
        attempts.map(({ failure }) => failure),
        [undefined],
      );
    }
  });
});
