/** What a client has read of an answer, in whatever style, compared with what was said. */

import assert from 'node:assert/strict';
import { isObject } from '../../../core/bytes/fields.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import type { Scenario, ScenarioCall } from '../speech.ts';

/** An answer as a client has read it, whole or from a stream. */
export interface Heard {
  /** The model that answered. */
  readonly model: string;
  readonly text: string;
  /** What the model declines with, if the style has a place for it; empty otherwise. */
  readonly refusal: string;
  /** Empty if the style shows none. */
  readonly reasoning: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: Json }[];
  /** Why the answer ended; undefined if it did not come to a good end. */
  readonly end: Scenario['end'] | undefined;
  /** In tokens; `input` includes what was `cached`, `output` includes `reasoning`. Undefined: not told. */
  readonly usage:
    | {
        readonly input: number;
        readonly output: number;
        readonly cached?: number | undefined;
        readonly reasoning?: number | undefined;
      }
    | undefined;
  /** The message of an error in place of an answer, or inside of a stream. */
  readonly error: string | undefined;
}

/** What is expected of an answer; what is undefined cannot be told, and is not compared. */
export interface Expected {
  readonly scenario: Scenario;
  /** The id that the vendor gave a call; undefined if it gave none. */
  callId(call: ScenarioCall): string | undefined;
  readonly model?: string | undefined;
  readonly tellsRefusal: boolean;
  readonly tellsReasoning: boolean;
  readonly tellsInput: boolean;
  readonly tellsOutput: boolean;
  readonly tellsCached: boolean;
}

/** Fails with the list of what was lost if the client has not read what was said. */
export function checkHeard(heard: Heard, expected: Expected): void {
  const { scenario, callId } = expected;
  const lost: string[] = [];
  const same = (what: string, found: unknown, said: unknown): void => {
    const [a, b] = [JSON.stringify(found), JSON.stringify(said)];
    if (a !== b) lost.push(`${what}: the client reads ${a}, and the vendor said ${b}`);
  };
  const joined = (pieces: readonly string[] = []): string => pieces.join('');

  same('an error', heard.error, undefined);
  if (expected.model !== undefined) same('the name of the model', heard.model, expected.model);
  const refusal = joined(scenario.refusal);
  // Styles without a place for it show a refusal as text.
  const text = heard.refusal === '' && expected.tellsRefusal ? joined(scenario.text) + refusal : joined(scenario.text);
  same('the text', heard.text, text);
  if (heard.refusal !== '' && expected.tellsRefusal) same('the refusal', heard.refusal, refusal);
  if (expected.tellsReasoning) same('the reasoning', heard.reasoning, joined(scenario.reasoning));
  const calls = scenario.calls ?? [];
  same(
    'the tool calls, in order',
    heard.calls.map(({ name, input }) => ({ name, input })),
    calls.map(({ name, pieces }) => ({ name, input: JSON.parse(pieces.join('')) as Json })),
  );
  for (const [i, call] of calls.entries()) {
    const found = heard.calls[i]?.id;
    const id = callId(call);
    if (id !== undefined) same(`the id of the tool call ${call.name}`, found, id);
    else if (!found) lost.push(`the id of the tool call ${call.name}: the client reads none`);
  }
  same('the end and its reason', heard.end, scenario.end);

  const { usage } = heard;
  if (expected.tellsInput) same('the input tokens', usage?.input, scenario.usage.input);
  if (expected.tellsOutput) same('the output tokens', usage?.output, scenario.usage.output);
  if (expected.tellsCached) same('the cached tokens', usage?.cached, scenario.usage.cached);
  for (const [name, count] of Object.entries(usage ?? {})) {
    if (count !== undefined && !Number.isSafeInteger(count))
      lost.push(`the ${name} tokens: ${count} is not a whole number`);
  }
  assert.deepEqual(lost, [], `lost on the way to the client: ${lost.join('; ')}`);
}

