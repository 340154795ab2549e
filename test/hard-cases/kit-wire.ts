/** Calls between a client of one style and a vendor of any, without a socket: what the vendor gets, and what the client does. */

import { createParser } from 'eventsource-parser';
import { createEventSplitter } from '../../core/bytes/event-splitter.ts';
import { scanJson } from '../../core/bytes/json-body.ts';
import type { Offer } from '../../core/contracts/formats/call.ts';
import type { JsonObject } from '../../core/contracts/formats/json.ts';
import type { SomeQuirks } from '../../core/contracts/formats/quirks.ts';
import type { Style } from '../../core/contracts/formats/style.ts';
import type { ModelQuirks } from '../../core/contracts/formats/vendor.ts';
import { GatewayError } from '../../core/contracts/gateway-error.ts';
import { convey } from '../../core/delivery/attempt-codec.ts';
import type { Parties } from '../../core/delivery/parties.ts';
import { layQuirks, quirksOfModel } from '../../core/translation/quirks/quirks.ts';
import { chat } from '../../plugins/styles/chat/index.ts';
import { messages } from '../../plugins/styles/messages/index.ts';
import { responses } from '../../plugins/styles/responses/index.ts';
import { anthropicQuirks } from '../../plugins/vendors/anthropic/quirks.ts';
import { MODEL_QUIRKS } from '../../plugins/vendors/gemini/quirks.ts';
import { gemini } from '../../plugins/vendors/gemini/style.ts';
import { openaiQuirks } from '../../plugins/vendors/openai/quirks.ts';
import { arriving } from '../kit/gateway/calls.ts';
import { fakeClock } from '../kit/gateway/clock.ts';
import type { SpeechName } from '../kit/speech.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look deep into bodies
export type Body = any;

/** The styles that clients ask in. */
export type ClientName = Exclude<SpeechName, 'gemini'>;

export const CLIENTS = ['chat', 'responses', 'messages'] as const satisfies readonly ClientName[];
export const VENDORS = ['chat', 'responses', 'messages', 'gemini'] as const satisfies readonly SpeechName[];

const STYLES: Readonly<Record<SpeechName, Style>> = { chat, responses, messages, gemini };

/** What is asked for where a case does not say, and what is known of such models. */
const MODELS: Readonly<Record<SpeechName, { readonly model: string; readonly facts: readonly ModelQuirks[] }>> = {
  chat: { model: 'chat-model-1', facts: [] },
  responses: { model: 'gpt-5.1', facts: openaiQuirks },
  messages: { model: 'claude-sonnet-4-5', facts: anthropicQuirks },
  gemini: { model: 'gemini-3.5-flash', facts: MODEL_QUIRKS },
};

/** Who talks to whom. */
export interface Meeting {
  /** The style of the client. */
  readonly from: ClientName;
  /** The style of the vendor. */
  readonly to: SpeechName;
  /** The vendor's name for the model. */
  readonly model?: string;
  /** The vendor is OpenAI itself, and not somebody who speaks like it. */
  readonly isOpenAi?: boolean;
  /** What gateway.yaml says about the model. */
  readonly quirks?: SomeQuirks;
  /** What loses something is refused. */
  readonly strict?: boolean;
}

/** A call that has been understood. */
export interface Talk {
  /** What the vendor gets. */
  readonly body: Body;
  /** The same as bytes. */
  readonly bytes: Buffer;
  /** What could not be carried over so far. */
  readonly warnings: readonly string[];
  /** The client's whole answer; fails where the vendor's is none. */
  whole(answer: JsonObject): Body;
  /** The client's stream, from the vendor's bytes as they come. */
  stream(chunks: readonly (string | Buffer)[]): Streamed;
}

/** A stream as the client got it. */
export interface Streamed {
  readonly text: string;
  readonly events: readonly ClientEvent[];
  /** How it ended: with its last event, with the vendor's error, or where the vendor broke off and the client was told. */
  readonly end: 'last' | 'error' | 'broken';
}

export interface ClientEvent {
  readonly name: string | undefined;
  /** Undefined where it is not JSON: `[DONE]`. */
  readonly data: Body;
  /** The lines as they stand. */
  readonly raw: string;
}

/** The name of the model for clients, and the id of every exchange. */
export const MODEL = 'public-name';
export const ID = 'A'.repeat(26);
/** When every exchange began. */
export const STARTED_MS = Date.UTC(2026, 0, 1);

/** What clients of the messages style send with every request; to others it means nothing. */
export const HEADERS = { 'anthropic-version': '2023-06-01' } as const;

/** The shortest request of a style. */
export function question(from: ClientName, more: JsonObject = {}): JsonObject {
  const messages = [{ role: 'user', content: 'Hello?' }];
  const asked = {
    chat: { model: MODEL, messages },
    responses: { model: MODEL, input: 'Hello?' },
    messages: { model: MODEL, max_tokens: 1_000, messages },
  };
  return { ...asked[from], ...more };
}

/** Asks; `more` is laid over the shortest request. Rejects where the gateway refuses. */
export async function ask(meeting: Meeting, more: JsonObject = {}): Promise<Talk> {
  const parties = partiesOf(meeting, question(meeting.from, more));
  const conveyance = await convey(parties);
  const { body } = conveyance;
  if (!Buffer.isBuffer(body)) throw new Error('a conversation goes out whole');
  return {
    get body() {
      return JSON.parse(body.toString()) as Body;
    },
    bytes: body,
    get warnings() {
      return conveyance.warnings?.() ?? [];
    },
    whole(answer) {
      const whole = conveyance.whole(Buffer.from(JSON.stringify(answer)), 'application/json');
      if (whole === undefined || whole instanceof Promise || whole.error !== undefined)
        throw new Error('the answer is none');
      return JSON.parse(whole.body.toString()) as Body;
    },
    stream: (chunks) => relayed(conveyance.relay(), chunks),
  };
}

