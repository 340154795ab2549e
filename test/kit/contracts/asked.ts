/** One conversation as the contracts ask it, free of any style, and the check that all of it arrives at a vendor, whatever its format. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../../core/bytes/fields.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';

/** A request: what is said so far, and how the answer is wanted. */
export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly turns: readonly AskedTurn[];
  readonly tools: readonly AskedTool[];
  readonly maxTokens: number;
  readonly temperature: number;
  /** Texts that end the answer. */
  readonly stop: readonly string[];
}

/** What the user says, what the assistant says and calls, or what the calls returned. */
export type AskedTurn =
  | { readonly user: string }
  | { readonly assistant: string; readonly calls: readonly AskedCall[] }
  | { readonly results: readonly { readonly id: string; readonly text: string }[] };

export interface AskedCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

export interface AskedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly schema: JsonObject;
}

/** Two tools, whose order and descriptions can be told apart. */
const TOOLS: readonly AskedTool[] = [
  {
    name: 'get_weather',
    description: 'Tells the weather of the next days.',
    schema: {
      type: 'object',
      properties: {
        city: { type: 'string', description: 'Name of the city for the weather.' },
        days: { type: 'integer', description: 'How many days of weather.' },
      },
      required: ['city'],
    },
  },
  {
    name: 'get_time',
    description: 'Tells the local time.',
    schema: {
      type: 'object',
      properties: { city: { type: 'string', description: 'Name of the city for the time.' } },
      required: ['city'],
    },
  },
];

/** Every value in it occurs once, but for the ids of the calls, which their results repeat. */
export const ASKED: Asked = {
  model: 'public-name',
  stream: false,
  system: 'Answer briefly, for Zürich 🏔.',
  turns: [
    { user: 'What is the weather there, and the time in Oslo? 👋🏽' },
    {
      assistant: 'I will look it up.',
      calls: [
        { id: 'call_weather1', name: 'get_weather', input: { city: 'Zürich', days: 3 } },
        { id: 'call_time1', name: 'get_time', input: { city: 'Oslo' } },
      ],
    },
    {
      results: [
        { id: 'call_weather1', text: 'It rains for three days ☔.' },
        { id: 'call_time1', text: 'It is noon.' },
      ],
    },
    { user: 'Thank you – and the day after?' },
  ],
  tools: TOOLS,
  maxTokens: 4_321,
  temperature: 0.37,
  stop: ['HALT-7'],
};

/** The same without tools, and with what was said about them. */
export const ASKED_WITHOUT_TOOLS: Asked = {
  ...ASKED,
  tools: [],
  turns: [
    { user: 'What is the weather there? 👋🏽' },
    { assistant: 'It rains ☔.', calls: [] },
    { user: 'Thank you – and the day after?' },
  ],
};

/** A request as clients of the chat style send it. */
export function chatAsked(asked: Asked): JsonObject {
  const messages = asked.turns.flatMap((turn): JsonObject[] => {
    if ('user' in turn) return [{ role: 'user', content: turn.user }];
    if ('results' in turn)
      return turn.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
    const calls = turn.calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }));
    return [{ role: 'assistant', content: turn.assistant, ...(calls.length > 0 && { tool_calls: calls }) }];
  });
  const tools = asked.tools.map(({ name, description, schema }) => ({
    type: 'function',
    function: { name, description, parameters: schema },
  }));
  return {
    model: asked.model,
    messages: [{ role: 'system', content: asked.system }, ...messages],
    ...(tools.length > 0 && { tools }),
    max_tokens: asked.maxTokens,
    temperature: asked.temperature,
    stop: asked.stop,
    ...(asked.stream && { stream: true, stream_options: { include_usage: true } }),
  };
}

/** What the gateway said about a translation: the fields named in `x-turnpike-translation`, by the client's names for them. */
export function warnedFields(answer: Response): ReadonlySet<string> {
  const header = answer.headers.get('x-turnpike-translation') ?? '';
  return new Set(header.split(', ').map((warning) => warning.slice(0, warning.lastIndexOf(':'))));
}

/** A value somewhere in a body, and the values that hold it, the innermost first. */
interface Node {
  readonly value: Json;
  readonly within: readonly Json[];
}

