/** The largest requests that are let in, through every translation: none may keep everybody else waiting. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { scanJson } from '../../../core/bytes/json-body.ts';
import type { Json, JsonObject } from '../../../core/contracts/formats/json.ts';
import { GatewayError } from '../../../core/contracts/gateway-error.ts';
import { adapt } from '../../../core/translation/adapt/adapt.ts';
import { collectWarnings } from '../../../core/translation/warnings/warnings.ts';
import { processorTime } from '../../kit/clients/processor.ts';
import { some } from '../../kit/console/whole.ts';
import { CLIENTS, MODELS } from '../../laws/halves.ts';

/**
 * Reading or writing one takes a few hundred milliseconds of the processor; what grows with the square of its size takes minutes. Other
 * processes of a busy machine do not count.
 */
const LIMIT_MS = 5_000;
const TOKENS = 199_000;
const BYTES = 16 * 1_024 * 1_024;

/** A model of each style; of chat one that takes little. */
const TARGETS = MODELS.filter(({ name }) =>
  ['strict-template', 'gpt-5', 'claude-sonnet-4-5', 'gemini-2.5-pro'].includes(name),
);

/** As many as are let in; `make` gets the number of each. */
function most(make: (i: number) => Json): readonly Json[] {
  const tokens = tokensIn(make(0));
  return Array.from({ length: Math.floor(TOKENS / tokens) }, (_, i) => make(i));
}

/** As the scan of a body counts them. */
function tokensIn(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  const inner = Object.values(value) as readonly Json[];
  return 1 + inner.reduce<number>((sum, each) => sum + tokensIn(each), 0) + (Array.isArray(value) ? 0 : inner.length);
}

/** One shape, as a client of each style would write it. */
interface Shape {
  readonly name: string;
  readonly chat: JsonObject;
  readonly responses: JsonObject;
  readonly messages: JsonObject;
}

const user = (content: Json): JsonObject => ({ role: 'user', content });
const schema = { type: 'object' };
const asked = { messages: [user('Hi')] };

/** Calls and results by these ids, each with its own turns. */
function called(name: string, id: (i: number) => string): Shape {
  const half = (make: (i: number) => readonly JsonObject[]): readonly Json[] =>
    most((i) => make(i)).flat() as readonly Json[];
  return {
    name,
    chat: {
      messages: half((i) => [
        { role: 'assistant', tool_calls: [{ id: id(i), type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: id(i), content: 'x' },
      ]),
    },
    responses: {
      input: half((i) => [
        { type: 'function_call', call_id: id(i), name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: id(i), output: 'x' },
      ]),
    },
    messages: {
      messages: half((i) => [
        { role: 'assistant', content: [{ type: 'tool_use', id: id(i), name: 'f', input: {} }] },
        user([{ type: 'tool_result', tool_use_id: id(i), content: 'x' }]),
      ]),
    },
  };
}

/** Turns of these roles, one after the other, over and over. */
function spoken(name: string, ...roles: readonly string[]): Shape {
  const messages = most((i) => ({ role: roles[i % roles.length]!, content: 'x' }));
  const known = messages.map((each) =>
    (each as JsonObject).role === 'developer' ? { ...(each as JsonObject), role: 'system' } : each,
  );
  return { name, chat: { messages }, responses: { input: messages }, messages: { messages: known } };
}

/** Many tools, and a choice among as many names. */
function chosen(name: string, toolName: (i: number) => string, wanted: (i: number) => string): Shape {
  const both = most((i) => [
    { type: 'function', name: toolName(i), parameters: schema },
    { type: 'function', name: wanted(i) },
  ]) as readonly (readonly JsonObject[])[];
  const tools = both.map(([tool]) => tool!);
  const names = both.map(([, each]) => each!);
  const inChat = ({ name, parameters }: JsonObject): JsonObject => ({
    type: 'function',
    function: { name: name!, ...(parameters !== undefined && { parameters }) },
  });
  const few = <T>(list: readonly T[]): readonly T[] => list.slice(0, Math.floor(list.length / 1.5));
  return {
    name,
    chat: {
      ...asked,
      tools: few(tools).map(inChat),
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: few(names).map(inChat) } },
    },
    responses: { input: 'Hi', tools, tool_choice: { type: 'allowed_tools', mode: 'required', tools: names } },
    messages: {
      ...asked,
      tools: tools.map(({ name }) => ({ name: name!, input_schema: schema })),
      tool_choice: { type: 'any' },
    },
  };
}

const long = 'x'.repeat(BYTES - 1_000);
const unknown = Object.fromEntries(most((i) => [`${i}`, i]).map((pair) => [`field_${(pair as Json[])[0]}`, 1]));
const padded = `${'A'.repeat(1_100)}${'='.repeat(1_000_000)}${'A'.repeat(1_100)}`;
const spaces = most((i) => i)
  .slice(0, 4_000)
  .map(() => `${' '.repeat(2_000)}!`);

