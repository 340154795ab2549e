/** One call as the gateway conveys it, without sockets: a client of one style, a vendor of a kind, and what each gets of the other. */

import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import type { Message } from '@anthropic-ai/sdk/resources/messages';
import OpenAI from 'openai';
import type { ChatCompletion } from 'openai/resources/chat/completions';
import type { Response as ResponsesAnswer } from 'openai/resources/responses/responses';
import { createEventSplitter } from '../../core/bytes/event-splitter.ts';
import { scanJson } from '../../core/bytes/json-body.ts';
import type { Offer } from '../../core/contracts/formats/call.ts';
import type { Channel } from '../../core/contracts/formats/channel.ts';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import type { SomeQuirks } from '../../core/contracts/formats/quirks.ts';
import type { Style } from '../../core/contracts/formats/style.ts';
import type { Usage } from '../../core/contracts/formats/usage.ts';
import type { Vendor } from '../../core/contracts/formats/vendor.ts';
import { GatewayError } from '../../core/contracts/gateway-error.ts';
import { type Conveyance, convey } from '../../core/delivery/attempt-codec.ts';
import type { Parties } from '../../core/delivery/parties.ts';
import type { Host, Plugin } from '../../core/plugin.ts';
import { layQuirks, quirksOfModel } from '../../core/translation/quirks/quirks.ts';
import { chat } from '../../plugins/styles/chat/index.ts';
import { messages } from '../../plugins/styles/messages/index.ts';
import { responses } from '../../plugins/styles/responses/index.ts';
import anthropic from '../../plugins/vendors/anthropic/index.ts';
import compatible from '../../plugins/vendors/compatible/index.ts';
import geminiVendor from '../../plugins/vendors/gemini/index.ts';
import { gemini } from '../../plugins/vendors/gemini/style.ts';
import openai from '../../plugins/vendors/openai/index.ts';
import { arriving } from '../kit/gateway/calls.ts';
import { fakeClock } from '../kit/gateway/clock.ts';

const CLIENTS = { chat, responses, messages } as const;
export type ClientStyle = keyof typeof CLIENTS;

/** The vendor kinds by the style they speak, and a model that each has. */
const KINDS = {
  chat: { style: chat, plugin: compatible, model: 'chat-model-1' },
  responses: { style: responses, plugin: openai, model: 'gpt-5.1' },
  messages: { style: messages, plugin: anthropic, model: 'claude-sonnet-4-5' },
  gemini: { style: gemini, plugin: geminiVendor, model: 'gemini-3.5-flash' },
} as const satisfies Readonly<Record<string, { style: Style; plugin: Plugin; model: string }>>;
export type VendorKind = keyof typeof KINDS;

/** A request that says nothing special. */
const REQUESTS: Readonly<Record<ClientStyle, JsonObject>> = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'Hello?' }] },
  responses: { model: 'm', input: 'Hello?' },
  messages: { model: 'm', max_tokens: 2_000, messages: [{ role: 'user', content: 'Hello?' }] },
};

const EXCHANGE = '01K5AAAAAAAAAAAAAAAAAAAAAA';

/** What is special about one meeting; without it the channel is called `here`. */
export interface Special {
  readonly channel?: string;
  /** The vendor's name for the model. */
  readonly model?: string;
  readonly quirks?: SomeQuirks;
  /** Another vendor of the same style. */
  readonly plugin?: Plugin;
  /** The model is strict about warnings. */
  readonly strict?: boolean;
}

/** One call that has been prepared. */
export interface Call {
  /** What the vendor gets. */
  readonly sent: JsonObject;
  /** The same as it goes over the wire. */
  readonly bytes: string;
  /** What the client is told could not be carried over, so far. */
  warnings(): readonly string[];
  /** The client's stream for the vendor's. */
  stream(events: string): Streamed;
  /** The client's whole answer for the vendor's. */
  whole(body: JsonObject): { readonly body: JsonObject; readonly usage: Usage };
}

/** A stream as the client gets it. */
export interface Streamed {
  readonly text: string;
  readonly events: readonly { readonly name: string | undefined; readonly data: Json }[];
  /** What the books say it used. */
  readonly usage: Usage | undefined;
  /** It came to a good end. */
  readonly ended: boolean;
}

