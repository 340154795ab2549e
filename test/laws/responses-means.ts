/** Conversations within the means of the style responses. */

import type { Block, Conversation, Tool, ToolCallBlock } from '../../core/contracts/formats/conversation.ts';
import fc from '../kit/fast-check.ts';
import {
  ALL_LEVELS,
  breakpoints,
  conversation,
  dialogue,
  efforts,
  inputs,
  instruction,
  just,
  labels,
  type Means,
  maybe,
  modes,
  PAGE,
  PDF,
  PNG,
  SCHEMA,
  sealed,
  some,
  text,
  toolbox,
  toolNames,
  words,
} from './dialogues.ts';

/** A tool that waits to be found. */
const deferred = just({ defer_loading: true });

/** Whatever waits is looked for. */
function withSearch(toolbox: Pick<Conversation, 'tools' | 'toolChoice'>): Pick<Conversation, 'tools' | 'toolChoice'> {
  const waits = toolbox.tools.some((tool) => 'extras' in tool);
  return waits ? { ...toolbox, tools: [...toolbox.tools, TOOL_SEARCH] } : toolbox;
}
const TOOL_SEARCH: Tool = {
  type: 'hosted',
  name: 'tool_search',
  style: 'responses',
  raw: { type: 'tool_search', execution: 'server' },
};

/** Tools that the vendor runs want more thought than the least. */
function enoughForTools(said: Conversation): Conversation {
  const { reasoning, tools } = said;
  if (reasoning?.effort !== 'minimal' || !tools.some(({ type }) => type === 'hosted')) return said;
  return { ...said, reasoning: { ...reasoning, effort: 'low' } };
}

/**
 * Every block has an item or a part of its own and keeps its place. The prompt is `instructions` where it is one text that nobody
 * marks. Whether an answer is kept is always said, and so is whether a schema is strict.
 */
export const responsesMeans: Means = {
  quirks: () => ({ cache: { hint: 'breakpoint' }, reasoning: { levels: ALL_LEVELS } }),
  conversations: conversation(
    dialogue({
      front: fc
        .tuple(
          fc.array(instruction(['system']), { maxLength: 1 }),
          fc.array(instruction(['developer'], breakpoints), { maxLength: 2 }),
        )
        .map((turns) => turns.flat()),
      user: fc.oneof<fc.Arbitrary<Block>[]>(
        text(breakpoints),
        some(
          { type: just('image'), source: fc.constantFrom(PNG, PAGE), detail: fc.constantFrom('low', 'auto') },
          'type',
          'source',
          'detail',
        ),
        just({ type: 'file', source: PDF, name: 'a.pdf' }),
        just({ type: 'file', source: PAGE }),
        just({ type: 'audio', data: 'AAAA', format: 'wav' }),
      ),
      said: fc.array(
        fc.oneof<fc.Arbitrary<Block>[]>(
          text(),
          some({ type: just('refusal'), text: words }, 'type', 'text'),
          just({
            type: 'thinking',
            text: 'Hm.',
            opaque: { ...sealed('responses', 'encrypted', 'gAAAA=='), id: 'rs_1' },
          }),
          just({
            type: 'foreign',
            style: 'responses',
            what: 'web_search_call',
            raw: { type: 'web_search_call', id: 'ws_1', status: 'completed' },
          }),
        ),
        { minLength: 1, maxLength: 4 },
      ),
      call: fc.oneof<fc.Arbitrary<Omit<ToolCallBlock, 'type' | 'id'>>[]>(
        some({ kind: just('function'), name: toolNames, input: inputs }, 'kind', 'name', 'input'),
        some({ kind: just('custom'), name: toolNames, input: words }, 'kind', 'name', 'input'),
      ),
      result: fc.record(
        {
          content: fc.oneof(
            fc.array(text(breakpoints), { maxLength: 2 }),
            just<readonly Block[]>([
              { type: 'text', text: 'Look:' },
              { type: 'image', source: PNG, detail: 'auto' },
            ]),
          ),
        },
        { noNullPrototype: true },
      ),
      after: maybe(instruction(['system', 'developer'])),
    }),
    toolbox(
      fc.oneof<fc.Arbitrary<Tool>[]>(
        some(
          {
            type: just('function'),
            name: toolNames,
            description: words,
            schema: just(SCHEMA),
            strict: fc.boolean(),
            extras: deferred,
          },
          'type',
          'name',
          'schema',
          'strict',
        ),
        some(
          {
            type: just('custom'),
            name: toolNames,
            description: words,
            format: fc.constantFrom({ type: 'text' }, { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }),
            extras: deferred,
          },
          'type',
          'name',
        ),
        just({
          type: 'hosted',
          name: 'web_search',
          style: 'responses',
          raw: { type: 'web_search', search_context_size: 'low', filters: { allowed_domains: ['example.com'] } },
          search: { contextSize: 'low', allowedDomains: ['example.com'] },
        }),
        just({ type: 'hosted', name: 'mcp', style: 'responses', raw: { type: 'mcp', server_label: 'x' } }),
      ),
      (names) =>
        names.length < 2
          ? modes(names)
          : fc.oneof(
              modes(names),
              fc.record(
                { mode: fc.constantFrom('auto' as const, 'required' as const), only: just(names) },
                { noNullPrototype: true },
              ),
            ),
    ).map(withSearch),
    some<Partial<Conversation>>(
      {
        parallelToolCalls: fc.boolean(),
        maxTokens: fc.constantFrom(16, 1_000),
        sampling: some({ temperature: fc.constantFrom(0, 2), topP: just(0.5), logprobs: fc.constantFrom(0, 3) }),
        reasoning: fc.oneof(
          just({ mode: 'off', summary: 'none' }),
          just({ mode: 'auto', summary: 'detailed' }),
          fc.tuple(efforts, fc.constantFrom('none', 'auto', 'concise')).map(([effort, summary]) => ({
            mode: 'on',
            effort,
            summary,
          })),
        ),
        output: some({
          format: fc.oneof(
            just({ type: 'text' }),
            just({ type: 'json' }),
            some(
              { type: just('schema'), name: just('s'), description: words, schema: just(SCHEMA), strict: fc.boolean() },
              'type',
              'name',
              'schema',
            ),
          ),
          verbosity: just('high'),
        }),
        labels: some({ ...labels, user: just('someone') }),
        truncation: fc.constantFrom('auto', 'disabled'),
        extras: some({ prompt_cache_options: just({ mode: 'explicit' }), max_tool_calls: just(3) }),
      },
      'labels',
    ),
  ).map(enoughForTools),
};
