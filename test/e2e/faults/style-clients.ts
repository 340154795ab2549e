/** A client of each style, as far as the fault tables need one: how it asks, and what it makes of what comes. */

import assert from 'node:assert/strict';
import { createParser } from 'eventsource-parser';
import type { Headers } from '../../../core/contracts/definitions.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';

export type ClientName = 'chat' | 'responses' | 'messages';

/** What a client understood. */
export interface Understood {
  readonly text: string;
  /** In tokens; undefined where it was not told. */
  readonly input: number | undefined;
  readonly output: number | undefined;
  /** The answer has come to a good end. */
  readonly ended: boolean;
  readonly error: Told | undefined;
}

/** An error as the client was told it. */
export interface Told {
  /** What it came in: `response.failed`, `error`; empty where errors have no name. */
  readonly event: string;
  readonly code: Json;
  readonly message: Json;
}

export interface ClientStyle {
  readonly path: string;
  /** Beside those that all styles have. */
  readonly headers?: Headers;
  /** A question whose answer has at most 16 tokens. */
  ask(model: string): JsonObject;
  /** What makes it a stream that tells its usage. */
  readonly streamed: JsonObject;
  /** What the gateway writes where a vendor is silent. */
  readonly keepAlive: string;
  /** Reads a whole answer. */
  whole(body: JsonObject): Understood;
  /** Reads a stream; fails where it is none of this style. */
  stream(text: string): Understood;
  /** Reads the body of an answer whose status is an error's; fails where this style has another shape for it. */
  refusal(body: JsonObject, requestId: string): Told;
}

const QUESTION = 'Hello?';

/** One event, parsed; `[DONE]` stays text. */
type Seen = (name: string | undefined, data: JsonObject | '[DONE]') => void;

/** Gives each event of a stream to `see`. Nothing may stand in it but whole events and comments. */
function readEvents(text: string, see: Seen): void {
  assert.match(text, /^$|(\n\n|\r\n\r\n|\r\r)$/, 'the stream ends inside an event');
  const parser = createParser({
    onEvent: ({ event, data }) => see(event, data === '[DONE]' ? data : (JSON.parse(data) as JsonObject)),
    onError: (error) => assert.fail(error),
  });
  parser.feed(text.replace(/^\uFEFF/, ''));
  // An LF might have belonged to a last CR.
  parser.feed('\n');
}

function at(value: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (inner, name) => (inner as { readonly [member: string]: Json } | null | undefined)?.[name],
    value,
  );
}

/** What grows while a stream is read. */
interface Reading {
  text: string;
  input: number | undefined;
  output: number | undefined;
  ended: boolean;
  error: Told | undefined;
}

/** Reads a stream with `read`; behind its end or an error nothing may come. */
function reading(text: string, read: (it: Reading, name: string | undefined, data: JsonObject | '[DONE]') => void) {
  const it: Reading = { text: '', input: undefined, output: undefined, ended: false, error: undefined };
  readEvents(text, (name, data) => {
    assert.ok(!it.ended && it.error === undefined, `something follows the end: ${JSON.stringify(data)}`);
    read(it, name, data);
  });
  return it;
}

/** The error object that all styles have, wherever it stands. */
function toldBy(error: Json | undefined, event = ''): Told {
  const { message, type, code = '' } = error as JsonObject;
  assert.ok(typeof message === 'string' && message !== '', 'an error has a message');
  assert.ok(typeof type === 'string' && type !== '', 'an error has a type');
  return { event, code, message };
}

const chat: ClientStyle = {
  path: '/v1/chat/completions',
  ask: (model) => ({ model, max_tokens: 16, messages: [{ role: 'user', content: QUESTION }] }),
  streamed: { stream: true, stream_options: { include_usage: true } },
  keepAlive: ': keep-alive\n\n',
  whole: (body) => ({
    text: String(at(body, 'choices', 0, 'message', 'content')),
    input: at(body, 'usage', 'prompt_tokens') as number,
    output: at(body, 'usage', 'completion_tokens') as number,
    ended: at(body, 'choices', 0, 'finish_reason') === 'stop',
    error: undefined,
  }),
  stream: (text) =>
    reading(text, (it, name, data) => {
      assert.equal(name, undefined, 'events of chat streams have no names');
      if (data === '[DONE]') {
        it.ended = true;
      } else if (data.error !== undefined) {
        it.error = toldBy({ type: 'error', ...(data.error as JsonObject) });
      } else {
        it.text += (at(data, 'choices', 0, 'delta', 'content') as string | undefined) ?? '';
        it.input = (at(data, 'usage', 'prompt_tokens') as number | undefined) ?? it.input;
        it.output = (at(data, 'usage', 'completion_tokens') as number | undefined) ?? it.output;
      }
    }),
  refusal(body) {
    assert.deepEqual(Object.keys(body), ['error']);
    return toldBy(body.error);
  },
};