/** Prepares a call: `request` is laid over one that says hello. A refusal of the request's is thrown. */
export async function call(
  client: ClientStyle,
  kind: VendorKind,
  request: JsonObject = {},
  special: Special = {},
): Promise<Call> {
  const parties = await partiesOf(client, kind, { ...REQUESTS[client], ...request }, special);
  const conveyance = await convey(parties);
  const bytes = conveyance.body.toString();
  return {
    sent: JSON.parse(bytes) as JsonObject,
    bytes,
    warnings: () => conveyance.warnings?.() ?? [],
    stream: (events) => streamed(conveyance, events),
    whole(body) {
      const answer = conveyance.whole(Buffer.from(JSON.stringify(body)), 'application/json');
      if (answer instanceof Promise) throw new Error('a conversation is answered at once');
      assert.ok(answer !== undefined && answer.error === undefined, 'the vendor gives an answer');
      return { body: JSON.parse(answer.body.toString()) as JsonObject, usage: answer.usage };
    },
  };
}

/** What the vendor gets. */
export async function sent(
  client: ClientStyle,
  kind: VendorKind,
  request: JsonObject,
  special?: Special,
): Promise<JsonObject> {
  return (await call(client, kind, request, special)).sent;
}

/** The client's stream for the vendor's. */
export async function stream(
  client: ClientStyle,
  kind: VendorKind,
  events: string,
  request: JsonObject = {},
  special?: Special,
): Promise<Streamed> {
  return (await call(client, kind, { stream: true, ...request }, special)).stream(events);
}

/** The client's whole answer for the vendor's. */
export async function whole(
  client: ClientStyle,
  kind: VendorKind,
  body: JsonObject,
  request?: JsonObject,
  special?: Special,
): Promise<JsonObject> {
  return (await call(client, kind, request, special)).whole(body).body;
}

async function partiesOf(
  client: ClientStyle,
  kind: VendorKind,
  request: JsonObject,
  special: Special,
): Promise<Parties> {
  const asked = CLIENTS[client];
  const { style: spoken, plugin, model: usual } = KINDS[kind];
  const vendor = await vendorOf(special.plugin ?? plugin);
  const model = special.model ?? usual;
  const body = scanJson(Buffer.from(JSON.stringify(request)));
  const facts = asked.ingress!.read(body, arriving({ 'anthropic-version': '2023-06-01' }));
  const channel: Channel = {
    name: special.channel ?? 'here',
    vendor: vendor.name,
    url: 'http://vendor.test/v1',
    key: 'a-key',
    weight: 1,
    priority: 0,
    timeout: { connectMs: 1, headMs: 1, idleMs: 1, totalMs: 1 },
    speaks: undefined,
    streamUsage: 'include_usage',
    quirks: {},
    options: {},
  };
  const offer: Offer = {
    channel,
    model,
    style: spoken.name,
    quirks: layQuirks(spoken.vendor?.quirks ?? {}, ...quirksOfModel(vendor.quirks, model), special.quirks ?? {}),
    strict: special.strict === true,
    priced: facts.model,
  };
  const x = {
    id: EXCHANGE,
    startedMs: Date.UTC(2026, 0, 1),
    signal: new AbortController().signal,
    call: { ...facts, style: asked.name, body },
    dropped: [],
    leftOut: [],
  };
  // Of the exchange a conveyance looks at nothing else.
  return {
    x: x as unknown as Parties['x'],
    offer,
    clientStyle: asked,
    vendorStyle: spoken,
    dialect: vendor.speaks[spoken.name]!,
    clock: fakeClock(),
  };
}

async function vendorOf(plugin: Plugin): Promise<Vendor> {
  const parts = await plugin.create({} as Host, {} as never);
  return parts.vendors![0]!;
}

/** Feeds the vendor's bytes event by event, until one of them is the last. */
function streamed(conveyance: Conveyance, text: string): Streamed {
  const relay = conveyance.relay();
  const out: (Buffer | string)[] = [];
  let end: 'last' | 'error' | undefined;
  for (const event of createEventSplitter({ maxBytes: 1_000_000 }).push(Buffer.from(text)) ?? []) {
    const kind = relay.see(event, out);
    if (kind === 'last' || kind === 'error') end = kind;
    if (end !== undefined) break;
  }
  if (end === undefined && relay.close(out) === 'broken') {
    end = 'error';
    out.push(relay.fail(new GatewayError(502, 'upstream_error', 'The vendor broke off.'), EXCHANGE));
  }
  const said = out.map(String).join('');
  return { text: said, events: eventsIn(said), usage: relay.usage(), ended: end !== 'error' };
}