function nodesOf(value: Json, within: readonly Json[] = []): readonly Node[] {
  const inner = [value, ...within];
  if (Array.isArray(value)) {
    return [{ value, within }, ...(value as readonly Json[]).flatMap((item) => nodesOf(item, inner))];
  }
  if (!isObject(value)) return [{ value, within }];
  return [{ value, within }, ...Object.values(value).flatMap((member) => nodesOf(member, inner))];
}

const isText =
  (text: string) =>
  ({ value }: Node): boolean =>
    typeof value === 'string' && value.includes(text);

const isNumber =
  (number: number) =>
  ({ value }: Node): boolean =>
    value === number;

/** As an object, or as the JSON text of one. */
const isInput =
  (input: JsonObject) =>
  ({ value }: Node): boolean => {
    if (typeof value !== 'string') return isDeepStrictEqual(value, input);
    try {
      return isDeepStrictEqual(JSON.parse(value), input);
    } catch {
      return false;
    }
  };

/** What is known of a request that arrived. */
export interface Arrived {
  /** The fields that a warning named, by the client's names for them. */
  readonly warned: ReadonlySet<string>;
  /** What the client calls a field of the chat style (`max_tokens`, `stop`). By default the same. */
  readonly names?: Readonly<Record<string, string>>;
  /** False for a vendor whose calls have no ids. */
  readonly hasIds?: boolean;
}

/** Fails if something of the request is missing in what the vendor got, or stands in the wrong order, and no warning names it. */
export function checkArrived(body: JsonObject, asked: Asked, { warned, names = {}, hasIds = true }: Arrived): void {
  const nodes = nodesOf(body);
  const lost: string[] = [];
  const place = (what: string, found: (node: Node) => boolean, field = 'messages'): number => {
    const at = nodes.findIndex(found);
    if (at < 0 && !warned.has(names[field] ?? field)) lost.push(what);
    return at;
  };
  const inOrder = (what: string, places: readonly number[]): void => {
    const there = places.filter((at) => at >= 0);
    if (there.some((at, i) => i > 0 && at < there[i - 1]!)) lost.push(`the order of ${what}`);
  };

  place(`the system text ${JSON.stringify(asked.system)}`, isText(asked.system));
  const said: number[] = [];
  const calls: number[] = [];
  for (const turn of asked.turns) {
    if ('user' in turn) said.push(place(`the user's text ${JSON.stringify(turn.user)}`, isText(turn.user)));
    else if ('results' in turn) {
      for (const { id, text } of turn.results) {
        const at = place(`the tool result ${JSON.stringify(text)}`, isText(text));
        said.push(at);
        checkId(`the tool result ${JSON.stringify(text)}`, id, nodes[at]);
      }
    } else {
      said.push(place(`the assistant's text ${JSON.stringify(turn.assistant)}`, isText(turn.assistant)));
      for (const { id, name, input } of turn.calls) {
        const at = place(`the arguments ${JSON.stringify(input)} of the tool call ${name}`, isInput(input));
        calls.push(at);
        checkId(`the tool call ${name}`, id, nodes[at]);
      }
    }
  }
  inOrder('the turns', said);
  inOrder('the tool calls', calls);

  const tools = asked.tools.map(({ name, description, schema }) => {
    place(`the tool ${name}: its name`, ({ value }) => value === name, 'tools');
    for (const { description: about } of Object.values(schema.properties as Record<string, { description: string }>))
      place(`the tool ${name}: the argument described as ${JSON.stringify(about)}`, isText(about), 'tools');
    return place(`the tool ${name}: its description`, isText(description), 'tools');
  });
  inOrder('the tools', tools);

  place(`max_tokens ${asked.maxTokens}`, isNumber(asked.maxTokens), 'max_tokens');
  place(`temperature ${asked.temperature}`, isNumber(asked.temperature), 'temperature');
  for (const text of asked.stop) place(`the stop sequence ${text}`, isText(text), 'stop');
  assert.deepEqual(lost, [], `lost on the way to the vendor: ${lost.join('; ')}`);

  /** The innermost object around a call or a result that has an id at all has the right one, and no other. */
  function checkId(what: string, id: string, node: Node | undefined): void {
    if (node === undefined || !hasIds) return;
    const ids = asked.turns.flatMap((turn) => ('calls' in turn ? turn.calls.map((call) => call.id) : []));
    const found = node.within
      .map((holder) => ids.filter((candidate) => nodesOf(holder).some(({ value }) => value === candidate)))
      .find((some) => some.length > 0);
    if (!isDeepStrictEqual(found, [id])) lost.push(`the id ${id} of ${what}`);
  }
}
