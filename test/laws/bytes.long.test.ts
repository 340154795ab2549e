/** How a stream is cut into packets changes nothing: neither what the client gets nor what is counted. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { createEventSplitter } from '../../core/bytes/event-splitter.ts';
import type { Part } from '../../core/contracts/formats/conversation.ts';
import type { StreamRelay, Style } from '../../core/contracts/formats/style.ts';
import type { Parties } from '../../core/delivery/parties.ts';
import { translateAnswer } from '../../core/delivery/translate.ts';
import { createRestorer, NOTHING_CHANGED } from '../../core/translation/adapt/restore.ts';
import { collectWarnings } from '../../core/translation/warnings/warnings.ts';
import { gemini } from '../../plugins/vendors/gemini/style.ts';
import { streamsOf } from '../kit/conversations/conversations.ts';
import fc from '../kit/fast-check.ts';
import { ANY_CALL } from '../kit/gateway/calls.ts';
import { SCENARIOS, SPEECHES } from '../kit/vendors/scenarios.ts';
import { replies } from './answers.ts';
import { CLIENTS, FROM, written } from './halves.ts';
import { law } from './law.ts';

/** Where the packets end, and how the lines do. */
interface Packets {
  readonly cuts: readonly number[];
  readonly lineEnd: string;
  readonly comment: string;
}

const packets: fc.Arbitrary<Packets> = fc.record({
  // Often right where an event ends, or a byte beside.
  cuts: fc.array(fc.nat(), { maxLength: 12 }),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  comment: fc.constantFrom('', ': keep-alive\n\n', ': {"a":1}\n'),
});
const streams: fc.Arbitrary<readonly Part[]> = fc
  .tuple(replies, fc.boolean())
  .chain(([reply, together]) => streamsOf(reply, together));
const scenarios = fc.constantFrom(...Object.values(SCENARIOS));

describe('the packets of a stream', () => {
  for (const vendor of CLIENTS) {
    law(
      `of ${vendor.name} do not show in what passes byte for byte`,
      80,
      fc.tuple(streams, packets),
      ([parts, how]) => {
        const bytes = encoded(written(vendor.asked, parts), how);
        const relay = (): StreamRelay =>
          vendor.style.relay.stream!({ hideUsage: true, call: ANY_CALL, warnings: collectWarnings({}) });
        same(relay, bytes, how);
      },
    );

    for (const client of CLIENTS) {
      if (client === vendor) continue;
      law(
        `of ${vendor.name} do not show in its translation for ${client.name}`,
        60,
        fc.tuple(streams, packets),
        ([parts, how]) => {
          const bytes = encoded(written(vendor.asked, parts), how);
          const relay = (): StreamRelay => translation(client.style, vendor.style);
          same(relay, bytes, how);
        },
      );
    }
  }

  for (const client of CLIENTS) {
    law(
      `of gemini do not show in its translation for ${client.name}`,
      40,
      fc.tuple(scenarios, packets),
      ([scenario, how]) => {
        const stream = SPEECHES.gemini.events(scenario, {}).join('').replaceAll('\r\n', '\n');
        const bytes = encoded(stream, how);
        const relay = (): StreamRelay => translation(client.style, gemini);
        same(relay, bytes, how);
      },
    );
  }
});

/** The whole stream in one packet comes to its end, and in several it comes to the same. */
function same(relay: () => StreamRelay, bytes: Buffer, { cuts }: Packets): void {
  const whole = told(relay(), [bytes]);
  assert.ok(whole.end !== 'broken' || whole.error !== undefined, 'the stream comes to its end');
  assert.notEqual(whole.text, '');
  assert.deepEqual(told(relay(), cut(bytes, cuts)), whole);
}

/** The stream on the wire: with these line ends, and a comment before its second event. */
function encoded(stream: string, { lineEnd, comment }: Packets): Buffer {
  const first = stream.indexOf('\n\n') + 2;
  const commented = stream.slice(0, first) + comment + stream.slice(first);
  return Buffer.from(commented.replaceAll('\n', lineEnd));
}

function cut(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const ends = [...cuts.map((each) => each % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

/** A relay that translates, as the gateway makes it. */
function translation(asked: Style, spoken: Style): StreamRelay {
  const call = {
    model: 'public-name',
    stream: true,
    asksUsage: true,
    body: { outline: () => ({ tree: {} }) },
    bounds: { inputBytes: 100, media: 0, outputTokens: undefined, choices: 1 },
  };
  const parties = {
    x: { id: '0123456789ABCDEFGHJKMNPQRS', startedMs: 0, call },
    offer: { channel: { name: FROM.channel }, model: FROM.model },
    clientStyle: asked,
    vendorStyle: spoken,
    clock: { now: () => 1_000 },
  };
  return translateAnswer(parties as unknown as Parties, createRestorer(NOTHING_CHANGED), collectWarnings({})).relay();
}

/** What becomes of packets: what the client gets, how it ended, and what was counted. */
function told(relay: StreamRelay, chunks: readonly Buffer[]) {
  const splitter = createEventSplitter({ maxBytes: 1_000_000 });
  const out: (Buffer | string)[] = [];
  const end = ended(relay, splitter, chunks, out);
  // Ids that a vendor left out are made up anew each time.
  const text = out
    .map(String)
    .join('')
    .replaceAll(/call_[0-9a-f]{32}/g, 'call_made_up');
  return { text, end, usage: relay.usage(), textLength: relay.textLength(), error: relay.error() };
}

function ended(
  relay: StreamRelay,
  splitter: ReturnType<typeof createEventSplitter>,
  chunks: readonly Buffer[],
  out: (Buffer | string)[],
): string {
  for (const chunk of chunks) {
    for (const event of splitter.push(chunk) ?? []) {
      const kind = relay.see(event, out);
      if (kind === 'last' || kind === 'error') return kind;
    }
  }
  const rest = splitter.rest();
  if (rest.length > 0) {
    const kind = relay.see(rest, out);
    if (kind === 'last' || kind === 'error') return kind;
  }
  return relay.close(out);
}