function eventsIn(text: string): Streamed['events'] {
  return text
    .split('\n\n')
    .filter((event) => event.includes('data: '))
    .map((event) => {
      const data = event.slice(event.indexOf('data: ') + 6);
      return { name: /^event: (.*)$/m.exec(event)?.[1], data: data === '[DONE]' ? data : (JSON.parse(data) as Json) };
    });
}

// ---- what real clients make of a stream

function fetchOf({ text }: Streamed): typeof fetch {
  return async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

/** The answer as the official chat client puts it together. */
export function readChat(said: Streamed): Promise<ChatCompletion> {
  const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: fetchOf(said) });
  return client.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion();
}

/** The answer as the official responses client puts it together. */
export function readResponses(said: Streamed): Promise<ResponsesAnswer> {
  const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: fetchOf(said) });
  return client.responses.stream({ model: 'm', input: '' }).finalResponse() as Promise<ResponsesAnswer>;
}

/** The answer as the official messages client puts it together. */
export function readMessages(said: Streamed): Promise<Message> {
  const client = new Anthropic({ apiKey: 'k', maxRetries: 0, fetch: fetchOf(said) });
  return client.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage();
}

// ---- what vendors say

/** How a chat vendor's stream ends; nothing is said of what is missing. */
export interface ChatEnd {
  readonly finish?: string;
  readonly usage?: JsonObject;
}

const CHAT_USAGE: JsonObject = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

/** One chunk of a chat vendor. */
export function chatChunk(more: JsonObject): string {
  const common = { id: 'chatcmpl-v', object: 'chat.completion.chunk', created: 1_763_600_000, model: 'chat-model-1' };
  return `data: ${JSON.stringify({ ...common, ...more })}\n\n`;
}

/** A chunk with one delta. */
export function chatDelta(delta: JsonObject, finish: string | null = null): string {
  return chatChunk({ choices: [{ index: 0, delta, finish_reason: finish }] });
}

/** A chat vendor's stream: a chunk for each delta, why it ends, and what it used. */
export function chatSays(deltas: readonly JsonObject[], { finish = 'stop', usage = CHAT_USAGE }: ChatEnd = {}): string {
  return [
    chatDelta({ role: 'assistant', content: '' }),
    ...deltas.map((delta) => chatDelta(delta)),
    chatDelta({}, finish),
    chatChunk({ choices: [], usage }),
    'data: [DONE]\n\n',
  ].join('');
}

/** The delta of a piece of a tool call. */
export function piece(index: number, fragment: string, id?: string, name?: string): JsonObject {
  const head = id === undefined ? {} : { id, type: 'function' };
  const named = name === undefined ? {} : { name };
  return { tool_calls: [{ index, ...head, function: { ...named, arguments: fragment } }] };
}

/** Events as the styles messages and responses write them. */
export type Said = readonly [type: string, more?: JsonObject];