const responses: ClientStyle = {
  path: '/v1/responses',
  ask: (model) => ({ model, max_output_tokens: 16, input: QUESTION }),
  streamed: { stream: true },
  keepAlive: ': keep-alive\n\n',
  whole: (body) => ({
    text: String(at(body, 'output', 0, 'content', 0, 'text')),
    input: at(body, 'usage', 'input_tokens') as number,
    output: at(body, 'usage', 'output_tokens') as number,
    ended: body.status === 'completed',
    error: undefined,
  }),
  stream(text) {
    let sequence = -1;
    return reading(text, (it, name, data) => {
      assert.ok(data !== '[DONE]', 'streams of responses have no [DONE]');
      assert.equal(name, data.type, 'the name stands in both places');
      const number = data.sequence_number as number;
      assert.ok(number > sequence, `${name} has the number ${number} behind ${sequence}`);
      const isFirst = sequence === -1;
      sequence = number;
      switch (name) {
        case 'response.output_text.delta':
          it.text += data.delta as string;
          break;
        case 'response.completed':
          it.ended = true;
          it.input = at(data, 'response', 'usage', 'input_tokens') as number;
          it.output = at(data, 'response', 'usage', 'output_tokens') as number;
          break;
        case 'response.failed':
          assert.equal(at(data, 'response', 'status'), 'failed');
          it.error = toldBy({ type: 'error', ...(at(data, 'response', 'error') as JsonObject) }, name);
          break;
        case 'error':
          it.error = toldBy(data, name);
          break;
        default:
          assert.equal(isFirst, name === 'response.created', `${name} in its place`);
      }
    });
  },
  refusal: chat.refusal,
};

/** Official clients know these and no others. */
const ERROR_TYPES = [
  'invalid_request_error',
  'authentication_error',
  'billing_error',
  'permission_error',
  'not_found_error',
  'request_too_large',
  'rate_limit_error',
  'timeout_error',
  'overloaded_error',
  'api_error',
];

function refusalOfMessages(body: JsonObject): Told {
  assert.equal(body.type, 'error');
  const told = toldBy(body.error, 'error');
  assert.ok(ERROR_TYPES.includes(String(at(body, 'error', 'type'))), JSON.stringify(body));
  return told;
}

function inputOfMessages(usage: Json | undefined): number | undefined {
  const counts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'].map((name) =>
    at(usage, name),
  );
  return typeof counts[0] === 'number' ? counts.reduce<number>((sum, n) => sum + Number(n ?? 0), 0) : undefined;
}

const messages: ClientStyle = {
  path: '/v1/messages',
  headers: { 'anthropic-version': '2023-06-01' },
  ask: (model) => ({ model, max_tokens: 16, messages: [{ role: 'user', content: QUESTION }] }),
  streamed: { stream: true },
  keepAlive: 'event: ping\ndata: {"type":"ping"}\n\n',
  whole: (body) => ({
    text: String(at(body, 'content', 0, 'text')),
    input: inputOfMessages(body.usage),
    output: at(body, 'usage', 'output_tokens') as number,
    ended: body.stop_reason === 'end_turn',
    error: undefined,
  }),
  stream(text) {
    let begun = false;
    return reading(text, (it, name, data) => {
      assert.ok(data !== '[DONE]', 'streams of messages have no [DONE]');
      assert.equal(name, data.type, 'the name stands in both places');
      switch (name) {
        case 'ping':
          break;
        case 'error':
          it.error = refusalOfMessages(data);
          break;
        case 'message_start':
          assert.ok(!begun, 'a message begins once');
          begun = true;
          it.input = inputOfMessages(at(data, 'message', 'usage'));
          break;
        case 'message_stop':
          it.ended = true;
          break;
        default:
          assert.ok(begun, `${name} before the message begins`);
          if (name === 'content_block_delta') it.text += at(data, 'delta', 'text') as string;
          if (name !== 'message_delta') break;
          it.input = inputOfMessages(data.usage) ?? it.input;
          it.output = at(data, 'usage', 'output_tokens') as number;
      }
    });
  },
  refusal(body, requestId) {
    assert.deepEqual(Object.keys(body).sort(), ['error', 'request_id', 'type']);
    if (at(body, 'error', 'code') !== undefined) assert.equal(body.request_id, requestId);
    return refusalOfMessages(body);
  },
};

export const CLIENTS: Readonly<Record<ClientName, ClientStyle>> = { chat, responses, messages };
