/** A gateway between clients of every style and vendors of every shape, all of which misbehave; and what its books say then. */

import assert from 'node:assert/strict';
import type { JsonObject } from '../../../core/plugin.ts';
import { KIND_NAMES, KINDS } from '../../clients/stand.ts';
import { type RawConnection, type RawResponse, rawConnection, requestText } from '../../kit/clients/raw-client.ts';
import { defaultConfig, type TestGateway, VENDOR_KEY } from '../../kit/gateway/gateway.ts';
import { heldByCalls } from '../../kit/gateway/money.ts';
import type { UsageRow } from '../../kit/gateway/usage-records.ts';
import type { Scenario, Speech, SpeechName } from '../../kit/speech.ts';
import { until } from '../../kit/until.ts';
import { closedPort, type FakeVendor, fakeVendor, type VendorRequest } from '../../kit/vendors/fake-vendor.ts';
import { heard, says } from '../../kit/vendors/scenarios.ts';
import { jsonAnswer, type Script } from '../../kit/vendors/script.ts';
import { CLIENTS, type ClientName, type ClientStyle, type Understood } from '../faults/style-clients.ts';
import { type Bench, callHeaders, checkLog, cost, countedTokens, openBench } from './bench.ts';

export type Asked = 'whole' | 'stream';

/** A client's style, and the shape that its vendor speaks. */
export interface Pair {
  readonly client: ClientName;
  readonly wire: SpeechName;
}

export const CLIENT_NAMES = Object.keys(CLIENTS) as readonly ClientName[];
export const PAIRS: readonly Pair[] = CLIENT_NAMES.flatMap((client) => KIND_NAMES.map((wire) => ({ client, wire })));

/** Bytes pass as they are. */
export function isSameStyle({ client, wire }: Pair): boolean {
  return client === wire;
}

/** What the vendor says. Each piece has a number of characters that all count alike. */
export const DELTAS = ['Hello', ' from Zü', 'rich', ' 日本', '.'] as const;
export const SAID: Scenario = {
  text: DELTAS,
  end: 'stop',
  usage: { input: 11, cached: 0, output: 7, reasoning: 0 },
};
/** The event that brings the first piece of the text, and how many come before the answer has begun. */
export const FIRST: Readonly<Record<SpeechName, number>> = { chat: 1, responses: 4, messages: 3, gemini: 0 };
export const HELD: Readonly<Record<SpeechName, number>> = { chat: 1, responses: 3, messages: 2, gemini: 0 };
/** What ends the answer well; a vendor of the third style has nothing that does. */
export const EVENTS: Readonly<Record<SpeechName, number>> = { chat: 9, responses: 13, messages: 11, gemini: 6 };

/** Events that show nothing of the answer: another vendor may still be asked behind them. */
export function heldOf(pair: Pair): number {
  // Whoever gets the events as they come gets one that announces something.
  const announced = isSameStyle(pair) && (pair.wire === 'chat' || pair.wire === 'responses') ? 1 : 0;
  return HELD[pair.wire] - announced;
}

/** The text in the first events of the vendor's. */
export function textAfter(wire: SpeechName, count: number): string {
  return DELTAS.slice(0, Math.max(0, count - FIRST[wire])).join('');
}

/** The event by which the vendor has told all that it used. */
const COUNTED: Readonly<Record<SpeechName, number>> = { chat: 8, responses: 13, messages: 10, gemini: 6 };
/** The output in tokens that is charged after so many events: what the vendor has told, or what was delivered. */
export function outputAfter(pair: Pair, count: number): number {
  const { wire } = pair;
  if (count >= COUNTED[wire]) return SAID.usage.output;
  if (count <= heldOf(pair)) return 0;
  // A message begins with one token.
  return Math.max(countedTokens(textAfter(wire, count)), wire === 'messages' ? 1 : 0);
}
/** What the other vendor says, who stands in. */
export const INSTEAD: Scenario = {
  text: ['Another', ' vendor.'],
  end: 'stop',
  usage: { input: 13, cached: 0, output: 5, reasoning: 0 },
};
/** Who stands in speaks another shape. */
export const NEXT: Readonly<Record<SpeechName, SpeechName>> = {
  chat: 'responses',
  responses: 'messages',
  messages: 'gemini',
  gemini: 'chat',
};

