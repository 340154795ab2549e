/** A vendor of any shape that takes its time: what keeps a client's connection alive in its style, and how an error is told then. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { RawConnection } from '../../kit/clients/raw-client.ts';
import { eventStream, hold, jsonAnswer, type Move, rst, type Script } from '../../kit/vendors/script.ts';
import {
  checkDiscreet,
  checkServed,
  costOf,
  DELTAS,
  FIRST,
  heldOf,
  INSTEAD,
  isSameStyle,
  openStyleBench,
  PAIRS,
  type Pair,
  type Standing,
  type StyleBench,
  type Voice,
} from '../operations/style-bench.ts';
import { CLIENTS } from './style-clients.ts';

/** How long a client waits for a sign of life, and a little. */
const QUIET_MS = 15_050;
/** How long a vendor may take to begin. */
const PATIENCE_MS = 60_000;
const WORDS = 'The vendor is unwell.';

/** What becomes of a vendor that was silent at first, without a fallback. `own`: the refusal is the vendor's in its own style. */
const ENDINGS: readonly (readonly [name: string, says: (voice: Voice) => Script, code: string, own?: number])[] = [
  ['refuses the request', ({ speech }) => jsonAnswer(400, speech.error(400, WORDS)), 'invalid_request_error', 400],
  ['is busy', ({ speech }) => jsonAnswer(429, speech.error(429, WORDS)), 'rate_limit_exceeded', 429],
  ['fails', ({ speech }) => jsonAnswer(503, speech.error(503, WORDS)), 'upstream_overloaded', 503],
  ['begins with an error', ({ speech }) => eventStream([speech.errorEvent(WORDS)]), 'bad_upstream_response'],
  ['resets the connection', () => [rst()], 'bad_upstream_response'],
];

