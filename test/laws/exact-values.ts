/** Requests, replies and streams of every style with one call, as texts: the values in them are written as the test has them. */
import assert from 'node:assert/strict';
import type { Json, JsonObject } from '../../core/contracts/formats/json.ts';
import { eventsIn, type StreamEvent } from './halves.ts';

export const quote = JSON.stringify;
/** A schema with a number. */
export const SCHEMA = (number: string): string =>
  `{"type":"object","properties":{"n":{"type":"number","maximum":${number}}}}`;

/** Requests whose history has a call with these arguments and this result. */
export const REQUESTS: Readonly<Record<string, (args: string, result: string, schema: string) => string>> = {
  chat: (args, result, schema) =>
    `{"model":"m","messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":${quote(args)}}}]},{"role":"tool","tool_call_id":"call_1","content":${quote(result)}}],"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`,
  responses: (args, result, schema) =>
    `{"model":"m","input":[{"role":"user","content":"Hi"},{"type":"function_call","call_id":"call_1","name":"f","arguments":${quote(args)}},{"type":"function_call_output","call_id":"call_1","output":${quote(result)}}],"tools":[{"type":"function","name":"f","parameters":${schema}}]}`,
  messages: (args, result, schema) =>
    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"f","input":${args}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":${quote(result)}}]}],"tools":[{"name":"f","input_schema":${schema}}]}`,
};

/** Whole replies with this call. */
export const REPLIES: Readonly<Record<string, (args: string) => string>> = {
  chat: (args) =>
    `{"id":"a","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":${quote(args)}}}]}}]}`,
  responses: (args) =>
    `{"id":"a","object":"response","created_at":1,"status":"completed","model":"m","output":[{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":${quote(args)},"status":"completed"}]}`,
  messages: (args) =>
    `{"id":"a","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"call_1","name":"f","input":${args}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`,
  gemini: (args) =>
    `{"responseId":"a","modelVersion":"m","candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"f","args":${args}}}]},"finishReason":"STOP"}]}`,
};

const event = (data: string): StreamEvent => ({ name: undefined, data });

/** The same as streams, the arguments in two pieces where the style has pieces. */
export const STREAMS: Readonly<Record<string, (args: string) => readonly StreamEvent[]>> = {
  chat(args) {
    const chunk = (delta: string, finish = 'null'): StreamEvent =>
      event(
        `{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}`,
      );
    const piece = (text: string, head = ''): StreamEvent =>
      chunk(`{"tool_calls":[{"index":0,${head}"function":{${head && '"name":"f",'}"arguments":${quote(text)}}}]}`);
    const half = args.length >> 1;
    return [
      piece(args.slice(0, half), '"id":"call_1","type":"function",'),
      piece(args.slice(half)),
      chunk('{}', '"tool_calls"'),
      event('[DONE]'),
    ];
  },
  responses(args) {
    const item = (text: string, status: string): string =>
      `{"id":"fc_1","type":"function_call","call_id":"call_1","name":"f","arguments":${quote(text)},"status":"${status}"}`;
    return [
      event('{"type":"response.created","response":{"id":"a","model":"m","status":"in_progress","output":[]}}'),
      event(`{"type":"response.output_item.added","output_index":0,"item":${item('', 'in_progress')}}`),
      event(`{"type":"response.output_item.done","output_index":0,"item":${item(args, 'completed')}}`),
      event(`{"type":"response.completed","response":${REPLIES.responses!(args)}}`),
    ];
  },
  messages: (args) => [
    event('{"type":"message_start","message":{"id":"a","model":"m","content":[],"usage":{"input_tokens":1}}}'),
    event(
      `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"call_1","name":"f","input":${args}}}`,
    ),
    event('{"type":"content_block_stop","index":0}'),
    event('{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}'),
    event('{"type":"message_stop"}'),
  ],
  gemini: (args) => [event(REPLIES.gemini!(args))],
};

/** The arguments in a body of a style: JSON text, or the object inside of the body's text. */
export function assertArguments(style: string, wire: string, args: string): void {
  if (style === 'messages' || style === 'gemini') {
    const member = style === 'messages' ? 'input' : 'args';
    assert.ok(wire.includes(`"${member}":${args}`), `${args} is not in ${wire}`);
  } else {
    assert.deepEqual(stringsNamed('arguments', JSON.parse(wire) as Json), [args]);
  }
}

function stringsNamed(name: string, value: Json): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap((each) => stringsNamed(name, each));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === name && typeof inner === 'string' ? [inner] : stringsNamed(name, inner as Json),
  );
}

/** The arguments that a client of a style collects from its stream. */
export function collectedArguments(style: string, stream: string): string {
  const events = eventsIn(stream).flatMap(({ data }) => (data === '[DONE]' ? [] : [JSON.parse(data) as JsonObject]));
  if (style === 'messages') return events.flatMap((each) => stringsNamed('partial_json', each)).join('');
  if (style === 'chat') return events.flatMap((each) => stringsNamed('arguments', each)).join('');
  const deltas = events.filter(({ type }) => type === 'response.function_call_arguments.delta');
  return deltas.map(({ delta }) => String(delta)).join('');
}