/** What a vendor would say if nothing were wrong, for a script that spoils it. */
export interface Voice {
  readonly wire: SpeechName;
  readonly speech: Speech;
  readonly events: readonly string[];
  readonly whole: JsonObject;
  readonly url: string;
}
export type Saying = (voice: Voice) => Script;

/** The model of a vendor, `alone`, `backed` by one who stands in, `free` of charge; or one that is not there. */
export type Standing = 'alone' | 'backed' | 'free' | 'absent' | 'absent-backed';

/** What a usage record says, as far as it is asked here. */
export type Booked = Pick<UsageRow, 'id' | 'outcome' | 'input' | 'output' | 'estimated' | 'charged' | 'attempts'>;

export interface StyleBench extends Bench {
  /** Behind the channel that is asked when the first one fails. */
  readonly spare: FakeVendor;
  /** Queues an answer for the next request, which comes on a connection of its own. */
  prepare(saying: Saying, scenario?: Scenario): Promise<void>;
  /** Sends a call, of root unless another key is given. The connection ends with the test: `checkQuiet`. */
  call(pair: Pair, asked: Asked, standing?: Standing, key?: string): Promise<RawConnection>;
  /** What the books say of an answer, once. */
  recordOf(answer: RawResponse): Booked;
  /** The same of the calls since the last `checkQuiet`, once there are so many: who has left cannot be told its id. */
  newRecords(count?: number): Promise<readonly Booked[]>;
  /** That nothing is left over; to be called after each test. */
  checkQuiet(): Promise<void>;
}

/** Starts one. `timeout`: the vendors' patience is ten seconds unless a test says otherwise. */
export async function openStyleBench(
  options: { readonly timeout?: object; readonly config?: Readonly<Record<string, unknown>> } = {},
): Promise<StyleBench> {
  const { timeout = { head: '10s', idle: '10s' }, config = {} } = options;
  const vendor = await fakeVendor();
  const spare = await fakeVendor(says(INSTEAD, { key: VENDOR_KEY }));
  const nowhere = `http://127.0.0.1:${await closedPort()}/v1`;
  const channelOf = (name: string, wire: SpeechName, url: string, priority: number) => {
    const { model: _, ...kind } = KINDS[wire];
    return { name: `${name}-${wire}`, ...kind, url, key: VENDOR_KEY, priority, timeout };
  };
  const from = (name: string, wire: SpeechName) => ({ [`${name}-${wire}`]: KINDS[wire].model });
  const price = { input: 1, output: 2 };
  const { pipeline } = defaultConfig([]) as { readonly pipeline: readonly string[] };
  const bench = await openBench({
    vendors: [vendor, spare],
    config: {
      pipeline: [...new Set([...pipeline, 'vendors/anthropic', 'vendors/gemini'])],
      channels: KIND_NAMES.flatMap((wire) => [
        channelOf('main', wire, vendor.url, 0),
        channelOf('absent', wire, nowhere, 0),
        channelOf('spare', wire, spare.url, 1),
      ]),
      models: Object.fromEntries(
        KIND_NAMES.flatMap((wire) => {
          const instead = from('spare', NEXT[wire]);
          return [
            [`alone-${wire}`, { from: [from('main', wire)], price }],
            [`backed-${wire}`, { from: [from('main', wire), instead], price }],
            [`free-${wire}`, { from: [from('main', wire)], free: true }],
            [`absent-${wire}`, { from: [from('absent', wire)], price }],
            [`absent-backed-${wire}`, { from: [from('absent', wire), instead], price }],
          ];
        }),
      ),
      ...config,
    },
  });
  const { gateway } = bench;
  const books = openBooks(gateway);
  const connections: RawConnection[] = [];

  return {
    ...bench,
    spare,
    async prepare(saying, scenario = SAID) {
      // A kept connection that fails would be tried again on a fresh one.
      vendor.forget();
      vendor.dropIdle();
      await vendor.waitFor(() => vendor.openConnections === vendor.inFlight);
      vendor.next((request) => answerTo(request, vendor.url, saying, scenario));
    },
    async call({ client, wire }, asked, standing = 'alone', key = gateway.key) {
      const { path, headers, ask, streamed } = CLIENTS[client];
      const body = { ...ask(`${standing}-${wire}`), ...(asked === 'stream' && streamed) };
      const connection = await rawConnection(gateway.port);
      connections.push(connection);
      const all = { ...callHeaders({ key }), ...headers };
      await connection.write(requestText('POST', path, all, JSON.stringify(body)));
      return connection;
    },
    recordOf(answer) {
      const id = answer.headers['x-request-id'];
      const records = books.records().filter((record) => record.id === id);
      assert.equal(records.length, 1, `one usage record for ${id}`);
      return records[0]!;
    },
    async newRecords(count = 1) {
      await until(`there are ${count} new usage records`, () => books.records().length >= count);
      const records = books.records();
      assert.equal(records.length, count, 'so many new usage records');
      return records;
    },
    async checkQuiet() {
      for (const connection of connections.splice(0)) connection.abort();
      await vendor.waitFor(() => vendor.inFlight === 0);
      assert.deepEqual(await heldByCalls(gateway), {}, 'a hold was not released');
      books.turn();
      checkLog(gateway);
      // Long enough for a channel that failed to be tried again.
      bench.clock.advance(400_000);
    },
  };
}