const SHAPES: readonly Shape[] = [
  spoken('turns of one side', 'user'),
  spoken('turns of both sides', 'user', 'assistant'),
  spoken('instructions in the middle', 'user', 'system', 'developer'),
  spoken('nothing but instructions', 'system'),
  called('calls by one id', () => 'a'),
  called('calls by ids that look made up', (i) => (i % 2 === 0 ? 'a' : `a_${i}`)),
  called('calls by ids that no vendor takes', (i) => `ü.${i}`),
  chosen(
    'a choice among many tools',
    (i) => `tool_${i}`,
    (i) => `tool_${i}`,
  ),
  chosen(
    'a choice among tools that are not there',
    (i) => `tool_${i}`,
    (i) => `gone_${i}`,
  ),
  chosen(
    'one tool many times',
    () => 'tool',
    () => 'tool',
  ),
  {
    name: 'blocks of one turn',
    chat: { messages: [user(most(() => ({ type: 'text', text: 'x' })))] },
    responses: { input: [user(most(() => ({ type: 'input_text', text: 'x' })))] },
    messages: { messages: [user(most(() => ({ type: 'text', text: 'x' })))] },
  },
  {
    name: 'calls of one turn',
    chat: {
      messages: [
        user('Hi'),
        {
          role: 'assistant',
          tool_calls: most(() => ({ id: 'a', type: 'function', function: { name: 'f', arguments: '' } })),
        },
        user('x'),
      ],
    },
    responses: {
      input: [
        user('Hi'),
        ...most(() => ({ type: 'function_call', call_id: 'a', name: 'f', arguments: '' })),
        user('x'),
      ],
    },
    messages: {
      messages: [
        user('Hi'),
        { role: 'assistant', content: most(() => ({ type: 'tool_use', id: 'a', name: 'f', input: {} })) },
        user('x'),
      ],
    },
  },
  {
    name: 'thoughts',
    chat: {
      messages: most(() => ({ role: 'assistant', content: 'x', reasoning_content: 'y' })),
      reasoning_effort: 'high',
    },
    responses: {
      input: most((i) => ({ type: 'reasoning', id: `rs_${i}`, summary: [], encrypted_content: 'x' })),
      reasoning: { effort: 'high' },
    },
    messages: {
      messages: [
        user('Hi'),
        { role: 'assistant', content: most(() => ({ type: 'thinking', thinking: 'x', signature: 'y' })) },
        user('x'),
      ],
      thinking: { type: 'enabled', budget_tokens: 2_000 },
    },
  },
  {
    name: 'fields that nobody knows',
    chat: { ...asked, ...unknown },
    responses: { input: 'Hi', ...unknown },
    messages: { ...asked, ...unknown },
  },
  {
    name: 'fields of a message that nobody knows',
    chat: { messages: [{ ...user('Hi'), ...unknown }] },
    responses: { input: [{ ...user('Hi'), ...unknown }] },
    messages: { messages: [{ ...user('Hi'), ...unknown }] },
  },
  {
    name: 'texts that end the answer',
    chat: { ...asked, stop: most((i) => `${i}`) },
    responses: { input: 'Hi', stop: most((i) => `${i}`) },
    messages: { ...asked, stop_sequences: most((i) => `${i}`) },
  },
  {
    name: 'one long text',
    chat: { messages: [user(long)] },
    responses: { input: long, instructions: 'x' },
    messages: { messages: [user(long)] },
  },
  {
    name: 'pictures that are none',
    chat: {
      messages: [
        user(spaces.map((text) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${text}` } }))),
      ],
    },
    responses: {
      input: [user([{ type: 'input_image', image_url: `data:image/png;base64,${padded}` }])],
    },
    messages: {
      messages: [user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: padded } }])],
    },
  },
];

/** That a request is refused is another matter. */
function unlessRefused<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}

describe('the largest request', () => {
  for (const [i, { name, ...bodies }] of SHAPES.entries()) {
    for (const [j, client] of CLIENTS.entries()) {
      it(`of ${name} in ${client.name} is translated within a time limit`, () => {
        const own = client.name === 'messages' ? { max_tokens: 10_000 } : {};
        const bytes = Buffer.from(JSON.stringify({ model: 'm', ...own, ...bodies[client.name] }));
        assert.ok(bytes.length <= BYTES, `${bytes.length} bytes`);
        const body = scanJson(bytes).tree() as JsonObject;
        let used = processorTime();
        const within = (what: string): void => {
          const took = used();
          assert.ok(took < LIMIT_MS, `${what}: ${took} ms`);
          used = processorTime();
        };
        const warnings = collectWarnings(client.asked.names);
        const said = unlessRefused(() => client.asked.decodeRequest(body, warnings));
        within('reading');
        assert.equal(said === undefined, name === 'pictures that are none', 'only what is no picture is refused');
        if (said === undefined) return;
        for (const { name: model, style, spoken, to } of some(TARGETS, i + j)) {
          unlessRefused(() => spoken.encodeRequest(adapt(said, style, to, warnings).conversation, to, warnings));
          within(model);
        }
        assert.ok(warnings.all.length <= 65, 'warnings are few');
      });
    }
  }
});
