/** Conversations within the means of the style chat. */

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
  stopTexts,
  text,
  toolbox,
  toolNames,
  words,
} from './dialogues.ts';

const chatThought: fc.Arbitrary<Block> = some(
  {
    type: just('thinking'),
    text: words,
    opaque: fc.constantFrom(
      sealed('chat', 'signature', '{"index":0,"signature":"sig","type":"reasoning.text"}'),
      sealed('chat', 'encrypted', '{"data":"sealed","id":"rs_1","type":"reasoning.encrypted"}'),
    ),
  },
  'type',
  'text',
);

/**
 * A message of the assistant's is thoughts, one text and calls, in this order; what is said beside several calls of tools is one
 * message, so the results and the user's words are one turn only after they were joined.
 */
export const chatMeans: Means = {
  quirks: () => ({
    roles: { developer: 'keep' },
    content: { tool_result_images: 'native' },
    tools: { custom: true },
    reasoning: { input: 'effort', levels: ALL_LEVELS, echo: 'all', field: 'reasoning_details' },
    cache: { hint: 'breakpoint' },
  }),
  conversations: conversation(
    dialogue({
      front: fc.array(instruction(['system', 'developer'], breakpoints), { maxLength: 2 }),
      user: fc.oneof<fc.Arbitrary<Block>[]>(
        text(breakpoints),
        some(
          { type: just('image'), source: fc.constantFrom(PNG, PAGE), detail: just('low'), cache: breakpoints },
          'type',
          'source',
        ),
        some({ type: just('file'), source: just(PDF), name: just('a.pdf') }, 'type', 'source', 'name'),
        just({ type: 'audio', data: 'AAAA', format: 'mp3' }),
      ),
      said: fc
        .tuple(fc.array(chatThought, { maxLength: 2 }), fc.array(text(breakpoints), { maxLength: 1 }))
        .map((said) => said.flat())
        .filter((said) => said.length !== 0),
      call: fc.oneof<fc.Arbitrary<Omit<ToolCallBlock, 'type' | 'id'>>[]>(
        some(
          { kind: just('function'), name: toolNames, input: inputs, opaque: just(sealed('gemini', 'thought', 'sig')) },
          'kind',
          'name',
          'input',
        ),
        some(
          { kind: just('custom'), name: toolNames, input: words, opaque: just(sealed('gemini', 'thought', 'sig')) },
          'kind',
          'name',
          'input',
        ),
      ),
      result: fc.record(
        {
          content: fc.oneof(
            fc.array(text(breakpoints), { maxLength: 1 }),
            just<readonly Block[]>([
              { type: 'text', text: 'Look:' },
              { type: 'image', source: PNG },
            ]),
          ),
        },
        { noNullPrototype: true },
      ),
      after: maybe(instruction(['system', 'developer'])),
      name: fc.constantFrom('ann', 'bob'),
    }),
    toolbox(
      fc.oneof<fc.Arbitrary<Tool>[]>(
        some(
          { type: just('function'), name: toolNames, description: words, schema: just(SCHEMA), strict: fc.boolean() },
          'type',
          'name',
          'schema',
        ),
        some(
          {
            type: just('custom'),
            name: toolNames,
            description: words,
            format: fc.constantFrom({ type: 'text' }, { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }),
          },
          'type',
          'name',
        ),
      ),
      modes,
    ),
    some<Partial<Conversation>>({
      parallelToolCalls: just(false),
      maxTokens: fc.constantFrom(1, 1_000),
      sampling: some({
        temperature: fc.constantFrom(0, 0.7, 2),
        topP: just(0.5),
        topK: just(40),
        seed: just(7),
        presencePenalty: just(-1),
        frequencyPenalty: just(0.5),
        logitBias: just({ 50: -100 }),
        logprobs: fc.constantFrom(0, 3),
      }),
      stop: stopTexts,
      reasoning: fc.oneof(
        just({ mode: 'off' }),
        efforts.map((effort) => ({ mode: 'on', effort, summary: 'auto' })),
      ),
      output: some({
        format: fc.oneof(
          just({ type: 'json' }),
          some(
            {
              type: just('schema'),
              name: just('shape'),
              description: words,
              schema: just(SCHEMA),
              strict: fc.boolean(),
            },
            'type',
            'name',
            'schema',
          ),
        ),
        verbosity: just('low'),
      }),
      labels: some({ ...labels, user: just('someone') }),
      extras: some({ prompt_cache_retention: just('24h'), moderation: just({ model: 'x' }) }),
    }),
  ),
};