function answerTo(request: VendorRequest, url: string, saying: Saying, scenario: Scenario): Script {
  const { style, speech, body, complaint } = heard(request, VENDOR_KEY);
  if (complaint !== undefined) return jsonAnswer(400, speech.error(400, `The vendor minds: ${complaint}`));
  return saying({
    wire: style,
    speech,
    url,
    events: speech.events(scenario, body),
    whole: speech.whole(scenario, body),
  });
}

/** The books of a gateway. There are many tests, and each looks at the last page only; the places of records grow with the time. */
interface Books {
  /** Usage records since the last `turn`, oldest first. */
  records(): readonly Booked[];
  turn(): void;
}

function openBooks(gateway: TestGateway): Books {
  let page: unknown = '';
  return {
    records: () =>
      gateway
        .rows(`SELECT id, outcome, input, output, estimated, CAST(charged AS TEXT) AS charged, other
          FROM usage_record WHERE place > '${page}' ORDER BY place`)
        .map((row) => ({
          ...(row as unknown as Booked),
          estimated: row.estimated === 1,
          charged: BigInt(row.charged ?? 0),
          attempts: (JSON.parse(String(row.other)).attempts ?? []) as UsageRow['attempts'],
        })),
    turn() {
      page = gateway.rows("SELECT COALESCE(MAX(place), '') AS place FROM usage_row")[0]!.place;
    },
  };
}

/** What the client of a pair makes of an answer with status 200; fails where it is none of its style. */
export function understood(style: ClientStyle, asked: Asked, answer: RawResponse): Understood {
  assert.equal(answer.status, 200, answer.text);
  const type = asked === 'stream' ? 'text/event-stream; charset=utf-8' : 'application/json';
  assert.equal(answer.headers['content-type'], type);
  return asked === 'stream' ? style.stream(answer.text) : style.whole(JSON.parse(answer.text) as JsonObject);
}

/** That it is whole and good, and says all of this. */
export function checkServed(
  style: ClientStyle,
  asked: Asked,
  answer: RawResponse,
  { text = [], usage }: Scenario = SAID,
): void {
  const heard = understood(style, asked, answer);
  assert.deepEqual(heard, {
    text: text.join(''),
    input: usage.input,
    output: usage.output,
    ended: true,
    error: undefined,
  });
  assert.equal(answer.complete, true);
}

/** That nothing of the vendor's is given away, whatever else was said. */
export function checkDiscreet(answer: RawResponse, ...vendors: readonly FakeVendor[]): void {
  const all = `${JSON.stringify(answer.headers)}\n${answer.text}`;
  assert.ok(!all.includes(VENDOR_KEY), 'the key of the channel is nobody’s business');
  for (const { port } of vendors) assert.ok(!all.includes(`127.0.0.1:${port}`), 'nor is where it goes');
}

/** What tokens cost at the models of this bench that have a price. */
export function costOf({ usage }: Scenario): bigint {
  return cost({ prompt: usage.input, completion: usage.output });
}
