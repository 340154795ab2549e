/** Conversations within the means of the style messages. */

import type { Block, CacheHint, Conversation, Tool, Turn } from '../../core/contracts/formats/conversation.ts';
import fc from '../kit/fast-check.ts';
import {
  ALL_LEVELS,
  conversation,
  dialogue,
  inputs,
  instruction,
  just,
  type Means,
  maybe,
  modes,
  PAGE,
  PNG,
  SCHEMA,
  sealed,
  some,
  stopTexts,
  TEXT,
  text,
  toolbox,
  toolNames,
  words,
} from './dialogues.ts';

const marks = fc.constantFrom<CacheHint>({}, {});
const messagesThought = fc.constantFrom<Block>(
  { type: 'thinking', text: 'Hm.', opaque: sealed('messages', 'signature', 'Eq+/==') },
  { type: 'thinking', text: '', opaque: sealed('messages', 'signature', 'Eq+/==') },
  { type: 'thinking', text: '', opaque: sealed('messages', 'redacted', 'Em+/==') },
);

/** The prompt is one turn, and a limit is always set. Thoughts come first. There are four marks at most, and none is empty. */
export const messagesMeans: Means = {
  quirks: ({ turns, reasoning }) => ({
    roles: { mid_system: 'native' },
    tools: { strict: true },
    reasoning: { input: reasoning?.budget === undefined ? 'adaptive' : 'budget', levels: ALL_LEVELS },
    output: { json_schema: true },
    // Without any mark the vendor is asked to set its own.
    cache: { hint: isMarked(turns) ? 'cache_control' : 'none' },
  }),
  conversations: conversation(
    dialogue({
      front: maybe(fc.array(text(), { minLength: 1, maxLength: 3 })).map((blocks) =>
        blocks === undefined ? [] : [{ role: 'system' as const, blocks }],
      ),
      user: fc.oneof<fc.WeightedArbitrary<Block>[]>(
        { weight: 3, arbitrary: text(marks) },
        { weight: 1, arbitrary: some({ type: just('image'), source: fc.constantFrom(PNG, PAGE) }, 'type', 'source') },
      ),
      said: fc
        .tuple(
          fc.array(messagesThought, { maxLength: 2 }),
          fc.array(
            fc.oneof<fc.Arbitrary<Block>[]>(
              text(),
              just({
                type: 'foreign',
                style: 'messages',
                what: 'server_tool_use',
                raw: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
              }),
            ),
            { minLength: 1, maxLength: 2 },
          ),
        )
        .map((said) => said.flat()),
      call: some({ kind: just('function'), name: toolNames, input: inputs }, 'kind', 'name', 'input'),
      result: some(
        {
          content: fc.oneof(
            fc.array(text(), { maxLength: 2 }),
            just([
              { type: 'text', text: 'Look:' },
              { type: 'image', source: PNG },
            ]),
            just([{ type: 'file', source: TEXT, title: 'A title', context: 'Old.', citable: true }]),
          ),
          isError: just(true),
        },
        'content',
      ),
      after: maybe(instruction(['system'])),
    }).map(fewMarks),
    toolbox(
      fc.oneof<fc.Arbitrary<Tool>[]>(
        some(
          { type: just('function'), name: toolNames, description: words, schema: just(SCHEMA), strict: just(true) },
          'type',
          'name',
          'schema',
        ),
        just({
          type: 'hosted',
          name: 'web_search',
          style: 'messages',
          raw: { type: 'web_search_20250305', name: 'web_search', max_uses: 3, blocked_domains: ['example.com'] },
          search: { maxUses: 3, blockedDomains: ['example.com'] },
        }),
        just({
          type: 'hosted',
          name: 'bash_20250124',
          style: 'messages',
          raw: { type: 'bash_20250124', name: 'bash' },
        }),
      ),
      modes,
    ),
    fc.oneof(
      messagesWishes({
        sampling: some({ temperature: fc.constantFrom(0, 1), topP: just(0.5), topK: just(40) }),
        reasoning: just({ mode: 'off' }),
      }),
      // A model that thinks takes only the usual draw of words.
      messagesWishes({
        sampling: some({ temperature: just(1), topP: just(0.97) }),
        reasoning: fc.oneof(
          just({ mode: 'on', summary: 'auto' }),
          fc.constantFrom('low', 'high', 'max').map((effort) => ({ mode: 'auto', effort, summary: 'auto' })),
        ),
      }),
      messagesWishes({ reasoning: just({ mode: 'on', budget: 2_000, summary: 'auto' }) }).map((wishes) => ({
        ...wishes,
        maxTokens: 4_000,
      })),
    ),
  ).map(thoughtful),
};

function messagesWishes(more: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<Partial<Conversation>> {
  return some<Partial<Conversation>>(
    {
      maxTokens: fc.constantFrom(1, 1_000),
      parallelToolCalls: just(false),
      stop: stopTexts.map((texts) => texts.filter((each) => each.trim() !== '')),
      output: some({ format: just({ type: 'schema', name: 'structured_output', schema: SCHEMA, strict: true }) }),
      labels: some({ user: just('someone'), serviceTier: fc.constantFrom('auto', 'default') }),
      ...more,
    },
    'maxTokens',
  );
}

function isMarked(turns: readonly Turn[]): boolean {
  return turns.some(({ blocks }) => blocks.some((block) => 'cache' in block));
}

/** The last four marks. */
function fewMarks(turns: readonly Turn[]): readonly Turn[] {
  let left = 4;
  return turns
    .toReversed()
    .map((turn) => ({
      ...turn,
      blocks: turn.blocks
        .toReversed()
        .map((block) => {
          if (!('cache' in block) || left-- > 0) return block;
          const { cache: _, ...rest } = block;
          return rest;
        })
        .toReversed(),
    }))
    .toReversed();
}

/** A model that thinks by a budget wants its thoughts back where it waits for its tools. */
function thoughtful(conversation: Conversation): Conversation {
  if (conversation.reasoning?.budget === undefined) return conversation;
  const thought: Block = { type: 'thinking', text: 'Hm.', opaque: sealed('messages', 'signature', 'Eq+/==') };
  return {
    ...conversation,
    turns: conversation.turns.map((turn) =>
      turn.role === 'assistant' && turn.blocks[0]?.type !== 'thinking'
        ? { ...turn, blocks: [thought, ...turn.blocks] }
        : turn,
    ),
  };
}