/** A stream as a client has read it. */
export interface HeardStream extends Heard {
  /** The connection broke off before the stream ended. */
  readonly isCut: boolean;
}

/** Reads a stream as far as it comes, whether it comes to its end or not. */
export async function readSoFar(answer: Response, read: (stream: string) => Heard): Promise<HeardStream> {
  let text = '';
  let isCut = false;
  try {
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) text += piece;
  } catch {
    // What came before counts.
    isCut = true;
  }
  return { ...read(text), isCut };
}

const ENDS: Readonly<Record<string, Scenario['end']>> = {
  stop: 'stop',
  tool_calls: 'tools',
  length: 'length',
  content_filter: 'refusal',
};

/** A whole answer of the chat style, or an error. */
export function readChat(body: JsonObject): Heard {
  const [choice = {}] = (body.choices ?? []) as readonly JsonObject[];
  const message = (choice.message ?? {}) as JsonObject;
  return heardOf(
    body,
    {
      text: textOf(message.content),
      refusal: textOf(message.refusal),
      reasoning: textOf(message.reasoning_content),
      calls: ((message.tool_calls ?? []) as readonly JsonObject[]).map(({ id, function: called }) => {
        const { name, arguments: input } = called as JsonObject;
        return { id: textOf(id), name: textOf(name), input: textOf(input) };
      }),
    },
    choice.finish_reason,
    body.usage,
  );
}

/** A stream of the chat style, from its first event to wherever it ended. */
export function readChatStream(stream: string): Heard {
  const told = { text: '', refusal: '', reasoning: '' };
  const calls: { id: string; name: string; input: string }[] = [];
  let last: JsonObject = {};
  let reason: Json | undefined;
  let usage: Json | undefined;
  let done = false;
  for (const [, data = ''] of stream.matchAll(/^data: ?(.*)$/gm)) {
    if (data === '[DONE]') {
      done = true;
      continue;
    }
    const event = JSON.parse(data) as JsonObject;
    last = { ...last, ...event };
    usage = event.usage ?? usage;
    const [choice = {}] = (event.choices ?? []) as readonly JsonObject[];
    const delta = (choice.delta ?? {}) as JsonObject;
    reason = choice.finish_reason ?? reason;
    told.text += textOf(delta.content);
    told.refusal += textOf(delta.refusal);
    told.reasoning += textOf(delta.reasoning_content);
    for (const piece of (delta.tool_calls ?? []) as readonly JsonObject[]) {
      const called = (piece.function ?? {}) as JsonObject;
      const place = piece.index as number;
      calls[place] ??= { id: '', name: '', input: '' };
      const call = calls[place];
      call.id += textOf(piece.id);
      call.name += textOf(called.name);
      call.input += textOf(called.arguments);
    }
  }
  return heardOf(last, { ...told, calls: calls.filter(Boolean) }, done ? reason : undefined, usage);
}

interface ChatTexts {
  readonly text: string;
  readonly refusal: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: string }[];
}

function heardOf(body: JsonObject, texts: ChatTexts, reason: Json | undefined, usage: Json | undefined): Heard {
  const error = body.error as JsonObject | undefined;
  const end = texts.refusal !== '' && reason === 'stop' ? 'refusal' : ENDS[String(reason)];
  return {
    ...texts,
    model: textOf(body.model),
    calls: texts.calls.map((call) => ({ ...call, input: jsonOf(call.input) })),
    end: error === undefined ? end : undefined,
    usage: isObject(usage)
      ? {
          input: Number(usage.prompt_tokens),
          output: Number(usage.completion_tokens),
          cached: detail(usage.prompt_tokens_details, 'cached_tokens'),
          reasoning: detail(usage.completion_tokens_details, 'reasoning_tokens'),
        }
      : undefined,
    error: error === undefined ? undefined : textOf(error.message),
  };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The arguments; the text as it stands if it is not JSON. */
function jsonOf(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function detail(details: Json | undefined, name: string): number | undefined {
  return isObject(details) && typeof details[name] === 'number' ? details[name] : undefined;
}