export function named(events: readonly Said[]): string {
  return events.map(([type, more]) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`).join('');
}

/** How a messages vendor's stream begins and ends. */
export interface MessagesFrame {
  readonly begin?: JsonObject;
  readonly end?: JsonObject;
  readonly stop?: string;
}

/** A messages vendor's stream: its blocks between the first event and the last two. */
export function messagesSay(
  events: readonly Said[],
  { begin = { input_tokens: 11, output_tokens: 1 }, end = { output_tokens: 7 }, stop = 'end_turn' }: MessagesFrame = {},
): string {
  const message = { id: 'msg_v', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content: [] };
  return named([
    ['message_start', { message: { ...message, stop_reason: null, stop_sequence: null, usage: begin } }],
    ...events,
    ['message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: end }],
    ['message_stop'],
  ]);
}

/** One block of such a stream. */
export function block(index: number, start: JsonObject, ...deltas: readonly JsonObject[]): readonly Said[] {
  return [
    ['content_block_start', { index, content_block: start }],
    ...deltas.map((delta): Said => ['content_block_delta', { index, delta }]),
    ['content_block_stop', { index }],
  ];
}

/** A responses vendor's stream: its items between the first event and the last, which holds `output` once more. */
export function responsesSay(events: readonly Said[], output: readonly JsonObject[], usage?: JsonObject): string {
  const response = { id: 'resp_v', object: 'response', created_at: 1_763_600_000, model: 'gpt-5.1', error: null };
  const used = usage ?? { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
  return named([
    ['response.created', { response: { ...response, status: 'in_progress', output: [], usage: null } }],
    ...events,
    ['response.completed', { response: { ...response, status: 'completed', output, usage: used } }],
  ]);
}

/** A third kind of vendor's stream: one whole answer an event. */
export function geminiSays(answers: readonly JsonObject[]): string {
  return answers.map((answer) => `data: ${JSON.stringify(answer)}\r\n\r\n`).join('');
}

/** One such answer. */
export function geminiParts(parts: readonly JsonObject[], more: JsonObject = {}, finishReason?: string): JsonObject {
  const content = { role: 'model', parts };
  const candidate = { content, index: 0, ...(finishReason !== undefined && { finishReason }) };
  return { candidates: [candidate], modelVersion: 'gemini-3.5-flash', responseId: 'v1', ...more };
}

// ---- looking into bodies

/** What stands at this place; fails where there is no such place. */
export function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let found = value;
  for (const [i, name] of path.entries()) {
    assert.ok(typeof found === 'object' && found !== null, `there is something at ${path.slice(0, i).join('.')}`);
    found = (found as { readonly [name: string]: Json })[name];
  }
  return found;
}

/** A list in a body. */
export function list(value: Json | undefined, ...path: readonly (string | number)[]): readonly JsonObject[] {
  const found = at(value, ...path);
  assert.ok(Array.isArray(found), `there is a list at ${path.join('.')}`);
  return found as readonly JsonObject[];
}

/** The data of a stream's events of one type. */
export function ofType({ events }: Streamed, type: string): readonly JsonObject[] {
  return events.map(({ data }) => data).filter((data): data is JsonObject => at(data, 'type') === type);
}

/** The chunks of a chat client's stream. */
export function chunksOf({ events }: Streamed): readonly JsonObject[] {
  return events.map(({ data }) => data).filter((data): data is JsonObject => typeof data === 'object');
}

/** Fails where a messages client would get a delta for a block that is not open, or two open blocks at a time. */
export function checkBlocks(said: Streamed): void {
  let open: number | undefined;
  let next = 0;
  for (const { data } of said.events) {
    const { type, index } = data as JsonObject;
    if (type === 'content_block_start') {
      assert.equal(open, undefined, `block ${open} is still open when ${String(index)} begins`);
      assert.equal(index, next++, 'blocks are numbered as they come');
      open = index as number;
    } else if (type === 'content_block_delta' || type === 'content_block_stop') {
      assert.equal(index, open, `${type} is for the open block`);
      if (type === 'content_block_stop') open = undefined;
    }
  }
  assert.equal(open, undefined, 'every block has an end');
}

/** Fails where a responses client would get a delta for an item that is not open, or an item that is done twice. */
export function checkItems(said: Streamed): void {
  const open = new Map<Json | undefined, Json | undefined>();
  const done = new Set<Json | undefined>();
  for (const [i, { data }] of said.events.entries()) {
    const { type, item, item_id: itemId, output_index: index, sequence_number: number } = data as JsonObject;
    assert.equal(number, i, 'events are numbered without a gap');
    if (type === 'response.output_item.added') {
      assert.ok(!done.has(index) && !open.has(index), `item ${String(index)} is new`);
      open.set(index, at(item, 'id'));
    } else if (type === 'response.output_item.done') {
      assert.equal(at(item, 'id'), open.get(index), 'the item that ends is the one that began there');
      open.delete(index);
      done.add(index);
    } else if (itemId !== undefined) {
      assert.equal(itemId, open.get(index), `${String(type)} is for an open item`);
    }
  }
  assert.equal(open.size, 0, 'every item has an end');
}