describe('a client that waits', () => {
  let bench: StyleBench;
  before(async () => {
    bench = await openStyleBench({ timeout: {} });
  });
  after(() => bench.stop());
  afterEach(() => bench.checkQuiet());

  for (const pair of PAIRS) {
    const style = CLIENTS[pair.client];
    const { keepAlive } = style;
    const names = `${pair.client} before ${pair.wire}`;
    let holds = 0;

    /** Begins a stream whose vendor says `before`, nothing for a while, and then `behind`; and waits as long. */
    async function wait(
      before: (voice: Voice) => Script,
      behind: (voice: Voice) => Script,
      options: { readonly seen?: string; readonly standing?: Standing } = {},
    ): Promise<{ readonly client: RawConnection; readonly voice: Voice; readonly goOn: () => void }> {
      const { vendor, clock, prepare, call } = bench;
      const until = `${names} ${++holds}`;
      let voice: Voice | undefined;
      await prepare((it) => {
        voice = it;
        return [...before(it), hold(until), ...behind(it)];
      });
      const client = await call(pair, 'stream', options.standing);
      await vendor.waitFor(() => vendor.requests.at(-1)?.holding === until);
      if (options.seen !== undefined) await client.until(options.seen);
      clock.advance(QUIET_MS);
      await client.until(keepAlive);
      return { client, voice: voice!, goOn: () => vendor.release(until) };
    }
    const chunks = (events: readonly (string | Move)[]): Script => eventStream(events).slice(1);
    const opening = (count: number) => (voice: Voice) =>
      eventStream([...voice.events.slice(0, count), hold()]).slice(0, -1);

    describe(names, () => {
      it('is shown a sign of life before the first token, and then the answer', async () => {
        const { client, voice, goOn } = await wait(
          () => [],
          ({ events }) => eventStream(events),
        );
        goOn();
        const answer = await client.response();
        assert.ok(answer.text.startsWith(keepAlive), answer.text);
        checkServed(style, 'stream', answer);
        if (isSameStyle(pair)) assert.equal(answer.text, keepAlive + voice.events.join(''));
        assert.equal(bench.recordOf(answer).outcome, 'served');
      });

      it('is shown one behind what shows nothing of the answer, and still gets it from another', async () => {
        const held = heldOf(pair);
        const { client, goOn } = await wait(opening(held), () => [rst()], { standing: 'backed' });
        goOn();
        const answer = await client.response();
        assert.ok(answer.text.startsWith(keepAlive), answer.text);
        checkServed(style, 'stream', answer, INSTEAD);
        assert.equal(answer.headers['x-turnpike-channel'], undefined, 'nobody knew who would serve');
        const record = bench.recordOf(answer);
        assert.deepEqual(
          record.attempts.map(({ failure }) => failure),
          ['broken', undefined],
        );
        assert.equal(record.charged, costOf(INSTEAD));
      });

      it('is shown one between two events', async () => {
        const begun = FIRST[pair.wire] + 2;
        const { client, voice, goOn } = await wait(opening(begun), ({ events }) => chunks(events.slice(begun)), {
          seen: DELTAS[1],
        });
        goOn();
        const answer = await client.response();
        checkServed(style, 'stream', answer);
        const at = answer.text.indexOf(keepAlive, answer.text.indexOf(DELTAS[1]));
        assert.ok(at > 0 && at < answer.text.indexOf(DELTAS[2]), answer.text);
        if (isSameStyle(pair)) {
          const { events } = voice;
          assert.equal(answer.text, [...events.slice(0, begun), keepAlive, ...events.slice(begun)].join(''));
        }
      });

      it('gets a whole answer as a stream behind it', async () => {
        const { client, goOn } = await wait(
          () => [],
          ({ whole }) => jsonAnswer(200, whole),
        );
        goOn();
        const answer = await client.response();
        checkServed(style, 'stream', answer);
      });

      for (const [name, says, code, own] of ENDINGS) {
        it(`is told inside the stream that the vendor ${name}`, async () => {
          const { client, goOn } = await wait(() => [], says);
          goOn();
          const answer = await client.response();
          checkFailed(pair, answer, own !== undefined && isSameStyle(pair) ? ownCode(pair, own) : code);
          checkDiscreet(answer, bench.vendor);
          const record = bench.recordOf(answer);
          assert.equal(record.charged, 0n);
          assert.equal(record.attempts.length, 1);
        });
      }

      it('is told inside the stream that the vendor stays silent', async () => {
        const { client } = await wait(
          () => [],
          () => [],
        );
        bench.clock.advance(PATIENCE_MS);
        const answer = await client.response();
        checkFailed(pair, answer, 'upstream_timeout');
        assert.equal(bench.recordOf(answer).attempts[0]?.failure, 'timeout');
      });

      it('leaves, and the vendor is let go', async () => {
        const { client } = await wait(
          () => [],
          () => [],
        );
        client.abort();
        const [record] = await bench.newRecords();
        await bench.vendor.waitFor(() => bench.vendor.requests.at(-1)?.state === 'aborted');
        assert.equal(record?.outcome, 'aborted');
        assert.equal(record?.output, 0);
      });
    });
  }
});

/** The code in a vendor's own refusal; its messages style has none. */
function ownCode({ client }: Pair, status: number): string {
  return client === 'messages' ? '' : `vendor_${status}`;
}

/** That nothing but signs of life came, then the error in the client's style, and no good ending. */
function checkFailed(
  { client }: Pair,
  answer: { readonly text: string; readonly complete: boolean },
  code: string,
): void {
  const { keepAlive, stream } = CLIENTS[client];
  const { error, text, ended } = stream(answer.text);
  assert.equal(error?.code, code);
  assert.equal(error?.event, client === 'chat' ? '' : 'error');
  assert.equal(text, '');
  assert.equal(ended, false);
  assert.equal(answer.text.replaceAll(keepAlive, '').match(/\n\n/g)?.length, 1, 'the error is the only event');
  assert.equal(answer.complete, false, 'a part must not look like the whole');
}