/** The same for a stream. */
export function askStream(meeting: Meeting, more: JsonObject = {}): Promise<Talk> {
  return ask(meeting, { stream: true, ...more });
}

function partiesOf(
  { from, to, quirks = {}, isOpenAi = false, strict = false, ...given }: Meeting,
  body: JsonObject,
): Parties {
  const usual = MODELS[to];
  const model = given.model ?? usual.model;
  const facts = isOpenAi ? openaiQuirks : usual.facts;
  const asked = STYLES[from];
  const spoken = STYLES[to];
  const scanned = scanJson(Buffer.from(JSON.stringify(body)));
  const read = asked.ingress!.read(scanned, arriving(HEADERS));
  const offer = {
    channel: { name: 'main', streamUsage: 'include_usage' },
    model,
    style: to,
    quirks: layQuirks(spoken.vendor?.quirks ?? {}, ...quirksOfModel(facts, model), quirks),
    strict,
    priced: MODEL,
  } as unknown as Offer;
  const x = {
    id: ID,
    startedMs: STARTED_MS,
    dropped: [],
    leftOut: [],
    signal: new AbortController().signal,
    call: { ...read, style: from, body: scanned },
  };
  const dialect = { path: '/', headers: () => ({}) };
  return {
    x: x as unknown as Parties['x'],
    offer,
    clientStyle: asked,
    vendorStyle: spoken,
    dialect,
    clock: fakeClock(STARTED_MS),
  };
}

/** What core does with the bytes of a stream, without waiting for anybody. */
function relayed(
  relay: ReturnType<Awaited<ReturnType<typeof convey>>['relay']>,
  chunks: readonly (string | Buffer)[],
): Streamed {
  const splitter = createEventSplitter({ maxBytes: 1 << 20 });
  const out: (string | Buffer)[] = [];
  const finished = (end: Streamed['end']): Streamed => {
    const text = Buffer.concat(out.map((piece) => Buffer.from(piece))).toString();
    return { text, events: eventsIn(text), end };
  };
  const saw = (event: Buffer) => {
    const kind = relay.see(event, out);
    return kind === 'last' || kind === 'error' ? kind : undefined;
  };
  for (const chunk of chunks) {
    for (const event of splitter.push(Buffer.from(chunk)) ?? []) {
      const end = saw(event);
      if (end !== undefined) return finished(end);
    }
  }
  const end = splitter.rest().length > 0 ? saw(splitter.rest()) : undefined;
  if (end !== undefined) return finished(end);
  if (relay.close(out) !== 'broken') return finished('last');
  out.push(relay.fail(new GatewayError(502, 'upstream_error', 'The answer broke off.'), ID));
  return finished('broken');
}

/** The events of a stream; comments are none. */
export function eventsIn(text: string): readonly ClientEvent[] {
  const raw = text.split('\n\n').filter((event) => /^(event|data):/m.test(event));
  const events: ClientEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ name: event, data: parsed(data), raw: raw[events.length] ?? '' }),
  });
  parser.feed(text);
  return events;
}

function parsed(data: string): Body {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

/** The same bytes, so many at a time. */
export function pieces(stream: string | readonly string[], size: number): readonly Buffer[] {
  const bytes = Buffer.from([stream].flat().join(''));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

/** The text that a client has read in a stream. */
export function textIn(from: ClientName, { events }: Pick<Streamed, 'events'>): string {
  return events
    .map(({ data }) => {
      if (from === 'chat') return data?.choices?.[0]?.delta?.content ?? '';
      if (from === 'messages') return data?.delta?.text ?? '';
      return data?.type === 'response.output_text.delta' ? data.delta : '';
    })
    .join('');
}

/** An event of a chat vendor's stream, or of Gemini's. */
export function data(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

/** An event of a vendor whose events have names. */
export function named(value: JsonObject): string {
  return `event: ${String(value.type)}\n${data(value)}`;
}

/** What the official client of a style makes of a stream; rejects where it complains. */
export async function readBy(from: ClientName, stream: string): Promise<Body> {
  const { Stream, read } = await OFFICIAL[from]();
  const events = Stream.fromSSEResponse(new Response(stream), new AbortController());
  return read(events.toReadableStream());
}

/** The two halves of each: the one that reads events, and the one that puts them together. Nothing else of it is loaded. */
const OFFICIAL = {
  async chat() {
    const { Stream } = await import('openai/core/streaming');
    const { ChatCompletionStream } = await import('openai/lib/ChatCompletionStream');
    return {
      Stream,
      read: (from: ReadableStream) => ChatCompletionStream.fromReadableStream(from).finalChatCompletion(),
    };
  },
  async responses() {
    const { Stream } = await import('openai/core/streaming');
    const { ResponseStream } = await import('openai/lib/responses/ResponseStream');
    return { Stream, read: (from: ReadableStream) => ResponseStream.fromReadableStream(from).finalResponse() };
  },
  async messages() {
    const { Stream } = await import('@anthropic-ai/sdk/core/streaming');
    const { MessageStream } = await import('@anthropic-ai/sdk/lib/MessageStream');
    return { Stream, read: (from: ReadableStream) => MessageStream.fromReadableStream(from).finalMessage() };
  },
} as const;
