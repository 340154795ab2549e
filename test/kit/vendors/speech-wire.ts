/** How a vendor answers, as its author says it in a few lines, and what the contracts have it say: put on the wire as the vendor would. */

import assert from 'node:assert/strict';
import { createParser } from 'eventsource-parser';
import { createEventSplitter } from '../../../core/bytes/event-splitter.ts';
import type { JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Dialect, StreamEvent } from '../../../core/contracts/formats/vendor.ts';
import { acceptOf, createFrameSplitter } from '../../../core/upstream/frame-splitter.ts';
import type { Expected } from '../contracts/heard.ts';
import type { Scenario, ScenarioCall, SpeechName } from '../speech.ts';
import { SPEECHES } from './scenarios.ts';
import { chunk, head, lastChunk, type Move, type Script } from './script.ts';

/** How a vendor says an answer in its own format. */
export interface VendorSpeech {
  /** The id that the vendor gives a call: by default that of the scenario; undefined if its calls have none. */
  callId?(call: ScenarioCall): string | undefined;
  /** A whole answer. Undefined: this vendor can never say that. */
  whole(scenario: Scenario, request: JsonObject): JsonObject | undefined;
  /** A stream, as it is on the wire: events with their blank line, lines of JSON with their end, or frames. */
  events(scenario: Scenario, request: JsonObject): readonly (string | Buffer)[];
  /** The body of an answer with this status. */
  error(status: number, message: string): JsonObject;
  /** The vendor gives up in the middle of a stream. Undefined: it only closes the connection. */
  errorEvent?(message: string): string | Buffer;
}

/** Answers whose texts, calls and numbers can all be told apart. */
export const CONTRACT_SCENARIOS = {
  'a text with characters of every length': {
    // The last two pieces are halves of one character.
    text: ['Hello', ' from Zü', 'rich – 👋🏽', ' “fertig”\n', '\ud83d', '\ude80'],
    end: 'stop',
    usage: { input: 1_207, cached: 1_043, output: 73, reasoning: 0 },
  },
  'thoughts before a text': {
    reasoning: ['They say', ' hello;', ' so I say it.'],
    text: ['Hello', ' yourself.'],
    end: 'stop',
    usage: { input: 1_309, cached: 611, output: 259, reasoning: 187 },
  },
  'two tool calls behind a text': {
    text: ['I will', ' look it up.'],
    calls: [
      { id: 'weather2', name: 'get_weather', pieces: ['{"city":"Zü', 'rich",', '"days":3}'] },
      { id: 'time2', name: 'get_time', pieces: ['{"city":"R', 'ome 🏛"}'] },
    ],
    end: 'tools',
    usage: { input: 2_113, cached: 0, output: 317, reasoning: 0 },
  },
  'two calls of one tool': {
    calls: [
      { id: 'zz3', name: 'get_weather', pieces: ['{"city":"Oslo"}'] },
      { id: 'aa3', name: 'get_weather', pieces: ['{"city":"Bern"}'] },
    ],
    end: 'tools',
    usage: { input: 2_203, cached: 1_289, output: 331, reasoning: 0 },
  },
  'an answer that became too long': {
    text: ['Once upon', ' a'],
    end: 'length',
    usage: { input: 907, cached: 0, output: 41, reasoning: 0 },
  },
  'a refusal': {
    refusal: ['I will not', ' do that.'],
    end: 'refusal',
    usage: { input: 809, cached: 0, output: 67, reasoning: 0 },
  },
} satisfies Readonly<Record<string, Scenario>>;

/** The text that streams are cut in. */
export const GREETING: Scenario = CONTRACT_SCENARIOS['a text with characters of every length'];
/** Tools are offered to a vendor that can say this. */
export const CALLING: Scenario = CONTRACT_SCENARIOS['two tool calls behind a text'];

/** The speech of a style that ships; undefined for others. */
export function shippedSpeech(style: string): VendorSpeech | undefined {
  return Object.hasOwn(SPEECHES, style) ? SPEECHES[style as SpeechName] : undefined;
}

/** Whether every call of this vendor has an id. */
export function saysIds({ callId }: VendorSpeech): boolean {
  return callId === undefined || callId({ id: 'x', name: 'x', pieces: [], anonymous: true }) !== undefined;
}

/** Puts an event of a shipped style into a frame, for a vendor that uses the style with other frames. */
export type Framing = (event: StreamEvent) => string | Buffer;

/** Events as they are on the wire at this vendor. */
export function framed(
  events: readonly (string | Buffer)[],
  { frames }: Pick<Dialect, 'frames'>,
  frame: Framing | undefined,
): readonly (string | Buffer)[] {
  if (frame !== undefined) return events.flatMap((event) => eventsIn(String(event))).map(frame);
  const isOther = frames !== undefined && frames !== 'sse';
  assert.ok(
    !isOther || events.every((event) => !String(event).startsWith('data:')),
    'the fixtures lack `frame`: how an event of the style is framed at this vendor',
  );
  return events;
}

/** A stream of this vendor's. Without `end` it ends as HTTP wants. */
export function streamOf(dialect: Dialect, events: readonly (string | Buffer)[], ...end: readonly Move[]): Script {
  const start = head(200, { 'content-type': acceptOf(dialect.frames), 'transfer-encoding': 'chunked' });
  return [start, ...events.map((event) => chunk(event)), ...(end.length > 0 ? end : [lastChunk()])];
}

/** The events in what a vendor sends, as core hands them to a style. */
export function eventsOnWire(dialect: Dialect, pieces: readonly (string | Buffer)[]): readonly StreamEvent[] {
  const limit = 1_000_000;
  const splitter =
    createFrameSplitter(dialect.frames, acceptOf(dialect.frames), limit) ?? createEventSplitter({ maxBytes: limit });
  const events = splitter.push(Buffer.concat(pieces.map((piece) => Buffer.from(piece)))) ?? [];
  return eventsIn([...events, splitter.rest()].join(''));
}

function eventsIn(text: string): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  createParser({ onEvent: ({ event: name, data }) => void events.push({ name, data }) }).feed(text);
  return events;
}

/** What of a scenario this vendor has said in these bytes: what it never says, no client can read. */
export function saidIn(bytes: string, scenario: Scenario, speech: VendorSpeech): Expected {
  const { usage } = scenario;
  const has = (...numbers: readonly number[]): boolean =>
    numbers.some((number) => new RegExp(`(?<![\\d.])${number}(?![\\d.])`).test(bytes));
  const tells = (pieces: readonly string[] | undefined): boolean => pieces !== undefined && bytes.includes(pieces[0]!);
  return {
    scenario,
    callId: speech.callId === undefined ? ({ id }) => id : (call) => speech.callId?.(call),
    tellsRefusal: tells(scenario.refusal),
    tellsReasoning: tells(scenario.reasoning),
    tellsInput: has(usage.input, usage.input - usage.cached),
    tellsOutput: has(usage.output, usage.output - usage.reasoning),
    tellsCached: usage.cached > 0 && has(usage.cached),
  };
}
